"""A complex that is written and read again is the same complex."""

from __future__ import annotations

from collections.abc import Callable

import gemmi
import numpy as np
import pytest

from structures_text import Atom, alanine, write
from structures_text import mmcif as mmcif_text
from toporank.structures.complex import Complex
from toporank.structures.read import read_complex
from toporank.structures.write import mmcif, write_structure


@pytest.fixture
def complex_with(tmp_path) -> Callable[[str], Complex]:
    """Two chains, an insertion code, a negative number, and three ligands in the first chain."""

    def make(chain: str) -> Complex:
        atoms = alanine(chain, -1, 0.0) + alanine(chain, 7, 4.0, insertion_code="B")
        ligands = [("CA", "CA"), ("ZN", "ZN"), ("BR1", "LIG"), ("C1", "LIG")]
        for i, (name, residue) in enumerate(ligands):
            at = (3.0 * i, 9.0, 0.5)
            atoms.append(Atom(name, residue, chain, 20 + min(i, 2), *at, het=True))
        atoms += alanine("B", 7, 4.0, y=5.0)
        return read_complex(write(tmp_path / "model.cif", mmcif_text(atoms)))

    return make


@pytest.mark.parametrize(("chain", "ending"), [("A", ".pdb.gz"), ("AB", ".cif.gz")])
def test_what_is_written_is_read_again(tmp_path, complex_with, chain, ending):
    complex_ = complex_with(chain)
    path = write_structure(tmp_path / "model.v2", complex_)
    assert path.name == f"model.v2{ending}"
    again = read_complex(path)
    assert again.residues == complex_.residues
    assert again.names == complex_.names
    assert again.atom_names.tolist() == complex_.atom_names.tolist()
    np.testing.assert_allclose(again.xyz, complex_.xyz, atol=1e-3)
    np.testing.assert_array_equal(again.atom_slices, complex_.atom_slices)
    assert path.read_bytes() == write_structure(tmp_path / "b", complex_).read_bytes()


def test_elements_are_those_of_the_atoms(complex_with):
    """`CA` is a carbon of a protein and calcium by itself; a ligand has atoms of two letters."""
    text = mmcif(complex_with("A"), np.zeros(6))
    block = gemmi.cif.read_string(text).sole_block()
    columns = ["label_comp_id", "label_atom_id", "type_symbol"]
    element = {tuple(row)[:2]: row[2] for row in block.find("_atom_site.", columns)}
    assert element["ALA", "CA"] == element["LIG", "C1"] == "C"
    assert (element["CA", "CA"], element["ZN", "ZN"]) == ("CA", "ZN")
    assert element["LIG", "BR1"] == "BR"
    assert (element["ALA", "N"], element["ALA", "O"]) == ("N", "O")


def test_all_atoms_of_a_residue_have_its_b_factor_and_the_file_its_title(complex_with):
    complex_ = complex_with("A")
    values = np.arange(6) * 10.5
    text = mmcif(complex_, values, title="it's a title")
    block = gemmi.cif.read_string(text).sole_block()
    found = [float(value) for value in block.find_values("_atom_site.B_iso_or_equiv")]
    sizes = np.diff(complex_.atom_slices)
    assert sorted(found) == pytest.approx(sorted(np.repeat(values, sizes)))
    assert gemmi.cif.as_string(block.find_value("_struct.title")) == "it's a title"
    assert mmcif(complex_, values).count("_struct.title") == 0
