"""Names of decoys, none twice, and which of them are copies: no clash of names stops a run."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from itertools import groupby
from operator import attrgetter

from toporank.comparing.copies import copies_of
from toporank.errors import printable
from toporank.files.compressed import without_compression
from toporank.files.printable_names import free_name, table_name
from toporank.finding.sequences import Sketches
from toporank.finding.stoichiometry import Model
from toporank.structures.identity import FORMATS, Decoy, DecoyKey, split_suffix


def unique_names(models: list[Model]) -> tuple[list[str], dict[int, str]]:
    """A name for each model of a target, none twice.

    The place of each that got another name → the name it should have is returned, too.

    Where files of several folders have one name, the folder comes before it. Of those that are
    still called alike, the first keeps the name: a whole file before a model of one, PDB before
    mmCIF. The ending comes behind the name of others, then a number.
    """
    folder_of_name: dict[str, str] = {}
    in_several = set()
    for model in models:
        name = model.decoy.name
        if folder_of_name.setdefault(name, model.folder) != model.folder:
            in_several.add(name)
    wanted = []
    for model in models:
        name = model.decoy.name
        if name in in_several:
            name = f"{model.folder}_{name}"
        wanted.append(table_name(name))
    if len(set(wanted)) == len(wanted):
        return wanted, {}
    names = list(wanted)
    reserved, taken = set(wanted), set()
    renamed: dict[int, str] = {}
    numbers: dict[str, int] = {}
    for place in sorted(
        range(len(models)), key=lambda place: _precedence(models[place].decoy)
    ):
        if wanted[place] in taken:
            longer = table_name(_with_ending(wanted[place], models[place].decoy))
            names[place] = table_name(free_name(longer, reserved, numbers))
            reserved.add(names[place])
            renamed[place] = wanted[place]
        taken.add(names[place])
    return names, renamed


def _suffix(decoy: Decoy) -> str:
    """The ending of the file of a decoy, such as `.pdb.gz`; empty without any."""
    _, suffix = split_suffix(os.path.basename(decoy.path)) or ("", "")
    return suffix.lower()


def _precedence(decoy: Decoy) -> tuple:
    """Sorts decoys of one name: the first keeps it."""
    suffix = _suffix(decoy)
    endings = list(FORMATS)
    ending = without_compression(suffix)
    place = endings.index(ending) if ending in endings else len(endings)
    return decoy.model > 0, place, suffix not in endings, decoy.path, decoy.model


def _with_ending(name: str, decoy: Decoy) -> str:
    """The name of a decoy by its file.

    `ranked_0_cif` of the decoy `ranked_0` in `ranked_0.cif`, `wt_pdb#1` of the first model of
    `wt.pdb`.
    """
    stem, hash_sign, number = name.rpartition("#") if decoy.model else (name, "", "")
    return f"{stem}{_suffix(decoy).replace('.', '_')}{hash_sign}{number}"


def copies_among(decoys: Iterable[Decoy], sketches: Sketches) -> dict[DecoyKey, str]:
    """Target and decoy → the first decoy of the target that is the same model, for each copy.

    Parameters
    ----------
    decoys : sorted
    """
    copies: dict[DecoyKey, str] = {}
    for target, members in groupby(decoys, key=attrgetter("target")):
        shapes = {}
        for decoy in members:
            sketch = sketches.get(decoy.path)
            if sketch and not decoy.refused:
                shapes[decoy.name] = sketch.of_model(decoy.model).shape
        for copy, original in copies_of(shapes).original.items():
            copies[target, copy] = original
    return copies


def not_copies(
    decoys: list[Decoy], renamed: Mapping[DecoyKey, str], sketches: Sketches
) -> list[Decoy]:
    """Return the decoys that got another name and are no copies.

    Parameters
    ----------
    renamed : target and decoy → the name it should have
    """
    copies = copies_among(sorted(decoys), sketches)
    originals = {(target, original) for (target, _), original in copies.items()}
    unique = renamed.keys() - copies.keys() - originals
    return [decoy for decoy in decoys if decoy.key in unique]


def renamed_note(models: list[Decoy]) -> list[str]:
    """Return that models of one name got others: a sentence, or none.

    Parameters
    ----------
    models : from `not_copies`
    """
    if not models:
        return []
    first = models[0]
    file = printable(os.path.basename(first.path))
    of_file = f", model {first.model}," if first.model else ""
    more = f"; {len(models) - 1} more have other names, too" if len(models) > 1 else ""
    return [
        f"TopoRank calls {file}{of_file} {printable(first.name)}, since another model has its name"
        f"{more}"
    ]
