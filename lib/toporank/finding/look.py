"""A look into a structure file: one open and one parse for all that is asked of it before scoring.

What was seen is kept in the reuse store.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from toporank.chains.chain import ChainSequences, ResidueId, chains_by_name
from toporank.chains.immune import Pair, may_pair, pairs_of
from toporank.code import code_of
from toporank.confidence.b_factor_runs import runs_of
from toporank.errors import OtherFileError, StructureError
from toporank.files.atomic import (
    first_writable,
    user_cache,
    write_bytes,
    write_text,
)
from toporank.files.state import MISSING, FileState, state_if_there
from toporank.finding.sketch import ModelSketch, Modified, Sketch
from toporank.structures.model_residue import ca_places, letters_of
from toporank.structures.model_shape import shape_of
from toporank.structures.residue_names import is_modified
from toporank.workers import mapped, n_cores

if TYPE_CHECKING:  # imports gemmi, which is needed only to read a file
    from toporank.structures.chains import ParsedModel
    from toporank.structures.read import StructureFile

A_FEW = 5
"""Residues between two CA atoms whose distance tells the shape of a chain."""
STEP, UNBONDED = 3.8, 1.0
"""Å between CA atoms of bonded neighbours, and by how much it is another one where noise hides
them. It is 0.9 less beside a peptide bond in cis.
"""
BENT = 0.1
"""Å, change of these distances on average; rounding alone changes them by less."""
LOOKS = ("chains", "structures", "confidence/b_factor_runs.py", "finding/look.py")
"""Code on which depends what is seen."""
CACHE = "sketches.json"
"""In the reuse store: what was seen in each file."""
LONGEST_KEPT = 30 * 24 * 3600.0
"""Seconds for which what dry runs saw is kept."""
NOTHING_SEEN = (None, None)
Keep = Callable[[Path, bytes, Sketch], None]
"""Takes a file that was looked into: its path, its content and its sketch."""
FILES_PER_WORKER = 24
"""New files for each worker process: starting one costs less than looking into these."""


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
    absolute = _Absolute()
    seen: dict[str, Sketch | None] = {}
    # a file may have several names; one of another ending may be read in another way
    new: dict[tuple[FileState, str], list[str]] = {}
    for path in dict.fromkeys(paths):
        state = state_if_there(path)
        cached_state, sketch = cached.get(absolute.of(path), NOTHING_SEEN)
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
                cached[absolute.of(path)] = state, sketch
        _write(store / CACHE, cached)
    return seen


def draft_of(store: Path) -> Path:
    """A folder of the user's cache for what dry runs see in files, until a run makes the store.

    What was left there long ago is removed.
    """
    drafts = user_cache() / "toporank" / "drafts"
    for old in drafts.glob("*"):
        with contextlib.suppress(FileNotFoundError):  # another run removes it, too
            if time.time() - old.stat().st_mtime > LONGEST_KEPT:
                shutil.rmtree(old, ignore_errors=True)
    name = hashlib.sha256(str(store.absolute()).encode()).hexdigest()[:16]
    return first_writable([drafts / name])


def move_sketches(draft: Path, store: Path) -> None:
    """Move what was seen in files to another store.

    The folder it was in stays: other processes may be about to write into it, or may have moved
    what was in it.
    """
    with contextlib.suppress(FileNotFoundError):
        write_bytes(store / CACHE, (draft / CACHE).read_bytes())
        (draft / CACHE).unlink()


def _looked_into(
    paths: list[str], keep: Keep | None, workers: int
) -> list[Sketch | None]:
    with_keep = functools.partial(look, keep=keep)
    workers = min(workers, len(paths) // FILES_PER_WORKER)
    return list(mapped(with_keep, paths, workers, at_a_time=8))


def look(path: str, keep: Keep | None = None) -> Sketch | None:
    """Look into a structure file; None where it cannot be read.

    keep : takes its path, its content and what was seen, while it is open.
    """
    # imports gemmi, which is needed only to read a file
    from toporank.structures.read import open_structure
    from toporank.structures.text import read_content

    try:
        content = read_content(Path(path))
        file = open_structure(Path(path), content)
        sketch = sketch_of(file)
    except OtherFileError as error:
        return Sketch(other=error.what)
    except (StructureError, OSError):  # reading it fails later, with the reason
        return None
    if keep:
        keep(Path(path), content, sketch)
    return sketch


class _Absolute:
    """Absolute paths of files; many lie in one folder."""

    def __init__(self) -> None:
        self._folders: dict[str, str] = {}

    def of(self, path: str) -> str:
        """The absolute path of a file."""
        folder, slash, name = path.rpartition("/")
        folder += slash
        if folder not in self._folders:
            self._folders[folder] = os.path.abspath(folder)
        return f"{self._folders[folder]}/{name}"


def _read(path: Path) -> dict[str, tuple[FileState, Sketch | None]]:
    """What was seen before: path → state of the file and its sketch.

    It is empty where that is damaged or of another version.
    """
    cached: dict[str, tuple[FileState, Sketch | None]] = {}
    try:
        content = json.loads(path.read_bytes())
        if content["code"] != code_of(*LOOKS):
            return {}
        files = [Sketch._make(_as_tuples(fields)) for fields in content["alike"]]
        parts = []
        for chains, pairs, modified in _as_tuples(content["models"]):
            of_bodies = tuple(map(Pair._make, pairs))
            parts.append((chains, of_bodies, modified))
        for name, (state, file, sha256, size, own) in content["files"].items():
            models = []
            for part, shape, b_factors in own:
                of_chains = tuple(map(tuple, b_factors))
                models.append(ModelSketch._make((*parts[part], shape, of_chains)))
            numbers, _, _, _, *shared = files[file]
            sketch = Sketch(numbers, tuple(models), sha256, size, *shared)
            cached[name] = FileState(*state), sketch
    except (OSError, ValueError, LookupError, TypeError):
        return {}
    return cached


def _as_tuples(value: Any) -> Any:
    """What JSON holds, with tuples in place of lists; equal sequences are one object."""
    if type(value) is list:
        return tuple(map(_as_tuples, value)) if value else ()
    return sys.intern(value) if type(value) is str else value


def _write(path: Path, cached: Mapping[str, tuple[FileState, Sketch | None]]) -> None:
    """Keep what was seen; files that cannot be read are looked into again.

    What models of one complex share is there once for all of them.
    """
    alike: dict[Sketch, int] = {}
    parts: dict[tuple, int] = {}
    files = {}
    for name, (state, sketch) in cached.items():
        if sketch:
            own = []
            for model in sketch.models:
                part = model.chains, model.pairs, model.modified
                number = parts.setdefault(part, len(parts))
                own.append((number, model.shape, model.b_factors))
            shared = sketch._replace(models=(), content="", size=0)
            number = alike.setdefault(shared, len(alike))
            files[name] = (state, number, sketch.content, sketch.size, own)
    content = {
        "code": code_of(*LOOKS),
        "alike": list(alike),
        "models": list(parts),
        "files": files,
    }
    with contextlib.suppress(OSError):  # then the next run looks again
        write_text(path, json.dumps(content))


# ---- what is in a file ---------------------------------------------------------------------------


def sketch_of(file: StructureFile) -> Sketch:
    """What a structure file holds.

    Raises StructureError when its first model cannot be parsed.
    """
    first = file.parsed()
    numbers = file.model_numbers
    models = [_model_sketch(file, first, 0 if len(numbers) > 1 else None)]
    distances = [_distances(first, A_FEW)] if len(numbers) > 1 else []
    for position in range(1, len(numbers)):
        sketch = ModelSketch()
        # reading a model that cannot be parsed fails later, with the reason
        with contextlib.suppress(StructureError):
            model = file.parsed(position)
            sketch = _model_sketch(file, model, position)
            if position in (1, len(numbers) - 1):
                distances.append(_distances(model, A_FEW))
        models.append(sketch)
    of_first = models[0]
    if all(model.chains == of_first.chains for model in models):
        # so that models with the same chains have one object with them
        models = [
            of_first._replace(shape=m.shape, b_factors=m.b_factors) for m in models
        ]
    return Sketch(
        numbers=numbers,
        models=tuple(models),
        content=file.sha256,
        notes=tuple(first.on_molecules),
        experiment=file.experiment.method,
        entry=file.experiment.entry,
        bends=_bends(distances),
        is_noise=_is_noise(_distances(first, 1)),
    )


def _model_sketch(
    file: StructureFile, model: ParsedModel, position: int | None
) -> ModelSketch:
    """What a model holds. position : in the file; None for the only one."""
    chains, pairs = _chains_and_pairs(model)
    shape = ""
    with contextlib.suppress(StructureError):  # a shape that cannot be used
        shape = shape_of(file.complex(position))
    return ModelSketch(
        chains=chains,
        pairs=pairs,
        modified=_modified(model),
        shape=shape,
        b_factors=_b_factors_of_chains(model),
    )


def _chains_and_pairs(model: ParsedModel) -> tuple[ChainSequences, tuple[Pair, ...]]:
    """The protein chains of a model, and those that belong together by nature."""
    sequences = model.sequences
    pairs: list[Pair] = []
    # few may, and places take as long as all the rest
    if may_pair([*sequences.values()]):
        protein = [residue for residue in model.residues if residue.parent]
        residues = [ResidueId(each.chain, each.number) for each in protein]
        chains = chains_by_name(residues, letters_of(protein), ca_places(protein))
        pairs = pairs_of(chains)
    return tuple(sequences.items()), tuple(pairs)


def _modified(model: ParsedModel) -> tuple[Modified, ...]:
    """The residues of a model that are no amino acids of the genetic code, but modified ones."""
    found = []
    lengths: Counter[str] = Counter()
    for residue in model.written:
        if residue.parent:
            if is_modified(residue.name):
                found.append((residue.chain, lengths[residue.chain], residue.name))
            lengths[residue.chain] += 1
    return tuple(found)


def _distances(model: ParsedModel, n: int) -> np.ndarray:
    """Å between each CA atom of a model and one n residues on in its chain; nan without one.

    Residues without a place count, which a step may have and another not.
    """
    protein = [residue for residue in model.written if residue.parent]
    ca = ca_places(protein)
    chain = np.array([residue.chain for residue in protein])
    apart = np.linalg.norm(ca[n:] - ca[:-n], axis=1)
    return np.where(chain[n:] == chain[:-n], apart, np.nan)


def _is_noise(steps: np.ndarray) -> bool:
    """Whether most neighbours in a chain are not bonded. steps : Å from each CA to the next."""
    known = steps[np.isfinite(steps)]
    return len(known) > 0 and bool(np.median(np.abs(known - STEP)) > UNBONDED)


def _bends(distances: list[np.ndarray]) -> bool:
    """Whether chains have other shapes in other models; those of docked poses keep theirs."""
    for other in distances[1:]:
        if len(other) == len(distances[0]):
            change = np.abs(other - distances[0])
            change = change[np.isfinite(change)]
            if len(change) and change.mean() > BENT:
                return True
    return False


def _b_factors_of_chains(model: ParsedModel) -> tuple[tuple[int, ...], ...]:
    """The number of CA atoms and the runs of their B factors of each protein chain with some."""
    values: dict[str, list[float]] = {}
    for residue in model.residues:
        ca = residue.atom("CA") if residue.parent else None
        if ca:
            values.setdefault(residue.chain, []).append(ca.b_iso)
    of_chains = []
    for of_chain in values.values():
        runs = runs_of(np.array(of_chain))
        if runs:
            of_chains.append((len(of_chain), *runs))
    return tuple(sorted(of_chains))
