"""A complex as bytes: everything comes back exactly, and equal atoms are known as equal."""

from __future__ import annotations

from dataclasses import fields, replace

import gemmi
import numpy as np
import pytest

from toporank.structures.complex import Complex
from toporank.structures.read import read_complex
from toporank.structures.stored import atoms_digest, from_bytes, to_bytes

EXAMPLES = [
    "1AVZ/near1.pdb.gz",
    "1AVZ/mid1.cif.gz",
    "1GCQ/mid4.cif",
    "1KTZ/mid2.ent.gz",
]


def same(one: Complex, other: Complex) -> bool:
    pairs = [
        (getattr(one, field.name), getattr(other, field.name))
        for field in fields(Complex)
    ]
    return all(
        np.array_equal(a, b) and a.dtype == b.dtype
        if isinstance(a, np.ndarray)
        else a == b
        for a, b in pairs
    )


@pytest.fixture(params=EXAMPLES)
def complex_(request, example) -> Complex:
    return read_complex(example / "decoys" / request.param)


def test_everything_comes_back_exactly(complex_):
    content = to_bytes(complex_)
    assert same(from_bytes(content), complex_)
    assert to_bytes(from_bytes(content)) == content


@pytest.mark.parametrize("odd", [1 / 3, 1e-9, 2_200_000.0, np.float64("nan")])
def test_coordinates_that_are_no_thousandths_come_back_exactly_too(complex_, odd):
    xyz = complex_.xyz.copy()
    xyz[5, 1] = odd
    other = replace(complex_, xyz=xyz)
    assert np.array_equal(from_bytes(to_bytes(other)).xyz, xyz, equal_nan=True)


def test_the_digest_of_the_atoms_does_not_depend_on_what_the_file_was(
    complex_, tmp_path
):
    assert atoms_digest(
        replace(complex_, notes=("read from elsewhere",), labels=())
    ) == atoms_digest(complex_)


@pytest.mark.parametrize("part", ["xyz", "names", "residues", "atom_names"])
def test_another_atom_place_or_name_is_another_digest(complex_, part):
    if part == "xyz":
        other = complex_.xyz + 0.001 * np.eye(len(complex_.xyz), 3)
    elif part == "atom_names":
        other = complex_.atom_names.copy()
        other[3] = b"XX"
    elif part == "names":
        other = ("XXX", *complex_.names[1:])
    else:
        other = (complex_.residues[0]._replace(number=-5), *complex_.residues[1:])
    assert atoms_digest(replace(complex_, **{part: other})) != atoms_digest(complex_)


def test_a_pdb_file_and_its_mmcif_twin_have_the_same_atoms(example, tmp_path):
    structure = gemmi.read_structure(str(example / "decoys/1AVZ/far1.pdb"))
    structure.remove_waters()  # which the two formats put in other places
    structure.write_pdb(str(tmp_path / "twin.pdb"))
    structure.make_mmcif_document().write_file(str(tmp_path / "twin.cif"))
    one, other = (
        read_complex(tmp_path / f"twin.{suffix}") for suffix in ("pdb", "cif")
    )
    assert atoms_digest(one) == atoms_digest(other)
