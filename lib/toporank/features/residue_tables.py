"""Per-residue tables on disk: Parquet, one row a residue, identity columns first.

A residue is known by its author's numbers; beside them stand mmCIF's own, empty where the file has none.

Parquet rather than CSV: exact numbers, a chain named `NA` or `1` stays text, a quarter of the time.

Columns are made of buffers: `pyarrow.array` and `to_numpy` import pandas, which takes longer than many decoys. Pyarrow
itself is imported where a table is made or read: many jobs need none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from toporank.decoys.identity import ResidueId
from toporank.errors import FeatureError
from toporank.features.registry import canonical
from toporank.structures.complex import Complex

if TYPE_CHECKING:
    import pyarrow as pa

IDENTITY = ("chain", "number", "insertion_code", "residue")
METADATA_KEY = b"toporank"


def table_bytes(complex_: Complex, index: np.ndarray, columns: dict[str, Any], metadata: dict[str, Any]) -> bytes:
    """A table of the residues `index` (int, shape (N,)) with further columns: arrays of N numbers, lists of N texts."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    ids = [complex_.residues[r] for r in index]
    labels = [complex_.labels[r] if complex_.labels else ("", None) for r in index]
    identity = {
        "chain": texts([i.chain for i in ids]),
        "number": numbers(np.array([i.number for i in ids], np.int32)),
        "insertion_code": texts([i.insertion_code for i in ids]),
        "residue": texts([complex_.names[r] for r in index]),
        "label_chain": texts([chain or None for chain, _ in labels]),
        "label_number": numbers(
            np.array([number or 0 for _, number in labels], np.int32), [number is not None for _, number in labels]
        ),
    }
    others = {name: numbers(c) if isinstance(c, np.ndarray) else texts(c) for name, c in columns.items()}
    table = pa.table({**identity, **others}).replace_schema_metadata({METADATA_KEY: canonical(metadata)})
    stream = pa.BufferOutputStream()
    pq.write_table(table, stream, compression="zstd", use_dictionary=list(IDENTITY), write_statistics=False)
    return stream.getvalue().to_pybytes()


def numbers(values: np.ndarray, known: list[bool] | None = None) -> pa.Array:
    """A column of numbers. known : the rows that have one; by default all."""
    import pyarrow as pa

    dtype = pa.from_numpy_dtype(values.dtype)
    return pa.Array.from_buffers(dtype, len(values), [_bits(known), pa.py_buffer(np.ascontiguousarray(values))])


def texts(values: list[str | None]) -> pa.Array:
    """A column of texts, null where there is None."""
    import pyarrow as pa

    encoded, known = [(text or "").encode() for text in values], [text is not None for text in values]
    ends = pa.py_buffer(np.cumsum([0, *map(len, encoded)], dtype=np.int32))
    return pa.StringArray.from_buffers(len(values), ends, pa.py_buffer(b"".join(encoded)), _bits(known))


def _bits(known: list[bool] | None) -> pa.Buffer | None:
    import pyarrow as pa

    return None if known is None or all(known) else pa.py_buffer(np.packbits(known, bitorder="little"))


def read_residues(content: bytes, complex_: Complex) -> tuple[np.ndarray, pa.Table]:
    """Read such a table and find its residues in the complex: positions, int, shape (N,), and the table."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pq.ParquetFile(pa.BufferReader(content)).read(use_threads=False)
    position = complex_.index()
    chains, numbers, codes = (table[name].to_pylist() for name in IDENTITY[:3])
    try:
        index = np.array([position[ResidueId(*i)] for i in zip(chains, numbers, codes, strict=True)])
    except KeyError as error:
        raise FeatureError(f"residue {error.args[0]} is not in the structure") from error
    return index, table


def matrix(table: pa.Table, columns: list[str]) -> np.ndarray:
    """The named columns as float64, shape (N, len(columns))."""
    return np.column_stack(
        [np.from_dlpack(table[name].combine_chunks()) for name in columns] or [np.zeros((len(table), 0))]
    )
