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
        made=PLANS.label_table,
        splits=lambda wildcards: [layout.SPLITS] if wildcards.dataset in CONFIG.learned_datasets else [],
    output:
        per_target=report(layout.PER_TARGET, category="Evaluation"),
        summary=report(layout.EVALUATION, category="Evaluation"),
    log:
        "logs/evaluation/{dataset}.log",
    conda:
        "../envs/features.yaml"
    params:
        labels=layout.LABELS,
        contents=lambda wildcards: PLANS.contents(wildcards.dataset),
        code=code("evaluate.py"),
    script:
        "../workflow_scripts/evaluate.py"
