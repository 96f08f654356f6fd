"""Measures of an interface from pLDDT and PAE: small cases by hand, and numbers of published
tools.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from _confidence import row_of

from structures_text import EXAMPLES
from toporank.confidence import measures
from toporank.structures.read import read_complex

A, B = np.array([0, 1]), np.array([2, 3, 4])


def matrix(first_to_second, second_to_first) -> np.ndarray:
    """PAE of a body of two and one of three residues."""
    pae = np.zeros((5, 5))
    pae[np.ix_(A, B)], pae[np.ix_(B, A)] = first_to_second, second_to_first
    return pae


def test_d0_is_that_of_the_tm_score():
    np.testing.assert_allclose(
        measures.tm_length(np.array([100, 300])), [3.652, 6.360], atol=1e-3
    )
    assert measures.tm_length(np.array([1])) == measures.tm_length(np.array([27]))


def test_ipsae_is_that_of_the_best_aligned_residue_over_pairs_below_10_angstrom():
    d0 = 1.24 * 12 ** (1 / 3) - 1.8
    pae = matrix([[d0, 3 * d0, 10.0], [12.0, 11.0, 30.0]], 30.0)
    assert measures.ipsae(pae, A, B) == pytest.approx(
        (1 / 2 + 1 / 10) / 2
    )  # one without any near pair counts 0
    assert measures.ipsae(pae, A, B) == measures.ipsae(pae, B, A)
    assert measures.ipsae(matrix(10.0, 31.0), A, B) == 0


def test_in_ipsae_each_residue_has_the_d0_of_its_own_number_of_near_residues():
    """Of two bodies of 60: the first residue is near all of the other body, all others are near
    none.
    """
    pae = np.full((120, 120), 30.0)
    pae[0, 60:] = 5.0
    first, second = np.arange(60), np.arange(60, 120)
    (d0,) = measures.tm_length(np.array([60]))
    assert measures.ipsae(pae, first, second) == pytest.approx(1 / (1 + (5 / d0) ** 2))
    # each residue of the first is near one of the second
    pae[0, 60:], pae[:60, 60] = 30.0, 5.0
    (d0,) = measures.tm_length(np.array([1]))
    assert measures.ipsae(pae, first, second) == pytest.approx(1 / (1 + (5 / d0) ** 2))


def test_lis_is_the_mean_of_both_directions_over_pairs_below_12_angstrom():
    assert measures.lis(
        matrix([[0.0, 6.0, 13.0], [12.0, 40.0, 40.0]], 3.0), A, B
    ) == pytest.approx((0.75 + 0.75) / 2)
    assert measures.lis(matrix(12.5, 20.0), A, B) == 0


def test_pdockq_at_the_middle_of_its_sigmoid():
    # log10 of their number is 2
    pairs = np.column_stack([np.arange(100), np.arange(100, 200)])
    assert measures.pdockq(np.full(200, 152.611 / 2), pairs) == pytest.approx(
        0.724 / 2 + 0.018
    )
    assert measures.pdockq(np.full(200, 90.0), pairs[:0]) == 0


def test_pdockq2_at_the_middle_of_its_sigmoid_and_by_its_better_direction():
    pairs, plddt = np.array([[0, 2], [1, 2]]), np.array([84.733, 84.733, 84.733, 0, 0])
    assert measures.pdockq2(plddt, matrix(0.0, 30.0), pairs) == pytest.approx(
        1.31 / 2 + 0.005
    )
    assert measures.pdockq2(plddt, matrix(30.0, 0.0), pairs) == pytest.approx(
        1.31 / 2 + 0.005
    )
    twice = measures.pdockq2(
        2 * plddt, matrix(10.0, 10.0), pairs
    )  # half of it is lost to a PAE of 10 Å
    assert twice == pytest.approx(1.31 / 2 + 0.005)
    assert measures.pdockq2(plddt, matrix(0.0, 0.0), pairs[:0]) == 0


def test_the_pae_of_an_interface_is_the_mean_over_its_pairs_in_both_directions():
    pae = matrix([[2.0, 9.0, 9.0], [9.0, 9.0, 4.0]], 6.0)
    assert measures.interface_pae(pae, np.array([[0, 2], [1, 4]])) == pytest.approx(
        (3 + 6) / 2
    )


def as_colabfold(folder: Path) -> Path:
    """A shipped decoy as ColabFold would write it, with made-up pLDDT and PAE."""
    complex_ = read_complex(EXAMPLES / "1GCQ" / "near1.pdb.gz")
    n, tag = len(complex_.residues), "rank_001_alphafold2_multimer_v3_model_1_seed_000"
    i, j = np.mgrid[:n, :n]
    scores = {
        "plddt": (55 + 40 * np.abs(np.cos(0.2 * np.arange(n)))).round(2).tolist(),
        "pae": (1 + 14 * np.abs(np.sin(0.37 * i + 0.11 * j))).round(2).tolist(),
        "ptm": 0.7,
        "iptm": 0.6,
    }
    (folder / f"small_scores_{tag}.json").write_text(json.dumps(scores))
    model = folder / f"small_unrelaxed_{tag}.pdb.gz"
    model.write_bytes((EXAMPLES / "1GCQ" / "near1.pdb.gz").read_bytes())
    return model


def test_the_published_tools_give_the_same_numbers(tmp_path):
    """Of ipsae 1.0.1 (PAE and distance cutoff 10) and foldmetrics 0.2.0 on these files; this counts
    12 Å in LIS.
    """
    row = row_of(as_colabfold(tmp_path))
    assert (row.predictor, row.status, row.ptm, row.iptm, row.ranking_score) == (
        "ColabFold",
        "ok",
        0.7,
        0.6,
        0.62,
    )
    assert row.ipsae == pytest.approx(0.158834, abs=1e-4)
    assert row.lis == pytest.approx(0.4243, abs=1e-4)
    assert row.pdockq == pytest.approx(0.1957, abs=1e-4)
    assert row.pdockq2 == pytest.approx(0.1392, abs=1e-4)
    assert row.plddt == pytest.approx(80.501, abs=1e-3)


def test_and_on_untouched_output_of_colabfold(predictor_outputs):
    (model,) = predictor_outputs.glob("colabfold_pdl1*.pdb.gz")
    row = row_of(model)
    assert (row.ipsae, row.lis, row.pdockq, row.pdockq2) == pytest.approx(
        (0.8680, 0.7620, 0.5757, 0.9059), abs=1e-4
    )
    assert (row.ptm, row.iptm, row.plddt) == (
        0.94,
        0.92,
        pytest.approx(96.990, abs=1e-3),
    )
