"""Makes a scorer from a cross-validation: its networks, trees over them, how far to trust it, vectors and model card.

The networks' predictions of a decoy come from the fold that was trained without its cluster, and so do those of the
trees by which the scorer is calibrated. LightGBM, which grows trees, is needed here alone.
"""

from __future__ import annotations

import shutil
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd

from toporank.comparing.votes import votes
from toporank.errors import TrainingError
from toporank.files.atomic import write_bytes, write_text
from toporank.learning.provenance import git_state
from toporank.metrics import summarise
from toporank.scorer.calibration import FOLDS, calibrate, write_calibration
from toporank.scorer.combine import Trees, leaning, predicted, write_trees
from toporank.scorer.embeddings import write_training_vectors
from toporank.scorer.expected import FITTED_DECIMALS
from toporank.scorer.manifest import (
    CALIBRATION,
    CHECKPOINT,
    ENSEMBLE,
    MANIFEST,
    OWN_CONFIDENCE,
    QUALITY,
    TREES,
    VECTORS,
    seal,
)
from toporank.scorer.own_confidence import FEWEST_CLUSTERS, OF_RESIDUES, fit_own_confidence, write_own_confidence
from toporank.scorer.prediction import Score
from toporank.scorer.residue_quality import Witness, fit_quality, quality_table, write_quality
from toporank.scorer.scorer import Scorer
from toporank.scorer.tree_inputs import ABOVE, NETWORK, SAID, VOTES, joined, relative, vote_inputs
from toporank.scorer.trees import INSTALL, NO_LIGHTGBM, Forest, from_lightgbm

SEED = 2026
LEAN = 0.08
"""`combine.Trees.lean`"""
PARAMETERS = {
    "objective": "l2", "learning_rate": 0.03, "num_leaves": 15, "min_data_in_leaf": 10, "bagging_fraction": 0.7,
    "bagging_freq": 1, "feature_fraction": 0.3, "num_threads": 1, "deterministic": True, "force_row_wise": True,
    "verbosity": -1,
}  # fmt: skip
TREES_GROWN = 300
WEIGHTS = (1.0, 0.5, 0.3)
"""Of a decoy among all of its target, among some of them, and alone."""
OF_MADE = 0.4
"""Weight of decoys made around natives, which agree with each other more than those of predictors do."""
CARD = "README.md"
OF_CLUSTERS = "Out of fold by cluster: neither networks nor trees had seen the cluster of a decoy that they predict."
OF_TARGETS = (
    "Out of fold by target alone: networks and trees had seen other targets of the cluster of a decoy that they predict"
    " (`split_by: target`), so figures and intervals are too good."
)

Similarity = Mapping[tuple[str, str], np.ndarray]
"""Of data set and target: how alike its decoys are, (n, n), in the order of the table."""


@dataclass(frozen=True)
class Evidence:
    """What a scorer is made from: n labelled decoys and what the networks of a cross-validation say of each.

    Attributes
    ----------
    decoys : (n,) rows `dataset`, `target`, `decoy`, `group`, `cluster`, `fold`, `dockq`; `pred_dockq` and `pred_local`
        of the network that was trained without the fold; `consensus`; `n_interface_residues` and `n_chains`; the
        measures `own_confidence.OF_RESIDUES`, missing where they are not known.
        Decoys of a data set and target follow each other.
    names, descriptors : of whole interfaces, k names and (n, k); no names where the graphs have other features.
    similarity : as `Similarity`. networks : those of each fold by name, as `weights.network_bytes` makes them. best :
        the name of the best one. pooled : what that sees of each decoy, (n, d). sample : of some decoys, with their
        pooled vectors.
    features : records of the modules of the graphs. witnesses : by data set, decoys whose natives are known.
    """

    decoys: pd.DataFrame
    names: list[str]
    descriptors: np.ndarray
    similarity: Similarity
    networks: Mapping[str, bytes]
    best: str
    pooled: np.ndarray
    sample: list[Score]
    features: dict[str, Any]
    witnesses: Mapping[str, list[Witness]] = field(default_factory=dict)


