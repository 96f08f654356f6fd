"""Per-residue tables on disk: Parquet, one row a residue, identity columns first.

A residue is known by its author's numbers; beside them stand mmCIF's own, empty where the file has none.

Parquet rather than CSV: exact numbers, a chain called `NA` or `1` stays what it is, a quarter of the time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from toporank.decoys.identity import ResidueId
from toporank.errors import FeatureError
from toporank.features.registry import canonical
from toporank.structures.complex import Complex

IDENTITY = ("chain", "number", "insertion_code", "residue")
METADATA_KEY = b"toporank"


def table_bytes(complex_: Complex, index: np.ndarray, columns: dict[str, Any], metadata: dict[str, Any]) -> bytes:
    """A table of the residues `index` (int, shape (N,)) with further columns of length N."""
    ids = [complex_.residues[r] for r in index]
    labels = [complex_.labels[r] if complex_.labels else ("", None) for r in index]
    identity = {
        "chain": pa.array([i.chain for i in ids], pa.string()),
        "number": pa.array([i.number for i in ids], pa.int32()),
        "insertion_code": pa.array([i.insertion_code for i in ids], pa.string()),
        "residue": pa.array([complex_.names[r] for r in index], pa.string()),
        "label_chain": pa.array([chain or None for chain, _ in labels], pa.string()),
        "label_number": pa.array([number for _, number in labels], pa.int32()),
    }
    table = pa.table({**identity, **columns}).replace_schema_metadata({METADATA_KEY: canonical(metadata)})
    stream = pa.BufferOutputStream()
    pq.write_table(table, stream, compression="zstd", use_dictionary=list(IDENTITY), write_statistics=False)
    return stream.getvalue().to_pybytes()


def read_residues(content: bytes, complex_: Complex) -> tuple[np.ndarray, pa.Table]:
    """Read such a table and find its residues in the complex: positions, int, shape (N,), and the table."""
    table = pq.ParquetFile(pa.BufferReader(content)).read()
    position = complex_.index()
    chains, numbers, codes = (table[name].to_pylist() for name in IDENTITY[:3])
    try:
        index = np.array([position[ResidueId(*i)] for i in zip(chains, numbers, codes, strict=True)])
    except KeyError as error:
        raise FeatureError(f"residue {error.args[0]} is not in the structure") from error
    return index, table


def matrix(table: pa.Table, columns: list[str]) -> np.ndarray:
    """The named columns as float64, shape (N, len(columns))."""
    return np.column_stack([table[name].to_numpy() for name in columns]) if columns else np.zeros((len(table), 0))
