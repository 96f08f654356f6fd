"""Taking decoys through the feature stages without Snakemake, as its jobs do."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from toporank.building.chunks.chunk import run_chunk
from toporank.building.chunks.ledger import LedgerRow
from toporank.building.chunks.plan import (
    Current,
    deal,
    planned,
    write_current,
    write_plans,
)
from toporank.building.chunks.published import publish
from toporank.building.chunks.store import Store
from toporank.chains.resolve import Chosen
from toporank.features.registry import FeatureChoice
from toporank.files.graph_file import Graph
from toporank.learning.pyg_files import as_file, read_pt
from toporank.structures.identity import Decoy


def build(
    decoys: list[Decoy],
    choices: dict[str, FeatureChoice],
    store: Store,
    labels: dict[tuple[str, str], float] | None = None,
    partners: dict[tuple[str, str], str] | None = None,
) -> list[LedgerRow]:
    """Build and publish decoys of one data set in the working directory; the rows of their
    ledger.
    """
    chosen = {key: Chosen(text, text) for key, text in (partners or {}).items()}
    dataset, chunks = (
        decoys[0].dataset,
        deal(planned(decoys, labels or {}, chosen), len(decoys)),
    )
    write_plans(dataset, chunks)
    write_current(dataset, Current(("in", "/in"), [*chunks], [*chunks]))
    rows = [
        row for chunk in chunks for row in run_chunk(dataset, chunk, choices, store)
    ]
    publish(dataset, choices, store, as_file)
    return rows


def published_graph(path: Path) -> Graph:
    """A published graph with arrays of NumPy, `y` nan where it has no label."""
    data = read_pt(path)
    y = np.nan if data.get("y") is None else data.y.item()
    return Graph(
        data.x.numpy(),
        data.edge_index.numpy(),
        data.edge_attr.numpy(),
        y,
        data.metadata,
    )
