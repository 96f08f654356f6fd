"""The two sides of a complex, and which residue of one structure is which of another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from toporank.chains.alignment import align
from toporank.chains.match import superposition
from toporank.chains.partners import Partners, parse_partners
from toporank.errors import NativeError, StructureError
from toporank.structures.complex import STANDARD, Complex

BACKBONE = (b"N", b"CA", b"C")
BOND = 2.0
"""Å between C and N of neighbours in sequence. Farther apart, the chain is cut: a force field would
join them.
"""
FEWEST_RESIDUES = 5
"""Of a partner that is docked."""
SAME_SEQUENCE = 0.9
"""From this share of equal residues, two partners count as copies of one another."""


def two_partners(partners: str, chains: list[str]) -> Partners:
    """The two partners of a complex. Raises NativeError when there are not two.

    partners : such as `H+L:A`; "" for the two chains of a complex that has two. chains : its
    protein chains.
    """
    parts = (
        parse_partners(partners) if partners else tuple((chain,) for chain in chains)
    )
    if len(parts) != 2:
        of_chains = f"{len(parts)} chains, and no partners given"
        what = f"{len(parts)} partners, two can be docked" if partners else of_chains
        raise NativeError(
            what, remedy="name two partners, such as H+L:A, in `sampling.partners`"
        )
    return parts


def partner(complex_: Complex, chains: Sequence[str]) -> Complex:
    """One side of a complex.

    It has heavy atoms of amino acids with a whole backbone, named as the standard residues they
    are.

    Left out are residues without a standard parent, and pieces of the chain of one residue. Raises
    StructureError when a chain is missing or hardly anything is left.
    """
    missing = sorted(set(chains) - set(complex_.chains))
    if missing:
        remedy = f"the protein chains are {', '.join(complex_.chains)}"
        raise StructureError(f"no protein chain {', '.join(missing)}", remedy=remedy)
    heavy = complex_.without_hydrogens()
    of_chains = np.array([residue.chain in chains for residue in heavy.residues])
    standard = np.isin(heavy.parents, list(STANDARD))
    has_backbone = (heavy.atoms_named(*BACKBONE) >= 0).all(axis=1)
    side = heavy.only(np.flatnonzero(of_chains & standard & has_backbone))
    long_pieces = [piece for piece in pieces(side) if len(piece) > 1]
    side = side.only(np.concatenate([np.zeros(0, int), *long_pieces]))
    n_residues = len(side.residues)
    if n_residues < FEWEST_RESIDUES:
        what = f"chains {', '.join(chains)} have {n_residues} amino acids with all of N, CA and C"
        raise StructureError(what, remedy=f"at least {FEWEST_RESIDUES} are needed")
    return replace(side, names=side.parents, hetero=frozenset(), notes=(), labels=())


def with_atoms(complex_: Complex, atoms: np.ndarray) -> Complex:
    """The complex with some of its atoms, bool, shape (A,).

    Every CA is among them or its residue is not used.
    """
    return replace(
        complex_,
        xyz=complex_.xyz[atoms],
        atom_names=complex_.atom_names[atoms],
        residue_of=complex_.residue_of[atoms],
        ca=(np.cumsum(atoms) - 1)[complex_.ca],
    )


def pieces(partner: Complex) -> list[np.ndarray]:
    """The residues of each unbroken stretch of chain, in order: int arrays."""
    if not partner.residues:
        return []
    n, _, c = partner.atoms_named(*BACKBONE).T
    gap = np.linalg.norm(partner.xyz[n[1:]] - partner.xyz[c[:-1]], axis=1) > BOND
    chain = np.array([residue.chain for residue in partner.residues])
    cuts = np.flatnonzero(gap | (chain[1:] != chain[:-1])) + 1
    return np.split(np.arange(len(partner.residues)), cuts)


def matching(
    model: Complex, native: Complex, names: dict[str, str] | None = None
) -> np.ndarray:
    """Residues of a model that are residues of the native.

    The result is int, shape (k, 2), by sequence, chain by chain.

    names : the native's chain of each chain of the model; by default chains have the same names.
    """
    pairs = [np.zeros((0, 2), dtype=np.intp)]
    for name in model.chains:
        chain = model.protein_chains[name]
        of_native = native.protein_chains.get((names or {}).get(name, name))
        if of_native:
            # of each residue of the native, or -1
            place = align(of_native.sequence, chain.sequence).residue
            aligned = place >= 0
            both = [chain.index[place[aligned]], of_native.index[aligned]]
            pairs.append(np.column_stack(both))
    return np.concatenate(pairs)


def exchanged(receptor: Complex, ligand: Complex) -> dict[str, str]:
    """For partners that are copies of one another the chain each chain changes places with.

    There is nothing otherwise.
    """
    if len(receptor.chains) != len(ligand.chains):
        return {}
    names = dict(zip(receptor.chains, ligand.chains, strict=True))
    shared = len(matching(receptor, ligand, names))
    if shared < SAME_SEQUENCE * max(len(receptor.residues), len(ligand.residues)):
        return {}
    return names | {theirs: ours for ours, theirs in names.items()}


def superposed(model: Complex, native: Complex) -> Complex:
    """The model on the native by the CA of their common residues.

    Raises StructureError when they have too few.
    """
    pairs = matching(model, native)
    if len(pairs) < max(FEWEST_RESIDUES, len(native.residues) / 2):
        what = (
            f"{len(pairs)} residues in common with {len(native.residues)} of the native"
        )
        remedy = "give the unbound partner the chain names of the bound one"
        raise StructureError(what, remedy=remedy)
    of_model, of_native = pairs.T
    turn, shift = superposition(
        model.xyz[model.ca[of_model]], native.xyz[native.ca[of_native]]
    )
    return replace(model, xyz=model.xyz @ turn + shift)


def joined(partners: Iterable[Complex]) -> Complex:
    """The complex of all partners, in their order."""
    whole, *others = partners
    for part in others:
        whole = Complex(
            residues=whole.residues + part.residues,
            names=whole.names + part.names,
            parents=whole.parents + part.parents,
            xyz=np.concatenate([whole.xyz, part.xyz]),
            atom_names=np.concatenate([whole.atom_names, part.atom_names]),
            residue_of=np.append(
                whole.residue_of, part.residue_of + len(whole.residues)
            ),
            ca=np.append(whole.ca, part.ca + len(whole.xyz)),
        )
    return whole
