"""Where each predictor writes what it says of a model: by the name of the model's file, in the same folder."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import re
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from toporank.files.state import FileState, state_of
from toporank.structures.identity import split_suffix

KINDS = (".json", ".npz", ".pkl", ".tsv")
"""Endings of the files that may be read; each may be followed by `.gz`."""
HADDOCK_TABLE = "capri_ss.tsv"
"""Of HADDOCK3, beside the models or in the folder of a `caprieval` step beside theirs."""


RANKED = re.compile(r"(?:.*_)?ranked_(\d+)")
"""A model of AlphaFold-Multimer by its rank; people put something before it."""


class Naming(NamedTuple):
    """How a predictor names the files of a model; what they are for is in `formats`.

    model : of the name of the model's file without ending. scores, pae : of the others, in order of preference, in
    terms of the groups of `model`.
    """

    predictor: str
    model: re.Pattern[str]
    scores: tuple[str, ...]
    pae: tuple[str, ...] = ()


NAMINGS = (
    Naming(
        "ColabFold",
        re.compile(r"(?P<query>.+)_(?:un)?relaxed_(?P<tag>(?:rank|model)_\d+.*)"),
        ("{query}_scores_{tag}.json", "{query}_unrelaxed_{tag}_scores.json", "{query}_relaxed_{tag}_scores.json"),
    ),
    Naming(
        "AlphaFold-Multimer",
        re.compile(r"(?P<prefix>.*_)?ranked_(?P<rank>\d+)|(?:un)?relaxed_(?P<name>model_\d+.*)"),
        ("ranking_debug.json",),
        ("pae_{name}.json", "result_{name}.pkl", "confidence_{name}.json"),
    ),
    Naming(
        "AlphaFold 3",
        re.compile(r"(?P<job>.*_)?model"),
        ("{job}summary_confidences.json",),
        ("{job}confidences.json",),
    ),
    Naming(
        "AlphaFold 3",
        re.compile(r"(?P<job>.+)_model_(?P<n>\d+)"),
        ("{job}_summary_confidences_{n}.json",),
        ("{job}_full_data_{n}.json",),
    ),
    Naming(
        "Boltz",
        re.compile(r"(?P<model>.+_model_\d+)"),
        ("confidence_{model}.json",),
        ("pae_{model}.npz",),
    ),
    Naming(
        "Chai-1",
        re.compile(r"(?P<job>.*)pred\.(?P<tag>model_idx_\d+)"),
        ("{job}scores.{tag}.npz",),
        ("{job}pae.{tag}.npz",),
    ),
    Naming(
        "Protenix",
        re.compile(r"(?P<job>.+)_sample_(?P<n>\d+)"),
        ("{job}_summary_confidence_sample_{n}.json",),
        ("{job}_full_data_sample_{n}.json",),
    ),
)


class Beside(NamedTuple):
    """The files that a predictor wrote beside a model. None where there is none.

    folder : in which they lie. names : the groups of the model's name.
    """

    predictor: str
    folder: Path
    names: dict[str, str]
    scores: Path | None
    pae: Path | None


def files_beside(model: Path) -> Beside | None:
    """The files of the first predictor that has any beside this model; None without any."""
    stem, there = _stem(model), _names_in(model.parent)
    for naming in NAMINGS:
        if match := naming.model.fullmatch(stem):
            names = {name: text or "" for name, text in match.groupdict().items()}
            scores, pae = (
                next(filter(None, (_there(pattern.format(**names), model.parent, there) for pattern in patterns)), None)
                for patterns in (naming.scores, naming.pae)
            )
            if scores or pae:
                return Beside(naming.predictor, model.parent, names, scores, pae)
    return None


def place_of(model: Path) -> Path:
    """The model, or the file that it is a link to, if no predictor's files lie beside the link."""
    return model if files_beside(model) else Path(os.path.realpath(model))  # of a link to itself, the link


def named_by(model: Path) -> str:
    """The predictor that alone gives such names to its models, with or without other files beside them; or empty."""
    distinct = [naming for naming in NAMINGS if naming.predictor in ("ColabFold", "AlphaFold-Multimer", "Chai-1")]
    return next((naming.predictor for naming in distinct if naming.model.fullmatch(_stem(model))), "")


def file_called(folder: Path, name: str) -> Path | None:
    """A file of this name, or of this name and `.gz`, in a folder."""
    return _there(name, folder, _names_in(folder))


@functools.lru_cache(maxsize=64)
def ranked(folder: Path) -> dict[str, list[str]]:
    """Rank → the names, without ending, of the models of AlphaFold-Multimer in a folder that have it, in order."""
    found: dict[str, list[str]] = {}
    for stem in sorted({_stem(Path(name)) for name in _names_in(folder)}):
        if known := RANKED.fullmatch(stem):
            found.setdefault(known[1], []).append(stem)
    return found


def haddock_tables(folder: Path) -> list[Path]:
    """The tables of HADDOCK3 that may say something of the models in a folder, those of later steps last."""
    found = (file_called(place, HADDOCK_TABLE) for place in (*_steps(folder.parent), folder))
    return [path for path in found if path]


@functools.lru_cache(maxsize=64)
def _steps(run: Path) -> list[Path]:
    """The `caprieval` steps of a run of HADDOCK3 in their order, such as `2_caprieval` and `10_caprieval`."""
    found = run.glob("[0-9]*_caprieval")
    return sorted(found, key=lambda path: (int(re.match(r"\d+", path.name)[0]), path.name))


def state(folders: Collection[Path]) -> list[tuple[str, FileState]]:
    """Path and state of every file that may say something of a model in one of these folders.

    So do models with a rank: `ranked`.
    """
    paths = {table for folder in folders for table in haddock_tables(folder)}
    for folder in folders:
        names = _names_in(folder)
        paths |= {folder / name for name in names if name.removesuffix(".gz").endswith(KINDS)}
        paths |= {folder / name for name in names if RANKED.fullmatch(_stem(Path(name)))}
    found = []
    for path in sorted(paths):
        with contextlib.suppress(OSError):  # it has just gone; where it cannot be read, the row of its model says so
            found.append((str(path), state_of(path)))
    return found


def state_below(folder: Path) -> str:
    """A digest of `state` for the models in a folder; one that was moved says the same."""
    found = [(os.path.relpath(path, folder), about) for path, about in state([folder])]
    return hashlib.sha256(repr(found).encode()).hexdigest()


def look_anew() -> None:
    """Forget which files lie where: a notebook goes on while a predictor writes."""
    _names_in.cache_clear()
    ranked.cache_clear()
    _steps.cache_clear()


def _stem(model: Path) -> str:
    known = split_suffix(model.name)
    return known[0] if known else model.stem


def _there(name: str, folder: Path, there: frozenset[str]) -> Path | None:
    return next((folder / each for each in (name, f"{name}.gz") if each in there), None)


@functools.lru_cache(maxsize=64)
def _names_in(folder: Path) -> frozenset[str]:
    """Names of the files in a folder, listed once in a process; none if it is gone, as reading the model will show."""
    try:
        return frozenset(entry.name for entry in os.scandir(folder) if _is_file(entry))
    except OSError:
        return frozenset()


def _is_file(entry: os.DirEntry) -> bool:
    """Whether it is a file or a link to one; a link to itself is not."""
    try:
        return entry.is_file()
    except OSError:
        return False
