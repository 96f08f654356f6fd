# Decoys → interface → topology → nodes → graphs, a chunk of decoys at a time; then coverage, and artefacts as files.


localrules:
    write_coverage,
    check_coverage,
    publish,


rule build_chunk:
    """Interface residues, topology, node features, edges and graph of the decoys of a chunk."""
    input:
        plan=layout.PLAN,
        labels=JOBS.chunk_labels,
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
        mem_mb=jobs.raised(3000),
        runtime=jobs.raised(120),
    params:
        features=FEATURES,
        code=[code for code, _ in recipes(CHOICES).values()],
        columns=LedgerRow._fields,
    shell:
        "build_chunk.py --dataset {wildcards.dataset} --chunk {wildcards.chunk} --features {params.features:q}"
        ' --labels {input.labels} --store "$TOPORANK_STORE" > {log} 2>&1'


rule write_coverage:
    """What became of every decoy and every label of a data set, and its chains."""
    input:
        ledgers=JOBS.ledgers,
        labels=JOBS.label_table,
    output:
        table=report(layout.COVERAGE, category="Coverage"),
        chains=update(layout.CHAINS),
    log:
        "logs/coverage/{dataset}.log",
    wildcard_constraints:
        dataset=jobs.one_of(JOBS.of_decoys),
    conda:
        "../envs/features.yaml"
    params:
        contents=JOBS.contents,
    shell:
        'write_coverage.py --dataset {wildcards.dataset} --store "$TOPORANK_STORE" --table {output.table}'
        " --chains {output.chains} 2>&1 | tee {log}"


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
        minimum_percent=CONFIG.coverage.minimum_percent,
    shell:
        "check_coverage.py --dataset {wildcards.dataset} --table {input.table} --check {output.check}"
        " --minimum-percent {params.minimum_percent} 2>&1 | tee {log}"


rule publish:
    """The artefacts of all decoys of a data set as files; those of removed decoys go."""
    input:
        ledgers=JOBS.ledgers,
        coverage=layout.COVERAGE,
        again=lambda wildcards: make_again(layout.PUBLISHED, wildcards),
    output:
        table=update(layout.PUBLISHED),
    log:
        "logs/publish/{dataset}.log",
    conda:
        "../envs/learning.yaml"
    params:
        features=FEATURES,
    shell:
        "publish.py --dataset {wildcards.dataset} --features {params.features:q}"
        ' --store "$TOPORANK_STORE" 2>&1 | tee {log}'


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
