"""Write the page of a scored data set, and scripts for PyMOL and ChimeraX beside it."""

from pathlib import Path

from toporank.app.workflow.script import opened
from toporank.ranking.scored_folder import ScoredFolder
from toporank.report.page import write_page
from toporank.scorer.scorer import Scorer

with opened(snakemake) as job:
    scored = ScoredFolder(Path(job.input.models).parent)
    scorers = {each.digest: each for each in map(Scorer.open, job.params.scorers)}
    if scored.record:
        scored.scorer = scorers.get(scored.record.scorer)
    write_page(scored, scored.folder)
