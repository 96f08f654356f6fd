# Rankings and labels → metrics.


localrules:
    evaluate_ranking,


rule evaluate_ranking:
    """Ranking metrics of each target and split of a labelled data set."""
    input:
        models=layout.MODEL_TABLE,
        details=layout.DETAILS,
        interfaces=layout.SCORED_INTERFACES,
        confidence=layout.CONFIDENCE,
        made=JOBS.label_table,
        splits=JOBS.splits,
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
        code=jobs.step_code(REPOSITORY, "evaluate.py"),
    shell:
        "evaluate.py --models {input.models} --details {input.details} --interfaces {input.interfaces} --labels {params.labels}"
        " --confidence {input.confidence} --splits {input.splits}"
        " --per-target {output.per_target} --summary {output.summary} 2>&1 | tee {log}"