def make_scorer(
    evidence: Evidence,
    out: Path,
    *,
    made: Collection[str] = (),
    calibrated_on: Collection[str] = (),
    poses: Collection[str] = (),
) -> Scorer:
    """Write a scorer into a folder, scorer.json last, and open it.

    made : groups of decoys made around natives, which weigh less in the trees and are not calibrated on.
    calibrated_on : groups that intervals come from; by default all but `made` and `poses`. poses : groups of docked
    poses that intervals come from where a model has no pLDDT.
    Without descriptors it has no trees, with decoys of fewer than `calibration.FOLDS` clusters no calibration: it says
    so itself. Raises TrainingError when a group has no decoy, or LightGBM is needed and not installed.
    """
    groups = sorted({*evidence.decoys["group"]})
    if unknown := sorted({*made, *calibrated_on, *poses}.difference(groups)):
        what = f"no decoy is of the group {', '.join(map(repr, unknown))}"
        raise TrainingError(what, remedy=f"`training.scorer` names groups of the labels: {', '.join(groups)}")
    table = TrainingTable.of(evidence, made) if evidence.names else None
    _start_anew(out)
    _write_networks(evidence, out)
    versions = {}
    if table:
        versions["lightgbm"] = lightgbm().__version__
        write_trees(out / TREES, table.trees(), evidence.features)
    seal(out, mean=True)
    decoys = evidence.decoys.assign(**(table.judged() if table else {"predicted": evidence.decoys["pred_dockq"]}))
    scorer = Scorer.open(out)
    _write_calibration(scorer, *for_calibration(decoys, evidence.pooled, made, calibrated_on, poses))
    _write_own_confidence(out / OWN_CONFIDENCE, decoys[~decoys["group"].isin(made)])
    _write_quality(out / QUALITY, evidence.witnesses, decoys)
    sample = {(score.target, score.decoy): np.array(score.pooled) for score in evidence.sample}
    write_training_vectors(out / VECTORS, sample, scorer.digests[scorer.checkpoint])
    seal(out, mean=True, made_with=versions)
    scorer = Scorer.open(out)
    write_text(out / CARD, model_card(scorer, decoys))
    return scorer


def _start_anew(out: Path) -> None:
    for name in (MANIFEST, TREES, CALIBRATION, VECTORS, OWN_CONFIDENCE, QUALITY):
        (out / name).unlink(missing_ok=True)
    shutil.rmtree(out / ENSEMBLE, ignore_errors=True)
    (out / ENSEMBLE).mkdir(parents=True)


def _write_networks(evidence: Evidence, out: Path) -> None:
    for name, content in evidence.networks.items():
        write_bytes(out / ENSEMBLE / f"{name}.safetensors", content)
    shutil.copyfile(out / ENSEMBLE / f"{evidence.best}.safetensors", out / CHECKPOINT)


def _write_calibration(scorer: Scorer, table: pd.DataFrame, seen: np.ndarray) -> None:
    """Write calibration.json beside the scorer, unless there are too few clusters. table, seen : as for `calibrate`."""
    if table.loc[table["for_intervals"], "cluster"].nunique() >= FOLDS:
        write_calibration(scorer.checkpoint.with_name(CALIBRATION), calibrate(table, seen, scorer.identity))


def _write_own_confidence(path: Path, decoys: pd.DataFrame) -> None:
    """Write confidence.json, unless the models of too few clusters have pLDDT."""
    known = decoys.reindex(columns=[*decoys.columns.union(OF_RESIDUES, sort=False)]).dropna(subset=[*OF_RESIDUES])
    if known["cluster"].nunique() < FEWEST_CLUSTERS:
        return
    alone = known["alone"] if "alone" in known else known["predicted"]
    target = known["dataset"] + "/" + known["target"]
    write_own_confidence(path, fit_own_confidence(known.assign(alone=alone, target=target)))


def _write_quality(path: Path, witnesses: Mapping[str, list[Witness]], decoys: pd.DataFrame) -> None:
    """Write quality.json, unless natives judge the decoys of too few clusters."""
    known = judged_by_natives(witnesses, decoys)
    if known["cluster"].nunique() >= FEWEST_CLUSTERS:
        write_quality(path, fit_quality(known))


def judged_by_natives(witnesses: Mapping[str, list[Witness]], decoys: pd.DataFrame) -> pd.DataFrame:
    """The residues and contacts of witnesses, as from `quality_table`, and `cluster`, `fold` and `group` of decoys.

    decoys : as in `Evidence`, with what is `predicted` of each among others, and `alone` where trees say it.
    """
    said = decoys if "alone" in decoys else decoys.assign(alone=decoys["predicted"])
    said = said.round(dict.fromkeys(("predicted", "alone"), FITTED_DECIMALS))
    parts = [pd.DataFrame(columns=["cluster"])]
    for dataset, of_dataset in witnesses.items():
        by_name = said[said["dataset"] == dataset].set_index(["target", "decoy"])
        own = [one for one in of_dataset if (one.score.target, one.score.decoy) in by_name.index]
        if not own:
            continue
        table = quality_table(own, dict(by_name["predicted"]), dict(by_name["alone"]))
        about = by_name[["cluster", "fold", "group"]].rename_axis(["target", "name"]).reset_index()
        parts.append(table.merge(about, on=["target", "name"]))
    return pd.concat(parts[1:] or parts, ignore_index=True)


