"""The partners of decoys by the chains of their files: those that somebody names, and those by
nature.

Where nobody names partners, chains that are one body by nature are one partner.

What belongs together is decided for a target, by all of its models: in a bad model the two chains
of an antibody may lie apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping
from itertools import chain
from typing import NamedTuple

from toporank.errors import printable
from toporank.inputs.complexes import Grouped, Key
from toporank.structures.immune import PEPTIDE, Pair, bodies_of
from toporank.structures.partners import EACH_CHAIN, parse_partners, partners_text

MOST_SENTENCES = 3
PairKinds = tuple[str, int, int]
"""What a pair is, and the kinds of its chains."""


def natural_partners(grouped: Grouped) -> dict[Key, str]:
    """Return the partners by nature, by the chains of each decoy's own file; decoys whose chains
    are all one have none.

    Chains of two kinds belong together in all models of a target if they do so in half of those
    that have both, or more.

    Returns
    -------
    dict : target and decoy → partners as text
    """
    belonging = _belonging(grouped)
    partners: dict[Key, str] = {}
    of_target: dict[str, set[str]] = {}
    without_partner: list[Key] = []
    for key, chains in grouped.kinds.items():
        pairs = _pairs(chains, grouped.pairs.get(key, ()), belonging.get(key[0], []))
        bodies = bodies_of(chains, pairs)
        if bodies:
            partners[key] = partners_text(bodies)
            of_target.setdefault(key[0], set()).add(partners[key])
        elif pairs:
            without_partner.append(key)
    for key in without_partner:  # a model of the antibody alone lacks what other models have
        choices = sorted(of_target.get(key[0], ()))
        if choices:
            partners[key] = max(choices, key=lambda text: _n_named(text, grouped.kinds[key]))
    return partners


def _n_named(partners: str, chains: Container[str]) -> int:
    """How many of the chains that partners name a model has."""
    named = chain.from_iterable(parse_partners(partners))
    return sum(name in chains for name in named)


def _belonging(grouped: Grouped) -> dict[str, list[PairKinds]]:
    """Target → the kinds of chains that belong together in its models, sorted."""
    n_together: dict[str, Counter[PairKinds]] = {}
    for key, pairs in grouped.pairs.items():
        seen = {_kinds(pair, grouped.kinds[key]) for pair in pairs}
        n_together.setdefault(key[0], Counter()).update(seen)
    n_with_both: dict[str, Counter[PairKinds]] = {}
    for (target, _), chains in grouped.kinds.items():
        of_model = set(chains.values())
        both = [kinds for kinds in n_together.get(target, ()) if of_model.issuperset(kinds[1:])]
        n_with_both.setdefault(target, Counter()).update(both)
    belonging = {}
    for target, counts in n_together.items():
        belonging[target] = sorted(
            kinds for kinds, n in counts.items() if 2 * n >= n_with_both[target][kinds]
        )
    return belonging


def _kinds(pair: Pair, chains: Mapping[str, int]) -> PairKinds:
    first, second = chains[pair.first], chains[pair.second]
    if pair.what != PEPTIDE and first > second:
        first, second = second, first
    return pair.what, first, second


def _pairs(
    chains: Mapping[str, int], seen: Iterable[Pair], belonging: list[PairKinds]
) -> list[Pair]:
    """The pairs of a model: those that are seen in it and, of the chains that are left, those that
    belong together.

    chains : of the model, with their kinds. Of several copies that are left, the first two are a
    pair, and so on.
    """
    pairs = [pair for pair in seen if _kinds(pair, chains) in belonging]
    for what, first, second in belonging:
        if first == second:  # nothing says which copies
            continue
        paired = set()
        for pair in pairs:
            if pair.what == what:
                paired.update(pair[1:])
        free = [name for name in chains if name not in paired]
        firsts = [name for name in free if chains[name] == first]
        seconds = [name for name in free if chains[name] == second]
        pairs += [Pair(what, *both) for both in zip(firsts, seconds, strict=False)]
    return pairs


def lines_of_targets(targets: Mapping[str, list[str]]) -> list[str]:
    """A line for each of the first sentences, with the targets that it is about. targets : sentence
    → its targets.

    >>> lines_of_targets({"A and B are an antibody": ["T", "U", "V"]})
    ['T and 2 more: A and B are an antibody']
    """
    lines = []
    for sentence, names in targets.items():
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        lines.append(f"{names[0]}{more}: {sentence}")
    further = sum(len(names) for names in list(targets.values())[MOST_SENTENCES:])
    return [
        *lines[:MOST_SENTENCES],
        *([f"and {further} more targets in the same way"] if further else []),
    ]


# ---- partners that somebody names ----------------------------------------------------------------


class _NamedPartners(NamedTuple):
    """Partners that someone gave for some decoys of a target.

    chains : that they name. able : the decoys that have all of these. example : the decoy whose
    names they are.
    """

    text: str
    chains: tuple[str, ...]
    decoys: list[Key]
    able: list[Key]
    example: Key


def _named_partners(partners: Mapping[Key, str], grouped: Grouped) -> list[_NamedPartners]:
    """Partners, each with the decoy whose names count: of those that have all, the one after which
    `comparing.correspondence` calls the chains of the target, and so do hints and tables.
    """
    together: dict[tuple[str, str], list[Key]] = {}
    for key, text in partners.items():
        if text != EACH_CHAIN:
            together.setdefault((key[0], text), []).append(key)
    named = []
    for (_, text), keys in together.items():
        chains = tuple(chain.from_iterable(parse_partners(text)))
        able = [key for key in keys if grouped.kinds.get(key, {}).keys() >= set(chains)]
        if able:
            example = min(
                able, key=lambda key: (-len(grouped.kinds[key]), -grouped.residues[key], key)
            )
            named.append(
                _NamedPartners(text=text, chains=chains, decoys=keys, able=able, example=example)
            )
    return named


def partners_of_each(partners: Mapping[Key, str], grouped: Grouped) -> dict[Key, str]:
    """Return the partners of each decoy by the chains of its own file.

    A user names chains as some models call them. In a model that calls them otherwise they are the
    chains of the same kind; of several copies, those at the same place among them. partners :
    target and decoy → partners as given.
    """
    of_decoys = {key: "" if text == EACH_CHAIN else text for key, text in partners.items()}
    for named in _named_partners(partners, grouped):
        for key in named.decoys:
            of_decoys[key] = _translated(
                named, grouped.kinds[named.example], grouped.kinds.get(key, {})
            )
    return of_decoys


def called_otherwise(partners: Mapping[Key, str], grouped: Grouped) -> list[str]:
    """Say where models have the names of partners for other chains, a sentence each. partners : as
    they were given.
    """
    kinds, notes = grouped.kinds, []
    for named in _named_partners(partners, grouped):
        others = [
            key for key in named.able if not _same_kinds(named, kinds[named.example], kinds[key])
        ]
        if not others:
            continue
        first = others[0]
        many = (
            f"{first[1]} has"
            if len(others) == 1
            else f"{len(others)} models, such as {first[1]}, have"
        )
        notes.append(
            f"partners {named.text} are chains of {printable(named.example[1])}; "
            f"{printable(many)} these names for"
            " other chains: there they are "
            f"{_translated(named, kinds[named.example], kinds[first])}"
        )
    return notes


def _same_kinds(named: _NamedPartners, kinds: Mapping[str, int], other: Mapping[str, int]) -> bool:
    return all(other.get(name) == kinds[name] for name in named.chains)


def _translated(named: _NamedPartners, kinds: Mapping[str, int], other: Mapping[str, int]) -> str:
    """Partners in the names of another model, whose chains are of these kinds; unchanged if that
    lacks a chain.
    """
    if _same_kinds(named, kinds, other):
        return named.text
    counterparts: dict[str, str] = {}
    for name in named.chains:
        copies_here = [copy for copy, kind in kinds.items() if kind == kinds[name]]
        copies_there = [copy for copy, kind in other.items() if kind == kinds[name]]
        place = copies_here.index(name)
        if place >= len(copies_there):
            return named.text
        counterparts[name] = copies_there[place]
    partners = []
    for partner in parse_partners(named.text):
        partners.append(tuple(sorted(counterparts[name] for name in partner)))
    return partners_text(tuple(sorted(partners)))
