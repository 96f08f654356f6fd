"""Which decoys are models of one complex. Their sequences decide; folders only name what belongs together.

A folder may hold the best models of forty pairs of proteins, and the models of one complex may lie in the folders of
four predictors. Chains of nearly the same sequence are of one kind, whatever they are called; models with the same
kinds of chains, in the same numbers of copies, are of one complex.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from toporank.errors import printable
from toporank.inputs.decoy_names import Key, Sketches, not_copies, renamed_note, unique_names
from toporank.inputs.kinds import kinds_of, same_protein
from toporank.inputs.stoichiometry import Model, complexes_of, usual_chains
from toporank.structures.identity import Decoy, free_name, table_name
from toporank.structures.immune import Pair
from toporank.structures.partners import EACH_CHAIN, parse_partners, partner_name, partners_text

if TYPE_CHECKING:
    from toporank.structures.sketch import Sketch

BY_SEQUENCE, BY_FOLDER = "sequence", "folder"
"""What decides which decoys form a target."""
EXAMPLES = 3
"""Names in a note."""
GENERIC = {
    *("model", "models", "rank", "ranked", "relaxed", "unrelaxed", "pred", "predictions", "best", "top", "seed"),
    *("sample", "idx", "run", "complex", "cluster", "rigidbody", "flexref", "emref", "mdref"),
}
"""Parts of file names that name no complex."""


class Grouped(NamedTuple):
    """Decoys with their targets. notes : where the folders say something else than the sequences, a sentence each.

    kinds : target and decoy → the kind of each of its chains, a number that means the same in all decoys.
    residues : target and decoy → number of residues in these chains. mutants : what `inputs.mutants` says.
    molecules : where one chain name stands for several molecules, in a sentence.
    contents : path → SHA-256 of each file that could be looked into. copies : target and decoy → the first decoy of the
    target that has the same atoms in the same places. renamed : that models of one name got others, a sentence.
    ambiguous : target and name of files that are called alike and differ. pairs : of decoys, chains that are one body.
    chains : target and decoy → name and sequence of each protein chain; decoys that cannot be read are left out.
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


def group(
    decoys: Iterable[Decoy],
    sketches: Sketches,
    by: str,
    given: str,
    partners: Mapping[str, str] | None = None,
    jobs: Mapping[str, str] | None = None,
) -> Grouped:
    """The decoys of a data set with their targets, and every model of a file as a decoy.

    Two decoys of one name get different ones.

    Parameters
    ----------
    decoys : as `inputs.folders.find_decoys` finds them: one for each file, its target called after its folder
    by : `BY_SEQUENCE` or `BY_FOLDER`
    given : name of the folder with all of them, after which a complex is called that nothing else names
    partners : folder → partners, where a table gives them; folders with different partners stay apart
    jobs : folder → the archive that it was in: each archive is a job, and stays apart from all else
    """
    single = [one for decoy in sorted(decoys) for one in _models(decoy, sketches.get(decoy.path))]
    kinds = kinds_of({sequence for decoy in single for _, sequence in _chains(decoy, sketches)})
    models = [Model(decoy, decoy.target, {n: kinds[s] for n, s in _chains(decoy, sketches)}) for decoy in single]
    of_folders: dict[str, list[Model]] = {}
    for model in models:
        of_folders.setdefault(model.folder, []).append(model)
    if by == BY_FOLDER:
        return _grouped({folder: [own] for folder, own in of_folders.items()}, [], sketches)
    parts = {folder: complexes_of(own) for folder, own in of_folders.items()}
    apart = {folder: ((partners or {}).get(folder), (jobs or {}).get(folder)) for folder in parts}
    joined = _joined(parts, sketches, apart)
    return _grouped(_with_names(joined, given), _notes(parts, joined), sketches)


