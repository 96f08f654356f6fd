"""Makes a scorer from a cross-validation: its networks, its judge, vectors and model card.

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
from toporank.scorer.embeddings import write_training_vectors
from toporank.scorer.fitting import FEWEST_CLUSTERS, Similarity, fit_judge, observations
from toporank.scorer.judge import Judge, write_judge
from toporank.scorer.manifest import CHECKPOINT, ENSEMBLE, JUDGE, MANIFEST, VECTORS, seal
from toporank.scorer.prediction import Score
from toporank.scorer.residue_quality import Quality, Witness, fit_quality, quality_table
from toporank.scorer.scorer import Scorer

CARD = "README.md"
OF_CLUSTERS = (
    "Out of fold by cluster: the networks had not seen the cluster of a decoy that they predict."
)
OF_TARGETS = (
    "Out of fold by target alone: the networks had seen other targets of the cluster of a decoy "
    "that they predict"
    " (`split_by: target`), so figures and intervals are too good."
)


@dataclass(frozen=True)
class Evidence:
    """What a scorer is made from: n labelled decoys and what the networks of a cross-validation say
    of each.

    Attributes
    ----------
    decoys : (n,) rows `dataset`, `target`, `decoy`, `group`, `cluster`, `fold`, `dockq`;
        `pred_dockq` of the network
        that was trained without the fold; `n_interface_residues` and `n_chains`; the measures
        `judge.OF_RESIDUES`, missing where they are not known. Decoys of a data set and target
        follow each other.
    similarity : of each target, as `fitting.Similarity`
    networks : those of each fold by name, as `weights.network_bytes` makes them
    best : the name of the best one
    pooled : what that sees of each decoy, (n, d)
    sample : of some decoys, with their pooled vectors
    witnesses : by data set, decoys whose natives are known
    """

    decoys: pd.DataFrame
    similarity: Similarity
    networks: Mapping[str, bytes]
    best: str
    pooled: np.ndarray
    sample: list[Score]
    witnesses: Mapping[str, list[Witness]] = field(default_factory=dict)


def make_scorer(evidence: Evidence, out: Path, *, made: Collection[str] = ()) -> Scorer:
    """Write a scorer into a folder, scorer.json last, and open it.

    Of decoys of few clusters it has no judge, and says so itself.

    Parameters
    ----------
    evidence : what it is made from
    out : its folder; a scorer that is there is replaced
    made : groups of decoys made around natives, which weigh less

    Raises
    ------
    TrainingError : no decoy is of a group in `made`
    """
    groups = sorted({*evidence.decoys["group"]})
    if unknown := sorted({*made}.difference(groups)):
        what = f"no decoy is of the group {', '.join(map(repr, unknown))}"
        raise TrainingError(
            what, remedy=f"`training.scorer` names groups of the labels: {', '.join(groups)}"
        )
    _start_anew(out)
    for name, content in evidence.networks.items():
        write_bytes(out / ENSEMBLE / f"{name}.safetensors", content)
    shutil.copyfile(out / ENSEMBLE / f"{evidence.best}.safetensors", out / CHECKPOINT)
    decoys = evidence.decoys.assign(predicted=evidence.decoys["pred_dockq"])
    judge = fit_judge(decoys, evidence.similarity, evidence.pooled, made)
    if judge is not None:
        decoys = decoys.assign(**expected(judge, decoys, evidence.similarity))
        judge = judge.model_copy(update={"quality": _quality(evidence.witnesses, decoys)})
        write_judge(out / JUDGE, judge)
    seal(out, mean=True)
    scorer = Scorer.open(out)
    sample = {(score.target, score.decoy): np.array(score.pooled) for score in evidence.sample}
    write_training_vectors(out / VECTORS, sample, scorer.digests[scorer.checkpoint])
    seal(out, mean=True)
    scorer = Scorer.open(out)
    write_text(out / CARD, model_card(scorer, decoys))
    return scorer


def _start_anew(out: Path) -> None:
    for name in (MANIFEST, JUDGE, VECTORS):
        (out / name).unlink(missing_ok=True)
    shutil.rmtree(out / ENSEMBLE, ignore_errors=True)
    (out / ENSEMBLE).mkdir(parents=True)


def expected(judge: Judge, decoys: pd.DataFrame, similarity: Similarity) -> dict[str, np.ndarray]:
    """DockQ to expect, (n,) each: `predicted`, of every decoy among all of its target, and `alone`,
    by itself.
    """
    found = {}
    for name, size in (("predicted", None), ("alone", 1)):
        if size is None:
            rows = observations(judge, decoys, similarity, [size])
        else:
            each = decoys.assign(target=[f"{i}" for i in range(len(decoys))])
            single = {
                key: np.ones((1, 1)) for key in zip(each["dataset"], each["target"], strict=True)
            }
            rows = observations(judge, each, single, [size])
        values = judge.expected(
            *(rows[column].to_numpy() for column in ("level", "above", "confidence"))
        )
        found[name] = pd.Series(values, index=rows["place"]).sort_index().to_numpy()
    return found


def _quality(witnesses: Mapping[str, list[Witness]], decoys: pd.DataFrame) -> Quality | None:
    """Curves of residues and contacts, None where natives label decoys of too few clusters."""
    table = judged_by_natives(witnesses, decoys)
    return fit_quality(table) if table["cluster"].nunique() >= FEWEST_CLUSTERS else None


def judged_by_natives(witnesses: Mapping[str, list[Witness]], decoys: pd.DataFrame) -> pd.DataFrame:
    """The residues and contacts of witnesses, as from `quality_table`, and `cluster`, `fold` and
    `group` of decoys.

    decoys : as in `Evidence`, with what is `predicted` of each among others, and `alone`.
    """
    parts = [pd.DataFrame(columns=["cluster"])]
    for dataset, of_dataset in witnesses.items():
        by_name = decoys[decoys["dataset"] == dataset].set_index(["target", "decoy"])
        labelled = [
            one for one in of_dataset if (one.score.target, one.score.decoy) in by_name.index
        ]
        if labelled:
            table = quality_table(labelled, dict(by_name["predicted"]), dict(by_name["alone"]))
            about = (
                by_name[["cluster", "fold", "group"]].rename_axis(["target", "name"]).reset_index()
            )
            parts.append(table.merge(about, on=["target", "name"]))
    return pd.concat(parts[1:] or parts, ignore_index=True)


def model_card(scorer: Scorer, decoys: pd.DataFrame) -> str:
    """What the scorer is and how good it is out of fold, in Markdown. decoys : with what is
    `predicted` of each.
    """
    table = decoys.assign(
        pred_dockq=decoys["predicted"], target=decoys["dataset"] + "/" + decoys["target"]
    )
    parts = [("all", table), *table.groupby("group")]
    sizes = f"{len(table):,} labelled decoys of {table['target'].nunique():,} targets"
    parts = parts[: 1 if len(parts) == 2 else None]
    return "\n".join(
        [
            "# Model card",
            "",
            *([f"**{scorer.toy}**", ""] if scorer.toy else []),
            "| | |",
            "| --- | --- |",
            "| predicts | DockQ of models of protein complexes |",
            f"| made of | {len(scorer.members)} networks{' and a judge' if scorer.judge else ''}"
            "; `scorer.json` has the SHA-256 of each file |",
            f"| trained on | {sizes} in {table['cluster'].nunique():,} clusters |",
            f"| made at | {git_state()}, the git state of TopoRank |",
            *([f"| lacks | {scorer.missing} |"] if scorer.missing else []),
            "",
            OF_CLUSTERS if table.groupby("cluster")["fold"].nunique().max() == 1 else OF_TARGETS,
            "Intervals of 95 % are by bootstrap over clusters.",
            "",
            "| group | targets | clusters | ranking loss | Spearman per target | Spearman, pooled "
            "| "
            "MAE |",
            "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
            *(_card_row(name, part) for name, part in parts),
            "",
        ]
    )


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
    return (
        f"{value:.3f}" if low is None or high is None else f"{value:.3f} ({low:.3f} to {high:.3f})"
    )
