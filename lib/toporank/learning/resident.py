"""Training where the graphs lie on the GPU: batches are cut there, and steps are recorded.

A step is launched hundreds of times faster than its parts when CUDA has recorded it as a graph,
whose shapes are fixed. So batches are padded to a few sizes, and each size is recorded once; the
kernels of `kernels.fused` read on the GPU how much of a batch is padding. The CPU waits for the GPU
once an epoch.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils import clip_grad_norm_, clip_grad_value_
from torch.utils.data import DataLoader

from toporank.learning.data import GraphBatch, GraphStore, epoch_order
from toporank.learning.kernels import fused
from toporank.learning.lightning import (
    NotFiniteError,
    ScorerTraining,
    dockq_loss,
    edge_errors,
)
from toporank.learning.network import DockQNet, by_destination, trained_weights
from toporank.learning.run import Run
from toporank.metrics import Ints

log = logging.getLogger(__name__)

SIZES_AN_OCTAVE = 2
"""Padded sizes from one power of two to the next."""
LEAST_SIZE = 1024
"""Least number of nodes and of edges of a padded batch."""
AT_ONCE = 1024
"""Graphs that are judged or loaded at once."""
MOST_IN_A_STEP = 8192
"""Graphs of a step that is recorded as one."""
SHARE_OF_MEMORY = 0.5
"""Of the free memory of a GPU, which the graphs may take."""
TRAINER_ENTRIES = {
    "accelerator": None,
    "devices": (1, "1", [0], "auto", -1),
    "strategy": ("auto",),
    "precision": (32, "32", "32-true", "bf16-mixed"),
    "gradient_clip_val": None,
    "gradient_clip_algorithm": None,
    "max_epochs": None,
}
"""Entries for Lightning's `Trainer` that recorded steps follow, with their values; None: all."""


class Rows(NamedTuple):
    """Rows of B graphs in larger arrays, and where they go in a batch.

    first, count : (B,), rows of each graph in the arrays. end : (B,), where they end in the batch.
    """

    first: Tensor
    count: Tensor  # type: ignore[assignment]  # hides tuple.count, which nobody needs
    end: Tensor

    @classmethod
    def of(cls, start: Tensor, graphs: Tensor) -> Rows:
        """start : (all graphs + 1,), first row of each graph. graphs : (B,), -1 for none."""
        here = graphs.clamp_min(0)
        first = start[here]
        count = torch.where(graphs >= 0, start[here + 1] - first, 0)
        return cls(first, count, count.cumsum(0))

    def taken(self, size: int) -> tuple[Tensor, Tensor]:
        """Return the graphs of `size` rows of the batch, and their places in the arrays.

        Rows beyond the last graph are padding: graph B, place 0.
        """
        rows = torch.arange(size, device=self.end.device)
        graph = torch.searchsorted(self.end, rows, right=True)
        shift = torch.cat([self.end - self.count - self.first, self.end[:1]])[graph]
        return graph, torch.where(graph < len(self.end), rows - shift, 0)


