"""Chains without side chains, such as those of RFdiffusion: the scorer looks at side chains and cannot judge these."""

from __future__ import annotations

from collections import Counter
from itertools import compress

import numpy as np

WITHOUT_SIDE_CHAINS = "the score means little"
"""What every note on missing side chains ends with."""
FEWEST = 10
"""Residues of a chain that TopoRank judges, at least."""
MOST_WITH = 0.1
"""Share of the residues of a chain that may have a side chain, and the chain still counts as one without."""
SECOND_ATOMS = np.array([b"CG", b"CG1", b"OG", b"OG1", b"SG"], dtype="S8").view("<u8")
"""What follows CB, as numbers: each amino acid but glycine and alanine has one of these."""
ONLY_CA, BACKBONE_ONLY, GLYCINE, ALANINE = "CA atoms only", "backbone only", "all glycine", "all alanine"


def lacking_side_chains(
    chains: list[str], parents: list[str], atom_names: np.ndarray, residue_of: np.ndarray
) -> list[str]:
    """A note on the chains of a model that have no side chains, or none.

    Parameters
    ----------
    chains : chain name of each residue; length R
    parents : the standard residue each counts as, `""` for what is not protein; length R
    atom_names : bytes of length 8, shape (A,)
    residue_of : int, shape (A,), residue of each atom

    Returns
    -------
    One sentence, or nothing: only chains of at least `FEWEST` amino acids are looked at.
    """
    second = np.isin(atom_names.view("<u8").ravel(), SECOND_ATOMS)
    with_atoms = Counter(chains[residue] for residue in set(residue_of[second].tolist()) if parents[residue])
    sizes = Counter(compress(chains, parents))
    bare = {chain for chain, n in sizes.items() if n >= FEWEST and with_atoms[chain] <= MOST_WITH * n}
    if not bare:
        return []
    of_kinds: dict[str, list[str]] = {}
    for chain in sorted(bare):
        residues = [r for r, (name, parent) in enumerate(zip(chains, parents, strict=True)) if name == chain and parent]
        atoms = set(atom_names[np.isin(residue_of, residues)].tolist())
        kind = _kind({parents[r] for r in residues}, atoms)
        of_kinds.setdefault(kind, []).append(chain)
    listed = ", ".join(f"{_chains(of_kind)} ({kind})" for kind, of_kind in of_kinds.items())
    return [f"no side chains in {listed}: {WITHOUT_SIDE_CHAINS}"]


def _kind(parents: set[str], atoms: set[bytes]) -> str:
    """What a chain without side chains is. atoms : the names that it has."""
    if not {b"N", b"C"} & atoms:
        return ONLY_CA
    if parents == {"GLY"}:
        return GLYCINE
    return ALANINE if parents == {"ALA"} and b"CB" in atoms else BACKBONE_ONLY


def _chains(names: list[str]) -> str:
    return f"chain{'s' * (len(names) > 1)} {' and '.join([', '.join(names[:-1]), names[-1]] if names[1:] else names)}"