def _models(decoy: Decoy, seen: Sketch | None) -> list[Decoy]:
    """A decoy for each model of a file; one for an ensemble of a single chain, which is no complex."""
    if seen is None or decoy.refused or len(seen.models) < 2 or len(seen.chains) < 2:
        return [decoy]
    numbers = seen.models if len(set(seen.models)) == len(seen.models) else range(1, len(seen.models) + 1)
    return [decoy._replace(name=f"{decoy.name}#{k}", model=place) for place, k in enumerate(numbers, 1)]


def _chains(decoy: Decoy, sketches: Sketches) -> tuple[tuple[str, str], ...]:
    seen = sketches.get(decoy.path)
    return seen.of_model(decoy.model) if seen else ()


def _joined(
    parts: Mapping[str, list[list[Model]]], sketches: Sketches, apart: Mapping[str, tuple]
) -> list[list[Model]]:
    """The complexes of all folders; the same complex of several folders is one, unless these differ in `apart`."""
    found: dict[tuple, list[list[Model]]] = {}
    for folder, complexes in parts.items():
        for models in complexes:
            alike = found.setdefault((tuple(sorted(usual_chains(models).items())), apart[folder]), [])
            same = [one for one in alike if usual_chains(models) and _same_proteins(one, models, sketches)]
            if same:
                same[0] += models
            else:
                alike.append(list(models))
    return [models for alike in found.values() for models in alike]


def _same_proteins(one: list[Model], other: list[Model], sketches: Sketches) -> bool:
    """Whether each chain of one complex has a chain of the other without a single exchange: no mutant."""
    first, second = (_longest(models, sketches) for models in (one, other))
    return first.keys() == second.keys() and all(same_protein(first[kind], second[kind]) for kind in first)


def _longest(models: list[Model], sketches: Sketches) -> dict[int, str]:
    """Kind → the longest sequence of it; of equally long ones the last in order of letters."""
    found: dict[int, str] = {}
    for decoy, _, kinds in models:
        for name, sequence in _chains(decoy, sketches):
            found[kinds[name]] = max(found.get(kinds[name], ""), sequence, key=lambda s: (len(s), s))
    return found


def _with_names(complexes: list[list[Model]], given: str) -> dict[str, list[list[Model]]]:
    """Name of each target → its models.

    A complex is called after its folder if nothing else is in it, otherwise after what its folders or its files have in
    common, if anything, with numbers where two would be called alike, or after the folder that was given.
    """
    n_complexes = Counter(folder for models in complexes for folder in {model.folder for model in models})
    names = []  # of each complex: one name, or a shorter and a longer one
    for models in complexes:
        folders = sorted({model.folder for model in models})
        alone = [folder for folder in folders if n_complexes[folder] == 1]
        files = sorted({model.decoy.name.partition("#")[0] for model in models})
        if len(folders) == 1 and alone:
            own = [folders[0]]
        else:
            of_folders = common_name(alone) if len(alone) == len(folders) else ""
            own = [of_folders] if of_folders else [common_name(files), common_name(files, numbers=True)]
        names.append([name or given for name in own])
    plain = Counter(own[0] for own in names)
    found: dict[str, list[list[Model]]] = {}
    for own, models in zip(names, complexes, strict=True):
        name = own[0] if plain[own[0]] == 1 else own[-1]
        found[table_name(free_name(table_name(name), found))] = [models]
    return found


def common_name(names: list[str], numbers: bool = False) -> str:
    """The parts that all names share, but for those that name no complex; empty if they share none.

    numbers : whether a number may name a complex, such as in `fold_a_1`.

    >>> common_name(["af2_7ACV", "boltz_7ACV_model_0"]), common_name(["7ACV_best"]), common_name(["one", "two"])
    ('7ACV', '7ACV_best', '')
    """
    if len(names) == 1:
        return names[0]
    parts = [re.split(r"[_.\s-]+", name) for name in names]
    shared = [part for part in dict.fromkeys(parts[0]) if part and all(part in other for other in parts[1:])]
    telling = [part for part in shared if part.lower() not in GENERIC and (numbers or not part.isdecimal())]
    return "_".join(telling)


