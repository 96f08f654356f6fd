"""Graphs as batches of tensors, their order in epochs, and scaling by the training set."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor, nn
from torch.utils.data import DataLoader, DistributedSampler

from toporank.files.packfile import PackedGraphs, PackedRows
from toporank.metrics import Ints

LEAST_SPREAD = 1e-6
"""Standard deviation, relative to the mean where that is above 1, up to which a column is constant:
single precision cannot tell.
"""


class GraphBatch(NamedTuple):
    """B graphs as one, with n nodes and E directed edges in all.

    x : (n, k) float32. edge_index : (2, E) int64, sorted by destination if the pack is. edge_attr :
        (E, m) float32.
    node_graph : (n,) and edge_graph : (E,) int64, the graph each node and edge belongs to.
    y : (B,) float32, nan where unlabelled.
    index : (B,) int64, position in the store.
    edge_y : (E,) float32, local quality of each edge, nan where unknown; None where no pack has
        any.
    """

    x: Tensor
    edge_index: Tensor
    edge_attr: Tensor
    node_graph: Tensor
    edge_graph: Tensor
    y: Tensor
    index: Tensor  # type: ignore[assignment]  # hides tuple.index, which nobody needs
    edge_y: Tensor | None = None


@dataclass(frozen=True)
class GraphStore(PackedGraphs):
    """The graphs of one or more packs, in memory-mapped, read-only tensors."""

    parts: list[dict[str, Tensor]]

    @classmethod
    def open(cls, paths: list[Path], *, verify: bool = False) -> GraphStore:
        """Open packs and check that they hold the same kind of graphs; an empty one fits any other.

        Parameters
        ----------
        paths : list of Path
            The packs.
        verify : bool
            Whether to check all numbers.

        Raises
        ------
        GraphError
            When a pack is damaged, or the packs differ in kind.
        """
        return cls.of(PackedGraphs.open(paths, verify=verify))

    @classmethod
    def of(cls, graphs: PackedGraphs) -> GraphStore:
        """Return the same graphs in mapped tensors."""
        fields = {
            field.name: getattr(graphs, field.name)
            for field in dataclasses.fields(graphs)
        }
        fields["parts"] = []
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*not writable.*")
            for part in graphs.parts:
                tensors = {
                    name: torch.from_numpy(values) for name, values in part.items()
                }
                fields["parts"].append(tensors)
        return cls(**fields)

    def batch(self, indices: list[int]) -> GraphBatch:
        """Return the graphs at `indices`, in that order, as one batch."""
        graphs = [self.rows(i) for i in indices]
        n_nodes = torch.tensor([rows.nodes.stop - rows.nodes.start for rows in graphs])
        n_edges = torch.tensor([rows.edges.stop - rows.edges.start for rows in graphs])
        graph = torch.arange(len(indices))
        edge_graph = graph.repeat_interleave(n_edges)
        nodes_before = n_nodes.cumsum(0) - n_nodes
        ends = torch.cat([part["edge_index"][:, edges] for part, _, edges in graphs], 1)
        return GraphBatch(
            x=torch.cat([part["x"][nodes] for part, nodes, _ in graphs]),
            edge_index=ends.long() + nodes_before[edge_graph],
            edge_attr=torch.cat(
                [part["edge_attr"][edges] for part, _, edges in graphs]
            ),
            node_graph=graph.repeat_interleave(n_nodes),
            edge_graph=edge_graph,
            y=torch.from_numpy(self.dockq[indices]).float(),
            index=torch.tensor(indices, dtype=torch.int64),
            edge_y=self._edge_y(graphs) if self.knows_local_quality else None,
        )

    @staticmethod
    def _edge_y(graphs: Sequence[PackedRows]) -> Tensor:
        """Return the local quality of edges, nan in a part that has none."""
        quality = []
        for part, _, edges in graphs:
            if len(part["edge_y"]):
                quality.append(part["edge_y"][edges])
            else:
                quality.append(torch.full((edges.stop - edges.start,), torch.nan))
        return torch.cat(quality)


# ---- the order of an epoch -----------------------------------------------------------------------


def loader(
    store: GraphStore,
    order: Ints,
    batch_size: int,
    device: int = 0,
    n_devices: int = 1,
    **options: Any,
) -> DataLoader:
    """Return batches of graphs in the given order. order : positions in the store.

    Each of several devices gets every n-th graph; the first graphs are repeated where they do not
    divide. The process that trains makes the batches, since slicing one takes a few percent of a
    step, unless the options of torch's `DataLoader` say otherwise.
    """
    if options.get("num_workers"):
        options["multiprocessing_context"] = "fork"  # others would copy the packs
    positions = order.tolist()
    sampler: DistributedSampler | None = None
    if n_devices > 1:  # Lightning would shuffle
        sampler = DistributedSampler(positions, n_devices, device, shuffle=False)
    return DataLoader(
        positions,
        batch_size=batch_size,
        sampler=sampler,
        collate_fn=store.batch,
        # otherwise each pass over the data would advance the random numbers of dropout
        generator=torch.Generator(),
        **options,
    )


def epoch_order(indices: Ints, levels: Sequence[Ints], seed: int, epoch: int) -> Ints:
    """Return the training graphs in the order in which an epoch sees them.

    Seed and epoch alone decide.

    Parameters
    ----------
    indices : array of int, shape (n,)
        Positions of the training graphs.
    levels : sequence of array of int, shape (n,)
        The groups that are drawn equally often, as in `balanced`; empty for every graph once.
    seed, epoch : int
        Of the run.

    Returns
    -------
    order : int, positions of graphs; one may come more than once
    """
    draw = np.random.default_rng([seed, epoch])
    return indices[balanced(levels, draw) if levels else draw.permutation(len(indices))]


def cluster_levels(targets: NDArray, cluster_of: Mapping[str, str]) -> list[Ints]:
    """Return cluster and target of each training graph as numbers.

    targets : names, shape (n,).
    """
    clusters = [cluster_of[target] for target in targets]
    return [pd.factorize(np.array(clusters))[0], pd.factorize(targets)[0]]


def balanced(levels: Sequence[Ints], draw: np.random.Generator) -> Ints:
    """Return as many rows as there are.

    They are drawn so that every group has the same number, give or take one.

    levels : the group of each row, (n,); further ones divide these groups, whose draws are shared
    out likewise. Inside a group of the last level every row is drawn before one is drawn again.
    """
    rows = np.arange(len(levels[0]))
    return draw.permutation(_share_out(rows, len(rows), levels, draw))


def _share_out(
    rows: Ints, size: int, levels: Sequence[Ints], draw: np.random.Generator
) -> Ints:
    """Return `size` draws from some rows, shared out equally among their groups."""
    if not levels:
        rounds = [draw.permutation(rows) for _ in range(-(-size // len(rows)))]
        return np.concatenate([rows[:0], *rounds])[:size]
    group_of = levels[0][rows]
    groups = np.unique(group_of)
    shares = np.full(len(groups), size // len(groups))
    shares[: size % len(groups)] += 1
    sizes = draw.permutation(shares)
    draws = []
    for group, group_size in zip(groups, sizes, strict=True):
        draws.append(_share_out(rows[group_of == group], group_size, levels[1:], draw))
    return np.concatenate(draws)


# ---- scaling -------------------------------------------------------------------------------------


class Standardise(nn.Module):
    """(values - mean) / sd for each column; does nothing until its statistics are set.

    A feature module with `scaling: training_set` leaves its values as they are, and its network
    applies the statistics of the training set first. They are part of the weights: they travel in
    the checkpoint, and a fine-tuned network keeps those of its parent.
    """

    def __init__(self, width: int):
        super().__init__()
        self.mean: Tensor
        self.sd: Tensor
        self.register_buffer("mean", torch.zeros(width))
        self.register_buffer("sd", torch.ones(width))

    def forward(self, values: Tensor) -> Tensor:
        """Return the scaled values, (n, width)."""
        return (values - self.mean) / self.sd


def set_statistics(network: nn.Module, store: GraphStore, indices: ArrayLike) -> None:
    """Set what the network scales nodes and edges by.

    It takes them from the graphs at `indices` of a store.
    """
    for scale, name in ((network.scale_nodes, "x"), (network.scale_edges, "edge_attr")):
        if isinstance(scale, Standardise):
            batches = loader(store, np.array(indices), 64)
            scale.mean, scale.sd = statistics(getattr(batch, name) for batch in batches)


def statistics(tables: Iterable[Tensor]) -> tuple[Tensor, Tensor]:
    """Return mean and standard deviation of each column over tables (n, k) with the same columns.

    Both are float32, (k,).

    A column of zeros and ones is a yes or no and is not scaled: 0 and 1. A constant column becomes
    zeros: its standard deviation counts as 1. One pass over the tables (Chan, Golub & LeVeque 1983,
    Am. Stat. 37:242).
    """
    count = 0
    mean = squares = torch.zeros(())
    yes_or_no = torch.ones((), dtype=torch.bool)
    for table in tables:
        values = table.double()
        n = len(values)
        if n == 0:
            continue
        total = count + n
        step = values.mean(0) - mean
        mean = mean + step * n / total
        squares = (
            squares + values.var(0, correction=0) * n + step**2 * count * n / total
        )
        yes_or_no = yes_or_no & ((values == 0) | (values == 1)).all(0)
        count = total
    sd = (squares / count).sqrt()
    sd = torch.where(sd <= LEAST_SPREAD * mean.abs().clamp(min=1), 1.0, sd)
    return torch.where(yes_or_no, 0.0, mean).float(), torch.where(
        yes_or_no, 1.0, sd
    ).float()
