"""Where decoys lie for the network: its pooled vector of each, as a table and as a map of two
axes.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from toporank.errors import RecordError, printable
from toporank.files import described
from toporank.files.atomic import write_bytes
from toporank.files.spreadsheets import restored, write_rows

KEYS = ("target", "decoy")
OF_CHECKPOINT = "checkpoint_sha256"
LONGEST = 200
"""Letters of a reason."""
Vectors = Mapping[tuple[str, str], np.ndarray]
"""(target, decoy) → its pooled vector, (k,)."""


def vector_columns(vectors: Vectors) -> dict[str, list[str] | np.ndarray]:
    """Return the columns of the table of some vectors: target, decoy, v0, v1 … in single
    precision.
    """
    matrix = _matrix(vectors)
    names = {name: [key[k] for key in vectors] for k, name in enumerate(KEYS)}
    return names | {f"v{k}": column for k, column in enumerate(matrix.T)}


def _matrix(vectors: Vectors) -> np.ndarray:
    """The vectors as rows, float32, (n, k)."""
    rows = [*vectors.values()]
    return np.array(rows, np.float32).reshape(len(rows), len(rows[0]) if rows else 0)


def write_embeddings(path: Path | str, vectors: Vectors) -> None:
    """Write embeddings.csv, the table of `vector_columns`."""
    columns = vector_columns(vectors)
    write_rows(path, [*columns], zip(*columns.values(), strict=True))


def read_embeddings(path: Path | str) -> Vectors:
    """Return the vectors in embeddings.csv.

    Raises
    ------
    RecordError : where the file is damaged
    """
    import pandas as pd

    try:
        table = pd.read_csv(path, dtype=dict.fromkeys(KEYS, str), keep_default_na=False)
        keys = [
            tuple(map(restored, key)) for key in zip(*(table[name] for name in KEYS), strict=True)
        ]
        matrix = table.drop(columns=[*KEYS]).to_numpy(np.float32)
        return _by_name(keys, matrix)
    except (OSError, ValueError, KeyError) as error:
        raise _damaged(path, error) from error


def write_training_vectors(path: Path | str, vectors: Vectors, checkpoint: str) -> None:
    """Write the vectors that a scorer brings along. checkpoint : SHA-256 of the one whose vectors
    they are.
    """
    description = {"decoys": [*vectors], OF_CHECKPOINT: checkpoint}
    write_bytes(path, described.to_bytes({"vectors": _matrix(vectors)}, description))


def read_training_vectors(path: Path | str, checkpoint: str) -> Vectors:
    """Return the vectors that a scorer brings along; none where they are of another checkpoint.

    Raises
    ------
    RecordError : where the file is damaged
    """
    try:
        arrays, description = described.from_bytes(Path(path).read_bytes())
        if description[OF_CHECKPOINT] != checkpoint:
            return {}
        return _by_name([tuple(key) for key in description["decoys"]], arrays["vectors"])
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise _damaged(path, error) from error


def _by_name(keys: list[tuple[str, str]], matrix: np.ndarray) -> Vectors:
    if not np.isfinite(matrix).all():
        raise ValueError("a vector has an entry that is not a number")
    return dict(zip(keys, matrix, strict=True))


def _damaged(path: Path | str, error: Exception) -> RecordError:
    what = f"not a table of vectors: {printable(str(error))[:LONGEST]}"
    return RecordError(what, where=path, remedy="delete it and run again, or restore it")


def principal_places(
    vectors: np.ndarray, others: np.ndarray, axes: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Places of vectors, (n, k), along their leading principal axes, (n, axes), and the share of
    variance of each.

    Between the two stand the places of others, (m, k), along the same axes, k at most.

    Each axis points to where its largest entry is positive, so that the same vectors always give
    the same map.
    """
    mean = vectors.mean(axis=0)
    centred = vectors - mean
    values, directions = np.linalg.eigh(centred.T @ centred)
    values, directions = values[::-1][:axes], directions[:, ::-1][:, :axes]
    directions = directions * np.sign(
        directions[np.abs(directions).argmax(axis=0), range(directions.shape[1])]
    )
    total = np.square(centred).sum()
    return (
        centred @ directions,
        (others - mean) @ directions,
        values / total if total > 0 else np.zeros(len(values)),
    )
