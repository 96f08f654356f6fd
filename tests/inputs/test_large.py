"""A complex of 20,000 residues: time and memory rise with its size, not with its square."""

from __future__ import annotations

import dataclasses
import os
import sys
import time
import tracemalloc

import _complexes
import numpy as np
import pytest

from processes import printed
from structures_text import EXAMPLES
from toporank.comparing.contacts import residue_contacts
from toporank.features.contact_nodes import contact_nodes
from toporank.features.dssp_nodes import DSSP_REACH, DsspTopology
from toporank.features.interface import CaCutoff, ca_cutoff_interface
from toporank.features.legacy_edges import LegacyV11, legacy_edges
from toporank.structures.complex import Complex
from toporank.structures.dssp import normalised_pdb
from toporank.structures.read import read_complex
from toporank.structures.surroundings import Surroundings

COPIES = 159
MIB = 1 << 20


def tiled(copies: int, apart: float = 70.0) -> Complex:
    """Copies of an example decoy, each with two chains of its own."""
    place = np.stack(np.unravel_index(np.arange(copies), (6, 6, 6)), axis=1) * apart
    one = read_complex(EXAMPLES / "1GCQ" / "mid1.pdb")
    return _complexes.copies(one, place[:, None])


def test_interface_and_edges_of_twenty_thousand_residues_need_little_memory_and_time():
    one, many = tiled(1), tiled(COPIES)
    assert len(many.residues) > 20_000
    tracemalloc.start()
    started = time.process_time()
    interface = ca_cutoff_interface(CaCutoff(), many)
    edges = legacy_edges(LegacyV11(), many, interface.index)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert time.process_time() - started < 60
    assert peak < 300 * MIB
    single = ca_cutoff_interface(CaCutoff(), one)
    assert len(interface.index) == COPIES * len(single.index)
    assert (
        edges.index.shape[1]
        == COPIES * legacy_edges(LegacyV11(), one, single.index).index.shape[1]
    )


def test_its_318_chains_fit_into_what_mkdssp_is_given():
    many = tiled(COPIES)
    position = normalised_pdb(many)[1]
    assert sorted(position.values()) == list(range(len(many.residues)))
    assert len({letter for letter, _ in position}) == 26


@pytest.mark.slow
def test_all_stages_of_twenty_thousand_residues_need_less_than_a_gigabyte():
    """In a process of its own, whose memory is not that of the tests before."""
    code = (
        "import re, test_large as t;"
        "from toporank.features.registry import DEFAULT_MODULES, resolve;"
        "c = resolve({stage: {} for stage in DEFAULT_MODULES}); many = t.tiled(t.COPIES);"
        "interface = c['interface'](many).index; topology = c['topology'](many, interface);"
        "nodes = c['nodes'](many, interface, topology); edges = c['edges'](many, interface);"
        "assert len(nodes.values) == len(interface) > 6000 and len(edges.attributes) > 10000;"
        "print(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1])"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    assert int(printed(code, env=environment)) < 1 << 20, "kB of the largest memory"


def test_an_interface_is_computed_from_the_chains_around_it_as_from_the_whole_complex():
    many = tiled(30, apart=40.0)  # copies touch
    pair = (("A7",), ("B7",))
    part = Surroundings.of(many).around(["A7", "B7"], DSSP_REACH)
    assert len(part.residues) < len(many.residues) / 2
    found = []
    for complex_ in (many.with_partners(pair), part.with_partners(pair)):
        residues = ca_cutoff_interface(CaCutoff(), complex_).index
        table = contact_nodes(
            DsspTopology(), complex_, residues, np.zeros((len(residues), 0))
        )
        found.append(
            ([complex_.residues[r] for r in residues], table.lost, table.values)
        )
    assert found[0][:2] == found[1][:2]
    np.testing.assert_allclose(found[0][2], found[1][2], atol=1e-6)


def test_what_surrounds_an_interface_does_not_grow_with_the_complex():
    sizes = [
        len(Surroundings.of(tiled(n)).around(["A43", "B43"], DSSP_REACH).residues)
        for n in (80, COPIES)
    ]
    assert sizes[0] == sizes[1] < 1500


def test_the_surroundings_of_all_is_all():
    many = tiled(3)
    for reach in (1e6, float("inf")):
        whole = Surroundings.of(many).around(["A0"], reach)
        assert whole.residues == many.residues
        np.testing.assert_array_equal(whole.ca, many.ca)
        np.testing.assert_array_equal(whole.xyz, many.xyz)


def test_ten_thousand_chains_of_one_residue_need_little_memory_and_time():
    n = 10_000
    one = read_complex(EXAMPLES / "1GCQ" / "mid1.pdb")
    place = np.stack(np.unravel_index(np.arange(n), (22, 22, 22)), axis=1) * np.array(
        [8.0, 11.0, 12.0]
    )
    place[-50:] += 1000.0  # and some that touch none
    many = dataclasses.replace(
        one,
        residues=tuple(one.residues[0]._replace(chain=f"c{i}") for i in range(n)),
        names=one.names[:1] * n,
        parents=one.parents[:1] * n,
        xyz=place,
        atom_names=np.full(n, b"CA", dtype="S8"),
        residue_of=np.arange(n),
        ca=np.arange(n),
    )
    started = time.process_time()
    tracemalloc.start()
    interface = ca_cutoff_interface(CaCutoff(), many)
    pairs = residue_contacts(many)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(pairs) == 0
    assert len(interface.index) > 9_000
    assert len(interface.meetings) > 9_000
    assert time.process_time() - started < 30
    assert peak < 300 * MIB
