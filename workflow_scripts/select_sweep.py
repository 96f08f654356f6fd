"""Rank the runs of a sweep under every rule and copy the checkpoint that the rule prefers."""

from pathlib import Path

from toporank.app.workflow.script import opened
from toporank.learning.selection import describe, write_selection

with opened(snakemake) as job:
    summaries = [Path(path) for path in job.input]
    best = Path(job.output.checkpoint).with_suffix("")
    table = Path(job.output.table)
    chosen = write_selection(summaries, job.params.rule, table, best)
    job.tell(*describe(chosen, len(summaries)))
