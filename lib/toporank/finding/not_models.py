"""Files among models that hold no model, by what is in them and what lies beside them."""

from __future__ import annotations

import itertools
import os
import re
from collections import defaultdict
from collections.abc import Iterable
from operator import attrgetter
from pathlib import Path

from toporank.comparing.copies import have_one_shape
from toporank.confidence.confidences import OTHER_POSE, confidences, displacement
from toporank.confidence.examine import DecoyFile
from toporank.confidence.table import has_numbers
from toporank.errors import TopoRankError
from toporank.finding.complexes import Grouped
from toporank.finding.sequences import Sketches
from toporank.finding.sketch import Sketch
from toporank.programs.catalogue import (
    PLAIN,
    files_of_model,
    program_called,
    program_of,
)
from toporank.structures.identity import INTERMEDIATE, Decoy, Status, model_name

POSES = 3
"""Structures with the name of one entry, from which they are docked poses that inherited it."""
ADDED = 3
"""Most words that are in the name of a trajectory and not in that of its model."""
PARTS = 12
"""Words of the longest such name."""
STATES = 2
"""Most structures in a folder that are asked about as one; predictors write more."""
FEWEST = 2
"""Models of a predictor beside which another structure is asked about."""
NO_PROTEIN = "it holds no protein, as ligands, water and nucleic acids alone do"
UNEXPLAINED = (
    "no predictor is known that wrote it, and the models of its complex are those of one: is it "
    "what they began with? (to score it, give it alone or add --targets folder)"
)


def other_files(decoys: Iterable[Decoy], sketches: Sketches) -> dict[str, str]:
    """Path → what the file is, of files that hold no structure."""
    others = {}
    for decoy in decoys:
        sketch = sketches.get(decoy.path)
        if sketch and sketch.other:
            others[decoy.path] = sketch.other
    return others


def without_protein(decoys: Iterable[Decoy], sketches: Sketches) -> dict[str, str]:
    """Path → why a structure without any amino acid is no model; empty if no other one has some."""
    left_out = {}
    has_protein = False
    for decoy in decoys:
        sketch = sketches.get(decoy.path)
        if sketch and not sketch.other and not decoy.refused:
            if sketch.first.chains or any(model.chains for model in sketch.models):
                has_protein = True
            else:
                left_out[decoy.path] = NO_PROTEIN
    return left_out if has_protein else {}


def experiments(decoys: Iterable[Decoy], sketches: Sketches) -> dict[str, str]:
    """Path → the experiment that measured a structure which lies among models.

    Where nothing but experiments is there, they are what shall be scored; and so are poses that
    inherited the lines of the one structure that they were made of.
    """
    if not any(sketch and sketch.experiment for sketch in sketches.values()):
        return {}
    measured: dict[str, Sketch] = {}
    places: dict[tuple, set[str]] = defaultdict(set)
    has_models = False
    for decoy in decoys:
        sketch = sketches.get(decoy.path)
        if sketch is None or decoy.refused:
            continue
        if sketch.experiment and not files_of_model(Path(decoy.path)):
            measured[decoy.path] = sketch
            places[sketch.entry, sketch.first.chains].add(sketch.first.shape)
        else:
            has_models |= len(sketch.first.chains) > 1
    if not has_models:
        return {}
    left_out = {}
    for path, sketch in measured.items():
        chains = sketch.first.chains
        if len(places[sketch.entry, chains]) < POSES or len(chains) < 2:
            left_out[path] = (
                f"it names an experiment ({sketch.experiment}) and lies among models (give it "
                "alone to score it)"
            )
    return left_out


def with_trajectories(decoys: Iterable[Decoy], sketches: Sketches) -> list[Decoy]:
    """Return the decoys, with the reason where a file holds the steps to a model beside it.

    Such a file has several models, whose chains change their shape, or there is noise in a file
    with the same name but for numbers; and the words of the model's name are in its own.
    """
    decoys = list(decoys)
    steps = _steps_in_files(decoys, sketches)
    if not steps and not any(sketch and sketch.bends for sketch in sketches.values()):
        return decoys
    names: set[tuple] = set()
    for decoy in decoys:
        sketch = sketches.get(decoy.path)
        if sketch and len(sketch.models) == 1:
            names.add((_words(decoy), _size(sketch.first.chains)))
    found = []
    for decoy in decoys:
        sketch = sketches.get(decoy.path)
        is_step = sketch and (sketch.bends or decoy.path in steps)
        if sketch and is_step and not decoy.refused:
            size = _size(sketch.first.chains)
            if any((words, size) in names for words in _shorter(_words(decoy))):
                reason = f"{INTERMEDIATE}the steps of a trajectory"
                decoy = decoy._replace(refused=reason, refused_as=Status.INTERMEDIATE)
        found.append(decoy)
    return found


