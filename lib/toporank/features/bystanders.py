"""What stands at an interface and is not protein.

DNA, RNA, ligands and ions, which no feature looks at.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from toporank.structures.complex import Complex

REACH = 5.0
"""Å between heavy atoms: the first shell around a residue."""
WATERS = frozenset(
    ("HOH", "DOD", "WAT", "H2O", "OH2", "SOL", "TIP", "TIP3", "TIP4", "TP3")
)
MOST_NAMED = 6
DNA, RNA = "DNA", "RNA"


def not_looked_at(complex_: Complex, interface: np.ndarray) -> list[str]:
    """One sentence that names what touches an interface and is not protein, or none.

    interface : int, shape (N,), the interface residues. Waters are not named; DNA and RNA are named
    by their chains.
    """
    others = _not_protein(complex_)
    names = _names(complex_, _touching(complex_, others, interface)) if others else []
    if len(names) > MOST_NAMED:
        names[MOST_NAMED:] = [f"{len(names) - MOST_NAMED} others"]
    return [f"at the interface, but not looked at: {', '.join(names)}"] if names else []


def nucleic_acids(complex_: Complex) -> list[str]:
    """One phrase that names the chains of DNA and RNA, such as `DNA (chains C, D)`, or none."""
    names = _names(complex_, _not_protein(complex_))
    acids = [name for name in names if name.startswith((f"{DNA} (", f"{RNA} ("))]
    return [" and ".join(acids)] if acids else []


def _not_protein(complex_: Complex) -> list[int]:
    """The residues that are neither protein nor water."""
    is_water = np.isin(complex_.names, list(WATERS))
    return np.flatnonzero(~complex_.is_protein & ~is_water).tolist()


def _touching(complex_: Complex, others: list[int], interface: np.ndarray) -> list[int]:
    """Those of some residues that have a heavy atom near one of an interface residue."""
    # slow to import, and needed only beside other molecules
    from scipy.spatial import cKDTree

    heavy = ~complex_.is_hydrogen
    of_others = np.flatnonzero(np.isin(complex_.residue_of, others) & heavy)
    of_interface = np.isin(complex_.residue_of, interface) & heavy
    tree = cKDTree(complex_.xyz[of_interface])
    apart, _ = tree.query(complex_.xyz[of_others], distance_upper_bound=REACH)
    return np.unique(complex_.residue_of[of_others[np.isfinite(apart)]]).tolist()


def _names(complex_: Complex, residues: list[int]) -> list[str]:
    """DNA and RNA with their chains, then the others.

    A single one has its place, and several of a name have their number.
    """
    import gemmi  # slow to import, and needed only beside other molecules

    chains_of_acid: dict[str, set[str]] = defaultdict(set)
    residues_of_name: dict[str, list[int]] = defaultdict(list)
    for r in residues:
        kind = gemmi.find_tabulated_residue(complex_.names[r])
        if kind.is_nucleic_acid():
            acid = DNA if kind.kind == gemmi.ResidueKind.DNA else RNA
            chains_of_acid[acid].add(complex_.residues[r].chain)
        else:
            residues_of_name[complex_.names[r]].append(r)
    names = []
    for acid, chains in sorted(chains_of_acid.items()):
        word = "chain" if len(chains) == 1 else "chains"
        names.append(f"{acid} ({word} {', '.join(sorted(chains))})")
    for name, places in residues_of_name.items():
        names.append(
            f"{name} ({complex_.residues[places[0]]})"
            if len(places) == 1
            else f"{len(places)} {name}"
        )
    return names
