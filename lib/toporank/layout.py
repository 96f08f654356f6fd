"""Where everything lies, under `results/` and in this repository.

No other module knows how paths are made.

Patterns carry Snakemake wildcards; `{chunk}` and so on are explained in `docs/workflow.md`.
"""

from __future__ import annotations

from pathlib import Path

STAGES = ("interface", "topology", "nodes", "graphs")
"""The stages with an artefact for each decoy, in the order the data flows. Edges have a module but
no stage of their own: the graphs are computed with them.
"""

SUFFIX = {"interface": ".csv", "topology": ".csv", "nodes": ".csv", "graphs": ".pt"}

PLAN = "results/{dataset}/plan/{chunk}.tsv"
CURRENT = "results/{dataset}/plan/current.json"
LEDGER = "results/{dataset}/ledger/{chunk}.tsv"
LOG = "logs/chunks/{dataset}/{chunk}.log"
TIMES = "logs/benchmarks/chunks/{dataset}/{chunk}.tsv"
PROGRESS = ".toporank/progress/{dataset}/{chunk}"
TRAINING_PROGRESS = ".toporank/progress/training"
"""Each training run leaves its last line there, in a file called like its folder in `results/`."""
LABELLED = "results/{dataset}/ledger/labels/{chunk}.json"
LABEL_LOG = "logs/labels/{dataset}/{chunk}.log"
OF_CHUNKS = (PLAN, LEDGER, LOG, TIMES, PROGRESS, LABELLED, LABEL_LOG)
"""What belongs to one chunk."""
SCORED_PART = "results/scores/{dataset}/parts/{part}.jsonl"
OF_PARTS = (SCORED_PART, "logs/scoring/{dataset}/{part}.log")
"""What belongs to one part."""
LOCK = ".toporank/locks/{name}"
ARTEFACT = {
    stage: f"results/{{dataset}}/{stage}/{{target}}/{{decoy}}{suffix}"
    for stage, suffix in SUFFIX.items()
}
"""Stage → file of one decoy."""
GAP = "results/{dataset}/gap.tsv"
ARTEFACTS = "results/{dataset}/{stage}"
PUBLISHED = "results/{dataset}/published.tsv"
"""Which artefacts `results/` shows, with their checksums."""
LABELS = "results/{dataset}/labels.csv"
DOCKQ = "results/{dataset}/dockq.csv"
LABELS_INTERFACES = "results/{dataset}/labels_interfaces.csv"
COVERAGE = "results/{dataset}/coverage.tsv"
CHAINS = "results/{dataset}/chains.csv"
SPLITS = "results/splits.csv"
COVERAGE_CHECK = "results/{dataset}/coverage_check.txt"
PACK = "results/{dataset}/graphs.safetensors"

TRAINING = "training"
"""In the place of a data set for sweep and fine-tuning; no data set is called so."""
SAMPLING = "sampling"
"""In the place of a data set where sampling reports its progress; its decoys are a folder to give
as `decoys`.
"""
SAMPLED = "results/sampling/{target}"
POSES = "poses.csv"
"""In the folder of a sampled target: every decoy, and whatever failed; in the folder above: those
of all targets.
"""
SAMPLED_POSES = f"results/sampling/{POSES}"
SAMPLED_LABELS = "results/sampling/labels.csv"

RUN_FILES = (
    "best_loss.ckpt",
    "best_selection.ckpt",
    "best_ranking.ckpt",
    "last.ckpt",
    "metrics.csv",
    "summary.json",
    "config.yaml",
)
"""What every training run leaves behind, sweep and fine-tune alike."""

RUNNERS_UP = "runners_up"
"""Folder of a run with the second and third best checkpoints under each rule: `best_loss_2.ckpt`
and so on.
"""

SUMMARY = "/summary.json"
"""In the folder of every training run."""
SWEEP_RUN = "results/training/{run}"
FINETUNE_RUN = "results/finetune/{run}"
LEADERBOARD = "results/training/leaderboard.csv"
SWEEP_CHECKPOINT = "results/training/best.ckpt"
SWEEP_REASON = "results/training/best.json"
FINAL_LEADERBOARD = "results/final/leaderboard.csv"
FINAL_CHECKPOINT = "results/final/best.ckpt"
FINAL_REASON = "results/final/best.json"
FINAL_ENSEMBLE = "results/final/ensemble"
FINAL_SCORER = "results/final"
"""Folder of the scorer of a study, of whose files `FINAL_MANIFEST` is written last."""
FINAL_MANIFEST = "results/final/scorer.json"
MADE_SCORER = "results/scorer"
"""Folder of the scorer made from a cross-validation, of whose files `MADE_MANIFEST` is written
last.
"""
MADE_MANIFEST = "results/scorer/scorer.json"
MADE_CARD = "results/scorer/README.md"
SHIPPED_SCORER = "resources/scorer"
"""In the repository."""

FOLD_RUN = "results/cross_validation/fold{fold}/{run}"
FOLD_PREDICTIONS = "results/cross_validation/predictions.csv"
FOLD_METRICS = "results/cross_validation/metrics.csv"

MODEL_TABLE = "results/scores/{dataset}/models.csv"
DETAILS = "results/scores/{dataset}/details.csv"
SCORED_INTERFACES = "results/scores/{dataset}/interfaces.csv"
EMBEDDINGS = "results/scores/{dataset}/embeddings.csv"
RESIDUES = "results/scores/{dataset}/residues.csv"
CONTACTS = "results/scores/{dataset}/contacts.csv"
MODELS = "results/scores/{dataset}/models"
SCORED_WITH = "results/scores/{dataset}/scored_with.json"
"""Which scorer gave the scores, and how; `toporank compare` reads it."""
CONFIDENCE = "results/scores/{dataset}/confidence.csv"
STUDY_LEAKAGE = "results/leakage.csv"
SCORE_REPORT = "results/scores/{dataset}/report.html"
TOP_PML = "results/scores/{dataset}/top.pml"
TOP_CXC = "results/scores/{dataset}/top.cxc"
TARGETS = "results/scores/{dataset}/targets.csv"
BESIDE_PAGE = (TOP_PML, TOP_CXC)
"""Scripts for PyMOL and ChimeraX."""
PER_TARGET = "results/evaluation/{dataset}/per_target.csv"
EVALUATION = "results/evaluation/{dataset}/summary.json"
REPORT = "results/report.html"
SETTINGS = "toporank.json"
"""In the folder of a command: the configuration that it made."""


def mark_of_running(log: str) -> Path:
    """The file that is there while the job with this log runs."""
    return Path(f"{log}.running")


def beside(table: str) -> list[str]:
    """Further tables of a leaderboard.

    They have the winner under each rule, and mean and deviation over seeds.
    """
    folder = table.rpartition("/")[0]
    return [f"{folder}/winners.csv", f"{folder}/configs.csv"]


def runners_up(run: str) -> str:
    """The folder of a run's second and third best checkpoints."""
    return f"{run}/{RUNNERS_UP}"


def run_files(run: str) -> list[str]:
    """The files of a run, given its folder."""
    return [f"{run}/{name}" for name in RUN_FILES]


PACKAGE = Path(__file__).parent
INSTALLED = PACKAGE / "repository"
"""Where `setup.py` puts them in a wheel; a clone does not have it."""


def repository() -> Path:
    """The folder with the Snakefile: the clone, or that inside the installed package."""
    return INSTALLED if INSTALLED.is_dir() else PACKAGE.parents[1]


def progress_of_run(folder: str) -> Path:
    """Where the training run of a folder in `results/` leaves its last line."""
    return Path(TRAINING_PROGRESS, Path(folder).relative_to("results"))
