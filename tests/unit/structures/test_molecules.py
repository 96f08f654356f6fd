"""Molecules that share a chain name, parts with END between them, and what stays one chain."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import gemmi
import pytest

from complexes import ANTIBODY, chains_of
from structures_text import EXAMPLES, Atom, atoms_of, changed, mmcif, pdb, sketch, write
from toporank.chains.immune import natural_bodies
from toporank.comparing.native.label import Native
from toporank.errors import StructureError
from toporank.structures.complex import Complex
from toporank.structures.read import read_complex
from toporank.structures.stored import from_bytes, to_bytes

EXAMPLE = EXAMPLES / "1EMV" / "near1.pdb.gz"
TER, END = "TER\n", "END\n"


def example(chain: str) -> list[Atom]:
    """A chain of a decoy, numbered from 1: A has 83 residues, B 131."""
    atoms = [atom for atom in atoms_of(EXAMPLE) if atom.chain == chain]
    return [replace(a, number=a.number - atoms[0].number + 1) for a in atoms]


A, B = example("A"), example("B")


def called(atoms: list[Atom], chain: str, first: int = 1, x: float = 0.0) -> list[Atom]:
    """The atoms with another chain name, numbered from another number on, and moved by x Å."""
    return [
        replace(a, chain=chain, number=a.number + first - 1, x=round(a.x + x, 3))
        for a in atoms
    ]


def numbered(atoms: list[Atom], start: int = 1) -> str:
    """PDB text whose atoms are numbered from `start` on."""
    lines = pdb(atoms).splitlines(keepends=True)
    return "".join(
        f"{line[:6]}{serial:5d}{line[11:]}" for serial, line in enumerate(lines, start)
    )


def without(atoms: list[Atom], first: int, last: int) -> list[Atom]:
    return [atom for atom in atoms if not first <= atom.number <= last]


def read(folder: Path, *parts: str | list[Atom]) -> Complex:
    texts = []
    for part in parts:
        n_before = "".join(texts).count("ATOM")
        texts.append(part if isinstance(part, str) else numbered(part, n_before + 1))
    path = write(folder / "d.pdb", "".join(texts))
    complex_ = read_complex(path)
    assert dict(sketch(path).first.chains) == complex_.sequences
    return complex_


def sizes(complex_: Complex) -> dict[str, int]:
    return {chain: len(sequence) for chain, sequence in complex_.sequences.items()}


CLUSPRO = "HEADER rec.pdb\n", "HEADER lig.pdb\n"
MOLECULES = {
    "nanobody and antigen": ([called(A, "A"), TER, called(B, "A", 333)], "A A_2"),
    "overlapping numbers": ([called(A, "A"), TER, called(B, "A")], "A A_2"),
    "no chain names": ([called(A, " "), TER, called(B, " ")], " _2"),
    "numbers go back, no TER": ([called(A, "A", 333), called(B, "A")], "A A_2"),
    "two files": ([numbered(called(A, "A")), numbered(called(B, "A", 90))], "A A_2"),
    "another chain between": (
        [called(A, "H"), called(A, "L", 1, 50), called(B, "H", 150)],
        "H L H_2",
    ),
    "homodimer": ([called(A, "A"), TER, called(A, "A", 1, 40)], "A A_2"),
    "homodimer, no TER": ([called(A, "A"), called(A, "A", 1, 40)], "A A_2"),
    "three molecules, no TER": (
        [called(A, "A"), called(A, "A", 1, 50), called(B, "A")],
        "A A_2 A_3",
    ),
    "numbers go on": ([called(A, "A"), TER, called(B, "A", 84)], "A A_2"),
    "a third copy": (
        [called(A, "A"), TER, called(B, "B"), TER, called(A, "A", 1, 50)],
        "A B A_2",
    ),
    "ClusPro, homodimer": (
        [CLUSPRO[0], called(A, "A"), END, CLUSPRO[1], called(A, "A", 1, 40), END],
        "A A_2",
    ),
    "ClusPro": (
        [CLUSPRO[0], called(A, "A"), END, CLUSPRO[1], called(B, "A"), END],
        "A A_2",
    ),
    "three files joined": (
        [called(A, "A"), END, called(B, "B"), END, called(A, "C", 1, 50), END],
        "A B C",
    ),
}
"""Parts of a file, A of 83 and B of 131 residues, and the chains in the order of these parts."""


@pytest.mark.parametrize("case", MOLECULES)
def test_each_molecule_gets_a_chain_name_of_its_own(tmp_path, case):
    parts, names = MOLECULES[case]
    complex_ = read(tmp_path, *parts)
    molecules = [part for part in parts if part not in (TER, END, *CLUSPRO)]
    n_residues = []
    for part in molecules:
        n_residues.append(83 if len(part) in (len(A), len(numbered(A))) else 131)
    names = names.split(" ")
    assert sizes(complex_) == dict(zip(names, n_residues, strict=True))
    notes = [note for note in complex_.notes if "is several molecules" in note]
    new_names = [repr(name) for name in names if name.endswith(("_2", "_3"))]
    assert [note.rpartition(" ")[2] for note in notes] == new_names


ONE_PARTNER = {
    "HADDOCK": ([A, TER, called(B, "A", 501), TER, called(A, "B", 1, 50)], [83, 501]),
    "HADDOCK, no TER": ([A, called(B, "A", 501), TER, called(A, "B", 1, 50)], []),
    "ligand first": (
        [called(A, "B", 1, 50), TER, A, TER, called(B, "A", 120)],
        [83, 120],
    ),
    "twins": ([A, TER, called(A, "A", 1, 40), TER, called(B, "B")], [83, 1001]),
    "twins, no TER": ([A, called(A, "A", 1, 40), called(B, "B")], [83, 1001]),
    "three": (
        [A, TER, called(A, "A", 1, 50), TER, called(B, "A"), called(A, "B", 1, 99)],
        [83, 1001, 1083, 2001],
    ),
    "a fused domain": (
        [
            without(called(A, "A", 1001), 1081, 1083),
            called(B, "A"),
            called(A, "B", 1, 60),
        ],
        [],
    ),
}
"""Parts of a file, in which chain A is several molecules, and where numbers jump in it if that is
said."""


@pytest.mark.parametrize("case", ONE_PARTNER)
def test_beside_other_chains_all_molecules_of_a_name_are_one_partner(tmp_path, case):
    parts, jumps = ONE_PARTNER[case]
    complex_ = read(tmp_path, *parts)
    assert complex_.bodies == (("A",), ("B",))
    assert len(set(complex_.residues)) == sum(sizes(complex_).values())
    notes = " ".join(complex_.notes)
    assert ("one partner" in notes) == bool(jumps)
    numbers = complex_.numbers[complex_.chain_of == "A"].tolist()
    at_jumps = {
        n
        for pair in itertools.pairwise(numbers)
        if abs(pair[1] - pair[0]) > 1
        for n in pair
    }
    assert at_jumps == set(jumps) or not jumps
    if case.startswith("HADDOCK"):
        assert "'A'" in notes
        assert "molecules" in notes


def test_partners_that_name_a_chain_mean_all_its_molecules(tmp_path):
    """Also those that got a name of their own, unless another partner names them."""
    further = called(A, "A", 1, 50)
    complex_ = read(tmp_path, called(A, "A"), TER, called(B, "B"), TER, further)
    whole = (("A", "A_2"), ("B",))
    assert complex_.with_partners((("A",), ("B",))).partners == whole
    assert Native(complex_, (("A",), ("B",))).partners == whole
    assert from_bytes(to_bytes(complex_)).molecules == (("A_2", "A"),)
    three = complex_.with_partners((("A",), ("A_2",), ("B",)))
    assert three.bodies == (("A",), ("A_2",), ("B",))
    assert complex_.with_partners(whole).with_partners(three.bodies).partners == ()


def test_an_antigen_that_is_called_as_the_light_chain_is_another_partner(tmp_path):
    """Nature joins the light chain with the heavy chain, but not with what has its name."""
    heavy, light, antigen = (chains_of(atoms_of(ANTIBODY), name) for name in "HLA")
    text = TER.join([pdb(heavy), pdb(light), pdb(called(antigen, "L", 501))])
    complex_ = read_complex(write(tmp_path / "d.pdb", text))
    assert natural_bodies(complex_.protein_chains) == (("H", "L"), ("L_2",))


GAP = without(A, 30, 45)
LOOP = [atom for atom in A if 30 <= atom.number <= 45]


def with_code(atom: Atom) -> Atom:
    """Residues 40, 41, 42 … as 39A, 39B, 39C …"""
    if atom.number < 40:
        return atom
    return replace(atom, number=39, insertion_code=chr(ord("A") + atom.number - 40))


ONE_CHAIN = {
    "a gap": [GAP, TER, B],
    "TER at a gap": [without(A, 30, 99), TER, without(A, 1, 45), TER, B],
    "a loop behind all others": [GAP, TER, LOOP, TER, B],
    "a ligand": [
        A,
        TER,
        changed(called(A[:8], "A", 900, 30.0), residue="LIG", het=True),
        TER,
        B,
    ],
    "a second conformation": [A, TER, called(A, "A", 1, 0.3), TER, B],
    "numbers jump": [without(A, 40, 99), called(without(A, 1, 39), "A", 501), TER, B],
    "TER in a chain": [without(A, 40, 99), TER, without(A, 1, 39), B],
    "a chain in two parts": [without(A, 40, 99), B, without(A, 1, 39)],
    "insertion codes": [[with_code(atom) for atom in A if atom.number < 60], B],
}


@pytest.mark.parametrize("case", ONE_CHAIN)
def test_a_chain_that_lacks_residues_or_is_numbered_oddly_stays_one(tmp_path, case):
    assert set(sizes(read(tmp_path, *ONE_CHAIN[case]))) == {"A", "B"}


@pytest.mark.parametrize(
    "first", [501, 84], ids=["HADDOCK", "numbered from end to end"]
)
def test_a_chain_that_goes_on_far_away_is_named(tmp_path, first):
    """Two molecules without TER, as HADDOCK joins the chains of one partner."""
    complex_ = read(
        tmp_path, called(A, "A"), called(B, "A", first), TER, called(A, "B", 1, 30)
    )
    assert sizes(complex_) == {"A": 214, "B": 83}
    (note,) = complex_.notes
    assert note.startswith(
        f"chain 'A' goes on at {first}, 58 Å from 83 and without a peptide bond: read as one chain"
    )
    assert sketch(tmp_path / "d.pdb").notes == (note,)


@pytest.mark.parametrize("first", [84, 333])
def test_another_label_name_is_another_molecule(tmp_path, first):
    """mmCIF in which two molecules have one `auth_asym_id`, as chain names of the files that a
    program was given.
    """
    document = gemmi.cif.read_string(mmcif([*called(A, "A"), *called(B, "B", first)]))
    table = document[0].find(
        "_atom_site.", ["auth_asym_id", "label_asym_id", "auth_seq_id"]
    )
    for row in table:
        is_second = int(row[2]) >= first
        row[0] = "A"
        row[1] = "D" if is_second else "C"
    path = write(tmp_path / "d.cif", document.as_string())
    assert sizes(read_complex(path)) == {"A": 83, "A_2": 131}
    assert dict(sketch(path).first.chains) == read_complex(path).sequences


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (
            [A, B, END, called(A, "A", 1, 9), called(B, "B", 1, 9), END],
            "atoms after END",
        ),
        ([A, END, called(A, "A", 1, 9), END], "atoms after END"),
        (
            [A, TER, B, TER, called(A, "A", 1, 50), TER, called(B, "B", 1, 60), TER],
            "stands twice in the file",
        ),
    ],
    ids=["complexes", "monomers", "complexes without END"],
)
def test_models_one_after_another_are_not_one_complex(tmp_path, parts, message):
    with pytest.raises(StructureError, match=message):
        read(tmp_path, *parts)


def test_a_residue_number_with_two_minus_signs_is_an_error_in_words(tmp_path):
    twice = pdb(called(A, "A")) + pdb(called(A, "A", 1, 40))
    with pytest.raises(StructureError, match="residue number"):
        read(tmp_path, twice[:22] + " --1" + twice[26:])
