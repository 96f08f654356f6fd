"""Batches for training and validation."""

from __future__ import annotations

import hashlib

import numpy as np
import torch
from torch.utils.data import BatchSampler, DataLoader, Sampler

from toporank.config.training import Schedule
from toporank.errors import ConfigError
from toporank.pack import GraphStore
from toporank.training.sampling import EpochSampler, order


def training_batches(store: GraphStore, schedule: Schedule, seed: int) -> DataLoader:
    """Batches of the `train` split, drawn anew each epoch as the schedule says."""
    indices = split_indices(store, "train")
    sampler = EpochSampler(order(indices, store.decoys, schedule), len(indices), seed)
    return _loader(store, sampler, schedule.batch_size)


def validation_batches(store: GraphStore, batch_size: int) -> DataLoader:
    """Batches of the `val` split, always in the same order."""
    return _loader(store, split_indices(store, "val").tolist(), batch_size)


def _loader(store: GraphStore, order: Sampler | list[int], batch_size: int) -> DataLoader:
    batches = BatchSampler(order, batch_size, drop_last=False)
    own = torch.Generator()  # else each pass over the data would advance the numbers dropout uses
    return DataLoader(range(len(store)), batch_sampler=batches, collate_fn=store.batch, generator=own)


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
            digest.update(part[name].numpy().tobytes())
    return digest.hexdigest()[:16]


def seed_everything(seed: int, threads: int) -> None:
    """One seed for weights, dropout and shuffling; a fixed number of threads, since sums depend on it."""
    torch.manual_seed(seed)
    np.random.seed(seed % 2**32)
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(True)
