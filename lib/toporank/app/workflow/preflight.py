"""One check before any job: whether everything is there, readable and writable."""

from __future__ import annotations

import contextlib
import gc
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from toporank import layout
from toporank.app.config import Config
from toporank.app.data_sets import NO_SCORER, check_is_there, natives_to_sample
from toporank.app.workflow.planned import (
    ELSEWHERE,
    PlannedDataset,
    plan_decoys,
    plan_graphs,
)
from toporank.building.chunks.plan import write_current, write_plans
from toporank.building.chunks.published import damaged
from toporank.building.gap import write_gap
from toporank.building.label_facts import contradicting_labels, in_two_splits
from toporank.comparing.homology import mmseqs
from toporank.errors import TopoRankError
from toporank.features.registry import FeatureChoice, call_mkdssp, node_columns
from toporank.files.atomic import check_writable
from toporank.finding.labels import label_problems, mismatch, of_decoys, write_labels
from toporank.finding.look import draft_of, move_sketches
from toporank.garbage import not_searched
from toporank.learning.contact_columns import fitting_columns
from toporank.learning.shapes import OF_CONTACTS
from toporank.settings import did_you_mean
from toporank.structures.dssp import dssp_version

NO_DATASETS = (
    "datasets: none configured (give `datasets` in the config "
    "file, or score_decoys=FOLDER)"
)
NO_NATIVES = "no data set has natives to label its models by (give `natives: FOLDER`)"


@dataclass
class Preflight:
    """Problems, one line each with its remedy; for every data set its plan, a summary and notes.

    mkdssp : whether it was checked. problems_of : rule, `training` or `sampling` → what is a
    problem only where that runs. datasets : by name, without those that have a problem. lacks_plan
    : whether there are such, and nothing can be sampled for them: their jobs are not known. store :
    the reuse store. draft : where there is no store yet, what a dry run has read is kept here.
    """

    mkdssp: str = ""
    problems: list[str] = field(default_factory=list)
    problems_of: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    datasets: dict[str, PlannedDataset] = field(default_factory=dict)
    store: Path = Path()
    lacks_plan: bool = False
    draft: Path | None = None

    def of(self, dataset: str) -> PlannedDataset:
        """Return the plan of a data set, which is empty where it has a problem."""
        return self.datasets.get(dataset, PlannedDataset())

    @property
    def looked_into(self) -> Path:
        """Where what is seen in files is kept meanwhile."""
        return self.draft or self.store

    def write(self, names: Iterable[str]) -> None:
        """Record what this run builds of these data sets. Call it only under their locks."""
        for name in names:
            dataset = self.datasets[name]
            write_current(name, dataset.current)
            if not dataset.labels_expected and not dataset.graph_files:
                write_labels(Path(layout.LABELS.format(dataset=name)), dataset.labels)

    def write_plans(self) -> None:
        """Write the plan of every chunk, and keep what was seen in files.

        Plans are named by what is in them, so this disturbs no other run.
        """
        for name, dataset in self.datasets.items():
            write_plans(name, dataset.chunks)
        if self.draft:
            move_sketches(self.draft, self.store)
            self.draft = None

    def write_gaps(self) -> None:
        """Write once more what is to do for each decoy, after a run."""
        for name, dataset in self.datasets.items():
            if dataset.survey:
                write_gap(name, dataset.survey(damaged(name)))


