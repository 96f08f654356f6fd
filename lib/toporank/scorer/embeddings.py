"""Where decoys lie for the network: its pooled vector of each, as a table and as a map of two axes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from toporank.errors import RecordError, printable
from toporank.files.atomic import write_bytes
from toporank.files.parquet import Table, to_bytes

KEYS = ("target", "decoy")
OF_CHECKPOINT = "checkpoint_sha256"
LONGEST = 200
"""Letters of a reason."""
Vectors = dict[tuple[str, str], np.ndarray]
"""(target, decoy) → its pooled vector, (k,)."""


def write_vectors(path: Path | str, rows: Sequence[tuple[tuple[str, str], Sequence[float]]], checkpoint: str) -> None:
    """Write embeddings.parquet: target, decoy, and v0, v1 … of each decoy's pooled vector, single precision.

    rows : (target, decoy) and the vector of each. checkpoint : SHA-256 of the one whose vectors they are.
    """
    write_bytes(path, to_bytes(columns_of_vectors(rows), {OF_CHECKPOINT: checkpoint}))


def columns_of_vectors(rows: Sequence[tuple[tuple[str, str], Sequence[float]]]) -> dict[str, list[str] | np.ndarray]:
    """The columns of the table of some vectors: target, decoy, v0, v1 …"""
    vectors = zip(*(vector for _, vector in rows), strict=True)
    columns = {name: [key[k] for key, _ in rows] for k, name in enumerate(KEYS)}
    return columns | {f"v{k}": np.array(entries, dtype=np.float32) for k, entries in enumerate(vectors)}


def read_embeddings(path: Path | str, checkpoint: str = "") -> Vectors:
    """Read embeddings.parquet; nothing of it when it is of another checkpoint than the one whose SHA-256 is given.

    Raises RecordError when it is damaged.
    """
    try:
        table = Table(Path(path).read_bytes())
        if checkpoint and table.metadata.get(OF_CHECKPOINT) != checkpoint:
            return {}
        keys = zip(*(table[name] for name in KEYS), strict=True)
        entries = [table[name] for name in table.names[len(KEYS) :]]
        vectors = np.column_stack(entries or [np.zeros((len(table), 0))])
        if not np.isfinite(vectors).all():
            raise ValueError("a vector has an entry that is not a number")
        return dict(zip(keys, vectors, strict=True))
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise _damaged(path, error) from error


def _damaged(path: Path | str, error: Exception) -> RecordError:
    what = f"not a table of vectors: {printable(str(error))[:LONGEST]}"
    return RecordError(what, where=path, remedy="delete it and run again, or restore it")


def principal_places(vectors: np.ndarray, others: np.ndarray, axes: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Places of vectors, (n, k), along their leading principal axes, (n, axes), and the share of variance of each.

    Between the two stand the places of others, (m, k), along the same axes, k at most.

    Each axis points to where its largest entry is positive, so that the same vectors always give the same map.
    """
    mean = vectors.mean(axis=0)
    centred = vectors - mean
    values, directions = np.linalg.eigh(centred.T @ centred)
    values, directions = values[::-1][:axes], directions[:, ::-1][:, :axes]
    directions = directions * np.sign(directions[np.abs(directions).argmax(axis=0), range(directions.shape[1])])
    total = np.square(centred).sum()
    return centred @ directions, (others - mean) @ directions, values / total if total > 0 else np.zeros(len(values))
