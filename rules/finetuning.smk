# The best checkpoint of the sweep → fine-tune phases, a rule for each → leaderboard and final checkpoint.


localrules:
    finetune,
    select_final,


rule finetune:
    """The sweep, the fine-tune phases from its best checkpoint, and the best of all."""
    input:
        layout.FINAL_MANIFEST,


for PHASE in CONFIG.training.finetune.phases:

    rule:
        """One run of a fine-tune phase, from its parent's weights with fresh optimiser and schedule."""
        name:
            f"finetune_{PHASE.name}"
        input:
            packs=expand(layout.PACK, dataset=PHASE.datasets or TRAINED_ON),
            checks=expand(layout.COVERAGE_CHECK, dataset=PHASE.datasets or TRAINED_ON),
            validation=expand(layout.PACK, dataset=TRAINED_ON),
            chains=expand(layout.CHAINS, dataset=PHASE.datasets or TRAINED_ON),
            splits=layout.SPLITS,
            parent=PLANS.parent(PHASE),
        output:
            layout.run_files(layout.FINETUNE_RUN),
            directory(layout.runners_up(layout.FINETUNE_RUN)),
        log:
            "logs/finetune/{run}.log",
        benchmark:
            "logs/benchmarks/finetune/{run}.tsv"
        wildcard_constraints:
            run=inputs.any_name_of(CONFIG.runs_of(PHASE)),
        conda:
            "../envs/learning.yaml"
        threads: cores_of(len(CONFIG.runs_of(PHASE)))
        resources:
            mem_mb=inputs.more_each_attempt(6000),
            runtime=inputs.more_each_attempt(720),
            gpu=CONFIG.training.gpus,
        params:
            run=PLANS.training_parameters,
            code=TRAINING_CODE,
            folder=layout.FINETUNE_RUN,
        script:
            "../workflow_scripts/train.py"


rule select_final:
    """The best checkpoint of sweep and fine-tuning under the configured rule, and the ensemble of the best runs."""
    input:
        sweep=expand(layout.SWEEP_RUN + layout.SUMMARY, run=SWEEP),
        finetuned=expand(layout.FINETUNE_RUN + layout.SUMMARY, run=FINETUNED),
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
        final=CONFIG.training.final.model_dump(),
        code=code("select_final.py"),
    script:
        "../workflow_scripts/select_final.py"
