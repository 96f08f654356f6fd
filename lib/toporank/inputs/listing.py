"""The files below a folder, at any depth: structures, archives, and what looks like a structure and
is not read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from toporank.errors import ConfigError
from toporank.files.archives import UNREADABLE_ARCHIVES, archive_name, may_hold
from toporank.structures.identity import (
    STRUCTURE_LIKE,
    may_be_structure,
    split_suffix,
    structure_format,
)

SERVER_MODEL = re.compile(r"(fold_.+)_model_\d+\.cif(?:\.gz)?")
"""A model of the AlphaFold Server, called after its job; its `templates` lie beside it, which are
no decoys.
"""

INPUT_FOLDER = re.compile(r"templates|templates_\d+|processed|msas?|.+_env")
"""Folders of what a predictor was given, beside what it wrote."""

STEP = re.compile(
    r"(\d+)_(rigidbody|flexref|emref|mdref|emscoring|mdscoring|seletop|seletopclusts|clustfcc|clustrmsd|caprieval"
    r"|rmsdmatrix|ilrmsdmatrix|contactmap|alascan|openmm|filter)"
)
"""What HADDOCK3 calls the folder of a step of a run, but for the first, which has no complexes."""
OLD_STEPS = ("structures/it1/water", "structures/it1")
"""Where HADDOCK 2 leaves its models, the last step first."""

RESULTS = ".toporank"
"""A folder in which this one lies holds results of TopoRank, which are no input."""
OWN_FOLDERS = ("input", "results")
"""Folders of such a folder with structures, in case it is the one that was given."""

OF_PREDICTORS = (".json", ".json.gz", ".npz", ".pkl", ".a3m", ".png", ".csv", ".tsv")
"""Endings of most files beside models, which are no structures."""


class Listing(NamedTuple):
    """The files below a folder that matter.

    Attributes
    ----------
    models : names of the folders between, and the file, of each structure
    archives : files that may hold structures, at the places where structures are read
    unread : what looks like a structure and is not read, the archives among it
    """

    models: list[tuple[tuple[str, ...], os.DirEntry]]
    archives: list[Path]
    unread: list[Path]


class _Walk:
    """Goes through a folder once. Links to folders are followed, but none leads in circles."""

    def __init__(self, root: Path) -> None:
        self.listing = Listing([], [], [])
        self._root = os.path.realpath(root)
        self._visited = {self._root}
        self._folder(os.fspath(root), (), read=True)

    def _folder(self, folder: str | os.DirEntry, folders: tuple[str, ...], read: bool) -> None:
        """Look at the files of a folder and at the folders in it. read : whether its structures are
        decoys.
        """
        try:
            entries = _listed(folder)
        except OSError:
            if len(folders) < 2:
                raise
            self.listing.unread.append(Path(folder.path))
            return
        names = {entry.name for entry in entries}
        if RESULTS in names and folders:
            return
        entries = [
            entry for entry in entries if not (RESULTS in names and entry.name in OWN_FOLDERS)
        ]
        of_server = any(name.startswith("fold_") and SERVER_MODEL.fullmatch(name) for name in names)
        step = _step_among(entries) if read else None
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if not _is_folder(entry):
                self._file(entry, folders, read)
            elif self._is_new(entry, folders):
                given = INPUT_FOLDER.fullmatch(entry.name) or (
                    of_server and entry.name == "templates"
                )
                earlier = step is not None and entry.name != step.partition("/")[0]
                self._folder(entry, (*folders, entry.name), read and not given and not earlier)

    def _is_new(self, entry: os.DirEntry, folders: tuple[str, ...]) -> bool:
        """Whether a folder was not visited yet and is not around the given one; links at the first
        level may repeat.
        """
        place = os.path.realpath(entry.path)
        if self._root == place or self._root.startswith(place.rstrip("/") + "/"):
            return False
        new = place not in self._visited
        self._visited.add(place)
        return new or not folders

    def _file(self, entry: os.DirEntry, folders: tuple[str, ...], read: bool) -> None:
        if entry.name.endswith(OF_PREDICTORS):
            return
        if read and is_model(entry):
            self.listing.models.append((folders, entry))
            return
        path = entry.path.removeprefix("./")  # as `Path` writes it
        if read and archive_name(Path(entry.name)):
            if may_hold(Path(path), _may_be_model):
                self.listing.archives.append(Path(path))
                self.listing.unread.append(Path(path))
        elif STRUCTURE_LIKE.search(entry.name) or (
            read and entry.name.lower().endswith(UNREADABLE_ARCHIVES)
        ):
            self.listing.unread.append(Path(path))


def _may_be_model(filename: str) -> bool:
    """Whether a file of this name, in an archive, may be a structure."""
    return split_suffix(filename) is not None or may_be_structure(filename)


def _listed(folder: str | os.DirEntry) -> list[os.DirEntry]:
    """What is in a folder, in order of name."""
    return sorted(os.scandir(folder), key=lambda entry: entry.name)


def _is_folder(entry: os.DirEntry) -> bool:
    """Whether it is a folder or a link to one; a link in a circle is not."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def is_model(file: os.DirEntry | Path) -> bool:
    """Whether a file is a structure, by its suffix or else by its content."""
    if split_suffix(file.name):
        return True
    if not may_be_structure(file.name):
        return False
    try:
        return bool(structure_format(Path(file)))
    except ConfigError:
        return False


def listing(folder: Path) -> Listing:
    """The files below a folder that matter. Raises OSError where it cannot be listed, or a folder
    in it.
    """
    return _Walk(folder).listing


def _step_among(entries: Iterable[os.DirEntry]) -> str | None:
    """The last step of a run of HADDOCK that has models, as a path below the run; None in any other
    folder.
    """
    subfolders = (entry for entry in entries if _is_folder(entry))
    folders = {
        entry.name: entry
        for entry in subfolders
        if STEP.fullmatch(entry.name) or entry.name == "structures"
    }
    old = folders.pop("structures", None)
    numbered = sorted(((int(STEP.fullmatch(name)[1]), name) for name in folders), reverse=True)
    places = {name: Path(folders[name].path) for _, name in numbered}
    places |= {name: Path(old.path).parent / name for name in OLD_STEPS if old is not None}
    return next((name for name, place in places.items() if _has_models(place)), None)


def _has_models(folder: Path) -> bool:
    return folder.is_dir() and any(split_suffix(entry.name) for entry in os.scandir(folder))


def last_step(run: Path) -> Path | None:
    """The last step of a run of HADDOCK that has models; None if the folder is no run of
    HADDOCK.
    """
    step = _step_among(_listed(os.fspath(run)))
    return run / step if step else None
