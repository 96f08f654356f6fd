# Packs → sweep (configurations × seeds) → leaderboard and best checkpoint → fine-tune phases → final checkpoint.
# Left out when decoys are scored with a given checkpoint, even one that was trained here.


localrules:
    split_targets,
    select_sweep,
    select_final,


rule split_targets:
    """Training, validation and test targets, and folds: those that share a chain stay together."""
    input:
        chains=JOBS.learned_inputs(layout.CHAINS),
    output:
        table=report(layout.SPLITS, category="Training"),
    log:
        "logs/training/splits.log",
    conda:
        "../envs/features.yaml"
    params:
        datasets=CONFIG.learned_datasets,
        options=JOBS.split_options(),
        contents=JOBS.learned_contents,
    shell:
        "split_targets.py --datasets {params.datasets} --chains {input.chains} {params.options}"
        " --table {output.table} 2>&1 | tee {log}"


rule train_sweep:
    """One configuration with one seed."""
    input:
        packs=JOBS.training_inputs(layout.PACK),
        checks=JOBS.training_inputs(layout.COVERAGE_CHECK),
        chains=JOBS.training_inputs(layout.CHAINS),
        splits=layout.SPLITS,
    output:
        layout.run_files(layout.SWEEP_RUN),
        directory(layout.runners_up(layout.SWEEP_RUN)),
    log:
        "logs/training/{run}.log",
    benchmark:
        "logs/benchmarks/training/{run}.tsv"
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
        folder=layout.SWEEP_RUN,
    shell:
        "train.py --name {wildcards.run} --packs {input.packs} --splits {input.splits} --chains {input.chains}"
        " --parameters {params.run:q} --threads {threads}"
        ' --store "$TOPORANK_STORE" --output {params.folder} > {log} 2>&1'


rule select_sweep:
    """Leaderboard of the sweep under every rule, and the checkpoint the configured rule chooses."""
    input:
        summaries=JOBS.sweep_summaries(),
    output:
        table=report(layout.LEADERBOARD, category="Training"),
        details=layout.beside(layout.LEADERBOARD),
        checkpoint=layout.SWEEP_CHECKPOINT,
        why=layout.SWEEP_REASON,
    log:
        "logs/selection/sweep.log",
    conda:
        "../envs/learning.yaml"
    params:
        rule=CONFIG.training.selection.rule,
    shell:
        "select_best.py --summaries {input.summaries} --rule {params.rule} --table {output.table}"
        " --best {output.checkpoint} 2>&1 | tee {log}"


rule train_finetune:
    """One run of a fine-tune phase, from its parent's weights with fresh optimiser and schedule."""
    input:
        packs=JOBS.finetune_inputs(layout.PACK),
        checks=JOBS.finetune_inputs(layout.COVERAGE_CHECK),
        validation=JOBS.training_inputs(layout.PACK),
        chains=JOBS.finetune_inputs(layout.CHAINS),
        splits=layout.SPLITS,
        parent=JOBS.parent,
    output:
        layout.run_files(layout.FINETUNE_RUN),
        directory(layout.runners_up(layout.FINETUNE_RUN)),
    log:
        "logs/finetune/{run}.log",
    benchmark:
        "logs/benchmarks/finetune/{run}.tsv"
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
        folder=layout.FINETUNE_RUN,
    shell:
        "train.py --name {wildcards.run} --packs {input.packs} --validation {input.validation}"
        " --splits {input.splits} --chains {input.chains} --parameters {params.run:q} --threads {threads}"
        ' --parent {input.parent} --store "$TOPORANK_STORE" --output {params.folder} > {log} 2>&1'


rule select_final:
    """The best checkpoint of sweep and fine-tuning under the configured rule, and the ensemble of the best runs."""
    input:
        summaries=[*JOBS.sweep_summaries(), *JOBS.finetune_summaries()],
    output:
        table=report(layout.FINAL_LEADERBOARD, category="Training"),
        details=layout.beside(layout.FINAL_LEADERBOARD),
        checkpoint=layout.FINAL_CHECKPOINT,
        why=layout.FINAL_REASON,
        ensemble=directory(layout.FINAL_ENSEMBLE),
        scorer=layout.FINAL_MANIFEST,
    log:
        "logs/selection/final.log",
    conda:
        "../envs/learning.yaml"
    params:
        rule=CONFIG.training.selection.rule,
        final=JOBS.final_options(),
        code=jobs.step_code(REPOSITORY, "select_best.py"),
    shell:
        "select_best.py --summaries {input.summaries} --rule {params.rule} --table {output.table}"
        " --best {output.checkpoint} --ensemble {output.ensemble} {params.final} 2>&1 | tee {log}"
