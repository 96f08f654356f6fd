"""Complexes packed more densely than matter can be are refused before any pair of atoms is made."""

from __future__ import annotations

import re
import tracemalloc
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest
from _complexes import copies

from structures_text import Atom, ca_trace, in_line, pdb, write
from toporank.errors import OverlapError, StructureError
from toporank.features import interface
from toporank.features.interface import CaCutoff, ca_cutoff_interface
from toporank.features.registry import DEFAULT_MODULES, resolve
from toporank.structures.complex import Complex
from toporank.structures.density import (
    MAX_HEAVY,
    check_apart,
    check_density,
    most_in_a_cube,
)
from toporank.structures.read import read_complex

MIB = 1 << 20


def crowded(one: Complex, count: int, blur: float = 0.0) -> Complex:
    """Copies in one place, whose atoms are moved by about `blur` Å."""
    moves = np.random.default_rng(0).normal(0.0, blur, (count, len(one.xyz), 3))
    return copies(one, moves)


# ---- what passes ---------------------------------------------------------------------------------


def test_four_copies_in_one_place_pass_and_need_little_memory(decoy):
    many = crowded(decoy, 4, blur=0.3)
    check_density(many)
    assert most_in_a_cube(many.xyz, 0) > 0.6 * MAX_HEAVY
    choices = resolve({stage: {} for stage in DEFAULT_MODULES})
    # compiles, if nothing has yet
    choices["topology"](decoy, np.flatnonzero(decoy.ca >= 0)[:1])
    tracemalloc.start()
    found = choices["interface"](many).index
    topology = choices["topology"](many, found)
    choices["nodes"](many, found, topology)
    choices["edges"](many, found)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(found) == 4 * np.count_nonzero(decoy.ca >= 0)
    assert peak < 500 * MIB


# ---- what is refused -----------------------------------------------------------------------------


def test_many_copies_in_one_place_are_refused_with_what_was_found_and_what_to_do(decoy):
    with pytest.raises(StructureError) as error:
        check_density(crowded(decoy, 8))
    assert re.fullmatch(
        r"\d{2,3} residues within a cube of 10 Å, where a protein has about 8"
        r" \(are coordinates in another unit, or many copies in one place\?\)",
        error.value.reason,
    )


@pytest.mark.parametrize(("n_inside", "is_refused"), [(40, True), (15, False)])
def test_a_chain_inside_another_one_is_refused_and_chains_that_clash_are_not(
    n_inside, is_refused
):
    """As Boltz leaves two copies of a protein, each CA 1.7 Å from one of the other."""
    chain = [("A", 3.8 * i) for i in range(40)]
    inside = [("B", 3.8 * i + 1.7) for i in range(n_inside)]
    beside = [("B", 3.8 * i + 1000.0) for i in range(n_inside, 40)]
    what = r"chain A lies inside chain B: 40 of its 40 residues"
    with pytest.raises(OverlapError, match=what) if is_refused else nullcontext():
        check_apart(in_line(*chain, *inside, *beside))


def test_coordinates_in_nanometres_are_refused_with_the_remedy(decoy):
    with pytest.raises(
        StructureError,
        match=r"look like nanometres: .* 0\.38 apart, not 3\.8 Å \(multiply them by 10",
    ):
        check_density(replace(decoy, xyz=decoy.xyz / 10))


def test_thousands_of_residues_in_one_place_are_refused_in_little_memory(tmp_path):
    places = np.random.default_rng(0).uniform(0.0, 9.0, (5_000, 3)).round(3)
    chains = "ABCDEFGHIJ"
    atoms = (
        Atom("CA", "ALA", chains[i % 10], i // 10 + 1, *xyz)
        for i, xyz in enumerate(places.tolist())
    )
    path = write(tmp_path / "d.pdb", pdb(atoms))
    tracemalloc.start()
    with pytest.raises(StructureError, match="5000 residues within a cube"):
        read_complex(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100 * MIB


def test_an_interface_of_too_many_contacts_is_refused(monkeypatch):
    grid = np.stack(np.unravel_index(np.arange(1000), (10, 10, 10)), axis=1) * 4.0
    complex_ = ca_trace(("AB"[i % 2], i, "", tuple(xyz)) for i, xyz in enumerate(grid))
    contacts = ca_cutoff_interface(CaCutoff(), complex_).contacts.sum() // 2
    monkeypatch.setattr(interface, "MAX_CONTACTS", contacts)
    ca_cutoff_interface(CaCutoff(), complex_)
    monkeypatch.setattr(interface, "MAX_CONTACTS", contacts - 1)
    with pytest.raises(
        StructureError,
        match=rf"more than {contacts - 1} pairs of residues .* within 10 Å",
    ):
        ca_cutoff_interface(CaCutoff(), complex_)
