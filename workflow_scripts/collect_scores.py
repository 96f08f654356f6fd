"""Join the scores of all targets of a data set to its tables."""

from pathlib import Path

from toporank.app.workflow.script import opened
from toporank.building.built import read_built
from toporank.building.chunks.ledger import remove_old
from toporank.building.chunks.plan import read_current
from toporank.building.chunks.store import Store
from toporank.building.planning import recognised
from toporank.ranking.model_table import best_of_each_target
from toporank.ranking.score import ScoringOptions
from toporank.ranking.scored import ScoredTargets
from toporank.ranking.target_result import read_parts
from toporank.scorer.scorer import Scorer

with opened(snakemake) as job:
    in_study = job.params.in_study
    results = ScoredTargets(
        name=job.dataset,
        target_results=read_parts(map(Path, job.input.parts)),
        plan=[*read_built(job.dataset, fates=False).plan.values()],
        scorer=Scorer.open(Path(job.params.scorer)),
        options=ScoringOptions(**job.params.options),
        store=Store(job.store_folder, graphs_only=not in_study),
    )
    results.write_tables(Path(), scores_alone=in_study)
    remove_old(job.dataset, read_current(job.dataset))
    table = results.facts
    n_scored = int(table["dockq"].notna().sum())
    n_without = len(table) - n_scored
    job.tell(
        f"{job.dataset}: {n_scored} models scored, {n_without} not; the best of each target:"
    )
    lines = [*recognised(results.rows("coverage")), *best_of_each_target(table)]
    job.tell(*(f"  {line}" for line in lines), *results.remarks())