def for_calibration(
    decoys: pd.DataFrame,
    pooled: np.ndarray,
    made: Collection[str],
    calibrated_on: Collection[str],
    poses: Collection[str] = (),
) -> tuple[pd.DataFrame, np.ndarray]:
    """Decoys that were not made around natives, and their vectors, as `calibrate` takes them."""
    kept = ~decoys["group"].isin(made).to_numpy()
    table, seen = decoys[kept].reset_index(drop=True), pooled[kept]
    table["pose"] = table["group"].isin(poses)
    table["for_intervals"] = table["group"].isin(calibrated_on) if calibrated_on else ~table["pose"]
    table["target"] = table["dataset"] + "/" + table["target"]  # names may occur in several data sets
    return table, seen


def lightgbm() -> ModuleType:
    """LightGBM. Raises TrainingError, which says what to install, when it is not there."""
    try:
        import lightgbm
    except ImportError as error:
        raise TrainingError(NO_LIGHTGBM, remedy=INSTALL) from error
    return lightgbm


class TrainingTable:
    """All decoys as trees see them: among all decoys of their target, among some at random, and alone.

    So the number of decoys of a target tells nothing, and a single decoy has a score.
    decoys : as in `Evidence`. made : groups that weigh less.
    """

    def __init__(
        self,
        decoys: pd.DataFrame,
        descriptors: np.ndarray,
        names: list[str],
        similarity: Similarity,
        made: Collection[str] = (),
    ):
        self.decoys, self.names, self.descriptors = decoys, names, descriptors
        self.judges = [[*names, *(f"{name}{ABOVE}" for name in names), *VOTES], [*NETWORK, *VOTES]]
        self.weight = np.where(decoys["group"].isin(made), OF_MADE, 1.0)
        self.weight = self.weight / np.sqrt(decoys.groupby("cluster")["dockq"].transform("size").to_numpy())
        known = dict(zip(names, descriptors.T, strict=True))
        self.seen = [known] * 3
        self.worth = np.clip(self.out_of_fold(names, SEED), 0, 1)
        rng = np.random.default_rng(SEED)
        targets = [*decoys.groupby(["dataset", "target"]).indices.items()]
        some = [rng.choice(rows, rng.integers(2, len(rows) + 1), replace=False) for _, rows in targets if len(rows) > 1]
        known |= {
            name: decoys[f"pred_{column}"].to_numpy(float)
            for name, column in zip(SAID, ("dockq", "local"), strict=True)
        }
        self.seen = [
            {**known, **self._among(known, groups, similarity)}
            for groups in ([rows for _, rows in targets], [np.sort(rows) for rows in some], [])
        ]

    @classmethod
    def of(cls, evidence: Evidence, made: Collection[str]) -> TrainingTable:
        """That of all decoys of some evidence."""
        return cls(evidence.decoys, evidence.descriptors, evidence.names, evidence.similarity, made)

    def _among(
        self, known: dict[str, np.ndarray], groups: list[np.ndarray], similarity: Similarity
    ) -> dict[str, np.ndarray]:
        """What groups of decoys of one target each say of each other; the other decoys are alone."""
        within = self.decoys.groupby(["dataset", "target"]).cumcount().to_numpy()
        keys = list(zip(self.decoys["dataset"], self.decoys["target"], strict=True))
        alone = np.setdiff1d(np.arange(len(self.decoys)), np.concatenate([np.zeros(0, int), *groups]))
        found = []
        for rows in [*groups, *(np.array([i]) for i in alone)]:
            alike = similarity[keys[rows[0]]][np.ix_(within[rows], within[rows])] if len(rows) > 1 else ()
            found.append((rows, vote_inputs(votes(alike, self.worth[rows]))))
        return {**relative(known, groups), **joined(found, len(self.decoys))}

    def grow(self, inputs: list[str], rows: np.ndarray, seed: int, weight: np.ndarray | None = None) -> Forest:
        """Trees that see some rows, bool, (n,). weight : of the decoys, (n,)."""
        weight = self.weight if weight is None else weight
        seen = list(zip(self.seen, WEIGHTS, strict=True)) if set(inputs) - {*self.names} else [(self.seen[0], 1.0)]
        values = np.concatenate([np.column_stack([known[name][rows] for name in inputs]) for known, _ in seen])
        dockq = np.tile(self.decoys["dockq"].to_numpy()[rows], len(seen))
        weight = np.concatenate([weight[rows] * factor for _, factor in seen])
        data = lightgbm().Dataset(values, dockq, weight=weight, feature_name=list(inputs))
        return from_lightgbm(lightgbm().train({**PARAMETERS, "seed": seed}, data, TREES_GROWN).dump_model())

    def trees(self) -> Trees:
        """The trees of a scorer: they see all decoys."""
        everything = np.ones(len(self.decoys), bool)
        alone, *judges = (self.grow(inputs, everything, SEED) for inputs in (self.names, *self.judges))
        return Trees(alone, judges, LEAN)

    def out_of_fold(
        self, inputs: list[str], seed: int, alone: bool = False, weight: np.ndarray | None = None
    ) -> np.ndarray:
        """What a forest of these inputs says of every decoy; it saw none of its cluster. alone : each by itself."""
        fold, found = self.decoys["fold"].to_numpy(), np.full(len(self.decoys), np.nan)
        known = self.seen[2 if alone else 0]
        for k in np.unique(fold):
            here = fold == k
            forest = self.grow(inputs, ~here, seed, weight)
            found[here] = predicted(forest, {name: values[here] for name, values in known.items()})
        return found

    def judged(self, seed: int = SEED) -> dict[str, np.ndarray]:
        """`predicted`, what the scorer says of every decoy out of fold, and `alone`, of each by itself."""
        among, alone = ([self.out_of_fold(each, seed, lone) for each in self.judges] for lone in (False, True))
        return {"predicted": self.leaning(*among), "alone": np.clip(np.mean(alone, axis=0), 0, 1)}

    def leaning(self, *judges: np.ndarray) -> np.ndarray:
        """The mean of what forests say, leaning to the consensus."""
        return leaning(np.mean(judges, axis=0), self.seen[0], LEAN)


