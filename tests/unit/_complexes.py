"""Complexes made of parts of others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace

import numpy as np

from toporank.structures.complex import Complex


def renamed(complex_: Complex, names: Mapping[str, str]) -> Complex:
    """Chains under other names; the atoms stay in their order."""
    residues = tuple(
        r._replace(chain=names.get(r.chain, r.chain)) for r in complex_.residues
    )
    return replace(complex_, residues=residues)


def places_of_chains(complex_: Complex) -> dict[str, np.ndarray]:
    """Places of the residues of each chain."""
    names = np.array([residue.chain for residue in complex_.residues])
    return {
        name: np.flatnonzero(names == name) for name in dict.fromkeys(names.tolist())
    }


def selected(complex_: Complex, residues: np.ndarray) -> Complex:
    """These residues of it, in this order. residues : int, places."""
    atoms_of = [np.flatnonzero(complex_.residue_of == residue) for residue in residues]
    atoms = np.concatenate(atoms_of)
    place = np.full(len(complex_.xyz) + 1, -1)
    place[atoms] = np.arange(len(atoms))
    of_residues = {
        name: tuple(getattr(complex_, name)[residue] for residue in residues)
        for name in ("residues", "names", "parents")
    }
    return replace(
        complex_,
        **of_residues,
        xyz=complex_.xyz[atoms],
        atom_names=complex_.atom_names[atoms],
        residue_of=np.repeat(np.arange(len(residues)), list(map(len, atoms_of))),
        ca=place[complex_.ca[residues]],
    )


def chain(complex_: Complex, name: str, new: str, shift: float = 0.0) -> Complex:
    """One chain under another name, shifted along x (Å)."""
    own = renamed(selected(complex_, places_of_chains(complex_)[name]), {name: new})
    return replace(own, xyz=own.xyz + np.array([shift, 0.0, 0.0]))


def together(first: Complex, *others: Complex) -> Complex:
    """The chains of several complexes in one."""
    for other in others:
        n = len(first.residues)
        ca = np.where(other.ca >= 0, other.ca + len(first.xyz), -1)
        first = replace(
            first,
            residues=first.residues + other.residues,
            names=first.names + other.names,
            parents=first.parents + other.parents,
            xyz=np.concatenate([first.xyz, other.xyz]),
            atom_names=np.concatenate([first.atom_names, other.atom_names]),
            residue_of=np.concatenate([first.residue_of, other.residue_of + n]),
            ca=np.concatenate([first.ca, ca]),
        )
    return first


def cut(complex_: Complex, name: str, into: str) -> Complex:
    """A complex with one chain cut into pieces of about equal length, called as the letters say."""
    members = places_of_chains(complex_)[name].tolist()
    residues = list(complex_.residues)
    for k, place in enumerate(members):
        residues[place] = residues[place]._replace(
            chain=into[k * len(into) // len(members)]
        )
    return replace(complex_, residues=tuple(residues))


def copies(one: Complex, moves: np.ndarray) -> Complex:
    """Copies of a complex, each with chains of its own. moves : Å, (copies, atoms or 1, 3)."""
    count, n_atoms = len(moves), len(one.xyz)
    number = np.arange(count)
    residues = []
    for i in range(count):
        residues += [r._replace(chain=f"{r.chain}{i}") for r in one.residues]
    n_residues = len(one.residues)
    ca = np.tile(one.ca, count)
    first_residue = np.repeat(number, n_atoms) * n_residues
    first_atom = np.repeat(number, n_residues) * n_atoms
    return replace(
        one,
        residues=tuple(residues),
        names=one.names * count,
        parents=one.parents * count,
        xyz=(one.xyz + moves).reshape(-1, 3),
        atom_names=np.tile(one.atom_names, count),
        residue_of=np.tile(one.residue_of, count) + first_residue,
        ca=np.where(ca >= 0, ca + first_atom, -1),
    )


def assert_same(one: Complex, other: Complex) -> None:
    """Equal in every field."""
    for field in fields(one):
        values = (getattr(each, field.name) for each in (one, other))
        np.testing.assert_array_equal(*values, err_msg=field.name)
