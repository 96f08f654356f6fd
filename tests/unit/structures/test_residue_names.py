"""Residue names of four letters, as GROMACS, AMBER, CHARMM and VMD write them, against chain names
of two.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from _complexes import assert_same

from structures_text import Atom, alanine, changed, mmcif, pdb, sketch, straight, write
from toporank.errors import StructureError
from toporank.structures.pdb_text import PdbText
from toporank.structures.read import read_complex
from toporank.structures.residue_names import with_short_names


def chain(
    name: str, residues: list[str], first: int = 1, y: float = 0.0, step: float = 4.0
) -> list[Atom]:
    """A straight chain of residues; a step of 4 Å joins them by peptide bonds.

    A name of four letters ends in column 21, where a chain name of two letters begins.
    """
    atoms = straight(name, residues, first=first, y=y, step=step)
    return [
        replace(a, chain=a.residue[3:] + name, residue=a.residue[:3]) for a in atoms
    ]


def partner() -> list[Atom]:
    return chain("B", ["ALA", "SER", "ALA"], y=6.0)


LONG = [
    ("HISE", "HIS"), ("HISB", "HIS"), ("HIS1", "HIS"), ("LYSH", "LYS"), ("ARGN", "ARG"), ("CYS2", "CYS"),
    ("ASPH", "ASP"), ("GLUP", "GLU"), ("NALA", "ALA"), ("CGLY", "GLY"), ("CCYX", "CYS"), ("NHIE", "HIS"),
]  # fmt: skip


@pytest.mark.parametrize(("long", "short"), LONG)
@pytest.mark.parametrize("place", [0, 1, 2], ids=["first", "middle", "last"])
def test_a_name_of_four_letters_is_that_of_the_residue(read, long, short, place):
    names = ["ALA", "ALA", "ALA"]
    names[place] = long
    complex_ = read(pdb([*chain("A", names), *partner()]))
    assert complex_.notes == (f"1 {long} read as {short}",)
    names[place] = short
    assert_same(
        replace(complex_, notes=()),
        read(pdb([*chain("A", names), *partner()]), "short.pdb"),
    )


def test_the_chain_of_each_model_is_whole(tmp_path):
    atoms = [*chain("A", ["ALA", "HISE", "ALA"]), *partner()]
    text = "".join(f"MODEL     {n:4d}\n{pdb(atoms)}ENDMDL\n" for n in (1, 2))
    path = write(tmp_path / "d.pdb", text)
    found = sketch(path)
    assert found.numbers == (1, 2)
    assert {model.chains for model in found.models} == {(("A", "AHA"), ("B", "ASA"))}
    assert read_complex(path, 1).chains == ["A", "B"]
    assert read_complex(path, 1).notes == ("1 HISE read as HIS",)
    one_chain = "".join(f"MODEL     {n:4d}\n{pdb(atoms[:15])}ENDMDL\n" for n in (1, 2))
    notes = read_complex(write(tmp_path / "one.pdb", one_chain)).notes
    assert notes[0] == "an ensemble of 2 models of one chain, the first is used"


@pytest.mark.parametrize(
    "second",
    [
        chain("AA", ["HIS", "SER", "ALA"], y=6.0),
        chain("AA", ["HIS", "SER", "ALA"], first=4, y=6.0),
        chain("EA", ["HIS"], first=4, y=6.0),
        chain("EA", ["HIS", "HIS"], first=4, y=6.0),
    ],
    ids=["numbers from 1", "numbers that go on", "one histidine", "histidines"],
)
def test_a_chain_name_of_two_letters_stays_one(read, second):
    complex_ = read(pdb([*chain("A", ["ALA", "SER", "ALA"]), *second]))
    assert complex_.chains == ["A", second[0].chain]
    assert complex_.notes == ()


@pytest.mark.parametrize(
    "atoms",
    [
        chain("A", ["ALA", "HISE", "ALA"], step=9.0),
        [
            *chain("A", ["ALA", "HISE", "ALA"]),
            *chain("EA", ["HIS", "SER", "ALA"], y=12.0),
        ],
    ],
    ids=["no bonds", "numbers occur twice"],
)
def test_where_it_cannot_be_said_the_file_is_refused(read, atoms):
    with pytest.raises(
        StructureError,
        match=r"column 21 .*HISE of chain 'A'.* chain 'EA'.*three letters",
    ):
        read(pdb([*atoms, *partner()]))


def test_mmcif_has_names_of_four_letters_too(read):
    atoms = [
        *alanine("A", 1, 0.0),
        *changed(alanine("A", 2, 4.0), residue="HISE"),
        *alanine("B", 1, 9.0),
    ]
    complex_ = read(mmcif(atoms), "d.cif")
    assert (complex_.parents[1], complex_.notes) == ("HIS", ("1 HISE read as HIS",))


def test_files_without_such_names_are_not_looked_at_again():
    lines = PdbText(pdb([*chain("A", ["ALA", "HIS"]), *partner()]).encode())
    assert with_short_names(lines) is lines