class ResidentGraphs(NamedTuple):
    """Graphs in the memory of a GPU, with n nodes and E edges in all.

    x, edge_attr, y, edge_y : as in a batch. node_start, edge_start : (B + 1,), the first node and
    edge of each graph. source, destination : (E,), nodes of their graph. start, source_start :
    (n + 1,), and order : (E,), as in `SortedEdges`, over all graphs.
    """

    x: Tensor
    edge_attr: Tensor
    y: Tensor
    edge_y: Tensor | None
    node_start: Tensor
    edge_start: Tensor
    source: Tensor
    destination: Tensor
    start: Tensor
    order: Tensor
    source_start: Tensor

    @classmethod
    def load(
        cls, store: GraphStore, graphs: Ints, device: torch.device
    ) -> ResidentGraphs:
        """Return the graphs at some positions of a store, in this order."""
        parts: list[GraphBatch] = []
        for first in range(0, len(graphs), AT_ONCE):
            some = store.batch(graphs[first : first + AT_ONCE].tolist())
            parts.append(by_destination(some))
        sizes: dict[str, list[Tensor]] = {"node": [], "edge": []}
        ends = []
        before = 0
        for part in parts:
            n_graphs = len(part.index)
            sizes["node"].append(torch.bincount(part.node_graph, minlength=n_graphs))
            sizes["edge"].append(torch.bincount(part.edge_graph, minlength=n_graphs))
            ends.append(part.edge_index + before)
            before += len(part.x)
        starts = {}
        for name, counts in sizes.items():
            end = torch.cat(counts).cumsum(0)
            starts[name] = torch.cat([end.new_zeros(1), end]).to(device)
        edges = fused.sorted_edges(torch.cat(ends, dim=1).to(device), before)
        graph = torch.repeat_interleave(starts["edge"].diff())
        first_node = starts["node"][graph].int()
        edge_y = [part.edge_y for part in parts if part.edge_y is not None]
        return cls(
            x=torch.cat([part.x for part in parts]).to(device),
            edge_attr=torch.cat([part.edge_attr for part in parts]).to(device),
            y=torch.cat([part.y for part in parts]).to(device),
            edge_y=torch.cat(edge_y).to(device) if edge_y else None,
            node_start=starts["node"],
            edge_start=starts["edge"],
            source=edges.source - first_node,
            destination=edges.destination - first_node,
            start=edges.start,
            order=edges.order,
            source_start=edges.source_start,
        )

    def have_quality(self) -> Tensor:
        """Return whether the local quality of an edge is known, of each graph: bool, (B,)."""
        if self.edge_y is None:
            return torch.zeros_like(self.y, dtype=torch.bool)
        known = (~torch.isnan(self.edge_y)).cumsum(0)
        known = torch.cat([known.new_zeros(1), known])[self.edge_start]
        return known.diff() > 0

    def cut(self, graphs: Tensor, n_nodes: int, n_edges: int) -> GraphBatch:
        """Return some graphs as a batch of so many nodes and edges, without waiting for the GPU.

        graphs : (B,), -1 for none. Their nodes and edges come first; the rest is padding, of graph
        B, whose rows are those of others.
        """
        nodes, edges = (
            Rows.of(self.node_start, graphs),
            Rows.of(self.edge_start, graphs),
        )
        edge_graph, edge = edges.taken(n_edges)
        # one node more: where the edges of the last one end
        graph, node = nodes.taken(n_nodes + 1)
        last = edges.end[-1:]
        shift = torch.cat([edges.end - edges.count - edges.first, last])[graph]
        is_node = graph < len(graphs)
        starts = [
            torch.where(is_node, start[node] + shift, last)
            for start in (self.start, self.source_start)
        ]
        before = torch.cat([nodes.end - nodes.count, nodes.end.new_zeros(1)])
        before = before[edge_graph]
        order = self.order[edge] + (torch.arange(n_edges, device=edge.device) - edge)
        columns = (
            self.source[edge] + before,
            self.destination[edge] + before,
            starts[0],
            order,
            starts[1],
            last,
        )
        return GraphBatch(
            x=self.x.index_select(0, node[:-1]),
            edge_index=fused.SortedEdges(*[column.int() for column in columns]),  # type: ignore[arg-type]  # for kernels
            edge_attr=self.edge_attr.index_select(0, edge),
            node_graph=graph[:-1],
            edge_graph=edge_graph,
            y=self.y[graphs.clamp_min(0)],
            index=graphs,
            edge_y=None if self.edge_y is None else self.edge_y[edge],
        )


def bytes_of(store: GraphStore, graphs: Ints) -> int:
    """Return the memory that graphs of a store take on a GPU."""
    n_nodes = store.n_nodes[graphs].sum()
    n_edges = 0
    for p, part in enumerate(store.parts):
        in_part = store.place_in_part[graphs][store.part_of[graphs] == p]
        n_edges += int(part["edge_start"].diff()[in_part].sum())
    return 4 * int(n_nodes * (store.node_width + 2) + n_edges * (store.edge_width + 4))


def padded(size: int) -> int:
    """Return the next size of padded batches, which is at most 2^½ times as large."""
    steps = math.ceil(math.log2(max(size, LEAST_SIZE)) * SIZES_AN_OCTAVE - 1e-9)
    return math.ceil(2 ** (steps / SIZES_AN_OCTAVE) / 64) * 64