def _grouped(targets: Mapping[str, list[list[Model]]], notes: list[str], sketches: Sketches) -> Grouped:
    """The decoys with target, name, and what they lack or have more than the others; sorted."""
    decoys: list[Decoy] = []
    kinds: dict[Key, dict[str, int]] = {}
    residues: dict[Key, int] = {}
    renamed: dict[Key, str] = {}
    for target, complexes in targets.items():
        models = [model for own in complexes for model in own]
        usual, names = usual_chains(models), _names_of(models)
        names_here, in_need = unique_names(models)
        for place, (model, name) in enumerate(zip(models, names_here, strict=True)):
            lacks, spare = _lacking(model, usual, names), _spare(model, usual)
            folder = model.folder if model.folder != target else ""
            decoy = model.decoy._replace(target=target, name=name, lacks=lacks, spare=spare, folder=folder)
            decoys.append(decoy)
            kinds[decoy.key] = model.kinds
            residues[decoy.key] = sum(len(sequence) for _, sequence in _chains(model.decoy, sketches))
            if place in in_need:
                renamed[decoy.key] = in_need[place]
    differing = not_copies(decoys, renamed, sketches) if renamed else []
    ambiguous = frozenset((decoy.target, renamed[decoy.key]) for decoy in differing)
    about_names = renamed_note(differing)
    return Grouped(sorted(decoys), notes, kinds, residues, renamed=about_names, ambiguous=ambiguous)


def _names_of(models: Iterable[Model]) -> dict[int, list[str]]:
    """Kind → what its chains are called in most of the models that have most of them."""
    called: dict[int, Counter[tuple[str, ...]]] = {}
    for model in models:
        for kind in set(model.kinds.values()):
            own = tuple(sorted(name for name, other in model.kinds.items() if other == kind))
            called.setdefault(kind, Counter())[own] += 1
    return {kind: list(max(own, key=lambda names: (len(names), own[names], names))) for kind, own in called.items()}


def _lacking(model: Model, usual: Mapping[int, int], names: Mapping[int, list[str]]) -> str:
    """Which chains a model lacks that most models of its target have, in words; empty if it has them all."""
    own = Counter(model.kinds.values())
    less = {kind: n - own[kind] for kind, n in usual.items() if own[kind] < n}
    if not less or not own:
        return ""
    lost = [name for kind, n in less.items() for name in names[kind][-n:]]
    usually, here = sum(usual.values()), sum(min(own[kind], n) for kind, n in usual.items())
    return f"of {usually} protein chains that most models of the target have, {here}: no {', '.join(sorted(lost))}"


def _spare(model: Model, usual: Mapping[int, int]) -> str:
    """Chains that a model has in more copies than most models of its target, as `partner_name` writes them."""
    own = Counter(model.kinds.values())
    return partner_name(name for name, kind in model.kinds.items() if own[kind] > usual.get(kind, math.inf))


def _notes(parts: Mapping[str, list[list[Model]]], joined: list[list[Model]]) -> list[str]:
    """Where folders and sequences do not say the same."""
    several = [folder for folder, complexes in parts.items() if sum(bool(m[0].kinds) for m in complexes) > 1]
    together = [sorted({model.folder for model in models}) for models in joined]
    together = [folders for folders in together if len(folders) > 1]
    notes = []
    if several:
        n = sum(any(model.kinds and model.folder in several for model in models) for models in joined)
        numbers = any(_has_stoichiometries(parts[folder]) for folder in several)
        notes.append(
            f"{_listed(several)} {'holds' if len(several) == 1 else 'hold'} models of {n} different complexes, as their"
            f" sequences say{' (some differ in the number of copies of a chain)' if numbers else ''}: each complex is a"
            " target"
        )
    if together:
        folders = sorted({folder for one in together for folder in one})
        targets = "one target" if len(together) == 1 else f"{len(together)} targets"
        notes.append(f"{_listed(folders)} hold models of the same complexes, as their sequences say: {targets}")
    return notes


