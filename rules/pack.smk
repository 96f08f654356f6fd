# All graphs of a data set → one pack, of which training and scoring slice batches.


rule pack_graphs:
    """All graphs of a data set in one memory-mapped file; those packed before are copied, not read again."""
    input:
        table=layout.COVERAGE,
        ledgers=JOBS.ledgers,
    output:
        pack=update(layout.PACK),
    log:
        "logs/pack/{dataset}.log",
    conda:
        "../envs/features.yaml"
    resources:
        mem_mb=jobs.raised(4000),
    params:
        precision=CONFIG.workflow.pack_precision,
    shell:
        "pack_graphs.py --dataset {wildcards.dataset} --table {input.table} --precision {params.precision}"
        " --pack {output.pack} > {log} 2>&1"
