"""Chains without side chains, such as those of RFdiffusion.

The scorer looks at side chains and cannot judge these.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from toporank.chains.partners import listed

FEWEST = 10
"""Residues of a chain that TopoRank judges, at least."""
MOST_WITH = 0.1
"""Share of the residues of a chain that may have a side chain, and the chain still counts as one
without.
"""
SECOND_ATOMS = np.array([b"CG", b"CG1", b"OG", b"OG1", b"SG"], dtype="S8").view("<u8")
"""What follows CB, as numbers: each amino acid but glycine and alanine has one of these."""
ONLY_CA, BACKBONE_ONLY, GLYCINE, ALANINE = (
    "CA atoms only",
    "backbone only",
    "all glycine",
    "all alanine",
)


def lacking_side_chains(
    chains: list[str],
    parents: list[str],
    atom_names: np.ndarray,
    residue_of: np.ndarray,
) -> str:
    """A note on the chains of a model that have no side chains, or none.

    Parameters
    ----------
    chains : chain name of each residue; length R
    parents : the standard residue each counts as, `""` for what is not protein; length R
    atom_names : bytes of length 8, shape (A,)
    residue_of : int, shape (A,), residue of each atom

    Returns
    -------
    A sentence, empty where no chain is so: only chains of at least `FEWEST` amino acids are looked
    at.
    """
    has_side_chain = np.zeros(len(chains), dtype=bool)
    has_side_chain[
        residue_of[np.isin(atom_names.view("<u8").ravel(), SECOND_ATOMS)]
    ] = True
    residues_of: dict[str, list[int]] = defaultdict(list)
    for residue, chain in enumerate(chains):
        if parents[residue]:
            residues_of[chain].append(residue)
    chains_of: dict[str, list[str]] = defaultdict(list)
    for chain, residues in sorted(residues_of.items()):
        if len(residues) >= FEWEST and has_side_chain[
            residues
        ].sum() <= MOST_WITH * len(residues):
            atoms = set(atom_names[np.isin(residue_of, residues)].tolist())
            kind = _kind({parents[residue] for residue in residues}, atoms)
            chains_of[kind].append(chain)
    kinds = []
    for kind, names in chains_of.items():
        kinds.append(f"chain{'s' if len(names) > 1 else ''} {listed(names)} ({kind})")
    if not kinds:
        return ""
    return f"no side chains in {', '.join(kinds)}: the score means little"


def _kind(parents: set[str], atoms: set[bytes]) -> str:
    """What a chain without side chains is. atoms : the names that it has."""
    if not {b"N", b"C"} & atoms:
        return ONLY_CA
    if parents == {"GLY"}:
        return GLYCINE
    return ALANINE if parents == {"ALA"} and b"CB" in atoms else BACKBONE_ONLY
