"""targets.csv: one row for each target with its best model, the verdict, and what changes what one
does with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from toporank.comparing.homology.chain_tables import Chain, sequences_of_chains
from toporank.inputs.confidence.table import INCOMPLETE, OK, Confidence
from toporank.ranking.agreement import OtherChoice, other_choices
from toporank.ranking.frames import frame_of, read_frame
from toporank.ranking.interfaces import InterfaceRow, for_command, partners_hint
from toporank.ranking.leakage import LeakageRow
from toporank.ranking.model_table import JOINED, distinct_models
from toporank.ranking.verdict import BELIEVE, REJECT, VERDICTS
from toporank.scorer.interaction import p_interact
from toporank.structures.identity import Status
from toporank.structures.side_chains import WITHOUT_SIDE_CHAINS

CLOSE = 0.02
"""Expected DockQ by which another model may be lower and still be as good."""
DOUBTFUL_IPTM = 0.6
"""ipTM below which a prediction has likely failed (EMBL-EBI Training, AlphaFold: a practical
guide).
"""
OF_CONFIDENCE = ("iptm", "ipsae", "pdockq2", "interface_plddt")
COLUMNS = (
    "target",
    "verdict",
    "dockq",
    "dockq_low",
    "dockq_high",
    "p_acceptable",
    "capri",
    "p_interact",
    "best",
    "n_models",
    "n_scored",
    "partners",
    "weakest_interface",
    "consensus",
    *OF_CONFIDENCE,
    "n_interface_residues",
    "predictors",
    "caveats",
    "notes",
    "seen_in_training",
    "nearest_training_target",
    "containment",
    "why_seen",
    "file",
)
WHOLE_NUMBERS = ("n_models", "n_scored", "n_interface_residues")
NUMBERS = (
    "dockq",
    "dockq_low",
    "dockq_high",
    "p_acceptable",
    "p_interact",
    "consensus",
    *OF_CONFIDENCE,
    "containment",
)
OUT_OF_DOMAIN = "Unlike what TopoRank learned from, so DockQ is a guess"
BETWEEN = "; "
"""Between the sentences of a cell."""


def target_table(
    models: pd.DataFrame,
    interfaces: Iterable[InterfaceRow] = (),
    confidence: Sequence[Confidence] = (),
    chains: Iterable[Chain] = (),
    leakage: Iterable[LeakageRow] = (),
) -> pd.DataFrame:
    """Return one row for each target, the most promising first: by verdict, probability and DockQ.

    Parameters
    ----------
    models : as from `model_table`
    interfaces, confidence, chains, leakage : rows of the tables of these names

    Returns
    -------
    DataFrame with `COLUMNS`. n_models, n_scored : without copies and intermediate states. partners
    : of the best
    model, as its file names them. p_interact : from the highest ipTM of its models, of more than
    one target.
    predictors : that made the models. caveats : sentences about what changes what one
    does. notes : sentences about what TopoRank decided, and which models have no score. Further
    columns : see
    `model_table`, `Confidence`, `LeakageRow` (`why_seen` is its `why`)
    """
    sequences = sequences_of_chains(chains)
    stated = {(row.target, row.decoy): row for row in confidence}
    choices = other_choices(models, confidence)
    of_leakage = {row.target: row for row in leakage}
    of_interfaces: dict[str, list[InterfaceRow]] = {}
    for row in interfaces:
        of_interfaces.setdefault(row.target, []).append(row)
    several = models["target"].nunique() > 1

    rows = []
    for target, decoys in models.groupby("target", sort=False):
        target_interfaces = of_interfaces.get(target, [])
        row = _row(target, decoys, stated, _partners(target_interfaces), of_leakage.get(target))
        warnings = caveats(decoys, stated, choices.get(target), several=several)
        hint = for_command(partners_hint(target_interfaces, sequences.get(target)))
        row["caveats"] = BETWEEN.join(filter(None, [hint, *warnings]))
        if several:
            of_target = [stated.get((target, decoy)) for decoy in decoys["decoy"]]
            row["p_interact"] = _p_interact(filter(None, of_target))
        row["notes"] = BETWEEN.join(filter(None, [_joined(decoys), lost(decoys)]))
        rows.append(row)
    table = frame_of(rows, COLUMNS, WHOLE_NUMBERS)
    table = table.astype(dict.fromkeys(NUMBERS, float))
    return _most_promising_first(table)


def _row(
    target: str,
    decoys: pd.DataFrame,
    stated: Mapping[tuple[str, str], Confidence],
    partners: Mapping[str, str],
    leakage: LeakageRow | None,
) -> dict[str, Any]:
    distinct = distinct_models(decoys)
    predictors = {
        stated[target, decoy].predictor for decoy in decoys["decoy"] if (target, decoy) in stated
    }
    row: dict[str, Any] = {
        "target": target,
        "n_models": len(distinct),
        "n_scored": int(distinct["dockq"].notna().sum()),
        "predictors": ", ".join(sorted(filter(None, predictors))),
    }
    for name in ("verdict", "capri", "best", "partners", "weakest_interface", "file"):
        row[name] = ""
    if leakage:
        row["seen_in_training"] = leakage.seen_in_training
        row["nearest_training_target"] = leakage.nearest_training_target
        row["containment"] = leakage.containment
        row["why_seen"] = leakage.why
    best = decoys.iloc[0]
    if pd.isna(best["dockq"]):
        return row
    for name in (
        "verdict",
        "dockq",
        "dockq_low",
        "dockq_high",
        "p_acceptable",
        "capri",
        "weakest_interface",
        "consensus",
        "n_interface_residues",
    ):
        row[name] = best[name]
    row["best"] = best["decoy"]
    row["file"] = best["path"]
    row["partners"] = partners.get(best["decoy"], "")
    of_best = stated.get((target, best["decoy"]))
    for name in OF_CONFIDENCE:
        row[name] = getattr(of_best, name, None)
    return row


def _joined(decoys: pd.DataFrame) -> str:
    """Which chains are one partner by nature, in the sentence of the first decoy by name, as in the
    terminal.
    """
    sentences = decoys.loc[decoys[JOINED] != "", ["decoy", JOINED]].sort_values("decoy")
    return "" if sentences.empty else sentences[JOINED].iloc[0]


def _p_interact(rows: Iterable[Confidence]) -> float | None:
    """Probability that the partners interact, from the highest ipTM between them; None where none
    is known.
    """
    known = []
    for row in rows:
        between = row.interface_iptm if row.iptm_of else row.iptm
        if between is not None:
            known.append(between)
    return round(float(p_interact(max(known))), 4) if known else None


def _partners(interfaces: Iterable[InterfaceRow]) -> dict[str, str]:
    """Decoy → its partners, as its file names them, such as `A:H+L`."""
    names: dict[str, set[str]] = {}
    for row in interfaces:
        if row.n_contacts is not None:
            names.setdefault(row.decoy, set()).update((row.chains or row.interface).split(":"))
    return {decoy: ":".join(sorted(partners)) for decoy, partners in names.items()}


def _most_promising_first(table: pd.DataFrame) -> pd.DataFrame:
    places = {verdict: place for place, verdict in enumerate([*VERDICTS, ""])}
    order = {"place": True, "p_acceptable": False, "dockq": False, "target": True}
    table = table.assign(place=table["verdict"].map(places))
    table = table.sort_values(list(order), ascending=list(order.values()), ignore_index=True)
    return table.drop(columns="place")


def caveats(
    decoys: pd.DataFrame,
    stated: Mapping[tuple[str, str], Confidence],
    choice: OtherChoice | None = None,
    *,
    several: bool = False,
) -> list[str]:
    """Return what changes what one does with the best model of a target, in sentences; the most
    important first.

    Parameters
    ----------
    decoys : rows of the target in `model_table`
    stated : (target, decoy) → what predictors say
    choice : the other model that the predictor would pick
    several : whether there are other targets: that each has a single model is then not said of each
    """
    scored = distinct_models(decoys)
    scored = scored[scored["dockq"].notna()]
    if scored.empty:
        return []
    best = decoys.iloc[0]
    others = scored[scored["decoy"] != (best["duplicate_of"] or best["decoy"])]
    sentences = [
        _domain(best),
        _side_chains(best),
        *_of_confidence(best, scored, stated),
    ]
    if best["verdict"] != REJECT:
        sentences += [_rival(best, others), _other_pose(best, others, choice), _doubt(best, stated)]
    if others.empty and not several:
        sentences.append("Only one model was given: five or more make this surer")
    return [sentence for sentence in sentences if sentence]


def _domain(best: pd.Series) -> str:
    why = best["out_of_domain"]
    return f"{OUT_OF_DOMAIN}: {why}" if why else ""


def _side_chains(best: pd.Series) -> str:
    for note in best["reason"].split("; "):
        if WITHOUT_SIDE_CHAINS in note:
            return note
    return ""


def _of_confidence(
    best: pd.Series, scored: pd.DataFrame, stated: Mapping[tuple[str, str], Confidence]
) -> list[str]:
    """What is wrong with the predictor's files, and how many models lack them."""
    target = best["target"]
    row = stated.get((target, best["decoy"]))
    sentences = []
    unused = [
        decoy
        for decoy in scored["decoy"]
        if getattr(stated.get((target, decoy)), "status", "") == INCOMPLETE
    ]
    if unused:
        reason = stated[target, unused[0]].reason
        which = (
            f" of {len(unused)} of {len(scored)} models, such as {unused[0]}"
            if len(scored) > 1
            else ""
        )
        sentences.append(f"TopoRank does not use all files of the predictor{which}: {reason}")
    elif row and row.status == OK and row.reason:
        sentences.append(row.reason)
    without = int(scored["confidence"].isna().sum())
    if 0 < without < len(scored):
        sentences.append(
            f"{without} of {len(scored)} models have no confidence of their predictor and are "
            "scored by structure alone"
            " (--without-confidence scores all that way)"
        )
    return sentences


