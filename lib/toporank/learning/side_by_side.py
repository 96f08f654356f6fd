"""A batch computed by several processes, each with some of its graphs.

Copies of the training process read and share its weights; each cuts its graphs from the pack by
itself, goes forward and backward, and leaves its gradient in shared memory. Threads would wait for
each other between the many small steps of a network. The same number of processes gives the same
bits.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
from collections.abc import Iterator, Sequence
from itertools import pairwise
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits
from torch import Tensor
from torch.autograd.function import once_differentiable

from toporank.errors import TopoRankError
from toporank.learning.data import GraphBatch, GraphStore
from toporank.learning.network import (
    Network,
    NetworkOutput,
    by_destination,
    trained_weights,
)
from toporank.workers import KILLED

FORWARD, BACKWARD = "forward", "backward"
REMEDY = "lower training.threads, or train where there is more memory"

Singles = NDArray[np.float32]


@contextlib.contextmanager
def side_by_side(network: Network, store: GraphStore, processes: int) -> Iterator[None]:
    """Let several processes compute the predictions of a network, and their gradient.

    The network lies in shared memory afterwards. Random numbers of dropout follow from those of
    this process and from the number of processes.

    Parameters
    ----------
    network : DockQNet
        On the CPU.
    store : GraphStore
        Has the graphs of all batches, at their `index`.
    processes : int
        This one included; nothing changes with 1.

    Raises
    ------
    TopoRankError
        When one of the others was killed.
    """
    if processes == 1:
        yield
        return
    network.share_memory()
    computing = _Computing(network, store)
    gradients = torch.zeros(processes - 1, sum(map(torch.numel, computing.weights)))
    gradients.share_memory_()
    context = multiprocessing.get_context("fork")
    others: list[Connection] = []
    started = []
    for gradient in gradients:
        here, there = context.Pipe()
        task = context.Process(
            target=_work,
            args=(there, computing, gradient, [*others, here]),
            daemon=True,
        )
        task.start()
        there.close()
        others.append(here)
        started.append(task)
    network.predictions = _Predictions(computing, others, gradients)  # type: ignore[method-assign]
    try:
        with threadpool_limits(1, "blas"):
            yield
    finally:
        del network.predictions
        for here in others:
            here.close()  # which ends the process
        for task in started:
            task.join()


class _Computing:
    """A network that predicts graphs of a store, and its gradient.

    weights : those that are trained.
    """

    def __init__(self, network: Network, store: GraphStore):
        self.predict = network.predictions
        self.network = network
        self.store = store
        self.weights = trained_weights(network)
        self._found: list[Any] = []

    def forward(self, graphs: list[int], *, has_gradient: bool) -> list[Singles | None]:
        """Return the values of `NetworkOutput` for graphs of the store."""
        batch = by_destination(self.store.batch(graphs))
        with torch.set_grad_enabled(has_gradient):
            self._found = list(self.predict(batch))
        return [None if one is None else one.detach().numpy() for one in self._found]

    def backward(self, gradients: Sequence[Singles | None]) -> list[Tensor]:
        """Return the gradient of each weight. gradients : of what `forward` returned."""
        values, of_values = [], []
        for value, gradient in zip(self._found, gradients, strict=True):
            if gradient is not None:
                values.append(value)
                of_values.append(torch.from_numpy(gradient))
        self._found = []
        return list(
            torch.autograd.grad(values, self.weights, of_values, materialize_grads=True)
        )


class _Predictions:
    """What stands in the place of `DockQNet.predictions`."""

    def __init__(
        self, computing: _Computing, others: list[Connection], gradients: Tensor
    ):
        self.computing = computing
        self.others = others
        self.gradients = gradients

    def __call__(self, batch: GraphBatch) -> NetworkOutput:
        has_gradient = torch.is_grad_enabled()
        weights = self.computing.weights
        return NetworkOutput(*_Spread.apply(self, batch, has_gradient, *weights))

    def send(self, number: int, *message: Any) -> None:
        with _killed():
            self.others[number].send(message)

    def receive(self, number: int) -> Any:
        with _killed():
            answer = self.others[number].recv()
        if isinstance(answer, Exception):
            raise answer
        return answer


class _Spread(torch.autograd.Function):
    """Predictions of a batch, the first graphs by this process, the others by the others."""

    @staticmethod
    def forward(
        ctx: Any,
        predictions: _Predictions,
        batch: GraphBatch,
        has_gradient: bool,
        *weights: Tensor,
    ) -> tuple[Tensor | None, ...]:
        mine, *theirs = shares(batch, len(predictions.others) + 1)
        training = predictions.computing.network.training
        for number, graphs in enumerate(theirs):
            seed = int(torch.randint(2**62, ())) if training else 0
            predictions.send(number, FORWARD, graphs, training, has_gradient, seed)
        found = [predictions.computing.forward(mine, has_gradient=has_gradient)]
        found += [predictions.receive(number) for number in range(len(theirs))]
        ctx.predictions = predictions
        ctx.sizes = []
        ctx.set_materialize_grads(False)
        joined: list[Tensor | None] = []
        for values in zip(*found, strict=True):
            if values[0] is None:
                ctx.sizes.append([])
                joined.append(None)
            else:
                ctx.sizes.append([len(value) for value in values])
                joined.append(torch.from_numpy(np.concatenate(values)))
        return tuple(joined)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor | None) -> tuple[Tensor | None, ...]:
        predictions = ctx.predictions
        columns: list[Any] = []
        for gradient, sizes in zip(gradients, ctx.sizes, strict=True):
            if gradient is None:
                columns.append([None] * len(ctx.sizes[0]))
            else:
                columns.append(np.split(gradient.numpy(), np.cumsum(sizes)[:-1]))
        mine, *theirs = zip(*columns, strict=True)
        for number, of_values in enumerate(theirs):
            predictions.send(number, BACKWARD, of_values)
        own = predictions.computing.backward(mine)
        for number in range(len(theirs)):
            predictions.receive(number)
        total = predictions.gradients[: len(theirs)].sum(0)
        parts = total.split([weights.numel() for weights in own])
        of_weights = []
        for weights, part in zip(own, parts, strict=True):
            of_weights.append(weights + part.view_as(weights))
        return None, None, None, *of_weights


def shares(batch: GraphBatch, n: int) -> list[list[int]]:
    """Return the graphs of a batch in at most `n` parts, in order, with about as many edges."""
    n_edges = torch.bincount(batch.edge_graph, minlength=len(batch.index))
    before = np.concatenate([[0], np.cumsum(n_edges.numpy() + 1)])
    wanted = np.linspace(0, before[-1], n + 1)
    # the place that is nearest to each cut
    cuts = np.searchsorted((before[:-1] + before[1:]) / 2, wanted[1:-1])
    cuts = np.unique([0, *cuts, len(batch.index)])
    graphs = batch.index.tolist()
    return [graphs[first:last] for first, last in pairwise(cuts)]


def _work(
    there: Connection, computing: _Computing, gradient: Tensor, others: list[Connection]
) -> None:
    """Compute what is asked for until the other end is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    torch.set_num_threads(1)
    threadpool_limits(1, "blas")
    for other in others:  # otherwise their processes would outlive the first one
        other.close()
    while True:
        try:
            kind, *asked = there.recv()
        except (EOFError, OSError):
            return
        try:
            there.send(_answer(computing, gradient, kind, *asked))
        except Exception as error:  # noqa: BLE001 -- raised where it was asked for
            there.send(error)


def _answer(
    computing: _Computing, gradient: Tensor, kind: str, *asked: Any
) -> list[Singles | None] | None:
    if kind == BACKWARD:
        found = computing.backward(*asked)
        gradient.copy_(torch.cat([one.reshape(-1) for one in found]))
        return None
    graphs, training, has_gradient, seed = asked
    computing.network.train(training)
    torch.manual_seed(seed)
    return computing.forward(graphs, has_gradient=has_gradient)


@contextlib.contextmanager
def _killed() -> Iterator[None]:
    try:
        yield
    except (EOFError, OSError) as error:
        what = f"a process of the training {KILLED}"
        raise TopoRankError(what, remedy=REMEDY) from error
