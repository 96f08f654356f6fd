"""The residues of a model as TopoRank reads them.

It knows what each counts as, and which chain it belongs to.
"""

from __future__ import annotations

from collections import defaultdict
from operator import attrgetter
from typing import NamedTuple

import gemmi
import numpy as np

from toporank.errors import StructureError
from toporank.structures.complex import STANDARD
from toporank.structures.hetero import join_chains
from toporank.structures.lost_atoms import leave_out_lost
from toporank.structures.model_residue import ModelResidue
from toporank.structures.molecules import broken_chains, far_apart, name_molecules
from toporank.structures.residue_names import READ_AS, amino_acid
from toporank.structures.twins import join_twins

LONGEST_NAME = 100
"""Most letters of a residue or chain name."""
ONE_TO_THREE = {one: three for three, one in STANDARD.items()}
BACKBONE = ("N", "CA", "C", "O")
"""Atoms that make a residue missing from all dictionaries an amino acid."""
SAME_PLACE = 0.5
"""Å between the CA atoms of a chain and of its copy, at most."""


class ParsedModel(NamedTuple):
    """A model of a file.

    Attributes
    ----------
    structure : gemmi's, of this model alone
    residues : of the model, in the order of the file
    written : these and the amino acids whose place is not known: they are part of its sequences
    notes : what was decided
    on_molecules : those that say which chains are several molecules, or may be
    refusal : why no complex can be made of it, or None
    """

    structure: gemmi.Structure
    residues: list[ModelResidue]
    written: list[ModelResidue]
    notes: list[str]
    on_molecules: list[str]
    refusal: StructureError | None

    @property
    def sequences(self) -> dict[str, str]:
        """One-letter codes of its protein chains, by name, in the order of the file."""
        letters: dict[str, list[str]] = {}
        for residue in self.written:
            if residue.parent:
                letter = STANDARD.get(residue.parent, "X")
                letters.setdefault(residue.chain, []).append(letter)
        return {name: "".join(of_chain) for name, of_chain in letters.items()}


def parse_model(structure: gemmi.Structure) -> ParsedModel:
    """Read the residues of the only model of a structure.

    Residues whose place is not known are left out, molecules that share a chain name may get names
    of their own, amino acids in HETATM records join their chain, and copies of a chain in the same
    place are left out. Of several residues of one identity one stays.

    Raises
    ------
    StructureError : the name of a chain cannot be printed or is too long
    """
    check_names("chain name", {chain.name for chain in structure[0]})
    residues: list[ModelResidue] = []
    for part, chain in enumerate(structure[0]):
        chain_name = chain.name
        for residue in chain:
            name = residue.name
            seqid = residue.seqid
            residues.append(
                ModelResidue(
                    residue=residue,
                    place=len(residues),
                    part=part,
                    chain=chain_name,
                    of_file=chain_name,
                    name=name,
                    parent=_parent(residue, name),
                    number=seqid.num or 0,
                    code=seqid.icode.strip(),
                )
            )
    positions = flat_atoms(structure).pos
    placed = leave_out_lost(positions, residues, lambda: copies(residues))
    residues = placed.residues
    broken = broken_chains(residues)
    on_molecules, whole = name_molecules(residues, broken)
    notes = [*on_molecules]
    if notes:
        broken = broken_chains(residues)
    hetero_notes = join_chains(residues)
    residues, twins = join_twins(residues)
    original = copies(residues)
    if original:
        residues = [residue for residue in residues if residue.chain not in original]
        broken = broken_chains(residues)
    for copy, of_chain in original.items():
        notes.append(
            f"chain {copy} is a copy of chain {of_chain} in the same place: left out"
        )
        hetero_notes.pop(copy, None)
    for name in whole & broken.keys():
        del broken[name]
    one_chain = far_apart(broken)
    notes += one_chain
    for joined in hetero_notes.values():
        notes += joined
    return ParsedModel(
        structure=structure,
        residues=residues,
        written=_with_lost(residues, placed.lost),
        notes=placed.notes + notes + twins,
        on_molecules=on_molecules + one_chain,
        refusal=placed.refusal,
    )


def _with_lost(
    residues: list[ModelResidue], lost: list[ModelResidue]
) -> list[ModelResidue]:
    """All of them in the order of the file; lost ones are in the chain of those beside them.

    Of the conformations of one residue, the first counts.
    """
    if not lost:
        return residues
    written = sorted([*residues, *lost], key=attrgetter("place"))
    lost_places = {residue.place for residue in lost}
    for order in (written, written[::-1]):
        beside: dict[str, ModelResidue] = {}
        for residue in order:
            if residue.place in lost_places:
                near = beside.get(residue.of_file)
                if near:
                    residue.chain = near.chain
                    residue.number = _number(residue) + near.number - _number(near)
            elif residue.parent:
                beside[residue.of_file] = residue
    sites = {(each.chain, each.number, each.code) for each in residues if each.parent}
    without_twins = []
    for residue in written:
        site = residue.chain, residue.number, residue.code
        if residue.place not in lost_places or site not in sites:
            without_twins.append(residue)
            sites.add(site)
    return without_twins


def _number(residue: ModelResidue) -> int:
    """In the file."""
    return residue.residue.seqid.num or 0


def flat_atoms(structure: gemmi.Structure) -> gemmi.FlatStructure:
    """gemmi's arrays of atoms; they have no room for names of eight letters and more."""
    try:
        return gemmi.FlatStructure(structure)
    except RuntimeError:
        structure = structure.clone()
        for chain in structure[0]:
            chain.name = ""
            for residue in chain:
                residue.name = residue.subchain = residue.entity_id = ""
    try:
        return gemmi.FlatStructure(structure)
    except RuntimeError as error:
        name = str(error).rpartition(" ")[2]
        raise StructureError(
            f"an atom name of eight letters or more: {name[:20]}", remedy="shorten it"
        ) from error


def _parent(residue: gemmi.Residue, name: str) -> str:
    """The standard residue a residue counts as; `""` when it is not part of a protein chain.

    A residue of hydrogens alone is not part of one either.
    """
    if len(residue) and residue[0].is_hydrogen() and all(map(_is_hydrogen, residue)):
        return ""
    if name in STANDARD:
        # A free amino acid is a ligand, see `hetero`.
        return "" if residue.het_flag == "H" else name
    if name in READ_AS:
        return READ_AS[name]
    info = gemmi.find_tabulated_residue(name)
    if not info.found():
        is_amino_acid = all(atom in residue for atom in BACKBONE)
        return amino_acid(name) or "UNK" if is_amino_acid else ""
    if not info.is_amino_acid() or "CA" not in residue:
        return ""
    return ONE_TO_THREE.get(info.one_letter_code.upper(), "UNK")


def _is_hydrogen(atom: gemmi.Atom) -> bool:
    return atom.is_hydrogen()


def check_names(what: str, names: set[str]) -> None:
    """Raise StructureError for a name that would break a table or fill a screen."""
    for name in sorted(names):
        if not name.isprintable():
            problem = f"a character that cannot be printed in the {what} {name[:LONGEST_NAME]!r}"
            raise StructureError(
                problem, remedy="make or fetch the file again, or rename it"
            )
        if len(name) > LONGEST_NAME:
            problem = f"a {what} of {len(name)} letters: {name[:20]}…"
            raise StructureError(problem, remedy="is the file damaged? shorten it")


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
