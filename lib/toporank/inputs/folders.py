"""Finding the decoys in a folder, including the layouts that predictors write."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from toporank.errors import ConfigError, printable
from toporank.structures.identity import Decoy, name_problem, same_name, split_suffix, table_name

SAMPLE_FOLDER = re.compile(r"seed-\d+_sample-\d+|seed_\d+|trunk_\d+")
"""Folders into which AlphaFold 3, Protenix (below it in `predictions`) and Chai write samples of one target."""

SERVER_MODEL = re.compile(r"fold_.+_model_\d+\.cif")
"""A model of the AlphaFold Server, beside which its `templates` lie, which are no decoys."""

COLABFOLD = re.compile(r"(.+)_(?:un)?relaxed_(?:rank_\d+_|model_\d+_|(?:alphafold2|deepfold)_)")
"""How ColabFold begins the name of a decoy: with its query, since all queries of a run lie in one folder."""

STRUCTURE_LIKE = re.compile(r"\.(pdb\d*|ent|cif|mmcif|bcif)(\.(gz|bz2|xz|zst|zip|7z|z))*$", re.IGNORECASE)
"""Names of files that are meant to be structures, whether or not they can be read."""

EXPECTED = "expected <target>/<decoy>.pdb, .ent, .cif or .mmcif, compressed or not (.gz, .bz2, .xz, .zst)"


def _structure_files(folder: Path) -> Iterator[tuple[str, str, str]]:
    """(target, decoy name, path) of every decoy below `folder`, in order of name."""
    own = folder.resolve().name
    entries = _listed(folder)
    of_server = any(SERVER_MODEL.fullmatch(entry.name) for entry in entries)
    for entry in entries:
        if of_server and entry.name == "templates":
            continue
        if not _is_folder(entry):
            query = COLABFOLD.match(entry.name)
            yield from _as_decoy(query[1] if query else own, entry)
        elif SAMPLE_FOLDER.fullmatch(entry.name):
            yield from _sample(own, entry)
        else:
            for inner in _listed(entry):
                is_sample = SAMPLE_FOLDER.fullmatch(inner.name) and _is_folder(inner)
                yield from _sample(entry.name, inner) if is_sample else _as_decoy(entry.name, inner)


def _listed(folder: Path | os.DirEntry) -> list[os.DirEntry]:
    """What is not hidden, in order of name."""
    return sorted((entry for entry in os.scandir(folder) if not entry.name.startswith(".")), key=lambda e: e.name)


def _is_folder(entry: os.DirEntry) -> bool:
    """Whether it is a folder or a link to one; a link in a circle is not."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def _as_decoy(target: str, entry: os.DirEntry) -> Iterator[tuple[str, str, str]]:
    """The file as a decoy, if it is a structure."""
    known = split_suffix(entry.name)
    if known and not _is_folder(entry):
        yield target, known[0], entry.path.removeprefix("./")  # as `Path` writes it


def _sample(target: str, folder: os.DirEntry) -> Iterator[tuple[str, str, str]]:
    """What lies in a sample's folder, or in `predictions` in it: called after it, unless the file's name says so."""
    entries = _listed(folder)
    inner = [entry for entry in entries if entry.name == "predictions" and _is_folder(entry)]
    for entry in _listed(inner[0]) if inner else entries:
        for _, name, path in _as_decoy(target, entry):
            yield target, name if folder.name in name else f"{folder.name}_{name}", path


def passed_over(folder: Path, decoys: list[Decoy]) -> list[Path]:
    """Files below `folder` that look like structures and are not among its decoys, in order.

    Links to folders are followed where `find_decoys` follows them, at the first level.
    """
    read = {decoy.path for decoy in decoys}
    links = [entry.path for entry in _listed(folder) if entry.is_symlink() and _is_folder(entry)]
    found = []
    for top in (os.fspath(folder), *links):
        for parent, folders, files in os.walk(top):
            folders[:] = [name for name in folders if not name.startswith(".")]
            start = os.fspath(Path(parent, "-"))[:-1]  # written as decoys' paths are, without ./
            paths = (start + file for file in files if file[0] != "." and STRUCTURE_LIKE.search(file))
            found += [Path(path) for path in paths if path not in read]
    return sorted(found)


def describe_passed_over(folder: Path, files: list[Path]) -> list[str]:
    """One line, if there are any: the number of files that look like structures but are not read, with one example."""
    if not files:
        return []
    are = "1 file is" if len(files) == 1 else f"{len(files)} files are"
    return [f"{are} not read, such as {printable(str(files[0].relative_to(folder)))}"]


def no_decoys(dataset: str, folder: Path, files: list[Path]) -> ConfigError:
    """The error of a folder without decoys; it names the folder to give if there are structures deeper down.

    files : from `passed_over`.
    """
    better = folder_to_give(folder, files)
    return ConfigError(
        "; ".join(["no structure file found", *describe_passed_over(folder, files)]),
        where=f"dataset {dataset}, {printable(str(folder))}",
        remedy=f"give {printable(str(better))}" if better else EXPECTED,
    )


def folder_to_give(folder: Path, files: list[Path]) -> Path | None:
    """The folder below `folder` in which `find_decoys` finds most of these files; None if it finds none in any.

    >>> folder_to_give(Path("boltz"), [Path("boltz/predictions/one/one_model_0.cif")])
    PosixPath('boltz/predictions')
    """
    holders = [path.parent for path in files if split_suffix(path.name)]
    candidates = Counter(_target_folder(h).parent for h in holders if folder in _target_folder(h).parent.parents)
    return min(candidates, key=lambda path: (-candidates[path], path), default=None)


def _target_folder(holder: Path) -> Path:
    """The folder of the target whose decoys a folder holds: itself, or the one around a sample's folder."""
    sample = holder.parent if holder.name == "predictions" else holder
    return sample.parent if SAMPLE_FOLDER.fullmatch(sample.name) else holder


def find_decoys(dataset: str, folder: Path) -> list[Decoy]:
    """All decoys `<folder>/<target>/<decoy>.<suffix>`, sorted by target and name.

    Structure files that lie directly in `folder` form one target named like the folder, those of ColabFold one for each
    query. The samples that AlphaFold 3 writes, `<target>/seed-1_sample-0/…`, are decoys of the target. `passed_over`
    lists what lies deeper. A file whose name no table or artefact can have is a decoy with `refused` set.
    Raises ConfigError when the folder cannot be listed or when two files give the same identity.
    """
    found: dict[tuple[str, str], Decoy] = {}
    try:
        for target, name, path in _structure_files(folder):
            decoy = _named(dataset, target, name, path)
            twin = found.setdefault(decoy.key, decoy)
            if twin is not decoy:
                raise same_name(twin, decoy)
    except OSError as error:
        raise ConfigError(
            f"the decoy folder cannot be listed: {error.strerror}",
            where=f"dataset {dataset}, {printable(os.fspath(error.filename or folder))}",
            remedy="set `decoys` to a folder of <target>/<decoy>.pdb|ent|cif|mmcif[.gz]",
        ) from error
    return sorted(found.values())


def _named(dataset: str, target: str, name: str, path: str) -> Decoy:
    """The decoy of these names, refused where they are of no use."""
    refused = name_problem(target, of="folder") or name_problem(name)
    if refused:
        return Decoy(dataset, table_name(target), table_name(name), path, refused)
    return Decoy(dataset, target, name, path)
