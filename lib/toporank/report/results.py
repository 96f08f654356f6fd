"""What a page is made of, read from the files the other rules wrote."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from toporank import layout
from toporank.building.coverage import read_coverage
from toporank.decoys.identity import Status
from toporank.errors import ConfigError
from toporank.evaluation.metrics import CAPRI_NAMES, capri_class, random_pick_loss
from toporank.evaluation.ranking import read_ranking
from toporank.evaluation.selection import read_leaderboard
from toporank.model.checkpoint import read_description
from toporank.report.formatting import NOT_SCORED, SCORED

FROM_RANKING = ("rank", "pred_dockq", "pred_sd", "pred_capri")


@dataclass(frozen=True)
class Study:
    """Everything a page shows.

    table : one row for every decoy and every label without decoy. Columns of coverage and `FROM_RANKING`, and
        dataset, fate (`words.FATES`) and capri, the true CAPRI class, empty where unknown. Ordered by data set
        as given, then target, then best predicted first.
    evaluations : by data set, for each split what `metrics.summarise` gives. leaderboard : as from
        `selection.leaderboard`, or None. curves : metrics.csv by run. checkpoint : its description.
    """

    table: pd.DataFrame
    evaluations: dict[str, dict[str, Any]]
    leaderboard: pd.DataFrame | None
    curves: dict[str, pd.DataFrame]
    checkpoint: dict[str, Any]

    @property
    def decoys(self) -> pd.DataFrame:
        """The rows of `table` that are decoys."""
        return self.table[self.table["fate"] != Status.NO_DECOY]

    @property
    def datasets(self) -> list[str]:
        """Names of the data sets, in the given order; also of those without any row."""
        return list(self.table["dataset"].cat.categories)

    @property
    def labelled(self) -> pd.DataFrame:
        """Decoys with both a predicted and a true DockQ."""
        return self.table[self.table["pred_dockq"].notna() & self.table["dockq"].notna()]


def read_study(
    coverage: Iterable[Path],
    rankings: Iterable[Path],
    evaluations: Iterable[Path],
    leaderboard: Path | None,
    checkpoint: Path,
) -> Study:
    """Read a study. A file belongs to the data set its folder is named after, as `layout` has it.

    Raises ConfigError when a ranking or an evaluation comes without the coverage of its data set.
    """
    covered = {path.parent.name: read_coverage(path) for path in coverage}
    ranked = {path.parent.name: read_ranking(path) for path in rankings}
    evaluated = {path.parent.name: json.loads(path.read_text(encoding="utf-8")) for path in evaluations}
    for name in (*ranked, *evaluated):
        if name not in covered:
            raise ConfigError("its coverage was not given", where=f"data set {name}", remedy="add it to --coverage")
    board = read_leaderboard(leaderboard) if leaderboard else None
    return Study(
        study_table(covered, ranked), evaluated, board, {} if board is None else read_curves(board),
        read_description(checkpoint),
    )  # fmt: skip


def study_table(covered: dict[str, pd.DataFrame], ranked: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """`Study.table` from the coverage and the ranking of each data set; a ranking may be missing."""
    identity = ["target", "decoy"]
    parts = []
    for name, coverage in covered.items():
        ranking = ranked.get(name, pd.DataFrame(columns=[*identity, *FROM_RANKING]))[[*identity, *FROM_RANKING]]
        ranking = ranking.assign(place=range(len(ranking)))
        joined = coverage.merge(ranking, on=identity, how="left", validate="1:1").assign(dataset=name)
        parts.append(joined.sort_values(["target", "place", "decoy"]))
    table = pd.concat(parts, ignore_index=True)
    table["dataset"] = pd.Categorical(table["dataset"], categories=list(covered))
    numbers = {column: table[column].astype(float) for column in ("dockq", "pred_dockq", "pred_sd")}
    table = table.assign(**numbers, rank=table["rank"].astype("Int64"), pred_capri=table["pred_capri"].fillna(""))
    unscored = table["status"].where(table["status"] != Status.OK, NOT_SCORED)
    table["fate"] = unscored.where(table["pred_dockq"].isna(), SCORED)
    known = table["dockq"].notna()
    table["capri"] = ""
    table.loc[known, "capri"] = np.array(CAPRI_NAMES)[capri_class(table.loc[known, "dockq"])]
    return table.drop(columns="place")


def read_curves(leaderboard: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """metrics.csv of every run on the leaderboard that has one, in the order of the leaderboard."""
    files = {
        run: Path(folder, "metrics.csv") for run, folder in zip(leaderboard["run"], leaderboard["folder"], strict=True)
    }
    return {run: pd.read_csv(file) for run, file in files.items() if file.exists()}


def is_finetune(folder: str) -> bool:
    """Whether a run of the leaderboard is a fine-tune, by where it lies."""
    return Path(folder).parent.name == Path(layout.FINETUNE_RUN).parent.name


def validation_random_pick(study: Study) -> float | None:
    """Expected ranking loss of a random pick on the validation set the checkpoint was chosen with, in [0, 1].

    None when the data sets of the page are not those of the training, which their number of graphs tells.
    """
    known = study.table[(study.table["split"] == "val") & (study.table["status"] == Status.OK)]
    if not len(known) or len(known) != study.checkpoint["training_set"]["val"]:
        return None
    return float(np.mean([random_pick_loss(group) for _, group in known.groupby("target")["dockq"]]))
