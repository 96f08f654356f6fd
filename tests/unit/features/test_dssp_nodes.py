"""Node features: their columns, how they are scaled, and which residues are lost."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest

from dssp_agreement import needs_mkdssp
from oracle import reference
from structures_text import EXAMPLES, Atom, complex_of
from toporank.errors import FeatureError
from toporank.features.dssp_nodes import (
    MAX_ACCESSIBILITY,
    DsspTopology,
    NodeTable,
    assemble_nodes,
    columns,
    dssp_topology_nodes,
)
from toporank.features.interface import CaCutoff, ca_cutoff_interface
from toporank.features.registry import choose, min_max
from toporank.features.topology import Persistence, persistence_topology
from toporank.structures.complex import STANDARD
from toporank.structures.dssp import Dssp
from toporank.structures.read import read_complex

RAW = DsspTopology(scaling="none")
PUBLISHED = DsspTopology(scaling="per_decoy", orientation="file")
NAMES = columns(PUBLISHED)


def trace(*names: str):
    """A complex of residues with these names, each with its CA only."""
    return complex_of(
        Atom("CA", name, "A", n, 4.0 * n, 0.0, 0.0) for n, name in enumerate(names, 1)
    )


def report(n: int, *, not_found: tuple[int, ...] = (), **values) -> Dssp:
    """What DSSP says of n residues; by default nothing special."""
    usual = {
        "structure": [b"-"] * n,
        "accessibility": [10.0] * n,
        "phi": [-60.0] * n,
        "psi": [140.0] * n,
    }
    arrays = {name: np.array(value) for name, value in {**usual, **values}.items()}
    return Dssp(reported=~np.isin(np.arange(n), not_found), **arrays)


def table_of(
    told: Dssp,
    names: Sequence[str],
    residues: Sequence[int],
    topology: np.ndarray | None = None,
    parameters: DsspTopology = PUBLISHED,
) -> NodeTable:
    """Nodes of residues of a trace; without topology where none is given."""
    if topology is None:
        topology = np.zeros((len(residues), 0))
    return assemble_nodes(parameters, trace(*names), np.array(residues), topology, told)


def column(table, name: str) -> list[float]:
    return table.values[:, NAMES.index(name)].tolist()


# ---- columns -------------------------------------------------------------------------------------


def test_there_are_172_columns_in_the_published_order():
    names = (
        choose("nodes", {"module": "dssp_topology"}).columns
        + choose("topology", {}).columns
    )
    assert len(names) == len(set(names)) == 172
    assert names[:11] == [
        "rasa",
        "phi",
        "psi",
        *(f"ss_{s}" for s in ("H", "B", "E", "G", "I", "T", "S", "none")),
    ]
    assert names[11:32] == [*(f"aa_{a}" for a in "ACDEFGHIKLMNPQRSTVWY"), "aa_unknown"]
    assert names[32] == "h0_C_death_sum"


@needs_mkdssp
@pytest.mark.parametrize(
    ("dssp", "within"),
    [("mkdssp", 1e-9), ("builtin", 1 / min(MAX_ACCESSIBILITY.values()))],
)
@pytest.mark.parametrize(
    "decoy",
    ["1GCQ/mid1.pdb", "1AVZ/far1.pdb", "1PPE/near1.pdb.gz", "1GCQ/wrong2.cif.gz"],
)
def test_real_decoys_have_the_nodes_that_plain_loops_give(decoy, dssp, within):
    path = EXAMPLES / decoy
    complex_ = read_complex(path)
    residues = ca_cutoff_interface(CaCutoff(), complex_).index
    table = dssp_topology_nodes(
        DsspTopology(dssp=dssp, scaling="per_decoy", orientation="file"),
        complex_,
        residues,
        persistence_topology(Persistence(), complex_, residues),
    )
    assert table.lost == ("",) * len(residues)
    np.testing.assert_allclose(table.values, reference.nodes(path), rtol=0, atol=within)


def test_values_stand_in_the_column_of_their_name():
    told = report(
        2,
        structure=[b"H", b"P"],
        accessibility=[227 / 2, 21.0],
        phi=[-60.5, 70.0],
        psi=[-45.0, 360.0],
    )
    topology = np.array([[7.0, 8.0], [9.0, 10.0]])
    table = table_of(told, ("TRP", "GLY"), (1, 0), topology, RAW)
    rows = [
        {"rasa": 0.25, "phi": 70.0, "psi": 360.0, "ss_none": 1.0, "aa_G": 1.0},
        {"rasa": 0.5, "phi": -60.5, "psi": -45.0, "ss_H": 1.0, "aa_W": 1.0},
    ]
    expected = pd.DataFrame(rows, columns=NAMES).fillna(0.0)
    np.testing.assert_array_equal(table.values, np.hstack([expected, topology]))


@pytest.mark.parametrize(
    ("letter", "state"),
    [*((s, s) for s in "HBEGITS"), ("-", "none"), ("P", "none"), ("?", "none")],
)
def test_eight_states_have_a_column_and_every_other_letter_counts_as_none(
    letter, state
):
    table = table_of(
        report(1, structure=[letter.encode()]), ["ALA"], [0], parameters=RAW
    )
    states = dict(zip(NAMES[3:11], table.values[0, 3:11], strict=True))
    assert states == {name: float(name == f"ss_{state}") for name in states}


@pytest.mark.parametrize("name", sorted(STANDARD))
def test_every_standard_residue_has_its_own_column_and_accessibility(name):
    letter = STANDARD[name]
    told = report(1, accessibility=[float(MAX_ACCESSIBILITY[letter])])
    table = table_of(told, [name], [0], parameters=RAW)
    assert column(table, f"aa_{letter}") == column(table, "rasa") == [1.0]
    assert table.values[0, 11:32].sum() == 1.0


# ---- scaling -------------------------------------------------------------------------------------


def test_angles_are_scaled_by_all_residues_of_the_complex_with_the_placeholders_of_chain_ends():
    told = report(4, phi=[360.0, -120.0, -60.0, 0.0], psi=[140.0, -40.0, 160.0, 360.0])
    table = table_of(told, ["ALA"] * 4, (2, 3))
    np.testing.assert_allclose(column(table, "phi"), [60 / 480, 120 / 480])
    np.testing.assert_allclose(column(table, "psi"), [200 / 400, 1.0])


def test_residues_that_dssp_did_not_report_have_no_part_in_the_scaling_of_angles():
    told = report(
        4,
        not_found=(0,),
        phi=[360.0, -120.0, -60.0, 0.0],
        psi=[360.0, -40.0, 160.0, 60.0],
    )
    table = table_of(told, ["ALA"] * 4, (2, 3))
    np.testing.assert_allclose(column(table, "phi"), [0.5, 1.0])
    np.testing.assert_allclose(column(table, "psi"), [1.0, 0.5])


def test_topology_is_scaled_over_the_whole_interface_before_residues_are_lost():
    topology = np.array([[0.0, 5.0], [10.0, 5.0], [5.0, 5.0]])
    told = report(3, not_found=(1,))
    table = table_of(told, ["ALA"] * 3, range(3), topology)
    # Not 1: row 1 set the maximum.
    np.testing.assert_array_equal(table.values[:, 32:], [[0, 0], [0, 0], [0.5, 0]])
    assert topology[1, 0] == 10.0  # the caller's array is left alone


def test_scaling_by_other_values_may_leave_the_unit_interval_and_by_none_gives_zeros():
    np.testing.assert_allclose(
        min_max(np.array([-1.0, 5.0, 20.0]), np.array([0.0, 10.0])), [-0.1, 0.5, 2.0]
    )
    np.testing.assert_array_equal(
        min_max(np.array([[1.0, 2.0]]), np.zeros((0, 2))), [[0.0, 0.0]]
    )


# ---- lost residues -------------------------------------------------------------------------------


def test_a_residue_that_dssp_does_not_report_is_lost_with_a_reason_and_a_row_of_zeros():
    table = table_of(
        report(3, not_found=(1,)), ("ALA", "GLY", "TRP"), (2, 1, 0), np.eye(3)
    )
    assert [bool(reason) for reason in table.lost] == [False, True, False]
    assert "not reported by DSSP" in table.lost[1]
    assert not table.values[1].any()
    assert table.values[[0, 2]].any(axis=1).all()


def test_a_residue_of_unknown_type_is_lost_with_a_reason():
    table = table_of(report(2), ("UNK", "ALA"), range(2), np.eye(2))
    assert table.lost == ("residue type without a reference accessibility", "")
    assert not table.values[0].any()
    assert np.isfinite(table.values).all()


def test_when_all_residues_are_lost_the_error_tells_why():
    told = report(2, not_found=(0, 1))
    message = r"none of the 2 interface residues .*not reported by DSSP"
    with pytest.raises(FeatureError, match=message):
        table_of(told, ("ALA", "ALA"), range(2))


@pytest.mark.parametrize(
    "dssp", ["builtin", pytest.param("mkdssp", marks=needs_mkdssp)]
)
def test_an_interface_residue_with_a_broken_backbone_is_lost_and_its_neighbours_are_not(
    dssp,
):
    complex_ = read_complex(EXAMPLES / "1GCQ" / "mid1.pdb")
    residues = ca_cutoff_interface(CaCutoff(), complex_).index
    keep = ~((complex_.residue_of == residues[5]) & (complex_.atom_names == b"N"))
    broken = dataclasses.replace(
        complex_,
        xyz=complex_.xyz[keep],
        atom_names=complex_.atom_names[keep],
        residue_of=complex_.residue_of[keep],
        ca=np.array(
            [np.flatnonzero(np.flatnonzero(keep) == ca)[0] for ca in complex_.ca]
        ),
    )
    table = dssp_topology_nodes(
        DsspTopology(dssp=dssp, scaling="per_decoy", orientation="file"),
        broken,
        residues,
        np.zeros((len(residues), 1)),
    )
    assert [i for i, reason in enumerate(table.lost) if reason] == [5]
