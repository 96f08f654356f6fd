"""The partners of decoys by the chains of their files.

They are those that somebody names, and those by nature.

Where nobody names partners, chains that are one body by nature are one partner.

What belongs together is decided for a target, by all of its models: in a bad model the two chains
of an antibody may lie apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import chain
from typing import NamedTuple

from toporank.chains.immune import PEPTIDE, Pair, bodies_of
from toporank.chains.partners import EACH_CHAIN, parse_partners, partners_text
from toporank.errors import printable
from toporank.inputs.complexes import Grouped
from toporank.structures.identity import DecoyKey

MOST_SENTENCES = 3
PairKinds = tuple[str, int, int]
"""What a pair is, and the kinds of its chains."""


def natural_partners(grouped: Grouped) -> dict[DecoyKey, str]:
    """Return the partners by nature, by the chains of each decoy's own file.

    Decoys whose chains are all one have none.

    Chains of two kinds belong together in all models of a target if they do so in half of those
    that have both, or more.

    Returns
    -------
    dict : target and decoy → partners as text
    """
    belonging = _belonging(grouped)
    partners: dict[DecoyKey, str] = {}
    of_target: dict[str, set[str]] = {}
    without_partner: list[DecoyKey] = []
    for key, chains in grouped.kinds.items():
        if key[0] not in belonging:  # no pair of its models counts
            continue
        pairs = _pairs(chains, grouped.pairs.get(key, ()), belonging[key[0]])
        bodies = bodies_of(chains, pairs)
        if bodies:
            partners[key] = partners_text(bodies)
            of_target.setdefault(key[0], set()).add(partners[key])
        elif pairs:
            without_partner.append(key)
    # a model of the antibody alone lacks what other models have
    for key in without_partner:
        n_chains = {}
        for text in sorted(of_target.get(key[0], ())):
            n_chains[text] = sum(name in grouped.kinds[key] for name in _chains(text))
        if n_chains:
            partners[key] = max(n_chains, key=n_chains.get)
    return partners


def _chains(partners: str) -> list[str]:
    """The chains that partners name."""
    return list(chain.from_iterable(parse_partners(partners)))


def _belonging(grouped: Grouped) -> dict[str, list[PairKinds]]:
    """Target → the kinds of chains that belong together in its models, sorted."""
    n_together: Counter[tuple[str, PairKinds]] = Counter()
    for key, pairs in grouped.pairs.items():
        n_together.update(
            {(key[0], _kinds(pair, grouped.kinds[key])) for pair in pairs}
        )
    targets = {target for target, _ in n_together}
    kinds_of_models: dict[str, list[set[int]]] = {}
    for (target, _), chains in grouped.kinds.items():
        if target in targets:
            kinds_of_models.setdefault(target, []).append(set(chains.values()))
    belonging: dict[str, list[PairKinds]] = {}
    for (target, pair_kinds), n in sorted(n_together.items()):
        n_with_both = sum(
            kinds.issuperset(pair_kinds[1:]) for kinds in kinds_of_models[target]
        )
        if 2 * n >= n_with_both:
            belonging.setdefault(target, []).append(pair_kinds)
    return belonging


def _kinds(pair: Pair, chains: Mapping[str, int]) -> PairKinds:
    kinds = chains[pair.first], chains[pair.second]
    return pair.what, *(kinds if pair.what == PEPTIDE else sorted(kinds))


def _pairs(
    chains: Mapping[str, int], seen: Iterable[Pair], belonging: list[PairKinds]
) -> list[Pair]:
    """The pairs of a model.

    They are those that are seen in it and, of the other chains, those that belong together.

    chains : of the model, with their kinds. Of several copies that are left, the first two are a
    pair, and so on.
    """
    pairs = [pair for pair in seen if _kinds(pair, chains) in belonging]
    for what, first, second in belonging:
        if first == second:  # nothing says which copies
            continue
        free = dict(chains)
        for pair in pairs:
            if pair.what == what:
                free.pop(pair.first, None)
                free.pop(pair.second, None)
        for of_first, of_second in zip(
            _copies(free, first), _copies(free, second), strict=False
        ):
            pairs.append(Pair(what=what, first=of_first, second=of_second))
    return pairs


def _copies(chains: Mapping[str, int], kind: int) -> list[str]:
    """The chains of a kind."""
    return [name for name in chains if chains[name] == kind]


def lines_of_targets(targets: Mapping[str, list[str]]) -> list[str]:
    """Return a line for each of the first sentences, with the targets that it is about.

    Parameters
    ----------
    targets : sentence → its targets

    >>> lines_of_targets({"A and B are an antibody": ["T", "U", "V"]})
    ['T and 2 more: A and B are an antibody']
    """
    lines = []
    n_further = 0
    for sentence, names in targets.items():
        if len(lines) == MOST_SENTENCES:
            n_further += len(names)
            continue
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        lines.append(f"{names[0]}{more}: {sentence}")
    if n_further:
        lines.append(f"and {n_further} more targets in the same way")
    return lines


# ---- partners that somebody names ----------------------------------------------------------------


class _NamedPartners(NamedTuple):
    """Partners that someone gave for some decoys of a target.

    chains : that they name. able : the decoys that have all of these. example : the decoy whose
    names they are.
    """

    text: str
    chains: list[str]
    decoys: list[DecoyKey]
    able: list[DecoyKey]
    example: DecoyKey


def _named_partners(
    partners: Mapping[DecoyKey, str], grouped: Grouped
) -> list[_NamedPartners]:
    """Partners, each with the decoy whose names count.

    That is the decoy after which `comparing.correspondence` calls the chains of the target, if
    it has all partners; hints and tables use these names, too.
    """
    together: dict[tuple[str, str], list[DecoyKey]] = {}
    for key, text in partners.items():
        if text != EACH_CHAIN:
            together.setdefault((key[0], text), []).append(key)
    named = []
    for (_, text), keys in together.items():
        chains = _chains(text)
        able = [key for key in keys if grouped.kinds.get(key, {}).keys() >= set(chains)]
        if able:
            example = min(
                able,
                key=lambda key: (-len(grouped.kinds[key]), -grouped.residues[key], key),
            )
            named.append(
                _NamedPartners(
                    text=text, chains=chains, decoys=keys, able=able, example=example
                )
            )
    return named


def partners_of_each(
    partners: Mapping[DecoyKey, str], grouped: Grouped
) -> dict[DecoyKey, str]:
    """Return the partners of each decoy by the chains of its own file.

    A user names chains as some models call them. In a model that calls them otherwise they are the
    chains of the same kind; of several copies, those at the same place among them.

    Parameters
    ----------
    partners : target and decoy → partners as given
    """
    of_decoys = {
        key: "" if text == EACH_CHAIN else text for key, text in partners.items()
    }
    for named in _named_partners(partners, grouped):
        for key in named.decoys:
            of_decoys[key] = _translated(named, grouped, key)
    return of_decoys


def called_otherwise(partners: Mapping[DecoyKey, str], grouped: Grouped) -> list[str]:
    """Return where models have the names of partners for other chains, a sentence each.

    Parameters
    ----------
    partners : as they were given
    """
    notes = []
    for named in _named_partners(partners, grouped):
        others = [key for key in named.able if not _fits(named, grouped, key)]
        if not others:
            continue
        first = others[0]
        models = f"{first[1]} has"
        if len(others) > 1:
            models = f"{len(others)} models, such as {first[1]}, have"
        notes.append(
            f"partners {named.text} are chains of {printable(named.example[1])}; "
            f"{printable(models)} these names for other chains: there they are "
            f"{_translated(named, grouped, first)}"
        )
    return notes


def _fits(named: _NamedPartners, grouped: Grouped, key: DecoyKey) -> bool:
    """Whether the chains of these names in a decoy are of the same kinds."""
    chains = grouped.kinds.get(key, {})
    example = grouped.kinds[named.example]
    return all(chains.get(name) == example[name] for name in named.chains)


def _translated(named: _NamedPartners, grouped: Grouped, key: DecoyKey) -> str:
    """Partners in the names of another decoy; unchanged if that lacks a chain."""
    if _fits(named, grouped, key):
        return named.text
    example = grouped.kinds[named.example]
    counterparts: dict[str, str] = {}
    for name in named.chains:
        kind = example[name]
        place = _copies(example, kind).index(name)
        copies = _copies(grouped.kinds.get(key, {}), kind)
        if place >= len(copies):
            return named.text
        counterparts[name] = copies[place]
    partners = []
    for partner in parse_partners(named.text):
        chains = sorted(counterparts[name] for name in partner)
        partners.append(tuple(chains))
    return partners_text(tuple(sorted(partners)))
