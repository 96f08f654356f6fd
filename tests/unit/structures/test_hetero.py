"""Standard amino acids that a file writes as HETATM: part of a chain where a peptide bond says so,
else ligands.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from structures_text import (
    Atom,
    alanine,
    changed,
    mmcif,
    pair,
    pdb,
    sketch,
    straight,
)
from toporank.errors import StructureError
from toporank.features.interface import CaCutoff, ca_cutoff_interface

BOTH = pytest.mark.parametrize(
    ("as_text", "name"), [(pdb, "d.pdb"), (mmcif, "d.cif")], ids=["pdb", "mmcif"]
)


def chain(name: str, hetero: str, y: float = 0.0, step: float = 4.0) -> list[Atom]:
    """A straight chain with a residue for each letter, H for one in HETATM records; a step of 4 Å
    makes bonds.
    """
    atoms = straight(name, ["ALA"] * len(hetero), y=y, step=step)
    return [replace(a, het=hetero[a.number - 1] == "H") for a in atoms]


@BOTH
@pytest.mark.parametrize("hetero", ["AHA", "HAA", "AAH", "AHHA", "HHHH"])
def test_amino_acids_that_are_bonded_are_part_of_the_chain(
    read, tmp_path, as_text, name, hetero
):
    complex_ = read(as_text([*chain("A", "AAA"), *chain("B", hetero, y=6.0)]), name)
    assert complex_.parents == ("ALA",) * (3 + len(hetero))
    n = hetero.count("H")
    assert complex_.notes == (
        f"{n} amino acid{'s' * (n > 1)} of chain B written as HETATM, read as part of it",
    )
    assert dict(sketch(tmp_path / name).first.chains) == {
        "A": "AAA",
        "B": "A" * len(hetero),
    }
    plain = read(
        as_text([*chain("A", "AAA"), *chain("B", "A" * len(hetero), y=6.0)]),
        f"plain_{name}",
    )
    np.testing.assert_array_equal(complex_.ca, plain.ca)
    found, expected = (
        ca_cutoff_interface(CaCutoff(), each) for each in (complex_, plain)
    )
    np.testing.assert_array_equal(found.index, expected.index)


@BOTH
def test_a_free_amino_acid_stays_a_ligand(read, as_text, name):
    free = [
        *changed(
            alanine("A", 2, 0.0, 9.0), residue="GLU", het=True
        ),  # beside a chain, with the next number
        *changed(alanine("L", 1, 0.0, 20.0), residue="GLY", het=True),
        *changed(
            [*alanine("M", 1, 0.0, 40.0), *alanine("M", 2, 4.0, 40.0)], het=True
        ),  # two are not a chain
    ]
    complex_ = read(as_text([*pair(), *free]), name)
    assert complex_.parents == ("ALA", "ALA", *[""] * 4)
    assert complex_.notes == ()


def test_what_is_left_out_of_a_chain_is_named(read):
    """Without bonds, as where N and C are missing; where it is a whole chain, the error names it,
    too.
    """
    complex_ = read(pdb([*chain("A", "AAA"), *chain("B", "HHH", y=6.0, step=9.0)]))
    said = "3 amino acids of chain B written as HETATM and not bonded to others, read as ligands"
    assert complex_.notes == (said,)
    with pytest.raises(StructureError, match=f"only one protein chain .*{said}"):
        ca_cutoff_interface(CaCutoff(), complex_)


def test_a_copy_of_a_chain_is_still_left_out(read):
    b = chain("B", "AHA", y=6.0)
    complex_ = read(pdb([*chain("A", "AAA"), *b, *(replace(a, chain="C") for a in b)]))
    assert complex_.chains == ["A", "B"]
    assert complex_.notes == (
        "chain C is a copy of chain B in the same place: left out",
        "1 amino acid of chain B written as HETATM, read as part of it",
    )
