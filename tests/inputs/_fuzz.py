"""Damage real decoys in every way, look into them and read them: `python _fuzz.py FIRST LAST`,
seeds FIRST to LAST - 1.

Run as a process of its own, since a fault of the C++ parser would take the tests with it. Prints
one JSON line: how often each outcome was met. Any other error than the two that are meant ends it,
as does a seed that takes longer than ten seconds; the last number on standard error is the seed.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np

from structures_text import EXAMPLES, sketch
from toporank.errors import NoInterfaceError, StructureError
from toporank.features.interface import CaCutoff, ca_cutoff_interface
from toporank.structures.complex import Complex
from toporank.structures.read import read_complex

SECONDS = 10
FILES = (
    "1GCQ/mid1.pdb",
    "1GCQ/mid4.cif",
    "1AVZ/far1.pdb",
    "1KTZ/far1.cif.gz",
    "1PPE/near1.pdb.gz",
    "1EMV/far1.cif.gz",
)
EXTREMES = (
    "nan", "inf", "-inf", "1e30", "-1e300", "1e-320", "99999", "99999.999", "-9999.999", "********", "?", ".", "''",
    '"',
    "'", "0", "-0.000", "--1", "1.2.3", "0x1F", "1_000", "A000", "zzzz", "2147483648", "99999999999999999999", ";", "#",
    "data_", "loop_", "_atom_site.id", "é", "\u2028", "\x00", "\x85", "\t", "ALA", "HOH", "CA", "ATOM", "END", "TER",
)  # fmt: skip
Draw = np.random.Generator


def lines_of(data: bytes) -> list[bytes]:
    return data.splitlines(keepends=True)


def some(draw: Draw, length: int, most: int = 8) -> list[int]:
    """A few random positions."""
    return sorted(
        draw.integers(0, max(length, 1), draw.integers(1, most)).tolist(), reverse=True
    )


def flip_bytes(data: bytes, draw: Draw) -> bytes:
    changed = bytearray(data)
    for i in some(draw, len(data), 20):
        changed[i] = int(draw.integers(256))
    return bytes(changed)


def flip_bits(data: bytes, draw: Draw) -> bytes:
    changed = bytearray(data)
    for i in some(draw, len(data), 6):
        changed[i] ^= 1 << int(draw.integers(7))
    return bytes(changed)


def delete_lines(data: bytes, draw: Draw) -> bytes:
    lines = lines_of(data)
    for i in some(draw, len(lines)):
        del lines[i : i + int(draw.integers(1, 200))]
    return b"".join(lines)


def double_lines(data: bytes, draw: Draw) -> bytes:
    lines = lines_of(data)
    for i in some(draw, len(lines)):
        lines[i:i] = lines[i : i + int(draw.integers(1, 50))]
    return b"".join(lines)


def swap_lines(data: bytes, draw: Draw) -> bytes:
    lines = lines_of(data)
    for i in some(draw, len(lines)):
        j = int(draw.integers(len(lines)))
        lines[i], lines[j] = lines[j], lines[i]
    return b"".join(lines)


def shift_columns(data: bytes, draw: Draw) -> bytes:
    lines, column, by = (
        lines_of(data),
        int(draw.integers(0, 60)),
        int(draw.integers(-3, 4)),
    )
    start = int(draw.integers(len(lines)))
    for i in range(start, min(start + int(draw.choice([1, 3, 10**6])), len(lines))):
        s = lines[i]
        lines[i] = (
            s[:column] + b" " * by + s[column:]
            if by > 0
            else s[:column] + s[column - by :]
        )
    return b"".join(lines)


def cut(data: bytes, draw: Draw) -> bytes:
    return data[: int(draw.integers(len(data)))]


def insert_bytes(data: bytes, draw: Draw) -> bytes:
    i = int(draw.integers(len(data)))
    return data[:i] + draw.bytes(int(draw.integers(1, 300))) + data[i:]


def extreme_words(data: bytes, draw: Draw) -> bytes:
    """Some words of some lines replaced by others, in the same columns where they fit."""
    lines = lines_of(data)
    for i in some(draw, len(lines)):
        words = lines[i].split()
        if words:
            old, new = (
                words[int(draw.integers(len(words)))],
                str(draw.choice(EXTREMES)).encode(),
            )
            lines[i] = lines[i].replace(old, new.rjust(len(old)), 1)
    return b"".join(lines)


def extreme_columns(data: bytes, draw: Draw) -> bytes:
    """One field of PDB columns replaced in some lines."""
    lines = lines_of(data)
    fields = (
        (0, 6),
        (12, 16),
        (16, 17),
        (17, 20),
        (21, 22),
        (22, 26),
        (26, 27),
        (30, 38),
        (38, 46),
        (46, 54),
        (54, 60),
    )
    for i in some(draw, len(lines), 30):
        start, stop = fields[int(draw.integers(len(fields)))]
        new = str(draw.choice(EXTREMES)).encode()[: stop - start].rjust(stop - start)
        lines[i] = lines[i][:start] + new + lines[i][stop:]
    return b"".join(lines)


def damage_head(data: bytes, draw: Draw) -> bytes:
    """Tags of an mmCIF table (or the first lines of a PDB file) lost, doubled, swapped or
    misspelt.
    """
    lines = lines_of(data)
    head = [
        i
        for i, line in enumerate(lines)
        if line.startswith((b"_atom_site", b"loop_", b"data_"))
    ] or [0, 1, 2]
    i, j = (head[int(k)] for k in draw.integers(0, len(head), 2))
    kind = int(draw.integers(5))
    if kind == 0:
        del lines[i]
    elif kind == 1:
        lines.insert(i, lines[j])
    elif kind == 2:
        lines[i], lines[j] = lines[j], lines[i]
    elif kind == 3:
        lines[i] = flip_bytes(lines[i], draw)
    else:
        lines[i] = lines[i].upper() if draw.integers(2) else lines[i].strip() + b"x\n"
    return b"".join(lines)


def join(data: bytes, draw: Draw) -> bytes:
    other = plain(str(draw.choice(FILES)))
    return (
        data[: int(draw.integers(len(data) + 1))]
        + other[int(draw.integers(len(other))) :]
    )


def nothing(data: bytes, draw: Draw) -> bytes:
    return data


DAMAGES: tuple[Callable[[bytes, Draw], bytes], ...] = (
    flip_bytes, flip_bits, delete_lines, double_lines, swap_lines, shift_columns, cut, insert_bytes, extreme_words,
    extreme_columns, damage_head, join,
)  # fmt: skip
_plain: dict[str, bytes] = {}


def plain(name: str) -> bytes:
    """The text of an example decoy."""
    if name not in _plain:
        data = (EXAMPLES / name).read_bytes()
        _plain[name] = gzip.decompress(data) if name.endswith(".gz") else data
    return _plain[name]


def damaged(seed: int) -> tuple[str, bytes]:
    """A file name and the bytes of a damaged decoy; one in six is damaged inside its gzip."""
    draw = np.random.default_rng(seed)
    name = FILES[seed % len(FILES)]
    suffix = ".pdb" if ".pdb" in name else ".cif"
    if draw.integers(40) == 0:
        suffix = ".cif" if suffix == ".pdb" else ".pdb"
    if draw.integers(6) == 0:
        zipped = gzip.compress(plain(name), 1)
        return f"d{suffix}.gz", DAMAGES[int(draw.choice([0, 1, 6, 7]))](zipped, draw)
    data = plain(name)
    for _ in range(int(draw.choice([1, 1, 1, 2, 3]))):
        data = DAMAGES[int(draw.integers(len(DAMAGES)))](data, draw) if data else data
    return f"d{suffix}", data


def check(complex_: Complex, name: str, data: bytes) -> None:
    """What must hold of anything that was read; of PDB, that each position stands in the columns of
    some line.
    """
    n = len(complex_.residues)
    assert len(complex_.names) == len(complex_.parents) == len(complex_.ca) == n
    assert np.isfinite(complex_.xyz).all()
    assert (np.diff(complex_.residue_of) >= 0).all()
    found = complex_.ca >= 0
    assert (complex_.atom_names[complex_.ca[found]] == b"CA").all()
    assert (complex_.residue_of[complex_.ca[found]] == np.flatnonzero(found)).all()
    if name == "d.pdb" and b"_atom_site." not in data:
        try:
            text = data.decode()
        except UnicodeDecodeError:
            text = data.decode("latin-1")
        told = set()
        for line in text.split("\n"):
            if line[:4].upper() in ("ATOM", "HETA"):
                with contextlib.suppress(ValueError):  # of a later model
                    told.add(
                        (float(line[30:38]), float(line[38:46]), float(line[46:54]))
                    )
        assert set(map(tuple, complex_.xyz.tolist())) <= told, (
            "a position that is in no line"
        )


def attempt(seed: int, folder: Path) -> str:
    """The outcome of one seed in one word."""
    name, data = damaged(seed)
    path = folder / name
    path.write_bytes(data)
    with contextlib.suppress(StructureError):
        found = sketch(path)
    try:
        complex_ = read_complex(path)
        assert dict(found.first.chains) == complex_.sequences, (
            "a quick look and the reader differ"
        )
        check(complex_, name, data)
        ca_cutoff_interface(CaCutoff(), complex_)
    except (StructureError, NoInterfaceError) as error:
        if "\n" in error.reason:
            raise ValueError("a reason of several lines") from error
        return type(error).__name__
    return "read with notes" if complex_.notes else "read"


def main(first: int, last: int) -> None:
    signal.signal(
        signal.SIGALRM, signal.SIG_DFL
    )  # no Python handler: it must end a loop inside C++, too
    outcomes = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, last):
            print(seed, file=sys.stderr, flush=True)
            signal.alarm(SECONDS)
            outcomes[attempt(seed, Path(folder))] += 1
    print(json.dumps(outcomes))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
