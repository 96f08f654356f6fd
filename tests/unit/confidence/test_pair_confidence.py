"""ipTM and PAE of two partners, from the matrices of the predictor."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from toporank.chains.chain import ResidueId
from toporank.confidence.matrices import Matrices
from toporank.confidence.pair_confidence import OfPair, of_pairs

CONTACTS = pd.DataFrame(
    [("A", "1", "B", "1"), ("B", "1", "A", "2"), ("A", "1", "C", "1")],
    columns=["chain_1", "residue_1", "chain_2", "residue_2"],
)
RESIDUES = tuple(ResidueId(*key, "") for key in (("A", 1), ("A", 2), ("B", 1)))
PAE = np.array([[0.0, 0.0, 2.0], [0.0, 0.0, 4.0], [6.0, 8.0, 0.0]])
PAIR_IPTM = np.array([[np.nan, 0.5, 0.1], [0.9, np.nan, 0.2], [np.nan, 0.3, np.nan]])


@pytest.mark.parametrize(
    ("matrices", "expected"),
    [
        (
            Matrices(RESIDUES, PAE, chains=("A", "B", "C"), pair_iptm=PAIR_IPTM),
            {"A:B": OfPair(0.9, 5.0), "A:C": OfPair(0.1), "A+C:B": OfPair(0.9, 5.0)},
        ),
        (Matrices(RESIDUES, PAE), {"A:B": OfPair(pae=5.0)}),
        (Matrices(RESIDUES, chains=("A",), pair_iptm=PAIR_IPTM), {"A:B": OfPair()}),
    ],
)
def test_both_directions_and_the_contacts_of_the_pair_count(matrices, expected):
    """The residue of C is in no matrix."""
    found = of_pairs(matrices, CONTACTS, expected)
    for pair, values in expected.items():
        assert found[pair] == pytest.approx(values, nan_ok=True)
