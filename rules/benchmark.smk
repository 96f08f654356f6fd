# Training against a plain baseline: `snakemake benchmark_training`.


localrules:
    benchmark_training,


rule compare_training:
    """Time, memory and quality of training, against plain PyTorch Geometric and one file a graph."""
    input:
        packs=JOBS.training_inputs(layout.PACK),
    output:
        table=layout.BENCHMARK,
        text=layout.BENCHMARK_TEXT,
        plot=layout.BENCHMARK_PLOT,
    log:
        "logs/benchmark/training.log",
    conda:
        "../envs/learning.yaml"
    shell:
        "benchmark_training.py --packs {input.packs} --table {output.table} --text {output.text} --plot {output.plot}"
        " > {log} 2>&1"


rule benchmark_training:
    """Shows it, and fails unless training is three times as fast and as good."""
    input:
        layout.BENCHMARK_TEXT,
    log:
        "logs/benchmark/verdict.log",
    conda:
        "../envs/learning.yaml"
    shell:
        "tee {log} < {input}; grep -q '^Passed' {input}"
