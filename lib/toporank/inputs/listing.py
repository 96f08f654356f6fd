"""The files below a folder, at any depth.

It finds structures, archives, and what looks like a structure and is not read.
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
"""A model of the AlphaFold Server, called after its job."""

INPUT_FOLDER = re.compile(r"templates(_\d+)?|processed|msas?|.+_env")
"""Folders of what a predictor was given, such as templates, beside what it wrote."""

STEP = re.compile(
    r"(\d+)_(rigidbody|(em|md)(ref|scoring)|flexref|seletop(clusts)?|clust(fcc|rmsd)|caprieval"
    r"|(il)?rmsdmatrix|contactmap|alascan|openmm|filter)"
)
"""What HADDOCK3 calls the folder of a step of a run, but for the first, which has no complexes."""
OLD_STEPS = {"structures/it1": -2, "structures/it1/water": -1}
"""Where HADDOCK 2 leaves its models, in their order."""

RESULTS = ".toporank"
"""A folder in which this one lies holds results of TopoRank, which are no input."""
OWN_FOLDERS = ("input", "results")
"""Folders of such a folder with structures, in case it is the one that was given."""

OF_PREDICTORS = (".json", ".json.gz", ".npz", ".pkl", ".a3m", ".png", ".csv", ".tsv")
"""Endings of most files beside models, which are no structures."""


Folders = tuple[str, ...]
"""Names of the folders between the given one and a file."""


class Listing(NamedTuple):
    """The files below a folder that matter.

    Attributes
    ----------
    models : names of the folders between, and the file, of each structure
    archives : files that may hold structures, at the places where structures are read
    unread : what looks like a structure and is not read, the archives among it
    """

    models: list[tuple[Folders, os.DirEntry]]
    archives: list[Path]
    unread: list[Path]


class _Walk:
    """Goes through a folder once. Links to folders are followed, but none leads in circles."""

    def __init__(self, root: Path) -> None:
        self.listing = Listing(models=[], archives=[], unread=[])
        self._root = os.path.realpath(root)
        self._visited = {self._root}
        self._folder(os.fspath(root), (), read=True)

    def _folder(self, folder: str | os.DirEntry, folders: Folders, read: bool) -> None:
        """Look at the files of a folder and at the folders in it.

        read : whether its structures are decoys.
        """
        try:
            entries = _listed(folder)
        except OSError:
            if len(folders) < 2:
                raise
            self.listing.unread.append(Path(folder.path))
            return
        names = {entry.name for entry in entries}
        has_results = RESULTS in names
        if has_results and folders:
            return
        step = _last_step(Path(folder), names) if read else None
        for entry in entries:
            name = entry.name
            if name.startswith(".") or (has_results and name in OWN_FOLDERS):
                continue
            if not _is_folder(entry):
                self._file(entry, folders, read)
            elif self._is_new(entry, folders):
                is_input = INPUT_FOLDER.fullmatch(name)
                is_earlier = step is not None and name != step.partition("/")[0]
                of_decoys = read and not is_input and not is_earlier
                self._folder(entry, (*folders, name), of_decoys)

    def _is_new(self, entry: os.DirEntry, folders: Folders) -> bool:
        """Whether a folder was not visited yet and is not around the given one.

        Links at the first level may repeat.
        """
        place = os.path.realpath(entry.path)
        if self._root == place or self._root.startswith(place.rstrip("/") + "/"):
            return False
        new = place not in self._visited
        self._visited.add(place)
        return new or not folders

    def _file(self, entry: os.DirEntry, folders: Folders, read: bool) -> None:
        name = entry.name
        path = Path(entry.path)
        if name.endswith(OF_PREDICTORS):
            return
        if read and is_model(entry):
            self.listing.models.append((folders, entry))
        elif read and archive_name(path):
            if may_hold(path, _may_be_model):
                self.listing.archives.append(path)
                self.listing.unread.append(path)
        elif STRUCTURE_LIKE.search(name) or (
            read and name.lower().endswith(UNREADABLE_ARCHIVES)
        ):
            self.listing.unread.append(path)


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
    """Return whether a file is a structure, by its suffix or else by its content."""
    if split_suffix(file.name):
        return True
    if not may_be_structure(file.name):
        return False
    try:
        return bool(structure_format(Path(file)))
    except ConfigError:
        return False


def listing(folder: Path) -> Listing:
    """Return the files below a folder that matter.

    Raises
    ------
    OSError
        where it cannot be listed, or a folder in it
    """
    return _Walk(folder).listing


def _last_step(run: Path, names: Iterable[str]) -> str | None:
    """The last step of a run of HADDOCK that has models, as a path below the run.

    None in any other folder. names : of what is in it.
    """
    numbers = {}
    for name in names:
        step = STEP.fullmatch(name)
        if step:
            numbers[name] = int(step[1])
        elif name == "structures":
            numbers |= OLD_STEPS
    for name in sorted(numbers, key=lambda name: (numbers[name], name), reverse=True):
        if _has_models(run / name):
            return name
    return None


def _has_models(folder: Path) -> bool:
    return folder.is_dir() and any(
        split_suffix(entry.name) for entry in os.scandir(folder)
    )


def last_step(run: Path) -> Path | None:
    """Return the last step of a run of HADDOCK that has models.

    None if the folder is no run of HADDOCK.
    """
    step = _last_step(run, os.listdir(run))
    return run / step if step else None
