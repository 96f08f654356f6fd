"""Which models of a folder are of one complex, by the kinds of their chains and the number of
copies of each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from toporank.structures.identity import Decoy

FLAT = 4
"""How many times as many models need to be complete before one that lies beside them in the folder
lacks a chain, or has one too many; otherwise it is another complex.
"""


class Model(NamedTuple):
    """A decoy before it has its target. folder : that its path says. kinds : of its chains by
    name.
    """

    decoy: Decoy
    folder: str
    kinds: dict[str, int]


Copies = tuple[tuple[int, int], ...]
"""Kinds of chains and the number of copies of each, sorted."""


def complexes_of(models: list[Model]) -> list[list[Model]]:
    """The models of a folder, those of one complex together, the most frequent complex first.

    Models with the same kinds of chains in the same numbers of copies are of one complex. Where
    another complex is much more frequent, models that lack chains of it, or have further copies of
    some, are of this one: see `_is_broken`.
    """
    parts: dict[Copies, list[Model]] = {}
    for model in models:
        parts.setdefault(tuple(sorted(Counter(model.kinds.values()).items())), []).append(model)
    unknown = parts.pop((), [])
    _join_single_chains(parts)
    whole: list[Copies] = []
    having: dict[int, list[Copies]] = {}
    for copies in sorted(parts, key=lambda copies: (-len(parts[copies]), -len(copies), copies)):
        others = min((having.get(kind, []) for kind, _ in copies), key=len)
        n = len(parts[copies])
        home = next(
            (
                other
                for other in others
                if _is_broken(dict(copies), n, dict(other), len(parts[other]))
            ),
            None,
        )
        if home is not None:
            parts[home] += parts.pop(copies)
            continue
        whole.append(copies)
        for kind, _ in copies:
            having.setdefault(kind, []).append(copies)
    found = [parts[copies] for copies in whole]
    if len(found) < 2:
        return [[model for own in found for model in own] + unknown]
    return [*found, *([model] for model in unknown)]


def _join_single_chains(parts: dict[Copies, list[Model]]) -> None:
    """Models of one chain by itself are of the most frequent complex of copies of it, if there is
    one.
    """
    for copies in [copies for copies in parts if sum(n for _, n in copies) == 1]:
        kind = copies[0][0]
        oligomers = [
            other for other in parts if other != copies and [k for k, _ in other] == [kind]
        ]
        if oligomers:
            home = max(oligomers, key=lambda other: (len(parts[other]), other))
            parts[home] += parts.pop(copies)


def _is_broken(own: Mapping[int, int], n: int, usual: Mapping[int, int], n_usual: int) -> bool:
    """Whether n models are of a complex of n_usual models, without some of its chains or with
    further copies.

    A single chain of a complex is broken, and so are few models among many. Others are complexes of
    their own. So are those that have all chains of it in the same proportions, 1:1 beside 2:2 or
    two copies beside four, but not three beside four: whoever compares stoichiometries predicts
    both.

    own, usual : their chains, kind → number of copies.
    """
    lacks = own.keys() <= usual.keys() and all(own[kind] <= usual[kind] for kind in own)
    has_more = own.keys() == usual.keys() and all(own[kind] >= usual[kind] for kind in own)
    if lacks and sum(own.values()) == 1:
        return True
    if not (lacks or has_more) or FLAT * n > n_usual:
        return False
    if own.keys() != usual.keys():
        return True
    ratios = {max(own[kind], usual[kind]) / min(own[kind], usual[kind]) for kind in own}
    in_proportion = len(ratios) == 1 and (len(own) > 1 or max(ratios).is_integer())
    return not in_proportion


def usual_chains(models: Iterable[Model]) -> dict[int, int]:
    """Kind → copies that more than half of the models have; kinds that fewer models have are left
    out.

    Models of a single chain count only where there are no others: a single chain is no complex.
    """
    counts = [Counter(model.kinds.values()) for model in models if model.kinds]
    counts = [count for count in counts if count.total() > 1] or counts
    kinds = {kind for count in counts for kind in count}
    usual = {
        kind: sorted((count[kind] for count in counts), reverse=True)[len(counts) // 2]
        for kind in kinds
    }
    return {kind: n for kind, n in usual.items() if n}
