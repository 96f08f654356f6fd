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
        evaluations=JOBS.evaluations(),
        leaderboard=layout.FINAL_LEADERBOARD,
        leakage=expand(layout.LEAKAGE, dataset=JOBS.datasets),
        splits=JOBS.splits(),
        folds=JOBS.fold_metrics(),
        checkpoint=JOBS.scorer(REPOSITORY),
    output:
        page=report(layout.REPORT, category="Report"),
        leakage=report(layout.STUDY_LEAKAGE, category="Report"),
    log:
        "logs/report/study.log",
    conda:
        "../envs/report.yaml"
    params:
        rank_by=CONFIG.rank_by,
    shell:
        "write_report.py --coverage {input.coverage} --rankings {input.rankings} --evaluations {input.evaluations}"
        " --interfaces {input.interfaces} --leaderboard {input.leaderboard} --leakage {input.leakage}"
        " --splits {input.splits} --folds {input.folds} --study-leakage {output.leakage}"
        " --checkpoint {input.checkpoint:q} --rank-by {params.rank_by} --page {output.page} > {log} 2>&1"


rule report_scores:
    """Run card, coverage and ranking of one data set."""
    input:
        coverage=layout.COVERAGE,
        ranking=layout.RANKING,
        interfaces=layout.SCORED_INTERFACES,
        leakage=layout.LEAKAGE,
        residues=layout.RESIDUES,
        splits=JOBS.splits(),
        checkpoint=JOBS.scorer(REPOSITORY),
    output:
        page=report(layout.SCORE_REPORT, category="Report"),
    log:
        "logs/report/{dataset}.log",
    conda:
        "../envs/report.yaml"
    params:
        rank_by=CONFIG.rank_by,
    shell:
        "write_report.py --coverage {input.coverage} --rankings {input.ranking} --interfaces {input.interfaces}"
        " --leakage {input.leakage} --residues {input.residues} --splits {input.splits}"
        " --checkpoint {input.checkpoint:q} --rank-by {params.rank_by} --page {output.page} > {log} 2>&1"
