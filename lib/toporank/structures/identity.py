"""What a decoy and its file are called, and what can become of a decoy."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from toporank.errors import ConfigError, TopoRankError
from toporank.files.compressed import (
    DAMAGED,
    ENDINGS,
    compression_in,
    compression_of,
    unpacked,
    without_compression,
)
from toporank.files.printable_names import DecoyKey

FORMATS = {".pdb": "pdb", ".ent": "pdb", ".cif": "mmcif", ".mmcif": "mmcif"}
"""Structure suffixes and the format each means; every one may be followed by that of a
compression.
"""
SUFFIX = re.compile(
    rf"({'|'.join(FORMATS)}|.pdb\d+)({'|'.join(ENDINGS)})?\Z".replace(".", r"\."),
    re.IGNORECASE,
)
"""Suffix of a structure; that of a biological assembly at the wwPDB is `.pdb1`."""
HEAD = 1 << 16
"""Bytes at the beginning of a file in which its first atoms are looked for."""
PACKED = 1 << 22
"""Bytes of a compressed file that unpack to more than these: a block of bzip2 is below 1 MB."""
STRUCTURE_LIKE = re.compile(
    r"\.(pdb\d*|ent|cif|mmcif|bcif|mmtf|pdbqt|gro|silent)(\.(gz|bz2|xz|zst|zip|7z|z))*$",
    re.IGNORECASE,
)
"""Names of files that are meant to be structures, whether or not they can be read."""
_UNTELLING = re.compile(r"(\.(txt|model|mdl|brk|[A-Za-z]*_?\d+))?", re.IGNORECASE)
"""Endings that do not tell the content: none at all, a number, or that of any text."""
_PDB_ATOM = re.compile(
    rb"^(?:ATOM  |HETATM)[^\r\n]{24}(?:[ \d+-]{4}\.\d{3}){3}", re.MULTILINE
)
_MMCIF = re.compile(
    rb"\A(?:#[^\n]*\n|\s)*data_\S*\s.*^_(?:entry\.id|atom_site\.)",
    re.MULTILINE | re.DOTALL,
)


class Status:
    """The outcome of a decoy. Every decoy of a status table has exactly one of these."""

    OK = "ok"
    NO_INTERFACE = "no_interface"
    ONE_BODY = "one_body"
    PARTNER_APART = "partner_apart"
    CHAIN_MISSING = "chain_missing"
    OVERLAPPING = "overlapping"
    UNREADABLE = "unreadable"
    FAILED = "failed"
    OTHER_PROTEIN = "other_protein"
    NO_NATIVE = "no_native"
    NOT_BUILT = "not_built"
    NO_DECOY = "label_without_decoy"
    INTERMEDIATE = "intermediate"


INTERMEDIATE = "an intermediate state of its program, not a model: "
"""How the reason of such a file begins; `Decoy.refused_as` says it to programs."""


class Decoy(NamedTuple):
    """One candidate structure. Its identity is (dataset, target, name); the path is where it lies.

    refused : why a file with this name cannot be used, and what to do; `""` if it can. Target and
        name of a refused decoy are `table_name`s; its path may hold any character.
    model : which of the models of the file it is, from 1; 0 for the only one
    refused_as : the status of a refused one, `unreadable` or `intermediate`
    lacks : which chains it lacks that most models of its target have, in words
    spare : its chains that most models of its target have in fewer copies, as
        `partners.partner_name` writes them
    folder : what its target would be called after its folder, where the target has another name
    """

    dataset: str
    target: str
    name: str
    path: str
    refused: str = ""
    model: int = 0
    refused_as: str = ""
    lacks: str = ""
    spare: str = ""
    folder: str = ""

    @property
    def key(self) -> DecoyKey:
        """Identity within the dataset."""
        return self.target, self.name


def keys_of(decoys: Iterable[Decoy]) -> set[DecoyKey]:
    """Return target and name of each decoy."""
    return {decoy.key for decoy in decoys}


def status_of_error(
    error: Exception, statuses: Mapping[type[TopoRankError], str]
) -> str:
    """Return the status of the first kind that an error is of, or an empty text.

    Parameters
    ----------
    statuses : kind of error → status
    """
    for kind, status in statuses.items():
        if isinstance(error, kind):
            return status
    return ""


# more than a folder has files: with fewer, each walk would forget all of them in turn
@functools.lru_cache(maxsize=1 << 20)
def split_suffix(filename: str) -> tuple[str, str] | None:
    """Split `model.v2.cif.gz` into stem `model.v2` and suffix `.cif.gz`; None for other files.

    Only known suffixes are removed; nothing else in the name is interpreted.
    """
    match = SUFFIX.search(filename)
    # a name of dots alone before it is that of a hidden file
    if match is None or not filename[: match.start()].strip("."):
        return None
    return filename[: match.start()], match[0]


def model_name(filename: str) -> str:
    """What a decoy in a file is called.

    It is the name without its suffix, or all of it where the content says the format.

    >>> model_name("model_1.cif.gz"), model_name("H1106TS001_1"), model_name("model_2.pdb.txt")
    ('model_1', 'H1106TS001_1', 'model_2')
    """
    parts = split_suffix(filename)
    if parts:
        return parts[0]
    whole = without_compression(filename)
    renamed = split_suffix(whole[:-4]) if whole.lower().endswith(".txt") else None
    return renamed[0] if renamed else whole


def structure_format(path: Path) -> tuple[str, str]:
    """Format (`pdb` or `mmcif`) of a structure file and its compression, by its suffix.

    Compression is `.gz`, or empty where there is none.

    The content says the format of a file whose name does not, such as those of CASP. Raises
    ConfigError.
    """
    parts = split_suffix(path.name)
    if parts:
        suffix = parts[1].lower()
        return FORMATS[
            without_compression(suffix).rstrip("0123456789")
        ], compression_of(suffix)
    by_content = format_of_content(path) if may_be_structure(path.name) else ""
    if by_content:
        return by_content, compression_of(path.name)
    endings = ", ".join(FORMATS)
    remedy = f"use {endings}, compressed or not ({', '.join(ENDINGS)})"
    raise ConfigError("not a structure file name", where=path, remedy=remedy)


def may_be_structure(filename: str) -> bool:
    """Whether the content of a file decides if it is a structure, since its name does not.

    >>> [may_be_structure(name) for name in ("H1106TS001_1", "complex.12", "scores.json")]
    [True, True, False]
    """
    if STRUCTURE_LIKE.search(filename) or filename.startswith("."):
        return False
    suffix = Path(without_compression(filename)).suffix
    return _UNTELLING.fullmatch(suffix) is not None


def format_of_content(path: Path) -> str:
    """`pdb` or `mmcif`, by the first lines of a file, compressed or not.

    It is empty where it is neither.
    """
    try:
        if not path.is_file():
            return ""
        with open(path, "rb") as file:
            head = file.read(HEAD)
            compression = compression_in(head)
            if compression:
                head = unpacked(head + file.read(PACKED), compression, HEAD)
    except DAMAGED:
        return ""
    if _PDB_ATOM.search(head):
        return "pdb"
    return "mmcif" if _MMCIF.match(head) else ""
