# Graphs of another pipeline → one pack; pack and scorer → ranked graphs. The rules between them are those of decoys.


rule import_graphs:
    """Check and pack the graphs of another pipeline, and join them with their labels."""
    output:
        table=report(layout.COVERAGE, category="Coverage"),
        chains=layout.CHAINS,
        labels=layout.LABELS,
        pack=update(layout.PACK),
    log:
        "logs/pack/{dataset}.log",
    wildcard_constraints:
        dataset=inputs.any_name_of(OF_GRAPHS),
    conda:
        "../envs/learning.yaml"
    resources:
        mem_mb=inputs.more_each_attempt(4000),
    params:
        folder=lambda wildcards: data_sets.graphs_of(CONFIG, wildcards.dataset),
        tables=lambda wildcards: data_sets.label_tables(CONFIG, wildcards.dataset),
        files=lambda wildcards: CHECK.of(wildcards.dataset).graph_files if CHECK else "",
        code=code("import_graphs.py"),
    script:
        "../workflow_scripts/import_graphs.py"


rule score_graphs:
    """The ranking of all graphs of another pipeline; what needs structures is written without rows."""
    input:
        scorer=PLANS.scorer_files,
        coverage=layout.COVERAGE,
        pack=layout.PACK,
    output:
        models=report(layout.MODEL_TABLE, category="Ranking"),
        targets=report(layout.TARGETS, category="Ranking"),
        details=layout.DETAILS,
        interfaces=layout.SCORED_INTERFACES,
        residues=layout.RESIDUES,
        contacts=layout.CONTACTS,
        confidence=layout.CONFIDENCE,
        embeddings=layout.EMBEDDINGS,
        record=layout.SCORED_WITH,
    log:
        "logs/scoring/{dataset}.log",
    wildcard_constraints:
        dataset=inputs.any_name_of(OF_GRAPHS),
    conda:
        "../envs/learning.yaml"
    resources:
        mem_mb=inputs.more_each_attempt(4000),
        runtime=inputs.more_each_attempt(60),
    params:
        scorers=PLANS.scorers,
        code=code("score_graphs.py"),
    script:
        "../workflow_scripts/score_graphs.py"
