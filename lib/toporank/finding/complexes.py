"""Which decoys are models of one complex.

Their sequences decide; folders only name what belongs together.

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

from toporank.chains.chain import ChainSequences
from toporank.chains.immune import Pair
from toporank.chains.kinds import kinds_of, same_protein
from toporank.chains.partners import partner_name
from toporank.errors import first_of, printable
from toporank.files.printable_names import free_name, table_name
from toporank.finding.decoy_names import not_copies, renamed_note, unique_names
from toporank.finding.sequences import Sequences, Sketches
from toporank.finding.stoichiometry import (
    FLAT,
    ONE_TARGET,
    Model,
    complexes_of,
    usual_chains,
)
from toporank.programs import catalogue
from toporank.structures.identity import Decoy, DecoyKey

if TYPE_CHECKING:
    from toporank.finding.sketch import Sketch

BY_SEQUENCE, BY_FOLDER = "sequence", "folder"
"""What decides which decoys form a target."""
EXAMPLES = 3
"""Names in a note."""
GENERIC = re.compile(
    r"models?|(un)?relaxed|rank(ed)?|pred|predictions|best|top|seed|sample|idx|run|complex|cluster"
    r"|rigidbody|flexref|emref|mdref",
    re.IGNORECASE,
)
"""Parts of file names that name no complex."""
SEPARATORS = re.compile(r"[_.\s-]+")
"""Between the parts of a name."""
MOST_FOLDERS = 3
"""Folders in the name of a complex."""


Models = list[Model]
"""Those of one complex."""


class Grouped(NamedTuple):
    """Decoys with their targets.

    notes : where the folders say something else than the sequences, a sentence each.

    kinds : target and decoy → the kind of each of its chains, a number that means the same in all
        decoys.
    mutants : what `finding.mutants` says.
    molecules : where one chain name means several molecules, in a sentence.
    sketches : path → what a look into each file found.
    copies : target and decoy → the first decoy of the target that has the same atoms in the same
        places.
    renamed : that models of one name got others, a sentence.
    ambiguous : target and name of files that are called alike and differ.
    pairs : of decoys, chains that are one body.
    chains : target and decoy → name and sequence of each protein chain; decoys that cannot be read
        are left out.
    passed_over : files that look like structures, or may hold some, and are not read → why.
    of_monomers : decoys with a chain that has the same B factors in another complex.
    """

    decoys: list[Decoy]
    notes: list[str]
    kinds: dict[DecoyKey, dict[str, int]]
    sketches: Sketches
    mutants: Sequence[str] = ()
    molecules: Sequence[str] = ()
    copies: Mapping[DecoyKey, str] = MappingProxyType({})
    renamed: Sequence[str] = ()
    ambiguous: frozenset[DecoyKey] = frozenset()
    pairs: Mapping[DecoyKey, tuple[Pair, ...]] = MappingProxyType({})
    chains: Mapping[DecoyKey, ChainSequences] = MappingProxyType({})
    passed_over: Mapping[Path, str] = MappingProxyType({})
    of_monomers: frozenset[DecoyKey] = frozenset()

    def sentences(self, advice: str = "") -> list[str]:
        """All that shall be said of the decoys.

        advice : what to do where folders and sequences do not say the same, in brackets
        """
        of_folders = [f"{note}{advice}" for note in self.notes]
        return [*of_folders, *self.mutants, *self.molecules, *self.renamed]


def group(
    decoys: Iterable[Decoy],
    sketches: Sketches,
    by: str,
    folder_name: str,
    partners: Mapping[str, str] | None = None,
) -> Grouped:
    """Return the decoys of a data set with their targets, and every model of a file as a decoy.

    Two decoys of one name get different ones.

    Parameters
    ----------
    decoys : as `finding.folders.find_decoys` finds them: one for each file, its target called after
        its folder
    by : `BY_SEQUENCE` or `BY_FOLDER`
    folder_name : name of the folder with all of them, after which a complex is called that nothing
        else names
    partners : folder → partners, where a table gives them; folders with different partners stay
        apart

    Returns
    -------
    grouped : decoys with targets, copies, and sentences about what was decided
    """
    single: list[Decoy] = []
    for decoy in sorted(decoys):
        single += _models(decoy, sketches.get(decoy.path))
    sequences = Sequences(sketches)
    chains_of = [sequences.of(decoy) for decoy in single]
    different = {id(chains): chains for chains in chains_of}
    values = chain.from_iterable(chains.values() for chains in different.values())
    kinds = kinds_of(set(values))
    kinds_of_chains = {}
    for place, chains in different.items():
        named = {name: kinds[sequence] for name, sequence in chains.items()}
        kinds_of_chains[place] = named, tuple(sorted(named.values()))
    of_folders: dict[str, Models] = {}
    for decoy, chains in zip(single, chains_of, strict=True):
        model = Model(decoy, decoy.target, *kinds_of_chains[id(chains)])
        of_folders.setdefault(decoy.target, []).append(model)
    complexes = {}
    for folder, models in of_folders.items():
        times = ONE_TARGET if by == BY_FOLDER else FLAT
        complexes[folder] = complexes_of(models, times)
    joined = _joined(complexes, sequences, partners or {})
    notes = _notes(complexes, joined, by)
    if by == BY_FOLDER:
        return _grouped(complexes, notes, sketches)
    targets = {}
    for name, models in _with_names(joined, folder_name).items():
        targets[name] = [models]
    return _grouped(targets, notes + _other_copies(targets), sketches)


def _models(decoy: Decoy, sketch: Sketch | None) -> list[Decoy]:
    """A decoy for each model of a file.

    An ensemble of a single chain, which is no complex, is one decoy.
    """
    if sketch is None or decoy.refused or sketch.decoys == (0,):
        return [decoy]
    numbers: Sequence[int] = sketch.numbers
    if len(set(numbers)) < len(numbers):
        numbers = range(1, len(numbers) + 1)
    models = []
    for place, number in zip(sketch.decoys, numbers, strict=True):
        models.append(decoy._replace(name=f"{decoy.name}#{number}", model=place))
    return models


def _joined(
    complexes: Mapping[str, list[Models]],
    sequences: Sequences,
    partners: Mapping[str, str],
) -> list[Models]:
    """The complexes of all folders.

    The same complex of several folders is one, unless these have other partners.
    """
    alike: dict[tuple, list[tuple[Models, dict[int, str]]]] = {}
    for folder, of_folder in complexes.items():
        for models in of_folder:
            usual = usual_chains(models)
            longest = _longest(models, sequences)
            others = alike.setdefault(
                (tuple(sorted(usual.items())), partners.get(folder)), []
            )
            for other, of_other in others if usual else ():
                if _same_proteins(of_other, longest):
                    other += models
                    for kind, sequence in longest.items():
                        of_other[kind] = max(of_other[kind], sequence, key=_length)
                    break
            else:
                others.append((list(models), longest))
    return [models for models, _ in chain.from_iterable(alike.values())]


def _same_proteins(first: Mapping[int, str], second: Mapping[int, str]) -> bool:
    """Whether each chain of one complex has a chain of the other without a single exchange.

    Mutants have exchanges.

    first, second : the longest sequence of each kind
    """
    if first.keys() != second.keys():
        return False
    return all(same_protein(first[kind], second[kind]) for kind in first)


def _longest(models: Models, sequences: Sequences) -> dict[int, str]:
    """Kind → the longest sequence of it; of equally long ones the last in order of letters."""
    alike: dict[int, Model] = {}
    for model in models:
        alike.setdefault(id(model.kinds), model)
    different: dict[int, set[str]] = {}
    for model in alike.values():
        for name, sequence in sequences.of(model.decoy).items():
            different.setdefault(model.kinds[name], set()).add(sequence)
    return {kind: max(of_kind, key=_length) for kind, of_kind in different.items()}


def _length(sequence: str) -> tuple[int, str]:
    return len(sequence), sequence


def _with_names(complexes: list[Models], folder_name: str) -> dict[str, Models]:
    """Name of each target → its models.

    Of the two names of `_names_of_complex` the second counts where others have the first, too, and
    numbers tell apart what would still be called alike.
    """
    n_complexes = Counter(chain.from_iterable(map(_folders, complexes)))
    short_names, long_names = [], []
    for models in complexes:
        short, longer = _names_of_complex(models, n_complexes)
        short_names.append(short or folder_name)
        long_names.append(longer or folder_name)
    targets: dict[str, Models] = {}
    n_called_so = Counter(short_names)
    numbers: dict[str, int] = {}
    for short, longer, models in zip(short_names, long_names, complexes, strict=True):
        name = table_name(short if n_called_so[short] == 1 else longer)
        targets[table_name(free_name(name, targets, numbers))] = models
    return targets


def _names_of_complex(
    models: Models, n_complexes: Mapping[str, int]
) -> tuple[str, str]:
    """What a complex may be called, in short and with all that tells it from others.

    It is called after its folders if nothing else is in them, otherwise after what its files have
    in common, with the folder in front where several have the same. Where they share nothing but
    the name of a program, the folder is part of the short name, too. Empty where nothing names it.

    n_complexes : folder → number of complexes in it
    """
    folders = _folders(models)
    of_folders = common_name(folders)
    is_alone = all(n_complexes[folder] == 1 for folder in folders)
    if is_alone and of_folders:
        return of_folders, of_folders
    files = sorted({_name_of_file(model.decoy) for model in models})
    of_files = common_name(files)
    longer = common_name(files, numbers=True)
    if len(n_complexes) > 1 and not longer.startswith(of_folders):
        longer = "_".join(filter(None, [of_folders, longer]))
    if is_alone and not longer and len(n_complexes) > len(folders):
        longer = "_".join(folders[:MOST_FOLDERS])
    if not of_files or catalogue.names_a_program(of_files):
        return longer, longer
    return of_files, longer


def _name_of_file(decoy: Decoy) -> str:
    """The name of a file as far as it may name a complex: the query where it begins with one."""
    name = decoy.name.partition("#")[0]
    return catalogue.first_group("query", name) or name


def _folders(models: Iterable[Model]) -> list[str]:
    """The folders of models, in order."""
    return sorted({model.folder for model in models})


def common_name(names: list[str], numbers: bool = False) -> str:
    """Return the parts that all names share, but for those that name no complex.

    It is empty if they share nothing.

    Parameters
    ----------
    numbers : whether a number may name a complex, such as in `fold_a_1`

    >>> common_name(["af2_7ACV", "boltz_7ACV_model_0"]), common_name(["7ACV_best"])
    ('7ACV', '7ACV_best')
    """
    if len(names) == 1:
        return names[0]
    parts = SEPARATORS.split(names[0])
    shared = set(parts) - {""}
    for name in names:
        if not shared:
            return ""
        shared.intersection_update(SEPARATORS.split(name))
    telling = []
    for part in sorted(shared, key=parts.index):
        is_number = part.isdecimal() and not numbers
        if not is_number and not GENERIC.fullmatch(part):
            telling.append(part)
    return "_".join(telling)


def _grouped(
    targets: Mapping[str, list[Models]], notes: list[str], sketches: Sketches
) -> Grouped:
    """The decoys with target and name, sorted, and what they lack or have more than the others.

    targets : with the models of each complex, which are compared with each other alone.
    """
    decoys: list[Decoy] = []
    kinds: dict[DecoyKey, dict[str, int]] = {}
    pairs: dict[DecoyKey, tuple[Pair, ...]] = {}
    chains: dict[DecoyKey, ChainSequences] = {}
    renamed: dict[DecoyKey, str] = {}
    for target, complexes in targets.items():
        decoy_names, wanted_names = unique_names([*chain.from_iterable(complexes)])
        place = -1
        for models in complexes:
            usual = usual_chains(models)
            names_of_kinds = _names_of(models)
            # models with the same chains have one object with their kinds
            differences: dict[int, tuple[str, str]] = {}
            for model in models:
                place += 1
                if id(model.kinds) not in differences:
                    differences[id(model.kinds)] = (
                        _lacking(model, usual, names_of_kinds),
                        _spare(model, usual),
                    )
                lacks, spare = differences[id(model.kinds)]
                found, name = model.decoy, decoy_names[place]
                decoy = Decoy(
                    found.dataset,
                    target,
                    name,
                    found.path,
                    found.refused,
                    found.model,
                    found.refused_as,
                    lacks,
                    spare,
                    folder=model.folder if model.folder != target else "",
                )
                decoys.append(decoy)
                key = target, name
                kinds[key] = model.kinds
                sketch = sketches.get(found.path)
                if sketch:
                    of_model = sketch.of_model(found.model)
                    chains[key] = of_model.chains
                    if of_model.pairs:
                        pairs[key] = of_model.pairs
                if place in wanted_names:
                    renamed[key] = wanted_names[place]
    differing = not_copies(decoys, renamed, sketches) if renamed else []
    return Grouped(
        decoys=sorted(decoys),
        notes=notes,
        kinds=kinds,
        sketches=sketches,
        pairs=pairs,
        chains=chains,
        renamed=renamed_note(differing),
        ambiguous=frozenset((decoy.target, renamed[decoy.key]) for decoy in differing),
    )


def _names_of(models: Models) -> dict[int, tuple[str, ...]]:
    """Kind → what its chains are called in most of the models that have most of them."""
    counts: dict[int, Counter[tuple[str, ...]]] = {}
    n_models_of = Counter(id(model.kinds) for model in models)
    kinds_by_place = {id(model.kinds): model.kinds for model in models}
    for place, n_models in n_models_of.items():
        of_kind: dict[int, list[str]] = {}
        for name, kind in sorted(kinds_by_place[place].items()):
            of_kind.setdefault(kind, []).append(name)
        for kind, names in of_kind.items():
            counts.setdefault(kind, Counter())[tuple(names)] += n_models
    usual = {}
    for kind, n_with in counts.items():
        usual[kind] = max(n_with, key=lambda names: (len(names), n_with[names], names))
    return usual


def _lacking(
    model: Model, usual: Mapping[int, int], names: Mapping[int, tuple[str, ...]]
) -> str:
    """Which chains a model lacks that most models of its target have, in words.

    The text is empty if it has them all.
    """
    copies = Counter(model.kinds.values())
    lost: list[str] = []
    for kind, n in usual.items():
        lost += names[kind][len(names[kind]) - max(n - copies[kind], 0) :]
    if not lost or not copies:
        return ""
    n_usual = sum(usual.values())
    return (
        f"of {n_usual} protein chains that most models of the target have, {n_usual - len(lost)}: "
        f"no {', '.join(sorted(lost))}"
    )


def _spare(model: Model, usual: Mapping[int, int]) -> str:
    """Chains that a model has in more copies than most models of its target.

    They are written as `partner_name` writes them.
    """
    copies = Counter(model.kinds.values())
    spare = []
    for name, kind in model.kinds.items():
        if copies[kind] > usual.get(kind, math.inf):
            spare.append(name)
    return partner_name(spare)


def _notes(
    complexes: Mapping[str, list[Models]], joined: list[Models], by: str
) -> list[str]:
    """Where folders and sequences do not say the same.

    joined : the complexes of all folders.
    """
    notes = []
    several = []
    differ_in_copies = False
    for folder, of_folder in complexes.items():
        kinds = [
            frozenset(models[0].kinds.values())
            for models in of_folder
            if models[0].kinds
        ]
        if len(kinds) > 1:
            several.append(folder)
            differ_in_copies = differ_in_copies or len(set(kinds)) < len(kinds)
    together: list[list[str]] = []
    n_complexes = 0
    for models in joined:
        folders = _folders(models)
        if len(folders) > 1:
            together.append(folders)
        if models[0].kinds and not set(several).isdisjoint(folders):
            n_complexes += 1
    if several:
        numbers = (
            " (some differ in the number of copies of a chain)"
            if differ_in_copies
            else ""
        )
        target = "complex" if by == BY_SEQUENCE else "folder"
        notes.append(
            f"{_listed(several)} {'holds' if len(several) == 1 else 'hold'} models of "
            f"{n_complexes} different complexes, as their sequences say{numbers}: each {target} "
            "is a target"
        )
    if together and by == BY_SEQUENCE:
        targets = "one target" if len(together) == 1 else f"{len(together)} targets"
        notes.append(
            f"{_listed(sorted(set().union(*together)))} hold models of the same complexes, as "
            f"their sequences say: {targets}"
        )
    return notes


def _other_copies(targets: Mapping[str, list[Models]]) -> list[str]:
    """Which targets have the same chains in other numbers of copies, in other folders: a sentence.

    Where they lie in one folder, `_notes` says so.
    """
    alike: dict[frozenset[int], dict[str, dict[int, int]]] = {}
    folders_of: dict[str, set[str]] = {}
    for target, [models] in targets.items():
        usual = usual_chains(models)
        folders_of[target] = set(_folders(models))
        if usual:
            alike.setdefault(frozenset(usual), {})[target] = usual
    differing = []
    for of_kinds in alike.values():
        names = list(of_kinds)
        numbers = {tuple(sorted(usual.items())) for usual in of_kinds.values()}
        if len(numbers) > 1 and not set.intersection(
            *(folders_of[name] for name in names)
        ):
            differing.append(of_kinds)
    if not differing:
        return []
    words = []
    for target, usual in differing[0].items():
        copies = ":".join(str(usual[kind]) for kind in sorted(usual))
        words.append(f"{printable(target)} {copies}")
    others = len(differing) - 1
    so_too = f"; so it is with {others} more" if others else ""
    return [
        f"{first_of(words, EXAMPLES)}: the same chains in different numbers of copies, "
        f"each a target of its own{so_too}"
    ]


def _listed(folders: list[str]) -> str:
    """The first folders by name, in words."""
    shown = first_of([*map(printable, folders)], EXAMPLES)
    return f"folder{'s' * (len(folders) > 1)} {shown}"
