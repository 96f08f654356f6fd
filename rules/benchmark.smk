# Training against a plain baseline: `snakemake benchmark_training`.


rule benchmark_training:
    """Time, memory and quality of training, against plain PyTorch Geometric and one file a graph."""
    input:
        packs=RULES.training_inputs(layout.PACK),
    output:
        table=layout.BENCHMARK,
    log:
        "logs/benchmark/training.log",
    conda:
        "../envs/learning.yaml"
    shell:
        "benchmark_training.py --packs {input.packs} --table {output.table} 2>&1 | tee {log}"
