"""confidence.csv: the confidence of predictors, a row for each decoy of a data set."""

from __future__ import annotations

from collections import defaultdict, namedtuple
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from toporank.structures.identity import DecoyKey
from toporank.tables.of_predictors import CONFIDENCE

OK, INCOMPLETE, NOTHING = "ok", "incomplete", "none"
"""Status: all that was found was read; some of it was not, for a reason; there is nothing."""


PlddtChoice = Literal["auto", "b_factor", "none"]
"""Whether B factors are pLDDT: where something says so or they look like it, always, never."""
AUTO: PlddtChoice = "auto"
ALWAYS: PlddtChoice = "b_factor"
NEVER: PlddtChoice = "none"
OF_FILE, OF_B_FACTORS = "file", "b_factor"
"""Where pLDDT comes from: a file beside the model, or the model's B-factors."""
ALL_CHAINS = "all_chains"
"""Of what ipTM is, where that differs from all pairs of partners."""
NUMBERS = tuple(name for name, kind in CONFIDENCE.kinds.items() if kind is float)
MEASURES = {
    column.name: column.head
    for column in CONFIDENCE.columns
    if column.name in NUMBERS and column.head
}
"""Measures by which decoys can be ranked, and their names."""
FROM_PLDDT = (
    "plddt",
    "interface_plddt",
    "contact_plddt",
    "low_plddt",
    "pdockq",
    "pdockq2",
)
"""Numbers that follow from pLDDT."""

if TYPE_CHECKING:

    class Confidence(NamedTuple):
        """The columns that code names."""

        target: str
        decoy: str
        predictor: str = ""
        plddt_source: str = ""
        iptm_of: str = ""
        plddt: float | None = None
        ptm: float | None = None
        iptm: float | None = None
        interface_iptm: float | None = None
        ranking_score: float | None = None
        interface_pae: float | None = None
        status: str = NOTHING
        reason: str = ""

else:
    _OPTIONAL = CONFIDENCE.names[2:]
    _UNKNOWN = dict.fromkeys(_OPTIONAL, "") | dict.fromkeys(NUMBERS)
    _UNKNOWN["status"] = NOTHING
    Confidence = namedtuple(
        "Confidence", CONFIDENCE.names, defaults=map(_UNKNOWN.get, _OPTIONAL)
    )
Confidence.__doc__ = """A row of confidence.csv; columns after `decoy` may be left out.

A number that is not known is None. docs/confidence.md says what each is and where it is from.
"""


def rows_to_show(rows: Iterable[Confidence]) -> list[Confidence]:
    """Return the rows that a table has.

    These are all of them, or none if no predictor says anything of any decoy.
    """
    rows = list(rows)
    return rows if any(row.status != NOTHING for row in rows) else []


def write_confidence(path: Path | str, rows: Iterable[Confidence]) -> None:
    """Write confidence.csv; no row if there is nothing to say of any decoy."""
    from toporank.tables.frames import (  # pandas, for which jobs need not wait
        of_records,
        write,
    )

    write(CONFIDENCE, of_records(CONFIDENCE, rows_to_show(rows)), path)


def read_confidence(path: Path | str) -> list[Confidence]:
    """Read confidence.csv."""
    from toporank.tables.frames import read, to_records

    return list(map(Confidence._make, to_records(CONFIDENCE, read(CONFIDENCE, path))))


def of_copies(
    rows: Iterable[Confidence], copy_of: Mapping[DecoyKey, str]
) -> list[Confidence]:
    """Return the rows, in which all copies of a model have the measures of the one with most.

    A copy may have lost its side files.

    Parameters
    ----------
    copy_of : target and decoy → the decoy that it is a copy of
    """
    rows = list(rows)
    copies = defaultdict(list)
    for row in rows:
        copies[_original(row, copy_of)].append(row)
    copied = []
    for row in rows:
        best = max(copies[_original(row, copy_of)], key=_n_measures)
        copied.append(best._replace(target=row.target, decoy=row.decoy))
    return copied


def best_measured(
    copy_of: Mapping[DecoyKey, str], rows: Iterable[Confidence]
) -> dict[DecoyKey, str]:
    """Return for copies the decoy that counts for them: of equal models the one with most measures.

    Parameters
    ----------
    copy_of : (target, decoy) → the first decoy, by name, that has the same atoms
    rows : the confidence of predictors in the decoys

    Returns
    -------
    The same with other originals, for all decoys but these; of equally known ones the first by name
    stays
    """
    n_measures: dict[DecoyKey, int] = defaultdict(int)
    for row in rows:
        n_measures[row.target, row.decoy] = _n_measures(row)
    groups: dict[DecoyKey, list[str]] = {}
    for (target, decoy), original in sorted(copy_of.items()):
        groups.setdefault((target, original), [original]).append(decoy)
    best_of_copies: dict[DecoyKey, str] = {}
    for (target, _), decoys in groups.items():
        best = max(decoys, key=lambda decoy: n_measures[target, decoy])
        for decoy in decoys:
            if decoy != best:
                best_of_copies[target, decoy] = best
    return best_of_copies


def _original(row: Confidence, copy_of: Mapping[DecoyKey, str]) -> DecoyKey:
    return row.target, copy_of.get((row.target, row.decoy), row.decoy)


def has_numbers(row: Confidence) -> bool:
    """Return whether the predictor says anything of a decoy."""
    return any(getattr(row, name) is not None for name in NUMBERS)


def _n_measures(row: Confidence) -> int:
    return sum(getattr(row, measure) is not None for measure in MEASURES)


def counted(row: Confidence, measure: str) -> float | None:
    """A measure as it counts in the score: ipTM only as far as it is between partners."""
    if measure == "iptm" and row.iptm_of:
        return row.interface_iptm
    return getattr(row, measure)
