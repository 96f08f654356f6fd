"""HADDOCK's score and its terms: of the header that CNS writes into a model, and of the tables of HADDOCK3."""

from __future__ import annotations

import csv
import io
import os
import re
from pathlib import Path
from typing import NamedTuple

from toporank.confidence.content import read_bytes
from toporank.confidence.files import haddock_tables
from toporank.errors import ConfidenceError

TERMS = ("vdw", "elec", "desolv", "air", "bsa")
"""Terms of the score: kcal/mol, and the buried surface in Å²."""
WEIGHTS = {
    "rigidbody": (0.01, 1.0, 1.0, 0.01, -0.01),
    "flexref": (1.0, 1.0, 1.0, 0.1, -0.01),
    "emref": (1.0, 0.2, 1.0, 0.1, 0.0),
    "mdref": (1.0, 0.2, 1.0, 0.1, 0.0),
}
"""Default weights of the terms in the modules of HADDOCK3, which a model's `FILENAME` begins with."""
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
    terms: dict[str, float] = {}
    if names and energies:
        numbers = (each.strip() for each in energies[1].split(","))
        known = zip(names[1].split(","), numbers, strict=False)
        terms = {name: float(each) for name, each in known if name in TERMS and re.fullmatch(NUMBER, each)}
    for name, title in (("desolv", "Desolvation energy"), ("bsa", "buried surface area")):
        if found := re.search(rf"^REMARK {title}: +({NUMBER})\s*$", remarks, re.MULTILINE):
            terms[name] = float(found[1])
    module = re.search(r'FILENAME="(?:[^"\n]*/)?([a-z]+)_\d+', remarks)
    weights = WEIGHTS.get(module[1]) if module else None
    whole = weights is not None and len(terms) == len(TERMS)
    score = sum(w * terms[name] for w, name in zip(weights, TERMS, strict=True)) if whole else None
    return Haddock(score, **terms)


def of_tables(model: Path) -> Haddock | None:
    """The row of a model in the last table `capri_ss.tsv` that has it, by its path; None if there is none.

    Raises ConfidenceError when a table that has it cannot be used.
    """
    wanted, found = _plain(model), None
    for table in haddock_tables(model.parent):
        text = read_bytes(table).decode("utf-8", errors="replace")
        for row in csv.DictReader(io.StringIO(text), delimiter="\t"):
            if _plain(table.parent / (row.get("model") or "")) == wanted:
                found = _of_row(row, table)
    return found


def _plain(path: Path) -> str:
    """A path without `..` and `.gz`; HADDOCK3 compresses models that it has tabulated."""
    return os.path.abspath(path).removesuffix(".gz")


def _of_row(row: dict[str, str], table: Path) -> Haddock:
    known = {name: row[name] for name in ("score", *TERMS) if row.get(name) not in (None, "", "-")}
    try:
        return Haddock(**{name: float(text) for name, text in known.items()})
    except ValueError as error:
        raise ConfidenceError(f"{table.name}: {error}", remedy="run caprieval again") from error
