"""Score the graphs of another pipeline and rank them."""

from pathlib import Path

from toporank.app.workflow.script import opened
from toporank.building.coverage import read_coverage
from toporank.learning.checkpoint import choose_fitting
from toporank.ranking.leakage import describe
from toporank.ranking.model_table import best_of_each_target
from toporank.ranking.packed_scores import score_pack
from toporank.scorer.scorer import Scorer

with opened(snakemake) as job:
    pack = Path(job.input.pack)
    scorers = {each.checkpoint: each for each in map(Scorer.open, job.params.scorers)}
    scorer = scorers[choose_fitting([*scorers], [pack])]
    coverage = read_coverage(Path(job.input.coverage))
    results = score_pack(scorer, pack, coverage, job.dataset)
    results.write_tables(Path(), of_graphs=True)
    scored = f"{len(results.vectors)} graphs scored by {scorer.path}"
    job.tell(f"{scored}; the best of each target:")
    job.tell(*(f"  {line}" for line in best_of_each_target(results.facts)))
    job.tell(*filter(None, [scorer.toy, describe(results.leakage)]))
