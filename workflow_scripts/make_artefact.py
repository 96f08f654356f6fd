"""Make the artefact of one stage of one decoy, from the artefact of the stage before."""

import sys

from toporank.app.workflow.script import opened
from toporank.building.chunks.published import publish_artefact
from toporank.learning.pyg_files import as_file
from toporank.structures.identity import Status

with opened(snakemake) as job:
    path = job.input.decoy[0] if job.input.decoy else ""
    row = publish_artefact(
        job.dataset,
        job.params.decoy._replace(path=path),
        job.params.stage,
        job.choices,
        job.store,
        as_file,
        record=not job.params.of_all,
    )
    outcome = f"{row.target}/{row.decoy}: {row.status}"
    if row.reason:
        outcome += f": {row.reason}"
    if row.status != Status.OK:
        outcome += f" (at the stage {row.stage})"
    job.tell(outcome)
    if row.status != Status.OK and not job.params.of_all:
        sys.exit(1)
