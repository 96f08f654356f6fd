"""Train one network; resumes an interrupted run."""

import logging
from pathlib import Path

from toporank import layout
from toporank.app.workflow.script import LastLine, opened
from toporank.learning.checkpoint import choose_fitting
from toporank.learning.run import Run
from toporank.learning.train import TrainingGraphs, train_run

with opened(snakemake) as job:
    packs = list(map(Path, job.input.packs))
    parents = list(map(Path, job.input.get("parent", ())))
    parent = choose_fitting(parents, packs) if parents else None
    fold = job.wildcards.get("fold")
    validation = job.input.get("validation")
    run = Run.parse(job.wildcards.run, job.params.run, parent)
    source = TrainingGraphs(
        packs=packs,
        validation=list(map(Path, validation)) if validation else None,
        splits=Path(job.input.splits),
        fold=int(fold) if fold else None,
        chains=list(map(Path, job.input.chains)),
    )
    epochs = LastLine(layout.progress_of_run(job.params.folder))
    logging.getLogger("toporank.learning.lightning").addHandler(epochs)
    output = Path(job.params.folder)
    train_run(run, source, job.threads, output, job.store_folder)
