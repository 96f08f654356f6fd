"""Chains that are one body by nature.

They are the two of an antibody or T-cell receptor, and those of an MHC molecule.

Sequences say what a chain may be, and coordinates which chains belong together. The variable
domains of heavy and light chain, and those of the two chains of a receptor, pack in one way:
residue 44 (IMGT numbers) of one lies beside that of the other. In 326 crystal structures their CA
atoms are 10 to 14 Å apart. So a domain finds its own partner among several copies, a nanobody that
binds to a light chain has none, and neither have chains of two different antibodies.

The β2-microglobulin of an MHC-like molecule (class I, CD1, MR1, FcRn, HFE) belongs to the heavy
chain that it touches most, and the two chains of a class II molecule belong together if they touch.
A peptide lies in the groove of the molecule that it touches most.
"""

from __future__ import annotations

import functools
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np

from toporank.chains.chain import Chain, overlapping
from toporank.chains.cut_domains import may_be_cut, pair_score, pieces_of
from toporank.chains.partners import Partners

ANTIBODY, RECEPTOR, MHC, PEPTIDE = (
    "antibody",
    "T-cell receptor",
    "MHC molecule",
    "peptide",
)
"""What two chains are together: a body, or a peptide in the groove of an MHC molecule."""
VARIABLE_DOMAIN = re.compile(
    r"C.{6,20}(?P<w41>W).[RKQHVLY].{40,80}[YFHLWIV].(?P<c104>C).{2,40}?(?P<fr4>[WF]G.G|[WF]..[GA]T|.G.GT)"
)
"""Cysteine 23, tryptophan 41 and cysteine 104 (IMGT numbers) of a variable domain with what stands
beside them, and the beginning of its framework 4, where one residue may differ.
"""
HEAVY_FRAMEWORK_2 = "VIAML"
"""What follows tryptophan 41 in heavy chains that have a light chain; light chains and receptors
have Y, F or H.
"""
BEFORE_W41, AFTER_W41, BEFORE_C104 = 4, 9, 16
"""Residues around tryptophan 41 and before cysteine 104 by which two variable domains are compared.
"""
ALIKE = 24
"""Of these 29 residues and 8 of framework 4, that domains of one class have in common: two heavy or
two light chains. Those of 326 true pairs have 6 to 20.
"""
FACING = 16.0
"""Å between the CA atoms of residues 44 of two variable domains that are a pair, at most."""

BETA_2_MICROGLOBULIN = re.compile(r"VYS[A-Z].P.{4,12}L.C.[AV]..FHP")
LONGEST_BETA_2 = 150
"""Residues of β2-microglobulin; a longer chain has it fused to something."""
CLASS_1 = re.compile(r"[GFC]YVD[DNSG]|C.[AV]..[FY][YF]P")
"""In the domains α1 or α3 of heavy chains of class I and their relatives; the latter also in other
immunoglobulins.
"""
CLASS_1_GROOVE = re.compile(r"YVD[DNSG].{50,90}C[DE][VL]")
"""The domains α1 and α2 of class I."""
SHORTEST_HEAVY = 150
CLASS_2_ALPHA = re.compile(r"F[DE].D[EQ].F[YHF][VFM]D")
CLASS_2_BETA = re.compile(r"R[FYH][DN]SD[VL]G.[YFHSV]")
LONGEST_PEPTIDE = 30
NEAR = 10.0
"""Å between CA atoms of residues that touch."""
LEAST_CONTACTS = {MHC: 20, PEPTIDE: 10, ANTIBODY: 10}
"""Pairs of such residues, at least."""


HAS_DOMAIN, HEAVY_1, BETA_2, ALPHA_2, BETA_OF_2, HAS_GROOVE, IS_SHORT = range(7)
"""What a chain may be by its sequence: one with variable domains, the heavy chain of class I,
β2-microglobulin, either chain of class II, one with the groove of class I, a peptide.
"""


class Pair(NamedTuple):
    """Two chains that belong together.

    what : `ANTIBODY`, `RECEPTOR`, `MHC`, or `PEPTIDE`, which is the second.
    """

    what: str
    first: str
    second: str


class ImmuneDomain(NamedTuple):
    """A variable domain.

    start : of its residues in the chain. face : place of residue 44. core : by which it is
    compared. heavy : whether its framework 2 is that of a heavy chain.
    """

    start: int
    face: int
    core: str
    heavy: bool


