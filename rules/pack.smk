# All graphs of a data set → one pack, from which training slices batches.


rule pack_graphs:
    """All graphs of a data set in one memory-mapped file; those that were packed before are copied."""
    input:
        table=layout.COVERAGE,
        ledgers=PLANS.ledgers,
        labels=lambda wildcards: PLANS.labelled_chunks(wildcards) if wildcards.dataset in WITH_NATIVES else [],
    output:
        pack=update(layout.PACK),
    log:
        "logs/pack/{dataset}.log",
    wildcard_constraints:
        dataset=inputs.any_name_of(OF_DECOYS),
    conda:
        "../envs/features.yaml"
    resources:
        mem_mb=inputs.more_each_attempt(4000),
    params:
        features=FEATURES,
        code=code("pack_graphs.py"),
        natives=lambda wildcards: PLANS.natives_folder(wildcards.dataset),
    script:
        "../workflow_scripts/pack_graphs.py"
