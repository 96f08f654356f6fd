"""What lies beside models: files on which their confidence depends, and those that are not read."""

from __future__ import annotations

import functools
import hashlib
import os
import re
from collections.abc import Iterable
from itertools import product
from pathlib import Path
from typing import NamedTuple

from toporank.errors import printable
from toporank.files.compressed import without_compression
from toporank.files.state import FileState, state_if_there
from toporank.programs.catalogue import (
    further_files,
    match_of,
    names_of_files,
    ways_to_name,
)
from toporank.programs.file_names import KINDS, file_called, names_in, stem_of
from toporank.structures.identity import split_suffix

OF_CONFIDENCE = re.compile(
    r"(?<![a-z])(scores?|confidences?|pae|plddts?|i?ptm|ranking|summary|metrics|full_data"
    r"|predicted_aligned_error|ipsae|results?(?=.*\.(?:json|pkl)$))(?![a-z])"
)
"""Words in the names of files that say how good models are. Of programs; people call their tables
`results`, too.
"""
OF_MODEL = (".json", ".npz", ".npy", ".pkl")
"""Endings of files that are called after a model and say something of it, whatever else their names
say.
"""
ARRAYS = (".npz", ".npy", ".pkl")
"""Those of them that no program is given as its input."""
UNUSED = re.compile(
    r"(?:.*[_.-])?(?:config|settings|timings?|metadata(?:_.*)?|manifest|inputs?)\.json"
    r"|(?:.*_)?features?(?:_.*)?\.(?:pkl|npz|json)"
    r"|(?:.*[_.])?(?:pde|embeddings?|distogram|contact_probs|affinity)(?:[_.].*)?"
    r"\.(?:npz|npy|json)"
    r"|(?:labels|dockq)\.(?:csv|tsv)"
)
"""Names of files of several programs whose content TopoRank leaves out on purpose."""
SEPARATOR = re.compile(r"[_.-]")
"""Between the words of a name."""
SCORES = "scores"
KINDS_OF_FILES = (SCORES, "pae", "plddt")
"""Fields of `SideFileNames`."""
NAMED = 3
"""Files that a message names."""


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
    beside = []
    for folder in sorted(of_folders):
        of_folder = sorted(of_folders[folder])
        relative = []
        for path, state in _states(folder, of_folder):
            relative.append((os.path.relpath(path, folder), state))
        left = unread(folder)
        beside.append((sorted(relative), [left.about(model) for model in of_folder]))
    return hashlib.sha256(repr(beside).encode()).hexdigest()


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
    return _with_states(paths)


def states(folders: Iterable[Path]) -> list[tuple[str, FileState]]:
    """Return path and state of every file that may count for a model in one of these folders."""
    paths: set[Path] = set()
    for folder in folders:
        paths.update(further_files(folder))
        for name in names_in(folder):
            if without_compression(name).endswith(KINDS):
                paths.add(folder / name)
    return _with_states(sorted(paths))


def _with_states(paths: Iterable[Path]) -> list[tuple[str, FileState]]:
    """Each path with the state of its file."""
    return [(str(path), state_if_there(path)) for path in paths]


class Unread(NamedTuple):
    """What looks like a predictor's file beside the models in a folder and is not read.

    Attributes
    ----------
    sentence : on all of these files; empty where there are none
    models : those whose names share most words with that of such a file, by the names of their
        files without endings
    of_all : whether there are other such files, which may say something of any model
    """

    sentence: str = ""
    models: frozenset[str] = frozenset()
    of_all: bool = False

    def about(self, model: Path) -> str:
        """Return the sentence if a file may say something of this model; otherwise empty."""
        return (
            self.sentence if self.of_all or stem_of(model.name) in self.models else ""
        )


def unread(folder: Path) -> Unread:
    """Return what looks like a predictor's file beside the models in a folder and is not read.

    Files of models that are not in the folder count only where a model has no such file of its own:
    it may have been renamed.
    """
    return _unread(folder, names_in(folder))


