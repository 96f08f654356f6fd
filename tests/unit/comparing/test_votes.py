"""What the other decoys of a target say of each, against sums by hand."""

from __future__ import annotations

import json

import numpy as np
import pytest
import safetensors.numpy
from _contacts import content
from hypothesis import given, settings
from hypothesis import strategies as st

from toporank.comparing.decoys import Compared, compare, read_decoys
from toporank.comparing.votes import Votes, residue_agreement, similarities, votes

SETS = st.lists(st.sets(st.integers(0, 9)), min_size=2, max_size=8)


def voted(decoys: list, quality: list[float]) -> Votes:
    """Of decoys that are sets of contacts."""
    read = read_decoys(Compared(f"d{i:02}", content(found)) for i, found in enumerate(decoys))
    return votes(similarities(read.contacts), np.array(quality))


# ---- votes ---------------------------------------------------------------------------------------


def test_a_vote_counts_by_the_square_of_what_the_voter_is_worth():
    """By hand, 8 of 10 contacts in common with the first, 2 of 10 with the second, worth 0.8 and
    0.4: 4 to 1.
    """
    found = voted(
        [range(10), {0, 1, 2, 3, 4, 5, 6, 7, 20, 21}, {0, 1, *range(30, 38)}], [0.1, 0.8, 0.4]
    )
    assert found.consensus[0] == pytest.approx((0.8 + 0.2) / 2)
    assert found.weighted[0] == pytest.approx((4 * 0.8 + 1 * 0.2) / 5)
    assert found.to_best.tolist() == [0.8, 1.0, 0.2]
    assert found.nearest[0] == 0.8
    assert found.alike[0] == 0.5


@pytest.mark.parametrize("n", [0, 1])
def test_a_decoy_that_is_alone_has_no_votes(n):
    found = votes(iter([np.ones(1)] * n), np.full(n, 0.5))
    assert [values.shape for values in found] == [(n,)] * 5
    assert all(np.isnan(values).all() for values in found)


@settings(max_examples=30)
@given(SETS, st.randoms(use_true_random=False))
def test_in_another_order_everyone_gets_the_same_votes(sets, random):
    quality = np.linspace(0.05, 0.95, len(sets)).tolist()
    order = random.sample(range(len(sets)), len(sets))
    here, there = voted(sets, quality), voted([sets[i] for i in order], [quality[i] for i in order])
    for name in Votes._fields:
        np.testing.assert_allclose(
            getattr(here, name)[order], getattr(there, name), atol=1e-12, err_msg=name
        )


@settings(max_examples=30)
@given(SETS)
def test_consensus_is_that_of_the_comparison_and_quality_changes_two_votes_only(sets):
    n = len(sets)
    here, there = voted(sets, [0.5] * n), voted(sets, np.linspace(0.9, 0.1, n).tolist())
    known = compare(Compared(f"d{i:02}", content(found)) for i, found in enumerate(sets))
    assert here.consensus.tolist() == pytest.approx(
        [row.consensus for row in known.values()], abs=1e-6
    )
    for name in ("consensus", "nearest", "alike"):
        np.testing.assert_array_equal(getattr(here, name), getattr(there, name))
    np.testing.assert_allclose(here.weighted, here.consensus)
    assert all(((values >= 0) & (values <= 1)).all() for values in there)


# ---- residues ------------------------------------------------------------------------------------


def agreement(*sets, quality: list[float] | None = None) -> list[dict[str, float]]:
    read = read_decoys(Compared(f"d{i:02}", content(found)) for i, found in enumerate(sets))
    return residue_agreement(
        read, np.full(len(sets), 0.5) if quality is None else np.array(quality)
    )


def test_the_agreement_on_a_residue_is_the_share_of_the_other_decoys_that_have_its_contacts():
    first, second, third = agreement({1, 2}, {2, 3}, {2, 4})
    assert first == {"A:1": 0.0, "A:2": 1.0, "B:1": 0.0, "B:2": 1.0}
    assert (second["A:2"], second["A:3"]) == (third["A:2"], third["B:4"]) == (1.0, 0.0)
    assert agreement({1, 2}) == [{}]
    assert agreement() == []


def test_of_several_contacts_of_a_residue_it_is_the_mean():
    """A:52A touches B:1, which the other decoy has, too, written the other way round, and B:2,
    which it has not.
    """
    ids = [["A", 52, "A"], ["B", 1, ""], ["B", 2, ""]]

    def decoy(residues: list, contacts: list) -> bytes:
        n = len(residues)
        return safetensors.numpy.save({
            "residues": np.frombuffer(json.dumps(residues).encode(), np.uint8),
            "letters": np.full(n, ord("A"), np.uint8), "ca": np.zeros((n, 3), np.float32),
            "interface": np.ones(n, bool), "contacts": np.array(contacts, np.int32),
        })  # fmt: skip

    pair = [
        Compared("d0", decoy(ids, [(0, 1), (0, 2)])),
        Compared("d1", decoy(ids[1::-1], [(0, 1)])),
    ]
    assert residue_agreement(read_decoys(pair), np.ones(2)) == [
        {"A:52A": 0.5, "B:1": 1.0, "B:2": 0.0},
        {"A:52A": 1.0, "B:1": 1.0},
    ]


@settings(max_examples=30)
@given(SETS)
def test_what_contacts_share_is_what_can_be_counted(sets):
    for i, (mine, found) in enumerate(zip(sets, agreement(*sets), strict=True)):
        others = [other for j, other in enumerate(sets) if j != i]
        shares = {k: sum(k in other for other in others) / len(others) for k in mine}
        assert found == pytest.approx(
            {f"{chain}:{k}": share for chain in "AB" for k, share in shares.items()}
        )
