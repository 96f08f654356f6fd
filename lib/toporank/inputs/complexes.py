"""Which decoys are models of one complex. Their sequences decide; folders only name what belongs
together.

A folder may hold the best models of forty pairs of proteins, and the models of one complex may lie
in the folders of four predictors. Chains of nearly the same sequence are of one kind, whatever they
are called; models with the same kinds of chains, in the same numbers of copies, are of one complex.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from toporank.errors import printable
from toporank.inputs.decoy_names import Key, Sketches, not_copies, renamed_note, unique_names
from toporank.inputs.kinds import kinds_of, same_protein
from toporank.inputs.stoichiometry import Model, complexes_of, usual_chains
from toporank.structures.identity import Decoy, free_name, table_name
from toporank.structures.immune import Pair
from toporank.structures.partners import partner_name

if TYPE_CHECKING:
    from toporank.structures.sketch import Sketch

BY_SEQUENCE, BY_FOLDER = "sequence", "folder"
"""What decides which decoys form a target."""
EXAMPLES = 3
"""Names in a note."""
GENERIC = {
    *(
        "model",
        "models",
        "rank",
        "ranked",
        "relaxed",
        "unrelaxed",
        "pred",
        "predictions",
        "best",
        "top",
        "seed",
    ),
    *("sample", "idx", "run", "complex", "cluster", "rigidbody", "flexref", "emref", "mdref"),
}
"""Parts of file names that name no complex."""


class Grouped(NamedTuple):
    """Decoys with their targets. notes : where the folders say something else than the sequences, a
    sentence each.

    kinds : target and decoy → the kind of each of its chains, a number that means the same in all
    decoys. residues : target and decoy → number of residues in these chains. mutants : what
    `inputs.mutants` says. molecules : where one chain name stands for several molecules, in a
    sentence. contents : path → SHA-256 of each file that could be looked into. copies : target and
    decoy → the first decoy of the target that has the same atoms in the same places. renamed : that
    models of one name got others, a sentence. ambiguous : target and name of files that are called
    alike and differ. pairs : of decoys, chains that are one body. chains : target and decoy → name
    and sequence of each protein chain; decoys that cannot be read are left out. passed_over : files
    that look like structures, or may hold some, and are not read.
    """

    decoys: list[Decoy]
    notes: list[str]
    kinds: dict[Key, dict[str, int]]
    residues: dict[Key, int]
    mutants: Sequence[str] = ()
    molecules: Sequence[str] = ()
    contents: Mapping[str, str] = MappingProxyType({})
    copies: Mapping[Key, str] = MappingProxyType({})
    renamed: Sequence[str] = ()
    ambiguous: frozenset[Key] = frozenset()
    pairs: Mapping[Key, tuple[Pair, ...]] = MappingProxyType({})
    chains: Mapping[Key, tuple[tuple[str, str], ...]] = MappingProxyType({})
    passed_over: Sequence[Path] = ()


def group(
    decoys: Iterable[Decoy],
    sketches: Sketches,
    by: str,
    given: str,
    partners: Mapping[str, str] | None = None,
    jobs: Mapping[str, str] | None = None,
) -> Grouped:
    """Return the decoys of a data set with their targets, and every model of a file as a decoy.

    Two decoys of one name get different ones.

    Parameters
    ----------
    decoys : as `inputs.folders.find_decoys` finds them: one for each file, its target called after
        its folder
    by : `BY_SEQUENCE` or `BY_FOLDER`
    given : name of the folder with all of them, after which a complex is called that nothing else
        names
    partners : folder → partners, where a table gives them; folders with different partners stay
        apart
    jobs : folder → the archive that it was in: each archive is a job, and stays apart from all else
    """
    single: list[Decoy] = []
    for decoy in sorted(decoys):
        single += _models(decoy, sketches.get(decoy.path))
    sequences: set[str] = set()
    for decoy in single:
        sequences.update(dict(_chains(decoy, sketches)).values())
    kinds = kinds_of(sequences)
    of_folders: dict[str, list[Model]] = {}
    for decoy in single:
        kind_of_chain = {name: kinds[sequence] for name, sequence in _chains(decoy, sketches)}
        of_folders.setdefault(decoy.target, []).append(Model(decoy, decoy.target, kind_of_chain))
    if by == BY_FOLDER:
        return _grouped(of_folders, [], sketches)
    complexes = {folder: complexes_of(models) for folder, models in of_folders.items()}
    separate = {
        folder: ((partners or {}).get(folder), (jobs or {}).get(folder)) for folder in complexes
    }
    joined = _joined(complexes, sketches, separate)
    return _grouped(_with_names(joined, given), _notes(complexes, joined), sketches)


def _models(decoy: Decoy, sketch: Sketch | None) -> list[Decoy]:
    """A decoy for each model of a file; one for an ensemble of a single chain, which is no
    complex.
    """
    if sketch is None or decoy.refused or len(sketch.models) < 2 or len(sketch.chains) < 2:
        return [decoy]
    numbers = sketch.models
    if len(set(numbers)) < len(numbers):
        numbers = range(1, len(numbers) + 1)
    return [
        decoy._replace(name=f"{decoy.name}#{k}", model=place) for place, k in enumerate(numbers, 1)
    ]


def _chains(decoy: Decoy, sketches: Sketches) -> tuple[tuple[str, str], ...]:
    sketch = sketches.get(decoy.path)
    return sketch.of_model(decoy.model) if sketch else ()


def _joined(
    complexes: Mapping[str, list[list[Model]]], sketches: Sketches, separate: Mapping[str, tuple]
) -> list[list[Model]]:
    """The complexes of all folders; the same complex of several folders is one, unless these differ
    in `separate`.
    """
    alike: dict[tuple, list[list[Model]]] = {}
    for folder, of_folder in complexes.items():
        for models in of_folder:
            usual = usual_chains(models)
            others = alike.setdefault((tuple(sorted(usual.items())), separate[folder]), [])
            same = next(
                (other for other in others if usual and _same_proteins(other, models, sketches)),
                None,
            )
            if same is None:
                others.append(list(models))
            else:
                same += models
    return list(chain.from_iterable(alike.values()))


def _same_proteins(first: list[Model], second: list[Model], sketches: Sketches) -> bool:
    """Whether each chain of one complex has a chain of the other without a single exchange: no
    mutant.
    """
    of_first = _longest(first, sketches)
    of_second = _longest(second, sketches)
    if of_first.keys() != of_second.keys():
        return False
    return all(same_protein(of_first[kind], of_second[kind]) for kind in of_first)


def _longest(models: list[Model], sketches: Sketches) -> dict[int, str]:
    """Kind → the longest sequence of it; of equally long ones the last in order of letters."""
    longest: dict[int, str] = {}
    for model in models:
        for name, sequence in _chains(model.decoy, sketches):
            kind = model.kinds[name]
            longest[kind] = max(longest.get(kind, ""), sequence, key=lambda s: (len(s), s))
    return longest


def _with_names(complexes: list[list[Model]], given: str) -> dict[str, list[Model]]:
    """Name of each target → its models.

    A complex is called after its folder if nothing else is in it, otherwise after what its folders
    or its files have in common, if anything, with numbers where two would be called alike, or after
    the folder that was given.
    """
    folders_of = [sorted({model.folder for model in models}) for models in complexes]
    n_complexes = Counter(chain.from_iterable(folders_of))
    short_names, long_names = [], []
    for folders, models in zip(folders_of, complexes, strict=True):
        alone = [folder for folder in folders if n_complexes[folder] == 1]
        name = longer = ""
        if len(folders) == 1 and alone:
            name = longer = folders[0]
        elif alone == folders:
            name = longer = common_name(folders)
        if not name:
            files = sorted({model.decoy.name.partition("#")[0] for model in models})
            name = common_name(files)
            longer = common_name(files, numbers=True)
        short_names.append(name or given)
        long_names.append(longer or given)
    targets: dict[str, list[Model]] = {}
    for short, longer, models in zip(short_names, long_names, complexes, strict=True):
        name = table_name(short if short_names.count(short) == 1 else longer)
        targets[table_name(free_name(name, targets))] = models
    return targets


def common_name(names: list[str], numbers: bool = False) -> str:
    """Return the parts that all names share, but for those that name no complex; empty if they
    share none.

    numbers : whether a number may name a complex, such as in `fold_a_1`.

    >>> common_name(["af2_7ACV", "boltz_7ACV_model_0"]), common_name(["7ACV_best"]), common_name(["one", "two"])
    ('7ACV', '7ACV_best', '')
    """
    if len(names) == 1:
        return names[0]
    first, *others = [re.split(r"[_.\s-]+", name) for name in names]
    telling = []
    for part in dict.fromkeys(first):
        is_shared = part and all(part in other for other in others)
        if is_shared and part.lower() not in GENERIC and (numbers or not part.isdecimal()):
            telling.append(part)
    return "_".join(telling)


def _grouped(targets: Mapping[str, list[Model]], notes: list[str], sketches: Sketches) -> Grouped:
    """The decoys with target, name, and what they lack or have more than the others; sorted."""
    decoys: list[Decoy] = []
    kinds: dict[Key, dict[str, int]] = {}
    residues: dict[Key, int] = {}
    renamed: dict[Key, str] = {}
    for target, models in targets.items():
        usual = usual_chains(models)
        names_of_kinds = _names_of(models)
        decoy_names, wanted_names = unique_names(models)
        for place, model in enumerate(models):
            decoy = model.decoy._replace(
                target=target,
                name=decoy_names[place],
                lacks=_lacking(model, usual, names_of_kinds),
                spare=_spare(model, usual),
                folder=model.folder if model.folder != target else "",
            )
            decoys.append(decoy)
            kinds[decoy.key] = model.kinds
            residues[decoy.key] = sum(
                len(sequence) for _, sequence in _chains(model.decoy, sketches)
            )
            if place in wanted_names:
                renamed[decoy.key] = wanted_names[place]
    differing = not_copies(decoys, renamed, sketches) if renamed else []
    return Grouped(
        decoys=sorted(decoys),
        notes=notes,
        kinds=kinds,
        residues=residues,
        renamed=renamed_note(differing),
        ambiguous=frozenset((decoy.target, renamed[decoy.key]) for decoy in differing),
    )


def _names_of(models: Iterable[Model]) -> dict[int, list[str]]:
    """Kind → what its chains are called in most of the models that have most of them."""
    counts: dict[int, Counter[tuple[str, ...]]] = {}
    for model in models:
        of_kind: dict[int, list[str]] = {}
        for name in sorted(model.kinds):
            of_kind.setdefault(model.kinds[name], []).append(name)
        for kind, names in of_kind.items():
            counts.setdefault(kind, Counter())[tuple(names)] += 1
    usual = {}
    for kind, of_names in counts.items():
        usual[kind] = list(max(of_names, key=lambda names: (len(names), of_names[names], names)))
    return usual


def _lacking(model: Model, usual: Mapping[int, int], names: Mapping[int, list[str]]) -> str:
    """Which chains a model lacks that most models of its target have, in words; empty if it has
    them all.
    """
    copies = Counter(model.kinds.values())
    lost: list[str] = []
    for kind, n in usual.items():
        if copies[kind] < n:
            lost += names[kind][copies[kind] - n :]
    if not lost or not copies:
        return ""
    n_here = sum(min(copies[kind], n) for kind, n in usual.items())
    n_usual = sum(usual.values())
    return (
        f"of {n_usual} protein chains that most models of the target have, {n_here}: no "
        f"{', '.join(sorted(lost))}"
    )


def _spare(model: Model, usual: Mapping[int, int]) -> str:
    """Chains that a model has in more copies than most models of its target, as `partner_name`
    writes them.
    """
    copies = Counter(model.kinds.values())
    return partner_name(
        name for name, kind in model.kinds.items() if copies[kind] > usual.get(kind, math.inf)
    )


def _notes(complexes: Mapping[str, list[list[Model]]], joined: list[list[Model]]) -> list[str]:
    """Where folders and sequences do not say the same."""
    notes = []
    several = []
    for folder, of_folder in complexes.items():
        if sum(bool(models[0].kinds) for models in of_folder) > 1:
            several.append(folder)
    if several:
        n = sum(
            any(model.kinds and model.folder in several for model in models) for models in joined
        )
        numbers = any(_has_stoichiometries(complexes[folder]) for folder in several)
        notes.append(
            f"{_listed(several)} {'holds' if len(several) == 1 else 'hold'} models of {n} "
            "different complexes, as their"
            " sequences "
            f"say{' (some differ in the number of copies of a chain)' if numbers else ''}: each "
            "complex is a"
            " target"
        )
    folders_of = [{model.folder for model in models} for models in joined]
    together = [folders for folders in folders_of if len(folders) > 1]
    if together:
        targets = "one target" if len(together) == 1 else f"{len(together)} targets"
        folders = sorted(set().union(*together))
        notes.append(
            f"{_listed(folders)} hold models of the same complexes, as their sequences say: "
            f"{targets}"
        )
    return notes


def _has_stoichiometries(complexes: list[list[Model]]) -> bool:
    """Whether two complexes have the same kinds of chains, so that only the numbers of copies
    differ.
    """
    kinds = [frozenset(models[0].kinds.values()) for models in complexes if models[0].kinds]
    return len(set(kinds)) < len(kinds)


def _listed(folders: list[str]) -> str:
    """The first folders by name, in words."""
    shown = ", ".join(printable(folder) for folder in folders[:EXAMPLES])
    more = f" and {len(folders) - EXAMPLES} more" if len(folders) > EXAMPLES else ""
    return f"{'folder' if len(folders) == 1 else 'folders'} {shown}{more}"
