"""The two sides of a complex, and which residue of one structure is which of another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from toporank.comparing.native.alignment import align
from toporank.comparing.native.dockq import superposition
from toporank.errors import NativeError, StructureError
from toporank.structures.complex import STANDARD, Complex
from toporank.structures.partners import Partners, parse_partners

BOND = 2.0
"""Å between C and N of neighbours in sequence. Farther apart, the chain is cut: a force field would join them."""
FEWEST_RESIDUES = 5
"""Of a partner that is docked."""
SAME_SEQUENCE = 0.9
"""From this share of equal residues, two partners count as copies of one another."""


def two_partners(partners: str, chains: list[str]) -> Partners:
    """The two partners of a complex. Raises NativeError when there are not two.

    partners : such as `H+L:A`; "" for the two chains of a complex that has two. chains : its protein chains.
    """
    found = parse_partners(partners) if partners else tuple((chain,) for chain in chains)
    if len(found) != 2:
        what = (
            f"{len(found)} partners, two can be docked" if partners else f"{len(found)} chains, and no partners given"
        )
        raise NativeError(what, remedy="name two partners, such as H+L:A, in `sampling.partners`")
    return found


def partner(complex_: Complex, chains: Sequence[str]) -> Complex:
    """One side of a complex: heavy atoms of amino acids with a whole backbone, named as the standard residues they are.

    Left out are residues without a standard parent, and pieces of the chain of one residue. Raises StructureError when
    a chain is not there or hardly anything is left.
    """
    missing = sorted(set(chains) - set(complex_.chains))
    if missing:
        remedy = f"the protein chains are {', '.join(complex_.chains)}"
        raise StructureError(f"no protein chain {', '.join(missing)}", remedy=remedy)
    found = complex_.without_hydrogens()
    of_chains = np.array([residue.chain in chains for residue in found.residues])
    known = np.isin(found.parents, list(STANDARD)) & (backbone(found) >= 0).all(axis=1)
    kept = _selected(found, of_chains & known)
    whole = [piece for piece in pieces(kept) if len(piece) > 1]
    kept = _selected(kept, np.isin(np.arange(len(kept.residues)), np.concatenate([[-1], *whole])))
    if len(kept.residues) < FEWEST_RESIDUES:
        what = f"chains {', '.join(chains)} have {len(kept.residues)} amino acids with all of N, CA and C"
        raise StructureError(what, remedy=f"at least {FEWEST_RESIDUES} are needed")
    return replace(kept, names=kept.parents, hetero=frozenset(), notes=(), labels=())


def _selected(complex_: Complex, residues: np.ndarray) -> Complex:
    """The complex of some of its residues, bool, shape (R,)."""
    index = np.flatnonzero(residues)
    left = with_atoms(complex_, residues[complex_.residue_of])
    return replace(
        left,
        residues=tuple(complex_.residues[i] for i in index),
        names=tuple(complex_.names[i] for i in index),
        parents=tuple(complex_.parents[i] for i in index),
        residue_of=(np.cumsum(residues) - 1)[left.residue_of],
        ca=left.ca[index],
        labels=(),
    )


def with_atoms(complex_: Complex, atoms: np.ndarray) -> Complex:
    """The complex with some of its atoms, bool, shape (A,); every CA is among them or its residue is not used."""
    return replace(
        complex_,
        xyz=complex_.xyz[atoms],
        atom_names=complex_.atom_names[atoms],
        residue_of=complex_.residue_of[atoms],
        ca=(np.cumsum(atoms) - 1)[complex_.ca],
    )


def backbone(complex_: Complex, names: Sequence[bytes] = (b"N", b"CA", b"C")) -> np.ndarray:
    """Index of each residue's atoms of these names, -1 where there is none; int, shape (R, len(names))."""
    places = np.full((len(complex_.residues), len(names)), -1)
    for column, name in enumerate(names):
        atoms = np.flatnonzero(complex_.atom_names == name)
        places[complex_.residue_of[atoms], column] = atoms
    return places


def pieces(partner: Complex) -> list[np.ndarray]:
    """The residues of each unbroken stretch of chain, in order: int arrays."""
    if not partner.residues:
        return []
    n, _, c = backbone(partner).T
    gap = np.linalg.norm(partner.xyz[n[1:]] - partner.xyz[c[:-1]], axis=1) > BOND
    chain = np.array([residue.chain for residue in partner.residues])
    cuts = np.flatnonzero(gap | (chain[1:] != chain[:-1])) + 1
    return np.split(np.arange(len(partner.residues)), cuts)


def matching(model: Complex, native: Complex, names: dict[str, str] | None = None) -> np.ndarray:
    """Residues of a model that are residues of the native: int, shape (k, 2), by sequence, chain by chain.

    names : the native's chain of each chain of the model; by default chains have the same names.
    """
    found = [np.zeros((0, 2), dtype=np.intp)]
    for chain in model.chains:
        ours, ours_at = _sequence(model, chain)
        theirs, theirs_at = _sequence(native, (names or {}).get(chain, chain))
        residue = align(theirs, ours).residue if ours and theirs else np.zeros(0, dtype=np.intp)
        found.append(np.column_stack([ours_at[residue[residue >= 0]], theirs_at[: len(residue)][residue >= 0]]))
    return np.concatenate(found)


def _sequence(complex_: Complex, chain: str) -> tuple[str, np.ndarray]:
    """One-letter sequence of a chain, and its residues."""
    at = np.array([i for i, residue in enumerate(complex_.residues) if residue.chain == chain], dtype=np.intp)
    return "".join(STANDARD[complex_.parents[i]] for i in at), at


def exchanged(receptor: Complex, ligand: Complex) -> dict[str, str]:
    """For partners that are copies of one another the chain each chain changes places with; otherwise nothing."""
    if len(receptor.chains) != len(ligand.chains):
        return {}
    names = dict(zip(receptor.chains, ligand.chains, strict=True))
    shared = len(matching(receptor, ligand, names))
    if shared < SAME_SEQUENCE * max(len(receptor.residues), len(ligand.residues)):
        return {}
    return names | {theirs: ours for ours, theirs in names.items()}


def superposed(model: Complex, native: Complex) -> Complex:
    """The model on the native by the CA of their common residues. Raises StructureError when they have too few."""
    pairs = matching(model, native)
    if len(pairs) < max(FEWEST_RESIDUES, len(native.residues) / 2):
        what = f"{len(pairs)} residues in common with {len(native.residues)} of the native"
        raise StructureError(what, remedy="give the unbound partner the chain names of the bound one")
    turn, shift = superposition(model.xyz[model.ca[pairs[:, 0]]], native.xyz[native.ca[pairs[:, 1]]])
    return replace(model, xyz=model.xyz @ turn + shift)


def joined(partners: Iterable[Complex]) -> Complex:
    """The complex of all partners, in their order."""
    parts = list(partners)
    residues = np.cumsum([0, *(len(part.residues) for part in parts)])
    atoms = np.cumsum([0, *(len(part.xyz) for part in parts)])
    return Complex(
        residues=tuple(residue for part in parts for residue in part.residues),
        names=tuple(name for part in parts for name in part.names),
        parents=tuple(parent for part in parts for parent in part.parents),
        xyz=np.concatenate([part.xyz for part in parts]),
        atom_names=np.concatenate([part.atom_names for part in parts]),
        residue_of=np.concatenate([part.residue_of + n for part, n in zip(parts, residues, strict=False)]),
        ca=np.concatenate([part.ca + n for part, n in zip(parts, atoms, strict=False)]),
    )