@not_searched()  # for garbage among 100,000 decoys, again and again
def preflight(
    config: Config,
    *,
    choices: dict[str, FeatureChoice],
    check_dssp: bool = True,
    check_installed: bool = True,
) -> Preflight:
    """Check everything the workflow will need and plan the feature jobs.

    It does not disturb a running build.

    Parameters
    ----------
    config
        The configuration.
    choices
        The feature module of each stage.
    check_dssp
        Whether mkdssp is needed here.
    check_installed
        Whether jobs run with the packages installed here.

    Returns
    -------
    Preflight
        Nothing raises: every problem is listed, so that a user fixes them all at once.
    """
    store = Path(config.workflow.reuse_store)
    result = Preflight(store=store)
    problems_of = result.problems_of
    with _noting(problems_of[layout.SAMPLING]):
        natives_to_sample(config)
    if not store.exists():
        result.draft = draft_of(store)
    problems = result.problems
    _check_programs(result, config, choices, check_dssp, check_installed)
    if config.has_graphs_of_others:
        problems_of["make_scorer"].append(NO_SCORER)
    if all(dataset.natives is None for dataset in config.datasets):
        problems_of["label_decoys"].append(NO_NATIVES)
    for folder in ("results", "logs"):
        with _noting(problems):
            check_writable(Path(folder), ELSEWHERE, make=False)
    with _noting(problems):
        check_writable(store, "set workflow.reuse_store", make=False)
    if not config.datasets:
        problems.append(NO_DATASETS)
    for dataset in config.datasets:
        with _noting(problems):
            if dataset.graphs is None:
                planned = plan_decoys(config, dataset, result.looked_into, choices)
            else:
                planned = plan_graphs(config, dataset)
            result.datasets[dataset.name] = planned
            if dataset.name in config.learned_datasets:
                problems_of["check_coverage"] += planned.uncovered
    lacks_plan = len(result.datasets) < len(config.datasets)
    result.lacks_plan = lacks_plan and bool(problems_of[layout.SAMPLING])
    for phase in config.training.finetune.phases:
        where = f"training.finetune.phases, {phase.name}: parent"
        for file in phase.parent_files:
            with _noting(problems):
                check_is_there(file, where)
    if not config.score_decoys:
        _check_labels(result, config)
    _check_targets(result, config)
    _check_networks(result, config, choices)
    # all this lives as long as the process: Python need not look through it again
    gc.freeze()
    return result


def _check_programs(
    result: Preflight,
    config: Config,
    choices: dict[str, FeatureChoice],
    check_dssp: bool,
    check_installed: bool,
) -> None:
    """Look for the programs and packages that the features and the comparison of chains need."""
    problems = result.problems
    result.mkdssp = "not needed: built-in DSSP"
    if check_dssp:
        result.mkdssp = "not usable"
        with _noting(problems):
            result.mkdssp = f"checked: version {dssp_version()}"
    elif call_mkdssp(choices):
        result.mkdssp = "checked by each job in its own environment"
    for choice in choices.values():
        if choice.module.ready and check_installed:
            with _noting(problems):
                choice.module.ready()
    if config.training.similarity == "mmseqs2":
        with _noting(problems):
            mmseqs.check_installed()


def _check_networks(
    result: Preflight, config: Config, choices: dict[str, FeatureChoice]
) -> None:
    """Look whether the graphs that will be built have the columns that networks need."""
    networks = {entry.network for entry in config.training.sweep.configs}
    if OF_CONTACTS in networks and not config.has_graphs_of_others:
        with _noting(result.problems_of[layout.TRAINING]):
            fitting_columns(node_columns(choices), choices["edges"].columns)


@contextlib.contextmanager
def _noting(problems: list[str]) -> Iterator[None]:
    """Make a problem of a TopoRankError."""
    try:
        yield
    except TopoRankError as error:
        problems.append(str(error))


def _check_labels(result: Preflight, config: Config) -> None:
    """Record why the labels of the training data sets cannot be used.

    It does not look at them while a data set has problems.
    """
    names = config.training_datasets
    if not all(name in result.datasets for name in names):
        return
    labels = []
    decoys = []
    fits = True
    for name in names:
        of_dataset = of_decoys(result.datasets[name].labels)
        problem = mismatch(of_dataset, result.datasets[name].decoys)
        if problem:
            result.problems.append(f"dataset {name}: {problem}")
            fits = False
        labels += of_dataset
        decoys += result.datasets[name].decoys
    if fits:
        lines = label_problems(labels, decoys) + _contradictions(result, config)
        result.problems_of[layout.TRAINING] = [f"training: {line}" for line in lines]


def _contradictions(result: Preflight, config: Config) -> list[str]:
    """What data sets that are learned from say against each other."""
    plans, splits = {}, {}
    for name in config.learned_datasets:
        planned = result.of(name)
        splits[name] = {label.target: label.split for label in planned.labels}
        plans[name] = planned.plan.values()
    judging = {name: splits[name] for name in config.training_datasets}
    return in_two_splits(splits, judging) + contradicting_labels(plans)


def _check_targets(result: Preflight, config: Config) -> None:
    """Record which targets of `only` no data set has."""
    if not config.only:
        return
    targets = set()
    for dataset in result.datasets.values():
        targets |= {decoy.target for decoy in dataset.decoys}
    for target in sorted(set(config.only) - targets):
        remedy = did_you_mean(target, targets)
        result.problems.append(f"targets: no target {target!r} ({remedy})")
