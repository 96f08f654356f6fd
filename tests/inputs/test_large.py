"""A complex of 20,000 residues: time and memory rise with its size, not with its square."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
import time
import tracemalloc

import numpy as np

from structures_text import EXAMPLES
from toporank.features.interface import CaCutoff, ca_cutoff_interface
from toporank.features.legacy_edges import LegacyV11, legacy_edges
from toporank.structures.complex import Complex
from toporank.structures.dssp import normalised_pdb
from toporank.structures.read import read_complex

COPIES = 159
MIB = 1 << 20


def tiled(copies: int) -> Complex:
    """Copies of an example decoy 70 Å apart, each with two chains of its own."""
    one = read_complex(EXAMPLES / "1GCQ" / "mid1.pdb")
    n, atoms = len(one.residues), len(one.xyz)
    place = np.stack(np.unravel_index(np.arange(copies), (6, 6, 6)), axis=1) * 70.0
    number = np.repeat(np.arange(copies), n)
    return dataclasses.replace(
        one,
        residues=tuple(r._replace(chain=f"{r.chain}{i}") for i in range(copies) for r in one.residues),
        names=one.names * copies,
        parents=one.parents * copies,
        xyz=(one.xyz + place[:, None]).reshape(-1, 3),
        atom_names=np.tile(one.atom_names, copies),
        residue_of=np.tile(one.residue_of, copies) + np.repeat(np.arange(copies), atoms) * n,
        ca=np.tile(one.ca, copies) + number * atoms,
    )


def test_interface_and_edges_of_twenty_thousand_residues_need_little_memory_and_time():
    one, many = tiled(1), tiled(COPIES)
    assert len(many.residues) > 20_000
    tracemalloc.start()
    started = time.monotonic()
    interface = ca_cutoff_interface(CaCutoff(), many)
    edges = legacy_edges(LegacyV11(), many, interface.index)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert time.monotonic() - started < 60
    assert peak < 300 * MIB
    single = ca_cutoff_interface(CaCutoff(), one)
    assert len(interface.index) == COPIES * len(single.index)
    assert edges.index.shape[1] == COPIES * legacy_edges(LegacyV11(), one, single.index).index.shape[1]


def test_its_318_chains_fit_into_what_mkdssp_is_given():
    many = tiled(COPIES)
    position = normalised_pdb(many)[1]
    assert sorted(position.values()) == list(range(len(many.residues)))
    assert len({letter for letter, _ in position}) == 26


def test_all_stages_of_twenty_thousand_residues_need_less_than_a_gigabyte():
    """In a process of its own, whose memory is not that of the tests before."""
    code = (
        "import test_large as t; from toporank.training.memory import peak_memory;"
        "from toporank.features.registry import DEFAULT_MODULES, resolve;"
        "c = resolve({stage: {} for stage in DEFAULT_MODULES}); many = t.tiled(t.COPIES);"
        "interface = c['interface'](many).index; topology = c['topology'](many, interface);"
        "nodes = c['nodes'](many, interface, topology); edges = c['edges'](many, interface);"
        "assert len(nodes.values) == len(interface) > 6000 and len(edges.attributes) > 10000;"
        "print(peak_memory())"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    answer = subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True, text=True)
    assert int(answer.stdout) < 1024 * MIB