class Steps:
    """Steps of training, recorded once for each padded size.

    Parameters
    ----------
    module : ResidentTraining
        Whose weights are trained, by its first optimiser.
    step : callable
        Computes a step for so many nodes and edges.
    """

    def __init__(self, module: ResidentTraining, step: Callable[[int, int], None]):
        self.module = module
        self.step = step
        self.recorded: dict[tuple[int, int], Callable[[], None]] = {}
        self.pool: Any = None

    def run(self, n_nodes: int, n_edges: int) -> None:
        """Compute a step with room for so many nodes and edges."""
        size = padded(n_nodes), padded(n_edges)
        if size not in self.recorded:
            self.recorded[size] = self._record(size)
        self.recorded[size]()

    def _record(self, size: tuple[int, int]) -> Callable[[], None]:
        device = self.module.device
        if device.type != "cuda":
            return lambda: self.step(*size)
        if self.pool is None:
            self.pool = torch.cuda.graph_pool_handle()
        state = self._state()
        random = torch.cuda.get_rng_state(device)
        stream = torch.cuda.Stream(device)
        stream.wait_stream(torch.cuda.current_stream(device))
        with torch.cuda.stream(stream):
            for _ in range(2):  # kernels are compiled, and libraries make room
                self.step(*size)
                self._restore(state)  # there may be no next step
        torch.cuda.current_stream(device).wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=self.pool):
            self.step(*size)
        torch.cuda.set_rng_state(random, device)
        return graph.replay

    def _state(self) -> list[tuple[Tensor, Tensor]]:
        # what autograd remembers of weights outside the recording would break that
        return [(tensor, tensor.detach().clone()) for tensor in self._changed()]

    def _changed(self) -> list[Tensor]:
        return [*self.module.parameters(), *self.module.changed_by_steps()]

    def _restore(self, state: list[tuple[Tensor, Tensor]]) -> None:
        with torch.no_grad():
            for tensor, before in state:
                tensor.copy_(before)


