"""The answer: which decoy of each target to trust, how far, and what speaks against it.

What speaks against it is decided and worded here for the page, the command and MultiQC.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from toporank.inputs.confidence.table import INCOMPLETE, OK
from toporank.metrics import CAPRI_NAMES, class_of
from toporank.ranking.agreement import Disagreement
from toporank.ranking.leakage import SEEN, LeakageRow
from toporank.ranking.ranked import COMPLEX
from toporank.report.formatting import DECIDING, SCORED, counted, fate_name, number
from toporank.report.rankings import joined_of_targets, partners_hints
from toporank.report.results import Result, Study, by_target, models_among
from toporank.structures.side_chains import WITHOUT_SIDE_CHAINS

DISAGREE = 0.15
"""Standard deviation over the networks that is a caveat by itself, or more."""
DOUBTFUL = 0.6
"""ipTM below which a prediction has likely failed (EMBL-EBI Training, AlphaFold: a practical guide)."""
APART = 0.2
"""DockQ by which structure and confidence are apart, if they speak for different CAPRI classes, so that it is said."""
LIKELY, UNLIKELY = 0.75, 0.25
"""Probabilities that a target's best decoy is acceptable from which it is likely, and up to which it is wrong."""
CLOSE = 0.02
"""Predicted DockQ by which another decoy may be behind and still be as good, whatever the networks agree on."""


def answers(study: Study) -> list[dict[str, Any]]:
    """For each target, in the order of `by_target`, its best decoy, the next, and caveats in words.

    `decoys` are the results of the target, `place` is the CAPRI class of the best as a number, `ranked_by` as from
    `ranked_by`, `joined` says which chains are one partner by nature, `hint` which may be one, `lost` as from `lost`.
    """
    known = {(dataset, row.target): row for dataset, rows in study.leakage.items() for row in rows}
    differ = {(dataset, row.target): row for dataset, rows in study.disagreements.items() for row in rows}
    iptm = {
        (d, row.target, row.decoy): row.iptm if row.interface_iptm is None else row.interface_iptm
        for d, rows in study.confidence.items()
        for row in rows
    }
    unused = {
        (d, row.target, row.decoy): row.reason
        for d, rows in study.confidence.items()
        for row in rows
        if row.status == INCOMPLETE
    }
    differing = {
        (d, row.target, row.decoy): row.reason
        for d, rows in study.confidence.items()
        for row in rows
        if row.status == OK and row.reason
    }
    hint, joined = partners_hints(study), joined_of_targets(study)
    return [
        {"dataset": key[0], "target": key[1], "decoys": rows, "hint": hint.get(key, ""), "lost": lost(rows)}
        | {"joined": joined.get(key, "")}
        | _answer(rows, known.get(key), differ.get(key), iptm, unused, differing)
        for key, rows in by_target(study.decoys)
    ]


def _answer(
    rows: list[Result],
    seen: LeakageRow | None,
    differs: Disagreement | None,
    iptm: Mapping[tuple[str, str, str], float | None],
    unused: Mapping[tuple[str, str, str], str],
    differing: Mapping[tuple[str, str, str], str],
) -> dict[str, Any]:
    scored = [row for row in rows if row.pred_dockq is not None]
    if not scored:
        return {"best": None, "place": None, "ranked_by": "", "next": "", "caveats": {}}
    best = scored[0]
    others = [row for row in models_among(scored) if not copies(row, best)]
    place = CAPRI_NAMES.index(best.shown_capri)
    own = iptm.get((best.dataset, best.target, best.decoy))
    said = {"next": following(best, others), "caveats": caveats(best, others, seen, differs, own)}
    if amiss := not_used([best, *others], unused):
        said["caveats"]["confidence_unused"] = amiss
    if difference := differing.get((best.dataset, best.target, best.decoy)):
        said["caveats"]["b_factors_differ"] = difference
    return {"best": best, "place": place, "ranked_by": ranked_by(best), **said}


