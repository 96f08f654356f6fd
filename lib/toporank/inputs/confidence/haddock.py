"""HADDOCK's score and its terms.

They come from the header that CNS writes into a model, and from the tables of HADDOCK3.
"""

from __future__ import annotations

import functools
import math
import os
import re
from pathlib import Path
from typing import NamedTuple

from toporank.errors import ConfidenceError
from toporank.files.compressed import without_compression
from toporank.inputs.confidence.content import ContentState, read_bytes, state_of
from toporank.inputs.confidence.side_files import HADDOCK_TABLE, haddock_tables

TERMS = ("vdw", "elec", "desolv", "air", "bsa")
"""Terms of the score: kcal/mol, and the buried surface in Å²."""
WEIGHTS = {
    "rigidbody": (0.01, 1.0, 1.0, 0.01, -0.01),
    "flexref": (1.0, 1.0, 1.0, 0.1, -0.01),
    "emref": (1.0, 0.2, 1.0, 0.1, 0.0),
    "mdref": (1.0, 0.2, 1.0, 0.1, 0.0),
}
"""Default weights of the terms in the modules of HADDOCK3, which a model's `FILENAME` begins with.
"""
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
    """Return what the REMARK lines of a model say; None if HADDOCK did not write it.

    The score is there where the module is known whose default weights make it.
    """
    remarks = re.match(r"(?:REMARK[^\n]*\n)*", text)[0]
    if "HADDOCK" not in remarks:
        return None
    terms: dict[str, float] = {}
    names = re.search(r"^REMARK +(total,\S+)\s*$", remarks, re.MULTILINE)
    energies = re.search(r"^REMARK energies: (.+)$", remarks, re.MULTILINE)
    if names and energies:
        for name, text in zip(
            names[1].split(","), energies[1].split(","), strict=False
        ):
            if name in TERMS and re.fullmatch(NUMBER, text.strip()):
                terms[name] = float(text)
    for name, title in (
        ("desolv", "Desolvation energy"),
        ("bsa", "buried surface area"),
    ):
        match = re.search(rf"^REMARK {title}: +({NUMBER})\s*$", remarks, re.MULTILINE)
        if match:
            terms[name] = float(match[1])
    terms = {name: value for name, value in terms.items() if math.isfinite(value)}
    module = re.search(r'FILENAME="(?:[^"\n]*/)?([a-z]+)_\d+', remarks)
    weights = WEIGHTS.get(module[1]) if module else None
    score = None
    if weights is not None and len(terms) == len(TERMS):
        score = sum(
            weight * terms[name] for weight, name in zip(weights, TERMS, strict=True)
        )
    return Haddock(score, **terms)


def of_tables(model: Path) -> Haddock | None:
    """Return the row of a model in the last table `capri_ss.tsv` that has it, by its path.

    None if no table has its folder.

    Raises
    ------
    ConfidenceError
        when a table cannot be read, the row cannot be used, or tables have rows of other models in
        this folder alone
    """
    path = _plain(model)
    row, has_folder = None, False
    for table in haddock_tables(model.parent):
        rows = _rows(state_of(table))
        if isinstance(rows, ConfidenceError):
            raise rows.with_traceback(None)
        row = rows.get(path, row)
        has_folder = has_folder or os.path.dirname(path) in rows
    if row is None and has_folder:
        raise ConfidenceError(
            f"{HADDOCK_TABLE} has other models of this folder, but not this one",
            remedy=AGAIN,
        )
    return None if row is None else _of_row(row)


@functools.lru_cache(maxsize=64)
def _rows(table: ContentState) -> dict[str, dict[str, str]] | ConfidenceError:
    """The cells of a table by the path of the model, or why it cannot be used.

    The table is parsed once in a process.

    The folder of each model is a key, too, without cells.
    """
    try:
        text = read_bytes(table.path).decode("utf-8", errors="replace")
    except ConfidenceError as error:
        return error
    header, *lines = re.split("\r\n|\r|\n", text)
    names = header.split("\t")
    if "model" not in names:
        return ConfidenceError(f"{table.path.name} has no column `model`", remedy=AGAIN)
    rows: dict[str, dict[str, str]] = {}
    for line in lines:
        row = dict(zip(names, line.split("\t"), strict=False))
        if row.get("model"):
            path = _plain(table.path.parent / row["model"])
            rows[path] = row
            rows.setdefault(os.path.dirname(path), {})
    return rows


def _plain(path: Path) -> str:
    """A path without `..` and compression; HADDOCK3 compresses models that it has tabulated."""
    return without_compression(os.path.abspath(path))


def _of_row(row: dict[str, str]) -> Haddock:
    values: dict[str, float] = {}
    wrong = []
    for name in ("score", *TERMS):
        text = row.get(name)
        if text in (None, "", "-"):
            continue
        try:
            values[name] = float(text)
        except ValueError:
            values[name] = math.nan
        if not math.isfinite(values[name]):
            wrong.append(f"{name} is {text[:20]!r}, not a number")
    if wrong:
        raise ConfidenceError(f"{HADDOCK_TABLE}: {', '.join(wrong)}", remedy=AGAIN)
    return Haddock(**values)
