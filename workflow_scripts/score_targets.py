"""Score the models of a part of the targets of a data set."""

from pathlib import Path

from toporank import layout
from toporank.app.workflow.script import opened
from toporank.building.built import read_part
from toporank.building.chunks.plan import by_target
from toporank.building.chunks.store import Store
from toporank.files.atomic import counted_progress, write_text
from toporank.ranking.score import ScoringOptions, TargetScorer
from toporank.ranking.score_targets import score_targets
from toporank.scorer.scorer import Scorer

with opened(snakemake) as job:
    part, in_study = job.wildcards.part, job.params.in_study
    built = read_part(job.dataset, job.params.chunks, fates=in_study)
    progress = Path(layout.PROGRESS.format(dataset=job.dataset, chunk=part))
    scorer = TargetScorer(
        Scorer.open(Path(job.params.scorer)),
        job.choices,
        Store(job.store_folder, graphs_only=not in_study),
        ScoringOptions(plddt=job.params.plddt, **job.params.options),
    )
    results = score_targets(
        scorer,
        by_target(built.plan.values()),
        workers=1,
        show=counted_progress(progress),
        fates=built.fates if in_study else None,
    )
    lines = [f"{result.to_json()}\n" for result in results]
    write_text(job.output.results, "".join(lines))
    print(f"{job.dataset}: {len(results)} targets, {len(built.plan)} models")
