"""The atoms of a model as the arrays of a `Complex`.

They have one conformation, checked places, and names as in the PDB.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import gemmi
import numpy as np

from toporank.chains.chain import ResidueId
from toporank.errors import StructureError
from toporank.structures.chains import check_names, flat_atoms
from toporank.structures.complex import Complex
from toporank.structures.model_residue import ModelResidue, n_atoms_of
from toporank.structures.residue_names import with_terminal_oxygens
from toporank.structures.side_chains import lacking_side_chains
from toporank.structures.twins import TWIN_DISTANCE

MAX_COORDINATE = 9999.0
"""Å. Some programs write this, or more, for atoms whose place they do not know; no complex is as
large.
"""


def complex_of_model(
    structure: gemmi.Structure,
    residues: list[ModelResidue],
    notes: list[str],
    *,
    with_labels: bool,
) -> Complex:
    """Put a model into arrays.

    Of alternate locations the one with the highest occupancy stays, and of equal ones the first.

    Parameters
    ----------
    structure : of one model
    residues : of the model, as from `chains.residues_of`
    notes : what was decided before
    with_labels : whether it has label_asym_id and label_seq_id

    Returns
    -------
    complex_ : with A atoms and R residues

    Raises
    ------
    StructureError : names, numbers or coordinates that no complex can have
    """
    ids = _identities(residues)
    names, parents, chains, labels, hetero = [], [], [], [], []
    for place, residue in enumerate(residues):
        names.append(residue.name)
        parents.append(residue.parent)
        chains.append(residue.chain)
        if with_labels:
            labels.append((residue.residue.subchain, residue.residue.label_seq))
        if residue.residue.het_flag == "H":
            hetero.append(place)
    molecules = {}
    for residue in residues:
        if residue.parent and residue.chain != residue.of_file:
            molecules[residue.chain] = residue.of_file
    is_protein = np.array(parents, dtype=str) != ""
    check_names("label chain name", {chain for chain, _ in labels})
    atoms = _Atoms(structure, residues)
    atom_names = set(atoms.names.tolist())
    check_names("atom name", {name.decode("utf-8", "replace") for name in atom_names})
    atoms.names = with_terminal_oxygens(atoms.names, atoms.residue_of, is_protein)
    _check_places(atoms, ids)
    same_id = _first_of(ids)
    _check_twins(atoms, ids, same_id, is_protein)
    # Protein competes with protein only: a ligand or water may have the number of a residue.
    ligand_names = np.where(is_protein, "", names).tolist()
    site = _first_of(zip(same_id.tolist(), ligand_names, strict=True))
    is_kept = _one_conformation(atoms, site)
    notes = list(notes)
    if not is_kept.all():
        notes.append(
            f"{np.count_nonzero(~is_kept)} atoms in alternate locations left out"
        )
    notes += _modified(residues)
    same_residue = _first_of(zip(same_id.tolist(), names, strict=True))
    atoms.residue_of = same_residue[atoms.residue_of]
    # Parts of a residue may stand apart in the file.
    order = np.flatnonzero(is_kept)
    atoms.take(order[np.argsort(atoms.residue_of[is_kept], kind="stable")])
    ca = np.full(len(residues), -1)
    ca_atoms = np.flatnonzero(atoms.names == b"CA")
    ca[atoms.residue_of[ca_atoms]] = ca_atoms
    ca[~is_protein] = -1
    has_atoms = np.isin(np.arange(len(residues)), atoms.residue_of)
    n_without_ca = np.count_nonzero(has_atoms & is_protein & (ca < 0))
    if n_without_ca:
        notes.append(f"{n_without_ca} amino acids without CA atom")
    side_chains = lacking_side_chains(chains, parents, atoms.names, atoms.residue_of)
    if side_chains:
        notes.append(side_chains)
    return Complex(
        residues=tuple(ids),
        names=tuple(names),
        parents=tuple(parents),
        xyz=np.ascontiguousarray(atoms.xyz, dtype=np.float64),
        atom_names=atoms.names,
        residue_of=atoms.residue_of,
        ca=ca,
        hetero=frozenset(hetero),
        notes=tuple(notes),
        side_chains=side_chains,
        labels=tuple(labels),
        molecules=tuple(molecules.items()),
    )


def _identities(residues: list[ModelResidue]) -> list[ResidueId]:
    """What residues are called. Raises StructureError for what no table can hold."""
    check_names("residue name", {residue.name for residue in residues})
    check_names("insertion code", {residue.code for residue in residues})
    ids = []
    for residue in residues:
        if not residue.has_number:
            what = f"a residue {residue.name} of chain {residue.chain!r} has no number"
            raise StructureError(what, remedy="number it")
        ids.append(ResidueId(residue.chain, residue.number, residue.code))
    return ids


def _modified(residues: list[ModelResidue]) -> list[str]:
    """Notes on residues that count as another one."""
    modified = [
        residue for residue in residues if residue.parent not in ("", residue.name)
    ]
    n_read_as = Counter(
        f"{residue.name} read as {residue.parent}" for residue in modified
    )
    return [f"{count} {what}" for what, count in sorted(n_read_as.items())]


class _Atoms:
    """The atoms of some residues of a model, shape (A,) each.

    Attributes
    ----------
    xyz : float64, shape (A, 3), Å
    names : bytes of length 8
    occupancy, altloc : as in the file
    residue_of : int, place among the residues
    """

    def __init__(self, structure: gemmi.Structure, residues: list[ModelResidue]):
        flat = flat_atoms(structure)
        sizes = n_atoms_of(residues)
        self.xyz = flat.pos
        self.names = np.asarray(flat.atom_names).view("S8").ravel()
        self.occupancy = flat.occ
        self.altloc = flat.altlocs
        if sum(sizes) < len(self.xyz):  # some residues were left out
            all_sizes = []
            for chain in structure[0]:
                all_sizes += [len(residue) for residue in chain]
            is_in = np.zeros(len(all_sizes), dtype=bool)
            is_in[[residue.place for residue in residues]] = True
            self.residue_of = np.zeros(len(self.xyz), dtype=np.intp)
            self.take(np.flatnonzero(np.repeat(is_in, all_sizes)))
        self.residue_of = np.repeat(np.arange(len(residues)), sizes)

    def take(self, atoms: np.ndarray) -> None:
        """Leave only these atoms, int, in this order."""
        for name, values in vars(self).items():
            setattr(self, name, values[atoms])


def _first_of(keys: Iterable) -> np.ndarray:
    """Index of the first that is equal, for each key; int, shape (n,)."""
    first: dict = {}
    return np.array(
        [first.setdefault(key, i) for i, key in enumerate(keys)], dtype=np.intp
    )


def _check_places(atoms: _Atoms, ids: list[ResidueId]) -> None:
    """Refuse coordinates that no atom can have."""
    is_lost = ~(np.abs(atoms.xyz) < MAX_COORDINATE)
    if is_lost.any():
        atom, axis = np.argwhere(is_lost)[0]
        residue = ids[atoms.residue_of[atom]]
        value = atoms.xyz[atom, axis]
        if not np.isfinite(value):
            what = f"a coordinate of {residue} is not a number"
            raise StructureError(what, remedy="make or fetch the file again")
        raise StructureError(
            f"a coordinate of {residue} is {value:g} Å, which is outside any complex",
            remedy="remove atoms of unknown place, or move the complex to the origin",
        )
    if len(atoms.xyz) > 1 and not atoms.xyz.any():
        raise StructureError(
            "all coordinates are 0", remedy="make or fetch the file again"
        )


def _check_twins(
    atoms: _Atoms, ids: list[ResidueId], same_id: np.ndarray, is_protein: np.ndarray
) -> None:
    """Refuse two different residues of one identity.

    They come from chains that share a name, or numbers that start anew.

    same_id : int, shape (R,), equal for equal identities. is_protein : bool, shape (R,).
    """
    ca = np.flatnonzero((atoms.names == b"CA") & is_protein[atoms.residue_of])
    residue = atoms.residue_of[ca]
    place = same_id[residue] * 256 + atoms.altloc[ca]
    _, first, twin = np.unique(place, return_index=True, return_inverse=True)
    apart = np.linalg.norm(atoms.xyz[ca] - atoms.xyz[ca[first[twin]]], axis=1)
    for k in np.flatnonzero(apart > TWIN_DISTANCE):
        raise StructureError(
            f"residue {ids[residue[k]]} stands twice in the file, {apart[k]:.1f} Å apart",
            remedy="do two chains share a name? give each its own",
        )


def _one_conformation(atoms: _Atoms, site: np.ndarray) -> np.ndarray:
    """Which atoms to keep, bool, shape (A,).

    Two atoms compete when residue identity and atom name are equal: alternate locations and plain
    duplicates alike.

    site : int, shape (R,), equal for residues that compete.
    """
    kinds, kind = np.unique(atoms.names.view("<u8"), return_inverse=True)
    atom = site[atoms.residue_of] * len(kinds) + kind
    # nothing competes
    if (np.diff(site) > 0).all() and (np.diff(np.sort(atom)) > 0).all():
        return np.ones(len(atom), dtype=bool)
    order = np.lexsort((-atoms.occupancy, atom))
    keep = np.zeros(len(order), dtype=bool)
    keep[order[np.append(True, np.diff(atom[order]) > 0)]] = True
    return keep
