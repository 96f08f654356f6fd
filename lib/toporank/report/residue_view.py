"""The predicted quality of each interface residue of the decoys ranked first, for the page."""

from __future__ import annotations

from typing import Any

from toporank.ranking.residues import ResidueRow, leading
from toporank.report.results import Study, by_target

MOST = 1000
"""Decoys in the page; the file has them all."""


def profiles_for_script(study: Study) -> list[dict[str, Any]]:
    """The targets whose residues are known, and of each the decoys ranked first, at most `MOST` in all.

    t target, s data set, d decoys: n name, r rank, c for each chain its name, residues and their quality in per cent
    with spaces between, `-` where it is unknown.
    """
    found = [(key, leading(rows)) for key, rows in by_target(study.decoys)]
    first = {*sorted((place, i) for i, (_, rows) in enumerate(found) for place in range(len(rows)))[:MOST]}
    chosen = []
    for i, ((dataset, target), rows) in enumerate(found):
        known = study.residues.get(dataset, {})
        kept = [row for place, row in enumerate(rows) if (place, i) in first and (target, row.decoy) in known]
        if kept:
            decoys = [{"n": row.decoy, "r": row.rank, "c": chains(known[target, row.decoy])} for row in kept]
            chosen.append({"t": target, "s": dataset, "d": decoys})
    return chosen


def chains(rows: list[ResidueRow]) -> list[tuple[str, str, str]]:
    """Name of each chain, its residues, and their quality in per cent."""
    of_chains: dict[str, list[ResidueRow]] = {}
    for row in rows:
        of_chains.setdefault(row.chain, []).append(row)
    return [
        (chain, " ".join(row.residue for row in own), " ".join(per_cent(row.pred_quality) for row in own))
        for chain, own in of_chains.items()
    ]


def per_cent(quality: float | None) -> str:
    """Quality in whole per cent, `-` where it is unknown."""
    return "-" if quality is None else f"{100 * quality:.0f}"
