# Decoys → interface → topology → nodes → graphs, a chunk of decoys at a time, then coverage.


rule extract_interfaces:
    """Interface residues of the decoys of a chunk."""
    input:
        plan=layout.PLAN,
    output:
        ledger=layout.of_stage(layout.LEDGER, "interface"),
    log:
        layout.of_stage(layout.LOG, "interface"),
    benchmark:
        layout.of_stage(layout.TIMES, "interface")
    group:
        "chunk"
    conda:
        "../envs/features.yaml"
    resources:
        mem_mb=jobs.raised(2000),
        runtime=jobs.raised(20),
    params:
        stage="interface",
        features=stage_features(CHOICES, "interface"),
        code=code_digest("interface", CHOICES),
    shell:
        BUILD_CHUNK


rule compute_topology:
    """Persistent homology around every interface residue."""
    input:
        upstream=rules.extract_interfaces.output.ledger,
    output:
        ledger=layout.of_stage(layout.LEDGER, "topology"),
    log:
        layout.of_stage(layout.LOG, "topology"),
    benchmark:
        layout.of_stage(layout.TIMES, "topology")
    group:
        "chunk"
    conda:
        "../envs/features.yaml"
    params:
        stage="topology",
        features=stage_features(CHOICES, "topology"),
        code=code_digest("topology", CHOICES),
    shell:
        BUILD_CHUNK


rule assemble_nodes:
    """Node features, with secondary structure and accessibility by DSSP."""
    input:
        upstream=rules.compute_topology.output.ledger,
    output:
        ledger=layout.of_stage(layout.LEDGER, "nodes"),
    log:
        layout.of_stage(layout.LOG, "nodes"),
    benchmark:
        layout.of_stage(layout.TIMES, "nodes")
    group:
        "chunk"
    conda:
        "../envs/features.yaml"
    params:
        stage="nodes",
        features=stage_features(CHOICES, "nodes"),
        code=code_digest("nodes", CHOICES),
    shell:
        BUILD_CHUNK


rule assemble_graphs:
    """Edges, and one graph a decoy with its label."""
    input:
        upstream=rules.assemble_nodes.output.ledger,
        labels=JOBS.chunk_labels,
    output:
        ledger=layout.of_stage(layout.LEDGER, "graphs"),
    log:
        layout.of_stage(layout.LOG, "graphs"),
    benchmark:
        layout.of_stage(layout.TIMES, "graphs")
    group:
        "chunk"
    conda:
        "../envs/features.yaml"
    resources:
        mem_mb=jobs.raised(3000),
        runtime=jobs.raised(30),
    params:
        stage="graphs",
        features=stage_features(CHOICES, "graphs"),
        code=code_digest("graphs", CHOICES),
        labels=lambda wildcards, input: "--labelled" if input.labels else "",
    shell:
        BUILD_CHUNK.replace(" --store", " {params.labels} --store")


rule write_coverage:
    """What became of every decoy and every label of a data set; artefacts of removed decoys go."""
    input:
        ledgers=JOBS.ledgers,
        labels=JOBS.label_table,
    output:
        table=report(layout.COVERAGE, category="Coverage"),
        interfaces=layout.INTERFACES,
    log:
        "logs/coverage/{dataset}.log",
    conda:
        "../envs/features.yaml"
    params:
        contents=JOBS.contents,
    shell:
        "write_coverage.py --dataset {wildcards.dataset} --table {output.table} --interfaces {output.interfaces}"
        " 2>&1 | tee {log}"


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
