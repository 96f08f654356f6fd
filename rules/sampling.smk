# Natives → labelled decoys, a target at a time, then one table of labels. results/sampling/ is a folder of decoys.


localrules:
    sample_decoys,
    sample_tables,


rule sample_decoys:
    """Labelled decoys of every native, made by docking its partners."""
    input:
        lambda _: SAMPLING.folders() + runs.warn(logger, CHECK.unsampled),
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
    shell:
        "collect_samples.py --samples {input:q} --labels {output.labels} --poses {output.poses} 2>&1 | tee {log}"


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
        target=jobs.one_of(SAMPLING.natives),
    conda:
        "../envs/sampling.yaml"
    resources:
        mem_mb=jobs.raised(3000),
        runtime=jobs.raised(120),
    params:
        partners=SAMPLING.partners,
        decoys=CONFIG.sampling.decoys,
        rotations=CONFIG.sampling.rotations,
        seed=CONFIG.sampling.seed,
        code=jobs.step_code(REPOSITORY, "sample_target.py"),
    shell:
        "sample_target.py --target {wildcards.target:q} --native {input.native:q} --unbound {input.unbound:q}"
        " --partners={params.partners:q} --decoys {params.decoys} --rotations {params.rotations}"
        " --seed {params.seed} --output {output:q} > {log:q} 2>&1"