@functools.lru_cache(maxsize=4096)
def domains_of(sequence: str) -> tuple[ImmuneDomain, ...]:
    """The variable domains of a chain."""
    domains = []
    for match in VARIABLE_DOMAIN.finditer(sequence):
        w41 = match.start("w41")
        c104 = match.start("c104")
        framework_2 = sequence[max(w41 - BEFORE_W41, 0) : w41 + AFTER_W41]
        framework_3 = sequence[c104 - BEFORE_C104 : c104]
        framework_4 = sequence[match.start("fr4") :][:8]
        domains.append(
            ImmuneDomain(
                start=match.start(),
                face=w41 + 3,
                core=framework_2.rjust(BEFORE_W41 + AFTER_W41)
                + framework_3
                + framework_4,
                heavy=sequence[w41 + 1] in HEAVY_FRAMEWORK_2,
            )
        )
    return tuple(domains)


@functools.lru_cache(maxsize=4096)
def roles_of(sequence: str) -> frozenset[int]:
    """Return what a chain may be by its sequence, from `HAS_DOMAIN` to `IS_SHORT`."""
    n = len(sequence)
    has_domain = bool(domains_of(sequence))
    is_long = n >= SHORTEST_HEAVY and not has_domain
    alpha = CLASS_2_ALPHA.search(sequence)
    beta = CLASS_2_BETA.search(sequence)
    is_role = {
        HAS_DOMAIN: has_domain,
        HEAVY_1: is_long and not alpha and not beta and CLASS_1.search(sequence),
        BETA_2: n <= LONGEST_BETA_2 and BETA_2_MICROGLOBULIN.search(sequence),
        ALPHA_2: alpha,
        BETA_OF_2: beta,
        HAS_GROOVE: is_long and CLASS_1_GROOVE.search(sequence),
        IS_SHORT: 0 < n <= LONGEST_PEPTIDE,
    }
    return frozenset(role for role, is_it in is_role.items() if is_it)


def may_pair(sequences: Sequence[str]) -> bool:
    """Whether chains of these sequences may belong together, wherever they are."""
    n_cut = n_with_domain = 0
    roles: set[int] = set()
    for sequence in sequences:
        n_cut += may_be_cut(sequence)
        n_with_domain += HAS_DOMAIN in roles_of(sequence)
        roles |= roles_of(sequence)
    if n_with_domain > 1 or (n_cut > 1 and len(sequences) > 2):
        return True
    mhc = roles & {HEAVY_1, ALPHA_2} and roles & {BETA_2, BETA_OF_2}
    filled_groove = IS_SHORT in roles and roles & {HAS_GROOVE, ALPHA_2}
    return bool(mhc or filled_groove)


def pairs_of(chains: Mapping[str, Chain]) -> list[Pair]:
    """Which chains of a complex belong together by nature, in the order of the chains.

    Parameters
    ----------
    chains : of the complex, by name

    Returns
    -------
    list of Pair; a chain may be in several, such as the heavy chain of an MHC molecule with its
    β2-microglobulin and with its peptide
    """
    chains_with = defaultdict(list)
    for name, chain in chains.items():
        for role in roles_of(chain.sequence):
            chains_with[role].append(name)
    pairs = _variable_pairs(chains) or _cut_pairs(chains)
    mhc = _touching_pairs(chains, chains_with[HEAVY_1], chains_with[BETA_2])
    mhc += _touching_pairs(chains, chains_with[ALPHA_2], chains_with[BETA_OF_2])
    grooves = chains_with[HAS_GROOVE] + chains_with[ALPHA_2] + chains_with[BETA_OF_2]
    grooves += [pair.first for pair in mhc]
    return pairs + mhc + _in_grooves(chains, grooves, chains_with[IS_SHORT])


def _variable_pairs(chains: Mapping[str, Chain]) -> list[Pair]:
    """Pairs of variable domains of different chains, the nearest first; a domain is in one pair.

    The two domains of a single-chain antibody are a pair, too, so that neither has another partner.
    """
    domains = []
    for name, chain in chains.items():
        domains += [(name, domain) for domain in domains_of(chain.sequence)]
    scores = {}
    for first, second in combinations(domains, 2):
        (name, one), (other_name, other) = first, second
        distance = np.linalg.norm(
            chains[name].ca[one.face] - chains[other_name].ca[other.face]
        )
        if distance <= FACING and not alike(one, other):
            scores[first, second] = -float(distance)
    pairs = []
    for (name, one), (other_name, other) in _best_matches(scores):
        pair = Pair(
            ANTIBODY if one.heavy or other.heavy else RECEPTOR, name, other_name
        )
        if name != other_name and pair not in pairs:
            pairs.append(pair)
    return pairs


