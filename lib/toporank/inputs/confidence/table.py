"""confidence.csv: the confidence of predictors, a row for each decoy of a data set."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal, NamedTuple

from toporank.structures.identity import DecoyKey
from toporank.tables.of_predictors import CONFIDENCE

OK, INCOMPLETE, NOTHING = "ok", "incomplete", "none"
"""Status: all that was found was read; some of it was not, for a reason; there is nothing."""


PlddtChoice = Literal["auto", "b_factor", "none"]
"""Whether B factors are pLDDT: where something says so or they look like it, always, never."""
AUTO, ALWAYS, NEVER = "auto", "b_factor", "none"
OF_FILE, OF_B_FACTORS = "file", "b_factor"
"""Where pLDDT comes from: a file beside the model, or the model's B-factors."""
ALL_CHAINS = "all_chains"
"""Of what ipTM is, where that differs from all pairs of partners."""


class Confidence(NamedTuple):
    """A row of confidence.csv.

    What is not known is None. docs/confidence.md says what each is and where it is from.
    """

    target: str
    decoy: str
    predictor: str = ""
    plddt_source: str = ""
    iptm_of: str = ""
    plddt: float | None = None
    interface_plddt: float | None = None
    contact_plddt: float | None = None
    low_plddt: float | None = None
    ptm: float | None = None
    iptm: float | None = None
    interface_iptm: float | None = None
    ranking_score: float | None = None
    interface_pae: float | None = None
    pdockq: float | None = None
    pdockq2: float | None = None
    ipsae: float | None = None
    lis: float | None = None
    haddock_score: float | None = None
    haddock_vdw: float | None = None
    haddock_elec: float | None = None
    haddock_desolv: float | None = None
    haddock_air: float | None = None
    haddock_bsa: float | None = None
    status: str = NOTHING
    reason: str = ""


FIELDS = Confidence._fields
NUMBERS = FIELDS[FIELDS.index("plddt") : FIELDS.index("status")]
FROM_PLDDT = (
    "plddt",
    "interface_plddt",
    "contact_plddt",
    "low_plddt",
    "pdockq",
    "pdockq2",
)
"""Numbers that follow from pLDDT."""
MEASURES = {
    "plddt": "pLDDT",
    "interface_plddt": "interface pLDDT",
    "contact_plddt": "contact pLDDT",
    "ptm": "pTM",
    "iptm": "ipTM",
    "ranking_score": "ranking score",
    "interface_pae": "interface PAE",
    "pdockq": "pDockQ",
    "pdockq2": "pDockQ2",
    "ipsae": "ipSAE",
    "lis": "LIS",
    "haddock_score": "HADDOCK score",
}
"""Measures by which decoys can be ranked, and their names."""
LOWER_IS_BETTER = ("interface_pae", "haddock_score")


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
    most: dict[DecoyKey, Confidence] = {}
    for row in rows:
        original = row.target, copy_of.get((row.target, row.decoy), row.decoy)
        if original not in most or _n_measures(row) > _n_measures(most[original]):
            most[original] = row
    copied = []
    for row in rows:
        best = most[row.target, copy_of.get((row.target, row.decoy), row.decoy)]
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
    n_measures = {(row.target, row.decoy): _n_measures(row) for row in rows}
    groups: dict[DecoyKey, list[str]] = {}
    for (target, decoy), original in copy_of.items():
        groups.setdefault((target, original), [original]).append(decoy)
    best_of_copies: dict[DecoyKey, str] = {}
    for (target, _), decoys in groups.items():
        decoys[1:] = sorted(decoys[1:])
        n_of_decoys = [n_measures.get((target, decoy), 0) for decoy in decoys]
        best = decoys[n_of_decoys.index(max(n_of_decoys))]
        for decoy in decoys:
            if decoy != best:
                best_of_copies[target, decoy] = best
    return best_of_copies


def _n_measures(row: Confidence) -> int:
    return sum(getattr(row, measure) is not None for measure in MEASURES)


def oriented(row: Confidence, measure: str) -> float | None:
    """A measure of `MEASURES` so that higher is better."""
    value = getattr(row, measure)
    return -value if value is not None and measure in LOWER_IS_BETTER else value


def counted(row: Confidence, measure: str) -> float | None:
    """A measure as it counts in the score: ipTM only as far as it is between partners."""
    if measure == "iptm" and row.iptm_of:
        return row.interface_iptm
    return getattr(row, measure)