def model_card(scorer: Scorer, decoys: pd.DataFrame) -> str:
    """What the scorer is and how good it is out of fold, in Markdown. decoys : with what is `predicted` of each."""
    table = decoys.assign(pred_dockq=decoys["predicted"], target=decoys["dataset"] + "/" + decoys["target"])
    parts = [("all", table), *table.groupby("group")]
    sizes = f"{len(table):,} labelled decoys of {table['target'].nunique():,} targets"
    parts = parts[: 1 if len(parts) == 2 else None]
    return "\n".join([
        "# Model card", "",
        *([f"**{scorer.toy}**", ""] if scorer.toy else []),
        "| | |", "| --- | --- |",
        "| predicts | DockQ of models of protein complexes |",
        f"| made of | {len(scorer.members)} networks{', boosted trees' if scorer.trees else ''}"
        f"{', intervals and domain' if scorer.calibration else ''}"
        f"{', quality of residues and contacts' if scorer.quality else ''}"
        "; `scorer.json` has the SHA-256 of each file |",
        f"| trained on | {sizes} in {table['cluster'].nunique():,} clusters |",
        f"| made at | {git_state()}, the git state of TopoRank |",
        *([f"| lacks | {scorer.missing} |"] if scorer.missing else []), "",
        OF_CLUSTERS if table.groupby("cluster")["fold"].nunique().max() == 1 else OF_TARGETS,
        "Intervals of 95 % are by bootstrap over clusters.", "",
        "| group | targets | clusters | ranking loss | Spearman per target | Spearman, pooled | MAE |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
        *(_card_row(name, part) for name, part in parts), "",
    ])  # fmt: skip


def _card_row(name: str, part: pd.DataFrame) -> str:
    found = summarise(part, clusters=dict(zip(part["target"], part["cluster"], strict=True)))
    of_targets, pooled = found["per_target"], found["pooled"]
    cells = [
        _cell(of_targets["ranking_loss"], "mean"),
        _cell(of_targets["spearman"], "mean"),
        _cell(pooled["spearman"], "value"),
        _cell(pooled["mae"], "value"),
    ]
    return f"| {name} | {found['n_targets']} | {found['n_clusters']} | {' | '.join(cells)} |"


def _cell(measured: Mapping[str, float | None], name: str) -> str:
    value, low, high = (measured[key] for key in (name, "low", "high"))
    if value is None:
        return "–"
    return f"{value:.3f}" if low is None or high is None else f"{value:.3f} ({low:.3f} to {high:.3f})"
