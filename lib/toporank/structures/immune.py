"""Chains that are one body by nature: the two of an antibody or T-cell receptor, and those of an
MHC molecule.

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
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, product
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from toporank.structures.cut_domains import may_be_cut, pair_score, pieces_of
from toporank.structures.partners import Partners

if TYPE_CHECKING:
    from toporank.structures.complex import Complex

ANTIBODY, RECEPTOR, MHC, PEPTIDE = ("antibody", "T-cell receptor", "MHC molecule", "peptide")
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
BESIDE_W41, BEFORE_C104 = (4, 9), 16
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


K = TypeVar("K")


class CaTrace(NamedTuple):
    """A chain: a letter for each of L residues, CA atoms, (L, 3), Å, nan where there is none, and
    residue numbers.
    """

    sequence: str
    ca: np.ndarray
    numbers: Sequence[int] = ()


class Pair(NamedTuple):
    """Two chains that belong together. what : `ANTIBODY`, `RECEPTOR`, `MHC`, or `PEPTIDE`, which is
    the second.
    """

    what: str
    first: str
    second: str


class Domain(NamedTuple):
    """A variable domain. start : of its residues in the chain. face : place of residue 44. core :
    by which it is compared. framework_4 : its beginning. heavy : whether its framework 2 is that of
    a heavy chain.
    """

    start: int
    face: int
    core: str
    framework_4: str
    heavy: bool


class Roles(NamedTuple):
    """What a chain may be by its sequence."""

    domains: tuple[Domain, ...]
    beta_2: bool
    class_1: bool
    groove: bool
    alpha: bool
    beta: bool
    peptide: bool


@functools.lru_cache(maxsize=4096)
def roles_of(sequence: str) -> Roles:
    """What a chain may be, by its sequence."""
    domains = tuple(_domain(sequence, match) for match in VARIABLE_DOMAIN.finditer(sequence))
    is_long = len(sequence) >= SHORTEST_HEAVY and not domains
    alpha = bool(CLASS_2_ALPHA.search(sequence))
    beta = bool(CLASS_2_BETA.search(sequence))
    return Roles(
        domains=domains,
        beta_2=len(sequence) <= LONGEST_BETA_2 and bool(BETA_2_MICROGLOBULIN.search(sequence)),
        class_1=is_long and not (alpha or beta) and bool(CLASS_1.search(sequence)),
        groove=is_long and bool(CLASS_1_GROOVE.search(sequence)),
        alpha=alpha,
        beta=beta,
        peptide=0 < len(sequence) <= LONGEST_PEPTIDE,
    )


def _domain(sequence: str, match: re.Match[str]) -> Domain:
    w41 = match.start("w41")
    c104 = match.start("c104")
    before, behind = BESIDE_W41
    beside_w41 = sequence[max(w41 - before, 0) : w41 + behind].rjust(before + behind)
    framework_4 = sequence[match.start("fr4") :][:8]
    return Domain(
        start=match.start(),
        face=w41 + 3,
        core=beside_w41 + sequence[c104 - BEFORE_C104 : c104] + framework_4,
        framework_4=framework_4,
        heavy=sequence[w41 + 1] in HEAVY_FRAMEWORK_2,
    )


def may_pair(sequences: Sequence[str]) -> bool:
    """Whether chains of these sequences may belong together, wherever they are."""
    roles = [roles_of(sequence) for sequence in sequences]
    n_cut = sum(may_be_cut(sequence) for sequence in sequences)
    if n_cut > 1 and len(sequences) > 2:
        return True
    if sum(bool(role.domains) for role in roles) > 1:
        return True
    has_first = any(role.class_1 or role.alpha for role in roles)
    has_second = any(role.beta_2 or role.beta for role in roles)
    has_groove = any(role.groove or role.alpha for role in roles)
    return (has_first and has_second) or (has_groove and any(role.peptide for role in roles))


def pairs_of(chains: Mapping[str, CaTrace]) -> list[Pair]:
    """Which chains of a complex belong together by nature, in the order of the chains.

    Parameters
    ----------
    chains : of the complex, by name

    Returns
    -------
    list of Pair; a chain may be in several, such as the heavy chain of an MHC molecule with its
    β2-microglobulin and
    with its peptide
    """
    roles = {name: roles_of(trace.sequence) for name, trace in chains.items()}
    class_1 = [name for name, role in roles.items() if role.class_1]
    beta_2 = [name for name, role in roles.items() if role.beta_2]
    alpha = [name for name, role in roles.items() if role.alpha]
    beta = [name for name, role in roles.items() if role.beta]
    pairs = _variable_pairs(chains, roles) or _cut_pairs(chains)
    mhc = _touching_pairs(chains, class_1, beta_2) + _touching_pairs(chains, alpha, beta)
    grooves = {name for name, role in roles.items() if role.groove or role.alpha or role.beta}
    grooves |= {pair.first for pair in mhc}
    peptides = [name for name, role in roles.items() if role.peptide]
    return pairs + mhc + _in_grooves(chains, grooves, peptides)


def _variable_pairs(chains: Mapping[str, CaTrace], roles: Mapping[str, Roles]) -> list[Pair]:
    """Pairs of variable domains of different chains, the nearest first; a domain is in one pair.

    The two domains of a single-chain antibody are a pair, too, so that neither has another partner.
    """
    domains = {}
    for name, role in roles.items():
        for domain in role.domains:
            domains[name, domain.start] = domain
    scores = {}
    for first, second in combinations(domains, 2):
        one, other = domains[first], domains[second]
        distance = np.linalg.norm(chains[first[0]].ca[one.face] - chains[second[0]].ca[other.face])
        if distance <= FACING and not alike(one, other):
            scores[first, second] = -distance
    pairs = []
    for first, second in _best_matches(scores):
        is_antibody = domains[first].heavy or domains[second].heavy
        pair = Pair(ANTIBODY if is_antibody else RECEPTOR, first[0], second[0])
        if pair.first != pair.second and pair not in pairs:
            pairs.append(pair)
    return pairs


def _cut_pairs(chains: Mapping[str, CaTrace]) -> list[Pair]:
    """Pairs of touching chains that are what is left of a heavy and a light chain; a chain is in
    one pair.
    """
    pieces = {}
    for name, trace in chains.items():
        of_chain = pieces_of(trace.sequence, trace.numbers) if len(trace.numbers) else ()
        if of_chain:
            pieces[name] = of_chain
    scores = {}
    for first, second in combinations(pieces, 2):
        score = pair_score(pieces[first], pieces[second])
        if score and n_contacts(chains[first], chains[second]) >= LEAST_CONTACTS[ANTIBODY]:
            scores[first, second] = score
    return [Pair(ANTIBODY, first, second) for first, second in _best_matches(scores)]


def _touching_pairs(
    chains: Mapping[str, CaTrace], firsts: Sequence[str], seconds: Sequence[str]
) -> list[Pair]:
    """Pairs of chains of an MHC molecule that touch, those with most contacts first; a chain is in
    one pair.
    """
    contacts = {}
    for first, second in product(firsts, seconds):
        n = n_contacts(chains[first], chains[second]) if first != second else 0
        if n >= LEAST_CONTACTS[MHC]:
            contacts[first, second] = n
    return [Pair(MHC, first, second) for first, second in _best_matches(contacts)]


def _best_matches(scores: Mapping[tuple[K, K], float]) -> list[tuple[K, K]]:
    """Of pairs with scores the best ones, the first of equals first; nothing is in two of them."""
    matches = []
    taken: set[K] = set()
    for pair in sorted(scores, key=scores.__getitem__, reverse=True):
        if taken.isdisjoint(pair):
            taken.update(pair)
            matches.append(pair)
    return matches


def alike(one: Domain, other: Domain) -> bool:
    """Whether two variable domains are of one class: two light chains pack as heavy and light chain
    do.
    """
    return sum(a == b for a, b in zip(one.core, other.core, strict=False)) >= ALIKE


def _in_grooves(
    chains: Mapping[str, CaTrace], grooves: set[str], peptides: Sequence[str]
) -> list[Pair]:
    """Each peptide with the chain of an MHC molecule that it touches most, if it touches no other
    chain more.
    """
    pairs = []
    for peptide in peptides if grooves else ():
        contacts = {
            name: n_contacts(trace, chains[peptide])
            for name, trace in chains.items()
            if name != peptide
        }
        nearest = max(contacts, key=lambda name: (contacts[name], name in grooves))
        if nearest in grooves and contacts[nearest] >= LEAST_CONTACTS[PEPTIDE]:
            pairs.append(Pair(PEPTIDE, nearest, peptide))
    return pairs


def n_contacts(one: CaTrace, other: CaTrace) -> int:
    """Pairs of residues of two chains whose CA atoms are within `NEAR`."""
    apart = np.linalg.norm(one.ca[:, None] - other.ca[None], axis=2)
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
    """
    names = list(chains)
    pairs = [pair for pair in pairs if pair.first in names and pair.second in names]
    without_peptides = _joined(names, [pair for pair in pairs if pair.what != PEPTIDE])
    peptides = {(pair.second,) for pair in pairs if pair.what == PEPTIDE}
    binders = [body for body in without_peptides if body not in peptides]
    partners = _joined(names, pairs) if len(binders) > 1 else without_peptides
    return partners if 1 < len(partners) < len(names) else ()


