"""What the rules need: which files go into a job, and with which parameters.

It is here, importable and tested, so that rule files hold only rules.
"""

from __future__ import annotations

import hashlib
import math
import os
import re
import shlex
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from snakemake.io import expand

from toporank import layout
from toporank.app.config import Config, locate
from toporank.app.workflow.data_sets import scorer_of
from toporank.app.workflow.preflight import Preflight
from toporank.app.workflow.progress import Part
from toporank.building.chunks.plan import (
    Current,
    PlannedDecoy,
    part_of,
    read_chunk,
    read_current,
)
from toporank.code import LIBRARY, ROOMS, code_of
from toporank.features.registry import canonical
from toporank.files.atomic import sha256
from toporank.inputs.confidence import side_files as confidence_files
from toporank.layout import repository
from toporank.learning.hyperparameters import Hyperparameters, Phase
from toporank.learning.selection import CHECKPOINT_OF
from toporank.scorer.scorer import files_of

CODE_OF_STEPS = ("structures", *ROOMS, "report")
"""The rooms that steps after the graphs use, each with all before it. Changed features show in the
graphs.
"""
SUMMARY = "/summary.json"
"""In the folder of every training run."""


def default_config(repository: Path) -> Path:
    """`config/config.yaml` of the working directory, or the example that ships."""
    in_working_directory = Path("config/config.yaml")
    if in_working_directory.exists():
        return in_working_directory
    return repository / in_working_directory


def step_code(repository: Path, script: str) -> str:
    """Digest of the code of a step after the graphs.

    It covers the script in `workflow_scripts` and the rooms that it uses.
    """
    path = repository / "workflow_scripts" / script
    text = path.read_text(encoding="utf-8")
    n_rooms = 2
    for n, room in enumerate(CODE_OF_STEPS, 1):
        if f"toporank.{room}" in text:
            n_rooms = n
    packages = [
        str(folder)
        for folder in LIBRARY.parent.glob("toporank_*")
        if folder.name in text
    ]
    return code_of(str(path), *CODE_OF_STEPS[:n_rooms], *packages)


def one_of(names: Iterable[str]) -> str:
    """A wildcard constraint that matches these names and nothing else."""
    return "|".join(map(re.escape, names)) or "(?!)"


def raised(first: int) -> Callable[[Any, int], int]:
    """A resource that a retried job gets more of: `first` times the number of the attempt."""

    def resource(wildcards: Any, attempt: int) -> int:
        return first * attempt

    return resource