class ResidentTraining(ScorerTraining):
    """As `ScorerTraining`, on one GPU that holds all graphs. A batch of Lightning is an epoch."""

    def __init__(self, *arguments: Any, **options: Any):
        super().__init__(*arguments, **options)
        self.automatic_optimization = False
        self.steps = Steps(self, self._step)
        self.step_size = self.hp.batch_size * self.hp.accumulate
        entries = self.run.hardware.trainer
        self.clip = clipping(
            entries.get("gradient_clip_val"), entries.get("gradient_clip_algorithm")
        )
        used = np.concatenate([self.training_graphs, self.validation_graphs])
        self.used = np.unique(used)
        self.is_prepared = False

    # ---- data ----

    def setup(self, stage: str) -> None:
        """Load the graphs."""
        # else every new array is filled first, which takes as long as all other small kernels
        torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]  # torch makes it at run time
        if not hasattr(self, "graphs"):
            device = self.trainer.strategy.root_device
            self.graphs = ResidentGraphs.load(self.store, self.used, device)
            starts = torch.stack([self.graphs.node_start, self.graphs.edge_start])
            self.sizes = starts.diff().cpu().numpy()
            self.has_quality = self.graphs.have_quality().cpu().numpy()

    def train_dataloader(self) -> DataLoader:
        """Return the order of this epoch."""
        order = epoch_order(
            self.training_graphs, self.levels, self.run.seed, self.current_epoch
        )
        if self.hp.drop_last:
            order = order[: len(order) // self.hp.batch_size * self.hp.batch_size]
        return _one_by_one([order])

    def val_dataloader(self) -> DataLoader:
        """Return the graphs that judge an epoch, always the same."""
        n_parts = -(-len(self.validation_graphs) // AT_ONCE)
        return _one_by_one(np.array_split(self.validation_graphs, n_parts))

    # ---- training ----

    def configure_optimizers(self) -> Any:
        """Return Adam, whose state is made now, and whose steps can be recorded."""
        found = super().configure_optimizers()
        (group,) = found["optimizer"].param_groups
        is_on_gpu = self.device.type == "cuda"
        group.update(capturable=is_on_gpu, fused=is_on_gpu)
        return found

    def changed_by_steps(self) -> list[Tensor]:
        """Return what a step changes beside the weights."""
        of_optimizer = []
        for state in self._adam.state.values():
            of_optimizer += [state[name] for name in sorted(state)]
        return [self.number, self.losses, *of_optimizer]

    def _prepare(self, n_steps: int) -> None:
        """Make the arrays of an epoch, and the state of the optimiser where it has none."""
        shape, device = (n_steps, self.step_size), self.device
        self._adam = self.trainer.optimizers[0]
        self.is_prepared = True
        self._weights = trained_weights(self)
        self.number = torch.zeros(1, dtype=torch.int64, device=device)
        self.chosen = torch.zeros(shape, dtype=torch.int64, device=device)
        self.shares = torch.zeros((4, *shape), device=device)
        self.losses = torch.zeros(n_steps, device=device)
        self.rate = torch.zeros((), device=device)
        for weight in self._weights:
            state = self._adam.state[weight]
            if not state:
                state["step"] = torch.zeros((), device=device)
                state["exp_avg"] = torch.zeros_like(weight)
                state["exp_avg_sq"] = torch.zeros_like(weight)

    def training_step(self, order: Ints, number: int) -> None:  # type: ignore[override]  # an epoch
        """Train an epoch."""
        places = np.searchsorted(self.used, order)
        n_steps = -(-len(order) // self.step_size)
        if not self.is_prepared:
            self._prepare(n_steps)
        chosen = np.full(n_steps * self.step_size, -1)
        chosen[: len(order)] = places
        self.chosen.copy_(torch.from_numpy(chosen).view(n_steps, -1))
        shares = self._shares(order, places).reshape(4, n_steps, -1)
        self.shares.copy_(torch.from_numpy(shares))
        self.number.zero_()
        sizes = np.where(chosen >= 0, self.sizes[:, chosen], 0)
        sizes = sizes.reshape(2, n_steps, -1).sum(2)
        (group,) = self._adam.param_groups
        rate = group["lr"]
        self.rate.fill_(rate)
        group["lr"] = self.rate if self.device.type == "cuda" else rate
        for n_nodes, n_edges in sizes.T.tolist():
            self.steps.run(n_nodes, n_edges)
        group["lr"] = rate
        losses = self.losses.double().cpu()
        bad = torch.nonzero(~torch.isfinite(losses)).flatten()
        if len(bad):
            step = slice(bad[0] * self.step_size, (bad[0] + 1) * self.step_size)
            raise NotFiniteError("the training loss", torch.from_numpy(order[step]))
        loss = (losses.sum() / len(order)).float().to(self.device)
        self._losses.append(torch.stack([loss, loss.new_tensor(len(order))]))
        # Lightning counts steps of optimisers that it runs itself
        progress = self.trainer.fit_loop.epoch_loop.manual_optimization
        progress.optim_step_progress.total.ready += n_steps
        progress.optim_step_progress.total.completed += n_steps

    def _shares(self, order: Ints, places: Ints) -> np.ndarray:
        """Return how much each graph counts: in the step and in the mean of an epoch.

        (4, graphs with padding): of its DockQ and of its local quality in the step, and likewise in
        the epoch. A step of several batches is the mean of their means, as if they came one by one.
        """
        size, accumulate = self.hp.batch_size, self.hp.accumulate
        n_padded = -(-len(order) // self.step_size) * self.step_size
        batch = np.arange(n_padded) // size
        is_there = np.arange(n_padded) < len(order)
        known = np.zeros(n_padded, bool)
        known[: len(order)] = self.has_quality[places]
        shares = np.zeros((4, n_padded), np.float32)
        in_batch = np.bincount(batch, is_there)[batch]
        for row, counts in enumerate((is_there, known)):
            n = np.maximum(np.bincount(batch, counts), 1)[batch]
            shares[row] = counts / n / accumulate
            shares[row + 2] = counts / n * in_batch
        return shares

    def _step(self, n_nodes: int, n_edges: int) -> None:
        """Compute the step of `number`. Nothing here waits for the GPU."""
        graphs = self.chosen.index_select(0, self.number)[0]
        of_dockq, of_local, *of_epoch = self.shares.index_select(1, self.number)[:, 0]
        batch = self.graphs.cut(graphs, n_nodes, n_edges)
        kind = self.device.type
        # the values that autocast keeps would be those of the time of recording
        with torch.autocast(
            kind,
            enabled=torch.is_autocast_enabled(kind),
            dtype=torch.get_autocast_dtype(kind),
            cache_enabled=False,
        ):
            prediction = self.network.predictions(batch)
        error = dockq_loss(self.hp.loss, prediction.score, batch.y, reduction="none")
        error = torch.where(graphs >= 0, error, 0)
        loss, of_all = (error * of_dockq).sum(), (error * of_epoch[0]).sum()
        logit, quality = prediction.edge_logit, batch.edge_y
        if self.hp.local_weight and logit is not None and quality is not None:
            wrong, known = edge_errors(logit, quality)
            columns = torch.stack([wrong, known.to(wrong.dtype)], dim=1)
            means = fused.graph_means(columns, batch.edge_graph, len(graphs))
            local = means[:, 0] / means[:, 1].clamp_min(torch.finfo(means.dtype).tiny)
            loss = loss + self.hp.local_weight * (local * of_local).sum()
            of_all = of_all + self.hp.local_weight * (local * of_epoch[1]).sum()
        self._adam.zero_grad(set_to_none=True)
        loss.backward()
        self.clip(self._weights)
        self._adam.step()
        with torch.no_grad():
            steps = torch.arange(len(self.losses), device=self.device)
            self.losses.copy_(torch.where(steps == self.number, of_all, self.losses))
            self.number += 1

    # ---- validation ----

    def validation_step(self, graphs: Ints, number: int) -> None:  # type: ignore[override]  # by number
        """Predict a batch."""
        places = np.searchsorted(self.used, graphs)
        n_nodes, n_edges = self.sizes[:, places].sum(1).tolist()
        batch = self.graphs.cut(
            torch.from_numpy(places).to(self.device), n_nodes, n_edges
        )
        index = torch.from_numpy(graphs).to(self.device)
        columns = (index.double(), batch.y.double(), self.network(batch).double())
        self._validated.append(torch.stack(columns, dim=1))


def _one_by_one(arrays: list[Ints]) -> DataLoader:
    """Return a loader of arrays as they are."""
    graphs: Any = arrays  # a list has what a loader needs of a data set
    return DataLoader(
        graphs, batch_size=None, collate_fn=_unchanged, generator=torch.Generator()
    )


def _unchanged(array: Any) -> Any:
    return array


def can_reside(run: Run, network: nn.Module, store: GraphStore) -> str:
    """Return why a run on a GPU cannot have all graphs there; empty where it can."""
    hardware, hp = run.hardware, run.hyperparameters
    for entry, values in TRAINER_ENTRIES.items():
        given = hardware.trainer.get(entry)
        if values is not None and given is not None and given not in values:
            return f"training.trainer has {entry}: {given}"
    others = sorted(set(hardware.trainer) - set(TRAINER_ENTRIES))
    if others:
        return f"training.trainer has {', '.join(others)}"
    for key in ("compile", "activation_checkpointing", "offload_optimizer"):
        if getattr(hardware, key):
            return f"training.{key} is set"
    if not fused.has_triton():
        return "Triton is missing, which builds of PyTorch for CUDA bring"
    if not isinstance(network, DockQNet) or not fused.fits(
        hp.heads, hp.hidden, torch.empty(0, store.edge_width)
    ):
        return "the network is not one that the kernels of the GPU compute"
    if hp.batch_size * hp.accumulate > MOST_IN_A_STEP:
        return f"a step has more than {MOST_IN_A_STEP} graphs"
    free = torch.cuda.mem_get_info()[0]
    if bytes_of(store, np.arange(len(store))) > SHARE_OF_MEMORY * free:
        return "the graphs take more than half of the free memory of the GPU"
    return ""


def clipping(
    value: float | None, algorithm: str | None
) -> Callable[[list[nn.Parameter]], Any]:
    """Return what limits gradients, as Lightning's `gradient_clip_val` would."""
    if not value:
        return lambda weights: None
    if algorithm == "value":
        return lambda weights: clip_grad_value_(weights, value)
    return lambda weights: clip_grad_norm_(weights, value)
