"""The vectors by which a network knows decoys, as a table and as a map of two axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from toporank.errors import RecordError, printable
from toporank.files.atomic import write_text
from toporank.files.spreadsheets import defused, restored
from toporank.scorer.prediction import KEY
from toporank.structures.identity import DecoyKey

LONGEST = 200
"""Letters of a reason."""
Vectors = Mapping[DecoyKey, Sequence[float]]
"""(target, decoy) → its pooled vector, (k,)."""


def vector_table(vectors: Vectors) -> pd.DataFrame:
    """Return a table of vectors: target, decoy, v0, v1 … in single precision."""
    matrix = np.array(list(vectors.values()), np.float32)
    table = pd.DataFrame(
        matrix.reshape(len(vectors), -1) if vectors else []
    ).add_prefix("v")
    keys = pd.DataFrame(list(vectors), columns=KEY)
    return pd.concat([keys, table], axis=1)


def write_embeddings(path: Path | str, table: pd.DataFrame) -> None:
    """Write embeddings.csv. table : as from `vector_table`."""
    table = table.copy()
    for name in KEY:
        table[name] = table[name].map(defused)
    write_text(path, table.to_csv(index=False, lineterminator="\n"))


def read_embeddings(path: Path | str) -> Vectors:
    """Return the vectors in embeddings.csv.

    Raises
    ------
    RecordError : where the file is damaged
    """
    try:
        table = pd.read_csv(path, dtype=dict.fromkeys(KEY, str), keep_default_na=False)
        matrix = table.drop(columns=KEY).to_numpy(np.float32)
        if not np.isfinite(matrix).all():
            raise ValueError("a vector has an entry that is not a number")
        keys = zip(
            table["target"].map(restored), table["decoy"].map(restored), strict=True
        )
        return dict(zip(keys, matrix, strict=True))
    except (OSError, ValueError, KeyError) as error:
        raise RecordError(
            f"not a table of vectors: {printable(str(error))[:LONGEST]}",
            where=path,
            remedy="delete it and run again, or restore it",
        ) from error


def principal_places(vectors: np.ndarray, axes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return where vectors lie along their leading principal axes.

    Each axis points to where its largest entry is positive, so that the same vectors always give
    the same map.

    Parameters
    ----------
    vectors : shape (n, k)
    axes : number of axes

    Returns
    -------
    places, (n, axes), and the share of variance of each axis, (axes,)
    """
    centred = vectors - vectors.mean(axis=0)
    values, directions = np.linalg.eigh(centred.T @ centred)
    values = values[::-1][:axes]
    directions = directions[:, ::-1][:, :axes]
    largest = np.abs(directions).argmax(axis=0)
    places = centred @ (directions * np.sign(directions[largest, range(len(largest))]))
    total = np.square(centred).sum()
    return places, values / total if total > 0 else np.zeros(len(values))
