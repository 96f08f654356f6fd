"""Publish the artefacts of a data set as files: interface, topology, nodes and graph of each
decoy.
"""

from toporank.app.workflow.script import opened
from toporank.building.chunks.published import publish
from toporank.learning.pyg_files import as_file

with opened(snakemake) as job:
    written, removed = publish(job.dataset, job.choices, job.store, as_file)
    gone = f"{removed} of models that are gone removed"
    job.tell(f"{job.dataset}: {written} artefacts published, {gone}")
