"""The labels of a data set that has them from natives, with a split by targets or, by clusters, one
decided later.
"""

from pathlib import Path

from toporank.app.workflow.script import opened
from toporank.building.chunks.plan import read_current
from toporank.building.label_tables import labels
from toporank.building.native_labels import read_labelled
from toporank.finding.labels import split_by_target, write_labels

with opened(snakemake) as job:
    rules = job.params.split
    chunks = read_current(job.dataset).of_all
    of_natives = labels(read_labelled(job.dataset, chunks))
    if rules.split_by == "target":
        of_natives = split_by_target(of_natives, rules.percent, rules.seed)
    write_labels(Path(job.output.labels), of_natives)
