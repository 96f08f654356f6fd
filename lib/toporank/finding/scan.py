"""The files below a folder, at any depth: structures, archives, and what is not read.

Everything that is asked about the folder is answered by one walk through it.
"""

from __future__ import annotations

import copy
import functools
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from toporank.errors import ConfigError, printable
from toporank.files.archives import UNREADABLE_ARCHIVES, archive_name, may_hold
from toporank.programs import catalogue
from toporank.programs.file_names import look_anew
from toporank.structures.identity import (
    STRUCTURE_LIKE,
    Decoy,
    may_be_structure,
    split_suffix,
    structure_format,
)

EXPECTED = (
    "expected <target>/<model>.pdb, .ent, .cif or .mmcif, compressed "
    "or not (.gz, .bz2, .xz, .zst)"
)
OF_NUMBERS = (".json", ".npz", ".pkl", ".npy", ".json.gz", ".a3m")
"""Endings of files that lie beside models where a predictor writes them."""
GIVEN = (
    "a predictor was given what is in this folder, and its models lie beside (give the folder "
    "alone if these are models)"
)
PACKED = "an archive that was not unpacked (unpack it; `toporank score` unpacks zip and tar files)"
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


class Place(NamedTuple):
    """Where a structure lies.

    folders : names of the folders between the given one and the file.
    """

    folders: Folders
    file: os.DirEntry

    @property
    def holder(self) -> Folders:
        """The folders of its target."""
        return holder_and_sample(self.folders)[0]


@functools.cache  # most files lie beside many others
def holder_and_sample(folders: Folders) -> tuple[Folders, Folders]:
    """The folders of a target, and that of a sample, if any.

    Samples of a predictor lie in folders of their own, but are of one target.
    """
    is_output = len(folders) > 1 and folders[-1] == "predictions"
    above = folders[:-1] if is_output else folders
    if above and catalogue.match_of("samples", above[-1]):
        return above[:-1], above[-1:]
    return folders, ()


class Scan:
    """The files below a folder that matter.

    Links to folders are followed, but none leads in circles.

    Parameters
    ----------
    folder : it
    owner : what messages name before it, such as `dataset mine`

    Attributes
    ----------
    folder : the given one
    models : structures, with their places
    archives : files that may hold structures, at the places where structures are read
    unread : what looks like a structure and is not read, the archives among it → why, where that is
        known
    last_step : the folder of the last step, below the given one, if this is a run of docking; or
        empty

    Raises
    ------
    ConfigError : it cannot be listed, or a folder in it
    """

    def __init__(self, folder: Path, owner: str = "") -> None:
        look_anew()
        self.folder = folder
        self.models: list[Place] = []
        self.archives: list[Path] = []
        self.unread: dict[Path, str] = {}
        self.last_step = ""
        self._root = os.path.realpath(folder)
        self._visited = {self._root}
        try:
            self._folder(os.fspath(folder), (), "")
        except OSError as error:
            place = printable(os.fspath(error.filename or folder))
            raise ConfigError(
                f"the folder cannot be listed: {error.strerror}",
                where=", ".join(filter(None, [owner, place])),
                remedy="give a folder of <target>/<model>.pdb|ent|cif|mmcif[.gz]",
            ) from error

    def part_to_score(self) -> Scan:
        """The folder with the models in the output of a program.

        It is the folder of the last step, or the one in which they lie deeper down.

        Raises
        ------
        ConfigError : there is no structure anywhere in it
        """
        if self.last_step:
            return self._within(tuple(self.last_step.split("/")))
        if not self.models:
            name = self.folder.name
            raise no_decoys(name, self.folder, self.unread)
        parents = {place.holder[:-1] for place in self.models}
        common: tuple[str, ...] = ()
        for names in zip(*parents, strict=False):
            if len(set(names)) > 1:
                break
            common = (*common, names[0])
        return self._within(common) if common else self

    def _within(self, folders: Folders) -> Scan:
        """What lies in a folder below."""
        part = copy.copy(self)
        n = len(folders)
        part.folder = self.folder.joinpath(*folders)
        part.last_step = ""
        part.models = []
        for place in self.models:
            if place.folders[:n] == folders:
                part.models.append(place._replace(folders=place.folders[n:]))
        part.archives = [path for path in self.archives if part.folder in path.parents]
        part.unread = {}
        for path, why in self.unread.items():
            if part.folder in path.parents:
                part.unread[path] = why
        return part

    def passed_over(self, decoys: Iterable[Decoy]) -> dict[Path, str]:
        """Files that may be or hold structures, and are not among the decoys → why."""
        read = {decoy.path for decoy in decoys}
        unread = {}
        for _, entry in self.models:
            if entry.path.removeprefix("./") not in read:
                unread[Path(entry.path)] = ""
        return dict(sorted((unread | self.unread).items()))

    def _folder(
        self, folder: str | os.DirEntry[str], folders: Folders, unread: str
    ) -> None:
        """Look at the files of a folder and at the folders in it.

        unread : why its structures are no decoys; empty where they are.
        """
        try:
            entries = _listed(folder)
        except OSError:
            if len(folders) < 2:
                raise
            self.unread[Path(folder)] = ""
            return
        names = {entry.name for entry in entries}
        has_results = RESULTS in names
        if has_results and folders:
            return
        step = None if unread else catalogue.last_step(Path(folder), names)
        if step and not folders:
            self.last_step = step[0]
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
            self.models.append(Place(folders, entry))
            return
        path = Path(entry.path)
        if not unread and archive_name(path):
            if may_hold(path, _may_be_model):
                self.archives.append(path)
                self.unread[path] = PACKED
        elif not unread and name.lower().endswith(UNREADABLE_ARCHIVES):
            self.unread[path] = PACKED
        elif STRUCTURE_LIKE.search(name):
            self.unread[path] = unread


def _may_be_model(filename: str) -> bool:
    """Whether a file of this name, in an archive, may be a structure."""
    return split_suffix(filename) is not None or may_be_structure(filename)


def _listed(folder: str | os.DirEntry[str]) -> list[os.DirEntry[str]]:
    """What is in a folder, in order of name."""
    return sorted(os.scandir(os.fspath(folder)), key=lambda entry: entry.name)


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


def _was_given(folder: os.DirEntry[str], beside: Iterable[str]) -> bool:
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


def describe_passed_over(
    folder: Path, files: Mapping[Path, str], expected: str = f" ({EXPECTED})"
) -> list[str]:
    """Return a line for each reason why files are not read, with their number and one example.

    Parameters
    ----------
    files : as from `Scan.passed_over`
    expected : what is said where there is no other reason
    """
    of_reason: dict[str, list[Path]] = {}
    for path, why in files.items():
        of_reason.setdefault(why, []).append(path)
    lines = []
    for why, paths in of_reason.items():
        n = "1 file is" if len(paths) == 1 else f"{len(paths)} files are"
        example = printable(str(paths[0].relative_to(folder)))
        lines.append(
            f"{n} not read, such as {example}{f': {why}' if why else expected}"
        )
    return lines


def no_decoys(dataset: str, folder: Path, files: Mapping[Path, str]) -> ConfigError:
    """Return the error of a folder without decoys.

    Parameters
    ----------
    files : as from `Scan.passed_over`
    """
    unread = describe_passed_over(folder, files, expected="")
    return ConfigError(
        "; ".join(["no structure file found", *unread]),
        where=f"dataset {dataset}, {printable(str(folder))}",
        remedy=EXPECTED,
    )