def _cut_pairs(chains: Mapping[str, Chain]) -> list[Pair]:
    """Pairs of touching chains that are what is left of a heavy and a light chain.

    A chain is in one pair.
    """
    pieces = {}
    for name, chain in chains.items():
        of_chain = pieces_of(chain.sequence, chain.numbers.tolist())
        if of_chain:
            pieces[name] = of_chain
    scores = {}
    for first, second in combinations(pieces, 2):
        score = pair_score(pieces[first], pieces[second])
        if (
            score
            and n_contacts(chains[first], chains[second]) >= LEAST_CONTACTS[ANTIBODY]
        ):
            scores[first, second] = score
    return _best_pairs(ANTIBODY, scores)


def _touching_pairs(
    chains: Mapping[str, Chain], firsts: Sequence[str], seconds: Sequence[str]
) -> list[Pair]:
    """Pairs of chains of an MHC molecule that touch, those with most contacts first.

    A chain is in one pair.
    """
    contacts = {}
    for first, second in product(firsts, seconds):
        n = n_contacts(chains[first], chains[second]) if first != second else 0
        if n >= LEAST_CONTACTS[MHC]:
            contacts[first, second] = n
    return _best_pairs(MHC, contacts)


def _best_pairs(what: str, scores: Mapping[tuple[str, str], float]) -> list[Pair]:
    """The best ones of pairs with scores, as pairs of this kind."""
    return [Pair(what, *pair) for pair in _best_matches(scores)]


def _best_matches(scores: Mapping[tuple[Any, Any], float]) -> list[tuple[Any, Any]]:
    """Of pairs with scores the best ones, the first of equals first; nothing is in two of them."""
    matches = []
    taken: set[Any] = set()
    for pair in sorted(scores, key=scores.__getitem__, reverse=True):
        if taken.isdisjoint(pair):
            taken.update(pair)
            matches.append(pair)
    return matches


def alike(one: ImmuneDomain, other: ImmuneDomain) -> bool:
    """Whether two variable domains are of one class.

    Two light chains pack as heavy and light chain do.
    """
    return sum(map(str.__eq__, one.core, other.core)) >= ALIKE


def _in_grooves(
    chains: Mapping[str, Chain], grooves: Sequence[str], peptides: Sequence[str]
) -> list[Pair]:
    """Each peptide with the MHC chain that it touches most, if it touches no other chain more."""
    pairs = []
    for peptide in peptides if grooves else ():
        contacts = {}
        for name, chain in chains.items():
            if name != peptide:
                contacts[name] = n_contacts(chain, chains[peptide]), name in grooves
        nearest = max(contacts, key=contacts.__getitem__)
        n, has_groove = contacts[nearest]
        if has_groove and n >= LEAST_CONTACTS[PEPTIDE]:
            pairs.append(Pair(PEPTIDE, nearest, peptide))
    return pairs


def n_contacts(one: Chain, other: Chain) -> int:
    """Pairs of residues of two chains whose CA atoms are within `NEAR`."""
    apart = np.linalg.norm(one.ca[:, None] - other.ca, axis=2)
    return int(np.count_nonzero(apart <= NEAR))


def bodies_of(chains: Iterable[str], pairs: Iterable[Pair]) -> Partners:
    """The partners that chains are by nature, each with its chains; empty where every chain is one.

    A peptide in the groove of an MHC molecule belongs to the molecule where something else binds to
    both, such as a T-cell receptor; else it is what binds. Where only one partner would be left,
    every chain is one.

    Parameters
    ----------
    chains : names of the chains of the complex
    pairs : as from `pairs_of`; those with other chains count for nothing

    Returns
    -------
    partners : each with the names of its chains; empty where every chain is one
    """
    names = set(chains)
    pairs = [pair for pair in pairs if {pair.first, pair.second} <= names]
    filled_grooves = [pair for pair in pairs if pair.what == PEPTIDE]
    partners = joined(names, [pair for pair in pairs if pair.what != PEPTIDE])
    binders = set(partners) - {(pair.second,) for pair in filled_grooves}
    if len(binders) > 1:
        partners = joined(names, pairs)
    return partners if 1 < len(partners) < len(names) else ()


def natural_bodies(chains: Mapping[str, Chain]) -> Partners:
    """The partners of a complex by nature, as `bodies_of` says."""
    return bodies_of(chains, pairs_of(chains))


def joined(names: Iterable[str], pairs: Iterable[Pair]) -> Partners:
    """Chains that pairs join, directly or through others."""
    both = [(pair.first, pair.second) for pair in pairs]
    bodies = overlapping([*([name] for name in names), *both])
    return tuple(sorted(tuple(sorted(chains)) for chains in bodies))
