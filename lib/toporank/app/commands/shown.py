"""The answer in a few lines: the best decoy of each target, how far to trust it, and what speaks against it."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from toporank import layout
from toporank.building.coverage import read_coverage
from toporank.comparing.homology.chain_tables import read_chains, sequences_of_chains
from toporank.errors import ConfigError
from toporank.inputs.confidence.table import Confidence, read_confidence
from toporank.inputs.confidence.unread import UNREAD
from toporank.ranking.agreement import disagreements
from toporank.ranking.interfaces import for_command, hints, read_interfaces
from toporank.ranking.leakage import SEEN, read_leakage
from toporank.ranking.ranked import read_ranking
from toporank.report.answer import answers, lost, shown
from toporank.report.formatting import SCORED
from toporank.report.results import Study, joined_results, models_among
from toporank.report.run_card import reason_not_scored
from toporank.report.targets import target_rows
from toporank.scorer.prediction import LEVEL
from toporank.scorer.scorer import Scorer

IN_DETAIL, LISTED = 2, 10
"""Targets up to which each has three lines, and how many have one line where there are more: the most promising."""


def about_scorer(path: Path | None) -> list[str]:
    """Lines that say what a scorer does without, and whether it is a toy. path : None for the one that ships."""
    if path is None:
        return []
    scorer = Scorer.open(path)
    return [line for line in (scorer.missing, scorer.toy) if line]


def answer(out: Path, dataset: str) -> tuple[list[str], bool]:
    """The lines about a scored data set, and whether any decoy has a score.

    out : the working directory of the run.
    """

    def result(pattern: str) -> Path:
        return out / pattern.format(dataset=dataset)

    study = study_of(out, dataset)
    found = answers(study)
    if len(found) <= IN_DETAIL:
        lines = [line for entry in found for line in _in_detail(entry)]
    else:
        by_target = {entry["target"]: entry for entry in found}
        rows = target_rows(study)
        lines = [_in_short(by_target[row.target]) for row in rows[:LISTED]]
        counts = Counter(row.verdict for row in rows)
        kinds = ", ".join(f"{counts[kind]:,} {kind}" for kind in ("likely", "doubtful", "wrong") if counts[kind])
        lines += _unread(study.confidence[dataset])
        lines.append(f"of {len(rows):,} targets the best model is acceptable or better: {kinds or 'unknown'}")
        more = [f"{len(found) - LISTED:,} more targets in targets.csv"] if len(found) > LISTED else []
        outside = sum(bool(entry["best"] and entry["best"].domain) for entry in found)
        seen = sum(row.seen_in_training == SEEN for row in study.leakage[dataset])
        told = {"best models out of domain": outside, "targets seen in training": seen}
        against = [f"{n:,} {what}" for what, n in told.items() if n]
        lines += ["; ".join([*more, *against])] if more or against else []
    if missing := lost(study.decoys):
        first = next(row for row in models_among(study.decoys) if row.fate != SCORED)
        lines.append(f"{missing}, such as {first.target}/{first.decoy}: {reason_not_scored(first)}")
    hint = hints(study.interfaces[dataset], study.sequences[dataset])[:1]
    lines = [*map(for_command, hint), *lines]
    lines += [f"page:    {result(layout.SCORE_REPORT)}", f"ranking: {result(layout.RANKING)}"]
    lines += [f"targets: {result(layout.TARGETS)}"] if len(found) > 1 else []
    return lines, any(entry["best"] for entry in found)


def answer_folder(given: Path) -> Path:
    """The folder `results/scores/<name>` of an answer. given : that folder, or the OUT of a command.

    Raises ConfigError without an answer, or with several where OUT does not say which was the last.
    """
    table = Path(layout.RANKING).name
    if (given / table).is_file():
        return given.resolve()
    what = "there is no ranking in this folder" if given.is_dir() else "there is no such folder"
    folders = sorted(path.parent for path in given.glob(layout.RANKING.format(dataset="*")))
    if not folders:
        raise ConfigError(what, where=given, remedy="give the folder that `toporank score` wrote")
    settings = given / layout.SETTINGS
    last = json.loads(settings.read_text(encoding="utf-8")).get("score_name") if settings.is_file() else None
    chosen = [folder for folder in folders if folder.name == last] or folders
    if len(chosen) > 1:
        several = ", ".join(map(str, folders))
        raise ConfigError("several folders were scored here", where=given, remedy=f"give one of {several}")
    return chosen[0].resolve()


def study_of(out: Path, dataset: str) -> Study:
    """What the answer is made of. out, dataset : as for `answer`."""

    def result(pattern: str) -> Path:
        return out / pattern.format(dataset=dataset)

    table = read_ranking(result(layout.RANKING))
    results = joined_results(dataset, read_coverage(result(layout.COVERAGE)), table)
    said = read_confidence(result(layout.CONFIDENCE))
    known = {
        "interfaces": {dataset: read_interfaces(result(layout.SCORED_INTERFACES))},
        "sequences": {dataset: sequences_of_chains(read_chains(result(layout.CHAINS)))},
        "leakage": {dataset: read_leakage(result(layout.LEAKAGE))},
        "confidence": {dataset: said},
        "disagreements": {dataset: disagreements(table, said)},
    }
    return Study([dataset], results, {}, None, {}, {}, **known)


def _unread(rows: list[Confidence]) -> list[str]:
    """Which files of predictors are not read, a line for each folder; one more where there are many folders."""
    parts = [part for row in rows for part in row.reason.split("; ") if part.startswith(UNREAD)]
    lines = [*dict.fromkeys(parts)]
    more = [f"so it is in {len(lines) - LISTED:,} more folders (confidence.csv)"] if len(lines) > LISTED else []
    return [*lines[:LISTED], *more]


def _in_detail(entry: dict[str, Any]) -> list[str]:
    best = entry["best"]
    if best is None:
        return [_in_short(entry)]
    against = [f"  but:  {'; '.join(entry['caveats'].values())}"] if entry["caveats"] else []
    return [f"{best.target}: {_predicted(entry)}", f"  file: {best.path}", *against]


def _in_short(entry: dict[str, Any]) -> str:
    best = entry["best"]
    if best is None:
        return f"{entry['target']}: no model was scored"
    return f"{best.target}: {_predicted(entry)}{', out of domain' if best.domain else ''}"


def _predicted(entry: dict[str, Any]) -> str:
    best, models = entry["best"], models_among(entry["decoys"])
    n = sum(row.fate == SCORED for row in models)
    alone = "is the only model" if len(models) == 1 else "is the only model with a score"
    place = f"is best of {n:,}" if n > 1 else alone
    known = best.pred_low is not None
    interval = f", {100 * LEVEL:.0f} % interval {best.pred_low:.2f} to {best.pred_high:.2f}" if known else ""
    decided = f", ranked by {entry['ranked_by']};" if entry["ranked_by"] else ","
    p = best.p_acceptable
    probable = "" if p is None else f", acceptable or better with a probability of {100 * p:.0f} %"
    dockq = f"{shown(best)} {best.shown_dockq:.2f} ({best.shown_capri}{interval})"
    return f"{best.decoy} {place}{decided} {dockq}{probable}"
