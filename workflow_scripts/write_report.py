"""Write the page of a scored data set, and scripts for PyMOL and ChimeraX beside it."""

from pathlib import Path

from toporank.app.workflow.script import opened
from toporank.ranking.scored_folder import ScoredFolder
from toporank.report.page import write_page
from toporank.scorer.scorer import Scorer

with opened(snakemake) as job:
    folder = Path(job.input.models).parent
    write_page(ScoredFolder(folder, Scorer.open(Path(job.params.scorer))), folder)
