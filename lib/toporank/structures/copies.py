"""Chains that are written twice: merged files often hold the same chain under two names, in the
same place.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from toporank.structures.model_residue import ModelResidue

SAME_PLACE = 0.5
"""Å between the CA atoms of a chain and of its copy, at most."""


def copies(residues: list[ModelResidue]) -> dict[str, str]:
    """Find chains that stand in the place of an earlier one: name of the copy → name of that chain.

    A copy has the same amino acids in the same order, and each CA within `SAME_PLACE` of its
    counterpart; a chain with the same sequence somewhere else is not a copy.
    """
    chains: dict[str, list[ModelResidue]] = defaultdict(list)
    for residue in residues:
        if residue.parent:
            chains[residue.chain].append(residue)
    names_of: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for name, of_chain in chains.items():
        names_of[tuple(residue.parent for residue in of_chain)].append(name)
    original: dict[str, str] = {}
    for names in names_of.values():
        distinct: dict[str, np.ndarray] = {}
        for name in names if len(names) > 1 else ():
            ca = np.array([residue.ca_place() for residue in chains[name]])
            for other, ca_of_other in distinct.items():
                if _coincide(ca, ca_of_other):
                    original[name] = other
                    break
            else:
                distinct[name] = ca
    return original


def _coincide(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether CA atoms of two chains are in the same places: (L, 3), Å, nan where there is none."""
    has_ca = ~np.isnan(one[:, 0])
    if not has_ca.any() or (has_ca != ~np.isnan(other[:, 0])).any():
        return False
    apart = np.linalg.norm(one[has_ca] - other[has_ca], axis=1)
    return bool((apart <= SAME_PLACE).all())