def _steps_in_files(decoys: Iterable[Decoy], sketches: Sketches) -> set[str]:
    """Paths of files that may be the steps of a trajectory, a file each."""
    if not any(sketch and sketch.is_noise for sketch in sketches.values()):
        return set()
    paths: dict[str, list[str]] = defaultdict(list)
    with_noise = set()
    for decoy in decoys:
        sketch = sketches.get(decoy.path)
        if sketch and not decoy.refused:
            name = re.sub(r"\d+", "#", decoy.path)
            paths[name].append(decoy.path)
            if sketch.is_noise:
                with_noise.add(name)
    steps = set()
    for name in with_noise:
        for path in paths[name]:
            if not files_of_model(Path(path)):
                steps.add(path)
    return steps


def _words(decoy: Decoy) -> tuple[str, ...]:
    return tuple(re.split(r"[_.\s-]+", model_name(os.path.basename(decoy.path))))


def _shorter(words: tuple[str, ...]) -> Iterable[tuple[str, ...]]:
    """The same words without some of them."""
    if len(words) <= PARTS:
        for n in range(max(1, len(words) - ADDED), len(words)):
            yield from itertools.combinations(words, n)


def _size(chains: Iterable[tuple[str, str]]) -> int:
    """Residues of all chains, which noise may seem to break."""
    return sum(len(sequence) for _, sequence in chains)


def unexplained(grouped: Grouped) -> dict[str, str]:
    """Path → a question, of a structure that no predictor wrote among models that one did.

    It is the only one of its complex in its folder, single chains and the same pose once more
    aside, no copy of a model and not called after one, and says nothing of confidence: what
    predictions began with looks so. Several states of one pose in a file, as of NMR, are one.
    """
    questions = {}
    written, candidates = _written(grouped)
    for kinds, models in written:
        in_folders: dict[str, list[Decoy]] = defaultdict(list)
        for kind in kinds:
            for of_candidate, decoy in candidates.get(kind, ()):
                if of_candidate <= kinds and _are_one_pose(_states(decoy, grouped)):
                    in_folders[os.path.dirname(decoy.path)].append(decoy)
        for decoys in in_folders.values():
            complexes = [each for each in decoys if len(grouped.kinds[each.key]) > 1]
            if len(complexes) > STATES or not _are_one_pose(complexes):
                continue
            for decoy in decoys:
                if not _is_model(decoy, models, grouped.sketches):
                    questions[decoy.path] = UNEXPLAINED
    return questions


def _are_one_pose(decoys: list[Decoy]) -> bool:
    """Whether structures are one but for a relaxation, such as a start that was cleaned."""
    if len(decoys) < 2:
        return True
    try:
        complexes = [_file_of(decoy).complex() for decoy in decoys]
    except TopoRankError:
        return False
    return all(displacement(complexes[0], each) <= OTHER_POSE for each in complexes[1:])


def _states(decoy: Decoy, grouped: Grouped) -> list[Decoy]:
    """The first two models and the last of a file of several; the decoy of another file."""
    sketch = grouped.sketches[decoy.path]
    if not decoy.model or sketch is None:
        return [decoy]
    places = sorted({1, 2, len(sketch.models)})
    return [decoy._replace(model=place) for place in places]


OfKinds = dict[int, list[tuple[frozenset[int], Decoy]]]
"""Smallest kind of a decoy's chains → all of its kinds, and the decoy."""


def _written(
    grouped: Grouped,
) -> tuple[list[tuple[frozenset[int], list[Decoy]]], OfKinds]:
    """The chains and models of each complex that a predictor wrote, and the other decoys."""
    written = []
    others: OfKinds = defaultdict(list)
    sets: dict[int, frozenset[int]] = {}
    for _, decoys in itertools.groupby(grouped.decoys, key=attrgetter("target")):
        models = []
        for decoy in decoys:
            # decoys with the same chains have one object with their kinds
            named = grouped.kinds[decoy.key]
            if id(named) not in sets:
                sets[id(named)] = frozenset(named.values())
            kinds = sets[id(named)]
            if decoy.refused or not kinds:
                continue
            program = program_of(decoy.path)
            if program == PLAIN:
                if decoy.model < 2:
                    others[min(kinds)].append((kinds, decoy))
            elif not program_called(program).docking or files_of_model(
                Path(decoy.path)
            ):
                models.append(decoy)
        if len(models) >= FEWEST:
            of_first = grouped.kinds[models[0].key].values()
            written.append((frozenset(of_first), models))
    return written, others


def _file_of(decoy: Decoy) -> DecoyFile:
    path = Path(decoy.path)
    return DecoyFile(decoy.target, decoy.name, path, model=decoy.model)


def _shape(sketches: Sketches, decoy: Decoy) -> str:
    sketch = sketches[decoy.path]
    return sketch.first.shape if sketch else ""


def _is_model(decoy: Decoy, models: Iterable[Decoy], sketches: Sketches) -> bool:
    """Whether a structure is a copy of a model, called after one, or says how sure it is."""
    shape = _shape(sketches, decoy)
    name = model_name(os.path.basename(decoy.path))
    for model in models:
        other = model_name(os.path.basename(model.path))
        called_after = other in name and re.search(r"\d", other)  # not after `model`
        if called_after or have_one_shape(_shape(sketches, model), shape):
            return True
    (row,) = confidences([_file_of(decoy)], anew=False)
    return has_numbers(row)
