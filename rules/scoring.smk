# Final checkpoint and graphs → ranked decoys → evaluation against labels.


localrules:
    evaluate_ranking,


rule score_decoys:
    """The ranking of every decoy of a data set, and how each stands among the others of its target."""
    input:
        checkpoint=JOBS.scorer(),
        ensemble=JOBS.ensemble(),
        pack=layout.PACK,
        coverage=layout.COVERAGE,
    output:
        ranking=report(layout.RANKING, category="Ranking"),
        export=layout.MODEL_PRED_DOCKQ,
        comparison=layout.COMPARISON,
    log:
        "logs/scoring/{dataset}.log",
    conda:
        "../envs/learning.yaml"
    resources:
        mem_mb=jobs.raised(4000),
        runtime=jobs.raised(60),
    shell:
        "score.py --dataset {wildcards.dataset} --checkpoint {input.checkpoint:q} --ensemble {input.ensemble:q}"
        ' --pack {input.pack} --coverage {input.coverage} --store "$TOPORANK_STORE" --comparison {output.comparison}'
        " --ranking {output.ranking} --export {output.export} 2>&1 | tee {log}"


rule evaluate_ranking:
    """Ranking metrics of each target and split of a labelled data set."""
    input:
        ranking=layout.RANKING,
    output:
        per_target=report(layout.PER_TARGET, category="Evaluation"),
        summary=report(layout.EVALUATION, category="Evaluation"),
    log:
        "logs/evaluation/{dataset}.log",
    conda:
        "../envs/features.yaml"
    params:
        labels=layout.LABELS,
        contents=JOBS.contents,
    shell:
        "evaluate.py --ranking {input.ranking} --labels {params.labels} --per-target {output.per_target}"
        " --summary {output.summary} 2>&1 | tee {log}"
