# Decoys → interface → topology → nodes → graphs, a chunk of decoys at a time; then coverage, and artefacts as files.


rule build_chunk:
    """Interface residues, topology, node features, edges and graph of the decoys of a chunk."""
    input:
        plan=layout.PLAN,
        labels=JOBS.chunk_labels,
        again=lambda wildcards: make_again(layout.LEDGER, wildcards),
        judge=JOBS.scorer_files(REPOSITORY) if JOBS.scoring_only else [],
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
        judge=["--judge", JOBS.scorer(REPOSITORY)] if JOBS.scoring_only else [],
        judging=judging_code() + SCORER_CONTENT if JOBS.scoring_only else "",  # where it changes, forgotten graphs are made anew
    shell:
        "build_chunk.py --dataset {wildcards.dataset} --chunk {wildcards.chunk} --features {params.features:q}"
        ' {params.judge:q} --labels {input.labels} --store "$TOPORANK_STORE" > {log} 2>&1'


rule write_coverage:
    """What became of every decoy and every label of a data set, and its chains."""
    input:
        ledgers=JOBS.ledgers,
        labels=JOBS.label_table,
    output:
        table=report(layout.COVERAGE, category="Coverage"),
        interfaces=layout.INTERFACES,
        chains=update(layout.CHAINS),
    log:
        "logs/coverage/{dataset}.log",
    conda:
        "../envs/features.yaml"
    params:
        contents=JOBS.contents,
    shell:
        'write_coverage.py --dataset {wildcards.dataset} --store "$TOPORANK_STORE" --table {output.table}'
        " --interfaces {output.interfaces} --chains {output.chains} 2>&1 | tee {log}"


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
        fail_on_missing=CONFIG.coverage.fail_on_missing,
    shell:
        "check_coverage.py --dataset {wildcards.dataset} --table {input.table} --check {output.check}"
        " --minimum-percent {params.minimum_percent} --fail-on-missing {params.fail_on_missing} 2>&1 | tee {log}"


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
