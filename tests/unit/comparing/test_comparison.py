"""Decoys among themselves: contacts against plain loops, FCC against sets, clusters, consensus and
twins.
"""

from __future__ import annotations

import shutil
import tracemalloc
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
from _contacts import content
from hypothesis import given, settings
from hypothesis import strategies as st

from building import build
from structures_text import (
    EXAMPLES,
    Atom,
    alanine,
    ca_trace,
    complex_of,
    moved,
    random_complex,
)
from toporank.building.built import read_built
from toporank.building.chunks.store import Store
from toporank.building.compared import comparison_table, stored_contacts
from toporank.building.coverage import CoverageRow
from toporank.comparing.contacts import (
    contact_bytes,
    interface_residues,
    residue_contacts,
)
from toporank.comparing.decoys import (
    Compared,
    Comparison,
    clusters,
    compare,
    read_decoys,
)
from toporank.comparing.superposition import interface_rmsd
from toporank.errors import StructureError
from toporank.features.registry import DEFAULT_MODULES, resolve
from toporank.finding.folders import find_decoys
from toporank.structures.complex import Complex
from toporank.structures.identity import Status
from toporank.structures.read import read_complex

# ---- contacts ------------------------------------------------------------------------------------


def by_plain_loops(complex_: Complex) -> set[tuple[int, int]]:
    """Pairs of residues of different bodies with atoms nearer than 5 Å; hydrogens must not be
    there.
    """
    found = set()
    for atom, residue in enumerate(complex_.residue_of):
        apart = np.linalg.norm(complex_.xyz - complex_.xyz[atom], axis=1)
        for other in complex_.residue_of[apart < 5.0]:
            if (
                residue < other
                and -1 != complex_.body_of[residue] != complex_.body_of[other] != -1
            ):
                found.add((int(residue), int(other)))
    return found


def pairs(complex_: Complex) -> list[tuple[int, int]]:
    return [tuple(pair) for pair in residue_contacts(complex_).tolist()]


@pytest.mark.parametrize("decoy", ["1AVZ/far1.pdb", "1PPE/near1.pdb.gz"])
def test_real_decoys_have_the_contacts_that_plain_loops_find(decoy):
    complex_ = read_complex(EXAMPLES / decoy).without_hydrogens()
    assert len(pairs(complex_)) > 10
    assert pairs(complex_) == sorted(by_plain_loops(complex_))


def test_five_angstrom_are_too_far_and_hydrogens_do_not_count():
    a, b = alanine("A", 1, 0.0)[1:2], alanine("B", 1, 5.0)[1:2]
    assert pairs(complex_of(a + b)) == []
    assert pairs(complex_of([*a, replace(b[0], x=4.999)])) == [(0, 1)]
    assert pairs(complex_of([*a, *b, replace(b[0], name="HA", x=3.0)])) == []


def test_without_two_bodies_nothing_touches():
    for chains in ("", "A"):
        complex_ = random_complex(0, chains="A")
        complex_ = (
            complex_
            if chains
            else replace(complex_, parents=("",) * len(complex_.parents))
        )
        assert residue_contacts(complex_).shape == (0, 2)
        assert not interface_residues(complex_).any()


def test_the_interface_is_that_of_ten_angstrom_between_partners():
    row = [
        ("A", 1, "", (0.0, 0, 0)),
        ("B", 1, "", (9.9, 0, 0)),
        ("C", 1, "", (20.0, 0, 0)),
        ("C", 2, "", (40.0, 0, 0)),
    ]
    assert interface_residues(ca_trace(row)).tolist() == [True, True, False, False]
    joined = ca_trace(row).with_partners((("A", "B"), ("C",)))
    assert interface_residues(joined).tolist() == [False] * 4


# ---- interface RMSD ------------------------------------------------------------------------------


def rmsd(one: np.ndarray, other: np.ndarray) -> float:
    """Of points that are all in the interface."""
    everything = np.ones(len(one), dtype=bool)
    return float(interface_rmsd(one, everything, other[None], everything[None])[0])


POINTS = np.random.default_rng(3).normal(0, 10, (20, 3))


def test_a_moved_copy_is_the_same_and_a_mirror_image_is_not():
    assert rmsd(
        POINTS, moved(replace(random_complex(0), xyz=POINTS)).xyz
    ) == pytest.approx(0, abs=1e-6)
    assert rmsd(POINTS, -POINTS) > 1


