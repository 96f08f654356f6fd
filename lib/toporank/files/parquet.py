"""Parquet files as TopoRank writes them, which every program for Parquet reads.

A file has one group of rows. A column is plain numbers or texts, not compressed, on one page. The libraries for Parquet
take many times as long to be loaded and to write such small tables, and more room on the disk than all the rest of what
is needed for tables.

The format: https://github.com/apache/parquet-format. Its descriptions are structures of Thrift in the compact protocol:
https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md.
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np

Column = np.ndarray | list[str | None]
"""Numbers, in a masked array where some are unknown; or texts, None where one is unknown."""

MAGIC = b"PAR1"
TEXT = 6
PLAIN, RLE = 0, 3
REQUIRED, OPTIONAL = 0, 1
UNCOMPRESSED = 0
CREATOR = "TopoRank"
_I32, _I64, _BINARY, _LIST, _STRUCT = 5, 6, 8, 9, 12
_NUMBER_OF = {1: np.dtype("int32"), 2: np.dtype("int64"), 4: np.dtype("float32"), 5: np.dtype("float64")}
_TYPE_OF = {dtype: number for number, dtype in _NUMBER_OF.items()}


# ---- writing ----------------------------------------------------------------------------------------------


def to_bytes(columns: Mapping[str, Column], metadata: Mapping[str, str]) -> bytes:
    """A table as a Parquet file. columns : of equal lengths, in the order of the table. metadata : key → text.

    Raises TypeError for numbers other than int and float of 32 or 64 bits, ValueError for columns of different lengths.
    """
    lengths = {len(column) for column in columns.values()}
    if len(lengths) > 1:
        raise ValueError(f"columns of {sorted(lengths)} rows")
    n = next(iter(lengths), 0)
    parts, start = [MAGIC], len(MAGIC)
    schema, chunks = [_struct({4: b"schema", 5: len(columns)})], []
    for name, column in columns.items():
        kind, repetition, data = _encoded(name, column)
        page = _page_header(len(data), n) + data
        schema.append(_schema_element(kind, repetition, name.encode()))
        chunks.append(_chunk(kind, name.encode(), n, len(page), start))
        parts.append(page)
        start += len(page)
    group = _struct({1: chunks, 2: _Long(start - len(MAGIC)), 3: _Long(n)})
    pairs = [_struct({1: key.encode(), 2: text.encode()}) for key, text in metadata.items()]
    footer = _struct({1: 1, 2: schema, 3: _Long(n), 4: [group], 5: pairs, 6: CREATOR.encode()})
    return b"".join([*parts, footer, struct.pack("<I", len(footer)), MAGIC])


class _Long(int):
    """A number that Thrift keeps as one of 64 bits."""


class _Struct(bytes):
    """A structure in the compact protocol."""


def _encoded(name: str, column: Column) -> tuple[int, int, bytes]:
    """Type, repetition and the bytes of a page of a column."""
    known = None
    if isinstance(column, np.ndarray):
        if column.dtype not in _TYPE_OF:
            raise TypeError(f"column {name} has numbers of type {column.dtype}")
        if isinstance(column, np.ma.MaskedArray):
            known = ~np.ma.getmaskarray(column)
            column = column.data[known]
        kind, data = _TYPE_OF[column.dtype], column.tobytes()
    else:
        known = np.array([text is not None for text in column], dtype=bool)
        texts = [text.encode() for text in column if text is not None]
        kind, data = TEXT, b"".join([struct.pack("<I", len(text)) + text for text in texts])
    if known is None or known.all():
        return kind, REQUIRED, data
    return kind, OPTIONAL, _levels(known) + data


def _levels(known: np.ndarray) -> bytes:
    """Which rows have a value, as the format packs them: one run of bits."""
    bits = np.packbits(known, bitorder="little").tobytes()
    run = _varint(len(bits) << 1 | 1) + bits
    return struct.pack("<I", len(run)) + run


@functools.lru_cache(maxsize=256)
def _page_header(size: int, n: int) -> bytes:
    return _struct({1: 0, 2: size, 3: size, 5: _struct({1: n, 2: PLAIN, 3: RLE, 4: RLE})})


@functools.cache
def _schema_element(kind: int, repetition: int, name: bytes) -> _Struct:
    converted = {6: 0} if kind == TEXT else {}  # UTF-8
    return _struct({1: kind, 3: repetition, 4: name, **converted})


def _chunk(kind: int, name: bytes, n: int, size: int, start: int) -> _Struct:
    sizes = _struct({5: _Long(n), 6: _Long(size), 7: _Long(size), 9: _Long(start)}, 4)
    return _struct({2: _Long(start), 3: _Struct(_first_of_chunk(kind, name)[:-1] + sizes)})


@functools.cache
def _first_of_chunk(kind: int, name: bytes) -> _Struct:
    """The description of a chunk up to its sizes."""
    return _struct({1: kind, 2: [PLAIN, RLE], 3: [name], 4: UNCOMPRESSED})


def _struct(fields: dict[int, Any], last: int = 0) -> _Struct:
    """A structure, or what of it follows field `last`. fields : number of each field → what it holds, rising."""
    written = []
    for number, value in fields.items():
        kind, encoded = _value(value)
        written += [bytes([number - last << 4 | kind]), encoded]
        last = number
    return _Struct(b"".join(written) + b"\0")


def _value(value: Any) -> tuple[int, bytes]:
    """The type of a value, and its bytes."""
    if isinstance(value, _Struct):
        return _STRUCT, value
    if isinstance(value, bytes):
        return _BINARY, _varint(len(value)) + value
    if isinstance(value, int):
        return _I64 if isinstance(value, _Long) else _I32, _varint(value << 1)  # no number here is negative
    members = [_value(member) for member in value]
    kind, size = members[0][0] if members else _STRUCT, len(members)
    head = bytes([size << 4 | kind]) if size < 15 else bytes([0xF0 | kind]) + _varint(size)
    return _LIST, head + b"".join(encoded for _, encoded in members)


def _varint(number: int) -> bytes:
    if number < 0x80:
        return bytes([number])
    found = bytearray()
    while number >= 0x80:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*found, number])


# ---- reading ----------------------------------------------------------------------------------------------


class Table:
    """A table in the bytes of a file that `to_bytes` made. A column is read when it is asked for.

    names : of the columns. metadata : key → text. Raises ValueError where the file is damaged, or was written in
    another way than ours.
    """

    def __init__(self, content: bytes):
        self._content = content
        if len(content) < 12 or not content.startswith(MAGIC) or not content.endswith(MAGIC):
            raise ValueError("not a Parquet file, or its end is missing")
        (size,) = struct.unpack_from("<I", content, len(content) - 8)
        footer = _checked(lambda: _read_struct(content, len(content) - 8 - size)[0])
        self._rows, self._columns, self.metadata = _checked(lambda: _description(footer))

    @property
    def names(self) -> list[str]:
        """The names of the columns, in their order."""
        return [*self._columns]

    def __len__(self) -> int:
        return self._rows

    def __getitem__(self, name: str) -> Column:
        """A column: numbers, a masked array where some are unknown; or texts. Raises KeyError if there is none."""
        repetition, described = self._columns[name]
        return _checked(lambda: self._read(repetition, described))

    def _read(self, repetition: int, described: dict[int, Any]) -> Column:
        header, start = _read_struct(self._content, described[9])
        page = header[5]
        if (described[4], page[2], page[1]) != (UNCOMPRESSED, PLAIN, self._rows):
            raise ValueError("it is compressed or divided as TopoRank does not write it")
        data = self._content[start : start + header[3]]
        known = None
        if repetition == OPTIONAL:
            (size,) = struct.unpack_from("<I", data)
            known, data = _read_levels(data[4 : 4 + size], self._rows), data[4 + size :]
        n = self._rows if known is None else int(known.sum())
        values = _read_texts(data, n) if described[1] == TEXT else np.frombuffer(data, _NUMBER_OF[described[1]], n)
        return values if known is None else _spread(values, known)


def _checked(read: Any) -> Any:
    """What a function reads. Raises ValueError where the bytes are not what they should be."""
    try:
        return read()
    except (LookupError, TypeError, AttributeError, struct.error, RecursionError, OverflowError) as error:
        raise ValueError(f"it is damaged: {error}") from error


def _description(footer: dict[int, Any]) -> tuple[int, dict[str, tuple[int, dict[int, Any]]], dict[str, str]]:
    """Number of rows; column → repetition and description of its only chunk; metadata."""
    (group,), elements = footer[4], footer[2][1:]
    columns = {element[4].decode(): (element[3], chunk[3]) for element, chunk in zip(elements, group[1], strict=True)}
    return footer[3], columns, {pair[1].decode(): pair[2].decode() for pair in footer.get(5, ())}


def _read_levels(run: bytes, n: int) -> np.ndarray:
    """Which of n rows have a value, bool, (n,)."""
    head, start = _read_varint(run, 0)
    bits = np.unpackbits(np.frombuffer(run, np.uint8, offset=start), bitorder="little")
    if not head & 1 or len(bits) < n:
        raise ValueError("its empty rows are not written as TopoRank does it")
    return bits[:n].astype(bool)


def _read_texts(data: bytes, n: int) -> list[str]:
    texts, at = [], 0
    for _ in range(n):
        (size,) = struct.unpack_from("<I", data, at)
        texts.append(data[at + 4 : at + 4 + size].decode())
        at += 4 + size
    if at > len(data):
        raise ValueError("the end of a text is missing")
    return texts


def _spread(values: Column, known: np.ndarray) -> Column:
    """The known values in their rows; the others are unknown."""
    if isinstance(values, list):
        following = iter(values)
        return [next(following) if here else None for here in known]
    whole = np.zeros(len(known), values.dtype)
    whole[known] = values
    return np.ma.masked_array(whole, ~known)


def _read_struct(content: bytes, at: int) -> tuple[dict[int, Any], int]:
    """The fields of a structure by their numbers, and where it ends."""
    fields, number = {}, 0
    while head := content[at]:
        at += 1
        number += head >> 4
        fields[number], at = _read_value(content, at, head & 15)
    return fields, at + 1


def _read_value(content: bytes, at: int, kind: int) -> tuple[Any, int]:
    if kind in (_I32, _I64):
        number, at = _read_varint(content, at)
        return number >> 1, at
    if kind == _BINARY:
        size, at = _read_varint(content, at)
        return content[at : at + size], at + size
    if kind == _STRUCT:
        return _read_struct(content, at)
    if kind != _LIST:
        raise ValueError("it was not written by TopoRank")
    size, kind = content[at] >> 4, content[at] & 15
    size, at = _read_varint(content, at + 1) if size == 15 else (size, at + 1)
    members = []
    for _ in range(size):
        member, at = _read_value(content, at, kind)
        members.append(member)
    return members, at


def _read_varint(content: bytes, at: int) -> tuple[int, int]:
    number, shift = 0, 0
    while (byte := content[at]) >= 0x80:
        number |= (byte & 0x7F) << shift
        shift, at = shift + 7, at + 1
    return number | byte << shift, at + 1