def caveats(
    best: Result,
    others: list[Result],
    seen: LeakageRow | None = None,
    differs: Disagreement | None = None,
    iptm: float | None = None,
) -> dict[str, str]:
    """What speaks against trusting the first of a target's decoys, code → words; in the order in which it matters.

    others : models that have a score and are no copies of it or of each other, best first. seen : what the networks
    know of the target. differs : where the predictor prefers another decoy. iptm : what it says of the best.
    """
    found: dict[str, str] = {}
    if all(row.shown_capri == CAPRI_NAMES[0] for row in (best, *others)):
        found["none_acceptable"] = "no model is predicted to be acceptable: generate more models before using this one"
    if best.domain:
        found["out_of_domain"] = f"out of domain, so that score and interval are an extrapolation: {best.domain}"
    if seen and seen.seen_in_training == SEEN:
        found["seen_in_training"] = f"seen in training, so that the networks may remember it: {seen.why}"
    spread = best.pred_sd or 0.0
    rival = next((row for row in others if not twins(row, best)), None)
    if rival and abs((best.deciding or 0.0) - (rival.deciding or 0.0)) < max(spread, CLOSE):
        disagree = f": the networks disagree by {spread:.2f}" if spread >= CLOSE else ""
        found["rival"] = f"{rival.decoy} is as good ({number(rival.deciding, 2)}){disagree}"
    elif spread >= DISAGREE:
        found["disagreement"] = f"the networks disagree about it by {spread:.2f}"
    if contrast := apart(best):
        found["apart"] = contrast
    if without := next((note for note in best.reason.split("; ") if WITHOUT_SIDE_CHAINS in note), ""):
        found["no_side_chains"] = without
    if best.pred_network is not None:
        alone = class_of(best.pred_network)
        if alone != class_of(best.pred_dockq if best.pred_structure is None else best.pred_structure):
            found["networks_alone"] = f"the networks alone predict {number(best.pred_network, 2)} ({alone})"
    if best.cluster_rank and best.cluster_rank > 1:
        found["cluster"] = f"its cluster ranks only number {best.cluster_rank}"
    if differs:
        found["predictor_prefers"] = f"{differs.preference}, here number {differs.place} of {differs.n}"
    if not contrast and iptm is not None and iptm < DOUBTFUL and best.shown_capri != CAPRI_NAMES[0]:
        found["predictor_doubts"] = f"the predictor itself doubts it: ipTM {iptm:.2f}, below {DOUBTFUL}"
    if partly := of_some(best, *others):
        found["some_confidence"] = partly
    if not others and best.pred_network is not None:  # the judge looks at the other decoys, too
        found["single"] = "a single model: scores are more reliable with several"
    return found


def apart(best: Result) -> str:
    """`the structure looks right, the predictor doubts it: …`, or nothing where the two agree."""
    structure, confidence = best.pred_structure, best.pred_confidence
    if structure is None or confidence is None:
        return ""
    if class_of(structure) == class_of(confidence) or abs(structure - confidence) < APART:
        return ""
    doubts = "the structure looks right, the predictor doubts it"
    sure = "the predictor is sure of it, the structure does not look right"
    said = doubts if structure > confidence else sure
    return f"{said}: {number(structure, 2)} by structure, {number(confidence, 2)} by confidence"


def of_some(*scored: Result) -> str:
    """`5 of 10 models have no confidence of their predictor: …`, or nothing where all have it, or none has."""
    without = sum(row.pred_confidence is None for row in scored)
    if without in (0, len(scored)):
        return ""
    have, their, them = ("has", "its", "it") if without == 1 else ("have", "their", "them")
    return (
        f"{without:,} of {counted(len(scored), 'model')} {have} no confidence of {their} predictor: TopoRank ranks "
        f"{them} by structure alone, beside the others (`--without-confidence` ranks all by structure)"
    )


