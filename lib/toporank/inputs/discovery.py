"""The decoys of a folder with their targets. Every file is looked into once; what was seen is kept."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from toporank.code import code_of
from toporank.errors import StructureError, printable
from toporank.files.atomic import sha256, write_text
from toporank.files.state import MISSING, FileState, state_if_there
from toporank.inputs.complexes import BY_SEQUENCE, Grouped, group
from toporank.inputs.decoy_names import Key, Sketches, copies_among
from toporank.inputs.folders import find_decoys
from toporank.inputs.mutants import mutants
from toporank.inputs.unpacked_jobs import jobs_of
from toporank.structures.identity import INTERMEDIATE, Decoy
from toporank.structures.immune import Pair

if TYPE_CHECKING:
    from toporank.structures.sketch import Sketch

CACHE = "sketches.json"
"""In the reuse store: what was seen in each file."""
MANY = 200
"""Files that are worth a second process."""


def decoys_of(dataset: str, folder: Path, by: str, store: Path, partners: Mapping[str, str] | None = None) -> Grouped:
    """The decoys of a folder with their targets.

    by, partners : as for `complexes.group`. store : the reuse store. Raises ConfigError when the folder cannot be
    listed.
    """
    decoys = find_decoys(dataset, folder)
    looked_at = [decoy.path for decoy in decoys if not decoy.refused or decoy.refused.startswith(INTERMEDIATE)]
    seen = sketches(looked_at, store)
    grouped = group(decoys, seen, by, folder.resolve().name, partners, jobs_of(folder, decoys))
    contents = {path: sketch.content for path, sketch in seen.items() if sketch}
    copies = copies_among(grouped.decoys, seen)
    of_mutants = mutants(grouped, seen) if by == BY_SEQUENCE else []
    return grouped._replace(
        mutants=of_mutants,
        molecules=_several_molecules(seen),
        contents=contents,
        copies=copies,
        pairs=_pairs(grouped.decoys, seen),
        chains={d.key: sketch.of_model(d.model) for d in grouped.decoys if (sketch := seen.get(d.path))},
    )


def _several_molecules(sketches: Sketches) -> list[str]:
    """Which chains are or may be several molecules of one name: a sentence about the first such file, or none."""
    files = [path for path, sketch in sketches.items() if sketch and sketch.notes]
    if not files:
        return []
    first, n_others = files[0], len(files) - 1
    others = f" and {n_others:,} other file{'s' * (n_others > 1)}" if n_others else ""
    return [f"in {printable(os.path.basename(first))}{others}: {'; '.join(sketches[first].notes)}"]


def _pairs(decoys: Iterable[Decoy], seen: Sketches) -> dict[Key, tuple[Pair, ...]]:
    """Which chains of each decoy belong together by nature, of decoys with such chains."""
    found = {}
    for decoy in decoys:
        sketch = seen.get(decoy.path)
        if sketch and (pairs := sketch.pairs_of_model(decoy.model)):
            found[decoy.key] = pairs
    return found


def sketches(paths: Iterable[str], store: Path) -> Sketches:
    """What a look into each file finds, by path; None where it cannot be read."""
    paths = dict.fromkeys(paths)
    states = {path: state for path in paths if (state := state_if_there(path)) != MISSING}
    known = _read(store / CACHE)
    new = [path for path, state in states.items() if known.get(os.path.abspath(path), (None, None))[0] != state]
    if new:
        known |= {os.path.abspath(path): (states[path], seen) for path, seen in _looked_into(new)}
        _write(store / CACHE, known)
    return {path: known[os.path.abspath(path)][1] if path in states else None for path in paths}


def _looked_into(paths: list[str]) -> list[tuple[str, Sketch | None]]:
    if len(paths) < MANY:
        return [(path, _look(path)) for path in paths]
    with multiprocessing.get_context("fork").Pool(len(os.sched_getaffinity(0))) as pool:
        return list(zip(paths, pool.map(_look, paths, chunksize=32), strict=True))


def _look(path: str) -> Sketch | None:
    from toporank.structures.sketch import sketch  # imports gemmi, which is needed only to read a file

    try:
        return sketch(Path(path))._replace(content=sha256(path))
    except (StructureError, OSError):  # reading it fails later, with the reason
        return None


def _code() -> str:
    return code_of("structures")


def _read(path: Path) -> dict[str, tuple[FileState, Sketch | None]]:
    """What was seen before: path → state of the file and its sketch; nothing where that cannot be used."""
    from toporank.structures.sketch import Sketch

    try:
        content = json.loads(path.read_bytes())
        if content["code"] != _code():
            return {}
        texts = content["sequences"]
        known = {}
        for name, (size, version, digest, places, models, chains, notes, pairs) in content["files"].items():
            first, *further = [tuple((chain, texts[i]) for chain, i in of_one) for of_one in chains]
            sketch = Sketch(
                models=tuple(models),
                chains=first,
                further=tuple(further),
                content=digest,
                places=tuple(places),
                notes=tuple(notes),
                pairs=tuple(tuple(Pair(*pair) for pair in of_one) for of_one in pairs),
            )
            known[name] = FileState(size, version), sketch
        return known
    except (OSError, ValueError, KeyError, TypeError, IndexError):  # none yet, or damaged: all is looked into again
        return {}


def _write(path: Path, known: Mapping[str, tuple[FileState, Sketch | None]]) -> None:
    """Keep what was seen; files that cannot be read are looked into again."""
    places: dict[str, int] = {}

    def kept(seen: Sketch) -> list[list[tuple[str, int]]]:
        each = (seen.chains, *seen.further)
        return [[(name, places.setdefault(text, len(places))) for name, text in chains] for chains in each]

    files = {
        name: [*state, seen.content, seen.places, seen.models, kept(seen), seen.notes, seen.pairs]
        for name, (state, seen) in known.items()
        if seen
    }
    with contextlib.suppress(OSError):  # then the next run looks again
        write_text(path, json.dumps({"code": _code(), "sequences": list(places), "files": files}))
