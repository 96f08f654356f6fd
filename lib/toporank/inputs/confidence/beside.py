"""What the confidence in some models depends on beside them, in a folder that has many more."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

from toporank.files.compressed import without_compression
from toporank.files.state import FileState, state_if_there
from toporank.inputs.confidence.unread import KINDS_OF_FILES, unread
from toporank.programs.catalogue import further_files, names_of_files, ways_to_name
from toporank.programs.file_names import KINDS, file_called, names_in, stem_of


def state_beside(models: Iterable[Path]) -> str:
    """Return a digest of the states of the files that may say something of models.

    Models that were moved with their files have the same.

    Parameters
    ----------
    models : each where its files lie, as `predictors.place_of` says
    """
    of_folders: dict[Path, list[Path]] = {}
    for model in models:
        of_folders.setdefault(model.parent, []).append(model)
    found = []
    for folder in sorted(of_folders):
        of_folder = sorted(of_folders[folder])
        relative = []
        for path, state in _states(folder, of_folder):
            relative.append((os.path.relpath(path, folder), state))
        sentences = [unread(folder).about(model) for model in of_folder]
        found.append((sorted(relative), sentences))
    return hashlib.sha256(repr(found).encode()).hexdigest()


def _states(folder: Path, models: list[Path]) -> list[tuple[str, FileState]]:
    """Path and state of each file. Of programs with a file on all models, all files count."""
    paths = set(further_files(folder))
    for model in models:
        stem = stem_of(model.name)
        for _, way, _ in ways_to_name(stem):
            if not all("{" in name for name in way.scores):
                return states([folder])
        for name in names_of_files(stem, *KINDS_OF_FILES):
            path = file_called(folder, name)
            if path:
                paths.add(path)
    return [(str(path), state_if_there(path)) for path in paths]


def states(folders: Iterable[Path]) -> list[tuple[str, FileState]]:
    """Return path and state of every file that may count for a model in one of these folders."""
    paths: set[Path] = set()
    for folder in folders:
        paths.update(further_files(folder))
        for name in names_in(folder):
            if without_compression(name).endswith(KINDS):
                paths.add(folder / name)
    return [(str(path), state_if_there(path)) for path in sorted(paths)]
