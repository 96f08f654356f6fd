"""What the rules need beside names: the files that go into a job, and what else it depends on.

It is here, importable and tested, so that rule files hold only rules.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from snakemake.io import expand

from toporank import layout
from toporank.app.config import Config
from toporank.app.data_sets import locate, scorer_of
from toporank.app.workflow.planned import PlannedDataset
from toporank.app.workflow.preflight import Preflight
from toporank.app.workflow.progress import Part
from toporank.building.chunks.plan import (
    Current,
    PlannedDecoy,
    read_chunk,
    read_chunks,
    read_current,
)
from toporank.building.chunks.published import (
    ArtefactKey,
    Published,
    made_of,
    place,
    read_published,
    used_by,
)
from toporank.building.chunks.stages import recipes
from toporank.code import LIBRARY, ROOMS, code_of
from toporank.confidence import beside as confidence_files
from toporank.errors import ConfigError
from toporank.features.registry import FeatureChoice, canonical, records
from toporank.files.atomic import sha256
from toporank.learning.hyperparameters import Hyperparameters, Phase
from toporank.learning.run import CHECKPOINT_OF
from toporank.lookup import only, targets_of
from toporank.programs.file_names import links_in
from toporank.scorer.scorer import files_of
from toporank.settings import did_you_mean
from toporank.structures.identity import DecoyKey

CODE_OF_STEPS = ("chains", "structures", *ROOMS, "report")
"""The rooms that steps after the graphs use, each with all before it. Changed features show in the
graphs.
"""


def default_config(scores_folder: bool) -> list[Path]:
    """`config/config.yaml` of the working directory, or the example that ships.

    Where a folder is scored, the example that ships says nothing about it.
    """
    path = Path("config/config.yaml")
    in_repository = layout.repository() / path
    if path.exists() and not (scores_folder and path.samefile(in_repository)):
        return [path]
    return [] if scores_folder else [in_repository]


def step_code(script: str) -> str:
    """Digest of the code of a step.

    It covers the script in `workflow_scripts` and the rooms that it uses.
    """
    path = layout.repository() / "workflow_scripts" / script
    text = path.read_text(encoding="utf-8")
    n_rooms = 3
    for n, room in enumerate(CODE_OF_STEPS, 1):
        if f"toporank.{room}" in text:
            n_rooms = n
    packages = [
        str(folder)
        for folder in LIBRARY.parent.glob("toporank_*")
        if folder.name in text
    ]
    return code_of(str(path), *CODE_OF_STEPS[:n_rooms], *packages)


def any_name_of(names: Iterable[str]) -> str:
    """A wildcard constraint that matches these names and nothing else."""
    return "|".join(map(re.escape, names)) or "(?!)"


def more_each_attempt(first: int) -> Callable[[Any, int], int]:
    """A resource that a retried job gets more of: `first` times the number of the attempt."""

    def resource(wildcards: Any, attempt: int) -> int:
        return first * attempt

    return resource


def digest(value: object) -> str:
    """16 hexadecimal digits that say whether a value is what it was."""
    return hashlib.sha256(repr(value).encode()).hexdigest()[:16]


@dataclass(frozen=True, eq=False)  # so that what it looked up can be kept
class Plans:
    """The decoys of a run by parts and chunks, and what jobs depend on beside files.

    check : what the preflight found; None in the process of a single job, which reads what the run
    recorded.
    """

    config: Config
    choices: dict[str, FeatureChoice]
    check: Preflight | None = None

    @property
    def by_artefact(self) -> bool:
        """Whether each artefact has a job of its own."""
        return self.config.workflow.jobs == "artefact"

    def current(self, dataset: str) -> Current:
        """What this run builds of a data set; nothing where it has a problem."""
        if self.check:
            return self.check.of(dataset).current
        return read_current(dataset) or Current()

    def chunk(self, dataset: str, name: str) -> list[PlannedDecoy]:
        """The decoys of a chunk."""
        if self.check:
            return self.check.of(dataset).chunks[name]
        return read_chunk(dataset, name)

    # ---- chunks and parts ------------------------------------------------------------------------

    def ledgers(self, wildcards: Any) -> list[str]:
        """Ledgers of all chunks that are built of a data set."""
        chunks = self.current(wildcards.dataset).chunks
        return expand(layout.LEDGER, dataset=wildcards.dataset, chunk=chunks)

    def labelled_chunks(self, wildcards: Any) -> list[str]:
        """The labels of all chunks of a data set, even when only a part of it is built."""
        chunks = self.current(wildcards.dataset).of_all
        return expand(layout.LABELLED, dataset=wildcards.dataset, chunk=chunks)

    def scored_parts(self, wildcards: Any) -> list[str]:
        """The scores of all parts of a data set."""
        parts = self.current(wildcards.dataset).parts
        return expand(layout.SCORED_PART, dataset=wildcards.dataset, part=parts)

    def chunks_of_part(self, wildcards: Any) -> list[str]:
        """The chunks of a part of the targets of a data set."""
        return self.current(wildcards.dataset).parts[wildcards.part]

    def ledgers_of_part(self, wildcards: Any) -> list[str]:
        """The ledgers that a part is scored from, in a study: those of its own chunks."""
        if self.config.score_decoys is not None:
            return []
        current = self.current(wildcards.dataset)
        chunks = current.parts[wildcards.part]
        if current.chunks != current.of_all:  # a partial build has other chunks
            chunks = current.chunks
        return expand(layout.LEDGER, dataset=wildcards.dataset, chunk=chunks)

    def decoys_of_jobs(self, dag: Any) -> dict[Part, int]:
        """The jobs of a run that build, score or sample, and how many decoys each has."""
        parts = {}
        for job in dag.needrun_jobs():
            rule, of_job = job.rule.name, job.wildcards
            if rule == "build_chunk":
                part = Part(of_job.dataset, of_job.chunk, "features")
                parts[part] = len(self.chunk(of_job.dataset, of_job.chunk))
            elif rule == "score_targets":
                part = Part(of_job.dataset, of_job.part, "scores")
                chunks = self.chunks_of_part(of_job)
                parts[part] = sum(len(self.chunk(of_job.dataset, c)) for c in chunks)
            elif rule == "sample_target":
                part = Part(layout.SAMPLING, of_job.target)
                parts[part] = self.config.sampling.decoys
        return {part: n_decoys for part, n_decoys in parts.items() if n_decoys}

    # ---- artefacts of single decoys --------------------------------------------------------------

    @functools.cache  # noqa: B019 -- lives as long as the process
    def _decoys(self, dataset: str) -> dict[DecoyKey, PlannedDecoy]:
        if self.check:
            return self.check.of(dataset).plan
        return read_chunks(dataset, self.current(dataset).of_all)

    def _planned(self, dataset: str) -> PlannedDataset:
        return self.check.of(dataset) if self.check else PlannedDataset()

    def decoy(self, wildcards: Any) -> PlannedDecoy:
        """The decoy of an artefact that is asked for.

        Raises
        ------
        ConfigError
            There is no such decoy.
        """
        decoys = self._decoys(wildcards.dataset)
        key = wildcards.target, wildcards.decoy
        if key not in decoys:
            name = "/".join(key)
            remedy = did_you_mean(name, map("/".join, decoys))
            where = f"dataset {wildcards.dataset}"
            raise ConfigError(f"no model {name}", where=where, remedy=remedy)
        return decoys[key]

    def decoy_file(self, wildcards: Any) -> list[str]:
        """The structure file of a decoy; none where it cannot be read."""
        path = self.decoy(wildcards).path
        return [path] if path else []

    def decoy_of(self, stage: str) -> Callable[[Any], PlannedDecoy]:
        """The decoy of an artefact, without what that does not depend on."""
        return lambda wildcards: used_by(stage, self.decoy(wildcards))

    def features_of(self, stage: str) -> str:
        """The feature modules of a stage and of those before it."""
        used = self.choices
        if stage != layout.STAGES[-1]:
            stages = layout.STAGES[: layout.STAGES.index(stage) + 1]
            used = only(self.choices, stages)
        return canonical(records(used))

    def is_outdated(self, stage: str, wildcards: Any) -> bool:
        """Whether `publish` wrote an artefact that would now be another.

        Snakemake does not know what that was made from.
        """
        published = self._published(wildcards.dataset)
        row = published.get((stage, wildcards.target, wildcards.decoy))
        current = made_of(self.decoy(wildcards), stage, recipes(self.choices))
        return row is not None and row.made_of != current

    @functools.cache  # noqa: B019 -- lives as long as the process
    def _published(self, dataset: str) -> dict[ArtefactKey, Published]:
        return read_published(dataset)

    def artefacts_of_chunk(self, wildcards: Any) -> list[str]:
        """The graphs of the decoys of a chunk, where each artefact has a job of its own."""
        if not self.by_artefact:
            return []
        keys = [row.key for row in self.chunk(wildcards.dataset, wildcards.chunk)]
        return [str(place(wildcards.dataset, layout.STAGES[-1], *key)) for key in keys]

    # ---- what jobs depend on beside files --------------------------------------------------------

    @functools.cache  # noqa: B019 -- several jobs depend on it
    def contents(self, dataset: str) -> str:
        """All decoys of a data set and its labels, as a digest."""
        labels = map(tuple, self._planned(dataset).labels)
        return digest((self.current(dataset).of_all, [*labels]))

    @functools.cache  # noqa: B019 -- once a data set, not once a part
    def confidence_state(self, dataset: str) -> str:
        """The state of all files in which predictors may describe decoys, as a digest."""
        paths = {decoy.path for decoy in self._planned(dataset).decoys}
        states = set()
        for folder in set(map(os.path.dirname, paths)):
            folders = {Path(folder)}
            for name in links_in(Path(folder)):
                path = os.path.join(folder, name)
                if path in paths:
                    folders.add(Path(path).resolve().parent)
            states.update(confidence_files.states(folders))
        return digest(sorted(states)) if states else ""

    def natives_state(self, wildcards: Any) -> str:
        """Which natives the targets of a chunk have, with states of their files, as a digest."""
        planned = self._planned(wildcards.dataset)
        decoys = planned.chunks.get(wildcards.chunk, ())
        targets = sorted(targets_of(decoys))
        return digest([(target, planned.natives.get(target)) for target in targets])

    def natives_folder(self, dataset: str) -> str:
        """Where the natives of a data set lie; empty where it has none."""
        natives = self.config.dataset(dataset).natives
        return "" if natives is None else str(locate(natives))

    # ---- labels ----------------------------------------------------------------------------------

    def labels_of_chunk(self, wildcards: Any) -> list[str]:
        """The labels of the decoys of a chunk, where they come from natives."""
        if not self.config.dataset(wildcards.dataset).labels_from_natives:
            return []
        return expand(layout.LABELLED, **wildcards)

    def label_table(self, wildcards: Any) -> list[str]:
        """The labels of a data set as a file, where a job writes it."""
        dataset = self.config.dataset(wildcards.dataset)
        if not dataset.labels_from_natives and dataset.graphs is None:
            return []
        return [layout.LABELS.format(dataset=wildcards.dataset)]

    # ---- training --------------------------------------------------------------------------------

    def training_parameters(self, wildcards: Any) -> dict[str, Any]:
        """Everything that decides a run, beside its graphs and its parent."""
        entry, seed = self.config.runs()[wildcards.run]
        without_name_and_seeds = set(Hyperparameters.model_fields)
        training = self.config.training
        parameters = {
            "seed": seed,
            "hyperparameters": entry.model_dump(include=without_name_and_seeds),
            # a run keeps its best checkpoint under every rule
            "selection": training.selection.model_dump(exclude={"rule"}),
            "hardware": training.hardware.model_dump(),
        }
        if isinstance(entry, Phase):
            parameters["freeze"] = entry.freeze
        return parameters

    def parent(self, phase: Phase) -> list[str]:
        """The checkpoint that the runs of a fine-tune phase start from, or those to choose from."""
        if phase.parent_files:
            return self._located(phase.parent_files)
        if phase.parent == "sweep":
            return [layout.SWEEP_CHECKPOINT]
        runs = self.config.finetune_runs()
        (run,) = [run for run, (other, _) in runs.items() if other.name == phase.parent]
        best = CHECKPOINT_OF[self.config.training.selection.rule]
        return [f"{layout.FINETUNE_RUN.format(run=run)}/{best}.ckpt"]

    # ---- scores ----------------------------------------------------------------------------------

    @property
    def scorer(self) -> str:
        """The folder of the scorer, or its checkpoint."""
        return scorer_of(self.config)

    def scorers(self, wildcards: Any) -> list[str]:
        """The scorer of a data set, or those from which it takes the first that fits."""
        named = self.config.dataset(wildcards.dataset).scorer
        return self._located(named) or [self.scorer]

    def scorer_files(self, wildcards: Any) -> list[str]:
        """The files on which scores depend; of a study the one that is written last."""
        files: list[str] = []
        for scorer in self.scorers(wildcards):
            if scorer == layout.FINAL_SCORER:
                files.append(layout.FINAL_MANIFEST)
            else:
                files += map(str, files_of(scorer))
        return files

    def _located(self, files: Iterable[str]) -> list[str]:
        return [str(locate(file)) for file in files]

    @functools.cached_property
    def scorer_content(self) -> str:
        """What is in the files of a scorer that is given, as a digest.

        It is empty where one of them is missing.

        Snakemake would not notice that a file with an older date has taken the place of another.
        """
        if self.config.score_decoys is None or not self.check:
            return ""
        try:
            return digest(list(map(sha256, files_of(self.scorer))))
        except OSError:  # the preflight says which
            return ""

    @property
    def scoring_options(self) -> dict[str, Any]:
        """How models are scored, but for what differs between data sets."""
        return {
            "rank_by": self.config.rank_by,
            "use_confidence": self.config.confidence,
        }
