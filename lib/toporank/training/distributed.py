"""One run on several devices: a process for each, all of which take their share of every batch.

The gradient of a batch is the mean over all its decoys, as on one device, however unequal the shares are; validation
is over all decoys together. Dropout alone draws other numbers than on one device.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, distributed
from torch import multiprocessing as processes

from toporank.errors import TopoRankError, TrainingError
from toporank.model.scorer import NotFiniteError, Scorer
from toporank.pack import GraphBatch


def on_devices(n_devices: int, work: Callable[..., Any], *arguments: Any) -> Any:
    """What `work(*arguments)` returns in the first of n processes that know of each other.

    Raises what a process raised on purpose, or TrainingError when one ended otherwise; the others are ended, too.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    outcomes = processes.get_context("spawn").SimpleQueue()
    try:
        processes.spawn(_process, (n_devices, port, outcomes, work, arguments), nprocs=n_devices)
    except (processes.ProcessRaisedException, processes.ProcessExitedException) as error:
        if outcomes.empty():
            raise TrainingError(f"one of {n_devices} processes ended: {error}", remedy="see the lines above") from error
    outcome = outcomes.get()
    if isinstance(outcome, TopoRankError):
        raise outcome
    return outcome


def _process(device: int, n_devices: int, port: int, outcomes: Any, work: Callable[..., Any], arguments: tuple) -> None:
    os.environ.update(LOCAL_RANK=str(device), NODE_RANK="0", MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    try:
        outcome = work(*arguments)
    except TopoRankError as error:
        outcomes.put(error)
        raise SystemExit(1) from error
    if device == 0:
        outcomes.put(outcome)


def this_device() -> int:
    """Number of this process among those of `on_devices`."""
    return int(os.environ["LOCAL_RANK"])


class SharingScorer(Scorer):
    """A `Scorer` that sees a share of every batch."""

    def on_train_epoch_start(self) -> None:
        """Every device draws its own dropout."""
        super().on_train_epoch_start()
        torch.manual_seed(torch.initial_seed() + self.global_rank * 1_000_003)

    def training_step(self, batch: GraphBatch, number: int) -> Tensor:
        predicted, own = self.network(batch), len(batch.index)
        # without a graph this device still takes part when gradients are added up
        loss = self.objective(predicted, batch.y, self.target_codes[batch.index], number) if own else predicted.sum()
        graphs, error = sums = torch.stack([torch.tensor(float(own), device=loss.device), loss.detach() * own])
        distributed.all_reduce(sums)
        if not torch.isfinite(error):
            raise NotFiniteError("the training loss", torch.cat(_gathered(batch.index)))
        self.log("train_loss", error / graphs, on_step=False, on_epoch=True, batch_size=int(graphs))
        return loss * (own * self.trainer.world_size / graphs)  # Lightning takes the mean of the devices' gradients

    def _collected(self) -> tuple[Tensor, Tensor, Tensor]:
        """Of all devices, in the order of the store."""
        found = zip(*_gathered(super()._collected()), strict=True)
        index, dockq, predicted = (torch.cat([part.to(self.device) for part in parts]) for parts in found)
        order = torch.argsort(index)
        return index[order], dockq[order], predicted[order]


def _gathered(value: Any) -> list[Any]:
    """This value of every device."""
    values = [None] * distributed.get_world_size()
    distributed.all_gather_object(values, value)
    return values
