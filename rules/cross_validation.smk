# Packs → a sweep for each fold → predictions of decoys whose cluster was not trained on → metrics of groups of decoys, a scorer.


localrules:
    cross_validate,


rule cross_validate:
    """Out-of-fold predictions of every labelled decoy by every configuration, and their metrics."""
    input:
        layout.FOLD_PREDICTIONS,
        layout.FOLD_METRICS,


rule train_fold:
    """One configuration with one seed, without the targets of a fold."""
    input:
        packs=JOBS.training_inputs(layout.PACK),
        checks=JOBS.training_inputs(layout.COVERAGE_CHECK),
        chains=JOBS.training_inputs(layout.CHAINS),
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
    threads: CONFIG.training.cores
    resources:
        mem_mb=jobs.raised(6000),
        runtime=jobs.raised(720),
        gpu=CONFIG.training.gpus,
    params:
        run=JOBS.training_parameters,
        code=training_code(),
        folder=layout.FOLD_RUN,
    shell:
        "train.py --name {wildcards.run} --packs {input.packs} --splits {input.splits} --fold {wildcards.fold}"
        " --chains {input.chains} --parameters {params.run:q} --threads {threads}"
        ' --store "$TOPORANK_STORE" --output {params.folder} > {log} 2>&1'


rule predict_folds:
    """Predictions of the networks for the fold they were trained without, and metrics with intervals over clusters."""
    input:
        summaries=JOBS.fold_summaries(),
        packs=JOBS.training_inputs(layout.PACK),
        splits=layout.SPLITS,
    output:
        predictions=report(layout.FOLD_PREDICTIONS, category="Cross-validation"),
        metrics=report(layout.FOLD_METRICS, category="Cross-validation"),
    log:
        "logs/cross_validation/predictions.log",
    conda:
        "../envs/learning.yaml"
    resources:
        mem_mb=jobs.raised(4000),
        runtime=jobs.raised(60),
    params:
        rule=CONFIG.training.selection.rule,
        code=jobs.step_code(REPOSITORY, "cross_validate.py"),
    shell:
        "cross_validate.py --summaries {input.summaries} --rule {params.rule} --packs {input.packs}"
        " --splits {input.splits} --predictions {output.predictions} --metrics {output.metrics} 2>&1 | tee {log}"


rule make_scorer:
    """A scorer with everything: the networks of the folds, trees, intervals and domain, vectors, and its model card."""
    input:
        summaries=JOBS.scorer_summaries(),
        packs=JOBS.training_inputs(layout.PACK),
        coverage=JOBS.training_inputs(layout.COVERAGE),
        confidence=JOBS.training_inputs(layout.CONFIDENCE),
        splits=layout.SPLITS,
    output:
        scorer=layout.MADE_MANIFEST,
        card=report(layout.MADE_CARD, category="Cross-validation"),
    log:
        "logs/cross_validation/scorer.log",
    conda:
        "../envs/making.yaml"
    resources:
        mem_mb=jobs.raised(4000),
        runtime=jobs.raised(120),
    params:
        rule=CONFIG.training.selection.rule,
        making=JOBS.scorer_options(REPOSITORY),
        datasets=CONFIG.training_datasets,
        folder=lambda wildcards: layout.MADE_SCORER,
        code=jobs.step_code(REPOSITORY, "make_scorer.py"),
    shell:
        "make_scorer.py --datasets {params.datasets} {params.making} --rule {params.rule} --out {params.folder}"
        ' --store "$TOPORANK_STORE" 2>&1 | tee {log}'
