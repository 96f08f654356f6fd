# Decoy → interface → topology → node features → graph: each artefact of each decoy is a file with a rule.
#
# Any of them can be asked for by its path, and is made again when what it is made from changes: the file of the decoy,
# code or parameters of its stage or of one before, the label of a graph. With `workflow: {jobs: artefact}` every decoy
# goes through these rules; otherwise `build_chunk` and `publish` make the same files, many in one job.


if not PLANS.by_artefact:

    localrules:  # a few files that somebody asked for
        interface,
        topology,
        node_features,
        graph,


rule interface:
    """One artefact of one model, from the artefact of the stage before."""
    input:
        decoy=lambda wildcards: ancient(PLANS.decoy_file(wildcards)),
        again=lambda wildcards: make_again("interface", wildcards),
    output:
        update(layout.ARTEFACT["interface"]),
    log:
        "logs/interface/{dataset}/{target}/{decoy}.log",
    wildcard_constraints:
        target="[^/]+",
        decoy="[^/]+",
    conda:
        "../envs/learning.yaml"
    params:
        stage="interface",
        decoy=PLANS.decoy_of("interface"),
        features=PLANS.features_of("interface"),
        code=CODE["interface"],
        of_all=PLANS.by_artefact,
    script:
        "../workflow_scripts/make_artefact.py"


use rule interface as topology with:
    input:
        interface=layout.ARTEFACT["interface"],
        decoy=lambda wildcards: ancient(PLANS.decoy_file(wildcards)),
        again=lambda wildcards: make_again("topology", wildcards),
    output:
        update(layout.ARTEFACT["topology"]),
    log:
        "logs/topology/{dataset}/{target}/{decoy}.log",
    params:
        stage="topology",
        decoy=PLANS.decoy_of("topology"),
        features=PLANS.features_of("topology"),
        code=CODE["topology"],
        of_all=PLANS.by_artefact,


use rule interface as node_features with:
    input:
        topology=layout.ARTEFACT["topology"],
        decoy=lambda wildcards: ancient(PLANS.decoy_file(wildcards)),
        again=lambda wildcards: make_again("nodes", wildcards),
    output:
        update(layout.ARTEFACT["nodes"]),
    log:
        "logs/nodes/{dataset}/{target}/{decoy}.log",
    params:
        stage="nodes",
        decoy=PLANS.decoy_of("nodes"),
        features=PLANS.features_of("nodes"),
        code=CODE["nodes"],
        of_all=PLANS.by_artefact,


use rule interface as graph with:
    input:
        nodes=layout.ARTEFACT["nodes"],
        decoy=lambda wildcards: ancient(PLANS.decoy_file(wildcards)),
        again=lambda wildcards: make_again("graphs", wildcards),
    output:
        update(layout.ARTEFACT["graphs"]),
    log:
        "logs/graphs/{dataset}/{target}/{decoy}.log",
    params:
        stage="graphs",
        decoy=PLANS.decoy_of("graphs"),
        features=PLANS.features_of("graphs"),
        code=CODE["graphs"],
        of_all=PLANS.by_artefact,
