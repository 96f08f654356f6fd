"""A complex as a structure file."""

from __future__ import annotations

import functools
import gzip
from pathlib import Path

import gemmi
import numpy as np

from toporank.files.atomic import write_bytes
from toporank.structures.complex import Complex

TWO_LETTERS = ("BR", "CL", "FE", "MG", "MN", "SE", "ZN")
"""Elements of ligands that an atom's name begins with; ions are named as their element."""
QUALITY = "B factors: quality of residues in percent, predicted by TopoRank"
"""Title of files with them, short enough for one line of a PDB file."""


def write_structure(stem: Path, complex_: Complex) -> Path:
    """Write a complex as `<stem>.pdb.gz`.

    If a chain has a longer name than PDB files allow, it writes `<stem>.cif.gz`.
    """
    structure = _structure(complex_, np.full(len(complex_.residues), 20.0))
    short = all(len(chain) == 1 for chain in complex_.chains)
    text = (
        structure.make_minimal_pdb()
        if short
        else structure.make_mmcif_document().as_string()
    )
    path = stem.with_name(stem.name + (".pdb.gz" if short else ".cif.gz"))
    write_bytes(path, gzip.compress(text.encode(), mtime=0))
    return path


def mmcif(complex_: Complex, b_factors: np.ndarray, title: str = "") -> str:
    """Return a complex as mmCIF.

    All atoms are under the chain names and residue numbers of the file it was read from.

    b_factors : of the residues, shape (R,), which all atoms of a residue have. title : of the file;
    empty for none.
    """
    structure = _structure(complex_, b_factors)
    structure.assign_label_seq_id(True)
    groups = gemmi.MmcifOutputGroups(
        False,
        atoms=True,
        group_pdb=True,
        entity=True,
        entity_poly=True,
        struct_asym=True,
    )
    document = structure.make_mmcif_document(groups)
    if title:
        document[0].set_pair("_struct.title", gemmi.cif.quote(title))
        document[0].move_item(-1, 0)
    return document.as_string()


def _structure(complex_: Complex, b_factors: np.ndarray) -> gemmi.Structure:
    """A complex as gemmi has it. b_factors : of the residues, shape (R,)."""
    names = [name.decode() for name in complex_.atom_names.tolist()]
    places = complex_.xyz.tolist()
    starts = complex_.atom_slices.tolist()
    chains: dict[str, gemmi.Chain] = {}
    for r, (residue_id, b_factor) in enumerate(
        zip(complex_.residues, b_factors.tolist(), strict=True)
    ):
        residue = gemmi.Residue()
        residue.name = complex_.names[r]
        residue.seqid = gemmi.SeqId(residue_id.number, residue_id.insertion_code or " ")
        for i in range(starts[r], starts[r + 1]):
            atom = gemmi.Atom()
            atom.name = names[i]
            atom.element = _element(names[i], residue.name, bool(complex_.parents[r]))
            atom.pos = gemmi.Position(*places[i])
            atom.b_iso = b_factor
            residue.add_atom(atom)
        chain = chains.setdefault(residue_id.chain, gemmi.Chain(residue_id.chain))
        chain.add_residue(residue)
    model = gemmi.Model(1)
    for chain in chains.values():
        model.add_chain(chain)
    structure = gemmi.Structure()
    structure.add_model(model)
    structure.setup_entities()
    return structure


@functools.cache
def _element(atom: str, residue: str, is_protein: bool) -> gemmi.Element:
    """The element of an atom by its name, which is all that a complex keeps."""
    letters = atom.lstrip("0123456789").upper()
    if not is_protein and letters == residue:
        return gemmi.Element(letters)
    return gemmi.Element(
        letters[:2] if not is_protein and letters[:2] in TWO_LETTERS else letters[:1]
    )