def test_residues_count_that_both_have_and_one_has_in_its_interface():
    other = POINTS + 0
    other[:5] += 7.0  # in neither interface
    other[5] = np.nan
    of_one, of_other = np.arange(20) > 9, (np.arange(20) > 4) & (np.arange(20) < 12)
    (found,) = interface_rmsd(POINTS, of_one, other[None], of_other[None])
    assert found == pytest.approx(0, abs=1e-6)
    (found,) = interface_rmsd(
        POINTS, of_one & (np.arange(20) > 17), other[None], of_other[None] & False
    )
    assert found == np.inf  # two points lie on any two others of their distance


# ---- clusters ------------------------------------------------------------------------------------


def clustered(n: int, *edges: tuple[int, Iterable[int]]) -> list[list[int]]:
    """The clusters of n decoys of which each has these neighbours."""
    matrix = np.zeros((n, n), dtype=np.uint8)
    for decoy, neighbours in edges:
        matrix[decoy, list(neighbours)] = 1
    return [members.tolist() for members in clusters(np.packbits(matrix, axis=1))]


def test_the_decoy_with_most_neighbours_comes_first_and_takes_them():
    """By hand: 2 has five; then 8 has three left, since 1 is taken; 0 and 11 are in none."""
    assert clustered(
        12, (2, [1, 3, 4, 5, 6]), (8, [1, 7, 9, 10]), (1, [2, 0]), (11, [8, 9])
    ) == [
        [1, 2, 3, 4, 5, 6],
        [7, 8, 9, 10],
    ]


def test_what_is_taken_counts_no_more_and_four_is_the_smallest_cluster():
    assert clustered(9, (0, [1, 2, 3, 4]), (5, [4, 6, 7])) == [[0, 1, 2, 3, 4]]
    assert clustered(4, (0, [1, 2, 3])) == [[0, 1, 2, 3]]
    assert clustered(4, (0, [1, 2])) == []
    assert clustered(0) == []


# ---- decoys of a target --------------------------------------------------------------------------


def compared(decoys: dict[str, Iterable[int]]) -> dict[str, Comparison]:
    return compare(Compared(name, content(decoys[name])) for name in sorted(decoys))


def test_two_groups_that_lie_apart_are_two_clusters_the_larger_one_first():
    small = {f"a{i}": {*range(20)} - {i} for i in range(4)}
    large = {f"b{i}": {*range(100, 130)} - {100 + i} for i in range(5)}
    found = compared({**small, **large, "alone": {*range(200, 210)}})
    assert [found[name].cluster for name in sorted(found)] == [
        2,
        2,
        2,
        2,
        None,
        1,
        1,
        1,
        1,
        1,
    ]
    assert found["a0"].consensus == pytest.approx(3 * (18 / 19) / 9, abs=1e-6)
    assert found["alone"].consensus == 0.0


@pytest.mark.parametrize(
    ("common", "size", "neighbours"),
    # 6/10 and 6/13; 5/10 of mine; 6/14 < 0.6 * 0.75
    [(6, 13, True), (5, 10, False), (6, 14, False)],
)
def test_a_neighbour_has_six_tenths_of_my_contacts_and_i_three_quarters_of_that_of_its(
    common, size, neighbours
):
    around = {
        f"n{i}": {*range(common), *range(100 * i, 100 * i + size - common)}
        for i in (1, 2, 3)
    }
    found = compared({"centre": range(10), **around})
    assert {row.cluster for row in found.values()} == ({1} if neighbours else {None})


SETS = st.lists(st.sets(st.integers(0, 12)), min_size=2, max_size=12)


@settings(max_examples=40)
@given(SETS, st.randoms())
def test_consensus_is_that_of_plain_sets_whatever_decoys_are_called(sets, random):
    names = [f"d{i:02}" for i in range(len(sets))]
    random.shuffle(names)
    found = compared(dict(zip(names, sets, strict=True)))
    for name, mine in zip(names, sets, strict=True):
        others = [
            other
            for other_name, other in zip(names, sets, strict=True)
            if other_name != name
        ]
        dice = [
            2 * len(mine & other) / max(1, len(mine) + len(other)) for other in others
        ]
        assert found[name].consensus == pytest.approx(sum(dice) / len(dice), abs=1e-6)
        assert 0 <= found[name].consensus <= 1


def test_of_many_targets_few_stay_in_memory():
    """Of 30 targets with a quarter of a megabyte of coordinates each."""
    contents = contact_bytes(random_complex(1, residues=250, spread=60.0))
    tracemalloc.start()
    for target in range(30):
        read_decoys(Compared(f"{target}_{k}", contents) for k in range(40))
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held < 2.5e6


