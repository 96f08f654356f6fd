"""The jobs that score: a data set is dealt into parts of whole targets, about `workflow.chunk_size` models each."""

from __future__ import annotations

import math
from typing import Any

from toporank import layout
from toporank.app.config import Config
from toporank.app.workflow.jobs import Jobs
from toporank.app.workflow.preflight import Preflight
from toporank.app.workflow.progress import Part
from toporank.building.chunks.plan import part_of, read_chunk


def scoring_jobs(dag: Any, check: Preflight) -> dict[Part, int]:
    """The parts of data sets that a run will score, and how many models each has at most."""
    parts = {}
    for job in dag.needrun_jobs():
        if job.rule.name == "score_targets":
            dataset, part = job.wildcards.dataset, job.wildcards.part
            plan = [row for name in check.current[dataset].chunks for row in check.chunks[dataset][name]]
            parts[Part(dataset, part)] = sum(map(len, part_of(plan, part)))
    return {part: n for part, n in parts.items() if n}


def scoring_options(config: Config) -> str:
    """How models are scored, as options of `score_targets.py` and `collect_scores.py`."""
    options = [f"--rank-by {config.rank_by}"]
    options += [] if config.use_confidence else ["--without-confidence"]
    return " ".join(options)


def models_to_score(jobs: Jobs, wildcards: Any) -> list[str]:
    """What a part of a data set is scored from: the plans of its models or, in a study, what became of them."""
    if not jobs.scoring_only:
        return jobs.ledgers(wildcards)
    current = jobs.current(wildcards.dataset)
    names = current.chunks if current else []
    return [layout.PLAN.format(dataset=wildcards.dataset, chunk=chunk) for chunk in names]


def scored_parts(jobs: Jobs, wildcards: Any) -> list[str]:
    """The scores of all parts of a data set."""
    dataset = wildcards.dataset
    current = jobs.current(dataset)
    if current is None:
        return []
    if jobs.check:
        sizes = [len(jobs.check.chunks[dataset][chunk]) for chunk in current.of_all]
    else:  # in the process of a single job, which reads what the run recorded
        sizes = [len(read_chunk(dataset, chunk)) for chunk in current.of_all]
    n_parts = max(1, math.ceil(sum(sizes) / jobs.config.workflow.chunk_size))
    numbers = range(1, n_parts + 1)
    return [layout.SCORED_PART.format(dataset=dataset, part=f"{n}-of-{n_parts}") for n in numbers]
