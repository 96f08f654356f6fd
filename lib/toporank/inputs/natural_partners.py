"""The partners of decoys where nothing is said: chains that are one body by nature are one partner.

What belongs together is decided for a target, by all of its models: in a bad model the two chains of an antibody may
lie apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping

from toporank.inputs.complexes import Grouped, Key
from toporank.structures.immune import PEPTIDE, Pair, bodies_of
from toporank.structures.partners import parse_partners, partners_text

MOST_SENTENCES = 3
Kinds = tuple[str, int, int]
"""What a pair is, and the kinds of its chains."""


def natural_partners(grouped: Grouped) -> dict[Key, str]:
    """Target and decoy → its partners by nature, by the chains of its own file; without those whose chains are all one.

    Chains of two kinds belong together in all models of a target if they do so in half of those that have both, or
    more.
    """
    belonging = _belonging(grouped)
    partners: dict[Key, str] = {}
    of_target: dict[str, set[str]] = {}
    parts: list[Key] = []
    for key, chains in grouped.kinds.items():
        kinds = belonging.get(key[0])
        pairs = _pairs(chains, grouped.pairs.get(key, ()), kinds) if kinds else []
        if bodies := bodies_of(chains, pairs):
            partners[key] = partners_text(bodies)
            of_target.setdefault(key[0], set()).add(partners[key])
        elif pairs:
            parts.append(key)
    for key in parts:  # a model of the antibody alone lacks what other models have
        if texts := of_target.get(key[0]):
            partners[key] = max(sorted(texts), key=lambda text: _n_named(text, grouped.kinds[key]))
    return partners


def _n_named(partners: str, chains: Container[str]) -> int:
    """How many of the chains that partners name a model has."""
    return sum(chain in chains for partner in parse_partners(partners) for chain in partner)


def _belonging(grouped: Grouped) -> dict[str, set[Kinds]]:
    """Target → the kinds of chains that belong together in its models."""
    together: dict[str, Counter[Kinds]] = {}
    for key, pairs in grouped.pairs.items():
        chains = grouped.kinds[key]
        together.setdefault(key[0], Counter()).update({_kinds(pair, chains) for pair in pairs})
    could: dict[str, Counter[Kinds]] = {}
    for (target, _), chains in ((key, set(kinds.values())) for key, kinds in grouped.kinds.items()):
        both = (kinds for kinds in together.get(target, ()) if chains.issuperset(kinds[1:]))
        could.setdefault(target, Counter()).update(both)
    return {
        target: {kinds for kinds, n in counts.items() if 2 * n >= could[target][kinds]}
        for target, counts in together.items()
    }


def _kinds(pair: Pair, chains: Mapping[str, int]) -> Kinds:
    both = [chains[pair.first], chains[pair.second]]
    return pair.what, *(both if pair.what == PEPTIDE else sorted(both))


def _pairs(chains: Mapping[str, int], seen: Iterable[Pair], belonging: Iterable[Kinds]) -> list[Pair]:
    """The pairs of a model: those that are seen in it and, of the chains that are left, those that belong together.

    chains : of the model, with their kinds. Of several copies that are left, the first two are a pair, and so on.
    """
    belonging = sorted(belonging)
    pairs = [pair for pair in seen if _kinds(pair, chains) in belonging]
    for what, first, second in belonging:
        if first == second:  # nothing says which copies
            continue
        paired = {name for pair in pairs if pair.what == what for name in pair[1:]}
        free = [[name for name, kind in chains.items() if kind == k and name not in paired] for k in (first, second)]
        pairs += [Pair(what, *both) for both in zip(*free, strict=False)]
    return pairs


def lines_of_targets(targets: Mapping[str, list[str]]) -> list[str]:
    """A line for each of the first sentences, with the targets that it is about. targets : sentence → its targets.

    >>> lines_of_targets({"A and B are an antibody": ["T", "U", "V"]})
    ['T and 2 more: A and B are an antibody']
    """
    lines = []
    for sentence, names in targets.items():
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        lines.append(f"{names[0]}{more}: {sentence}")
    further = sum(len(names) for names in list(targets.values())[MOST_SENTENCES:])
    return [*lines[:MOST_SENTENCES], *([f"and {further} more targets in the same way"] if further else [])]
