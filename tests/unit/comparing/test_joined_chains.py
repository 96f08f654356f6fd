"""Chains of native and decoy that are not one to one: joined by a docking program, single-chain, or
cut in the PDB.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from _complexes import chain, cut, renamed, selected, together
from test_labelling import DOCKQ_2_1_3, example

from structures_text import moved
from toporank.chains.alignment import pieces
from toporank.chains.chain import ResidueId
from toporank.chains.partners import in_decoy, mapping_text, read_mapping
from toporank.comparing.native.label import Native, NativeLabel, label
from toporank.errors import ConfigError, LabelError
from toporank.structures.complex import Complex


def joined(complex_: Complex, names: str, new: str, shift: int = 500) -> Complex:
    """A complex with several chains under one name, their residues numbered on as HADDOCK does."""
    residues = [
        ResidueId(new, residue.number + shift * names.index(residue.chain))
        if residue.chain in names
        else residue
        for residue in complex_.residues
    ]
    return replace(complex_, residues=tuple(residues))


def text(found: NativeLabel) -> str:
    return " ".join(sorted(mapping_text(found.mapping).split()))


# ---- the value is that of the formula with the partner as one body -------------------------------


@pytest.mark.parametrize(
    "partners", [(), (("B",), ("H", "L"))], ids=["without partners", "H+L:B"]
)
@pytest.mark.parametrize(
    ("target", "name", "expected"), [row[:3] for row in DOCKQ_2_1_3]
)
def test_several_chains_of_the_native_are_one_chain_of_the_decoy(
    target, name, expected, partners
):
    native, decoy = cut(example(target, "near1"), "A", "HL"), example(target, name)
    found = label(Native(native, partners), decoy)
    assert found.dockq == pytest.approx(expected, abs=6e-5)
    assert text(found) == "B=B H+L=A"
    assert sorted(sorted(partner) for partner in found.partners) == [["B"], ["H", "L"]]
    assert found.notes == ("chains H, L of the native as chain A of the model",)


@pytest.mark.parametrize("into", ["EF", "EFG"])
@pytest.mark.parametrize(
    ("target", "name", "expected"), [row[:3] for row in DOCKQ_2_1_3]
)
def test_one_chain_of_the_native_is_several_of_the_decoy(target, name, expected, into):
    found = label(
        Native(example(target, "near1")), cut(example(target, name), "B", into)
    )
    assert found.dockq == pytest.approx(expected, abs=6e-5)
    assert text(found) == f"A=A B={'+'.join(into)}"
    assert sorted(found.partners) == [("A",), ("B",)]


def test_three_chains_in_one_in_another_order_and_with_a_linker():
    native, whole = cut(example("1KTZ", "near1"), "A", "HLX"), example("1KTZ", "mid2")
    pieces_ = [chain(cut(whole, "A", "HLX"), name, name) for name in "LXH"]
    linker = chain(whole, "A", "K", 300.0)
    linker = selected(linker, np.arange(12))
    linker = replace(linker, parents=("GLY",) * 12, names=("GLY",) * 12)
    parts = [chain(whole, "B", "B"), pieces_[0], linker, *pieces_[1:]]
    decoy = joined(together(*parts), "LKXH", "A", 1000)
    expected = label(
        Native(native, (("B",), ("H", "L", "X"))),
        together(chain(whole, "B", "B"), *pieces_),
    ).dockq
    found = label(Native(native), moved(decoy, 3))
    assert found.dockq == pytest.approx(expected, abs=1e-6)
    assert text(found) == "B=B H+L+X=A"


@pytest.mark.parametrize("partners", [(), (("A",), ("B",))], ids=["", "A:B"])
@pytest.mark.parametrize("shift", [500, 0], ids=["numbered on", "from 1 again"])
def test_molecules_under_one_name_may_stand_in_another_order(partners, shift):
    target, name, expected = DOCKQ_2_1_3[3][:3]
    native = joined(cut(example(target, "near1"), "A", "HL"), "HL", "A", shift)
    whole = cut(example(target, name), "A", "HL")
    parts = [chain(whole, each, each) for each in "LHB"]
    decoy = joined(together(*parts), "LH", "A", shift)
    found = label(Native(native, partners), decoy)
    assert found.dockq == pytest.approx(expected, abs=1e-3)
    assert text(found) == "A=A B=B"


def test_two_copies_of_a_chain_joined_are_two_pieces_and_may_change_places():
    native = example("1KTZ", "near1")
    two = together(native, chain(native, "A", "C", 60.0), chain(native, "B", "D", 60.0))
    decoy = joined(renamed(two, {"A": "C", "C": "A"}), "AC", "A")
    found = label(Native(two, (("A", "C"), ("B",), ("D",))), decoy)
    assert found.dockq == pytest.approx(1.0)
    assert found.mapping["A"] == found.mapping["C"] == ("A",)


def test_where_the_ca_of_the_native_are_is_known_of_joined_chains_too():
    native, decoy = example("1PPE", "near1"), example("1PPE", "far1")
    expected = label(Native(native), decoy).counterparts
    np.testing.assert_array_equal(
        label(Native(cut(native, "A", "HL")), decoy).counterparts, expected
    )
    np.testing.assert_array_equal(
        label(Native(native), cut(decoy, "A", "HL")).counterparts, expected
    )


# ---- what is not joined --------------------------------------------------------------------------


def test_copies_of_a_chain_are_not_joined_where_the_decoy_has_just_one():
    native = example("1KTZ", "near1")
    two = together(native, chain(native, "A", "C", 60.0), chain(native, "B", "D", 60.0))
    found = label(Native(two), native)
    assert found.dockq == pytest.approx(1.0)
    assert all(len(partner) == 1 for partner in found.partners)
    assert "no counterpart of chain" in found.notes[0]


def test_a_sequence_is_cut_only_where_two_parts_lie_side_by_side():
    first, second = "MKTAYIAKQRQISFVKSHFSRQ", "LEERLGLIEVQAPILSRVGDGT"
    assert pieces(first + "GGGGS" + second, (("L", second), ("H", first))) == (
        slice(0, 27),
        slice(27, 49),
    )
    assert pieces(first + second, (("H", first), ("C", first))) == ()
    # too short to mean anything
    assert pieces(first + second, (("H", first), ("P", "LEER"))) == ()
    assert len(pieces(first + first, (("H", first), ("C", first)))) == 2
    # a peptide is found letter by letter; a part whose head is missing begins behind it
    peptide = "SIINFE"
    assert pieces(peptide + first[3:], (("H", first), ("P", peptide))) == (
        slice(0, 6),
        slice(6, 25),
    )
    # letters that a part begins with are its own, though they differ
    other = first + "AAA" + second[3:]
    assert pieces(other, (("L", second), ("H", first))) == (
        slice(0, 22),
        slice(22, 44),
    )
    # a part behind a long linker, whose loop is not resolved
    third = "DPNQNVKCWFIYHTEACMSRLG"
    with_loop = second + "HKTNWYPMQCHEDFRSVANKTWYIC" + third
    resolved = first + 6 * "GGGGS" + second + third
    assert pieces(resolved, (("L", with_loop), ("H", first))) == (
        slice(0, 52),
        slice(52, 96),
    )


# ---- what is refused -----------------------------------------------------------------------------


def test_partners_that_part_a_chain_of_the_decoy_are_refused():
    native = cut(example("1KTZ", "near1"), "A", "HL")
    with pytest.raises(
        LabelError, match="chain A of the model has residues of 2 partners, H and L"
    ):
        label(Native(native, (("B",), ("H",), ("L",))), example("1KTZ", "mid2"))


def test_a_decoy_whose_only_chain_is_the_whole_native_has_no_interface():
    native = example("1KTZ", "near1")
    with pytest.raises(
        LabelError, match="all chains of the native are one chain of the model"
    ):
        label(Native(native), joined(native, "AB", "A"))


# ---- as text -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "mapping",
    [{"A": ("B",), "B": ("A",)}, {"H": ("A",), "L": ("A",), "A=1": ("B", "C+D")}],
)
def test_which_chain_is_which_comes_back_from_its_text(mapping):
    assert read_mapping(mapping_text(mapping)) == mapping


def test_a_mapping_that_is_something_else_is_refused():
    with pytest.raises(ConfigError, match="Mapping is 'AB:CD'"):
        read_mapping("AB:CD")


def test_partners_in_a_decoy_that_lacks_a_chain_or_joins_two_partners_cannot_be_built():
    assert in_decoy("A:H+L", {"A": ("X",), "H": ("Y",)}) == "L of the native+Y:X"
    assert (
        in_decoy("A:H:L", {"A": ("B",), "H": ("A",), "L": ("A",)}).count(
            "without the other partner"
        )
        == 2
    )
