"""Which models of a folder are of one complex.

The kinds of their chains and the number of copies of each decide.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable
from statistics import median_low
from typing import NamedTuple

from toporank.structures.identity import Decoy

FLAT = 4
"""How many times as many models need to be complete before one that lies beside them in the folder
lacks a chain, or has one too many; otherwise it is another complex.
"""
ONE_TARGET = 1
"""The same where somebody says that a folder is one target: more of them are enough."""


class Model(NamedTuple):
    """A decoy without its target.

    folder : that its path says. kinds : of chains by name. sorted_kinds : the same without names.
    """

    decoy: Decoy
    folder: str
    kinds: dict[str, int]
    sorted_kinds: tuple[int, ...]


Copies = tuple[tuple[int, int], ...]
"""Kinds of chains and the number of copies of each, sorted."""


def complexes_of(models: list[Model], times: int = FLAT) -> list[list[Model]]:
    """Return the models of a folder by complex, the most frequent complex first.

    Models with the same kinds of chains in the same numbers of copies are of one complex. Where
    another complex is much more frequent, models that lack chains of it, or have further copies of
    some, are of this one: see `_is_broken`.

    times : how many times as many models the other one needs at least; more than as many.
    """
    alike: dict[tuple[int, ...], list[Model]] = {}
    for model in models:
        alike.setdefault(model.sorted_kinds, []).append(model)
    parts: dict[Copies, list[Model]] = {}
    for kinds, of_kinds in alike.items():
        parts[tuple(sorted(Counter(kinds).items()))] = of_kinds
    unknown = parts.pop((), [])
    _join_single_chains(parts)
    whole: dict[Copies, list[Model]] = {}
    having: dict[int, list[Copies]] = {}
    for copies in sorted(
        parts, key=lambda copies: (-len(parts[copies]), -len(copies), copies)
    ):
        others_with_kind = [having.setdefault(kind, []) for kind, _ in copies]
        for other in min(others_with_kind, key=len):
            n, n_other = len(parts[copies]), len(whole[other])
            is_rare = n_other >= times * n and n_other > n
            if _is_broken(Counter(dict(copies)), Counter(dict(other)), is_rare):
                whole[other] += parts[copies]
                break
        else:
            whole[copies] = parts[copies]
            for others in others_with_kind:
                others.append(copies)
    if len(whole) < 2:
        return [[*itertools.chain(*whole.values()), *unknown]]
    return [*whole.values(), *([model] for model in unknown)]


def _join_single_chains(parts: dict[Copies, list[Model]]) -> None:
    """Models of one chain are of the most frequent complex of copies of it, if any."""
    oligomers: dict[int, list[Copies]] = {}
    for copies in parts:
        kind, n = copies[0]
        if len(copies) == 1 and n > 1:
            oligomers.setdefault(kind, []).append(copies)
    for kind, others in oligomers.items():
        home = max(others, key=lambda other: (len(parts[other]), other))
        parts[home] += parts.pop(((kind, 1),), [])


def _is_broken(counts: Counter[int], usual: Counter[int], is_rare: bool) -> bool:
    """Whether models are of another complex.

    They lack some of its chains, or have further copies.

    A single chain of a complex is broken, and so are few models among many. Others are complexes of
    their own. So are those that have all chains of it in the same proportions, 1:1 beside 2:2 or
    two copies beside four, but not three beside four: whoever compares stoichiometries predicts
    both.

    counts, usual : their chains and those of the other complex, kind → number of copies. is_rare :
    whether they are few beside the others.
    """
    same_kinds = counts.keys() == usual.keys()
    if counts <= usual and counts.total() == 1:
        return True
    if not is_rare or not (counts <= usual or (same_kinds and counts >= usual)):
        return False
    if not same_kinds:
        return True
    ratios = set()
    for kind in counts:
        smaller, larger = sorted((counts[kind], usual[kind]))
        ratios.add(larger / smaller)
    in_proportion = len(ratios) == 1 and (len(counts) > 1 or max(ratios).is_integer())
    return not in_proportion


def usual_chains(models: Iterable[Model]) -> dict[int, int]:
    """Return kind → copies that more than half of the models have.

    Kinds that fewer models have are left out.

    Models of a single chain count only where there are no others: a single chain is no complex.
    """
    n_models = Counter(model.sorted_kinds for model in models)
    del n_models[()]
    counts = {kinds: Counter(kinds) for kinds in n_models}
    several = [kinds for kinds in counts if len(kinds) > 1] or list(counts)
    usual = {}
    for kind in sorted(set().union(*several)):
        of_models: list[int] = []
        for kinds in several:
            of_models += [counts[kinds][kind]] * n_models[kinds]
        n = median_low(of_models)
        if n:
            usual[kind] = n
    return usual
