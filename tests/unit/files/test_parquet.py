"""Parquet files: other programs read them, we read them back, and damage is named."""

from __future__ import annotations

import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toporank.files.parquet import Table, to_bytes

COLUMNS = {
    "chain": ["NA", "1", "Ł"],
    "label": ["A", None, ""],
    "number": np.array([-3, 0, 2**31 - 1], np.int32),
    "size": np.array([-(2**63), 0, 2**63 - 1]),
    "gap": np.ma.masked_array(np.array([7, 0, 9], np.int32), [False, True, False]),
    "single": np.array([0.1, -1.5, np.inf], np.float32),
    "double": np.array([0.1, np.nan, -1e300]),
}
METADATA = {"toporank": '{"a": "ö"}', "other": ""}


def listed(column) -> list:
    return column if isinstance(column, list) else column.tolist()


def same(first: list, second: list) -> bool:
    return repr(first) == repr(second)  # in which NaN equals NaN


def test_pyarrow_reads_what_we_write():
    table = pq.read_table(io.BytesIO(to_bytes(COLUMNS, METADATA)))
    assert table.column_names == [*COLUMNS]
    assert [str(kind) for kind in table.schema.types] == [
        "string", "string", "int32", "int64", "int32", "float", "double",
    ]  # fmt: skip
    assert all(same(table[name].to_pylist(), listed(column)) for name, column in COLUMNS.items())
    assert {key.decode(): text.decode() for key, text in table.schema.metadata.items()} == METADATA


def test_we_read_what_we_write():
    table = Table(to_bytes(COLUMNS, METADATA))
    assert (table.names, len(table), table.metadata) == ([*COLUMNS], 3, METADATA)
    for name, column in COLUMNS.items():
        assert same(listed(table[name]), listed(column))
        assert isinstance(column, list) or table[name].dtype == column.dtype
    with pytest.raises(KeyError):
        table["none"]


@pytest.mark.parametrize("n", [0, 1, 9, 20_000])
def test_tables_of_any_length(n):
    columns = {"a": np.arange(n) / 7, "b": [None if i % 3 else str(i) for i in range(n)], "c": ["x" * 40] * n}
    content = to_bytes(columns, {})
    assert all(same(listed(Table(content)[name]), listed(column)) for name, column in columns.items())
    assert pq.read_table(io.BytesIO(content)).to_pydict() == {name: listed(c) for name, c in columns.items()}


def test_many_columns_and_none():
    columns = {f"v{k}": np.array([float(k)]) for k in range(300)}
    assert pq.read_table(io.BytesIO(to_bytes(columns, {}))).to_pydict() == {f"v{k}": [float(k)] for k in range(300)}
    assert Table(to_bytes(columns, {})).names == [*columns]
    assert (Table(to_bytes({}, {})).names, len(Table(to_bytes({}, {})))) == ([], 0)


def test_what_a_file_cannot_hold_is_refused():
    with pytest.raises(ValueError, match=r"columns of \[1, 2\] rows"):
        to_bytes({"a": ["x"], "b": ["x", "y"]}, {})
    with pytest.raises(TypeError, match="column a has numbers of type complex128"):
        to_bytes({"a": np.array([1j])}, {})


def test_a_compressed_file_is_refused():
    stream = io.BytesIO()
    pq.write_table(pa.table({"a": [1.0, 2.0]}), stream, compression="zstd")
    with pytest.raises(ValueError, match=r"not written by TopoRank|as TopoRank"):
        Table(stream.getvalue())["a"]


@given(st.integers(0, 10_000), st.binary(min_size=1, max_size=8))
def test_damage_gives_other_values_or_an_error_that_says_so(at, junk):
    whole = to_bytes(COLUMNS, METADATA)
    at %= len(whole)
    for content in (whole[:at], whole[:at] + junk + whole[at + len(junk) :]):
        try:
            table = Table(content)
            for name in table.names:
                table[name]
        except ValueError:
            pass
