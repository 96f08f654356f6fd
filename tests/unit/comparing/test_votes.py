"""What the other decoys of a target say of each, against sums by hand."""

from __future__ import annotations

import json

import numpy as np
import pytest
import safetensors.numpy
from _contacts import content
from hypothesis import given, settings
from hypothesis import strategies as st

from toporank.comparing.decoys import Compared, read_decoys
from toporank.comparing.votes import contact_agreement, residue_agreement

SETS = st.lists(st.sets(st.integers(0, 9)), min_size=2, max_size=8)


def agreement(
    *contents: bytes, quality: list[float] | None = None
) -> dict[str, dict[str, float]]:
    """Decoy → the agreement on each of its residues."""
    read = read_decoys(Compared(f"d{i}", content) for i, content in enumerate(contents))
    weight = np.ones(len(contents)) if quality is None else np.array(quality)
    by_decoy: dict[str, dict[str, float]] = {f"d{i}": {} for i in range(len(contents))}
    for (decoy, residue), share in residue_agreement(
        contact_agreement(read, weight)
    ).items():
        by_decoy[decoy][residue] = share
    return by_decoy


def test_the_agreement_on_a_residue_is_the_share_of_the_other_decoys_that_have_its_contacts():
    found = agreement(content({1, 2}), content({2, 3}), content({2, 4}))
    assert found["d0"] == {"A:1": 0.0, "A:2": 1.0, "B:1": 0.0, "B:2": 1.0}
    assert (found["d1"]["A:2"], found["d1"]["A:3"]) == (1.0, 0.0)
    assert (found["d2"]["A:2"], found["d2"]["B:4"]) == (1.0, 0.0)
    assert agreement(content({1, 2})) == {"d0": {}}
    assert agreement() == {}


def test_a_decoy_votes_by_the_square_of_its_quality():
    """The one of 0.8 has contact 1, the one of 0.4 contact 2: 4 to 1."""
    found = agreement(
        content({1, 2}), content({1}), content({2}), quality=[0.1, 0.8, 0.4]
    )
    assert found["d0"] == pytest.approx(
        {"A:1": 0.8, "B:1": 0.8, "A:2": 0.2, "B:2": 0.2}
    )


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

    found = agreement(decoy(ids, [(0, 1), (0, 2)]), decoy(ids[1::-1], [(0, 1)]))
    assert found["d0"] == {"A:52A": 0.5, "B:1": 1.0, "B:2": 0.0}
    assert found["d1"] == {"A:52A": 1.0, "B:1": 1.0}


def test_a_residue_that_only_shorter_models_have_is_the_same_residue_in_them():
    """A:50 is in two models and not in the third, whose chain A is the longest."""

    def decoy(numbers: list[int], touching: int) -> bytes:
        ids = [*(["A", number, ""] for number in numbers), ["B", 1, ""]]
        n = len(ids)
        tensors = {
            "residues": np.frombuffer(json.dumps(ids).encode(), np.uint8),
            "letters": np.array(
                [ord("ARNDCQEGHIKLMFPSTWYV"[i % 20]) for _, i, _ in ids], np.uint8
            ),
            "ca": np.zeros((n, 3), np.float32),
            "interface": np.ones(n, bool),
            "contacts": np.array([(numbers.index(touching), n - 1)], np.int32),
        }
        return safetensors.numpy.save(tensors)

    shorter = decoy([*range(1, 20), 50], 50)
    found = agreement(decoy([*range(1, 40)], 5), shorter, shorter)
    assert found["d1"]["A:50"] == found["d2"]["A:50"] == 0.5
    assert found["d0"]["A:5"] == 0.0


@settings(max_examples=30)
@given(SETS)
def test_what_contacts_share_is_what_can_be_counted(sets):
    found = agreement(*map(content, sets))
    for i, mine in enumerate(sets):
        others = [other for j, other in enumerate(sets) if j != i]
        expected = {}
        for k in mine:
            share = sum(k in other for other in others) / len(others)
            expected |= {f"A:{k}": share, f"B:{k}": share}
        assert found[f"d{i}"] == pytest.approx(expected)