@functools.lru_cache(maxsize=64)
def _unread(folder: Path, names: frozenset[str]) -> Unread:
    """What is not read, looked for once: a folder may have the models of thousands of targets."""
    models = {stem_of(name) for name in names if split_suffix(name)}
    plain_of = {name: without_compression(name) for name in sorted(names)}
    left = [name for name in plain_of if _looks_like(plain_of[name], models)]
    if left:
        explained = _explained(models, set(plain_of.values()))
        left = [name for name in left if plain_of[name] not in explained]
    if not left:
        return Unread()
    of_models: set[str] = set()
    of_all = False
    beginning: dict[str, set[str]] = {}
    for model in models:
        for words in _words(model, from_the_first=True):
            beginning.setdefault(words, set()).add(model)
    for name in left:
        stem = Path(plain_of[name]).stem
        shared = max(_words(stem) & beginning.keys(), key=len, default="")
        others = SEPARATOR.split(stem.replace(shared, ""))
        # with a number it is of one model, which may have another name now
        is_of_one = shared not in models and any(map(str.isdecimal, others))
        concerned = models if is_of_one else beginning.get(shared, models)
        of_all |= len(concerned) == len(models)
        of_models |= concerned
    return Unread(
        sentence=_sentence(folder, left), models=frozenset(of_models), of_all=of_all
    )


def _explained(models: set[str], names: set[str]) -> set[str]:
    """The names of the files of models, and those of models that are elsewhere.

    names : what lies beside the models, without compression
    """
    explained: set[str] = set()
    for kind in KINDS_OF_FILES:
        for stem in models:
            explained |= names_of_files(stem, kind)
        if not all(_has(stem, kind, names) for stem in models):
            continue
        pattern = _pattern(models, kind)
        for name in names:
            if pattern.fullmatch(name) or match_of("same_values", name):
                explained.add(name)
    return explained


def _sentence(folder: Path, left: list[str]) -> str:
    """That these files in a folder are not read."""
    examples = ", ".join(map(printable, left[:NAMED]))
    more = f" and {len(left) - NAMED} more files" if len(left) > NAMED else ""
    like = "looks like a predictor's file"
    if len(left) > 1:
        like = "look like a predictor's files"
    return (
        f"TopoRank does not read {examples}{more} in folder {printable(folder.name)}, which {like}"
        " (docs/inputs.md lists the names that it reads)"
    )


def _words(stem: str, *, from_the_first: bool = False) -> set[str]:
    """The words of a name, and those that follow one another in it."""
    starts, ends = [0], []
    for separator in SEPARATOR.finditer(stem):
        ends.append(separator.start())
        starts.append(separator.end())
    ends.append(len(stem))
    if from_the_first:
        starts = [0]
    return {stem[start:end] for start, end in product(starts, ends) if start < end}


def _looks_like(plain: str, models: set[str]) -> bool:
    """Whether a file may say something of models.

    plain : its name without compression. models : their names, without endings.
    """
    name = plain.lower()
    if not name.endswith(KINDS) or UNUSED.fullmatch(name) or match_of("unused", name):
        return False
    if OF_CONFIDENCE.search(name):
        return True
    return name.endswith(OF_MODEL) and _is_called_after(plain, models)


def _is_called_after(plain: str, models: set[str]) -> bool:
    """Whether a name begins or ends with that of a model.

    Or that of a model begins with it, such as `model_00.npz` beside `model_00_pred.pdb`.
    """
    stem = Path(plain).stem
    if plain.lower().endswith(ARRAYS):
        begins = re.compile(re.escape(stem) + SEPARATOR.pattern)
        if any(map(begins.match, models)):
            return True
    parts = {stem}
    for separator in SEPARATOR.finditer(stem):
        parts.update((stem[: separator.start()], stem[separator.end() :]))
    return not parts.isdisjoint(models)


def _has(stem: str, kind: str, beside: set[str]) -> bool:
    """Whether a model has a file of a kind, or one that has it or says which it is."""
    files = names_of_files(stem, kind)
    if beside & files:
        return True
    # then the scores say which of several files is its own
    by_rank = any(names.get("rank") for _, _, names in ways_to_name(stem))
    return (by_rank or not files) and kind != SCORES and _has(stem, SCORES, beside)


def _pattern(models: Iterable[str], kind: str) -> re.Pattern[str]:
    """What all files of a kind are called by the predictors of these models."""
    files: set[str] = set()
    for stem in models:
        for _, way, _ in ways_to_name(stem):
            files.update(getattr(way, kind))
    # anything could be called after `{stem}`
    special = [re.escape(name) for name in files if not name.startswith("{stem}")]
    return re.compile(re.sub(r"\\\{\w+\\\}", ".*", "|".join(special)) or "(?!)")
