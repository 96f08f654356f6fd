"""p_interact: a curve of ipTM, and the sentence of a screen."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from toporank.scorer.interaction import interaction_sentence, p_interact


def test_p_interact_rises_with_iptm_and_is_unknown_without():
    p = p_interact([0.1, 0.584, 0.95, np.nan])
    assert p[:3] == pytest.approx([0.06, 0.50, 0.89], abs=0.01)
    assert np.isnan(p[3])
    without = p_interact([0.584, np.nan], [0.1, 0.625])
    assert without == pytest.approx([0.5, 0.5], abs=0.01), "ipTM comes first"


@pytest.mark.parametrize(
    ("known", "iptm", "partners", "sentence"),
    [
        ([0.9], 0.8, "A:B", ""),
        (
            [np.nan] * 2,
            np.nan,
            "A:B",
            "neither it nor AlphaFold-Multimer's ranking_debug.json lies beside these",
        ),
        (
            [np.nan] * 2,
            0.6,
            "A:B",
            "it was measured for two proteins, and these complexes",
        ),
        ([np.nan] * 2, np.nan, "A:B:C", "it was measured for two proteins, and these"),
        ([0.9, np.nan], 0.8, "A:B", "Sort by “interact”, known for 1 of 2: the chance"),
        ([0.9, 0.1], 0.8, "A:B", "9 of 10 pairs were true."),
    ],
)
def test_a_screen_says_which_number_to_use(known, iptm, partners, sentence):
    about = {"p_interact": known, "iptm": iptm, "partners": partners}
    said = interaction_sentence(pd.DataFrame(about))
    assert sentence in said
    assert bool(said) == (len(known) > 1)
