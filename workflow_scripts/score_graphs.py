"""Score the graphs of another pipeline and rank them."""

from pathlib import Path

from toporank.app.workflow.script import opened
from toporank.building.coverage import read_coverage
from toporank.ranking.leakage import describe
from toporank.ranking.model_table import best_of_each_target
from toporank.ranking.packed_scores import score_pack
from toporank.scorer.scorer import Scorer

with opened(snakemake) as job:
    scorer = Scorer.open(Path(job.params.scorer))
    coverage = read_coverage(Path(job.input.coverage))
    results = score_pack(scorer, Path(job.input.pack), coverage, job.dataset)
    results.write_tables(Path(), of_graphs=True)
    job.tell(f"{len(results.vectors)} graphs scored; the best of each target:")
    job.tell(*(f"  {line}" for line in best_of_each_target(results.facts)))
    job.tell(*filter(None, [scorer.toy, describe(results.leakage)]))
