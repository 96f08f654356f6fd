"""The decoys of a folder with their targets.

The folder is listed once, and each file is read once.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import sys
from collections.abc import Callable, Container, Iterable, Mapping
from pathlib import Path
from typing import Any

from toporank.chains.immune import Pair
from toporank.code import code_of
from toporank.errors import OtherFileError, StructureError, printable
from toporank.files.atomic import write_text
from toporank.files.state import MISSING, FileState, state_if_there
from toporank.inputs.complexes import BY_SEQUENCE, Grouped, group
from toporank.inputs.decoy_names import copies_among
from toporank.inputs.folders import find_decoys, listed_folder, passed_over
from toporank.inputs.mutants import mutants
from toporank.inputs.not_models import (
    experiments,
    other_files,
    unexplained,
    with_trajectories,
)
from toporank.inputs.sequences import Sketches
from toporank.programs.file_names import look_anew
from toporank.structures.identity import INTERMEDIATE, Decoy, DecoyKey
from toporank.structures.sketch import Sketch
from toporank.workers import mapped, n_cores

CACHE = "sketches.json"
"""In the reuse store: what was seen in each file."""
Keep = Callable[[Path, bytes, Sketch], None]
"""Takes a file that was looked into: its path, its content and its sketch."""
FILES_PER_WORKER = 24
"""New files for each worker process: starting one costs less than looking into these."""


def decoys_of(  # noqa: PLR0913 -- all of one search
    dataset: str,
    folder: Path,
    by: str,
    store: Path,
    partners: Mapping[str, str] | None = None,
    keep: Keep | None = None,
    workers: int | None = None,
    targets: Container[str] = (),
    labelled: bool = False,
) -> Grouped:
    """Return the decoys of a folder with their targets.

    Parameters
    ----------
    by, partners : as for `complexes.group`
    store : the reuse store
    keep : takes each file with decoys that is new, while it is open
    workers : processes that look into many files; as many as there are cores by default
    targets : as for `folders.find_decoys`
    labelled : whether labels or natives belong to the decoys: then every structure is one

    Raises
    ------
    ConfigError
        when the folder cannot be listed
    """
    look_anew()
    files = listed_folder(dataset, folder)
    found = find_decoys(dataset, folder, files, targets)
    paths = [decoy.path for decoy in found if not decoy.refused]
    seen = sketches(paths, store, keep, workers)
    intermediate = [
        decoy.path for decoy in found if decoy.refused.startswith(INTERMEDIATE)
    ]
    if intermediate:
        seen |= sketches(intermediate, store, workers=workers)
    left_out = other_files(found, seen)
    if not labelled:
        left_out |= experiments(found, seen)
    decoys = with_trajectories(_without(found, left_out), seen)
    name = folder.resolve().name
    grouped = group(decoys, seen, by, name, partners)
    if by == BY_SEQUENCE and not labelled:
        questions = unexplained(grouped, seen)
        if questions:
            left_out |= questions
            grouped = group(_without(decoys, questions), seen, by, name, partners)
    for path in left_out:
        del seen[path]
    unread = passed_over(folder, grouped.decoys, files)
    for path, why in left_out.items():
        unread[Path(path)] = why
    pairs = {}
    chains = {}
    contents = {}
    sizes = {}
    b_factors = {}
    for path, sketch in seen.items():
        if sketch:
            contents[path] = sketch.content
            sizes[path] = sketch.size
    for decoy in grouped.decoys:
        sketch = seen.get(decoy.path)
        if sketch:
            chains[decoy.key] = sketch.of_model(decoy.model)
            b_factors[decoy.key] = sketch.b_factors_of(decoy.model)
            of_model = sketch.pairs_of_model(decoy.model)
            if of_model:
                pairs[decoy.key] = of_model
    return grouped._replace(
        mutants=mutants(grouped, seen),
        molecules=_several_molecules(grouped.decoys, seen),
        contents=contents,
        sizes=sizes,
        copies=copies_among(grouped.decoys, seen),
        pairs=pairs,
        chains=chains,
        passed_over=unread,
        of_monomers=_of_monomers(b_factors),
    )


def _of_monomers(b_factors: Mapping[DecoyKey, tuple[str, ...]]) -> frozenset[DecoyKey]:
    """Decoys with a chain that has the same B factors in the complex of another target.

    No prediction of two complexes gives that; one and the same model may lie in two targets.

    b_factors : digests of the chains of each decoy
    """
    targets: dict[str, set[str]] = {}
    complexes: dict[str, set[tuple[str, tuple[str, ...]]]] = {}
    for (target, _), of_chains in b_factors.items():
        for digest in of_chains:
            complexes.setdefault(digest, set()).add((target, of_chains))
            targets.setdefault(digest, set()).add(target)
    found = set()
    for key, of_chains in b_factors.items():
        for digest in of_chains:
            if len(targets[digest]) < 2:
                continue
            if any(
                target != key[0] and others != of_chains
                for target, others in complexes[digest]
            ):
                found.add(key)
    return frozenset(found)


def _without(decoys: Iterable[Decoy], paths: Container[str]) -> list[Decoy]:
    return [decoy for decoy in decoys if decoy.path not in paths]


def _several_molecules(decoys: Iterable[Decoy], sketches: Sketches) -> list[str]:
    """Which chains are or may be several molecules of one name.

    It is a sentence about the first such file, or nothing.
    """
    files: list[str] = []
    for path in sorted({decoy.path for decoy in decoys if not decoy.refused}):
        sketch = sketches.get(path)
        if sketch and sketch.notes:
            files.append(path)
    if not files:
        return []
    n_others = len(files) - 1
    others = f" and {n_others:,} other file{'s' * (n_others > 1)}" if n_others else ""
    notes = "; ".join(sketches[files[0]].notes)
    return [f"in {printable(os.path.basename(files[0]))}{others}: {notes}"]


def sketches(
    paths: Iterable[str],
    store: Path,
    keep: Keep | None = None,
    workers: int | None = None,
) -> dict[str, Sketch | None]:
    """Return what a look into each file finds, by path; None where it cannot be read.

    store, keep, workers : as for `decoys_of`.
    """
    cached = _read(store / CACHE)
    seen: dict[str, Sketch | None] = {}
    # a file may have several names; one of another ending may be read in another way
    new: dict[tuple[FileState, str], list[str]] = {}
    for path in dict.fromkeys(paths):
        state = state_if_there(path)
        cached_state, sketch = cached.get(os.path.abspath(path), (None, None))
        seen[path] = sketch if state == cached_state else None
        if state not in (MISSING, cached_state):
            ending = os.path.basename(path).partition(".")[2]
            new.setdefault((state, ending), []).append(path)
    if new:
        firsts = [names[0] for names in new.values()]
        looked_into = _looked_into(firsts, keep, workers or n_cores())
        of_files = zip(new.items(), looked_into, strict=True)
        for ((state, _), names), sketch in of_files:
            sketch = sketch and sketch._replace(size=state.size)
            for path in names:
                seen[path] = sketch
                cached[os.path.abspath(path)] = state, sketch
        _write(store / CACHE, cached)
    return seen


def _looked_into(
    paths: list[str], keep: Keep | None, workers: int
) -> list[Sketch | None]:
    look = functools.partial(_look, keep=keep)
    workers = min(workers, len(paths) // FILES_PER_WORKER)
    return list(mapped(look, paths, workers, at_a_time=8))


def _look(path: str, keep: Keep | None = None) -> Sketch | None:
    # imports gemmi, which is needed only to read a file
    from toporank.structures.read import open_structure
    from toporank.structures.text import read_content

    try:
        content = read_content(Path(path))
        file = open_structure(Path(path), content)
        sketch = file.sketch()._replace(content=file.sha256)
    except OtherFileError as error:
        return Sketch(models=(1,), chains=(), other=error.what)
    except (StructureError, OSError):  # reading it fails later, with the reason
        return None
    if keep:
        keep(Path(path), content, sketch)
    return sketch


def _read(path: Path) -> dict[str, tuple[FileState, Sketch | None]]:
    """What was seen before: path → state of the file and its sketch.

    It is empty where that is damaged or of another version.
    """
    cached = {}
    try:
        content = json.loads(path.read_bytes())
        if content["code"] != code_of("chains", "structures"):
            return {}
        for name, (state, fields) in content["files"].items():
            sketch = Sketch._make(_as_tuples(fields))
            if sketch.pairs:
                pairs = [tuple(map(Pair._make, of_model)) for of_model in sketch.pairs]
                sketch = sketch._replace(pairs=tuple(pairs))
            cached[name] = FileState._make(state), sketch
    except (OSError, ValueError, LookupError, TypeError):
        return {}
    return cached


def _as_tuples(value: Any) -> Any:
    """What JSON holds, with tuples in place of lists; equal sequences are one object."""
    if type(value) is list:
        return tuple(map(_as_tuples, value)) if value else ()
    return sys.intern(value) if type(value) is str else value


def _write(path: Path, cached: Mapping[str, tuple[FileState, Sketch | None]]) -> None:
    """Keep what was seen; files that cannot be read are looked into again."""
    readable = {name: entry for name, entry in cached.items() if entry[1]}
    content = {"code": code_of("chains", "structures"), "files": readable}
    with contextlib.suppress(OSError):  # then the next run looks again
        write_text(path, json.dumps(content))
