"""Mutants that are models of one target.

Their sequences are nearly the same, and a user may want to tell them apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import combinations, groupby
from operator import attrgetter

from toporank.chains.kinds import exchanges
from toporank.errors import printable
from toporank.finding.complexes import Grouped
from toporank.finding.sequences import Sequences

MOST = 10
"""Different proteins among the chains of one kind up to which they are counted."""
CUT = 0.7
"""A chain with less than this part of the residues of the longest may be of another construct."""


def mutants(grouped: Grouped) -> list[str]:
    """Return where models of a target are of different proteins.

    It is a sentence about the first such target, or nothing.
    """
    variants: dict[str, str] = {}
    of_decoys = Sequences(grouped.sketches)
    for target, members in groupby(grouped.decoys, key=attrgetter("target")):
        decoys = list(members)
        # decoys with the same chains have one object with their kinds
        alike = {id(grouped.kinds[decoy.key]): decoy for decoy in decoys}
        different: dict[int, set[str]] = {}
        for decoy in alike.values():
            kinds = grouped.kinds[decoy.key]
            for chain, sequence in of_decoys.of(decoy).items():
                different.setdefault(kinds[chain], set()).add(sequence)
        if all(len(of_kind) == 1 for of_kind in different.values()):
            continue
        names_of_kind: dict[int, Counter[str]] = {}
        sequences: dict[int, dict[str, set[str]]] = {}
        for decoy in decoys:
            for chain, sequence in of_decoys.of(decoy).items():
                kind = grouped.kinds[decoy.key][chain]
                names_of_kind.setdefault(kind, Counter())[chain] += 1
                sequences.setdefault(kind, {}).setdefault(decoy.name, set()).add(
                    sequence
                )
        for kind in sorted(sequences):
            [(chain, _)] = names_of_kind[kind].most_common(1)
            sentence = _variants(chain, sequences[kind])
            sentence = sentence or _lengths(chain, sequences[kind])
            if sentence:
                variants[target] = sentence
                break
    if not variants:
        return []
    target, *others = variants
    more = ""
    if others:
        targets = f"{len(others)} more target{'s' * (len(others) > 1)}"
        more = f"; so it is with {targets}, such as {printable(others[0])}"
    return [
        f"models of {printable(target)} have {variants[target]} and are compared as one complex: "
        f"put those of each sequence into a folder of its own to score them apart{more}"
    ]


def _variants(chain: str, of_models: Mapping[str, set[str]]) -> str:
    """`2 different sequences of chain A (one and other differ in 3 residues)`, or nothing.

    Models differ if none of their chains of this kind are the same protein. of_models : name →
    sequences.
    """
    proteins: list[str] = []
    protein_of: dict[str, int] = {}
    for sequence in sorted(
        set().union(*of_models.values()), key=lambda s: (-len(s), s)
    ):
        for place, protein in enumerate(proteins):
            if not exchanges(protein, sequence):
                protein_of[sequence] = place
                break
        else:
            protein_of[sequence] = len(proteins)
            proteins.append(sequence)
        if len(proteins) == MOST:
            break
    model_of: dict[frozenset[int], str] = {}
    for model in sorted(of_models):
        counted = of_models[model] & protein_of.keys()
        if counted:
            model_of.setdefault(frozenset(protein_of[name] for name in counted), model)
    for one, other in combinations(model_of, 2):
        if one & other:
            continue
        n = exchanges(proteins[min(one)], proteins[min(other)])
        many = f"{MOST} or more" if len(proteins) == MOST else len(proteins)
        return (
            f"{many} different sequences of chain {printable(chain)} ({printable(model_of[one])} "
            f"and {printable(model_of[other])} differ in {n} residue{'s' * (n > 1)})"
        )
    return ""


def _lengths(chain: str, of_models: Mapping[str, set[str]]) -> str:
    """`chains A of 60 and of 100 residues (one and other)`, or nothing.

    Where parts of a chain are missing, sequences do not say whether they were modelled at all.
    of_models : name → sequences.
    """
    longest = {model: max(map(len, of_models[model])) for model in sorted(of_models)}
    short = min(longest, key=lambda model: longest[model])
    whole = max(longest, key=lambda model: longest[model])
    if longest[short] >= CUT * longest[whole]:
        return ""
    return (
        f"chains {printable(chain)} of {longest[short]} and of {longest[whole]} residues "
        f"({printable(short)} and {printable(whole)})"
    )
