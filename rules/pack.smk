# All graphs of a data set → one pack, from which training slices batches.


rule pack_graphs:
    """All graphs of a data set in one memory-mapped file; those that were packed before are copied."""
    input:
        table=layout.COVERAGE,
        ledgers=JOBS.ledgers,
        labels=JOBS.known_labels,
    output:
        pack=update(layout.PACK),
    log:
        "logs/pack/{dataset}.log",
    wildcard_constraints:
        dataset=jobs.one_of(JOBS.of_decoys),
    conda:
        "../envs/features.yaml"
    resources:
        mem_mb=jobs.raised(4000),
    params:
        features=FEATURES,
        code=jobs.step_code(REPOSITORY, "pack_graphs.py"),
        natives=lambda wildcards: JOBS.natives_option(wildcards, REPOSITORY),
    shell:
        "pack_graphs.py --dataset {wildcards.dataset} --table {input.table}"
        ' --features {params.features:q} --store "$TOPORANK_STORE" --pack {output.pack}'
        " {params.natives:q} > {log} 2>&1"