def _has_stoichiometries(complexes: list[list[Model]]) -> bool:
    """Whether two complexes have the same kinds of chains, so that only the numbers of copies differ."""
    kinds = [frozenset(models[0].kinds.values()) for models in complexes if models[0].kinds]
    return len(set(kinds)) < len(kinds)


def _listed(folders: list[str]) -> str:
    """The first folders by name, in words."""
    shown = ", ".join(printable(folder) for folder in folders[:EXAMPLES])
    more = f" and {len(folders) - EXAMPLES} more" if len(folders) > EXAMPLES else ""
    return f"{'folder' if len(folders) == 1 else 'folders'} {shown}{more}"


class _Said(NamedTuple):
    """Partners that were given for some decoys of a target. named : their chains. able : the decoys that have all of
    these. example : the decoy whose names they are.
    """

    text: str
    named: tuple[str, ...]
    decoys: list[Key]
    able: list[Key]
    example: Key


def _said(partners: Mapping[Key, str], grouped: Grouped) -> list[_Said]:
    """What was given, each with the decoy whose names count: of those that have all, the one after which
    `comparing.correspondence` calls the chains of the target, and so do hints and tables.
    """
    together: dict[tuple[str, str], list[Key]] = {}
    for key, text in partners.items():
        if text != EACH_CHAIN:
            together.setdefault((key[0], text), []).append(key)
    found = []
    for (_, text), keys in together.items():
        named = tuple(chain for partner in parse_partners(text) for chain in partner)
        if able := [key for key in keys if all(chain in grouped.kinds.get(key, {}) for chain in named)]:
            example = min(able, key=lambda key: (-len(grouped.kinds[key]), -grouped.residues[key], key))
            found.append(_Said(text, named, keys, able, example))
    return found


def partners_of_each(partners: Mapping[Key, str], grouped: Grouped) -> dict[Key, str]:
    """The partners of each decoy by the chains of its own file.

    A user names chains as some models call them. In a model that calls them otherwise they are the chains of the same
    kind; of several copies, those at the same place among them. partners : target and decoy → partners as given.
    """
    found = {key: "" if text == EACH_CHAIN else text for key, text in partners.items()}
    for said in _said(partners, grouped):
        for key in said.decoys:
            found[key] = _translated(said, grouped.kinds[said.example], grouped.kinds.get(key, {}))
    return found


def called_otherwise(partners: Mapping[Key, str], grouped: Grouped) -> list[str]:
    """Where models have the names of partners for other chains, a sentence each. partners : as they were given."""
    kinds, notes = grouped.kinds, []
    for said in _said(partners, grouped):
        meant = [kinds[said.example][chain] for chain in said.named]
        if other := [key for key in said.able if [kinds[key][chain] for chain in said.named] != meant]:
            first = other[0]
            many = f"{first[1]} has" if len(other) == 1 else f"{len(other)} models, such as {first[1]}, have"
            there = _translated(said, kinds[said.example], kinds[first])
            notes.append(
                f"partners {said.text} are chains of {printable(said.example[1])}; {printable(many)} these names for"
                f" other chains: there they are {there}"
            )
    return notes


def _translated(said: _Said, kinds: Mapping[str, int], own: Mapping[str, int]) -> str:
    """Partners of a model with chains of these kinds in the names of another; unchanged if that lacks a chain."""
    if all(own.get(chain) == kinds[chain] for chain in said.named):
        return said.text
    chains: dict[str, str] = {}
    for chain in said.named:
        place = [name for name, kind in kinds.items() if kind == kinds[chain]].index(chain)
        copies = [name for name, kind in own.items() if kind == kinds[chain]]
        if place >= len(copies):
            return said.text
        chains[chain] = copies[place]
    partners = (tuple(sorted(chains[chain] for chain in partner)) for partner in parse_partners(said.text))
    return partners_text(tuple(sorted(partners)))