def _digest(value: object) -> str:
    return hashlib.sha256(repr(value).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Jobs:
    """Answers for one configuration.

    check : what the preflight found; None in the process of a job, which reads what the run
    recorded.
    """

    config: Config
    check: Preflight | None = None

    # ---- data sets -------------------------------------------------------------------------------

    @property
    def datasets(self) -> list[str]:
        """Names of all data sets."""
        return [dataset.name for dataset in self.config.datasets]

    @property
    def of_graphs(self) -> list[str]:
        """Names of the data sets that are graphs of another pipeline."""
        return [
            dataset.name
            for dataset in self.config.datasets
            if dataset.graphs is not None
        ]

    @property
    def of_decoys(self) -> list[str]:
        """Names of the data sets that are decoys."""
        return [
            dataset.name for dataset in self.config.datasets if dataset.graphs is None
        ]

    @property
    def with_natives(self) -> list[str]:
        """Names of the data sets that can be labelled."""
        return [
            dataset.name
            for dataset in self.config.datasets
            if dataset.natives is not None
        ]

    @property
    def labelled_by_natives(self) -> list[str]:
        """Names of the data sets whose labels come from natives."""
        return [
            dataset.name
            for dataset in self.config.datasets
            if dataset.labels_from_natives
        ]

    @property
    def scoring_only(self) -> bool:
        """Decoys are scored with an existing checkpoint; nothing is trained."""
        return self.config.score_decoys is not None

    # ---- chunks and parts ------------------------------------------------------------------------

    def current(self, dataset: str) -> Current | None:
        """What this run builds of a data set."""
        return self.check.of(dataset).current if self.check else read_current(dataset)

    def ledgers(self, wildcards: Any) -> list[str]:
        """Ledgers of all chunks that are built of a data set."""
        current = self.current(wildcards.dataset)
        chunks = current.chunks if current else []
        return expand(layout.LEDGER, dataset=wildcards.dataset, chunk=chunks)

    def decoy_ledger(self, wildcards: Any) -> str:
        """Ledger of one decoy that is asked for by its path."""
        chunk = self.check.chunk_of_decoy(
            wildcards.dataset, wildcards.target, wildcards.decoy
        )
        return layout.LEDGER.format(dataset=wildcards.dataset, chunk=chunk)

    def labelled_chunks(self, wildcards: Any) -> list[str]:
        """The labels of all chunks of a data set, even when only a part of it is built."""
        current = self.current(wildcards.dataset)
        chunks = current.of_all if current else []
        return expand(layout.LABELLED, dataset=wildcards.dataset, chunk=chunks)

    def models_to_score(self, wildcards: Any) -> list[str]:
        """What a part of a data set is scored from.

        These are the plans of its models or, in a study, their ledgers.
        """
        if not self.scoring_only:
            return self.ledgers(wildcards)
        current = self.current(wildcards.dataset)
        chunks = current.chunks if current else []
        return expand(layout.PLAN, dataset=wildcards.dataset, chunk=chunks)

    def scored_parts(self, wildcards: Any) -> list[str]:
        """The scores of all parts of a data set.

        A part has whole targets, about `workflow.chunk_size` models.
        """
        dataset = wildcards.dataset
        if self.current(dataset) is None:
            return []
        n_models = len(self._plan(dataset))
        n_parts = max(1, math.ceil(n_models / self.config.workflow.chunk_size))
        parts = [f"{n}-of-{n_parts}" for n in range(1, n_parts + 1)]
        return expand(layout.SCORED_PART, dataset=dataset, part=parts)

    def decoys_of_jobs(self, dag: Any) -> dict[Part, int]:
        """The jobs of a run that build, score or sample, and how many decoys each has."""
        parts = {}
        for job in dag.needrun_jobs():
            rule, wildcards = job.rule.name, job.wildcards
            if rule == "build_chunk":
                chunks = self.check.of(wildcards.dataset).chunks
                part = Part(wildcards.dataset, wildcards.chunk, "features")
                parts[part] = len(chunks[wildcards.chunk])
            elif rule == "sample_target":
                parts[Part(layout.SAMPLING, wildcards.target)] = (
                    self.config.sampling.decoys
                )
            elif rule == "score_targets":
                targets = part_of(self._plan(wildcards.dataset), wildcards.part)
                part = Part(wildcards.dataset, wildcards.part, "scores")
                parts[part] = sum(map(len, targets))
        return {part: n_decoys for part, n_decoys in parts.items() if n_decoys}

    def _plan(self, dataset: str) -> list[PlannedDecoy]:
        """All decoys of a data set."""
        current = self.current(dataset)
        plan = []
        for name in current.of_all if current else []:
            if self.check:
                plan += self.check.of(dataset).chunks[name]
            else:
                plan += read_chunk(dataset, name)
        return plan

    # ---- what jobs depend on beside files --------------------------------------------------------

    def contents(self, wildcards: Any) -> str:
        """What the coverage of a data set depends on beside ledgers.

        These are all its decoys, and its labels, as a digest.
        """
        return self._contents_of([wildcards.dataset])

    @property
    def learned_contents(self) -> str:
        """What the splits depend on beside chains, as a digest."""
        return self._contents_of(self.config.learned_datasets)

    def _contents_of(self, datasets: list[str]) -> str:
        contents = []
        for name in datasets:
            current = self.current(name)
            contents.append(current and current.of_all)
            contents.append(self.check.of(name).labels if self.check else None)
        return _digest(tuple(contents))

    def confidence_state(self, wildcards: Any) -> str:
        """The state of all files in which predictors may describe decoys, as a digest."""
        decoys = self.check.of(wildcards.dataset).decoys if self.check else []
        folders = set()
        for decoy in decoys:
            folders.add(Path(decoy.path).parent)
            if os.path.islink(decoy.path):
                folders.add(Path(os.path.realpath(decoy.path)).parent)
        states = confidence_files.states(folders)
        return _digest(states) if states else ""

    def natives_state(self, wildcards: Any) -> str:
        """Which natives the targets of a chunk have, with states of their files, as a digest."""
        if not self.check:
            return ""
        planned = self.check.of(wildcards.dataset)
        decoys = planned.chunks.get(wildcards.chunk, ())
        targets = sorted({decoy.target for decoy in decoys})
        return _digest([(target, planned.natives.get(target)) for target in targets])

    # ---- labels ----------------------------------------------------------------------------------

    def dockq_tables(self) -> list[str]:
        """The tables of labels that natives give."""
        return expand(layout.DOCKQ, dataset=self.with_natives)

    def known_labels(self, wildcards: Any) -> list[str]:
        """The labels of all chunks of a data set that has natives; none of another."""
        return (
            self.labelled_chunks(wildcards)
            if wildcards.dataset in self.with_natives
            else []
        )

    def chunk_labels(self, wildcards: Any) -> list[str]:
        """The labels of the decoys of a chunk, where they come from natives."""
        if wildcards.dataset not in self.labelled_by_natives:
            return []
        return [
            layout.LABELLED.format(dataset=wildcards.dataset, chunk=wildcards.chunk)
        ]

    def label_table(self, wildcards: Any) -> list[str]:
        """The labels of a data set as a file that a job writes, where they come from natives."""
        if wildcards.dataset not in [*self.labelled_by_natives, *self.of_graphs]:
            return []
        return [layout.LABELS.format(dataset=wildcards.dataset)]

    def natives_folder(self, wildcards: Any, repository: Path) -> Path:
        """Where the natives of a data set lie."""
        return locate(self.config.dataset(wildcards.dataset).natives, repository)

    def natives_option(self, wildcards: Any, repository: Path) -> list[str]:
        """Where the natives of a data set lie, if it has any, as an option of `pack_graphs.py`."""
        if wildcards.dataset not in self.with_natives:
            return []
        return ["--natives", str(self.natives_folder(wildcards, repository))]

    # ---- training --------------------------------------------------------------------------------

    def training_inputs(self, pattern: str) -> list[str]:
        """One file for each data set that is trained on."""
        return expand(pattern, dataset=self.config.training_datasets)

    def learned_inputs(self, pattern: str) -> list[str]:
        """One file for each data set that the study or a fine-tune phase learns from."""
        return expand(pattern, dataset=self.config.learned_datasets)

    def finetune_inputs(self, pattern: str) -> Callable[[Any], list[str]]:
        """For a fine-tune run one file for each data set that its phase learns from."""

        def inputs(wildcards: Any) -> list[str]:
            phase, _ = self.config.finetune_runs()[wildcards.run]
            return expand(
                pattern, dataset=phase.datasets or self.config.training_datasets
            )

        return inputs

    def split_options(self) -> str:
        """How targets are split, as options of `split_targets.py`."""
        training = self.config.training
        options = [
            f"--split-by {training.split_by}",
            f"--validation-percent {training.validation_percent}",
            f"--seed {training.split_seed}",
            f"--folds {training.folds}",
            f"--leakage {training.leakage}",
            f"--similarity {training.similarity}",
        ]
        first = self.config.training_datasets
        later = [name for name in self.config.learned_datasets if name not in first]
        if later:
            options.append(f"--finetune {' '.join(later)}")
        return " ".join(options)

    def splits(self, wildcards: Any = None) -> list[str]:
        """The table of splits, where something is trained.

        It has wildcards only for a data set that is learned from.
        """
        if self.scoring_only:
            return []
        if (
            wildcards is not None
            and wildcards.dataset not in self.config.learned_datasets
        ):
            return []
        return [layout.SPLITS]

    def training_parameters(self, wildcards: Any) -> str:
        """Everything that `train.py` needs to know about a run, as canonical JSON."""
        runs = {**self.config.sweep_runs(), **self.config.finetune_runs()}
        entry, seed = runs[wildcards.run]
        without_name_and_seeds = set(Hyperparameters.model_fields)
        parameters = {
            "seed": seed,
            "hyperparameters": entry.model_dump(include=without_name_and_seeds),
            "selection": self.config.training.selection.model_dump(),
            "hardware": self.config.training.hardware.model_dump(),
        }
        if isinstance(entry, Phase):
            parameters["freeze"] = entry.freeze
        return canonical(parameters)

    def parent(self, wildcards: Any) -> str:
        """Checkpoint a fine-tune run starts from."""
        runs = self.config.finetune_runs()
        phase, _ = runs[wildcards.run]
        if phase.parent_file is not None:
            return str(locate(phase.parent_file, repository()))
        if phase.parent == "sweep":
            return layout.SWEEP_CHECKPOINT
        (parent,) = [
            run for run, (other, _) in runs.items() if other.name == phase.parent
        ]
        best = CHECKPOINT_OF[self.config.training.selection.rule]
        return f"{layout.FINETUNE_RUN.format(run=parent)}/{best}.ckpt"

    def sweep_summaries(self) -> list[str]:
        """summary.json of every sweep run."""
        return expand(layout.SWEEP_RUN + SUMMARY, run=self.config.sweep_runs())

    def finetune_summaries(self) -> list[str]:
        """summary.json of every fine-tune run."""
        return expand(layout.FINETUNE_RUN + SUMMARY, run=self.config.finetune_runs())

    def final_options(self) -> str:
        """Size and score of the final ensemble as options of `select_best.py`."""
        final = self.config.training.final
        members = f" --members {final.members}" if final.members else ""
        return f"--score {final.score}{members}"

    # ---- cross-validation ------------------------------------------------------------------------

    def fold_summaries(self) -> list[str]:
        """summary.json of every sweep run without each of the folds."""
        return self._of_folds(self.config.sweep_runs())

    def scorer_summaries(self) -> list[str]:
        """summary.json of the run without each of the folds whose networks the scorer has."""
        return self._of_folds([self.config.scorer_run])

    def _of_folds(self, runs: Iterable[str]) -> list[str]:
        folds = range(self.config.training.folds)
        return expand(layout.FOLD_RUN + SUMMARY, fold=folds, run=runs)

    def fold_metrics(self) -> list[str]:
        """The metrics of a cross-validation, where it is part of the study."""
        return [layout.FOLD_METRICS] if self.config.training.cross_validate else []

    def made_scorer(self) -> list[str]:
        """The scorer made from a cross-validation, where that is part of the study."""
        is_made = self.config.training.cross_validate and not self.of_graphs
        return [layout.MADE_MANIFEST] if is_made else []

    def scorer_options(self, repository: Path) -> str:
        """What a scorer is made from, as options of `make_scorer.py`."""
        making = self.config.training.scorer
        names = self.config.training_datasets
        trained_on = [
            dataset for dataset in self.config.datasets if dataset.name in names
        ]
        natives = [
            f"{dataset.name}={locate(dataset.natives, repository)}"
            for dataset in trained_on
            if dataset.natives is not None
        ]
        groups = {
            "--made": making.made,
            "--quality-of": making.quality_of,
            "--natives": natives,
        }
        options = [f"--run {self.config.scorer_run}"]
        options += [
            f"{option} {shlex.join(names)}" for option, names in groups.items() if names
        ]
        return " ".join(options)

    # ---- scores and pages ------------------------------------------------------------------------

    def scoring_options(self) -> str:
        """How models are scored, as options of `score_targets.py` and `collect_scores.py`."""
        confidence = "" if self.config.confidence else " --without-confidence"
        return f"--rank-by {self.config.rank_by}{confidence}"

    def scorer(self, repository: Path) -> str:
        """The folder of the scorer, or its checkpoint."""
        return scorer_of(self.config, repository)

    def scorer_files(self, repository: Path) -> list[str]:
        """The files on which scores depend; of a study the one that is written last."""
        if not self.scoring_only:
            return [layout.FINAL_MANIFEST]
        return list(map(str, files_of(self.scorer(repository))))

    def scorer_content(self, repository: Path) -> str:
        """What is in the files of a scorer that is given, as a digest.

        It is empty where one of them is missing.

        Snakemake would not notice that a file with an older date has taken the place of another.
        """
        if not self.scoring_only:
            return ""
        try:
            return _digest(list(map(sha256, self.scorer_files(repository))))
        except OSError:  # the preflight says which
            return ""

    def published(self) -> list[str]:
        """The tables of published artefacts, where something is trained; scoring publishes none."""
        return (
            []
            if self.scoring_only
            else expand(layout.PUBLISHED, dataset=self.of_decoys)
        )

    def rankings(self) -> list[str]:
        """Ranking of every data set."""
        return expand(layout.MODEL_TABLE, dataset=self.datasets)

    def evaluations(self) -> list[str]:
        """Evaluation of every labelled data set."""
        labelled = [
            dataset.name for dataset in self.config.datasets if dataset.is_labelled
        ]
        return expand(layout.EVALUATION, dataset=labelled)

    def reports(self) -> list[str]:
        """The page of the whole study, and that of each data set."""
        pages = expand(layout.SCORE_REPORT, dataset=self.datasets)
        return pages if self.scoring_only else [layout.REPORT, *pages]
