"""Write the page of a scored data set, and scripts for PyMOL and ChimeraX beside it."""

from pathlib import Path

from toporank.app.workflow.script import opened
from toporank.report.page import write_page_of
from toporank.scorer.scorer import Scorer

with opened(snakemake) as job:
    write_page_of(Path(job.input.models), Scorer.open(Path(job.params.scorer)))
