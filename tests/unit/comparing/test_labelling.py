"""Labels from natives: DockQ as DockQ 2.1.3 computes it, mapping of chains, what is left out and
what is refused.
"""

from __future__ import annotations

import string
from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pytest
from _complexes import (
    chain,
    cut,
    places_of_chains,
    renamed,
    selected,
    together,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from messages import messages
from structures_text import EXAMPLES, moved
from toporank.chains.alignment import ManySequences, align, most_identical
from toporank.chains.chain import Chain, ResidueId, chains_by_name
from toporank.chains.mapping import counterparts as counterparts_of
from toporank.chains.match import same_residues
from toporank.comparing.contacts import residue_contacts
from toporank.comparing.native.dockq import (
    NativeInterface,
    Side,
    capri_class,
    score,
)
from toporank.comparing.native.label import Native, label
from toporank.comparing.native.local import (
    expected_ca,
    local_quality,
    native_contacts,
    right_residues,
)
from toporank.errors import LabelError, NativeError, OtherProteinError
from toporank.structures.complex import Complex
from toporank.structures.read import read_complex

DOCKQ_2_1_3 = [
    ("1AVZ", "mid2", 0.7458, 0.6216, 1.005, 2.415),
    ("1AVZ", "wrong1", 0.0781, 0.1351, 13.326, 27.618),
    ("1GCQ", "far1", 0.4213, 0.4600, 2.587, 7.651),
    ("1KTZ", "mid2", 0.5584, 0.3226, 1.590, 3.115),
    ("1PPE", "far1", 0.3662, 0.2647, 2.564, 7.250),
    ("2I25", "wrong1", 0.0262, 0.0000, 10.003, 34.661),
]
"""Target, decoy, and DockQ, fnat, iRMSD and LRMSD (Å) that DockQ 2.1.3 prints for it, with near1 as
its native.
"""


def example(target: str, decoy: str) -> Complex:
    return read_complex(next((EXAMPLES / target).glob(f"{decoy}.*")))


@pytest.fixture(scope="module")
def native() -> Complex:
    return example("1KTZ", "near1")


@pytest.fixture(scope="module")
def decoy() -> Complex:
    return example("1KTZ", "mid2")


# ---- the numbers ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "name", "expected", "fnat", "irmsd", "lrmsd"), DOCKQ_2_1_3
)
def test_the_scores_are_those_of_dockq(target, name, expected, fnat, irmsd, lrmsd):
    found = label(Native(example(target, "near1")), example(target, name))
    (scores,) = found.interfaces.values()
    assert found.dockq == scores.dockq == pytest.approx(expected, abs=6e-5)
    assert scores[1:] == pytest.approx((fnat, irmsd, lrmsd), abs=6e-4)


def test_neither_place_nor_chain_names_nor_hydrogens_change_a_label(native, decoy):
    expected = label(Native(native), decoy).dockq
    other = renamed(moved(decoy, 5), {"A": "B", "B": "xyz"})
    found = label(Native(moved(native, 7)), other)
    assert found.dockq == pytest.approx(expected)
    assert found.mapping == {"A": ("B",), "B": ("xyz",)}


@pytest.mark.parametrize(
    ("fnat", "irmsd", "lrmsd", "expected"),
    [
        (0.714, 0.90, 3.03, "high"),  # DockQ 0.779
        (0.959, 1.25, 2.42, "medium"),  # 0.824
        (0.429, 1.81, 7.10, "medium"),  # 0.475
        (0.796, 2.79, 5.69, "acceptable"),  # 0.570
        (0.265, 3.76, 14.85, "acceptable"),  # 0.216
        (0.061, 2.76, 6.38, "incorrect"),  # 0.310
        (0.5, 1.0, 9.0, "high"),
        (0.499, 0.5, 0.5, "medium"),
        (0.1, 40.0, 10.0, "acceptable"),
        (0.9, 4.01, 10.01, "incorrect"),
    ],
)
def test_the_capri_class_is_that_of_fnat_and_both_rmsds(fnat, irmsd, lrmsd, expected):
    assert capri_class(fnat, irmsd, lrmsd) == expected


