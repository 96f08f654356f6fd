"""compare.html: two runs on one page, a scatter of their best models and the table of targets."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from urllib.parse import quote

from toporank.metrics import ACCEPTABLE, HIGH, MEDIUM
from toporank.report.page import compact, environment
from toporank.report.runs.compare import (
    BETTER,
    BOTH,
    HIGHER,
    ONLY_A,
    ONLY_B,
    SAME,
    SCORED,
    SHOWN_DIGEST,
    Comparison,
    PairRow,
    counts_of,
)
from toporank.report.runs.folder import Run
from toporank.report.targets import TargetRow
from toporank.scorer.conformal import LEVEL

IN_WORDS = {
    BETTER[0]: "A is better",
    BETTER[1]: "B is better",
    HIGHER[0]: "A is higher",
    HIGHER[1]: "B is higher",
    SAME: "no difference",
    SCORED[0]: "score in A only",
    SCORED[1]: "score in B only",
    SCORED[2]: "no score",
    ONLY_A: "only in A",
    ONLY_B: "only in B",
}
"""First code of a row → what the page calls it, in the order of its filter."""
TONES = {BETTER[0]: "test", BETTER[1]: "val"}
"""First code → colour class; grey for all others."""
WHISKERS = 40
"""Points up to which all intervals are drawn; of more, those of targets that a run is better for."""


def render(comparison: Comparison, a: Run, b: Run, folder: Path) -> str:
    """The page as HTML that loads nothing. folder : where it will lie, for links to the files of models."""
    template = environment("toporank.report.runs").get_template("compare.html.j2")
    return compact(template.render(content(comparison, a, b, folder)))


def content(comparison: Comparison, a: Run, b: Run, folder: Path) -> dict[str, Any]:
    """What the template shows."""
    counts = counts_of(comparison)
    shown = [_row(row, folder) for row in comparison.rows]
    points = [row | {"n": n} for n, row in enumerate(shown) if row["difference"] is not None]
    points.sort(key=lambda row: row["tone"] != "")
    return {
        "runs": [_run("A", a), _run("B", b)],
        "alarms": comparison.alarms,
        "notes": comparison.notes,
        "shared": comparison.shared,
        "tiles": [
            ("targets in both", counts.get(BOTH, 0)),
            ("A is better", counts.get(BETTER[0], 0)),
            ("B is better", counts.get(BETTER[1], 0)),
            ("no difference", counts.get(SAME, 0)),
            ("only in A", counts.get(ONLY_A, 0)),
            ("only in B", counts.get(ONLY_B, 0)),
        ],
        "kinds": [(code, name, counts[code]) for code, name in IN_WORDS.items() if counts.get(code)],
        "rows": shown,
        "points": points,
        "whiskers": len(points) <= WHISKERS,
        "thresholds": (ACCEPTABLE, MEDIUM, HIGH),
        "level": LEVEL,
    }


def _run(letter: str, run: Run) -> dict[str, Any]:
    """What the page says of a run as a whole."""
    record, settings = run.record, run.place.settings
    pairs = [
        ("targets", f"{len(run.targets):,}"),
        ("models", f"{sum(row.n_models for row in run.targets.values()):,}"),
        ("scored", f"{sum(row.n_scored for row in run.targets.values()):,}"),
        ("scorer", run.scorer[:SHOWN_DIGEST] or "not recorded"),
        ("its checkpoint", run.place.checkpoint[:SHOWN_DIGEST] or "not recorded"),
        ("TopoRank", record.version if record else "not recorded"),
        *([("partners", settings["partners"])] if "partners" in settings else []),
    ]
    return {"letter": letter, "name": run.place.name, "folder": str(run.place.out), "pairs": pairs}


def _row(row: PairRow, folder: Path) -> dict[str, Any]:
    code = row.codes[0]
    both = {"a": _side(row.a, folder), "b": _side(row.b, folder)}
    known = {name: getattr(row, name) for name in ("target", "name_in_b", "status", "trust", "difference", "why")}
    return known | both | {"code": code, "change": IN_WORDS[code], "more": row.codes[1:], "tone": TONES.get(code, "")}


def _side(row: TargetRow | None, folder: Path) -> dict[str, Any] | None:
    """What the page says of a target in one run; None where the run does not have it."""
    if row is None:
        return None
    link = quote(os.path.relpath(row.file, folder)) if row.file else ""
    return row._asdict() | {"link": link}