def natural_bodies(complex_: Complex) -> Partners:
    """The partners of a complex by nature, as `bodies_of` says."""
    return bodies_of(complex_.chains, pairs_of_complex(complex_))


def pairs_of_complex(complex_: Complex) -> list[Pair]:
    """Which chains of a complex belong together by nature."""
    residues = np.flatnonzero(complex_.is_protein)
    ca = complex_.ca[residues]
    positions = np.where(ca[:, None] >= 0, complex_.xyz[ca], np.nan)
    ids = [complex_.residues[residue] for residue in residues]
    traces = traces_of(
        chains=[residue.chain for residue in ids],
        letters="".join(complex_.letters[residue] for residue in residues),
        ca=positions,
        numbers=[residue.number for residue in ids],
    )
    return pairs_of(traces) if may_pair([trace.sequence for trace in traces.values()]) else []


def traces_of(
    chains: Sequence[str], letters: str, ca: np.ndarray, numbers: Sequence[int]
) -> dict[str, CaTrace]:
    """Sort protein residues by chains.

    Parameters
    ----------
    chains : name of the chain of each residue; length R
    letters : one-letter codes; length R
    ca : CA atoms, shape (R, 3), Å, nan where there is none
    numbers : of the residues; length R
    """
    places: dict[str, list[int]] = {}
    for place, chain in enumerate(chains):
        places.setdefault(chain, []).append(place)
    traces = {}
    for chain, residues in places.items():
        sequence = "".join(letters[residue] for residue in residues)
        traces[chain] = CaTrace(sequence, ca[residues], [numbers[residue] for residue in residues])
    return traces


def _joined(names: Sequence[str], pairs: Iterable[Pair]) -> Partners:
    """Chains that pairs join, directly or through others."""
    body = {name: {name} for name in names}
    for pair in pairs:
        both = body[pair.first] | body[pair.second]
        body.update(dict.fromkeys(both, both))
    return tuple(sorted({tuple(sorted(chains)) for chains in body.values()}))
