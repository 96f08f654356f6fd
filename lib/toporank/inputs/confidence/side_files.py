"""The files beside models: which there are, in which state, and those of a model."""

from __future__ import annotations

import contextlib
import functools
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from toporank.files.compressed import ENDINGS, without_compression
from toporank.files.state import FileState, state_of
from toporank.structures.identity import split_suffix

KINDS = (".json", ".npz", ".npy", ".pkl", ".tsv", ".csv")
"""Endings of the files that predictors write about models; each may be followed by that of a
compression.
"""
HADDOCK_TABLE = "capri_ss.tsv"
"""Of HADDOCK3, beside the models or in the folder of a `caprieval` step beside theirs."""
LIGHT_PICKLES = "light_pkl"
"""Folder beside the models into which MassiveFold puts the small parts of its pickles."""
RANKED = re.compile(r"(?P<prefix>.*_)?ranked_\d+")
"""A model of AlphaFold-Multimer by its rank; people put something before it."""


class SideFiles(NamedTuple):
    """The files that a predictor wrote beside a model. None where there is none.

    Attributes
    ----------
    predictor : its name
    folder : in which the files lie
    names : the groups of the name of the model's file, and `stem`: all of it, without ending
    scores, pae, plddt : the files
    """

    predictor: str
    folder: Path
    names: dict[str, str]
    scores: Path | None = None
    pae: Path | None = None
    plddt: Path | None = None


def file_called(folder: Path, name: str) -> Path | None:
    """Return the file of this name, compressed or not, in a folder; None without any."""
    names = names_in(folder)
    for ending in ("", *ENDINGS):
        if f"{name}{ending}" in names:
            return folder / f"{name}{ending}"
    return None


@functools.lru_cache(maxsize=64)
def names_in(folder: Path) -> frozenset[str]:
    """Return the names of the files in a folder, listed once in a process; none if it is gone."""
    names = []
    with contextlib.suppress(OSError):
        for entry in os.scandir(folder):
            with contextlib.suppress(OSError):  # a link to itself is no file
                if entry.is_file():
                    names.append(entry.name)
    return frozenset(names)


def stem_of(filename: str) -> str:
    """Return the name of a file without the ending of a structure, or without its last ending."""
    stem_and_suffix = split_suffix(filename)
    return stem_and_suffix[0] if stem_and_suffix else Path(filename).stem


@functools.lru_cache(maxsize=64)
def ranked_runs(folder: Path) -> frozenset[str]:
    """Return what stands before `ranked_N` in the names of the models in a folder.

    Each of several runs has its own.
    """
    runs = set()
    for name in names_in(folder):
        match = RANKED.fullmatch(stem_of(name))
        if match:
            runs.add(match["prefix"] or "")
    return frozenset(runs)


def haddock_tables(folder: Path) -> list[Path]:
    """Return the tables of HADDOCK3 that may have the models of a folder, later steps last."""
    tables = []
    for place in (*_caprieval_steps(folder.parent), folder):
        table = file_called(place, HADDOCK_TABLE)
        if table:
            tables.append(table)
    return tables


@functools.lru_cache(maxsize=64)
def _caprieval_steps(run: Path) -> list[Path]:
    """The `caprieval` steps of a run of HADDOCK3 in their order.

    Their names are such as `2_caprieval` and `10_caprieval`.
    """
    steps = run.glob("[0-9]*_caprieval")
    return sorted(steps, key=lambda path: (int(path.name.partition("_")[0]), path.name))


def states(folders: Iterable[Path]) -> list[tuple[str, FileState]]:
    """Return path and state of every file that may count for a model in one of these folders.

    So do models with a rank: `ranked_runs`.
    """
    paths: set[Path] = set()
    for folder in folders:
        paths.update(haddock_tables(folder))
        for name in names_in(folder):
            if without_compression(name).endswith(KINDS) or RANKED.fullmatch(
                stem_of(name)
            ):
                paths.add(folder / name)
        paths.update(
            folder / LIGHT_PICKLES / name for name in names_in(folder / LIGHT_PICKLES)
        )
    states_of_files = []
    for path in sorted(paths):
        # it has just gone; where it cannot be read, the row of its model says so
        with contextlib.suppress(OSError):
            states_of_files.append((str(path), state_of(path)))
    return states_of_files


def look_anew() -> None:
    """Forget which files lie where: a notebook goes on while a predictor writes."""
    names_in.cache_clear()
    ranked_runs.cache_clear()
    _caprieval_steps.cache_clear()
