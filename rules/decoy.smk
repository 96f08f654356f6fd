# Parts of a build: what is missing, and one decoy asked for by the path of its graph.


localrules:
    coverage,
    decoy_graph,


rule coverage:
    """What is built and what is not, of every decoy; builds nothing."""
    input:
        expand(layout.GAP, dataset=JOBS.of_decoys),


rule decoy_graph:
    """The graph of one decoy and what it was made from; no other decoy is built."""
    input:
        ledger=JOBS.decoy_ledger,
        again=lambda wildcards: make_again(layout.GRAPH, wildcards),
    output:
        graph=update(layout.GRAPH),
    log:
        "logs/decoy/{dataset}/{target}/{decoy}.log",
    wildcard_constraints:
        target="[^/]+",
        decoy="[^/]+",
    conda:
        "../envs/learning.yaml"
    params:
        features=FEATURES,
        chunk=lambda wildcards, input: Path(input.ledger).stem,
    shell:
        "publish.py --dataset {wildcards.dataset} --chunk {params.chunk} --features {params.features:q}"
        ' --store "$TOPORANK_STORE" 2>&1 | tee {log:q}'
