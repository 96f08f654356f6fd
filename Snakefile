# TopoRank: rank the models of protein complexes by predicted DockQ.
#
# results/<dataset>/{interface,topology,nodes,graphs}/<target>/<decoy>    feature stages, and one graph a model
# results/<dataset>/coverage.tsv          gap.tsv                         what became of every model; what is to do
# results/<dataset>/dockq.csv  results/sampling/  results/splits.csv       labels and decoys from natives; splits
# results/{training,finetune}/<run>/       results/{training,final}/best.ckpt   sweep and fine-tune phases; checkpoints
# results/scores/<dataset>/models.csv     details.csv    targets.csv      ranked models; parts of their scores; targets
# results/{evaluation/<dataset>/,report.html}                             metrics, and a page to look at
from snakemake.utils import min_version

min_version("9.16")


include: "rules/common.smk"


if IN_STUDY:

    include: "rules/sampling.smk"
    include: "rules/labels.smk"
    include: "rules/artefacts.smk"
    include: "rules/features.smk"
    include: "rules/pack.smk"
    include: "rules/graphs.smk"
    include: "rules/training.smk"
    include: "rules/finetuning.smk"
    include: "rules/cross_validation.smk"
    include: "rules/evaluation.smk"


include: "rules/scoring.smk"
include: "rules/report.smk"


localrules:  # seconds of work each, not worth a cluster job
    all,
    build_graphs,


rule all:
    """Models in; trained, selected and evaluated scorer, ranked models and report out."""
    default_target: True
    input:
        graphs=expand(layout.PUBLISHED, dataset=OF_DECOYS) if IN_STUDY else [],
        scores=expand([layout.MODEL_TABLE, layout.CONTACTS, layout.SCORE_REPORT], dataset=DATASETS),
        study=layout.REPORT if IN_STUDY else [],
        scorer=layout.MADE_MANIFEST if CONFIG.training.cross_validate and not OF_GRAPHS else [],


rule build_graphs:
    """Graphs and coverage of every data set, enough of them for training."""
    input:
        expand(layout.PUBLISHED, dataset=OF_DECOYS),
        expand(layout.PACK, dataset=OF_GRAPHS),
        expand(layout.COVERAGE_CHECK, dataset=TRAINED_ON),
