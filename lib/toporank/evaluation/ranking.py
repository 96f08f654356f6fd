"""Scores into a ranking that accounts for every decoy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from toporank.decoys.identity import Status
from toporank.evaluation.metrics import CAPRI_NAMES, capri_class

RANKING_COLUMNS = (
    "rank", "target", "decoy", "pred_dockq", "pred_sd", "pred_capri", "n_interface_residues", "n_chains", "status",
)  # fmt: skip


def ranking(coverage: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """The ranking of every decoy, best first within each target, targets in order of name.

    A decoy without interface is ranked below every scored decoy of its target, since chains that do not
    touch are certainly wrong; one that could not be read or computed comes last and has no rank.
    coverage : as from `building.coverage`. scores : as from `scoring.score_pack`. Ties go by decoy name.
    """
    decoys = coverage[coverage["status"] != Status.NO_DECOY]
    table = decoys.merge(scores, on=["target", "decoy"], how="left", validate="1:1")
    place = table["status"].map({Status.OK: 0, Status.NO_INTERFACE: 1}).fillna(2)
    table = table.assign(place=place, order=-table["pred_dockq"].astype(float))
    table = table.sort_values(["target", "place", "order", "decoy"], ignore_index=True)
    table["rank"] = (table.groupby("target").cumcount() + 1).astype("Int64").where(table["place"] < 2)
    scored = table["pred_dockq"].notna()
    table["pred_capri"] = ""
    table.loc[scored, "pred_capri"] = np.array(CAPRI_NAMES)[capri_class(table.loc[scored, "pred_dockq"].astype(float))]
    return table[list(RANKING_COLUMNS)]


def model_pred_dockq(table: pd.DataFrame) -> pd.DataFrame:
    """The export older tools join on: MODEL, PRED_DOCKQ, scored decoys only, best first."""
    scored = table[table["pred_dockq"].notna()].sort_values(
        ["pred_dockq", "target", "decoy"], ascending=[False, True, True]
    )
    return scored[["decoy", "pred_dockq"]].set_axis(["MODEL", "PRED_DOCKQ"], axis=1)


def read_ranking(path: Path) -> pd.DataFrame:
    """Read ranking.csv; names stay text, empty text stays empty."""
    text = ["target", "decoy", "pred_capri", "status"]
    empty_is_missing = {column: [""] for column in RANKING_COLUMNS if column not in text}
    table = pd.read_csv(path, dtype=dict.fromkeys(text, str), keep_default_na=False, na_values=empty_is_missing)
    return table.astype({"rank": "Int64", "n_interface_residues": "Int64", "n_chains": "Int64"})
