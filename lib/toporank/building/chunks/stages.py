"""What the steps from the file of a decoy to its graph depend on: files, code and packages."""

from __future__ import annotations

import functools
import hashlib
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from toporank.code import GRAPHS, code_of
from toporank.errors import ChangedError
from toporank.features.registry import FeatureChoice, canonical
from toporank.layout import STAGES
from toporank.structures.identity import structure_format
from toporank.structures.text import read_content

if TYPE_CHECKING:
    from toporank.structures.read import StructureFile

WITHOUT_MODULE = ("atoms", "in_file", "contacts", "label")
"""Kinds of artefacts that are made in one way only."""
PACKAGES = {
    "atoms": ("gemmi", "numpy"),
    "in_file": ("gemmi", "numpy"),
    "interface": ("gemmi", "numpy"),
    "contacts": ("numpy",),
    "topology": ("numpy", "scipy", "numba", "gudhi"),
    **dict.fromkeys(("nodes", "edges", "graphs"), ("numpy", "numba")),
    "label": ("numpy", "biopython"),
}
"""The packages whose version each kind of artefact depends on."""


class Source(NamedTuple):
    """A structure in a file.

    Attributes
    ----------
    path : of the file
    sha256 : of its content
    model : of the file, from 1; 0 for its only one
    content : of the file, where it was read before
    """

    path: Path
    sha256: str
    model: int = 0
    content: bytes | None = None

    @property
    def place(self) -> int | None:
        """Place of the model in the file, from 0; None for the only one."""
        return self.model - 1 if self.model else None

    @property
    def scope(self) -> str:
        """The scope of the reuse store with all that is made of the structure."""
        text = f"{self.sha256} {structure_format(self.path)} {self.model}"
        return hashlib.sha256(text.encode()).hexdigest()

    def open(self) -> StructureFile:
        """The file. Raises ChangedError when it is not the one of this digest."""
        from toporank.structures.read import open_structure  # imports gemmi

        file = open_structure(self.path, self.content)
        if file.sha256 != self.sha256:
            what = "the file was changed while it was built"
            raise ChangedError(what, remedy="run again")
        return file


@functools.cache
def _version(package: str) -> str:
    return metadata.version(package)


def code_digest(kind: str, choices: dict[str, FeatureChoice]) -> str:
    """Digest of the code and the packages that a kind of artefact depends on: a key of `PACKAGES`.

    All kinds are made again when a file of `code.GRAPHS` changes, and those of the modules of a
    package when a file of that changes.
    """
    plugin = (
        () if kind in WITHOUT_MODULE else module_of(kind, choices).module.package_files
    )
    labels = (
        ("comparing", "building/native_labels.py")
        if kind in ("contacts", "label")
        else ()
    )
    confidence = ("programs", "confidence") if kind == "in_file" else ()
    code = code_of(*GRAPHS, *labels, *confidence, *plugin)
    versions = " ".join(_version(package) for package in PACKAGES[kind])
    return hashlib.sha256(f"{code} {versions}".encode()).hexdigest()[:16]


def module_of(kind: str, choices: dict[str, FeatureChoice]) -> FeatureChoice:
    """The feature module that makes a kind of artefact."""
    return choices["edges" if kind == "graphs" else kind]


def recipes(choices: dict[str, FeatureChoice]) -> dict[str, list[str]]:
    """Stage → digest of its code, and its module with parameters as canonical JSON.

    Stages without a module are left out.
    """
    recipe_of = {}
    for stage in STAGES:
        if ("edges" if stage == "graphs" else stage) not in choices:
            continue
        module = canonical(module_of(stage, choices).record())
        recipe_of[stage] = [code_digest(stage, choices), module]
    return recipe_of


def structure_digest(path: Path) -> str:
    """SHA-256 of the file of a decoy. Raises StructureError when it cannot be read."""
    return hashlib.sha256(read_content(path)).hexdigest()
