"""The labels of a data set that has them from natives, with a split by targets or, by clusters, one
decided later.
"""

from pathlib import Path

from toporank.app.workflow.script import opened
from toporank.building.chunks.plan import read_current
from toporank.building.label_tables import labels
from toporank.building.native_labels import read_labelled
from toporank.finding.labels import split_by_rules, write_labels

with opened(snakemake) as job:
    chunks = read_current(job.dataset).of_all
    of_natives = labels(read_labelled(job.dataset, chunks))
    split = split_by_rules(of_natives, job.params.split)
    write_labels(Path(job.output.labels), split)
