# All graphs of a data set → one pack, of which training and scoring slice batches.


PACKED = temp if JOBS.scoring_only else update  # scoring needs a pack once, training again and again


rule pack_graphs:
    """All graphs of a data set in one memory-mapped file, those of interfaces in another; copied if packed before."""
    input:
        table=layout.COVERAGE,
        ledgers=JOBS.ledgers,
        labels=JOBS.known_labels,
    output:
        pack=PACKED(layout.PACK),
        interfaces=PACKED(layout.INTERFACE_PACK),
    log:
        "logs/pack/{dataset}.log",
    conda:
        "../envs/features.yaml"
    resources:
        mem_mb=jobs.raised(4000),
    params:
        precision=CONFIG.workflow.pack_precision,
        features=FEATURES,
        code=jobs.step_code(REPOSITORY, "pack_graphs.py"),
        natives=lambda wildcards: JOBS.natives_option(wildcards, REPOSITORY),
    shell:
        "pack_graphs.py --dataset {wildcards.dataset} --table {input.table} --precision {params.precision}"
        ' --features {params.features:q} --store "$TOPORANK_STORE" --pack {output.pack}'
        " --interfaces {output.interfaces} {params.natives:q} > {log} 2>&1"
