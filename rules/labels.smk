# Decoys and the natives of their targets → labels, a chunk of decoys at a time, then tables.


localrules:
    label_decoys,
    write_dockq,
    split_labels,


rule label_decoys:
    """DockQ of every model of the data sets that have natives."""
    input:
        expand(layout.DOCKQ, dataset=WITH_NATIVES),


rule label_chunk:
    """DockQ of the models of a chunk."""
    output:
        labels=layout.LABELLED,
    log:
        layout.LABEL_LOG,
    wildcard_constraints:
        dataset=inputs.any_name_of(WITH_NATIVES),
    group:
        "chunk"
    conda:
        "../envs/features.yaml"
    params:
        natives=lambda wildcards: PLANS.natives_folder(wildcards.dataset),
        state=PLANS.natives_state,
        code=code_digest("label", CHOICES),
    script:
        "../workflow_scripts/label_chunk.py"


rule write_dockq:
    """What the natives say of every model of a data set, and of every interface."""
    input:
        PLANS.labelled_chunks,
    output:
        table=report(layout.DOCKQ, category="Labels"),
        interfaces=layout.LABELS_INTERFACES,
    log:
        "logs/labels/{dataset}.log",
    wildcard_constraints:
        dataset=inputs.any_name_of(WITH_NATIVES),
    conda:
        "../envs/features.yaml"
    params:
        contents=lambda wildcards: PLANS.contents(wildcards.dataset),
        code=code("write_dockq.py"),
    script:
        "../workflow_scripts/write_dockq.py"


rule split_labels:
    """Labels to train on where no label table is given; `split_targets` splits them by clusters."""
    input:
        table=layout.DOCKQ,
    output:
        labels=layout.LABELS,
    log:
        "logs/labels/{dataset}.split.log",
    wildcard_constraints:
        dataset=inputs.any_name_of(LABELLED_BY_NATIVES),
    conda:
        "../envs/features.yaml"
    params:
        contents=lambda wildcards: PLANS.contents(wildcards.dataset),
        code=code("split_labels.py"),
        split=CONFIG.split_rules,
    script:
        "../workflow_scripts/split_labels.py"
