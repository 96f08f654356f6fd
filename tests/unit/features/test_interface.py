"""Which residues are interface: the published criterion, on hand-made complexes and against plain
loops.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle import reference
from structures_text import (
    EXAMPLES,
    alanine,
    ca_trace,
    complex_of,
    in_line,
    random_complex,
)
from toporank.errors import NoInterfaceError, StructureError
from toporank.features.interface import CaCutoff, ca_cutoff_interface
from toporank.structures.read import read_complex

DECOYS = ["1GCQ/mid1.pdb", "1AVZ/far1.pdb", "1PPE/near1.pdb.gz", "1GCQ/wrong2.cif.gz"]


def interface(complex_, cutoff: float = 10.0):
    return ca_cutoff_interface(CaCutoff(cutoff=cutoff), complex_)


def names(complex_, found) -> list[str]:
    return [str(complex_.residues[r]) for r in found.index]


# ---- against plain loops -------------------------------------------------------------------------


@pytest.mark.parametrize("decoy", DECOYS)
def test_real_decoys_have_the_interface_that_plain_loops_find(decoy):
    path = EXAMPLES / decoy
    complex_ = read_complex(path)
    found, expected = interface(complex_), reference.interface(path)
    protein = [r for r in reference.read(path) if not r.hetero and "CA" in r.atoms]
    assert [tuple(complex_.residues[r]) for r in found.index] == [
        r.key for r in expected
    ]
    np.testing.assert_array_equal(
        found.contacts, [reference.contacts(r, protein) for r in expected]
    )
    np.testing.assert_allclose(
        found.nearest,
        [reference.nearest(r, protein) for r in expected],
        rtol=0,
        atol=1e-12,
    )


@settings(max_examples=25)
@given(
    seed=st.integers(0, 10**6),
    chains=st.sampled_from(["AB", "ABC", "BAD"]),
    cutoff=st.sampled_from([4.0, 7.0, 12]),
)
def test_random_complexes_have_the_interface_that_every_pair_tells(
    seed, chains, cutoff
):
    complex_ = random_complex(seed, chains=chains)
    distance = np.linalg.norm(
        complex_.xyz[complex_.ca][:, None] - complex_.xyz[complex_.ca], axis=-1
    )
    chain = np.array([r.chain for r in complex_.residues])
    distance[chain[:, None] == chain] = np.inf
    near = distance < cutoff
    if not near.any():
        with pytest.raises(NoInterfaceError):
            interface(complex_, cutoff)
        return
    found = interface(complex_, cutoff)
    assert set(found.index) == set(np.flatnonzero(near.any(axis=1)))
    np.testing.assert_array_equal(found.contacts, near.sum(axis=1)[found.index])
    np.testing.assert_allclose(
        found.nearest, distance.min(axis=1)[found.index], rtol=1e-12
    )


# ---- the criterion -------------------------------------------------------------------------------


def test_the_cutoff_itself_is_already_too_far():
    with pytest.raises(NoInterfaceError):
        interface(in_line(("A", 0.0), ("B", 10.0)))
    found = interface(in_line(("A", 0.0), ("B", np.nextafter(10.0, 0.0))))
    assert (found.index.tolist(), found.contacts.tolist()) == ([0, 1], [1, 1])


def test_only_ca_atoms_matter_and_residues_without_one_are_left_out():
    near = [a for a in alanine("B", 1, 3.0) if a.name != "CA"]
    complex_ = complex_of([*alanine("A", 1, 0.0), *near, *alanine("B", 2, 9.0)])
    assert names(complex_, interface(complex_)) == ["A:1", "B:2"]


def test_what_is_not_protein_has_no_part_in_it():
    complex_ = in_line(("A", 0.0), ("B", 9.0), ("C", 1.0))
    complex_ = dataclasses.replace(
        complex_, parents=("ALA", "ALA", ""), ca=np.array([0, 1, -1])
    )
    found = interface(complex_)
    assert (names(complex_, found), found.contacts.tolist()) == (["A:1", "B:2"], [1, 1])


# ---- chains and order ----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_the_order_is_chain_then_number_then_insertion_code_whatever_the_file_has(seed):
    order = [("A", -5, ""), ("A", 3, ""), ("A", 3, "A"), ("A", 3, "B"), ("A", 20, "")]
    order += [("AA", 1, ""), ("B", -1, ""), ("B", 100, "")]
    shuffled = [order[i] for i in np.random.default_rng(seed).permutation(len(order))]
    complex_ = ca_trace((*r, (float(i), 0.0, 0.0)) for i, r in enumerate(shuffled))
    assert [tuple(complex_.residues[r]) for r in interface(complex_).index] == order


def test_chains_that_differ_only_after_their_first_letter_are_different():
    complex_ = in_line(("Heavy", 0.0), ("Height", 5.0))
    assert names(complex_, interface(complex_)) == ["Heavy:1", "Height:2"]


def test_a_chain_without_name_and_one_with_a_digit_are_chains():
    complex_ = in_line(("", 0.0), ("1", 5.0))
    assert names(complex_, interface(complex_)) == [":1", "1:2"]


# ---- no interface --------------------------------------------------------------------------------


def test_without_contact_the_error_tells_the_closest_distance_and_the_number_of_chains():
    with pytest.raises(
        NoInterfaceError, match=r"within 10 Å .*closest 31\.4 Å"
    ) as error:
        interface(in_line(("A", 0.0), ("A", 2.0), ("B", 33.4), ("C", 90.0)))
    assert error.value.facts["n_chains"] == 3


def test_the_example_decoy_that_is_pulled_apart_has_no_interface():
    with pytest.raises(NoInterfaceError, match=r"closest \d+\.\d Å"):
        interface(read_complex(EXAMPLES / "2I25" / "apart1.cif.gz"))


def test_a_single_chain_is_an_error_that_names_it():
    with pytest.raises(StructureError, match=r"only one protein chain \('X'\)"):
        interface(in_line(("X", 0.0), ("X", 5.0)))


def test_no_protein_at_all_is_an_error():
    complex_ = dataclasses.replace(
        in_line(("A", 0.0), ("B", 5.0)), parents=("", ""), ca=np.array([-1, -1])
    )
    with pytest.raises(StructureError, match="no protein chain"):
        interface(complex_)


@pytest.mark.parametrize("without", ["B", "AB"])
def test_a_chain_without_any_ca_atom_does_not_count_as_a_protein_chain(without):
    atoms = [
        a
        for a in alanine("A", 1, 0.0) + alanine("B", 1, 5.0)
        if not (a.chain in without and a.name == "CA")
    ]
    with pytest.raises(StructureError, match="with CA atoms, at least two are needed"):
        interface(complex_of(atoms))
