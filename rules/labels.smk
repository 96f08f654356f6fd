# Decoys and the natives of their targets → labels, a chunk of decoys at a time, then tables.


localrules:
    label_decoys,
    write_dockq,
    split_labels,


rule label_decoys:
    """DockQ of every decoy of the data sets that have natives."""
    input:
        lambda _: JOBS.dockq_tables() + runs.warn(logger, CHECK.unlabelled),


rule label_chunk:
    """DockQ of the decoys of a chunk."""
    input:
        plan=layout.PLAN,
    output:
        labels=layout.LABELLED,
    log:
        layout.LABEL_LOG,
    wildcard_constraints:
        dataset=jobs.one_of(JOBS.with_natives),
    group:
        "chunk"
    conda:
        "../envs/features.yaml"
    params:
        natives=lambda wildcards: JOBS.natives_folder(wildcards, REPOSITORY),
        state=JOBS.natives_state,
        code=code_digest("label", CHOICES),
    shell:
        "label_chunk.py --dataset {wildcards.dataset} --chunk {wildcards.chunk} --natives {params.natives:q}"
        ' --store "$TOPORANK_STORE" > {log} 2>&1'


rule write_dockq:
    """What the natives say of every decoy of a data set, and of every interface."""
    input:
        JOBS.labelled_chunks,
    output:
        table=report(layout.DOCKQ, category="Labels"),
        interfaces=layout.LABELS_INTERFACES,
    log:
        "logs/labels/{dataset}.log",
    wildcard_constraints:
        dataset=jobs.one_of(JOBS.with_natives),
    conda:
        "../envs/features.yaml"
    params:
        contents=JOBS.contents,
    shell:
        "write_dockq.py --dataset {wildcards.dataset} --table {output.table} --interfaces {output.interfaces}"
        " 2>&1 | tee {log}"


rule split_labels:
    """Labels to train on where no label table is given; `split_targets` splits them by clusters."""
    input:
        table=layout.DOCKQ,
    output:
        labels=layout.LABELS,
    log:
        "logs/labels/{dataset}.split.log",
    wildcard_constraints:
        dataset=jobs.one_of(JOBS.labelled_by_natives),
    conda:
        "../envs/features.yaml"
    params:
        contents=JOBS.contents,
        split_by=CONFIG.training.split_by,
        percent=CONFIG.training.validation_percent,
        seed=CONFIG.training.split_seed,
    shell:
        "split_labels.py --dataset {wildcards.dataset} --split-by {params.split_by}"
        " --validation-percent {params.percent} --split-seed {params.seed} --labels {output.labels} > {log} 2>&1"
