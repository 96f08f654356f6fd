"""A complex as a structure file."""

from __future__ import annotations

import gzip
from pathlib import Path

import gemmi

from toporank.files import write_bytes
from toporank.structures.complex import Complex


def write_structure(stem: Path, complex_: Complex) -> Path:
    """Write a complex as `<stem>.pdb.gz` or, if a chain has a longer name than PDB files allow, `<stem>.cif.gz`."""
    model = gemmi.Model(1)
    for (chain, number, insertion_code), name, first, last in zip(
        complex_.residues, complex_.names, complex_.atom_slices[:-1], complex_.atom_slices[1:], strict=True
    ):
        residue = gemmi.Residue()
        residue.name, residue.seqid = name, gemmi.SeqId(number, insertion_code or " ")
        for i in range(first, last):
            atom = gemmi.Atom()
            atom.name = complex_.atom_names[i].decode()
            atom.element, atom.pos = gemmi.Element(atom.name[0]), gemmi.Position(*complex_.xyz[i])
            residue.add_atom(atom)
        if chain not in [known.name for known in model]:
            model.add_chain(gemmi.Chain(chain))
        model[chain].add_residue(residue)
    structure = gemmi.Structure()
    structure.add_model(model)
    structure.setup_entities()
    short = all(len(chain) == 1 for chain in complex_.chains)
    text = structure.make_minimal_pdb() if short else structure.make_mmcif_document().as_string()
    path = stem.with_name(stem.name + (".pdb.gz" if short else ".cif.gz"))
    write_bytes(path, gzip.compress(text.encode(), mtime=0))
    return path
