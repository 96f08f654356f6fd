"""The partners of decoys: who says them, and which chains of each decoy's own file they are.

What a user gives goes first: for all targets, in a table, or with a label. Otherwise the partners
are those that the chains of the native are by nature, which the label is about; without a native,
those that the chains of the models are. Else each chain is one.

What belongs together is decided for a target, by all of its models: in a bad model the two chains
of an antibody may lie apart.
"""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, Protocol

from toporank.chains.body_names import sentence_of_pairs
from toporank.chains.chain import Chain, ChainSequences, overlapping
from toporank.chains.immune import PEPTIDE, Pair, bodies_of, natural_bodies
from toporank.chains.mapping import correspond, counterparts, counterparts_of_file
from toporank.chains.partners import (
    EACH_CHAIN,
    Counterparts,
    Partners,
    given_partners,
    in_decoy,
    parse_partners,
    partners_text,
    read_mapping,
    sorted_text,
)
from toporank.errors import ConfigError, printable
from toporank.files.printable_names import DecoyKey

FOR_ALL, TABLE, LABEL = "given", "table", "label"
NATIVE, NATURE = "native", "nature"
BY_NATURE = (NATIVE, NATURE)
"""Sources of partners that nobody gave."""
PairKinds = tuple[str, int, int]
"""What a pair is, and the kinds of its chains."""


class Chosen(NamedTuple):
    """The partners of a decoy.

    Attributes
    ----------
    partners : by chains of its own file, as `partners_text` writes them; empty where each chain is
        one
    named : as they were given, by chains of the native or of other models; empty where nobody gave
        any
    source : who says them, from `FOR_ALL` to `NATURE`; empty where nobody and nothing does
    note : which chains are one body by nature, in a sentence
    """

    partners: str = ""
    named: str = ""
    source: str = ""
    note: str = ""


NO_PARTNERS = Chosen()


class Given(NamedTuple):
    """Partners that somebody gave for a decoy.

    mapping : as from `mapping_text`, where a label says which chain of the native is which.
    """

    text: str
    source: str = FOR_ALL
    mapping: str = ""


class ChainsOfDecoys(Protocol):
    """The chains of the decoys of a data set, by target and name (see `complexes.Grouped`)."""

    @property
    def kinds(self) -> Mapping[DecoyKey, Mapping[str, int]]:
        """Name of each chain → its kind, a number that means the same in all decoys."""

    @property
    def pairs(self) -> Mapping[DecoyKey, tuple[Pair, ...]]:
        """Chains that are one body."""

    @property
    def chains(self) -> Mapping[DecoyKey, ChainSequences]:
        """Their sequences; decoys that cannot be read are left out."""


class Natives(NamedTuple):
    """All facts about the natives of a data set.

    chains : target → name and sequence of each chain of its native; None where the file cannot be
        read.
    bodies : target → the partners that the chains of its native are by nature, as text; empty where
        each is one.
    mapping : gives which chain is which, as `mapping_text` writes it, of a decoy whose label has to
        decide between copies of a chain, and of these partners of its native; empty where it has
        none.
    """

    chains: Mapping[str, ChainSequences | None]
    bodies: Mapping[str, str]
    mapping: Callable[[DecoyKey, str], str]


NO_NATIVES = Natives({}, {}, lambda *_: "")


def given_for(
    keys: Iterable[DecoyKey],
    for_all: str,
    of_targets: Mapping[str, str],
    of_labels: Mapping[DecoyKey, Given],
) -> dict[DecoyKey, Given]:
    """The partners that somebody gave for each decoy; those without are left out.

    Parameters
    ----------
    for_all : of every target that no table names, or empty
    of_targets : target → partners
    of_labels : those of a label table

    Raises
    ------
    ConfigError : two tables contradict each other
    """
    given = {}
    for key in keys:
        by_table = of_targets.get(key[0], "")
        by_label = of_labels.get(key)
        if by_table and by_label and by_table != by_label.text:
            raise ConfigError(
                f"the partners of {'/'.join(key)} are {by_label.text} in the labels and {by_table} "
                "in the table of partners",
                remedy="correct one of them",
            )
        if by_label:
            given[key] = by_label
        elif by_table or for_all:
            given[key] = Given(by_table or for_all, TABLE if by_table else FOR_ALL)
    return given


