"""What lies in a folder, listed once in a process until someone looks anew."""

from __future__ import annotations

import contextlib
import functools
import os
from pathlib import Path

from toporank.files.compressed import ENDINGS
from toporank.structures.identity import split_suffix

KINDS = (".json", ".npz", ".npy", ".pkl", ".tsv", ".csv")
"""Endings of the files that predictors write about models; each may be followed by that of a
compression.
"""


@functools.lru_cache(maxsize=64)
def _entries(folder: Path) -> tuple[frozenset[str], ...]:
    """The names of files, folders and links in a folder; none if it is gone."""
    files = []
    folders = []
    links = []
    with contextlib.suppress(OSError):
        for entry in os.scandir(folder):
            if entry.is_symlink():
                links.append(entry.name)
                if not os.path.exists(entry.path):  # a link to itself is neither
                    continue
            if entry.is_file():
                files.append(entry.name)
            elif entry.is_dir():
                folders.append(entry.name)
    return frozenset(files), frozenset(folders), frozenset(links)


def names_in(folder: Path) -> frozenset[str]:
    """Return the names of the files in a folder; none if it is gone."""
    return _entries(folder)[0]


def folders_in(folder: Path) -> frozenset[str]:
    """Return the names of the folders in a folder; none if it is gone."""
    return _entries(folder)[1]


def links_in(folder: Path) -> frozenset[str]:
    """Return the names of the links in a folder; none if it is gone."""
    return _entries(folder)[2]


def look_anew() -> None:
    """Forget which files lie where: a notebook goes on while a predictor writes."""
    _entries.cache_clear()


def file_called(folder: Path, name: str) -> Path | None:
    """Return the file of this name, compressed or not, in a folder; None without any."""
    names = names_in(folder)
    for ending in ("", *ENDINGS):
        if f"{name}{ending}" in names:
            return folder / f"{name}{ending}"
    return None


def stem_of(filename: str) -> str:
    """Return the name of a file without the ending of a structure, or without its last ending."""
    stem_and_suffix = split_suffix(filename)
    return stem_and_suffix[0] if stem_and_suffix else Path(filename).stem