# ---- which residues are the same -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("native", "decoy", "residue"),
    [
        ("AAG", "AG", [-1, 0, 1]),
        ("AG", "AAG", [1, 2]),
        ("GAGA", "GA", [-1, -1, 0, 1]),
        ("AGAGAG", "AGAG", [-1, -1, 0, 1, 2, 3]),
    ],
)
def test_of_equally_good_alignments_the_one_of_dockq_counts(native, decoy, residue):
    assert align(native, decoy).residue.tolist() == residue


@settings(max_examples=100)
@given(st.text("AGS", min_size=1, max_size=14), st.text("AGS", min_size=1, max_size=14))
def test_only_equal_letters_are_the_same_residue_and_in_one_order(native, decoy):
    found = align(native, decoy)
    matched = [
        (letter, decoy[place])
        for letter, place in zip(native, found.residue.tolist(), strict=True)
        if place >= 0
    ]
    assert all(one == other for one, other in matched)
    assert (np.diff(found.residue[found.residue >= 0]) > 0).all()
    assert found.identity == len(matched) / min(len(native), len(decoy))


def longest_common(one: str, other: str) -> int:
    """By the textbook."""
    row = [0] * (len(other) + 1)
    for letter in one:
        before = 0
        for j, theirs in enumerate(other, start=1):
            before, row[j] = (
                row[j],
                before + 1 if letter == theirs else max(row[j], row[j - 1]),
            )
    return row[-1]


@settings(max_examples=100)
@given(st.text("AGST", max_size=40), st.text("AGST", max_size=40))
def test_what_needs_no_alignment_could_not_have_passed_it(one, other):
    assert most_identical(one, other) == longest_common(one, other)
    if one and other:
        assert most_identical(one, other) >= align(one, other).n_identical


@settings(max_examples=100)
@given(st.lists(st.text("AGST", min_size=1, max_size=20)), st.text("AGST", min_size=1))
def test_many_sequences_are_compared_at_once_as_each_alone(sequences, other):
    many = ManySequences(longest=20)
    for sequence in sequences:
        many.add(sequence)
    alone = [most_identical(sequence, other) for sequence in sequences]
    assert many.most_identical(other).tolist() == alone
    for sequence, differs in zip(sequences, many.differ_in_place(other), strict=True):
        in_place = [
            place if a == b else -1
            for place, (a, b) in enumerate(zip(sequence, other, strict=False))
        ]
        if differs:
            assert align(sequence, other).residue.tolist() == in_place


def test_residues_that_are_missing_or_numbered_differently_do_not_matter(native, decoy):
    rows = np.arange(len(decoy.residues))
    some = selected(decoy, rows[(rows % 17 != 5) & (rows > 3)])
    some = replace(
        some, residues=tuple(ResidueId(r.chain, r.number + 500) for r in some.residues)
    )
    found = label(Native(native), some)
    assert found.dockq == pytest.approx(label(Native(native), decoy).dockq, abs=0.05)
    assert found.notes == ()


# ---- partners and interfaces ---------------------------------------------------------------------


def test_chains_of_one_partner_count_as_one_chain(native, decoy):
    expected = label(Native(native), decoy)
    halves = [cut(complex_, "A", "AC") for complex_ in (native, decoy)]
    found = label(Native(halves[0], (("A", "C"), ("B",))), halves[1])
    assert found.dockq == pytest.approx(expected.dockq)
    assert list(found.interfaces) == [(("A", "C"), ("B",))]


def test_without_partners_the_label_is_the_mean_over_the_interfaces(native, decoy):
    two = together(native, chain(native, "B", "C", shift=0.0001))
    found = label(Native(two), together(decoy, chain(native, "B", "C")))
    values = [scores.dockq for scores in found.interfaces.values()]
    assert found.dockq == pytest.approx(np.mean(values))
    assert len(values) > 1


# ---- which chain is which ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def trimer(native) -> Complex:
    """Three copies of one chain side by side, which the order of their names does not tell."""
    return together(
        *(
            chain(native, "B", new, shift)
            for new, shift in (("A", 0.0), ("B", 18.0), ("C", 36.0))
        )
    )


@pytest.mark.parametrize("names", ["BCA", "CBA", "BAC"])
def test_of_repeated_chains_the_best_mapping_counts(trimer, names):
    other = dict(zip("ABC", names, strict=True))
    found = label(Native(trimer), moved(renamed(trimer, other)))
    assert found.dockq == pytest.approx(1.0)
    assert found.mapping == {own: (name,) for own, name in other.items()}


