"""Write what predictors say of the decoys of a data set."""

from pathlib import Path

from toporank.app.workflow.script import opened
from toporank.building.built import confidence_requests, read_built
from toporank.building.coverage import read_coverage
from toporank.confidence.confidences import confidences
from toporank.confidence.table import INCOMPLETE, NOTHING, write_confidence

with opened(snakemake) as job:
    coverage = read_coverage(Path(job.input.coverage))
    requests = confidence_requests(coverage, read_built(job.dataset), job.store)
    rows = confidences(requests, job.params.plddt)
    write_confidence(Path(job.output.table), rows)
    n_known = sum(row.status != NOTHING for row in rows)
    print(f"{job.dataset}: predictors speak of {n_known} of {len(rows)} models")
    for row in rows:
        if row.status == INCOMPLETE:
            print(f"  {row.target}/{row.decoy}: {row.reason}")
