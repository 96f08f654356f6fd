"""The files below a folder, at any depth.

It finds structures, archives, and what looks like a structure and is not read.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from toporank.errors import ConfigError
from toporank.files.archives import UNREADABLE_ARCHIVES, archive_name, may_hold
from toporank.programs import catalogue
from toporank.structures.identity import (
    STRUCTURE_LIKE,
    may_be_structure,
    split_suffix,
    structure_format,
)

OF_NUMBERS = (".json", ".npz", ".pkl", ".npy", ".json.gz", ".a3m")
"""Endings of files that lie beside models where a predictor writes them."""
GIVEN = (
    "a predictor was given what is in this folder, and its models lie beside (give the folder "
    "alone if these are models)"
)
EARLIER = "the last step of a run of {} counts"
"""Why what lies in such folders is not read."""

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
    unread : what looks like a structure and is not read, the archives among it → why, where that is
        known
    """

    models: list[tuple[Folders, os.DirEntry]]
    archives: list[Path]
    unread: dict[Path, str]


class _Walk:
    """Goes through a folder once. Links to folders are followed, but none leads in circles."""

    def __init__(self, root: Path) -> None:
        self.listing = Listing(models=[], archives=[], unread={})
        self._root = os.path.realpath(root)
        self._visited = {self._root}
        self._folder(os.fspath(root), (), "")

    def _folder(self, folder: str | os.DirEntry, folders: Folders, unread: str) -> None:
        """Look at the files of a folder and at the folders in it.

        unread : why its structures are no decoys; empty where they are.
        """
        try:
            entries = _listed(folder)
        except OSError:
            if len(folders) < 2:
                raise
            self.listing.unread[Path(folder.path)] = ""
            return
        names = {entry.name for entry in entries}
        has_results = RESULTS in names
        if has_results and folders:
            return
        step = None if unread else catalogue.last_step(Path(folder), names)
        for entry in entries:
            name = entry.name
            if name.startswith(".") or (has_results and name in OWN_FOLDERS):
                continue
            if not _is_folder(entry):
                self._file(entry, folders, unread)
            elif self._is_new(entry, folders):
                why = unread
                if not why and step and name != step[0].partition("/")[0]:
                    why = EARLIER.format(step[1].name)
                if not why and _was_given(entry, names):
                    why = GIVEN
                self._folder(entry, (*folders, name), why)

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

    def _file(self, entry: os.DirEntry, folders: Folders, unread: str) -> None:
        name = entry.name
        if name.endswith(OF_PREDICTORS):
            return
        if not unread and is_model(entry):
            self.listing.models.append((folders, entry))
            return
        path = Path(entry.path)
        if not unread and archive_name(path):
            if may_hold(path, _may_be_model):
                self.listing.archives.append(path)
                self.listing.unread[path] = ""
        elif STRUCTURE_LIKE.search(name) or (
            not unread and name.lower().endswith(UNREADABLE_ARCHIVES)
        ):
            self.listing.unread[path] = unread


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


def _was_given(folder: os.DirEntry, beside: Iterable[str]) -> bool:
    """Whether a folder holds what a predictor was given.

    It is called so, what a predictor wrote lies beside it, and nothing that one wrote lies in it.

    beside : names of what is in the folder around it.
    """
    called = catalogue.match_of("given", folder.name)
    if not called:
        return False
    query = called.groupdict().get("query")
    if query is None:
        lies_beside = _is_output(beside)
    else:
        of_query = {f"{query}.a3m", f"{query}.done.txt"}
        queries = {catalogue.first_group("query", name) for name in beside}
        lies_beside = bool(of_query.intersection(beside)) or query in queries
    if not lies_beside:
        return False
    inside = os.walk(folder)
    return not any(_is_output([*folders, *files]) for _, folders, files in inside)


def _is_output(names: Iterable[str]) -> bool:
    """Whether a predictor wrote what has these names in a folder: models and numbers on them."""
    names = list(names)
    if any(catalogue.match_of("writes", name) for name in names):
        return True
    has_numbers = any(name.endswith(OF_NUMBERS) for name in names)
    return has_numbers and any(map(split_suffix, names))


def last_step(run: Path) -> Path | None:
    """Return the last step of a run of docking that has models; None of any other folder."""
    step = catalogue.last_step(run, os.listdir(run))
    return run / step[0] if step else None
