"""What chains are that are one body by nature, in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from toporank.chains.immune import ANTIBODY, MHC, PEPTIDE, RECEPTOR, Pair
from toporank.chains.partners import Partners, listed, partner_name
from toporank.errors import first_of

AN_ANTIBODY, A_RECEPTOR = "an antibody", "a T-cell receptor"
AN_MHC, AN_MHC_WITH_PEPTIDE = "an MHC molecule", "an MHC molecule with its peptide"
NAMES = {
    AN_ANTIBODY: {ANTIBODY},
    A_RECEPTOR: {RECEPTOR},
    AN_MHC: {MHC},
    AN_MHC_WITH_PEPTIDE: {MHC, PEPTIDE},
}
"""What a sentence calls a body, by the pairs that its chains are."""
MOST_SENTENCES = 3
COUNTED_AS = ": counted as "
"""Parts what chains are from the partners that they count as."""


def sentence_of_pairs(partners: Partners, pairs: Iterable[Pair]) -> str:
    """What the chains of partners are by nature, and how they count.

    The text is empty if no partner is such a body.

    Parameters
    ----------
    partners : as they count
    pairs : chains that belong together

    Returns
    -------
    A sentence without its full stop.

    Examples
    --------
    >>> sentence_of_pairs((("A",), ("H", "L")), [Pair(ANTIBODY, "H", "L")])
    'H and L are an antibody: counted as H+L against A'
    """
    pairs = list(pairs)
    bodies = []
    for chains in partners:
        kinds = {
            pair.what for pair in pairs if {pair.first, pair.second} <= set(chains)
        }
        name = next((name for name, of in NAMES.items() if kinds and kinds <= of), "")
        if name:
            members = [partner_name([chain]) for chain in chains]
            bodies.append(f"{listed(members)} are {name}")
    if not bodies:
        return ""
    largest_first = sorted(partners, key=lambda chains: (-len(chains), chains))
    written = [partner_name(chains) for chains in largest_first]
    how = " against ".join(written)
    if len(written) != 2:
        how = f"{len(written)} partners, {listed(written)}"
    return f"{', and '.join(bodies)}{COUNTED_AS}{how}"


def sentence_of_a_body_alone(chains: Iterable[str], pairs: Iterable[Pair]) -> str:
    """What two chains are by nature that have no other partner, in a sentence.

    The text is empty if they are none of these bodies.

    >>> sentence_of_a_body_alone(["H", "L"], [Pair(ANTIBODY, "H", "L")])
    'H and L are an antibody without anything that it binds: counted as H against L'
    """
    ends = sorted(chains)
    for pair in pairs:
        if sorted((pair.first, pair.second)) == ends and pair.what != PEPTIDE:
            name = next(name for name, of in NAMES.items() if of == {pair.what})
            first, second = [partner_name([chain]) for chain in ends]
            how = f"counted as {first} against {second}"
            return (
                f"{first} and {second} are {name} without anything that it binds: {how}"
            )
    return ""


def lines_of_targets(targets: Mapping[str, list[str]]) -> list[str]:
    """Return a line for each of the first sentences, with the targets that it is about.

    Parameters
    ----------
    targets : sentence → its targets

    >>> lines_of_targets({"A and B are an antibody": ["T", "U", "V"]})
    ['T and 2 more: A and B are an antibody']
    """
    lines: list[str] = []
    n_further = 0
    for sentence, names in targets.items():
        if len(lines) == MOST_SENTENCES:
            n_further += len(names)
            continue
        lines.append(f"{first_of(names, 1)}: {sentence}")
    if n_further:
        lines.append(f"and {n_further} more targets in the same way")
    return lines