def test_a_residue_of_hydrogens_alone_is_not_part_of_a_chain(native):
    names = native.atom_names.copy()
    names[native.residue_of == 5] = b"H"
    whole = native.protein_chains["A"]
    others = replace(native, atom_names=names).protein_chains["A"]
    assert others.index.tolist() == [i for i in whole.index.tolist() if i != 5]
    assert others.sequence == whole.sequence[:5] + whole.sequence[6:]


def relative(sequence: str, n: int) -> str:
    """The sequence with n letters that are others, evenly spread."""
    places = {round(i * len(sequence) / n) for i in range(n)}
    return "".join(
        "W" if i in places and letter != "W" else letter
        for i, letter in enumerate(sequence)
    )


def test_a_relative_of_a_chain_is_no_copy_of_it_where_the_chain_itself_is_there(native):
    chains = native.protein_chains
    own = chains["A"]
    alike = replace(
        own, name="R", sequence=relative(own.sequence, len(own.sequence) // 5)
    )
    assert counterparts_of({"A": own}, {"R": alike, "A": own}) == {"A": ["A"]}
    assert counterparts_of({"A": own}, {"R": alike}) == {"A": ["R"]}
    assert counterparts_of({"A": own, "R": alike}, {"x": own, "y": alike}) == {
        "A": ["x"],
        "R": ["y"],
    }


def exchanged(complex_: Complex, name: str, *places: int) -> Complex:
    """The complex in which some residues of a chain are called tryptophan."""
    names = list(complex_.names)
    members = places_of_chains(complex_)[name]
    for place in places:
        names[members[place]] = "TRP"
    return replace(complex_, names=tuple(names), parents=tuple(names))


@pytest.mark.parametrize("common", [(), (3,)], ids=["exact", "one mutation everywhere"])
@pytest.mark.parametrize("lost", [0, 6])
@pytest.mark.parametrize("names", ["ABC", "ACB"])
def test_a_chain_without_exchanged_residues_goes_before_a_relative(
    native, common, lost, names
):
    """Of two alike chains one binds: whoever puts the other one there is wrong."""
    dimer = together(native, chain(native, "B", "C", 60.0))
    relatives = 20, 40, 60, 80
    right = exchanged(exchanged(dimer, "C", *relatives, *common), "B", *common)
    wrong = exchanged(exchanged(dimer, "B", *relatives, *common), "C", *common)
    of_native = Native(exchanged(dimer, "C", *relatives))
    scores = []
    for decoy in (right, wrong):
        some = selected(decoy, np.arange(len(decoy.residues) - lost))
        scores.append(
            label(of_native, renamed(some, dict(zip("ABC", names, strict=True)))).dockq
        )
    assert scores == [pytest.approx(1.0, abs=1e-6), pytest.approx(0.0, abs=0.1)]


def test_where_one_copy_has_an_exchanged_residue_the_best_mapping_counts(trimer):
    decoy = renamed(exchanged(trimer, "A", 30), {"A": "B", "B": "C", "C": "A"})
    assert label(Native(trimer), decoy).dockq == pytest.approx(1.0, abs=0.01)


def test_names_and_given_partners_do_not_say_which_of_equal_sides_is_superposed(native):
    two = together(chain(native, "B", "A"), chain(native, "B", "B", 18.0))
    tilted = replace(
        two, xyz=two.xyz + 0.05 * two.xyz[:, ::-1] * (two.residue_of < 90)[:, None]
    )
    expected = label(Native(two), tilted).dockq
    assert expected < 0.9
    swapped = {"A": "B", "B": "A"}
    for of_native, decoy in [
        (two, tilted),
        (renamed(two, swapped), renamed(tilted, swapped)),
    ]:
        for partners in [(), (("A",), ("B",)), (("B",), ("A",))]:
            assert label(Native(of_native, partners), decoy).dockq == pytest.approx(
                expected
            )


def stretch(letters: str, numbers: Iterable[int], first: int = 1) -> Chain:
    """Residues of one protein, called X where the letter is not known; CA as it is built.

    numbers : of the residues that are there, as the protein is built. first : what the first
    residue of the protein is called.
    """
    steps = np.random.default_rng(3).normal(size=(len(letters) + 1, 3))
    ca = np.cumsum(3.8 * steps / np.linalg.norm(steps, axis=1, keepdims=True), axis=0)
    built = np.array(list(numbers))
    sequence = "".join(letters[number - 1] for number in built)
    residues = [ResidueId("A", int(number) + first - 1) for number in built]
    return chains_by_name(residues, sequence, ca[built])["A"]


LOOP = "MKTAYIAKQRRQISFVKSHFSRQ"
"""Residues 10 and 11 are of one kind."""
UNKNOWN = 12 * "X"


@pytest.mark.parametrize(
    ("letters", "of_native", "of_decoy"),
    [
        (LOOP, [*range(1, 11), *range(12, 24)], range(1, 24)),
        (LOOP, [*range(1, 10), *range(11, 24)], range(1, 24)),
        (LOOP, range(1, 24), [*range(1, 10), *range(11, 24)]),
        (UNKNOWN, range(1, 13), range(4, 13)),
        (UNKNOWN, range(1, 13), range(1, 10)),
        (UNKNOWN, range(1, 13), [1, 2, 3, 4, 9, 10, 11, 12]),
    ],
)
@pytest.mark.parametrize("first", [1, 501, 0, 2], ids=["as native", "501", "0", "2"])
@pytest.mark.parametrize("in_one_row", [False, True])
def test_of_equal_alignments_numbers_decide_then_coordinates(
    letters, of_native, of_decoy, first, in_one_row
):
    """Whatever the first residue is called, and where the decoy is numbered in one row, too."""
    native = stretch(letters, of_native)
    decoy = stretch(letters, of_decoy, first)
    if in_one_row:
        row = [ResidueId("A", 300 + place) for place in range(len(decoy.residues))]
        decoy = replace(decoy, residues=tuple(row))
    built = list(of_decoy)
    expected = [built.index(k) if k in built else -1 for k in of_native]
    assert same_residues(native, decoy).tolist() == expected


def test_of_sides_of_equal_size_the_second_is_superposed_as_dockq_does():
    """The first side is deformed and the second is not: what LRMSD sees is the deformation alone,
    of a known size.
    """
    rng = np.random.default_rng(0)
    backbone = np.cumsum(rng.normal(size=(2, 12, 4, 3)), axis=1)
    sides = tuple(
        Side(side + place, side + place)
        for side, place in zip(backbone, (0.0, 2.0), strict=True)
    )
    pairs = np.argwhere(np.ones((12, 12), dtype=bool))
    deformed = sides[0].backbone + rng.normal(size=(12, 4, 3))
    found = score(
        NativeInterface(sides, pairs, np.ones(len(pairs), dtype=bool)),
        (Side(deformed, deformed), sides[1]),
    )
    deformation = np.sqrt(np.square(deformed - sides[0].backbone).sum(axis=-1).mean())
    assert found.lrmsd == pytest.approx(deformation)


def test_many_copies_are_mapped_by_superposition_instead_of_trying_all(native):
    letters = string.ascii_uppercase[:8]
    ring = together(
        *(chain(native, "B", name, 18.0 * i) for i, name in enumerate(letters))
    )
    shuffled = moved(
        renamed(ring, dict(zip(letters, letters[3:] + letters[:3], strict=True)))
    )
    found = Native(ring)
    assert label(found, shuffled).dockq == pytest.approx(1.0)


def test_a_model_with_more_chains_is_cut_to_the_best_copy_and_says_so(native, decoy):
    far = [chain(decoy, "A", "C", 300.0), chain(decoy, "B", "D", 390.0)]
    found = label(Native(native), together(*far, decoy))
    assert found.dockq == pytest.approx(label(Native(native), decoy).dockq)
    assert found.mapping == {"A": ("A",), "B": ("B",)}
    assert found.notes == ("chains C, D of the model left out",)


def test_a_model_that_lacks_chains_is_labelled_over_what_is_there_and_says_so(trimer):
    found = label(
        Native(trimer), together(chain(trimer, "A", "A"), chain(trimer, "B", "B"))
    )
    assert found.dockq == pytest.approx(1.0)
    assert len(found.interfaces) == 1
    assert found.notes == ("no counterpart of chain C of the native",)


# ---- single contacts -----------------------------------------------------------------------------


def quality(native: Complex, decoy: Complex) -> tuple[np.ndarray, np.ndarray]:
    """Local quality of all pairs of residues with a CA, and whether they are of one chain, both
    shape (P,).
    """
    known = Native(native)
    there = np.flatnonzero(decoy.ca >= 0)
    expected = expected_ca(label(known, decoy).counterparts, native)[there]
    chains = np.array([decoy.residues[r].chain for r in there])
    pairs = np.array(np.triu_indices(len(there), 1))
    return local_quality(decoy.xyz[decoy.ca[there]], expected, pairs), chains[
        pairs[0]
    ] == chains[pairs[1]]


def test_where_a_partner_is_far_off_only_contacts_between_partners_are_bad(native):
    found, within = quality(
        native, together(chain(native, "A", "A"), chain(native, "B", "B", 200.0))
    )
    assert np.all(found[within] == 1)
    assert np.all(found[~within] == 0)


def judged(native: Complex, decoy: Complex) -> list[bool]:
    known = Native(native)
    expected = label(known, decoy).counterparts
    return [
        *right_residues(
            decoy, expected, native_contacts(decoy, expected, native)
        ).values()
    ]


def test_contacts_of_the_native_are_found_where_two_residues_are_in_one_place(native):
    """By the places of residues among all, not by their coordinates."""
    touching = residue_contacts(native)
    first, second = touching[:2, 0]
    xyz = native.xyz.copy()
    xyz[native.ca[second]] = xyz[native.ca[first]]
    twin = replace(native, xyz=xyz)
    same = np.arange(len(native.residues))
    contacts_of_twin = residue_contacts(twin)
    apart = twin.body_of[contacts_of_twin]
    expected = contacts_of_twin[apart[:, 0] != apart[:, 1]]
    found = native_contacts(twin, same, twin)
    assert sorted(found.tolist()) == sorted(expected.tolist())
    assert first != second


def test_residues_that_touch_something_else_are_wrong_and_those_that_touch_nothing_are_not_judged(
    native,
):
    decoy = together(chain(native, "A", "A"), chain(native, "B", "B", 4.0))
    expected = label(Native(native), decoy).counterparts
    pairs, kept = (
        {*map(tuple, residue_contacts(each).tolist())} for each in (native, decoy)
    )
    of_native = native_contacts(decoy, expected, native)
    # the residues of both are in one order
    assert {*map(tuple, of_native.tolist())} == pairs
    right = {}
    for r in {r for pair in kept for r in pair}:
        own = [pair for pair in pairs if r in pair]
        right[r] = bool(own) and sum(pair in kept for pair in own) >= len(own) / 2
    assert right_residues(decoy, expected, of_native) == right
    assert {*right.values()} == {True, False}
    assert (
        judged(
            native, together(chain(native, "A", "A"), chain(native, "B", "B", 200.0))
        )
        == []
    )


def test_a_contact_is_as_good_as_the_share_of_thresholds_that_its_distance_keeps():
    native = np.array([[0.0, 0, 0], [6, 0, 0], [0, 8, 0]])
    decoy = np.array([[0.0, 0, 0], [7.5, 0, 0], [np.nan] * 3])
    found = local_quality(decoy, native, np.array([[0, 1, 0], [1, 0, 2]]))
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, [0.5, 0.5, np.nan])  # 1.5 Å: below 2 and 4


# ---- what is refused -----------------------------------------------------------------------------


def test_a_decoy_of_another_protein_has_no_label(native):
    with pytest.raises(OtherProteinError, match="no chain shares 70% of its residues"):
        label(Native(native), example("1PPE", "near1"))


def test_a_decoy_without_a_partner_has_no_label_and_the_reason_names_the_chain(native):
    one = chain(native, "A", "A")
    with pytest.raises(LabelError, match="there; no counterpart of chain B of the"):
        label(Native(native), one)


@pytest.mark.parametrize(("partners", "message"), messages("partners_of_natives"))
def test_partners_that_do_not_match_are_refused(native, partners, message):
    with pytest.raises(NativeError, match=message):
        Native(native, partners)


def test_a_native_whose_chains_do_not_touch_is_refused(native):
    with pytest.raises(NativeError, match="no two chains of the native touch"):
        Native(together(chain(native, "A", "A"), chain(native, "B", "B", 500.0)))
