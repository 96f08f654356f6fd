# Decoys → interface → topology → nodes → graphs, a chunk of decoys at a time; then coverage, and artefacts as files.


localrules:
    coverage,
    write_coverage,
    check_coverage,
    publish,


rule build_chunk:
    """Interface residues, topology, node features, edges and graph of the models of a chunk."""
    input:
        labels=PLANS.labels_of_chunk,
        graphs=PLANS.artefacts_of_chunk,
    output:
        ledger=layout.LEDGER,
    log:
        layout.LOG,
    benchmark:
        layout.TIMES
    group:
        "chunk"
    conda:
        "../envs/features.yaml"
    resources:
        mem_mb=inputs.more_each_attempt(3000),
        runtime=inputs.more_each_attempt(120),
    params:
        features=FEATURES,
        code=CODE,
        columns=LedgerRow._fields,
    script:
        "../workflow_scripts/build_chunk.py"


rule coverage:
    """What is built and what is not, of every model; builds nothing."""
    input:
        expand(layout.GAP, dataset=OF_DECOYS),


rule write_coverage:
    """What became of every model and every label of a data set, and its chains."""
    input:
        ledgers=PLANS.ledgers,
        labels=PLANS.label_table,
    output:
        table=report(layout.COVERAGE, category="Coverage"),
        chains=update(layout.CHAINS),
    log:
        "logs/coverage/{dataset}.log",
    wildcard_constraints:
        dataset=inputs.any_name_of(OF_DECOYS),
    conda:
        "../envs/features.yaml"
    params:
        contents=lambda wildcards: PLANS.contents(wildcards.dataset),
        code=code("write_coverage.py"),
    script:
        "../workflow_scripts/write_coverage.py"


rule check_coverage:
    """Stop before training when too few labels of a data set have a graph."""
    input:
        table=layout.COVERAGE,
    output:
        check=layout.COVERAGE_CHECK,
    log:
        "logs/coverage/{dataset}.check.log",
    conda:
        "../envs/features.yaml"
    params:
        policy=CONFIG.coverage.model_dump(),
        code=code("check_coverage.py"),
    script:
        "../workflow_scripts/check_coverage.py"


rule publish:
    """The artefacts of all models of a data set as files; those of removed models go."""
    input:
        ledgers=PLANS.ledgers,
        coverage=layout.COVERAGE,
        again=publish_again,
    output:
        table=update(layout.PUBLISHED),
    log:
        "logs/publish/{dataset}.log",
    conda:
        "../envs/learning.yaml"
    params:
        features=FEATURES,
        code=code("publish.py"),
    script:
        "../workflow_scripts/publish.py"


rule read_confidence:
    """What predictors say of their models: pLDDT, pTM, ipTM, PAE, HADDOCK's score. A header alone if nothing does."""
    input:
        coverage=layout.COVERAGE,
    output:
        table=report(layout.CONFIDENCE, category="Ranking"),
    log:
        "logs/confidence/{dataset}.log",
    wildcard_constraints:
        dataset=inputs.any_name_of(OF_DECOYS),
    conda:
        "../envs/features.yaml"
    resources:
        mem_mb=inputs.more_each_attempt(4000),
    params:
        files=lambda wildcards: PLANS.confidence_state(wildcards.dataset),
        plddt=lambda wildcards: CONFIG.plddt_of(wildcards.dataset),
        code=code("read_confidence.py"),
    script:
        "../workflow_scripts/read_confidence.py"
