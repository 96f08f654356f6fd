"""A scored data set of real decoys, for tests of what the page shows of them."""

from __future__ import annotations

import os
from pathlib import Path

from described_checkpoint import DESCRIPTION
from toporank.building.coverage import CoverageRow
from toporank.ranking.interfaces import InterfaceRow
from toporank.ranking.ranked import ranking
from toporank.report.results import Study, joined_results
from toporank.scorer.prediction import Score
from toporank.structures.identity import Status

EXAMPLE = Path(__file__).parents[2] / "resources" / "example" / "decoys" / "1AVZ"
SCORED = (("near1.pdb.gz", 0.85), ("mid1.cif.gz", 0.5), ("mid2.pdb.gz", 0.5), ("far1.pdb", 0.1))
"""Files of decoys, best first, and their predicted DockQ; mid2 is said to be a copy of mid1."""
CHAINS = {"A": 103, "B": 57}
"""CA atoms in the file of near1, by chain, of which the larger one fixes a superposition."""


def scored_example(folder: Path, targets: tuple[str, ...] = ("1AVZ",), files: Path = EXAMPLE) -> Study:
    """The same four decoys of each target, scored in a folder in which the page will lie."""
    rows, meetings, scores = [], [], []
    for target in targets:
        for file, score in SCORED:
            name = file.split(".")[0]
            path, copy = os.fspath(files / file), "mid1" if name == "mid2" else ""
            rows.append(CoverageRow(target, name, Status.OK, "graphs", "", None, "", 2, 20, path, copy))
            meetings.append(InterfaceRow(target, name, "A:B", 20, 40, 4.0, score, None, "", Status.OK))
            scores.append(Score(target, name, score, None))
    results = joined_results("bench", sorted(rows), ranking(sorted(rows), scores))
    known = {"interfaces": {"bench": meetings}, "folders": {"bench": folder}}
    return Study(["bench"], results, {}, None, {}, DESCRIPTION, **known)
