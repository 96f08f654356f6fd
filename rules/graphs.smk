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
        dataset=jobs.one_of(JOBS.of_graphs),
    conda:
        "../envs/learning.yaml"
    resources:
        mem_mb=jobs.raised(4000),
    params:
        folder=lambda wildcards: data_sets.graphs_of(CONFIG, wildcards.dataset, REPOSITORY),
        tables=lambda wildcards: data_sets.label_tables(CONFIG, wildcards.dataset, REPOSITORY),
        files=lambda wildcards: CHECK.of(wildcards.dataset).graph_files if CHECK else "",
        code=jobs.step_code(REPOSITORY, "import_graphs.py"),
    shell:
        "import_graphs.py --dataset {wildcards.dataset} --graphs {params.folder:q} --label-tables {params.tables:q}"
        " --coverage {output.table} --chains {output.chains} --labels {output.labels}"
        " --pack {output.pack} 2>&1 | tee {log}"


rule score_graphs:
    """The ranking of all graphs of another pipeline; what needs structures is written without rows."""
    input:
        scorer=JOBS.scorer_files(REPOSITORY),
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
        dataset=jobs.one_of(JOBS.of_graphs),
    conda:
        "../envs/learning.yaml"
    resources:
        mem_mb=jobs.raised(4000),
        runtime=jobs.raised(60),
    params:
        scorer=lambda wildcards: JOBS.scorer(REPOSITORY),
        code=jobs.step_code(REPOSITORY, "score_graphs.py"),
    shell:
        "score_graphs.py --dataset {wildcards.dataset} --scorer {params.scorer:q} --pack {input.pack}"
        " --coverage {input.coverage} 2>&1 | tee {log}"
