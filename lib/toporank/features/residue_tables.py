"""Per-residue tables on disk: Parquet, one row a residue, identity columns first.

A residue is known by its author's numbers; beside them stand mmCIF's own, empty where the file has none.

Parquet rather than CSV: exact numbers, a chain named `NA` or `1` stays text, a quarter of the time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from toporank.errors import FeatureError
from toporank.features.registry import canonical
from toporank.files.parquet import Column, Table, to_bytes
from toporank.structures.complex import Complex
from toporank.structures.identity import ResidueId

IDENTITY = ("chain", "number", "insertion_code", "residue")
METADATA_KEY = "toporank"


def table_bytes(complex_: Complex, index: np.ndarray, columns: dict[str, Column], metadata: dict[str, Any]) -> bytes:
    """A table of the residues `index` (int, shape (N,)) with further columns: arrays of N numbers, lists of N texts."""
    ids = [complex_.residues[r] for r in index]
    labels = [complex_.labels[r] if complex_.labels else ("", None) for r in index]
    identity = {
        "chain": [i.chain for i in ids],
        "number": np.array([i.number for i in ids], np.int32),
        "insertion_code": [i.insertion_code for i in ids],
        "residue": [complex_.names[r] for r in index],
        "label_chain": [chain or None for chain, _ in labels],
        "label_number": np.ma.masked_array(
            np.array([number or 0 for _, number in labels], np.int32), [number is None for _, number in labels]
        ),
    }
    return to_bytes({**identity, **columns}, {METADATA_KEY: canonical(metadata)})


def read_residues(content: bytes, complex_: Complex) -> tuple[np.ndarray, Table]:
    """Read such a table and find its residues in the complex: positions, int, shape (N,), and the table."""
    table = Table(content)
    position = complex_.index()
    chains, numbers, codes = (table[name] for name in IDENTITY[:3])
    try:
        index = np.array([position[ResidueId(*i)] for i in zip(chains, numbers.tolist(), codes, strict=True)])
    except KeyError as error:
        raise FeatureError(f"residue {error.args[0]} is not in the structure") from error
    return index, table


def matrix(table: Table, columns: list[str]) -> np.ndarray:
    """The named columns of numbers as float64, shape (N, len(columns))."""
    return np.column_stack([table[name] for name in columns] or [np.zeros((len(table), 0))])
