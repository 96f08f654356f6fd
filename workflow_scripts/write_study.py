"""Write the page of a study, and which targets of its data sets were seen in training."""

from pathlib import Path

from toporank.app.workflow.script import opened
from toporank.files.atomic import write_text
from toporank.ranking.target_table import seen_in_training
from toporank.report.study_page import render
from toporank.tables.frames import write_frame

with opened(snakemake) as job:
    targets = list(map(Path, job.input.targets))
    folds = job.input.folds
    page = render(
        Path(job.input.leaderboard),
        list(map(Path, job.input.evaluations)),
        list(map(Path, job.input.embeddings)),
        Path(folds[0]) if folds else None,
        ", ".join(path.parent.name for path in targets),
    )
    write_text(job.output.page, page)
    write_frame(seen_in_training(targets), job.output.leakage)
