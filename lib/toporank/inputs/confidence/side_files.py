"""Where each predictor writes what it says of a model: by the name of the model's file, in the same folder."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import re
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from toporank.files.compressed import ENDINGS, without_compression
from toporank.files.state import FileState, state_of
from toporank.structures.identity import split_suffix

KINDS = (".json", ".npz", ".npy", ".pkl", ".tsv", ".csv")
"""Endings of the files that predictors write about models; each may be followed by that of a compression."""
HADDOCK_TABLE = "capri_ss.tsv"
"""Of HADDOCK3, beside the models or in the folder of a `caprieval` step beside theirs."""
LIGHT_PICKLES = "light_pkl"
"""Folder beside the models into which MassiveFold puts the small parts of its pickles."""


RANKED = re.compile(r"(?P<prefix>.*_)?ranked_\d+")
"""A model of AlphaFold-Multimer by its rank; people put something before it."""


class Naming(NamedTuple):
    """How a predictor names the files of a model; what they are for is in `formats`.

    Attributes
    ----------
    predictor : its name
    model : of the name of the model's file without ending
    scores, pae, plddt : of the others, in order of preference, in terms of what `names_of` gives
    needs_scores : whether the model is of this predictor only where there are scores
    """

    predictor: str
    model: re.Pattern[str]
    scores: tuple[str, ...]
    pae: tuple[str, ...] = ()
    plddt: tuple[str, ...] = ()
    needs_scores: bool = False


NAMINGS = (
    Naming(
        "ColabFold",
        re.compile(r"(?P<query>.+)_(?:un)?relaxed_(?P<tag>(?:rank_\d+|model_\d+|alphafold2|deepfold).*)"),
        ("{query}_scores_{tag}.json", "{query}_unrelaxed_{tag}_scores.json", "{query}_relaxed_{tag}_scores.json"),
    ),
    Naming(  # `ranked_0`, `unrelaxed_model_1_…`, and MassiveFold's `ranked_0_unrelaxed_model_1_…`
        "AlphaFold-Multimer",
        re.compile(
            r"(?P<prefix>.*_)?ranked_(?P<rank>\d+)"
            r"|(?:.*_)?ranked_\d+_(?:(?:un)?relaxed_)?(?P<listed>(?:.*_)?model_\d+.*)"
            r"|(?:un)?relaxed_(?P<name>(?:.*_)?model_\d+.*)"
        ),
        ("ranking_debug.json",),
        ("pae_{name}{listed}.json", "result_{name}{listed}.pkl", "confidence_{name}{listed}.json", "{stem}.pkl"),
    ),
    Naming(
        "OpenFold3",
        re.compile(r"(?P<job>.+_seed_\d+_sample_\d+)_model"),
        ("{job}_confidences_aggregated.json",),
        ("{job}_confidences.json", "{job}_confidences.npz"),
    ),
    Naming(
        "OpenFold3",
        re.compile(r"(?P<job>.+)_model"),
        ("{job}_confidences_aggregated.json",),
        ("{job}_confidences.json", "{job}_confidences.npz"),
        needs_scores=True,
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
        ("plddt_{model}.npz",),
    ),
    Naming(  # of its service
        "Boltz",
        re.compile(r"sample_(?P<sample>\d+)_predicted_structure"),
        ("metrics.json",),
        ("sample_{sample}_pae.npz",),
        ("sample_{sample}_plddt.npz",),
    ),
    Naming(  # `rank_N` and JSON files are those of its server
        "Chai-1",
        re.compile(r"(?P<job>.*)pred\.(?P<tag>model_idx_\d+(?:\.rank_\d+)?|rank_\d+)"),
        ("{job}scores.{tag}.npz", "{job}scores.{tag}.json"),
        ("{job}pae.{tag}.npz", "{job}pae.{tag}.npy"),
        ("{job}plddt.{tag}.npz", "{job}plddt.{tag}.npy"),
    ),
    Naming(
        "Protenix",
        re.compile(r"(?P<job>.+)_sample_(?P<n>\d+)"),
        ("{job}_summary_confidence_sample_{n}.json",),
        ("{job}_full_data_sample_{n}.json",),
    ),
)
DISTINCT = ("ColabFold", "AlphaFold-Multimer", "Chai-1")
"""Predictors that alone give such names to their models."""


class Beside(NamedTuple):
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
    scores: Path | None
    pae: Path | None
    plddt: Path | None


def files_beside(model: Path) -> Beside | None:
    """The files of the first predictor that has any beside this model; None without any."""
    stem = stem_of(model.name)
    for naming in NAMINGS:
        if names := names_of(naming, stem):
            scores = _first_there(naming.scores, names, model.parent)
            pae = _first_there(naming.pae, names, model.parent)
            plddt = _first_there(naming.plddt, names, model.parent)
            if scores or (not naming.needs_scores and (pae or plddt)):
                return Beside(naming.predictor, model.parent, names, scores, pae, plddt)
    return None


def names_of(naming: Naming, stem: str) -> dict[str, str]:
    """What stands in the names of the files of a model, by group; empty where the model is called otherwise.

    stem : the name of its file without ending
    """
    match = naming.model.fullmatch(stem)
    if not match:
        return {}
    return {"stem": stem} | {name: text or "" for name, text in match.groupdict().items()}


def _first_there(patterns: Iterable[str], names: Mapping[str, str], folder: Path) -> Path | None:
    """The first of these files that is in a folder. names : what the patterns hold."""
    files = (file_called(folder, pattern.format(**names)) for pattern in patterns)
    return next(filter(None, files), None)


def place_of(model: Path) -> Path:
    """The model, or the file that it is a link to, if no predictor's files lie beside the link."""
    return model if files_beside(model) else Path(os.path.realpath(model))  # of a link to itself, the link


def named_by(model: Path) -> str:
    """The predictor that alone gives such names to its models, with or without other files beside them; or empty."""
    stem = stem_of(model.name)
    distinct = [naming for naming in NAMINGS if naming.predictor in DISTINCT]
    return next((naming.predictor for naming in distinct if naming.model.fullmatch(stem)), "")


def file_called(folder: Path, name: str) -> Path | None:
    """A file of this name, compressed or not, in a folder."""
    there = names_in(folder)
    return next((folder / each for each in (name, *(f"{name}{ending}" for ending in ENDINGS)) if each in there), None)


@functools.lru_cache(maxsize=64)
def ranked_runs(folder: Path) -> frozenset[str]:
    """What stands before `ranked_N` in the names of the models in a folder: of several runs each has its own."""
    matches = (RANKED.fullmatch(stem_of(name)) for name in names_in(folder))
    return frozenset(match["prefix"] or "" for match in matches if match)


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
        names = names_in(folder)
        paths |= {folder / name for name in names if without_compression(name).endswith(KINDS)}
        paths |= {folder / name for name in names if RANKED.fullmatch(stem_of(name))}
        paths |= {folder / LIGHT_PICKLES / name for name in names_in(folder / LIGHT_PICKLES)}
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
    names_in.cache_clear()
    ranked_runs.cache_clear()
    _steps.cache_clear()


def stem_of(filename: str) -> str:
    """The name of a file without the ending of a structure, or without its last ending."""
    known = split_suffix(filename)
    return known[0] if known else Path(filename).stem


@functools.lru_cache(maxsize=64)
def names_in(folder: Path) -> frozenset[str]:
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
