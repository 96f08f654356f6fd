"""How the predictor ranks its models: by its own score, the ranks in names, or a measure; and what
is said where its first model is not ours.
"""

from __future__ import annotations

import pandas as pd
import pytest
from _ranked import stated

from toporank.confidence.table import Confidence
from toporank.ranking.agreement import (
    OtherFirst,
    other_first,
    rank_in_words,
    with_predictor,
)
from toporank.tables.columns import CONFIDENCE
from toporank.tables.frames import of_records


def ranked(*rows: Confidence, copies: dict[str, str] | None = None) -> pd.DataFrame:
    """Models in the order of our ranking, with what their predictor says."""
    models = pd.DataFrame({"decoy": [row.decoy for row in rows]}).assign(
        target="T", status="ok", dockq=0.5
    )
    models["duplicate_of"] = [(copies or {}).get(row.decoy, "") for row in rows]
    return with_predictor(models, of_records(CONFIDENCE, rows))


def ranks(table: pd.DataFrame) -> list[int | None]:
    column = table["predictor_rank"].astype(object)
    return column.where(column.notna(), None).tolist()


@pytest.mark.parametrize(
    ("rows", "expected", "measure"),
    [
        # of HADDOCK's score the lowest is best
        (
            stated("a b", "HADDOCK", haddock_score=[-50.0, -90.0]),
            [2, 1],
            "HADDOCK score",
        ),
        # the ranks in names, where no score of its own differs; beside them a measure is shown
        (
            stated("ranked_1 ranked_2 ranked_0", "AlphaFold-Multimer", iptm=[0.5] * 3),
            [2, 3, 1],
            "ipTM",
        ),
        (
            stated("x_unrelaxed_rank_002_m x_unrelaxed_rank_001_m", "ColabFold"),
            [2, 1],
            "rank in the name",
        ),
        (
            stated("pred.model_idx_0.rank_1 pred.model_idx_3.rank_0", "Chai-1"),
            [2, 1],
            "rank in the name",
        ),
        # names that are no ranks, or that two models share
        (
            stated("ranking_0_a franked_1 ranks_2", interface_plddt=[80.0, 82.0, 81.0]),
            [3, 1, 2],
            "interface pLDDT",
        ),
        (
            stated("run1_ranked_0 run2_ranked_0 run1_ranked_1", iptm=[0.3, 0.2, 0.1]),
            [1, 2, 3],
            "ipTM",
        ),
        # equal values give no order, but are shown; a single model is the first of its predictor
        (stated("a b", iptm=[0.8, 0.8]), [1, 1], "ipTM"),
        (stated("a", ranking_score=[0.8]), [1], "ranking score"),
        (stated("a b"), [None, None], ""),
    ],
)
def test_the_predictor_ranks_its_models(rows, expected, measure):
    table = ranked(*rows)
    assert ranks(table) == expected
    assert table["predictor_measure"].tolist() == [measure] * len(rows)
    if measure in ("ranking score", "ipTM", "HADDOCK score"):
        assert table["predictor_score"].notna().all()


@pytest.mark.parametrize(
    ("rows", "words", "first"),
    [
        (
            stated("a b", "Boltz", ranking_score=[0.5, 0.9]),
            "Boltz's rank 2 (ranking score 0.50)",
            "Boltz's first is b",
        ),
        (
            stated("ranked_1 ranked_0", "AlphaFold-Multimer", iptm=[0.8, 0.7]),
            "AlphaFold-Multimer's rank 2 (ipTM 0.80)",
            "AlphaFold-Multimer's first is ranked_0",
        ),
        # nobody but TopoRank put these in an order
        (
            stated("a b", "", interface_plddt=[81.0, 90.0]),
            "rank 2 by interface pLDDT (81.00)",
            "By interface pLDDT the first is b",
        ),
        (
            stated("a b", "AlphaFold 3", iptm=[0.4, 0.9]),
            "rank 2 by ipTM (0.40)",
            "By ipTM the first is b",
        ),
        (stated("a"), "", None),
    ],
)
def test_an_order_that_no_predictor_gave_is_not_called_its_own(rows, words, first):
    table = ranked(*rows)
    best = table.iloc[0]
    assert rank_in_words(best) == words
    if first:
        said = str(OtherFirst(best, table.iloc[1], None))
        assert said.startswith(f"{first}: DockQ")


def test_each_predictor_ranks_its_own_models_alone():
    rows = [
        *stated("a b", ranking_score=[0.5, 0.9]),
        *stated("c d", "AlphaFold 3", ranking_score=[0.8, 0.7]),
    ]
    assert ranks(ranked(*rows)) == [2, 1, 1, 2]


def test_a_copy_has_the_rank_of_its_original_and_does_not_count():
    rows = stated("a a2 b c", ranking_score=[0.5, 0.4, 0.9, 0.1])
    table = ranked(*rows, copies={"a2": "a"})
    assert ranks(table) == [2, 2, 1, 3]
    assert table["predictor_score"].tolist() == [0.5, 0.5, 0.9, 0.1]


def test_the_first_of_the_predictor_is_named_where_it_is_not_ours():
    table = ranked(*stated("a b c", ranking_score=[0.5, 0.4, 0.9]))
    assert other_first(table)["decoy"] == "c"
    assert other_first(ranked(*stated("a b", ranking_score=[0.9, 0.4]))) is None
    assert other_first(ranked(*stated("a b", iptm=[0.8, 0.8]))) is None
    assert other_first(ranked(*stated("a b"))) is None


@pytest.mark.parametrize(
    ("between", "words"),
    [
        (0.81, "they bind alike (DockQ between the two 0.81)"),
        (
            0.3,
            "it binds at the same place, but differently (DockQ between the two 0.30)",
        ),
        (0.02, "it binds elsewhere (DockQ between the two 0.02)"),
    ],
)
def test_the_sentence_has_both_numbers_and_whether_they_bind_alike(between, words):
    table = ranked(*stated("a b", ranking_score=[0.5, 0.9]))
    table["dockq"] = [0.62, 0.41]
    best, first = table.iloc[0], table.iloc[1]
    sentence = str(OtherFirst(best, first, between))
    assert sentence == (
        "Boltz's first is b: DockQ 0.41 against 0.62, its ranking score 0.90 against 0.50; "
        + words
    )
    assert OtherFirst(best, first, between).binds_elsewhere == (between < 0.49)
    first["dockq"] = float("nan")
    assert (
        str(OtherFirst(best, first, None)) == "Boltz's first is b, which has no score"
    )
