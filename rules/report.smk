# A page to look at for each scored data set, and a small one for a study.


localrules:
    report_study,
    report_scores,


rule report_study:
    """Leaderboard, learning curves, metrics and maps of models; and who was seen in training."""
    input:
        evaluations=JOBS.evaluations(),
        leaderboard=layout.FINAL_LEADERBOARD,
        targets=expand(layout.TARGETS, dataset=JOBS.datasets),
        embeddings=expand(layout.EMBEDDINGS, dataset=JOBS.datasets),
        folds=JOBS.fold_metrics(),
    output:
        page=report(layout.REPORT, category="Report"),
        leakage=report(layout.STUDY_LEAKAGE, category="Report"),
    log:
        "logs/report/study.log",
    conda:
        "../envs/report.yaml"
    params:
        code=jobs.step_code(REPOSITORY, "write_study.py"),
    shell:
        "write_study.py --leaderboard {input.leaderboard} --evaluations {input.evaluations} --targets {input.targets}"
        " --embeddings {input.embeddings} --folds {input.folds} --leakage {output.leakage} --page {output.page}"
        " > {log} 2>&1"


rule report_scores:
    """Verdicts, rankings and structures of one data set; and scripts for PyMOL and ChimeraX."""
    input:
        models=layout.MODEL_TABLE,
        tables=[layout.DETAILS, layout.TARGETS, layout.SCORED_INTERFACES, layout.CHAINS, layout.CONFIDENCE],
        further=[layout.RESIDUES, layout.CONTACTS, layout.EMBEDDINGS, layout.SCORED_WITH],
        scorer=JOBS.scorer_files(REPOSITORY),
    output:
        page=report(layout.SCORE_REPORT, category="Report"),
        beside=layout.BESIDE_PAGE,
    log:
        "logs/report/{dataset}.log",
    conda:
        "../envs/report.yaml"
    params:
        scorer=lambda wildcards: JOBS.scorer(REPOSITORY),
        code=jobs.step_code(REPOSITORY, "write_report.py"),
    shell:
        "write_report.py --models {input.models} --scorer {params.scorer:q} > {log} 2>&1"
