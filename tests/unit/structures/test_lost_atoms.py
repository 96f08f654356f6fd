"""Atoms in one point with others have no place: residues, side chains or the model are left out."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import gemmi
import numpy as np
import pytest
import safetensors.numpy

from structures_text import EXAMPLES, Atom, atoms_of, mmcif, pdb, sketch, write
from toporank.comparing.contacts import contact_bytes
from toporank.errors import StructureError
from toporank.finding.complexes import BY_SEQUENCE
from toporank.finding.discovery import decoys_of
from toporank.structures.complex import Complex
from toporank.structures.in_memory import complex_of
from toporank.structures.read import read_complex
from toporank.structures.stored import from_bytes, to_bytes

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


def noise(atom: Atom) -> Atom:
    """Within 0.2 Å of one point."""
    draw = np.random.default_rng([atom.number, *atom.name.encode()])
    return put(atom, tuple((np.array([3, 2, 1]) + draw.uniform(-0.1, 0.1, 3)).round(3)))


def ideal(atom: Atom) -> Atom:
    """Each residue has the same shape around the origin."""
    names = [*BACKBONE, "CB"]
    k = names.index(atom.name) if atom.name in names else len(names)
    return put(atom, (1.3 * k, 0.7 * (k % 2), 0.1 * len(atom.name)))


def read(folder: Path, atoms: list[Atom], as_text: Callable = pdb) -> Complex:
    """A model; its sequences have the residues without a place, too."""
    ending = "pdb" if as_text is pdb else "cif"
    path = write(folder / f"model.{ending}", as_text(atoms))
    residues = {(a.chain, a.number) for a in atoms if a.element != "H"}
    n_letters = sum(len(sequence) for _, sequence in sketch(path).first.chains)
    assert n_letters == len(residues)
    complex_ = read_complex(path)
    assert sum(map(len, complex_.sequences.values())) == n_letters
    assert from_bytes(to_bytes(complex_)).sequences == complex_.sequences
    return complex_


@pytest.mark.parametrize(
    "change",
    [at(0, 0, 0), at(9.5, -3.25, 12), ideal, noise],
    ids=["the origin", "a constant", "a residue of ideal shape", "noise"],
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


@pytest.mark.parametrize("held", ["mmCIF", "second model of a file", "in memory"])
@pytest.mark.parametrize("where", [(0, 0, 0), (999.9, 999.9, 999.9)])
def test_so_they_are_however_a_model_is_held(tmp_path, held, where):
    lost = range(1, 12)
    change = at(*where)
    padded = [change(a) if a.chain == "B" and a.number in lost else a for a in ATOMS]
    rest = [a for a in ATOMS if a.chain == "A" or a.number not in lost]
    path = write(tmp_path / "model.pdb", pdb(padded))
    if held == "mmCIF":
        complex_ = read_complex(write(tmp_path / "model.cif", mmcif(padded)))
    elif held == "in memory":
        complex_ = complex_of(gemmi.read_structure(str(path)))
    else:
        models = (
            f"MODEL        1\n{pdb(ATOMS)}ENDMDL\nMODEL        2\n{pdb(padded)}ENDMDL\n"
        )
        complex_ = read_complex(write(tmp_path / "models.pdb", models), 1)
    assert complex_.residues == read_complex(write(path, pdb(rest))).residues
    assert any("11 of 131 residues of chain 'B' lie in one point" in n for n in complex_.notes)  # fmt: skip


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


@pytest.mark.parametrize("as_text", [pdb, mmcif])
@pytest.mark.parametrize("chain", ["A", "B"])
def test_a_chain_most_of_which_has_no_place_is_refused(tmp_path, chain, as_text):
    padded = [at(0, 0, 0)(a) if a.chain == chain else a for a in ATOMS]
    with pytest.raises(StructureError, match=f"residues of chain '{chain}' lie in one"):
        read(tmp_path, padded, as_text)


@pytest.mark.parametrize("as_text", [pdb, mmcif])
def test_which_complex_a_model_is_does_not_depend_on_what_has_a_place(
    tmp_path, as_text
):
    """Of two partners of one receptor, models without a sixth or all of a chain."""
    ending = "pdb" if as_text is pdb else "cif"
    (tmp_path / "in").mkdir()
    for partner, letter in (("one", "HIS"), ("other", "TRP")):
        whole = [
            replace(a, residue=letter) if a.chain == "B" and a.number % 3 == 0 else a
            for a in ATOMS
        ]
        for n, numbers in enumerate(([], range(1, 24), range(50, 80), range(1, 132))):
            change = at(9.5, n, 12)
            padded = [
                change(a) if a.chain == "B" and a.number in numbers else a
                for a in whole
            ]
            write(tmp_path / f"in/{partner}_{n}.{ending}", as_text(padded))
    grouped = decoys_of("d", tmp_path / "in", BY_SEQUENCE, tmp_path / "store")
    names = {(decoy.target, decoy.name) for decoy in grouped.decoys}
    partners = ("one", "other")
    assert names == {(name, f"{name}_{n}") for name in partners for n in range(4)}


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
    copied = write(tmp_path / "copied.pdb", pdb(ATOMS + copy))
    assert read_complex(copied).residues == whole


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
