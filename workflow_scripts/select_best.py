"""Rank runs under every selection rule and copy the checkpoint that the chosen rule prefers."""

from pathlib import Path

from toporank.app.workflow.script import opened
from toporank.learning.selection import write_ensemble, write_selection
from toporank.scorer.manifest import seal

with opened(snakemake) as job:
    rule = job.params.rule
    summaries = [Path(path) for path in job.input]
    best = Path(job.output.checkpoint)
    chosen = write_selection(
        summaries, rule, Path(job.output.table), best.with_suffix("")
    )
    if final := job.params.get("final"):
        write_ensemble(summaries, rule, Path(job.output.ensemble), final.members)
        seal(best.parent, mean=final.score == "mean")
    place = f"{rule} {chosen[rule]:.4f}, epoch {chosen['epoch']}"
    job.tell(f"{chosen['run']} is best of {len(summaries)} runs: {place}")
    job.tell(*filter(None, [chosen["fine_tuning"]]))
