# A page to look at for each scored data set, and a small one for a study.


localrules:
    report_study,
    report_scores,


rule report_study:
    """Leaderboard, learning curves, metrics and maps of models; and who was seen in training."""
    input:
        evaluations=expand(layout.EVALUATION, dataset=LABELLED),
        leaderboard=layout.FINAL_LEADERBOARD,
        targets=expand(layout.TARGETS, dataset=DATASETS),
        embeddings=expand(layout.EMBEDDINGS, dataset=DATASETS),
        folds=[layout.FOLD_METRICS] if CONFIG.training.cross_validate else [],
    output:
        page=report(layout.REPORT, category="Report"),
        leakage=report(layout.STUDY_LEAKAGE, category="Report"),
    log:
        "logs/report/study.log",
    conda:
        "../envs/report.yaml"
    params:
        code=code("write_study.py"),
    script:
        "../workflow_scripts/write_study.py"


rule report_scores:
    """Verdicts, rankings and structures of one data set; and scripts for PyMOL and ChimeraX."""
    input:
        models=layout.MODEL_TABLE,
        tables=[layout.DETAILS, layout.TARGETS, layout.SCORED_INTERFACES, layout.CHAINS, layout.CONFIDENCE],
        further=[layout.RESIDUES, layout.CONTACTS, layout.EMBEDDINGS, layout.SCORED_WITH],
        scorer=PLANS.scorer_files,
    output:
        page=report(layout.SCORE_REPORT, category="Report"),
        beside=layout.BESIDE_PAGE,
    log:
        "logs/report/{dataset}.log",
    conda:
        "../envs/report.yaml"
    params:
        scorers=PLANS.scorers,
        code=code("write_report.py"),
    script:
        "../workflow_scripts/write_report.py"
