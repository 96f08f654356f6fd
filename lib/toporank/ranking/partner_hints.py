"""Which chains may be one partner, in sentences for the user."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations, groupby, product
from operator import attrgetter

from toporank.chains.body_names import lines_of_targets
from toporank.chains.immune import ImmuneDomain, alike, domains_of
from toporank.chains.partners import chains_of, partner_name
from toporank.ranking.interface_words import word_of
from toporank.ranking.interfaces import MAIN, SIDE, InterfaceRow

MOST_HINTS = 3
MOST_CHAINS = 12
"""Chains of a target up to which a hint is short enough to be read."""


def partners_hint(
    rows: Iterable[InterfaceRow], sequences: Mapping[str, str] | None = None
) -> str:
    """Return which two chains of a target may be one partner, in a sentence.

    It is empty if there are two chains, or where partners are given, or where all interfaces that
    count look right, so that joining chains changes nothing.

    Two chains may be one partner if they touch in every decoy, where one of them touches a third
    chain, too: those whose number of contacts changes least. Antibodies that are one partner need
    no hint, and two of their chains that are not were kept apart on purpose, or do not lie as in an
    antibody. A side contact is no reason to join the others.

    Parameters
    ----------
    rows : interfaces of the decoys of the target
    sequences : of the chains of the target, by name
    """
    rows = list(rows)
    if not _can_be_given(rows) or all_right(rows):
        return ""
    contacts = _contacts(rows)
    in_models: dict[str, list[set[str]]] = {}
    for row in rows:
        if row.interface in contacts and row.n_ca_pairs:
            both = set(row.interface.split(":"))
            in_models.setdefault(row.decoy, []).append(both)
    partners = sorted(set(":".join(contacts).split(":")))
    if "+" in "".join(partners):
        return ""
    always = _of_all(contacts)
    antibody = _antibodies(sequences)
    is_antibody = any(antibody.keys() >= set(name.split(":")) for name in always)
    if not always or is_antibody or not 3 <= len(partners) <= MOST_CHAINS:
        return ""
    order = []
    for name, numbers in always.items():
        if not _meets_others(name, in_models.values()):
            continue
        change = (max(numbers) - min(numbers)) / sum(numbers)
        order.append((change, -sum(numbers), name))
    if not order:
        return ""
    first, second = min(order)[-1].split(":")
    others = [chain for chain in partners if chain not in (first, second)]
    advice = ":".join([f"{first}+{second}", *others])
    rest = "the others lie" if len(others) > 1 else f"{others[0]} lies"
    return (
        f"{first} and {second} always touch; to score only how {rest} to both: "
        f"--partners {advice}"
    )


def partners_doubt(
    rows: Iterable[InterfaceRow], sequences: Mapping[str, str] | None = None
) -> str:
    """Return that given partners differ between models, or part an antibody, in a sentence.

    It is empty otherwise. Parameters are those of `partners_hint`.
    """
    rows = list(rows)
    if not _can_be_given(rows):
        return ""
    contacts = _contacts(rows)
    partners = sorted(set(":".join(contacts).split(":")))
    always = _of_all(contacts)
    differing = _differing_partners(rows)
    if differing or "+" not in "".join(partners):
        return differing
    return _parted_antibody(partners, always, _antibodies(sequences))


def all_right(rows: Iterable[InterfaceRow]) -> bool:
    """Return whether the main interfaces have scores and all look right."""
    words = {word_of(row) for row in rows if row.role == MAIN}
    return words == {"right"}


def _contacts(rows: Iterable[InterfaceRow]) -> dict[str, list[int]]:
    """Interface → how many contacts it has in each decoy.

    Those that touch in no decoy, or are side contacts alone, are left out.
    """
    contacts: dict[str, list[int]] = {}
    touching = set()
    for row in rows:
        contacts.setdefault(row.interface, []).append(row.n_ca_pairs or 0)
        if row.n_ca_pairs and row.role != SIDE:
            touching.add(row.interface)
    return {name: numbers for name, numbers in contacts.items() if name in touching}


def _of_all(contacts: dict[str, list[int]]) -> dict[str, list[int]]:
    """The interfaces that touch in every decoy, with their contacts."""
    return {name: numbers for name, numbers in contacts.items() if min(numbers) > 0}


def _can_be_given(rows: Iterable[InterfaceRow]) -> bool:
    """Whether all partners can: a name with a colon cannot."""
    return all(row.interface.count(":") == 1 for row in rows)


def _antibodies(
    sequences: Mapping[str, str] | None,
) -> dict[str, tuple[ImmuneDomain, ...]]:
    """The chains with variable domains."""
    antibody = {}
    for chain, sequence in (sequences or {}).items():
        domains = domains_of(sequence)
        if domains:
            antibody[chain] = domains
    return antibody


def _meets_others(interface: str, models: Iterable[list[set[str]]]) -> bool:
    """Whether one of the two chains of an interface touches a third one in each model.

    models : pairs of chains that touch in each
    """
    pair = set(interface.split(":"))
    for of_model in models:
        with_third = [both for both in of_model if len(pair & both) == 1]
        if not with_third:
            return False
    return True


def _parted_antibody(
    partners: list[str],
    always: Iterable[str],
    antibody: Mapping[str, tuple[ImmuneDomain, ...]],
) -> str:
    """A sentence where the two chains of an antibody are in different partners that were given.

    It is empty otherwise.

    They are the only chains with a variable domain in their partners; two heavy ones would be of
    two antibodies. always : interfaces of every decoy. antibody : chains with variable domains.
    """
    variable = {}
    for partner in partners:
        chains = [chain for chain in chains_of(partner) if chain in antibody]
        if len(chains) == 1 and len(antibody[chains[0]]) == 1:
            variable[partner] = chains[0]
    for name in sorted(always):
        both = name.split(":")
        if not variable.keys() >= set(both):
            continue
        pair = sorted(variable[partner] for partner in both)
        if alike(antibody[pair[0]][0], antibody[pair[1]][0]):
            continue
        rest = sorted({*chains_of(both[0]), *chains_of(both[1])}.difference(pair))
        others = [partner for partner in partners if partner not in both]
        better = [partner_name(pair), partner_name(rest), *others]
        return (
            f"{partner_name(pair[:1])} and {partner_name(pair[1:])} look like one antibody, but "
            f"are different partners in {':'.join(partners)}, so scores count the contacts between "
            f"them; to score them as one: --partners {':'.join(filter(None, better))}"
        )
    return ""


def _differing_partners(rows: list[InterfaceRow]) -> str:
    """A sentence where a chain is in different partners in different models; empty if it is not.

    The partners that a user gives name copies of a chain. In a model that calls them otherwise they
    go by their order.
    """
    models: dict[str, str] = {}
    for row in rows:
        if row.n_ca_pairs and "+" in row.interface:
            models.setdefault(row.interface, row.decoy)
    for one, other in combinations(sorted(models), 2):
        for first, second in product(one.split(":"), other.split(":")):
            in_first = set(chains_of(first))
            in_second = set(chains_of(second))
            if in_first & in_second and in_first - in_second and in_second - in_first:
                return (
                    f"models have different partners, {models[one]} {one} and {models[other]} "
                    f"{other} by the chains of the target, and scores of different interfaces: "
                    "give each copy of a chain the same name in all models"
                )
    return ""


def hints(
    table: Iterable[InterfaceRow],
    sequences: Mapping[str, Mapping[str, str]] | None = None,
) -> list[str]:
    """Return which chains may be one partner.

    There is a line for each of the first different hints, with the targets it is for.

    Parameters
    ----------
    table : interfaces of all targets
    sequences : as from `chain_tables.sequences_of_chains`
    """
    of_hint: dict[str, list[str]] = {}
    for target, rows in groupby(table, key=attrgetter("target")):
        about = list(rows), (sequences or {}).get(target)
        hint = partners_doubt(*about) or partners_hint(*about)
        if hint:
            of_hint.setdefault(hint, []).append(target)
    return lines_of_targets(of_hint)[:MOST_HINTS]
