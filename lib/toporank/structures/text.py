"""The text of a structure file.

Every way in which a file cannot be read becomes a StructureError.
"""

from __future__ import annotations

import contextlib
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from toporank.errors import StructureError
from toporank.files.compressed import DAMAGED, compression_in, plain

MAX_BYTES = 1 << 28
"""Largest text a file may unpack to: far above any complex, far below memory (gzip bombs)."""
_TABLE = re.compile(r"^[ \t]*_atom_site\.", re.MULTILINE | re.IGNORECASE)
_PDB_ATOM = re.compile(r"^(ATOM  |HETATM).{48}", re.MULTILINE)
LONGEST_MESSAGE = 200
"""Letters of gemmi's messages that are repeated; some quote the file."""
NAMES = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "Zstandard"}
"""What people call the compressions."""


def check_file(path: Path) -> None:
    """Raise StructureError unless this is a regular file of reasonable size.

    A pipe or a device might never end.
    """
    try:
        state = path.stat()
    except OSError as error:
        remedy = "a broken link?" if path.is_symlink() else "is it still there?"
        what = f"cannot be read: {error.strerror}"
        raise StructureError(what, where=path, remedy=remedy) from error
    if not stat.S_ISREG(state.st_mode):
        kind = "Is a directory" if stat.S_ISDIR(state.st_mode) else "not a regular file"
        remedy = "put the structure file in its place"
        raise StructureError(f"cannot be read: {kind}", where=path, remedy=remedy)
    _check_size(state.st_size, path)


def _check_size(n_bytes: int, path: Path) -> None:
    if n_bytes > MAX_BYTES:
        what = f"more than {MAX_BYTES >> 20} MiB of text"
        raise StructureError(
            what, where=path, remedy="not a single model? split or replace it"
        )


def read_content(path: Path) -> bytes:
    """The bytes of a structure file. Raises StructureError when it cannot be read."""
    check_file(path)
    try:
        return path.read_bytes()
    except OSError as error:
        what = f"cannot be read: {error.strerror}"
        remedy = "make it readable for the user who runs the workflow"
        raise StructureError(what, where=path, remedy=remedy) from error


def read_text(path: Path, content: bytes | None = None) -> str:
    """A structure file's text; every way a file can be unreadable becomes a StructureError.

    content : of the file, where it was read before.
    """
    data = read_content(path) if content is None else content
    try:
        text = plain(data, MAX_BYTES)
    except DAMAGED as error:
        what = f"damaged {NAMES[compression_in(data)]} file: {error}"
        remedy = "fetch or compress it again"
        raise StructureError(what, where=path, remedy=remedy) from error
    _check_size(len(text), path)
    if not text.strip():
        raise StructureError(
            "the file is empty", where=path, remedy="make or fetch it again"
        )
    if b"\0" in text:
        remedy = "fetch it again, or save it as plain text"
        raise StructureError("binary data, not text", where=path, remedy=remedy)
    try:
        return text.decode("utf-8-sig")
    except UnicodeDecodeError:
        # one letter for each byte: the columns stay where they are
        return text.decode("latin-1")


def format_of_text(text: str) -> str:
    """`pdb` or `mmcif`, or empty where neither can be told.

    Structure factors and dictionaries are mmCIF, too.
    """
    if "_atom_site." in text and _TABLE.search(text):
        return "mmcif"
    is_mmcif = text.lstrip().startswith("data_")
    if is_mmcif and _TABLE.search(text):
        return "mmcif"
    if _PDB_ATOM.search(text):
        return "pdb"
    return "mmcif" if is_mmcif else ""


@contextlib.contextmanager
def parsing(file_format: str, n_lines_before: int = 0) -> Iterator[None]:
    """Around calls of gemmi's parsers: what they raise becomes a StructureError.

    n_lines_before : how many lines of the file come before the text that is parsed.
    """
    try:
        yield
    except (RuntimeError, ValueError, IndexError) as error:

        def line(match: re.Match[str]) -> str:
            return f"line {int(match[1]) + n_lines_before}"

        # gemmi begins with source and line.
        reason = re.sub(r"(?:^string:|\bline )(\d+)", line, str(error), count=1)
        what = f"not a readable {file_format} file: {reason[:LONGEST_MESSAGE]}"
        raise StructureError(what, remedy="make or fetch it again") from error
