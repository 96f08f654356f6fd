"""Take the decoys of one chunk through all feature stages."""

from toporank.app.workflow.script import opened
from toporank.building.chunks.chunk import run_chunk
from toporank.building.native_labels import dockq_of

with opened(snakemake) as job:
    chunk = job.wildcards.chunk
    labels = dockq_of(job.dataset, chunk) if job.input.labels else None
    run_chunk(job.dataset, chunk, job.choices, job.store, labels)
