"""Batches for training and validation."""

from __future__ import annotations

import dataclasses
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import torch
from threadpoolctl import threadpool_limits
from torch.utils.data import BatchSampler, DataLoader, Sampler

from toporank.config.hardware import Loading
from toporank.config.training import Schedule
from toporank.errors import ConfigError
from toporank.graphs.pack import GraphStore
from toporank.training.sampling import EpochSampler, order

LARGE = 2**30
"""Bytes of packs from which reading them may keep a GPU waiting."""


Share = tuple[int, int]
"""Which device this is, and how many there are: of every batch it takes its share."""


def training_batches(store: GraphStore, schedule: Schedule, seed: int, share: Share = (0, 1), **options) -> DataLoader:
    """Batches of the `train` split, drawn anew each epoch as the schedule says. options : of the DataLoader."""
    indices = split_indices(store, "train")
    sampler = EpochSampler(order(indices, store.decoys, schedule), len(indices), seed)
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
    own = torch.Generator()  # else each pass over the data would advance the numbers dropout uses
    return DataLoader(range(len(store)), batch_sampler=batches, collate_fn=store.batch, generator=own, **options)


def loader_options(loading: Loading, store: GraphStore, device: str) -> dict[str, Any]:
    """Options of the DataLoaders. device : cpu, cuda or mps."""
    size = sum(tensor.nbytes for part in store.parts for tensor in part.values())
    workers = loading.workers
    if workers == "auto":  # slicing a batch takes a few percent of a step on a CPU
        slow = device != "cpu" and not loading.in_memory and size >= LARGE
        workers = min(4, max(1, (os.cpu_count() or 1) - 1)) if slow else 0
    pinned = torch.cuda.is_available() and device == "cuda" if loading.pin_memory == "auto" else loading.pin_memory
    if workers == 0:
        return {"pin_memory": pinned}
    return {
        "num_workers": workers, "prefetch_factor": loading.prefetch, "pin_memory": pinned,
        "persistent_workers": loading.persistent_workers,
    }  # fmt: skip


def split_indices(store: GraphStore, split: str) -> np.ndarray:
    """Positions of the labelled graphs of a split, by target and decoy name; raises ConfigError if none."""
    decoys = store.decoys
    chosen = decoys[(decoys["split"] == split) & decoys["dockq"].notna()].sort_values(
        ["target", "decoy"], kind="stable"
    )
    if chosen.empty:
        raise ConfigError(
            f"no labelled decoy with a graph in split {split!r}", remedy="see the labels and coverage.tsv"
        )
    return chosen.index.to_numpy()


def open_graphs(packs: list[Path], validation: list[Path], *, in_memory: bool = False) -> GraphStore:
    """The graphs of all packs; only those of `packs` keep their split `train`, only those of `validation` `val`."""
    paths = list(dict.fromkeys([*packs, *validation]))
    store = GraphStore.open(paths, in_memory=in_memory, verify=True)
    home = np.repeat(np.arange(len(paths)), [len(GraphStore.open([path])) for path in paths])
    split = store.decoys["split"].to_numpy()
    for name, used in (("train", packs), ("val", validation)):
        split = np.where((split == name) & ~np.isin(home, [paths.index(path) for path in used]), "", split)
    return dataclasses.replace(store, decoys=store.decoys.assign(split=split))


def check_memory(packs: list[Path], copies: int) -> None:
    """Raise ConfigError when so many copies of the packs are more than the memory that is free on this machine."""
    needed = copies * sum(path.stat().st_size for path in set(packs) if path.exists())
    free = psutil.virtual_memory().available
    if needed > free:
        each = f" ({copies} processes)" if copies > 1 else ""
        raise ConfigError(
            f"the packs take {needed / 2**30:.1f} GiB of memory{each}, {free / 2**30:.1f} GiB are free",
            where="training.loading.in_memory", remedy="leave it out: packs are then mapped, and need not fit",
        )  # fmt: skip


def check_labels(store: GraphStore) -> None:
    """Raise ConfigError naming the decoy whose label is no DockQ, or the split whose labels are all equal."""
    labelled = store.decoys[store.decoys["dockq"].notna()]
    wrong = labelled[~labelled["dockq"].between(0, 1)]
    if len(wrong):
        first = wrong.iloc[0]
        raise ConfigError(
            f"{len(wrong)} labels are not in 0 to 1, the first is {first.dockq:g}",
            where=f"{first.target}/{first.decoy}", remedy="labels are DockQ; mend the label table",
        )  # fmt: skip
    for split in ("train", "val"):
        dockq = store.decoys["dockq"].to_numpy()[split_indices(store, split)]
        if len(dockq) > 1 and np.ptp(dockq) == 0:
            raise ConfigError(
                f"all {len(dockq)} labels of split {split!r} are {dockq[0]:g}",
                remedy="nothing can be learned or selected from equal labels; look at the label table",
            )


def check_splits(store: GraphStore) -> None:
    """Raise ConfigError when a target is trained on in one data set and validated on in another."""
    labelled = store.decoys[store.decoys["dockq"].notna()]
    both = labelled.groupby("target")["split"].agg(set).map(lambda splits: {"train", "val"} <= splits)
    if both.any():
        raise ConfigError(
            f"target {both.index[both][0]!r} is in split train and in split val of different data sets",
            remedy="give it one split",
        )


def fingerprint(store: GraphStore) -> str:
    """Digest of what is trained on: decoys, splits, labels and feature values of both splits."""
    digest = hashlib.sha256(store.decoys.to_csv(index=False).encode())
    for part in store.parts:
        for name in sorted(part):
            digest.update(part[name].contiguous().numpy())  # mapped from the file, not copied
    return digest.hexdigest()[:16]


def seed_everything(seed: int, threads: int) -> None:
    """One seed for weights, dropout and shuffling; a fixed number of threads, since sums depend on it."""
    torch.manual_seed(seed)
    np.random.seed(seed % 2**32)
    torch.set_num_threads(threads)
    threadpool_limits(threads, "blas")
    torch.use_deterministic_algorithms(True)
