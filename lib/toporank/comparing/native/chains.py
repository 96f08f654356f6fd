"""The protein chains of a complex."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from toporank.structures.complex import STANDARD, Complex
from toporank.structures.identity import free_name

BACKBONE = (b"N", b"CA", b"C", b"O")
CA = 1
"""Place of CA in a backbone."""


@dataclass(frozen=True)
class Chain:
    """One protein chain of L residues in the order of the file. Coordinates in Å, NaN where there is no atom.

    index : int, shape (L,), its residues in the complex
    sequence : L letters, `X` for a residue that counts as none of the 20
    atoms : heavy atoms of each residue, shape (L, M, 3); M is that of the largest residue of the complex
    backbone : N, CA, C and O of each residue, shape (L, 4, 3)
    piece_of : name of the chain of the file that it is a piece of; empty for a whole chain
    """

    name: str
    index: np.ndarray
    sequence: str
    atoms: np.ndarray
    backbone: np.ndarray
    piece_of: str = ""

    @property
    def of_file(self) -> str:
        """Name of the chain of the file."""
        return self.piece_of or self.name

    @property
    def ca(self) -> np.ndarray:
        """CA atoms, shape (L, 3)."""
        return self.backbone[:, CA]


def chains_of(complex_: Complex) -> dict[str, Chain]:
    """The protein chains by name, in the order of the file."""
    heavy = complex_.without_hydrogens()
    start, residue = heavy.atom_slices, heavy.residue_of
    atoms = np.full((len(heavy.residues), int(np.diff(start).max(where=heavy.is_protein, initial=1)), 3), np.nan)
    within = np.arange(len(residue)) - start[residue]
    kept = heavy.is_protein[residue]
    atoms[residue[kept], within[kept]] = heavy.xyz[kept]
    backbone = np.full((len(heavy.residues), len(BACKBONE), 3), np.nan)
    for k, name in enumerate(BACKBONE):
        of_name = heavy.atom_names == name
        backbone[residue[of_name], k] = heavy.xyz[of_name]
    members: dict[str, list[int]] = {}
    for i, (residue_id, parent) in enumerate(zip(heavy.residues, heavy.parents, strict=True)):
        if parent and start[i] < start[i + 1]:
            members.setdefault(residue_id.chain, []).append(i)
    return {
        name: Chain(
            name, np.array(own), "".join(STANDARD.get(heavy.parents[i], "X") for i in own), atoms[own], backbone[own]
        )
        for name, own in members.items()
    }


def in_pieces(chains: Mapping[str, Chain], cuts: Mapping[str, Sequence[slice]]) -> dict[str, Chain]:
    """The chains by name, some of them cut into pieces, which get names of their own.

    cuts : chain → its pieces, as `joined.cuts` gives them.
    """
    found: dict[str, Chain] = {}
    for name, chain in chains.items():
        if name not in cuts:
            found[name] = chain
            continue
        for number, residues in enumerate(cuts[name], 1):
            own = free_name(f"{name}/{number}", {*chains, *found})
            found[own] = replace(
                chain,
                name=own,
                index=chain.index[residues],
                sequence=chain.sequence[residues],
                atoms=chain.atoms[residues],
                backbone=chain.backbone[residues],
                piece_of=name,
            )
    return found
