# Models and a scorer → scores, a part of the targets at a time → the tables of a data set.


localrules:
    score,


rule score:
    """Ranked models of every data set, or of `--config score_decoys=FOLDER [scorer=FOLDER]`."""
    input:
        expand([layout.MODEL_TABLE, layout.CONTACTS, layout.SCORE_REPORT], dataset=DATASETS),


rule score_targets:
    """A part of the targets of a data set, about 500 models: features where they are new, scores, ranking."""
    input:
        scorer=PLANS.scorer_files,
        ledgers=PLANS.ledgers_of_part,
    output:
        results=layout.SCORED_PART,
    log:
        "logs/scoring/{dataset}/{part}.log",
    wildcard_constraints:
        dataset=inputs.any_name_of(OF_DECOYS),
    conda:
        "../envs/learning.yaml"
    resources:
        mem_mb=inputs.more_each_attempt(4000),
        runtime=inputs.more_each_attempt(120),
    params:
        scorer=lambda wildcards: PLANS.scorer,
        scorer_content=PLANS.scorer_content,
        chunks=PLANS.chunks_of_part,
        features=FEATURES,
        options=PLANS.scoring_options,
        plddt=lambda wildcards: CONFIG.plddt_of(wildcards.dataset),
        confidence=lambda wildcards: PLANS.confidence_state(wildcards.dataset),
        in_study=IN_STUDY,
        code=code("score_targets.py"),
    script:
        "../workflow_scripts/score_targets.py"


rule collect_scores:
    """The tables of a data set from the scores of its parts."""
    input:
        parts=PLANS.scored_parts,
        scorer=PLANS.scorer_files,
    output:
        models_table=report(layout.MODEL_TABLE, category="Ranking"),
        targets=report(layout.TARGETS, category="Ranking"),
        interfaces=report(layout.SCORED_INTERFACES, category="Ranking"),
        details=layout.DETAILS,
        residues=layout.RESIDUES,
        contacts=layout.CONTACTS,
        models=directory(layout.MODELS),
        embeddings=layout.EMBEDDINGS,
        record=layout.SCORED_WITH,
        tables=[] if IN_STUDY else [layout.CHAINS, layout.CONFIDENCE],
    log:
        "logs/scoring/{dataset}.log",
    wildcard_constraints:
        dataset=inputs.any_name_of(OF_DECOYS),
    conda:
        "../envs/learning.yaml"
    resources:
        mem_mb=inputs.more_each_attempt(4000),
    params:
        scorer=lambda wildcards: PLANS.scorer,
        options=PLANS.scoring_options,
        in_study=IN_STUDY,
        code=code("collect_scores.py"),
    script:
        "../workflow_scripts/collect_scores.py"
