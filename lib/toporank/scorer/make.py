"""Makes a scorer from a cross-validation: its networks, its judge and model card.

The networks' predictions of a decoy come from the fold that was trained without its cluster.
"""

from __future__ import annotations

import shutil
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from toporank.errors import TrainingError
from toporank.files.atomic import write_bytes, write_text
from toporank.learning.provenance import git_state
from toporank.metrics import summarise
from toporank.scorer.fitting import FEWEST_CLUSTERS, Similarity, fit_judge, observations
from toporank.scorer.judge import Judge, write_judge
from toporank.scorer.manifest import (
    CHECKPOINT,
    ENSEMBLE,
    JUDGE,
    MANIFEST,
    seal,
)
from toporank.scorer.prediction import KEY
from toporank.scorer.residue_quality import (
    LabelledContacts,
    QualityCurves,
    fit_quality,
    quality_table,
)
from toporank.scorer.scorer import Scorer

CARD = "README.md"
OF_CLUSTERS = (
    "Out of fold by cluster: the networks had not seen the cluster "
    "of a decoy that they predict."
)
OF_TARGETS = (
    "Out of fold by target alone: the networks had seen other targets of the cluster of a decoy "
    "that they predict"
    " (`split_by: target`), so figures and intervals are too good."
)


@dataclass(frozen=True)
class Evidence:
    """What a scorer is made from.

    It has n labelled decoys and what the networks of a cross-validation say of each.

    Attributes
    ----------
    decoys : (n,) rows `dataset`, `target`, `decoy`, `group`, `cluster`, `fold`, `dockq`;
        `pred_dockq` of the network that was trained without the fold; `n_interface_residues` and
        `n_chains`; the measures `judge.OF_RESIDUES`, missing where they are not known. Decoys of a
        data set and target follow each other.
    similarity : of each target, as `fitting.Similarity`
    networks : those of each fold by name, as `weights.network_bytes` makes them
    best : the name of the best one
    pooled : what that sees of each decoy, (n, d)
    labelled : by data set, decoys whose natives are known
    """

    decoys: pd.DataFrame
    similarity: Similarity
    networks: Mapping[str, bytes]
    best: str
    pooled: np.ndarray
    labelled: Mapping[str, LabelledContacts] = field(default_factory=dict)


def make_scorer(evidence: Evidence, out: Path, *, made: Collection[str] = ()) -> Scorer:
    """Write a scorer into a folder, scorer.json last, and open it.

    A scorer of few clusters has no judge and says so.

    Parameters
    ----------
    evidence : what it is made from
    out : its folder; an older scorer in it is replaced
    made : groups of decoys made around natives, which weigh less

    Raises
    ------
    TrainingError : no decoy is of a group in `made`
    """
    groups = sorted(evidence.decoys["group"].unique())
    unknown = sorted(set(made).difference(groups))
    if unknown:
        raise TrainingError(
            f"no model is of the group {', '.join(map(repr, unknown))}",
            remedy=f"`training.scorer` names groups of the labels: {', '.join(groups)}",
        )
    for name in (MANIFEST, JUDGE):
        (out / name).unlink(missing_ok=True)
    shutil.rmtree(out / ENSEMBLE, ignore_errors=True)
    for name, content in evidence.networks.items():
        write_bytes(out / ENSEMBLE / f"{name}.safetensors", content)
    shutil.copyfile(out / ENSEMBLE / f"{evidence.best}.safetensors", out / CHECKPOINT)
    decoys = evidence.decoys.assign(predicted=evidence.decoys["pred_dockq"])
    judge = fit_judge(decoys, evidence.similarity, evidence.pooled, made)
    if judge is not None:
        decoys = decoys.assign(**expected(judge, decoys, evidence.similarity))
        table = judged_by_natives(evidence.labelled, decoys)
        write_judge(out / JUDGE, judge.model_copy(update={"quality": _quality(table)}))
    seal(out, mean=True)
    scorer = Scorer.open(out)
    write_text(out / CARD, model_card(scorer, decoys))
    return scorer


def expected(
    judge: Judge, decoys: pd.DataFrame, similarity: Similarity
) -> dict[str, np.ndarray]:
    """Return the DockQ to expect, (n,) each.

    `predicted`, of every decoy among all of its target, and `alone`, of each without the
    others.
    """
    apart = decoys.assign(target=np.arange(len(decoys)).astype(str))
    keys = apart[["dataset", "target"]].itertuples(index=False, name=None)
    itself = {key: np.ones((1, 1)) for key in keys}
    rows_of = {
        "predicted": observations(judge, decoys, similarity, [None]),
        "alone": observations(judge, apart, itself, [1]),
    }
    dockq = {}
    for name, rows in rows_of.items():
        level, above, confidence = (
            rows.sort_values("place")[["level", "above", "confidence"]].to_numpy().T
        )
        dockq[name] = judge.expected(level, above, confidence)
    return dockq


