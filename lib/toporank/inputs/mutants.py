"""Mutants that are models of one target: nearly the same sequences, which may be what a user wants to tell apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import combinations, groupby

from toporank.errors import printable
from toporank.inputs.complexes import Grouped
from toporank.inputs.decoy_names import Sketches
from toporank.inputs.kinds import exchanges

MOST = 10
"""Different proteins among the chains of one kind up to which they are counted."""


def mutants(grouped: Grouped, sketches: Sketches) -> list[str]:
    """Where models of a target are of different proteins: a sentence about the first such target, or none."""
    found: dict[str, str] = {}
    for target, decoys in groupby(grouped.decoys, key=lambda decoy: decoy.target):
        called: dict[int, Counter[str]] = {}
        sequences: dict[int, dict[str, set[str]]] = {}
        for decoy in decoys:
            seen = sketches.get(decoy.path)
            for chain, sequence in seen.of_model(decoy.model) if seen else ():
                kind = grouped.kinds[decoy.key][chain]
                called.setdefault(kind, Counter())[chain] += 1
                sequences.setdefault(kind, {}).setdefault(decoy.name, set()).add(sequence)
        said = (_variants(called[kind].most_common(1)[0][0], sequences[kind]) for kind in sorted(sequences))
        if first := next(filter(None, said), ""):
            found[target] = first
    if not found:
        return []
    target, *more = found
    n_more = f"{len(more)} more target{'s' * (len(more) > 1)}"
    others = f"; so it is with {n_more}, such as {printable(more[0])}" if more else ""
    return [
        f"models of {printable(target)} have {found[target]} and are compared as one complex: put those of each"
        f" sequence into a folder of its own to score them apart{others}"
    ]


def _variants(chain: str, of_models: Mapping[str, set[str]]) -> str:
    """`2 different sequences of chain A (one and other differ in 3 residues)`, or nothing.

    Models differ if none of their chains of this kind are the same protein. of_models : name → sequences.
    """
    firsts: list[str] = []
    variant: dict[str, int] = {}
    for sequence in sorted(set().union(*of_models.values()), key=lambda s: (-len(s), s)):
        same = (place for place, first in enumerate(firsts) if not exchanges(first, sequence))
        variant[sequence] = next(same, len(firsts))
        if variant[sequence] == len(firsts):
            firsts.append(sequence)
        if len(firsts) == MOST:
            break
    having: dict[frozenset[int], str] = {}
    for model in sorted(of_models):
        having.setdefault(frozenset(variant[s] for s in of_models[model] if s in variant), model)
    differing = ((one, other) for one, other in combinations(filter(None, having), 2) if not one & other)
    if not (pair := next(differing, None)):
        return ""
    first, second = (printable(having[variants]) for variants in pair)
    n = exchanges(*(firsts[min(variants)] for variants in pair))
    many = f"{MOST} or more" if len(firsts) == MOST else str(len(firsts))
    return (
        f"{many} different sequences of chain {printable(chain)} ({first} and {second} differ in"
        f" {n} residue{'s' * (n > 1)})"
    )
