"""What chains are that are one body by nature, in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from toporank.structures.immune import ANTIBODY, MHC, PEPTIDE, RECEPTOR, Pair, roles_of
from toporank.structures.partners import Partners, partner_name

AN_ANTIBODY, A_RECEPTOR = "an antibody", "a T-cell receptor"
AN_MHC, AN_MHC_WITH_PEPTIDE = "an MHC molecule", "an MHC molecule with its peptide"
NAMES = {
    AN_ANTIBODY: {ANTIBODY},
    A_RECEPTOR: {RECEPTOR},
    AN_MHC: {MHC},
    AN_MHC_WITH_PEPTIDE: {MHC, PEPTIDE},
}
"""What a sentence calls a body, by the pairs that its chains are."""


def joined_sentence(partners: Partners, sequences: Mapping[str, str]) -> str:
    """What the chains of partners are by nature, and how they count, in a sentence; empty if no partner is such a body.

    sequences : of chains by name; a chain that is not there is nothing by nature.

    >>> sequences = {"A": "GSHSMRYFYTAMSRPGRGEPRFIAVGYVDD".ljust(160, "A"), "B": "VYSRHPAENGKSNFLNCYVSGFHP" * 3}
    >>> joined_sentence((("A", "B"), ("C",)), sequences)
    'A and B are an MHC molecule: scored as A+B against C'
    """
    names = {chains: name_of_body([sequences.get(chain, "") for chain in chains]) for chains in partners}
    return _sentence(partners, names, "scored")


def sentence_of_pairs(partners: Partners, pairs: Iterable[Pair], verb: str) -> str:
    """As `joined_sentence`, where it is known which chains belong together. verb : what is done with the partners.

    >>> sentence_of_pairs((("A",), ("H", "L")), [Pair(ANTIBODY, "H", "L")], "labelled")
    'H and L are an antibody: labelled as H+L against A'
    """
    pairs = list(pairs)
    names = {}
    for chains in partners:
        kinds = {pair.what for pair in pairs if {pair.first, pair.second} <= set(chains)}
        names[chains] = next((name for name, of in NAMES.items() if kinds and kinds <= of), "")
    return _sentence(partners, names, verb)


def sentence_of_a_body_alone(chains: Iterable[str], pairs: Iterable[Pair]) -> str:
    """What two chains are by nature that have no other partner, in a sentence; empty if they are none of these bodies.

    >>> sentence_of_a_body_alone(["H", "L"], [Pair(ANTIBODY, "H", "L")])
    'H and L are an antibody without anything that it binds: scored as H against L'
    """
    chains = list(chains)
    for pair in pairs:
        if len(chains) == 2 and {pair.first, pair.second} == set(chains) and pair.what != PEPTIDE:
            name = next(name for name, of in NAMES.items() if of == {pair.what})
            first, second = [partner_name([chain]) for chain in sorted(chains)]
            return f"{first} and {second} are {name} without anything that it binds: scored as {first} against {second}"
    return ""


def _sentence(partners: Partners, names: Mapping[tuple[str, ...], str], verb: str) -> str:
    known = []
    for chains in partners:
        if names[chains]:
            known.append(f"{_listed([partner_name([chain]) for chain in chains])} are {names[chains]}")
    if not known:
        return ""
    written = [partner_name(chains) for chains in sorted(partners, key=lambda chains: (-len(chains), chains))]
    how = " against ".join(written) if len(written) == 2 else f"{len(written)} partners, {_listed(written)}"
    return f"{', and '.join(known)}: {verb} as {how}"


def name_of_body(sequences: Sequence[str]) -> str:
    """What several chains are that are one partner, by their sequences; empty if they are none of these bodies.

    >>> name_of_body(["GSHSM", "QRTPKIQ"])
    ''
    """
    roles = [roles_of(sequence) for sequence in sequences]
    if len(roles) == 2 and all(role.domains for role in roles):
        heavy = any(domain.heavy for role in roles for domain in role.domains)
        return AN_ANTIBODY if heavy else A_RECEPTOR
    of_mhc = [role for role in roles if role.class_1 or role.beta_2 or role.alpha or role.beta]
    peptides = [role for role in roles if role.peptide]
    if len(roles) < 2 or not of_mhc or len(of_mhc) + len(peptides) < len(roles):
        return ""
    return AN_MHC_WITH_PEPTIDE if peptides else AN_MHC


def _listed(names: Sequence[str]) -> str:
    """Names in words: `A, B and C`."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last
