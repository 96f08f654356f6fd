"""Atoms in one point with others have no place: residues, side chains or the model are left out."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy

from structures_text import EXAMPLES, Atom, atoms_of, pdb, sketch, write
from toporank.comparing.contacts import contact_bytes
from toporank.errors import StructureError
from toporank.structures.read import read_complex

BACKBONE = ("N", "CA", "C", "O")
Change = Callable[[Atom], Atom]


def example() -> list[Atom]:
    """The atoms of a decoy, chain B numbered from 1."""
    atoms = atoms_of(EXAMPLES / "1EMV/near1.pdb.gz")
    first = min(atom.number for atom in atoms if atom.chain == "B")
    return [
        replace(a, number=a.number - first + 1) if a.chain == "B" else a for a in atoms
    ]


ATOMS = example()
CA = {(a.chain, a.number): (a.x, a.y, a.z) for a in ATOMS if a.name == "CA"}


def put(atom: Atom, place: tuple[float, float, float]) -> Atom:
    return replace(atom, x=place[0], y=place[1], z=place[2])


def on_ca(atom: Atom) -> Atom:
    return put(atom, CA[atom.chain, atom.number])


def at(*place: float) -> Change:
    return lambda atom: put(atom, place)


def ideal(atom: Atom) -> Atom:
    """Each residue has the same shape around the origin."""
    names = [*BACKBONE, "CB"]
    k = names.index(atom.name) if atom.name in names else len(names)
    return put(atom, (1.3 * k, 0.7 * (k % 2), 0.1 * len(atom.name)))


def read(folder: Path, atoms: list[Atom]):
    path = write(folder / "model.pdb", pdb(atoms))
    complex_ = read_complex(path)
    n_residues = sum(len(sequence) for _, sequence in sketch(path).chains)
    assert n_residues == np.count_nonzero(complex_.is_protein)
    return complex_


@pytest.mark.parametrize(
    "change",
    [at(0, 0, 0), at(9.5, -3.25, 12), ideal],
    ids=["the origin", "a constant", "a residue of ideal shape"],
)
@pytest.mark.parametrize("only_ca", [False, True])
@pytest.mark.parametrize("numbers", [range(1, 6), range(40, 48)])
def test_residues_in_one_point_are_left_out(tmp_path, change, only_ca, numbers):
    """What is read is what the file without them gives."""
    atoms = [a for a in ATOMS if a.name == "CA"] if only_ca else ATOMS
    padded = [change(a) if a.chain == "B" and a.number in numbers else a for a in atoms]
    rest = [a for a in atoms if a.chain == "A" or a.number not in numbers]
    complex_ = read(tmp_path, padded)
    expected = read_complex(write(tmp_path / "rest.pdb", pdb(rest)))
    assert complex_.residues == expected.residues
    np.testing.assert_array_equal(complex_.xyz, expected.xyz)
    (note,) = set(complex_.notes) - set(expected.notes)
    n, span = len(numbers), f"{numbers[0]} to {numbers[-1]}"
    assert note.startswith(f"{n} of 131 residues of chain 'B' lie in one point")
    assert f"({span}): left out" in note


@pytest.mark.parametrize("change", [on_ca, at(0, 0, 0)], ids=["CA", "the origin"])
def test_side_chains_in_one_point_are_left_out_and_their_residues_stay(
    tmp_path, change
):
    def is_lost(atom: Atom) -> bool:
        return atom.name not in BACKBONE and atom.chain == "B" and atom.number > 90

    complex_ = read(tmp_path, [change(a) if is_lost(a) else a for a in ATOMS])
    expected = read_complex(
        write(tmp_path / "rest.pdb", pdb(a for a in ATOMS if not is_lost(a)))
    )
    assert complex_.residues == expected.residues
    np.testing.assert_array_equal(complex_.xyz, expected.xyz)
    assert any("side chains of chain 'B' lie in one point" in n for n in complex_.notes)


@pytest.mark.parametrize("chain", ["A", "B"])
def test_a_chain_most_of_which_has_no_place_is_refused(tmp_path, chain):
    padded = [at(0, 0, 0)(a) if a.chain == chain else a for a in ATOMS]
    with pytest.raises(StructureError, match=f"residues of chain '{chain}' lie in one"):
        read(tmp_path, padded)


def test_alternate_locations_and_copies_of_a_chain_have_a_place(tmp_path):
    alternate = []
    for atom in ATOMS:
        if atom.number == 50:
            alternate += [replace(atom, altloc="A"), replace(atom, altloc="B")]
        else:
            alternate.append(atom)
    copy = [replace(a, chain="C") for a in ATOMS if a.chain == "A"]
    whole = read(tmp_path, ATOMS).residues
    assert read(tmp_path, alternate).residues == whole
    assert read(tmp_path, ATOMS + copy).residues == whole


def test_a_residue_of_hydrogens_alone_is_part_of_no_chain(tmp_path):
    """Sequences are the same for targets, labels and comparisons, with and without CA."""
    atoms = []
    for atom in ATOMS:
        if atom.number == 60:
            atom = replace(atom, name="H", element="H")
        if not (atom.number in (70, 71) and atom.name == "CA"):
            atoms.append(atom)
    complex_ = read(tmp_path, atoms)
    n_residues = len(CA) - sum(number == 60 for _, number in CA)
    assert np.count_nonzero(complex_.is_protein) == n_residues
    assert (
        len(
            json.loads(
                safetensors.numpy.load(contact_bytes(complex_))["residues"].tobytes()
            )
        )
        == n_residues
    )
    labelled = complex_.protein_chains.values()
    assert sum(len(chain.sequence) for chain in labelled) == n_residues
