# Natives → labelled decoys, a target at a time, then one table of labels. results/sampling/ is a folder of decoys.


localrules:
    sample_decoys,
    sample_tables,


rule sample_decoys:
    """Labelled decoys of every native, made by docking its partners."""
    input:
        SAMPLING.folders(),
        layout.SAMPLED_LABELS,


rule sample_tables:
    """What became of every native, and the labels of all decoys, also of natives that were sampled before."""
    input:
        SAMPLING.collected(),
    output:
        labels=layout.SAMPLED_LABELS,
        poses=layout.SAMPLED_POSES,
    log:
        "logs/sampling.log",
    conda:
        "../envs/sampling.yaml"
    params:
        code=code("collect_samples.py"),
    script:
        "../workflow_scripts/collect_samples.py"


rule sample_target:
    """Labelled decoys of one native."""
    input:
        native=SAMPLING.native,
        unbound=SAMPLING.unbound,
    output:
        directory(layout.SAMPLED),
    log:
        "logs/sampling/{target}.log",
    benchmark:
        "logs/benchmarks/sampling/{target}.tsv"
    wildcard_constraints:
        target=inputs.any_name_of(SAMPLING.natives),
    conda:
        "../envs/sampling.yaml"
    resources:
        mem_mb=inputs.more_each_attempt(3000),
        runtime=inputs.more_each_attempt(120),
    params:
        partners=SAMPLING.partners,
        settings=CONFIG.sampling.model_dump(include={"decoys", "rotations", "seed"}),
        code=code("sample_target.py"),
    script:
        "../workflow_scripts/sample_target.py"