def not_used(scored: list[Result], unused: Mapping[tuple[str, str, str], str]) -> str:
    """`TopoRank does not use all that the predictor left of 2 of 5 models, such as a: …`, or nothing.

    scored : models with a score, best first. unused : dataset, target and decoy → why.
    """
    amiss = [row for row in scored if (row.dataset, row.target, row.decoy) in unused]
    if not amiss:
        return ""
    first, n = amiss[0], len(scored)
    why = unused[first.dataset, first.target, first.decoy]
    those = f" of {len(amiss):,} of {n:,} models, such as {first.decoy}" if n > 1 else ""
    return f"TopoRank does not use all that the predictor left{those}: {why}"


def lost(rows: list[Result]) -> str:
    """`2 of 10 models have no score: 1 chain missing, 1 unreadable`, or nothing; copies of models do not count."""
    rows = models_among(rows)
    fates = Counter(row.fate for row in rows if row.fate != SCORED)
    if not fates:
        return ""
    why = ", ".join(f"{n:,} {fate_name(fate)}" for fate, n in fates.most_common())
    return (
        f"{fates.total():,} of {counted(len(rows), 'model')} {'has' if fates.total() == 1 else 'have'} no score: {why}"
    )


def ranked_by(best: Result) -> str:
    """`its weakest interface: 0.31`, or nothing where the score of the complex decided."""
    what = DECIDING[best.ranked_by or COMPLEX]
    return f"{what}: {number(best.deciding, 2)}" if what else ""


def shown(best: Result) -> str:
    """`expected DockQ`, or `predicted DockQ` where it is the score; of its weakest interface, if it has several."""
    kind = "predicted" if best.expected_dockq is None else "expected"
    of = f" of its weakest interface, {best.weakest}," if best.weakest else " of the complex" if best.ranked_by else ""
    return f"{kind} DockQ{of}"


def following(best: Result, others: list[Result]) -> str:
    """Which decoy comes next, with the value that decided, and how far behind it is."""
    if not others:
        return ""
    second = others[0]
    behind = (best.deciding or 0.0) - (second.deciding or 0.0)
    text = f"Next is {second.decoy} with {number(second.deciding, 2)}"
    text += " for its score" if best.expected_dockq is not None and not best.ranked_by else ""
    text += f", {number(behind, 2)} behind" if behind >= 0.005 else ""
    return text + "; its interface is nearly the same" * twins(best, second)


def copies(one: Result, other: Result) -> bool:
    """Whether two decoys have the same atoms."""
    return (one.duplicate_of or one.decoy) == (other.duplicate_of or other.decoy)


def twins(one: Result, other: Result) -> bool:
    """Whether two decoys have nearly the same interface."""
    return (one.twin_of or one.decoy) == (other.twin_of or other.decoy)


def verdict(best: Result | None) -> str:
    """`likely`, `doubtful` or `wrong`: whether the best decoy of a target is acceptable or better.

    Where the probability is unknown, the CAPRI class of its score decides: an acceptable one is doubtful.
    """
    if best is None:
        return ""
    if best.p_acceptable is None:
        return {"incorrect": "wrong", "acceptable": "doubtful"}.get(best.shown_capri, "likely")
    return "likely" if best.p_acceptable >= LIKELY else "wrong" if best.p_acceptable <= UNLIKELY else "doubtful"


def summary(found: list[dict[str, Any]]) -> str:
    """`Of 7 targets the best model is predicted to be high for 5, medium for 1 and acceptable for 1`."""
    classes = Counter(entry["best"].shown_capri for entry in found if entry["best"])
    parts = [f"{name} for {classes[name]:,}" for name in CAPRI_NAMES[::-1] if classes[name]]
    parts += [f"unknown for {n:,}"] if (n := sum(not entry["best"] for entry in found)) else []
    listed = " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]])) if parts else ""
    return f"Of {counted(len(found), 'target')} the best model is predicted to be {listed}"
