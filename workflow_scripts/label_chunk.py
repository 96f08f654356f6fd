"""Label the decoys of one chunk by the natives of their targets."""

from pathlib import Path

from toporank.app.workflow.script import opened
from toporank.building.native_labels import label_chunk
from toporank.finding.natives import find_natives

with opened(snakemake) as job:
    natives = find_natives(Path(job.params.natives))
    label_chunk(job.dataset, job.wildcards.chunk, natives, job.store)
