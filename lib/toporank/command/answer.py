"""The answer in a few lines: the best decoy of each target, how far to trust it, and what speaks against it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import groupby
from operator import attrgetter
from pathlib import Path

from toporank import layout
from toporank.decoys.identity import Status
from toporank.evaluation.confidence import LEVEL
from toporank.evaluation.coverage import CoverageRow, read_coverage
from toporank.evaluation.interfaces import hints, read_interfaces
from toporank.evaluation.leakage import SEEN, read_leakage
from toporank.evaluation.metrics import CAPRI_NAMES, capri_class
from toporank.evaluation.ranking import RankedDecoy, read_ranking
from toporank.model.checkpoint import read_description, toy

IN_DETAIL, LISTED = 2, 4
"""Targets up to which each has three lines, and how many have one line where there are more."""
IN_WORDS = {
    Status.PARTNER_APART: "with a partner apart",
    Status.CHAIN_MISSING: "with a chain missing",
    Status.NO_INTERFACE: "without interface",
    Status.UNREADABLE: "unreadable",
    Status.FAILED: "failed",
    Status.NOT_BUILT: "not built",
}


def is_toy(checkpoint: Path | None) -> list[str]:
    """A line that says so, if the scorer is a toy. checkpoint : None for the one that ships."""
    said = toy(read_description(checkpoint)) if checkpoint else ""
    return [said] if said else []


def answer(out: Path, dataset: str) -> tuple[list[str], bool]:
    """The lines about a scored data set, and whether any decoy has a score.

    out : the working directory of the run.
    """

    def result(pattern: str) -> Path:
        return out / pattern.format(dataset=dataset)

    table, coverage = read_ranking(result(layout.RANKING)), read_coverage(result(layout.COVERAGE))
    seen = {row.target for row in read_leakage(result(layout.LEAKAGE)) if row.seen_in_training == SEEN}
    files = {(row.target, row.decoy): row.path for row in coverage}
    targets = [list(rows) for _, rows in groupby(table, key=attrgetter("target"))]
    if len(targets) <= IN_DETAIL:
        lines = [line for rows in targets for line in _in_detail(rows, files, seen)]
    else:
        lines = [_in_short(rows) for rows in targets[:LISTED]]
        more = [f"and {len(targets) - LISTED:,} more"] if len(targets) > LISTED else []
        outside = sum(bool(rows[0].domain) for rows in targets)
        told = {"best decoys out of domain": outside, "targets known from the training": len(seen)}
        against = [f"{n:,} {what}" for what, n in told.items() if n]
        lines += ["; ".join([*more, *against])] if more or against else []
    lines += _without_score(coverage)
    hint = hints(read_interfaces(result(layout.SCORED_INTERFACES)))[:1]
    lines += [line.replace("say partners=", "say --partners ") for line in hint]
    lines += [f"page:    {result(layout.SCORE_REPORT)}", f"ranking: {result(layout.RANKING)}"]
    return lines, any(row.pred_dockq is not None for row in table)


def _in_detail(rows: list[RankedDecoy], files: Mapping[tuple[str, str], str], seen: set[str]) -> list[str]:
    best = rows[0]
    if best.pred_dockq is None:
        return [f"{best.target}: no decoy was scored"]
    file = f"  file: {files.get((best.target, best.decoy), 'unknown')}"
    against = caveats(rows, seen=best.target in seen)
    return [f"{best.target}: {_predicted(rows)}", file, *([f"  but:  {'; '.join(against)}"] if against else [])]


def _in_short(rows: list[RankedDecoy]) -> str:
    best = rows[0]
    if best.pred_dockq is None:
        return f"{best.target}: no decoy was scored"
    return f"{best.target}: {_predicted(rows)}{', out of domain' if best.domain else ''}"


def _predicted(rows: list[RankedDecoy]) -> str:
    best = rows[0]
    place = f"is best of {len(rows):,}" if len(rows) > 1 else "is the only decoy"
    known = best.pred_low is not None
    interval = f", {100 * LEVEL:.0f} % interval {best.pred_low:.2f} to {best.pred_high:.2f}" if known else ""
    return f"{best.decoy} {place}, predicted DockQ {best.pred_dockq:.2f} ({best.pred_capri}{interval})"


def caveats(rows: list[RankedDecoy], *, seen: bool) -> list[str]:
    """What speaks against trusting the first of a target's decoys, in a few words each.

    rows : of one target, best first. seen : whether the networks know the target from training.
    """
    best, second = rows[0], next((row for row in rows[1:] if _another(row, rows[0])), None)
    found = [f"out of domain, {best.domain}"] if best.domain else []
    if best.pred_capri == CAPRI_NAMES[0]:
        found.append("no decoy of this target is predicted to be acceptable")
    if seen:
        found.append("the scorer knows this target from its training")
    if second and best.pred_sd and best.pred_dockq - second.pred_dockq < best.pred_sd:
        close = f"{second.decoy} is as good ({second.pred_dockq:.2f})"
        found.append(f"{close}: the networks disagree by {best.pred_sd:.2f}")
    if best.pred_network is not None:
        alone = CAPRI_NAMES[int(capri_class(best.pred_network))]
        if alone != best.pred_capri:
            found.append(f"the networks alone say {best.pred_network:.2f} ({alone})")
    if best.cluster_rank and best.cluster_rank > 1:
        found.append(f"its cluster ranks {best.cluster_rank} only")
    return found


def _another(row: RankedDecoy, best: RankedDecoy) -> bool:
    """Whether it is scored and neither a copy nor a twin of the best."""
    related = row.twin_of == best.decoy or (row.twin_of and row.twin_of == best.twin_of) or row.decoy == best.twin_of
    return row.pred_dockq is not None and not row.duplicate_of and not related


def _without_score(coverage: Iterable[CoverageRow]) -> list[str]:
    """How many decoys have no score, by status, with the reason of the first; nothing if all have one."""
    rows = [row for row in coverage if row.status in IN_WORDS]
    counts = Counter(row.status for row in rows)
    if not rows:
        return []
    numbers = ", ".join(f"{n:,} {IN_WORDS[status]}" for status, n in counts.most_common())
    return [f"without score: {numbers}, such as {rows[0].target}/{rows[0].decoy}: {rows[0].reason}"]