def _differs(best: pd.Series, other: pd.Series) -> bool:
    """Whether two models bind differently, as far as that is known."""
    return (
        pd.notna(best["cluster"])
        and pd.notna(other["cluster"])
        and best["cluster"] != other["cluster"]
    )


def _rival(best: pd.Series, others: pd.DataFrame) -> str:
    """A model that is as good and binds differently: one has to look at both."""
    for _, other in others.iterrows():
        if best["dockq"] - other["dockq"] >= CLOSE:
            return ""
        if _differs(best, other):
            return (
                f"{other['decoy']} cannot be told apart from it and binds differently: look at both"
            )
    return ""


def _other_pose(best: pd.Series, others: pd.DataFrame, choice: OtherChoice | None) -> str:
    if choice is None:
        return ""
    chosen = others[others["decoy"] == choice.decoy]
    return (
        f"{choice}: it binds differently" if len(chosen) and _differs(best, chosen.iloc[0]) else ""
    )


def _doubt(best: pd.Series, stated: Mapping[tuple[str, str], Confidence]) -> str:
    row = stated.get((best["target"], best["decoy"]))
    if row is None or best["verdict"] != BELIEVE:
        return ""
    iptm = row.iptm if row.interface_iptm is None else row.interface_iptm
    if iptm is None or iptm >= DOUBTFUL_IPTM:
        return ""
    return (
        f"{row.predictor or 'The predictor'} itself doubts it: ipTM {iptm:.2f} is below "
        f"{DOUBTFUL_IPTM}"
    )


def lost(decoys: pd.DataFrame) -> str:
    """Return `2 of 10 models have no score: 1 chain missing, 1 unreadable`, or nothing; copies do
    not count.
    """
    distinct = distinct_models(decoys)
    without = distinct[distinct["dockq"].isna()]
    if without.empty:
        return ""
    counts = without["status"].replace(Status.OK, "not scored").value_counts()
    why = ", ".join(f"{n:,} {status.replace('_', ' ')}" for status, n in counts.items())
    verb = "has" if len(without) == 1 else "have"
    return (
        f"{len(without):,} of {len(distinct):,} model{'s' * (len(distinct) != 1)} {verb} no "
        f"score: {why}"
    )


def read_targets(path: Path | str) -> pd.DataFrame:
    """Read targets.csv. Raises RecordError when a number is expected and it has something else."""
    return read_frame(path, NUMBERS, WHOLE_NUMBERS)
