"""What the rules ask: which files go into a job, and with which parameters.

The answers are here, importable and tested, so that rule files hold rules only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toporank import layout
from toporank.building.plan import ledgers_of_others, plan_decoy, planned_chunks, selection_name
from toporank.building.progress import Part
from toporank.config import Config
from toporank.config.training import Hyperparameters, Phase
from toporank.evaluation.selection import CHECKPOINT_OF
from toporank.features.registry import canonical
from toporank.workflow.preflight import checkpoint_of, selection_of


def default_config(repository: Path) -> Path:
    """`config/config.yaml` of the working directory, or the example that ships with the repository."""
    own = Path("config/config.yaml")
    return own if own.exists() else repository / own


def one_of(names: Iterable[str]) -> str:
    """A wildcard constraint that matches these names and nothing else."""
    return "|".join(re.escape(name) for name in names) or "(?!)"


def raised(first: int) -> Callable[[Any, int], int]:
    """A resource that a job which failed gets more of: `first` times the number of the attempt."""

    def resource(wildcards: Any, attempt: int) -> int:
        return first * attempt

    return resource


def feature_jobs(dag: Any) -> list[Part]:
    """The feature jobs that a run will do, by the ledgers they write."""
    jobs = [job for job in dag.needrun_jobs() if "chunk" in job.wildcards.keys()]  # noqa: SIM118 -- no mapping
    return [Part(j.wildcards.dataset, Path(j.output[0]).parent.name, j.wildcards.chunk) for j in jobs]


@dataclass(frozen=True)
class Jobs:
    """Answers for one configuration.

    chunks : names of the chunks of each data set. planning : the main process, which may write plans.
    """

    config: Config
    chunks: dict[str, list[str]]
    planning: bool = False

    @property
    def scoring_only(self) -> bool:
        """Decoys are scored with an existing checkpoint; nothing is trained."""
        return self.config.score_decoys is not None

    def plans(self, wildcards: Any) -> list[str]:
        """Plans of all decoys of a data set, whether they are asked for or not."""
        name = wildcards.dataset
        chunks = planned_chunks(name) if self.config.targets else self.chunks[name]
        return [layout.PLAN.format(dataset=name, chunk=c) for c in chunks]

    def ledgers(self, wildcards: Any) -> list[str]:
        """Ledgers of the last feature stage of all chunks of a data set."""
        return [
            layout.LEDGER.format(dataset=wildcards.dataset, stage="graphs", chunk=c)
            for c in self.chunks[wildcards.dataset]
        ]

    def other_ledgers(self, wildcards: Any) -> list[str]:
        """Ledgers of earlier builds that tell of the targets not asked for."""
        if not self.config.targets:
            return []
        return list(map(str, ledgers_of_others(wildcards.dataset, layout.STAGES[-1], selection_of(self.config))))

    def decoy_ledger(self, wildcards: Any) -> str:
        """Ledger of one decoy that is asked for by its path."""
        names = (wildcards.target, wildcards.decoy)
        chunk = f"{selection_name('decoy', *names)}-001-of-001"
        if self.planning:
            chunk = plan_decoy(wildcards.dataset, *names, again=self.config.retry == "failed")
        return layout.LEDGER.format(dataset=wildcards.dataset, stage=layout.STAGES[-1], chunk=chunk)

    def training_inputs(self, pattern: str) -> list[str]:
        """One file for each data set that is trained on."""
        return [pattern.format(dataset=name) for name in self.config.training_datasets]

    def finetune_inputs(self, pattern: str) -> Callable[[Any], list[str]]:
        """For a fine-tune run one file for each data set that its phase learns from."""

        def inputs(wildcards: Any) -> list[str]:
            phase, _ = self.config.finetune_runs()[wildcards.run]
            return [pattern.format(dataset=name) for name in phase.datasets or self.config.training_datasets]

        return inputs

    def training_parameters(self, wildcards: Any) -> str:
        """All that `train.py` has to know of a run, as canonical JSON."""
        entry, seed = {**self.config.sweep_runs(), **self.config.finetune_runs()}[wildcards.run]
        hyperparameters = entry.model_dump(include=set(Hyperparameters.model_fields))  # not its name and seeds
        chosen = self.config.training.model_dump(include={"selection", "hardware", "loading", "trackers"})
        parameters = {"seed": seed, "hyperparameters": hyperparameters, **chosen}
        return canonical({**parameters, "freeze": entry.freeze} if isinstance(entry, Phase) else parameters)

    def parent(self, wildcards: Any) -> str:
        """Checkpoint a fine-tune run starts from."""
        phase, _ = self.config.finetune_runs()[wildcards.run]
        if phase.parent == "sweep":
            return layout.SWEEP_CHECKPOINT
        kept = CHECKPOINT_OF[self.config.training.selection.rule]
        return f"{layout.FINETUNE_RUN.format(run=phase.parent)}/{kept}.ckpt"

    def sweep_summaries(self) -> list[str]:
        """summary.json of every sweep run."""
        return [f"{layout.SWEEP_RUN.format(run=run)}/summary.json" for run in self.config.sweep_runs()]

    def finetune_summaries(self) -> list[str]:
        """summary.json of every fine-tune run."""
        return [f"{layout.FINETUNE_RUN.format(run=run)}/summary.json" for run in self.config.finetune_runs()]

    def final_options(self) -> str:
        """Size and score of the final ensemble as options of `select_best.py`."""
        final = self.config.training.final
        return f"--score {final.score}" + (f" --members {final.members}" if final.members else "")

    def scorer(self) -> str:
        """The checkpoint that scores."""
        return checkpoint_of(self.config) if self.scoring_only else layout.FINAL_CHECKPOINT

    def ensemble(self) -> list[str]:
        """Folder of the checkpoints whose spread is reported: beside the scorer, if there is one."""
        beside = Path(self.scorer()).parent / Path(layout.FINAL_ENSEMBLE).name
        return [str(beside)] if not self.scoring_only or beside.is_dir() else []

    def rankings(self) -> list[str]:
        """Ranking of every data set."""
        return [layout.RANKING.format(dataset=name) for name in self.chunks]

    def evaluations(self) -> list[str]:
        """Evaluation of every labelled data set."""
        return [layout.EVALUATION.format(dataset=d.name) for d in self.config.datasets if d.labels is not None]

    def reports(self) -> list[str]:
        """The page of the whole study, or of each scored data set."""
        if self.scoring_only:
            return [layout.SCORE_REPORT.format(dataset=name) for name in self.chunks]
        return [layout.REPORT]
