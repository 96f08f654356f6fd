"""Chains and residues are matched by what they are: how a file names, numbers and orders them
changes nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
import safetensors.numpy
from _chains import chain as sequence_of
from _chains import exchanged
from _complexes import chain, places_of_chains, renamed, selected, together
from hypothesis import given
from hypothesis import strategies as st

from structures_text import EXAMPLES
from toporank.building.chunks.ledger import LedgerRow, meetings_text
from toporank.building.coverage import CoverageRow
from toporank.chains.chain import Chain, ResidueId, chains_by_name
from toporank.chains.match import matched
from toporank.chains.partners import chain_map_text, read_chain_map
from toporank.comparing.contacts import contact_bytes
from toporank.comparing.correspondence import (
    TouchingChains,
    chain_maps,
)
from toporank.comparing.decoys import Compared, compare, maps_of_target, read_decoys
from toporank.comparing.votes import contact_agreement, residue_agreement, similarities
from toporank.features.interface import CaCutoff, Meeting, ca_cutoff_interface
from toporank.ranking.interfaces import interface_table
from toporank.structures.complex import Complex
from toporank.structures.identity import Status
from toporank.structures.read import read_complex

DECOYS = {
    path.name.split(".")[0]: read_complex(path).without_hydrogens()
    for path in sorted((EXAMPLES / "1KTZ").iterdir())
    if path.name.startswith(("near", "mid", "far"))
}
"""Models of a complex of two chains, with the same residues in all."""
HALF = sorted(DECOYS)[1::2]

# ---- changes that change nothing -----------------------------------------------------------------


def renumbered(complex_: Complex, shift: int = 1000) -> Complex:
    """Each chain numbered from 1 on, without gaps, and shifted."""
    nth: dict[str, int] = {}
    residues = []
    for residue in complex_.residues:
        nth[residue.chain] = nth.get(residue.chain, 0) + 1
        residues.append(ResidueId(residue.chain, nth[residue.chain] + shift))
    return replace(complex_, residues=tuple(residues))


def reordered(complex_: Complex) -> Complex:
    return selected(
        complex_, np.concatenate([*reversed(places_of_chains(complex_).values())])
    )


def shortened(complex_: Complex) -> Complex:
    """Without up to 12 residues at each end of each chain, as far as these are far from the other
    chain.
    """
    tensors = contact_interface(complex_)
    kept = []
    for places in places_of_chains(complex_).values():
        near = np.flatnonzero(tensors[places])
        kept.append(places[min(12, near.min()) : max(len(places) - 12, near.max() + 1)])
    return selected(complex_, np.concatenate(kept))


def meetings_of(complex_: Complex) -> list[Meeting]:
    return list(ca_cutoff_interface(CaCutoff(), complex_).meetings)


def contact_interface(complex_: Complex) -> np.ndarray:
    """Which residues are in the interface or touch the other chain: bool, (n,)."""
    tensors = safetensors.numpy.load(contact_bytes(complex_))
    found = tensors["interface"].copy()
    found[tensors["contacts"].ravel()] = True
    return found


FIRST, SECOND = places_of_chains(next(iter(DECOYS.values())))
CHANGES: dict[str, Callable[[Complex], Complex]] = {
    "renamed": lambda c: renamed(c, {FIRST: "7", SECOND: "a long name"}),
    "swapped": lambda c: renamed(c, {FIRST: SECOND, SECOND: FIRST}),
    "renumbered": renumbered,
    "cut": shortened,
    "reordered": reordered,
    "copy far away": lambda c: together(c, chain(c, FIRST, "Z", 400.0)),
    "all": lambda c: reordered(
        renumbered(renamed(shortened(c), {FIRST: SECOND, SECOND: "x"}), -30)
    ),
}


class Said:
    """All that is said of the models of a target beside one another."""

    def __init__(self, decoys: Mapping[str, Complex]):
        contents = {
            name: contact_bytes(complex_) for name, complex_ in sorted(decoys.items())
        }
        self.maps = maps_of_target(contents.items())
        given = [
            Compared(name, content, self.maps[name])
            for name, content in contents.items()
        ]
        self.compared = compare(given)
        read = read_decoys(given)
        self.similarities = list(similarities(read.contacts))
        weight = np.linspace(0.2, 0.8, len(given))
        self.agreement = residue_agreement(contact_agreement(read, weight))
        rows = [
            CoverageRow(
                "T",
                n,
                Status.OK,
                "",
                "",
                None,
                "",
                2,
                9,
                "",
                "",
                chain_map_text(self.maps[n]),
            )
            for n in decoys
        ]
        fates = {
            ("T", n): LedgerRow(
                "T", n, Status.OK, "graphs", meetings=meetings_text(meetings_of(c))
            )
            for n, c in decoys.items()
        }
        self.interfaces = [
            row for row in interface_table(rows, fates) if row.n_ca_pairs
        ]


@pytest.fixture(scope="module")
def unchanged() -> Said:
    return Said(DECOYS)


@pytest.mark.parametrize("change", CHANGES)
def test_half_of_the_models_changed_say_what_all_said_before(unchanged, change):
    changed = {
        name: CHANGES[change](c) if name in HALF else c for name, c in DECOYS.items()
    }
    found = Said(changed)
    for name in DECOYS:
        assert found.compared[name].cluster == unchanged.compared[name].cluster
        assert found.compared[name].twin_of == unchanged.compared[name].twin_of
        assert found.compared[name].consensus == pytest.approx(
            unchanged.compared[name].consensus, abs=1e-6
        )
        agreement = [sorted(said.agreement[name]) for said in (found, unchanged)]
        assert agreement[0] == pytest.approx(agreement[1], abs=1e-6)
    np.testing.assert_allclose(found.similarities, unchanged.similarities, atol=1e-6)
    by_sizes = [[row[3:6] for row in said.interfaces] for said in (found, unchanged)]
    assert by_sizes[0] == by_sizes[1]
    assert len({row.interface for row in found.interfaces}) == 1


# ---- copies of a chain ---------------------------------------------------------------------------


def made_up(
    names: str,
    sequences: Mapping[str, str],
    touching: list[tuple[str, str]],
    seed: int = 0,
) -> TouchingChains:
    """A model whose chains of these names touch in these pairs, residue k of one residue k of the
    other, k < 20.
    """
    draw = np.random.default_rng(seed)
    residues = [
        ResidueId(name, k + 1) for name in names for k in range(len(sequences[name]))
    ]
    first = {
        name: next(i for i, residue in enumerate(residues) if residue[0] == name)
        for name in names
    }
    contacts = [
        (first[a] + k, first[b] + k + abs(ord(a) - ord(b)) % 3)
        for a, b in touching
        for k in range(20)
    ]
    letters = "".join(sequences[name] for name in names)
    chains = chains_by_name(residues, letters, draw.normal(0, 20, (len(letters), 3)))
    return TouchingChains(chains, np.array(contacts).reshape(-1, 2))


def called(model: TouchingChains, names: Mapping[str, str]) -> TouchingChains:
    """The model with other names of chains."""
    chains = {
        names[name]: replace(
            t, residues=tuple(ResidueId(names[name], *r[1:]) for r in t.residues)
        )
        for name, t in model.chains.items()
    }
    return TouchingChains(chains, model.contacts)


HOMO = sequence_of(1, 60)


@pytest.mark.parametrize("names", ["AB", "ABC"])
def test_names_of_identical_chains_mean_nothing(names):
    """Contacts of a dimer and trimer that are not symmetric are matched, whichever names the
    identical chains have.
    """
    model = made_up(
        names, dict.fromkeys(names, HOMO), [("A", "B"), ("C", "A")][: len(names) - 1]
    )
    for order in permutations(names):
        other = called(model, dict(zip(names, order, strict=True)))
        found = chain_maps({"a": model, "b": other})
        back = {own: found["a"][name] for name, own in zip(names, order, strict=True)}
        assert found["b"] == back


def test_of_several_ways_to_map_copies_the_one_with_most_contacts_in_common_counts():
    sequences = {"A": sequence_of(2, 80), "B": HOMO, "C": HOMO}
    near_b = made_up("ABC", sequences, [("A", "B")])
    near_c = made_up("ABC", sequences, [("A", "C")])
    # residue k touches k + 1 or k + 2 (`made_up`), so another offset would share none
    near_c = near_c._replace(contacts=near_b.contacts + np.array([0, 60]))
    found = chain_maps({"a": near_b, "b": near_b, "c": near_c})
    assert found["c"] == {"A": "A", "B": "C", "C": "B"}


def test_a_chain_that_no_other_model_has_gets_a_name_of_its_own():
    sequences = {"A": sequence_of(2, 80), "B": HOMO, "C": sequence_of(3, 50)}
    found = chain_maps(
        {
            "a": made_up("AB", sequences, [("A", "B")]),
            "b": made_up("AC", sequences, [("A", "C")]),
        }
    )
    assert {*found["a"].values()} & {*found["b"].values()} == {found["a"]["A"]}
    assert len({*found["a"].values(), *found["b"].values()}) == 3


def test_sixty_identical_chains_in_two_models_take_seconds():
    names = "".join(chr(0x100 + i) for i in range(60))
    pairs = [(names[i], names[(i + 1) % 60]) for i in range(60)]
    model = made_up(names, dict.fromkeys(names, HOMO * 3), pairs)
    other = called(model, dict(zip(names, names[::-1], strict=True)))
    start = time.process_time()
    found = chain_maps({"a": model, "b": other})
    assert time.process_time() - start < 10
    assert found["b"] == {
        names[::-1][i]: found["a"][name] for i, name in enumerate(names)
    }


# ---- residues ------------------------------------------------------------------------------------


def trace(sequence: str, numbers: list[int] | None = None, codes: str = "") -> Chain:
    numbers = numbers or list(range(1, len(sequence) + 1))
    residues = [ResidueId("A", n, codes) for n in numbers]
    return chains_by_name(residues, sequence, np.zeros((len(sequence), 3)))["A"]


WHOLE = trace(sequence_of(5, 100))


def test_numbers_count_where_they_agree_and_a_missing_residue_has_no_place():
    own = trace(WHOLE.sequence[10:], list(range(11, 101)))
    assert matched(WHOLE, own).tolist() == [*range(10, 100)]
    assert matched(own, WHOLE).tolist() == [-1] * 10 + [*range(90)]


def test_residues_numbered_otherwise_are_aligned_and_an_exchange_keeps_its_place():
    sequence = WHOLE.sequence[5:]
    assert matched(WHOLE, trace(exchanged(sequence, 40))).tolist() == [*range(5, 100)]


@pytest.mark.parametrize(("length", "place"), [(10, 9), (9, -1)])
def test_numbers_count_where_nine_residues_of_ten_agree(length, place):
    """An alignment gives an exchange at the end no place, numbers do."""
    whole = trace(WHOLE.sequence[:length])
    assert matched(whole, trace(exchanged(whole.sequence, -1))).tolist() == [
        *range(length - 1),
        place,
    ]


# ---- the column ----------------------------------------------------------------------------------

NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=0, max_size=5)


@given(
    st.lists(NAMES, unique=True, max_size=6),
    st.lists(NAMES, unique=True, min_size=6, max_size=6),
)
def test_a_map_is_read_as_it_was_written_whatever_chains_are_called(own, target):
    chain_map = dict(zip(own, target, strict=False))
    text = chain_map_text(chain_map)
    assert not {*text} & {*"\t\r\n"}
    assert read_chain_map(text) == (chain_map if text else {})
    assert text or all(one == other for one, other in chain_map.items())
