# Models and a scorer → scores, a part of the targets at a time → the tables of a data set.


rule score_targets:
    """A part of the targets of a data set, about 500 models: features where they are new, scores, ranking."""
    input:
        scorer=JOBS.scorer_files(REPOSITORY),
        decoys=JOBS.models_to_score,
    output:
        results=layout.SCORED_PART,
    log:
        "logs/scoring/{dataset}/{part}.log",
    wildcard_constraints:
        dataset=jobs.one_of(JOBS.of_decoys),
    conda:
        "../envs/learning.yaml"
    resources:
        mem_mb=jobs.raised(4000),
        runtime=jobs.raised(120),
    params:
        scorer=lambda wildcards: JOBS.scorer(REPOSITORY),
        scorer_content=SCORER_CONTENT,
        features=FEATURES,
        options=SCORING_OPTIONS,
        plddt=lambda wildcards: CONFIG.plddt_of(wildcards.dataset),
        confidence=JOBS.confidence_state,
        code=jobs.step_code(REPOSITORY, "score_targets.py"),
        built="" if JOBS.scoring_only else "--built",
    shell:
        "score_targets.py --dataset {wildcards.dataset} --part {wildcards.part} --scorer {params.scorer:q}"
        ' --features {params.features:q} --store "$TOPORANK_STORE" --plddt {params.plddt} {params.options} {params.built}'
        " --results {output.results} > {log} 2>&1"


rule collect_scores:
    """The tables of a data set from the scores of its parts."""
    input:
        parts=JOBS.scored_parts,
        scorer=JOBS.scorer_files(REPOSITORY),
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
        tables=[layout.CHAINS, layout.CONFIDENCE] if JOBS.scoring_only else [],
    log:
        "logs/scoring/{dataset}.log",
    wildcard_constraints:
        dataset=jobs.one_of(JOBS.of_decoys),
    conda:
        "../envs/learning.yaml"
    resources:
        mem_mb=jobs.raised(4000),
    params:
        scorer=lambda wildcards: JOBS.scorer(REPOSITORY),
        options=SCORING_OPTIONS,
        code=jobs.step_code(REPOSITORY, "collect_scores.py"),
        built="" if JOBS.scoring_only else "--built",
    shell:
        "collect_scores.py --dataset {wildcards.dataset} --parts {input.parts} --scorer {params.scorer:q}"
        ' --store "$TOPORANK_STORE" {params.options} {params.built} 2>&1 | tee {log}'
