"""HADDOCK's score and its terms: of the header that CNS writes into a model, and of the tables of HADDOCK3."""

from __future__ import annotations

import functools
import math
import os
import re
from pathlib import Path
from typing import NamedTuple

from toporank.errors import ConfidenceError
from toporank.files.compressed import without_compression
from toporank.inputs.confidence.content import State, read_bytes, state_of
from toporank.inputs.confidence.side_files import HADDOCK_TABLE, haddock_tables

TERMS = ("vdw", "elec", "desolv", "air", "bsa")
"""Terms of the score: kcal/mol, and the buried surface in Å²."""
WEIGHTS = {
    "rigidbody": (0.01, 1.0, 1.0, 0.01, -0.01),
    "flexref": (1.0, 1.0, 1.0, 0.1, -0.01),
    "emref": (1.0, 0.2, 1.0, 0.1, 0.0),
    "mdref": (1.0, 0.2, 1.0, 0.1, 0.0),
}
"""Default weights of the terms in the modules of HADDOCK3, which a model's `FILENAME` begins with."""
AGAIN = "run caprieval again"
NUMBER = r"[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?"


class Haddock(NamedTuple):
    """score : lower is better. Terms as in `TERMS`, without weights. None where not known."""

    score: float | None = None
    vdw: float | None = None
    elec: float | None = None
    desolv: float | None = None
    air: float | None = None
    bsa: float | None = None


def of_header(text: str) -> Haddock | None:
    """What the REMARK lines of a model say; None if HADDOCK did not write it.

    The score is there where the module is known whose default weights make it.
    """
    remarks = re.match(r"(?:REMARK[^\n]*\n)*", text)[0]
    if "HADDOCK" not in remarks:
        return None
    names = re.search(r"^REMARK +(total,\S+)\s*$", remarks, re.MULTILINE)
    energies = re.search(r"^REMARK energies: (.+)$", remarks, re.MULTILINE)
    terms: dict[str, str] = {}
    if names and energies:
        numbers = (each.strip() for each in energies[1].split(","))
        known = zip(names[1].split(","), numbers, strict=False)
        terms = {name: each for name, each in known if name in TERMS and re.fullmatch(NUMBER, each)}
    for name, title in (("desolv", "Desolvation energy"), ("bsa", "buried surface area")):
        if found := re.search(rf"^REMARK {title}: +({NUMBER})\s*$", remarks, re.MULTILINE):
            terms[name] = found[1]
    module = re.search(r'FILENAME="(?:[^"\n]*/)?([a-z]+)_\d+', remarks)
    weights = WEIGHTS.get(module[1]) if module else None
    values = {name: value for name, text in terms.items() if (value := _finite(text)) is not None}
    whole = weights is not None and len(values) == len(TERMS)
    score = sum(w * values[name] for w, name in zip(weights, TERMS, strict=True)) if whole else None
    return Haddock(score, **values)


def of_tables(model: Path) -> Haddock | None:
    """The row of a model in the last table `capri_ss.tsv` that has it, by its path; None if no table has its folder.

    Raises ConfidenceError when a table cannot be read, the row cannot be used, or tables have rows of other models in
    this folder alone.
    """
    wanted, found, has_folder = _plain(model), None, False
    for table in haddock_tables(model.parent):
        rows = _rows(state_of(table))
        if isinstance(rows, ConfidenceError):
            raise rows.with_traceback(None)
        found = rows.get(wanted, found)
        has_folder = has_folder or os.path.dirname(wanted) in rows
    if found is None and has_folder:
        raise ConfidenceError(f"{HADDOCK_TABLE} has other models of this folder, but not this one", remedy=AGAIN)
    return None if found is None else _of_row(found)


@functools.lru_cache(maxsize=64)
def _rows(table: State) -> dict[str, dict[str, str]] | ConfidenceError:
    """The cells of a table by the path of the model, or why it cannot be used; parsed once in a process.

    The folder of each model is a key, too, without cells.
    """
    try:
        text = read_bytes(table.path).decode("utf-8", errors="replace")
    except ConfidenceError as error:
        return error
    names, *lines = (line.split("\t") for line in re.split("\r\n|\r|\n", text))
    if "model" not in names:
        return ConfidenceError(f"{table.path.name} has no column `model`", remedy=AGAIN)
    rows = (dict(zip(names, cells, strict=False)) for cells in lines)
    known = {_plain(table.path.parent / row["model"]): row for row in rows if row.get("model")}
    return dict[str, dict[str, str]].fromkeys(map(os.path.dirname, known), {}) | known


def _plain(path: Path) -> str:
    """A path without `..` and compression; HADDOCK3 compresses models that it has tabulated."""
    return without_compression(os.path.abspath(path))


def _of_row(row: dict[str, str]) -> Haddock:
    known = {name: row[name] for name in ("score", *TERMS) if row.get(name) not in (None, "", "-")}
    wrong = [f"{name} is {text[:20]!r}, not a number" for name, text in known.items() if _finite(text) is None]
    if wrong:
        raise ConfidenceError(f"{HADDOCK_TABLE}: {', '.join(wrong)}", remedy=AGAIN)
    return Haddock(**{name: _finite(text) for name, text in known.items()})


def _finite(text: str) -> float | None:
    """A number; None where the text is not a finite number."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
