"""Taking decoys through the feature stages without Snakemake, as its jobs do."""

from __future__ import annotations

from toporank.building.chunk import run_chunk
from toporank.building.ledger import LedgerRow
from toporank.building.plan import deal, planned, write_plans
from toporank.building.store import Store
from toporank.decoys.identity import Decoy
from toporank.features.registry import Choice
from toporank.layout import STAGES


def build(
    decoys: list[Decoy],
    choices: dict[str, Choice],
    store: Store,
    labels: dict[tuple[str, str], float] | None = None,
    stages: tuple[str, ...] = STAGES,
    partners: dict[tuple[str, str], str] | None = None,
) -> list[LedgerRow]:
    """Build decoys of one data set in the working directory; the rows of the ledger of the last stage."""
    dataset, rows = decoys[0].dataset, []
    ((content, members),) = deal(planned(decoys, labels or {}, partners), len(decoys)).items()
    write_plans(dataset, {f"{content}.0": members})
    for stage in stages:
        rows = run_chunk(stage, dataset, f"{content}.0", choices, store)
    return rows
