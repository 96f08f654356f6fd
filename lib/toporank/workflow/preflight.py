"""One check before any job: is everything there, readable and writable?"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from toporank import layout
from toporank.building.gap import describe_fates, describe_reasons, describe_stages, nearest, survey, write_gap
from toporank.building.plan import make_plans, planned_chunks, planned_decoys, selection_name, write_plans
from toporank.building.stages import recipe
from toporank.config import Config, Dataset, locate
from toporank.config.hardware import contradictions, missing_trackers
from toporank.config.training import Training
from toporank.decoys.folders import find_decoys, passed_over
from toporank.decoys.labels import COLUMNS, read_labels
from toporank.errors import CheckpointError, ConfigError, TopoRankError
from toporank.features.registry import Choice, resolve_recorded
from toporank.files import write_text, write_text_if_changed
from toporank.model.checkpoint import read_description
from toporank.structures.dssp import dssp_version
from toporank.validation import did_you_mean

EXPECTED = "expected <target>/<decoy>.pdb, .ent, .cif or .mmcif, each with or without .gz"


@dataclass
class Preflight:
    """Problems (each one line with its remedy), chunks of every data set, one line on each, what is to do.

    targets : all there are, where only some are asked for.
    """

    problems: list[str] = field(default_factory=list)
    chunks: dict[str, list[str]] = field(default_factory=dict)
    summary: dict[str, str] = field(default_factory=dict)
    gap: dict[str, list[str]] = field(default_factory=dict)
    targets: set[str] = field(default_factory=set)


def preflight(config: Config, repository: Path, *, choices: dict[str, Choice], check_dssp: bool = True,
              check_installed: bool = True) -> Preflight:  # fmt: skip
    """Look at everything the workflow will need and write the plans of the feature jobs.

    check_dssp : whether mkdssp is needed here. check_installed : whether jobs run with the packages installed here.
    Nothing raises: every problem is listed, so that a user mends all of them in one go.
    """
    result = Preflight()
    recipes = {stage: recipe(stage, choices) for stage in layout.STAGES}
    if check_dssp:
        _noting(result, dssp_version)
    result.problems += training_problems(config.training, installed=check_installed)
    for folder in ("results", "logs"):
        _noting(result, lambda folder=folder: _check_writable(Path(folder)))
    _noting(result, lambda: _check_writable(Path(config.workflow.reuse_store), "set workflow.reuse_store"))
    if not config.datasets:
        result.problems.append("datasets: none configured (give `datasets` in the config file, or score_decoys=FOLDER)")
    for dataset in config.datasets:
        result.chunks[dataset.name] = []
        _noting(result, lambda dataset=dataset: _prepare(result, config, dataset, repository, recipes))
        _noting(result, lambda dataset=dataset: _write_missing_labels(dataset.name))
    for target in sorted(set(config.targets) - result.targets):
        result.problems.append(f"targets: no target {target!r} ({did_you_mean(target, result.targets)})")
    return result


def training_problems(training: Training, *, installed: bool = True) -> list[str]:
    """What no machine can train with, or this one lacks. GPUs are looked for when a run starts, where it runs."""
    device = training.hardware.accelerator
    clipped = any(entry.gradient_clip for entry in [*training.sweep.configs, *training.finetune.phases])
    hardware = training.hardware
    found = [] if device == "auto" else contradictions(hardware, device, clipped=clipped, installed=installed)
    problems = [f"training.hardware: {line}" for line in found]
    return problems + [f"training.trackers: {line}" for line in missing_trackers(training.trackers) if installed]


def submission_problems(python: str) -> list[str]:
    """Why jobs cannot be submitted. python : the interpreter, which Snakemake writes into jobs without quotes."""
    if not any(character.isspace() for character in python):
        return []
    return [f"jobs cannot be submitted with a Python whose path has a space: {python}"
            " (make the .venv in a folder without one; the repository itself may stay)"]  # fmt: skip


def feature_choices(config: Config) -> dict[str, Choice]:
    """The feature modules: those of the checkpoint when decoys are scored with one, else the configured ones."""
    if config.score_decoys is None:
        return config.choices()
    description = read_description(checkpoint_of(config))
    if not description.get("features"):
        raise CheckpointError("does not say which features it was trained on", where=checkpoint_of(config))
    return resolve_recorded(description["features"])


def checkpoint_of(config: Config) -> str:
    """The checkpoint that scores."""
    return config.checkpoint or layout.FINAL_CHECKPOINT


def _noting(result: Preflight, step: Callable[[], object]) -> None:
    """Run a step; what it raises on purpose becomes a problem."""
    try:
        step()
    except TopoRankError as error:
        result.problems.append(str(error))


def _check_writable(folder: Path, remedy: str = "choose another place with --directory") -> None:
    """Raise ConfigError unless files can be written there; makes the folder."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise ConfigError(f"cannot be written: {error.strerror}", where=folder.resolve(), remedy=remedy) from error


