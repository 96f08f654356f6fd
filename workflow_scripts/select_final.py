"""Rank all runs, copy the checkpoint that the rule prefers, and make a scorer of the best."""

from pathlib import Path

from toporank.app.workflow.script import opened
from toporank.learning.selection import describe, write_ensemble, write_selection
from toporank.scorer.manifest import seal

with opened(snakemake) as job:
    rule, final = job.params.rule, job.params.final
    summaries = [Path(path) for path in job.input]
    best = Path(job.output.checkpoint)
    table = Path(job.output.table)
    chosen = write_selection(summaries, rule, table, best.with_suffix(""))
    write_ensemble(summaries, rule, Path(job.output.ensemble), final["members"])
    seal(best.parent, mean=final["score"] == "mean")
    job.tell(*describe(chosen, len(summaries)))
