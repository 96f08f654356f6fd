"""What stands at an interface and is not protein: DNA, RNA, ligands and ions, which no feature looks at."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from toporank.structures.complex import Complex

REACH = 5.0
"""Å between heavy atoms: the first shell around a residue."""
WATERS = frozenset(("HOH", "DOD", "WAT", "H2O", "OH2", "SOL", "TIP", "TIP3", "TIP4", "TP3"))
MOST_NAMED = 6
DNA, RNA = "DNA", "RNA"


def not_looked_at(complex_: Complex, interface: np.ndarray) -> list[str]:
    """One sentence that names what touches an interface and is not protein, or none.

    interface : int, shape (N,), the interface residues. Waters are not named; DNA and RNA are named by their chains.
    """
    every = zip(complex_.names, complex_.parents, strict=True)
    others = [i for i, (name, parent) in enumerate(every) if not parent and name not in WATERS]
    if not others:
        return []
    named = _names(complex_, _touching(complex_, np.array(others), interface))
    more = [f"{len(named) - MOST_NAMED} others"] if len(named) > MOST_NAMED else []
    return [f"at the interface, but not looked at: {', '.join([*named[:MOST_NAMED], *more])}"] if named else []


def nucleic_acids(complex_: Complex) -> list[str]:
    """One phrase that names the chains of DNA and RNA, such as `DNA (chains C, D)`, or none."""
    others = [r for r, parent in enumerate(complex_.parents) if not parent and complex_.names[r] not in WATERS]
    acids = [name for name in _names(complex_, others) if name.startswith((f"{DNA} (", f"{RNA} ("))]
    return [" and ".join(acids)] if acids else []


def _touching(complex_: Complex, others: np.ndarray, interface: np.ndarray) -> list[int]:
    """Those of some residues that have a heavy atom near one of an interface residue."""
    from scipy.spatial import cKDTree  # slow to import, and needed only for complexes with more than protein

    heavy = ~complex_.is_hydrogen
    of_others = np.flatnonzero(np.isin(complex_.residue_of, others) & heavy)
    of_interface = np.isin(complex_.residue_of, interface) & heavy
    apart, _ = cKDTree(complex_.xyz[of_interface]).query(complex_.xyz[of_others], distance_upper_bound=REACH)
    return np.unique(complex_.residue_of[of_others[np.isfinite(apart)]]).tolist()


def _names(complex_: Complex, residues: list[int]) -> list[str]:
    """DNA and RNA with their chains, then the others: one with its place, several of a name with their number."""
    import gemmi  # slow to import, and needed only for complexes with more than protein

    acids: dict[str, set[str]] = defaultdict(set)
    others: dict[str, list[int]] = defaultdict(list)
    for r in residues:
        kind = gemmi.find_tabulated_residue(complex_.names[r])
        if kind.is_nucleic_acid():
            acids[DNA if kind.kind == gemmi.ResidueKind.DNA else RNA].add(complex_.residues[r].chain)
        else:
            others[complex_.names[r]].append(r)
    chains = [f"{acid} ({'chain' if len(of) == 1 else 'chains'} {', '.join(sorted(of))})" for acid, of in acids.items()]
    places = [
        f"{name} ({complex_.residues[of[0]]})" if len(of) == 1 else f"{len(of)} {name}" for name, of in others.items()
    ]
    return [*sorted(chains), *places]