def _quality(table: pd.DataFrame) -> QualityCurves | None:
    """Curves of residues and contacts, None where natives label decoys of too few clusters."""
    return fit_quality(table) if table["cluster"].nunique() >= FEWEST_CLUSTERS else None


def judged_by_natives(
    labelled: Mapping[str, LabelledContacts], decoys: pd.DataFrame
) -> pd.DataFrame:
    """Return the residues and contacts of labelled decoys, as from `quality_table`.

    They have `cluster`, `fold` and `group` of their decoys.

    Parameters
    ----------
    labelled : by data set
    decoys : as in `Evidence`, with what is `predicted` of each among others, and `alone`
    """
    parts = [pd.DataFrame(columns=["cluster"])]
    for dataset, of_dataset in labelled.items():
        if of_dataset.residues.empty:
            continue
        of_decoys = decoys[decoys["dataset"] == dataset]
        by_name = of_decoys.set_index(KEY)
        table = quality_table(
            of_dataset, dict(by_name["predicted"]), dict(by_name["alone"])
        )
        about = of_decoys[[*KEY, "cluster", "fold", "group"]].rename(
            columns={"decoy": "name"}
        )
        parts.append(table.merge(about, on=["target", "name"]))
    return pd.concat(parts[1:] or parts, ignore_index=True)


CARD_TEXT = """\
# Model card

{toy}| | |
| --- | --- |
| predicts | DockQ of models of protein complexes |
| made of | {parts}; `scorer.json` has the SHA-256 of each file |
| trained on | {sizes} |
| made at | {commit}, the git state of TopoRank |
{lacks}
{folds}
Intervals of 95 % are by bootstrap over clusters.

| group | targets | clusters | ranking loss | Spearman per target | Spearman, pooled | MAE |
| --- | ---: | ---: | ---: | ---: | ---: | ---: |
{rows}
"""


def model_card(scorer: Scorer, decoys: pd.DataFrame) -> str:
    """Return what the scorer is and how good it is out of fold, in Markdown.

    Parameters
    ----------
    scorer : that was made
    decoys : as in `Evidence`, with what is `predicted` of each
    """
    table = decoys.assign(
        pred_dockq=decoys["predicted"],
        target=decoys["dataset"] + "/" + decoys["target"],
    )
    rows = [_card_row("all", table)]
    groups = list(table.groupby("group"))
    if len(groups) > 1:
        rows += [_card_row(name, part) for name, part in groups]
    n_targets = table["target"].nunique()
    n_clusters = table["cluster"].nunique()
    is_by_cluster = table.groupby("cluster")["fold"].nunique().max() == 1
    return CARD_TEXT.format(
        toy=f"**{scorer.toy}**\n\n" if scorer.toy else "",
        parts=f"{len(scorer.members)} networks{' and a judge' if scorer.judge else ''}",
        sizes=f"{len(table):,} labelled decoys of {n_targets:,} targets in {n_clusters:,} clusters",
        commit=git_state(),
        lacks=f"| lacks | {scorer.missing} |\n" if scorer.missing else "",
        folds=OF_CLUSTERS if is_by_cluster else OF_TARGETS,
        rows="\n".join(rows),
    )


def _card_row(name: str, part: pd.DataFrame) -> str:
    summary = summarise(
        part, clusters=dict(zip(part["target"], part["cluster"], strict=True))
    )
    of_targets, pooled = summary["per_target"], summary["pooled"]
    cells = [
        _cell(of_targets["ranking_loss"], "mean"),
        _cell(of_targets["spearman"], "mean"),
        _cell(pooled["spearman"], "value"),
        _cell(pooled["mae"], "value"),
    ]
    return f"| {name} | {summary['n_targets']} | {summary['n_clusters']} | {' | '.join(cells)} |"


def _cell(measured: Mapping[str, float | None], name: str) -> str:
    value, low, high = measured[name], measured["low"], measured["high"]
    if value is None:
        return "–"
    interval = "" if low is None or high is None else f" ({low:.3f} to {high:.3f})"
    return f"{value:.3f}{interval}"
