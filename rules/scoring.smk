# Scorer and graphs → ranked decoys → evaluation against labels.


localrules:
    evaluate_ranking,


rule score_decoys:
    """The ranking of every decoy of a data set, and how each stands among the others of its target."""
    input:
        scorer=JOBS.scorer_files(REPOSITORY),
        coverage=layout.COVERAGE,
        interfaces=layout.INTERFACES,
        chains=layout.CHAINS,
        confidence=layout.CONFIDENCE,
    output:
        ranking=report(layout.RANKING, category="Ranking"),
        interfaces=report(layout.SCORED_INTERFACES, category="Ranking"),
        export=layout.MODEL_PRED_DOCKQ,
        leakage=report(layout.LEAKAGE, category="Ranking"),
        residues=layout.RESIDUES,
        contacts=layout.CONTACTS,
        models=directory(layout.MODELS),
        comparison=layout.COMPARISON,
        embeddings=layout.EMBEDDINGS,
        record=layout.SCORED_WITH,
    log:
        "logs/scoring/{dataset}.log",
    wildcard_constraints:
        dataset=jobs.one_of(JOBS.of_decoys),
    conda:
        "../envs/learning.yaml"
    resources:
        mem_mb=jobs.raised(4000),
        runtime=jobs.raised(60),
    params:
        scorer=lambda wildcards: JOBS.scorer(REPOSITORY),
        scorer_content=SCORER_CONTENT,
        rank_by=CONFIG.rank_by,
        without_confidence="" if CONFIG.use_confidence else "--without-confidence",
        fold_twins="--fold-twins" if CONFIG.fold_twins else "",
        features=FEATURES,
        plddt=lambda wildcards: CONFIG.plddt_of(wildcards.dataset),
        mask_disorder=lambda wildcards: "--mask-disorder" if CONFIG.masks_disorder(wildcards.dataset) else "",
        thin="--thin" if JOBS.scoring_only else "",  # nobody learns from these graphs
        code=jobs.step_code(REPOSITORY, "score.py"),
    shell:
        "score.py --dataset {wildcards.dataset} --scorer {params.scorer:q}"
        " --coverage {input.coverage} --interfaces {input.interfaces} --chains {input.chains} --confidence {input.confidence}"
        ' --store "$TOPORANK_STORE" {params.thin} --rank-by {params.rank_by} --features {params.features:q}'
        " --plddt {params.plddt} {params.mask_disorder}"
        " {params.fold_twins} {params.without_confidence} --ranking {output.ranking} --comparison {output.comparison}"
        " --embeddings {output.embeddings} --residues {output.residues} --contacts {output.contacts} --models {output.models}"
        " --scored-interfaces {output.interfaces} --export {output.export} --leakage {output.leakage}"
        " --record {output.record} 2>&1 | tee {log}"


rule read_confidence:
    """What predictors say of their models: pLDDT, pTM, ipTM, PAE, HADDOCK's score. A header alone if nothing does."""
    input:
        coverage=layout.COVERAGE,
    output:
        table=report(layout.CONFIDENCE, category="Ranking"),
    log:
        "logs/confidence/{dataset}.log",
    wildcard_constraints:
        dataset=jobs.one_of(JOBS.of_decoys),
    conda:
        "../envs/features.yaml"
    resources:
        mem_mb=jobs.raised(4000),
    params:
        files=JOBS.confidence_state,
        plddt=lambda wildcards: CONFIG.plddt_of(wildcards.dataset),
        code=jobs.step_code(REPOSITORY, "read_confidence.py"),
    shell:
        "read_confidence.py --dataset {wildcards.dataset} --coverage {input.coverage} --plddt {params.plddt}"
        ' --store "$TOPORANK_STORE" --table {output.table} > {log} 2>&1'


rule evaluate_ranking:
    """Ranking metrics of each target and split of a labelled data set."""
    input:
        ranking=layout.RANKING,
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
        "evaluate.py --ranking {input.ranking} --interfaces {input.interfaces} --labels {params.labels}"
        " --confidence {input.confidence} --splits {input.splits}"
        " --per-target {output.per_target} --summary {output.summary} 2>&1 | tee {log}"