def test_one_decoy_has_no_others_and_none_is_no_error():
    assert compared({"d": range(5)}) == {"d": Comparison(None, None, "")}
    assert compared({}) == {}


def test_a_twin_is_found_under_the_first_name_and_no_twin_has_twins():
    """c is a twin of b, too, which is one of a; d is near to c alone."""
    xyz = np.random.default_rng(0).normal(0, 10, (40, 3))
    across = np.where(np.arange(40) < 20, -1.0, 1.0)[:, None] * np.array([1.0, 0, 0])
    shifts = {
        "a": 0.0,
        "b": 0.2,
        "c": 0.4,
        "d": 0.8,
    }  # of each half; the RMSD is about the difference
    found = compare(
        Compared(name, content(range(20), xyz + shift * across))
        for name, shift in shifts.items()
    )
    assert {name: row.twin_of for name, row in found.items()} == {
        "a": "",
        "b": "a",
        "c": "a",
        "d": "",
    }


def test_partners_named_in_another_order_and_renumbered_chains():
    """The order of partners means nothing, and residues are matched by sequence where their numbers
    disagree.
    """
    complex_ = random_complex(2, chains="ABC")
    one, two = (
        complex_.with_partners(parts)
        for parts in ((("A", "B"), ("C",)), (("C",), ("A", "B")))
    )
    assert contact_bytes(one) == contact_bytes(two) != contact_bytes(complex_)
    inserted = replace(
        one, residues=tuple(r._replace(insertion_code="A") for r in one.residues)
    )
    assert (
        compare(
            [Compared("a", contact_bytes(one)), Compared("b", contact_bytes(inserted))]
        )["b"].consensus
        == 1.0
    )


def test_a_ligand_is_in_no_contact_and_a_residue_without_ca_in_no_superposition():
    complex_ = complex_of(
        [
            *alanine("A", 1, 0.0),
            *alanine("B", 1, 4.0),
            Atom("CB", "ALA", "B", 2, 1.0, 3.0, 0.0),
        ]
    )
    assert pairs(complex_) == [(0, 1), (0, 2)]
    tensors = safetensors.numpy.load(contact_bytes(complex_))
    assert np.isnan(tensors["ca"]).all(axis=1).tolist() == [False, False, True]
    assert pairs(replace(complex_, parents=("ALA", "ALA", ""))) == [(0, 1)]


# ---- the table -----------------------------------------------------------------------------------


def row(
    decoy: str, duplicate_of: str = "", status: str = Status.OK, target: str = "T"
) -> CoverageRow:
    return CoverageRow(
        target,
        decoy,
        status,
        "graphs",
        "",
        None,
        "",
        2,
        9,
        f"in/{decoy}.pdb",
        duplicate_of,
    )


def test_a_copy_has_no_vote_and_stands_where_its_original_stands():
    decoys = {
        "a": {*range(10)},
        "b": {*range(5)},
        "c": {*range(100, 110)},
        "copy": None,
    }
    alone = comparison_table(
        map(row, "abc"), lambda key: Compared(key[1], content(decoys[key[1]]))
    )
    coverage = [
        *map(row, "abc"),
        row("copy", "a"),
        row("failed", status=Status.FAILED),
        row("a", target="U"),
    ]
    table = comparison_table(
        coverage, lambda key: Compared(key[1], content(decoys[key[1]]))
    )
    assert table[:3] == alone
    assert table[3:] == [
        alone[0]._replace(decoy="copy"),
        alone[0]._replace(target="U", consensus=None),
    ]


def test_contacts_come_from_the_store_or_are_made_again_and_what_is_in_the_way_is_named(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    for name in ("near1.pdb.gz", "far1.pdb"):
        Path("in/T").mkdir(parents=True, exist_ok=True)
        shutil.copy(EXAMPLES / "1AVZ" / name, f"in/T/{name}")
    choices = resolve({stage: {} for stage in DEFAULT_MODULES})
    build(find_decoys("ds", Path("in")), choices, Store(Path("store")))
    store, key = Store(Path("store")), ("T", "far1")
    first = stored_contacts(read_built("ds"), [], store)(key)
    assert first == Compared("far1", contact_bytes(read_complex(Path("in/T/far1.pdb"))))
    assert (store.computed, store.reused) == ({}, {"contacts": 1})
    shutil.rmtree("store")
    empty = Store(Path("empty"))
    assert stored_contacts(read_built("ds"), [], empty)(key) == first
    Path("in/T/far1.pdb").unlink()
    with pytest.raises(StructureError, match=r"^T/far1: "):
        stored_contacts(read_built("ds"), [], Store(Path("other")))(key)
