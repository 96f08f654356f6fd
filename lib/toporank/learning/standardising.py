"""Scaling of features by the training set: mean and standard deviation of each column, kept in the network.

A feature module with `scaling: training_set` leaves its values as they are; its network applies the numbers
found here first. They are part of its weights: they travel in the checkpoint, and a fine-tuned network keeps those of
its parent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch import Tensor, nn

from toporank.learning.graphs import GraphStore

BATCH = 64
"""Graphs read at a time."""
LEAST_SPREAD = 1e-6
"""Standard deviation, relative to the mean where that is above 1, up to which a column is constant: single precision
cannot tell."""


class Standardise(nn.Module):
    """(values - mean) / sd for each column; does nothing until its statistics are set."""

    def __init__(self, width: int):
        super().__init__()
        self.register_buffer("mean", torch.zeros(width))
        self.register_buffer("sd", torch.ones(width))

    def forward(self, values: Tensor) -> Tensor:
        """values : (n, width)."""
        return (values - self.mean) / self.sd


def is_scaled(features: dict[str, Any] | None, stage: str) -> bool:
    """Whether the features of a stage, `nodes` or `edges`, are to be scaled by the training set. features : records
    of the modules; None for graphs of another pipeline, which may have any scale: these are scaled, too."""
    if features is None:
        return True
    return (features.get(stage) or {}).get("scaling") == "training_set"


def set_statistics(network: nn.Module, store: GraphStore, indices: Iterable[int]) -> None:
    """Set what `network.scale_nodes` and `.scale_edges` scale by from the graphs at `indices` of a store."""
    indices = list(indices)
    for scale, field in ((network.scale_nodes, "x"), (network.scale_edges, "edge_attr")):
        if isinstance(scale, Standardise):
            scale.mean, scale.sd = statistics(_tables(store, indices, field))


def _tables(store: GraphStore, indices: list[int], field: str) -> Iterator[Tensor]:
    for start in range(0, len(indices), BATCH):
        yield getattr(store.batch(indices[start : start + BATCH]), field)


def statistics(tables: Iterable[Tensor]) -> tuple[Tensor, Tensor]:
    """Mean and standard deviation of each column over tables (n, k) with the same columns: float32, (k,) each.

    A column of zeros and ones is a yes or no and is not scaled: 0 and 1. A constant column becomes zeros: its
    standard deviation counts as 1. One pass over the tables (Chan, Golub & LeVeque 1983, Am. Stat. 37:242).
    """
    count, mean, squares, indicator = 0, 0.0, 0.0, True
    for table in tables:
        values = table.double()
        if len(values) == 0:
            continue
        total = count + len(values)
        step = values.mean(0) - mean
        mean = mean + step * len(values) / total
        squares = squares + values.var(0, correction=0) * len(values) + step**2 * count * len(values) / total
        indicator = indicator & ((values == 0) | (values == 1)).all(0)
        count = total
    sd = (squares / count).sqrt()
    sd = torch.where(sd <= LEAST_SPREAD * mean.abs().clamp(min=1), 1.0, sd)
    return torch.where(indicator, 0.0, mean).float(), torch.where(indicator, 1.0, sd).float()
