# Packs → sweep (configurations × seeds) → leaderboard and best checkpoint.
# Left out when decoys are scored with a given checkpoint, even one that was trained here.


localrules:
    train,
    split_targets,
    select_sweep,


rule train:
    """The sweep, its leaderboard, and the best of its checkpoints."""
    input:
        layout.SWEEP_CHECKPOINT,


rule split_targets:
    """Training, validation and test targets, and folds: those that share a chain stay together."""
    input:
        chains=expand(layout.CHAINS, dataset=CONFIG.learned_datasets),
    output:
        table=report(layout.SPLITS, category="Training"),
    log:
        "logs/training/splits.log",
    conda:
        "../envs/features.yaml"
    params:
        datasets=CONFIG.learned_datasets,
        finetuned=[name for name in CONFIG.learned_datasets if name not in TRAINED_ON],
        split=CONFIG.split_rules,
        leakage=CONFIG.training.leakage,
        contents=[*map(PLANS.contents, CONFIG.learned_datasets)],
        code=code("split_targets.py"),
    script:
        "../workflow_scripts/split_targets.py"


rule train_sweep:
    """One configuration with one seed."""
    input:
        packs=expand(layout.PACK, dataset=TRAINED_ON),
        checks=expand(layout.COVERAGE_CHECK, dataset=TRAINED_ON),
        chains=expand(layout.CHAINS, dataset=TRAINED_ON),
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
    threads: cores_of(len(SWEEP))
    resources:
        mem_mb=inputs.more_each_attempt(6000),
        runtime=inputs.more_each_attempt(720),
        gpu=CONFIG.training.gpus,
    params:
        run=PLANS.training_parameters,
        code=TRAINING_CODE,
        folder=layout.SWEEP_RUN,
    script:
        "../workflow_scripts/train.py"


rule select_sweep:
    """Leaderboard of the sweep under every rule, and the checkpoint the configured rule chooses."""
    input:
        sweep=expand(layout.SWEEP_RUN + layout.SUMMARY, run=SWEEP),
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
        code=code("select_sweep.py"),
    script:
        "../workflow_scripts/select_sweep.py"