def resolve(
    decoys: ChainsOfDecoys,
    given: Mapping[DecoyKey, Given],
    natives: Natives | None = None,
) -> dict[DecoyKey, Chosen]:
    """Decide the partners of each decoy.

    Parameters
    ----------
    decoys : of a data set
    given : as from `given_for`
    natives : partners of a target with a native name the native's chains, others the model's own

    Returns
    -------
    chosen : of every decoy
    """
    natives = natives or NO_NATIVES
    by_models = {}
    for key, of_key in given.items():
        if key[0] not in natives.chains:
            by_models[key] = of_key.text
    translated = in_names_of_each(by_models, decoys)
    natural = natural_partners(decoys)
    chosen = {}
    for key in decoys.kinds:
        if key in given:
            partners = _as_given(key, given[key], natives, decoys, translated)
            chosen[key] = Chosen(partners, given[key].text, given[key].source)
        else:
            chosen[key] = _chosen_by_nature(key, natives, decoys, natural.get(key, ""))
    return chosen


def _chosen_by_nature(
    key: DecoyKey, natives: Natives, decoys: ChainsOfDecoys, natural: str
) -> Chosen:
    """Partners that nobody gives. natural : those by the decoys themselves."""
    of_native = _by_native(key, natives, decoys.chains.get(key))
    partners = natural if of_native is None else of_native
    if not partners:
        return NO_PARTNERS
    note = ""
    if key in decoys.pairs:
        note = sentence_of_pairs(parse_partners(partners), decoys.pairs[key])
    return Chosen(partners, "", NATURE if of_native is None else NATIVE, note)


def _as_given(
    key: DecoyKey,
    given: Given,
    natives: Natives,
    decoys: ChainsOfDecoys,
    translated: Mapping[DecoyKey, str],
) -> str:
    """Given partners by the chains of a decoy; its label decides between copies of the native's.

    translated : those that name chains of models, as from `in_names_of_each`
    """
    chains = decoys.chains.get(key)
    if given.text == EACH_CHAIN:
        return _by_native(key, natives, chains, apart=True) or ""
    if key[0] not in natives.chains:
        if given.mapping:
            return in_decoy(given.text, read_mapping(given.mapping))
        return translated[key]
    if chains is None:
        return given.text
    possible = ways(given.text, natives.chains[key[0]] or (), chains)
    if len(possible) == 1:
        return next(iter(possible))
    return in_decoy(given.text, read_mapping(natives.mapping(key, given.text)))


def of_complex(chains: Mapping[str, Chain], given: str = "") -> Partners:
    """The partners of one complex: those that were given, as checked text, or those by nature.

    Empty when each chain is one.
    """
    return given_partners(given) if given else natural_bodies(chains)


def names_in(partners: str) -> list[str]:
    """The chains that a text of partners names."""
    return list(itertools.chain.from_iterable(parse_partners(partners)))


# ---- by nature -----------------------------------------------------------------------------------


def natural_partners(decoys: ChainsOfDecoys) -> dict[DecoyKey, str]:
    """Return the partners by nature, by the chains of each decoy's own file.

    Decoys whose chains are all one have none.

    Chains of two kinds belong together in all models of a target if they do so in half of those
    that have both, or more.

    Returns
    -------
    dict : target and decoy → partners as text
    """
    belonging = _belonging(decoys)
    partners: dict[DecoyKey, str] = {}
    of_target: dict[str, set[str]] = {}
    without_partner: list[DecoyKey] = []
    for key, chains in decoys.kinds.items():
        if key[0] not in belonging:  # no pair of its models counts
            continue
        pairs = _pairs(chains, decoys.pairs.get(key, ()), belonging[key[0]])
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
            n_chains[text] = sum(name in decoys.kinds[key] for name in names_in(text))
        if n_chains:
            partners[key] = max(n_chains, key=n_chains.__getitem__)
    return partners


