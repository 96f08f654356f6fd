# One page to look at, for the whole study and for each scored data set.


localrules:
    report_study,
    report_scores,


rule report_study:
    """Run card, coverage, leaderboard, learning curves, predicted against true, rankings; and who was seen in training."""
    input:
        coverage=expand(layout.COVERAGE, dataset=JOBS.datasets),
        rankings=JOBS.rankings(),
        interfaces=expand(layout.SCORED_INTERFACES, dataset=JOBS.datasets),
        confidence=expand(layout.CONFIDENCE, dataset=JOBS.datasets),
        evaluations=JOBS.evaluations(),
        leaderboard=layout.FINAL_LEADERBOARD,
        leakage=expand(layout.LEAKAGE, dataset=JOBS.datasets),
        embeddings=expand(layout.EMBEDDINGS, dataset=JOBS.datasets),
        splits=JOBS.splits(),
        folds=JOBS.fold_metrics(),
        scorer=JOBS.scorer_files(REPOSITORY),
    output:
        page=report(layout.REPORT, category="Report"),
        leakage=report(layout.STUDY_LEAKAGE, category="Report"),
    log:
        "logs/report/study.log",
    conda:
        "../envs/report.yaml"
    params:
        scorer=lambda wildcards: JOBS.scorer(REPOSITORY),
        code=jobs.step_code(REPOSITORY, "write_report.py"),
    shell:
        "write_report.py --coverage {input.coverage} --rankings {input.rankings} --evaluations {input.evaluations}"
        " --interfaces {input.interfaces} --confidence {input.confidence} --leaderboard {input.leaderboard}"
        " --leakage {input.leakage} --embeddings {input.embeddings} --splits {input.splits} --folds {input.folds}"
        " --study-leakage {output.leakage} --scorer {params.scorer:q} --page {output.page} > {log} 2>&1"


rule report_scores:
    """The answer, ranking, coverage and run card of one data set; and the same for PyMOL, ChimeraX and MultiQC."""
    input:
        coverage=layout.COVERAGE,
        ranking=layout.RANKING,
        interfaces=layout.SCORED_INTERFACES,
        chains=layout.CHAINS,
        confidence=layout.CONFIDENCE,
        leakage=layout.LEAKAGE,
        embeddings=layout.EMBEDDINGS,
        residues=layout.RESIDUES,
        splits=JOBS.splits(),
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
        "write_report.py --coverage {input.coverage} --rankings {input.ranking} --interfaces {input.interfaces}"
        " --chains {input.chains} --leakage {input.leakage} --confidence {input.confidence} --embeddings {input.embeddings}"
        " --residues {input.residues} --splits {input.splits} --scorer {params.scorer:q}"
        " --beside --page {output.page} > {log} 2>&1"
