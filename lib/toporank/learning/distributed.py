"""One run on several devices: a process for each, and each takes its share of every batch.

The loss of a batch is over all its decoys, as on one device, however unequal the shares are, and so is validation.
Dropout alone draws other numbers than on one device.
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
from toporank.learning.graphs import GraphBatch
from toporank.learning.lightning import NotFiniteError, Scorer


def on_devices(n_devices: int, work: Callable[..., Any], *arguments: Any) -> Any:
    """What `work(*arguments)` returns in the first of n connected processes.

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
        """Every device knows the loss of the whole batch, and its gradient by its own scores."""
        (own, own_local), n_devices = self._learned(batch), self.trainer.world_size
        index, dockq, predicted, local = self._whole_batch(batch, own.detach(), own_local)
        predicted[self.global_rank :: n_devices] = own
        if own_local is not None:
            local[self.global_rank :: n_devices] = own_local
        loss = self.objective(predicted, dockq, self.target_codes[index], local)
        if not torch.isfinite(loss):
            raise NotFiniteError("the training loss", index)
        self.log("train_loss", loss.detach(), on_step=False, on_epoch=True, batch_size=len(index))
        return loss * n_devices  # Lightning takes the mean of the devices' gradients

    def _whole_batch(
        self, batch: GraphBatch, predicted: Tensor, local: Tensor | None
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Index, DockQ, prediction and local error (nan without) of all decoys of a batch that `SharedBatches` has
        shared out, in its order."""
        n_devices = self.trainer.world_size
        own = torch.full((-(-self.hp.batch_size // n_devices), 4), -1.0, dtype=torch.float64, device=predicted.device)
        errors = torch.full_like(predicted, torch.nan) if local is None else local.detach()
        columns = (batch.index, batch.y, predicted, errors)
        own[: len(predicted)] = torch.stack([column.double() for column in columns], dim=1)
        shares = [torch.empty_like(own) for _ in range(n_devices)]
        distributed.all_gather(shares, own)
        index, *others = torch.stack(shares, dim=1).reshape(-1, len(columns)).unbind(dim=1)
        there = index >= 0
        return index[there].long(), *(column[there].float() for column in others)

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
