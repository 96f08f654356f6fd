"""Make a scorer from a cross-validation: its networks, its judge, vectors and model card."""

from pathlib import Path

from toporank.app.workflow.script import opened
from toporank.scorer.evidence import CrossValidation
from toporank.scorer.make import make_scorer

with opened(snakemake) as job:
    making = job.params.making
    natives = {name: Path(folder) for name, folder in job.params.natives.items()}
    study = CrossValidation(Path(), job.params.datasets, job.store_folder, natives)
    groups = {*making["quality_of"]} or {*study.decoys["group"]} - {*making["made"]}
    evidence = study.evidence(job.params.runs, job.params.rule, groups)
    scorer = make_scorer(evidence, Path(job.params.folder), made=making["made"])
    n_decoys = len(evidence.decoys)
    made = f"{len(scorer.members)} networks, learned from {n_decoys:,} models"
    job.tell(f"{job.params.folder}: {made} ({scorer.digest})")
    job.tell(*filter(None, [scorer.missing, scorer.toy]))
