"""The page: sections that have something to show, rendered by one template."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemBytecodeCache, PackageLoader, StrictUndefined
from jinja2.utils import htmlsafe_json_dumps

from toporank.files.atomic import first_writable, user_cache
from toporank.learning.checkpoint import toy
from toporank.report import answer, confidence_columns, decoy_map, formatting, rankings, residue_view, run_card, targets
from toporank.report.results import Study
from toporank.scorer.prediction import LEVEL

LISTED = 2
"""The page has a table of all targets where there are more than these."""
_INDENTED = re.compile(r"\n[ \t\n]+<")
"""An element on a line of its own."""


def render(study: Study, folder: Path | None = None) -> str:
    """The page of a study as HTML that loads nothing; the same study gives the same bytes.

    folder : where the page will lie, for links to the files of decoys.
    """
    return compact(environment().get_template("page.html.j2").render(content(study, folder)))


def compact(page: str) -> str:
    """A page without the indentation of its elements: a page of 1,000 targets has 0.15 MB of it.

    >>> compact("<p>\\n    <b>a</b>\\n  text")
    '<p>\\n<b>a</b>\\n  text'
    """
    return _INDENTED.sub("\n<", page)


def environment() -> Environment:
    """What renders the template, in which all text is escaped."""
    found = Environment(
        loader=PackageLoader("toporank.report", "."),
        bytecode_cache=FileSystemBytecodeCache(str(_template_cache())),  # compiling takes longer than the rest
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    found.filters |= {"zip": zip, "number": formatting.number, "counted": formatting.counted}
    found.globals |= {"interval": formatting.interval, "shown": answer.shown}
    return found


def _template_cache() -> Path:
    """A folder for compiled templates."""
    return first_writable([Path(__file__).parent / "__pycache__", user_cache() / "toporank-pages"])


def content(study: Study, folder: Path | None = None) -> dict[str, Any]:
    """What the template shows. An entry that is empty or None leaves its section out."""
    training, assessed = training_content(study), assessment_content(study)
    profiles = residue_view.profiles_for_script(study)
    return {
        "title": study.datasets[0] if len(study.datasets) == 1 else formatting.counted(len(study.datasets), "data set"),
        "several": len(study.datasets) > 1,
        "datasets": study.datasets,
        "balance": run_card.balance(study.decoys),
        "run_card": run_card.run_card(study),
        "scored_with": run_card.scored_with(study),
        "features": run_card.features(study),
        "coverage": run_card.coverage(study),
        "leakage": run_card.leakage(study),
        "confidence": confidence_columns.sections(study),
        **training,
        "targets": rankings.target_lines(study, assessed.pop("metrics")),
        **assessed,
        **answer_content(study),
        "no_map": study.no_map,
        "map_json": as_json(places) if (places := decoy_map.maps_for_script(study)) else "",
        "decoys_json": as_json(rankings.decoys_for_script(study, folder)),
        "residues_json": as_json(profiles) if profiles else "",
        "quality_is_probability": bool(study.scorer and study.scorer.judge),
        "of_graphs": any(row.is_graph for row in study.results),
        "has_truth": len(study.labelled) > 0,
        "order": formatting.ORDERS[study.rank_by],
        "toy": study.scorer.toy if study.scorer else toy(study.checkpoint),
        "level": LEVEL,
        "out_of_domain": rankings.out_of_domain(study),
        "expects": any(row.expected_dockq is not None for row in study.results),
        "has_deviation": any(row.pred_sd is not None for row in study.results),
        "not_scored": run_card.not_scored(study),
    }


def as_json(data: Any) -> str:
    """Data for a script of the page, as short as can be."""
    return htmlsafe_json_dumps(data, separators=(",", ":"), ensure_ascii=False)


def answer_content(study: Study) -> dict[str, Any]:
    """The best decoy of each target and what it looks like, of a page that scores; a study has learned instead."""
    if study.leaderboard is not None or not study.decoys:
        return {
            "answers": [],
            "summary": "",
            "listed_json": "",
            "structures_json": "",
            "viewer": "",
            "n_shown": 0,
            "pictures": {},
            "worst_pae": 0,
        }
    from toporank.report import pae, views  # with gemmi

    found, shown = answer.answers(study), views.embedded(study)
    listed = targets.for_script(study, found) if len(found) > LISTED and len(study.datasets) == 1 else None
    return {
        "answers": found,
        "summary": answer.summary(found),
        "listed_json": as_json(listed) if listed else "",
        "structures_json": as_json(views.for_script(shown)),
        "viewer": views.viewer_packed() if shown else "",
        "n_shown": len(shown),
        "pictures": pae.pictures(study),
        "worst_pae": pae.WORST,
    }


def training_content(study: Study) -> dict[str, Any]:
    """Leaderboard and learning curves, of a page that has them."""
    if study.leaderboard is None:
        return {"leaderboard": None, "curves": []}
    from toporank.report import learning_curves  # with pandas and matplotlib, which take a second to import

    return {"leaderboard": learning_curves.leaderboard(study), "curves": learning_curves.curves(study)}


def assessment_content(study: Study) -> dict[str, Any]:
    """Evaluation, cross-validation and scatter plots, and the metrics of each target by (data set, target)."""
    if not study.evaluations and not study.labelled:
        return {"evaluations": [], "scatter": [], "metrics": {}, "folds": None}
    from toporank.report import assessment

    labelled = assessment.results_table(study.labelled)
    metrics = assessment.target_metrics(labelled)
    return {
        "evaluations": assessment.evaluations(study, metrics),
        "scatter": assessment.scatter(labelled),
        "folds": assessment.cross_validation(study.folds),
        "metrics": {(row["dataset"], row["target"]): row for row in metrics.to_dict("records")},
    }