def _belonging(decoys: ChainsOfDecoys) -> dict[str, list[PairKinds]]:
    """Target → the kinds of chains that belong together in its models, sorted."""
    n_together: Counter[tuple[str, PairKinds]] = Counter()
    for key, pairs in decoys.pairs.items():
        n_together.update({(key[0], _kinds(pair, decoys.kinds[key])) for pair in pairs})
    targets = {target for target, _ in n_together}
    kinds_of_models: dict[str, list[set[int]]] = {}
    for (target, _), chains in decoys.kinds.items():
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
    """The pairs of a model: those that are seen in it and, of the other chains, those that belong.

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
        copies = zip(_copies(free, first), _copies(free, second), strict=False)
        pairs += [Pair(what, *of_both) for of_both in copies]
    return pairs


def _copies(chains: Mapping[str, int], kind: int) -> list[str]:
    """The chains of a kind."""
    return [name for name in chains if chains[name] == kind]


# ---- by chains of other models -------------------------------------------------------------------


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
    partners: Mapping[DecoyKey, str], decoys: ChainsOfDecoys
) -> list[_NamedPartners]:
    """Partners, each with the decoy whose names count.

    That is the decoy after which `comparing.correspondence` calls the chains of the target, if
    it has all partners; hints and tables use these names, too.
    """
    together: dict[tuple[str, str], list[DecoyKey]] = {}
    for key, text in partners.items():
        if text != EACH_CHAIN:
            together.setdefault((key[0], text), []).append(key)

    def precedence(key: DecoyKey) -> tuple[int, int, DecoyKey]:
        sequences = [sequence for _, sequence in decoys.chains.get(key, ())]
        return -len(decoys.kinds[key]), -len("".join(sequences)), key

    named = []
    for (_, text), keys in together.items():
        chains = names_in(text)
        able = [key for key in keys if decoys.kinds.get(key, {}).keys() >= set(chains)]
        if able:
            example = min(able, key=precedence)
            named.append(_NamedPartners(text, chains, keys, able, example))
    return named


def in_names_of_each(
    partners: Mapping[DecoyKey, str], decoys: ChainsOfDecoys
) -> dict[DecoyKey, str]:
    """Return the partners of each decoy by the chains of its own file.

    A user names chains as some models call them. In a model that calls them otherwise they are the
    chains of the same kind; of several copies, those at the same place among them.

    Parameters
    ----------
    partners : target and decoy → partners as given
    """
    of_decoys = dict(partners)
    for named in _named_partners(partners, decoys):
        for key in named.decoys:
            of_decoys[key] = _translated(named, decoys, key)
    return of_decoys


def called_otherwise(
    given: Mapping[DecoyKey, Given],
    decoys: ChainsOfDecoys,
    natives: Natives | None = None,
) -> list[str]:
    """Return where models have the names of partners for other chains, a sentence each.

    Partners of targets with a native are chains of that.
    """
    of_natives = natives.chains if natives else {}
    partners = {}
    for key, of_key in given.items():
        if key[0] not in of_natives:
            partners[key] = of_key.text
    notes = []
    for named in _named_partners(partners, decoys):
        others = [key for key in named.able if not _fits(named, decoys, key)]
        if not others:
            continue
        first = others[0]
        models = f"{first[1]} has"
        if len(others) > 1:
            models = f"{len(others)} models, such as {first[1]}, have"
        notes.append(
            f"partners {named.text} are chains of {printable(named.example[1])}; "
            f"{printable(models)} these names for other chains: there they are "
            f"{_translated(named, decoys, first)}"
        )
    return notes


def _fits(named: _NamedPartners, decoys: ChainsOfDecoys, key: DecoyKey) -> bool:
    """Whether the chains of these names in a decoy are of the same kinds."""
    chains = decoys.kinds.get(key, {})
    example = decoys.kinds[named.example]
    return all(chains.get(name) == example[name] for name in named.chains)


def _translated(named: _NamedPartners, decoys: ChainsOfDecoys, key: DecoyKey) -> str:
    """Partners in the names of another decoy; unchanged if that lacks a chain."""
    if _fits(named, decoys, key):
        return named.text
    example = decoys.kinds[named.example]
    counterpart: dict[str, str] = {}
    for name in named.chains:
        kind = example[name]
        place = _copies(example, kind).index(name)
        copies = _copies(decoys.kinds.get(key, {}), kind)
        if place >= len(copies):
            return named.text
        counterpart[name] = copies[place]
    of_example = parse_partners(named.text)
    return sorted_text([map(counterpart.__getitem__, names) for names in of_example])


# ---- by chains of natives ------------------------------------------------------------------------


def _by_native(
    key: DecoyKey,
    natives: Natives,
    chains: ChainSequences | None,
    *,
    apart: bool = False,
) -> str | None:
    """The partners of a decoy for which nobody gives any, by its native.

    They are those that the label is about: what the chains of the native are by nature, and what is
    one chain of the native and several of the decoy. None where no label has to be met, or the
    chains of one are not known. apart : whether a user wants each chain of the native to be one.
    """
    of_native = natives.chains.get(key[0])
    if not of_native or chains is None:
        return None
    bodies = "" if apart else natives.bodies.get(key[0], "")
    possible = ways_by_nature(bodies, of_native, chains)
    if len(possible) == 1:
        return next(iter(possible))
    mapping = natives.mapping(key, EACH_CHAIN if apart else "")
    return bodies_in_decoy(bodies, read_mapping(mapping)) if mapping else None


@functools.lru_cache(maxsize=1 << 12)
def ways(
    partners: str, native: ChainSequences, decoy: ChainSequences
) -> frozenset[str]:
    """What partners of a native may be in a decoy, as texts; none where there are too many ways."""
    named = names_in(partners)
    chains = tuple((name, sequence) for name, sequence in native if name in named)
    return frozenset(in_decoy(partners, way) for way in _possible(chains, decoy))


@functools.lru_cache(maxsize=1 << 12)
def ways_by_nature(
    bodies: str, native: ChainSequences, decoy: ChainSequences
) -> frozenset[str]:
    """As `ways`, of partners that nobody gave; the text is empty where each chain is one.

    bodies : what the chains of the native are by nature, as text; empty where each is one.
    """
    if not bodies and len(decoy) <= len(native):
        return frozenset({""})
    possible = _possible(native, decoy)
    if not possible and not bodies:  # many copies of whole chains
        return frozenset({""})
    return frozenset(bodies_in_decoy(bodies, way) for way in possible)


def bodies_in_decoy(bodies: str, holders: Counterparts) -> str:
    """The partners of a decoy whose native has these bodies; empty where each of its chains is one.

    Chains that the decoy does not have are left out, and bodies that share a chain of the decoy are
    one.

    >>> bodies_in_decoy("A:H+L", {"A": ("C",), "H": ("A",), "L": ("B",)})
    'A+B:C'
    >>> bodies_in_decoy("", {"A": ("B",), "B": ("A",)})
    ''
    """
    of_native = parse_partners(bodies) if bodies else [(name,) for name in holders]

    def in_decoy_chains(body: Iterable[str]) -> set[str]:
        return set().union(*[holders.get(name, ()) for name in body])

    partners = overlapping(map(in_decoy_chains, of_native))
    if len(partners) < 2 or max(map(len, partners)) == 1:
        return ""
    return sorted_text(partners)


def _possible(
    native: ChainSequences, decoy: ChainSequences
) -> list[dict[str, tuple[str, ...]]]:
    """The ways in which a decoy may have the chains of a native.

    A way is chain of the native → its chains in the decoy.

    Empty where there are too many ways to try.
    """
    of_native = _without_places(native)
    of_decoy = _without_places(decoy)
    alike = correspond(of_native, of_decoy)
    if not alike.mappings[0]:
        return [] if any(counterparts(of_native, of_decoy).values()) else [{}]
    return [counterparts_of_file(alike, mapping) for mapping in alike.mappings]


def _without_places(chains: ChainSequences) -> dict[str, Chain]:
    """The chains by name, as their sequences alone."""
    return {name: Chain.of_sequence(name, letters) for name, letters in chains}


def check_named(
    given: Mapping[DecoyKey, Given], natives: Natives, where: str
) -> list[str]:
    """Where partners name chains that natives do not have, a sentence for the first.

    Parameters
    ----------
    given : as from `given_for`
    natives : all facts about the natives
    where : what messages call the partners

    Raises
    ------
    ConfigError : they fit no native
    """
    missing: dict[DecoyKey, list[str]] = {}
    for (target, _), of_key in given.items():
        text = of_key.text
        native = dict(natives.chains.get(target) or ())
        if native and text != EACH_CHAIN:
            lacking = [name for name in names_in(text) if name not in native]
            missing[target, text] = lacking
    unfit = sorted(key for key, names in missing.items() if names)
    if not unfit:
        return []
    target, text = unfit[0]
    of_native = ", ".join(printable(name) for name, _ in natives.chains[target] or ())
    of_partners = ", ".join(map(printable, missing[target, text]))
    what = (
        f"partners {text} are chains of the native, but that of {printable(target)} has no "
        f"{of_partners}, only {of_native}"
    )
    remedy = "name the chains as the natives do, not as the models do"
    if len(unfit) == len(missing):
        raise ConfigError(what, where=where, remedy=remedy)
    return [f"{what} ({len(unfit)} of {len(missing)} targets; {remedy})"]
