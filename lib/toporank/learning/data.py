"""Batches for training and validation."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch
from threadpoolctl import threadpool_limits
from torch.utils.data import BatchSampler, DataLoader, Sampler

from toporank.learning.epochs import EpochSampler, order
from toporank.learning.graphs import GraphStore
from toporank.learning.hyperparameters import Schedule
from toporank.learning.splits import split_indices

LARGE = 2**30
"""Bytes of packs from which reading them may keep a GPU waiting."""


Share = tuple[int, int]
"""Which device this is, and how many there are: it takes its share of every batch."""


def training_batches(
    store: GraphStore,
    schedule: Schedule,
    seed: int,
    share: Share = (0, 1),
    cluster_of: Mapping[str, str] | None = None,
    **options,
) -> DataLoader:
    """Batches of the `train` split, drawn anew each epoch as the schedule says.

    cluster_of : each training target, where clusters are balanced. options : of the DataLoader.
    """
    indices = split_indices(store, "train")
    sampler = EpochSampler(order(indices, store.decoys, schedule, cluster_of or {}), len(indices), seed)
    return _loader(store, sampler, schedule.batch_size, share, options)


def validation_batches(store: GraphStore, batch_size: int, share: Share = (0, 1), **options) -> DataLoader:
    """Batches of the `val` split, always in the same order."""
    return _loader(store, split_indices(store, "val").tolist(), batch_size, share, options)


class SharedBatches(BatchSampler):
    """Of each batch every n-th graph; none of a batch with fewer graphs than devices before this one."""

    def __init__(self, order: Sampler | list[int], batch_size: int, share: Share):
        super().__init__(order, batch_size, drop_last=False)
        self.share = share

    def __iter__(self) -> Iterator[list[int]]:
        device, n_devices = self.share
        return (batch[device::n_devices] for batch in super().__iter__())


def _loader(store: GraphStore, order: Sampler | list[int], batch_size: int, share: Share, options: dict) -> DataLoader:
    batches = SharedBatches(order, batch_size, share)
    own = torch.Generator()  # otherwise each pass over the data would advance the random numbers of dropout
    return DataLoader(range(len(store)), batch_sampler=batches, collate_fn=store.batch, generator=own, **options)


def loader_options(store: GraphStore, device: str) -> dict[str, Any]:
    """Options of the DataLoaders, which change no result. device : cpu, cuda or mps.

    The process that trains also makes the batches, because slicing one takes a few percent of a step on a CPU; up to
    four others do it where a GPU reads large packs.
    """
    pinned = {"pin_memory": device == "cuda"}
    size = sum(tensor.nbytes for part in store.parts for tensor in part.values())
    if device == "cpu" or size < LARGE:
        return pinned
    workers = min(4, max(1, (os.cpu_count() or 1) - 1))
    return {**pinned, "num_workers": workers, "persistent_workers": True}


def seed_everything(seed: int, threads: int) -> None:
    """One seed for weights, dropout and shuffling; a fixed number of threads, since sums depend on it."""
    torch.manual_seed(seed)
    np.random.seed(seed % 2**32)
    torch.set_num_threads(threads)
    threadpool_limits(threads, "blas")
    torch.use_deterministic_algorithms(True)
