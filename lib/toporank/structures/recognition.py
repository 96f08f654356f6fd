"""Structure files that their names do not show: CASP's and ZDOCK's have no ending, downloads end in `.txt`."""

from __future__ import annotations

import re
from pathlib import Path

from toporank.files.compressed import DAMAGED, compression_of, unpacked, without_compression

HEAD = 1 << 16
"""Bytes at the beginning of a file in which its first atoms are looked for."""
STRUCTURE_LIKE = re.compile(r"\.(pdb\d*|ent|cif|mmcif|bcif)(\.(gz|bz2|xz|zst|zip|7z|z))*$", re.IGNORECASE)
"""Names of files that are meant to be structures, whether or not they can be read."""
_UNTELLING = re.compile(r"(\.(txt|model|mdl|brk|[A-Za-z]*_?\d+))?", re.IGNORECASE)
"""Endings that say nothing of the content: none at all, a number, or that of any text."""
_PDB_ATOM = re.compile(rb"^(?:ATOM  |HETATM)[^\r\n]{24}(?:[ \d+-]{4}\.\d{3}){3}", re.MULTILINE)
_MMCIF = re.compile(rb"\A(?:#[^\n]*\n|\s)*data_\S*\s.*^_(?:entry\.id|atom_site\.)", re.MULTILINE | re.DOTALL)


def may_be_structure(filename: str) -> bool:
    """Whether the content of a file decides if it is a structure, since its name does not.

    >>> may_be_structure("H1106TS001_1"), may_be_structure("complex.12"), may_be_structure("scores.json")
    (True, True, False)
    """
    if STRUCTURE_LIKE.search(filename) or filename.startswith("."):
        return False
    suffix = Path(without_compression(filename)).suffix
    return _UNTELLING.fullmatch(suffix) is not None


def format_of_content(path: Path) -> str:
    """`pdb` or `mmcif`, by the first lines of a file, compressed or not; empty where it is neither."""
    try:
        if not path.is_file():
            return ""
        compression = compression_of(path.name)
        with open(path, "rb") as file:
            head = unpacked(file.read(), compression, HEAD) if compression else file.read(HEAD)
    except DAMAGED:
        return ""
    if _PDB_ATOM.search(head):
        return "pdb"
    return "mmcif" if _MMCIF.match(head) else ""
