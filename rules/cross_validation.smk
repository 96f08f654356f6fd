# Packs → a sweep for each fold → predictions of decoys whose cluster was not trained on → metrics of groups of decoys, a scorer.


localrules:
    cross_validate,


rule cross_validate:
    """Out-of-fold predictions of every labelled model by every configuration, and their metrics."""
    input:
        layout.FOLD_PREDICTIONS,
        layout.FOLD_METRICS,


rule train_fold:
    """One configuration with one seed, without the targets of a fold."""
    input:
        packs=expand(layout.PACK, dataset=TRAINED_ON),
        checks=expand(layout.COVERAGE_CHECK, dataset=TRAINED_ON),
        chains=expand(layout.CHAINS, dataset=TRAINED_ON),
        splits=layout.SPLITS,
    output:
        layout.run_files(layout.FOLD_RUN),
        directory(layout.runners_up(layout.FOLD_RUN)),
    log:
        "logs/cross_validation/fold{fold}/{run}.log",
    benchmark:
        "logs/benchmarks/cross_validation/fold{fold}/{run}.tsv"
    wildcard_constraints:
        fold=r"\d+",
    conda:
        "../envs/learning.yaml"
    threads: cores_of(len(SWEEP) * len(FOLDS))
    resources:
        mem_mb=inputs.more_each_attempt(6000),
        runtime=inputs.more_each_attempt(720),
        gpu=CONFIG.training.gpus,
    params:
        run=PLANS.training_parameters,
        code=TRAINING_CODE,
        folder=layout.FOLD_RUN,
    script:
        "../workflow_scripts/train.py"


rule predict_folds:
    """Predictions of the networks for the fold they were trained without, and metrics with intervals over clusters."""
    input:
        summaries=expand(layout.FOLD_RUN + layout.SUMMARY, fold=FOLDS, run=SWEEP),
        packs=expand(layout.PACK, dataset=TRAINED_ON),
        splits=layout.SPLITS,
    output:
        predictions=report(layout.FOLD_PREDICTIONS, category="Cross-validation"),
        metrics=report(layout.FOLD_METRICS, category="Cross-validation"),
    log:
        "logs/cross_validation/predictions.log",
    conda:
        "../envs/learning.yaml"
    resources:
        mem_mb=inputs.more_each_attempt(4000),
        runtime=inputs.more_each_attempt(60),
    params:
        rule=CONFIG.training.selection.rule,
        datasets=TRAINED_ON,
        code=code("cross_validate.py"),
    script:
        "../workflow_scripts/cross_validate.py"


rule make_scorer:
    """A complete scorer: the networks of the folds, the judge that was fitted to them, and its model card."""
    input:
        summaries=expand(layout.FOLD_RUN + layout.SUMMARY, fold=FOLDS, run=CONFIG.scorer_runs),
        packs=expand(layout.PACK, dataset=TRAINED_ON),
        coverage=expand(layout.COVERAGE, dataset=TRAINED_ON),
        confidence=expand(layout.CONFIDENCE, dataset=TRAINED_ON),
        splits=layout.SPLITS,
    output:
        scorer=layout.MADE_MANIFEST,
        card=report(layout.MADE_CARD, category="Cross-validation"),
    log:
        "logs/cross_validation/scorer.log",
    conda:
        "../envs/making.yaml"
    resources:
        mem_mb=inputs.more_each_attempt(4000),
        runtime=inputs.more_each_attempt(120),
    params:
        rule=CONFIG.training.selection.rule,
        making=CONFIG.training.scorer.model_dump(),
        runs=CONFIG.scorer_runs,
        datasets=TRAINED_ON,
        natives={name: PLANS.natives_folder(name) for name in TRAINED_ON if name in WITH_NATIVES},
        folder=lambda wildcards: layout.MADE_SCORER,
        code=code("make_scorer.py"),
    script:
        "../workflow_scripts/make_scorer.py"
