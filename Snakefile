# TopoRank: rank the decoys of protein complexes by predicted DockQ.
#
# results/<dataset>/{interface,topology,nodes}/<target>/<decoy>.parquet   feature stages
# results/<dataset>/graphs/<target>/<decoy>.pt                            one graph a decoy
# results/<dataset>/{coverage,gap}.tsv    results/<dataset>/dockq.csv     what became of decoys; labels from natives
# results/training/<config>_seed<seed>/   results/training/best.ckpt      sweep, leaderboard, best checkpoint
# results/finetune/<phase>[_seed<seed>]/  results/final/best.ckpt         fine-tune phases, final checkpoint
# results/scores/<dataset>/ranking.csv    results/splits.csv              ranked decoys; splits of targets
# results/evaluation/<dataset>/           results/report.html             metrics, and a page to look at
from snakemake.utils import min_version

min_version("9.16")


# seconds of work each: not worth a cluster job
localrules:
    all,
    build_graphs,
    score,
    write_coverage,
    check_coverage,


include: "rules/common.smk"
include: "rules/labels.smk"
include: "rules/features.smk"
include: "rules/decoy.smk"
include: "rules/pack.smk"


if not JOBS.scoring_only:

    include: "rules/training.smk"
    include: "rules/cross_validation.smk"


include: "rules/scoring.smk"
include: "rules/report.smk"


rule all:
    """Decoys in; trained, selected and evaluated scorer, ranked decoys and report out."""
    default_target: True
    input:
        JOBS.rankings(),
        JOBS.reports(),


rule build_graphs:
    """Graphs and coverage of every data set, enough of them for training."""
    input:
        expand(layout.COVERAGE, dataset=JOBS.datasets),
        JOBS.training_inputs(layout.COVERAGE_CHECK),


rule score:
    """Ranked decoys of every data set, or of `--config score_decoys=FOLDER checkpoint=FILE`."""
    input:
        JOBS.rankings(),
        expand(layout.SCORE_REPORT, dataset=JOBS.datasets),