def _prepare(result: Preflight, config: Config, dataset: Dataset, repository: Path, recipes: dict[str, str]) -> None:
    """Find the decoys and labels of a data set and write its plans."""
    folder = locate(dataset.decoys, repository)
    if not str(folder).isprintable():
        raise ConfigError(f"unprintable character in the path {str(folder)!r}", where=f"dataset {dataset.name}")
    decoys = find_decoys(dataset.name, folder)
    others = describe_passed_over(folder, passed_over(folder, decoys))
    if not decoys:
        raise ConfigError(
            "; ".join(["no structure file found", *others]), where=f"dataset {dataset.name}, {folder}", remedy=EXPECTED
        )
    labels = labels_of(config, dataset.name, repository)
    dockq = {(row.target, row.decoy): row.dockq for row in labels.itertuples()}
    _check_writable(Path(layout.COVERAGE.format(dataset=dataset.name)).parent)
    try:
        again = config.retry == "failed"
        chunks = make_plans(dataset.name, decoys, dockq, config.workflow.chunk_size, again)
        rows = survey(dataset.name, chunks, recipes)
        if config.targets:
            result.targets |= {decoy.target for decoy in decoys}
            wanted = [row for row in planned_decoys(dataset.name) if row.target in config.targets]
            size, selection = config.workflow.chunk_size, selection_of(config)
            chunks = write_plans(dataset.name, wanted, size, selection, again=again)
            rows = nearest(survey(dataset.name, chunks, recipes, selection), rows)
        write_text_if_changed(layout.LABELS.format(dataset=dataset.name), labels.to_csv(index=False))
    except OSError as error:
        raise ConfigError(f"the plans cannot be written: {error}", where=f"dataset {dataset.name}") from error
    result.chunks[dataset.name] = chunks
    write_gap(dataset.name, rows)
    unknown = len(set(dockq) - {decoy.key for decoy in decoys})
    result.summary[dataset.name] = f"{describe_fates(rows)}; {len(labels)} labels, {unknown} of them without decoy"
    every = f"every decoy: {layout.GAP.format(dataset=dataset.name)}"
    notes = [f"{line} ({EXPECTED})" for line in others]
    result.gap[dataset.name] = [*describe_stages(rows), *describe_reasons(rows), *notes, every]


def describe_passed_over(folder: Path, files: list[Path]) -> list[str]:
    """In one line, if there are any: how many files are no decoys, though they look like structures, and one."""
    if not files:
        return []
    are = "1 file is" if len(files) == 1 else f"{len(files)} files are"
    return [f"{are} not read, such as {files[0].relative_to(folder)}"]


def _write_missing_labels(dataset: str) -> None:
    """An empty label table where preparing the data set failed, so that a dry run can still show the jobs."""
    path = Path(layout.LABELS.format(dataset=dataset))
    with contextlib.suppress(OSError):  # the failure itself has been noted
        if not path.exists():
            write_text(path, ",".join(COLUMNS) + "\n")


def labels_of(config: Config, dataset: str, repository: Path) -> pd.DataFrame:
    """Labels of a data set: target, decoy, dockq, split; an empty table where it has none."""
    source = config.dataset(dataset).labels
    if source is None:
        return pd.DataFrame(columns=list(COLUMNS)).astype({"dockq": float})
    located = (
        {s: locate(p, repository) for s, p in source.items()}
        if isinstance(source, dict)
        else locate(source, repository)
    )
    training = config.training
    return read_labels(located, validation_percent=training.validation_percent, split_seed=training.split_seed)


def selection_of(config: Config) -> str:
    """Name of the part of each data set that is asked for, empty for all of it."""
    return selection_name("targets", *sorted(config.targets)) if config.targets else ""


def written_chunks(config: Config) -> dict[str, list[str]]:
    """Chunks as an earlier preflight wrote them: for processes that are not the main one."""
    return {dataset.name: planned_chunks(dataset.name, selection_of(config)) for dataset in config.datasets}
