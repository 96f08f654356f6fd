"""One check before any job: is everything there, readable and writable?"""

from __future__ import annotations

import gc
import math
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from toporank import layout
from toporank.app.config import Config, Dataset, check_is_there, locate
from toporank.app.workflow.data_sets import (
    NO_SCORER,
    labels_of,
    plan_graphs,
    said_partners,
    sampling_problems,
)
from toporank.building.chunks.plan import (
    Chunks,
    Current,
    deal,
    read_current,
    write_current,
    write_plans,
)
from toporank.building.chunks.published import damaged, place
from toporank.building.chunks.stages import recipes
from toporank.building.chunks.store import Store
from toporank.building.gap import (
    describe_fates,
    describe_reasons,
    describe_stages,
    survey,
    write_gap,
)
from toporank.building.native_labels import Labelling
from toporank.building.placed_partners import Natives, called_in_models, check_named, known_natives
from toporank.building.planning import partners_given, plan_of, recognised
from toporank.comparing.homology import mmseqs
from toporank.errors import ConfigError, TopoRankError, printable
from toporank.features.registry import Choice
from toporank.files.state import state_if_there
from toporank.inputs.discovery import decoys_of, sketches
from toporank.inputs.folders import EXPECTED, describe_passed_over, no_decoys
from toporank.inputs.labels import (
    Label,
    label_problems,
    mismatch,
    of_decoys,
    split_by_target,
    write_labels,
)
from toporank.inputs.natives import EXPECTED as NATIVES_EXPECTED
from toporank.inputs.natives import find_natives, natives_of, unmatched
from toporank.inputs.natural_partners import called_otherwise
from toporank.settings import did_you_mean
from toporank.structures.dssp import dssp_version
from toporank.structures.identity import Decoy
from toporank.structures.partners import EACH_CHAIN

NativeFile = tuple[str, int, int]
"""Path, and the two numbers of its state."""
GARBAGE = 100_000
"""Objects after which Python looks for garbage: of 100,000 decoys it would look through everything
again and again.
"""


@dataclass
class Preflight:
    """Problems, one line each with its remedy; for every data set its chunks, a summary and what
    has to be done.

    untrainable, unsampled, unlabelled, unmakeable : problems only where something is trained, or
    decoys are sampled, or all that have natives are labelled, or a scorer is made. decoys, labels :
    of each data set. natives : of each data set, by target. labelled_by_natives : data sets whose
    labels a job computes; `labels` then has those that it can, with DockQ nan. targets : all of
    them, if only some are asked for. graph_files : of each data set of graphs of another pipeline,
    the state of its files. current : what `onstart` records for the jobs. again : what was
    published and differs now, although Snakemake takes it for finished.
    """

    problems: list[str] = field(default_factory=list)
    chunks: dict[str, Chunks] = field(default_factory=dict)
    summary: dict[str, str] = field(default_factory=dict)
    gap: dict[str, list[str]] = field(default_factory=dict)
    untrainable: list[str] = field(default_factory=list)
    unsampled: list[str] = field(default_factory=list)
    unlabelled: list[str] = field(default_factory=list)
    unmakeable: list[str] = field(default_factory=list)
    targets: set[str] = field(default_factory=set)
    current: dict[str, Current] = field(default_factory=dict)
    labels: dict[str, list[Label]] = field(default_factory=dict)
    natives: dict[str, dict[str, NativeFile]] = field(default_factory=dict)
    decoys: dict[str, list[Decoy]] = field(default_factory=dict)
    labelled_by_natives: set[str] = field(default_factory=set)
    graph_files: dict[str, str] = field(default_factory=dict)
    again: set[str] = field(default_factory=set)

    def write(self, names: Iterable[str]) -> None:
        """Record what this run builds of these data sets. Call it only under their locks."""
        for name in names:
            write_current(name, self.current[name])
            if name not in self.labelled_by_natives and name not in self.graph_files:
                write_labels(Path(layout.LABELS.format(dataset=name)), self.labels[name])

    def chunk_of_decoy(self, dataset: str, target: str, decoy: str) -> str:
        """Plan one decoy by itself; returns the name of its chunk. Raises ConfigError when there is
        no such decoy.
        """
        known = {
            row.key: row
            for name in self.current[dataset].of_all
            for row in self.chunks[dataset][name]
        }
        if (target, decoy) not in known:
            remedy = did_you_mean(f"{target}/{decoy}", ("/".join(key) for key in known))
            raise ConfigError(
                f"no decoy {target}/{decoy}", where=f"dataset {dataset}", remedy=remedy
            )
        chunks = deal([known[target, decoy]], 1)
        self.chunks[dataset] |= chunks
        write_plans(dataset, chunks)
        return next(iter(chunks))


def preflight(
    config: Config,
    repository: Path,
    *,
    choices: dict[str, Choice],
    check_dssp: bool = True,
    check_installed: bool = True,
) -> Preflight:
    """Check everything the workflow will need and plan the feature jobs; a running build is not
    disturbed.

    check_dssp : whether mkdssp is needed here. check_installed : whether jobs run with the packages
    installed here. Nothing raises: every problem is listed, so that a user fixes them all at once.
    """
    gc.set_threshold(GARBAGE)
    result = Preflight()
    if check_dssp:
        _noting(result, dssp_version)
    for ready in [
        choice.module.ready
        for choice in choices.values()
        if choice.module.ready and check_installed
    ]:
        _noting(result, ready)
    if config.training.similarity == "mmseqs2":
        _noting(result, mmseqs.check_installed)
    if any(dataset.graphs is not None for dataset in config.datasets):
        result.unmakeable.append(NO_SCORER)
    result.unsampled = sampling_problems(config, repository)
    if all(dataset.natives is None for dataset in config.datasets):
        result.unlabelled.append(
            "no data set has natives to label its decoys by (give `natives: FOLDER`)"
        )
    for folder in ("results", "logs"):
        _noting(result, lambda folder=folder: check_writable(Path(folder)))
    _noting(
        result,
        lambda: check_writable(Path(config.workflow.reuse_store), "set workflow.reuse_store"),
    )
    if not config.datasets:
        result.problems.append(
            "datasets: none configured (give `datasets` in the config file, or score_decoys=FOLDER)"
        )
    for dataset in config.datasets:
        result.chunks[dataset.name] = {}
        if dataset.graphs is None:
            _noting(
                result,
                lambda dataset=dataset: _prepare(result, config, dataset, repository, choices),
            )
        else:
            _noting(
                result, lambda dataset=dataset: _prepare_graphs(result, config, dataset, repository)
            )
    if not config.score_decoys:
        _check_labels(result, config)
    for target in sorted(set(config.only) - result.targets):
        result.problems.append(
            f"targets: no target {target!r} ({did_you_mean(target, result.targets)})"
        )
    gc.freeze()  # all this lives as long as the process: Python need not look through it again
    return result


def _noting(result: Preflight, step: Callable[[], object]) -> None:
    """Run a step; its TopoRankError becomes a problem."""
    try:
        step()
    except TopoRankError as error:
        result.problems.append(str(error))


def check_writable(folder: Path, remedy: str = "choose another place with --directory") -> None:
    """Raise ConfigError unless files can be written there; makes the folder."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise ConfigError(
            f"cannot be written: {error.strerror}", where=folder.resolve(), remedy=remedy
        ) from error


def _prepare(
    result: Preflight,
    config: Config,
    dataset: Dataset,
    repository: Path,
    choices: dict[str, Choice],
) -> None:
    """Find the decoys and labels of a data set and plan its jobs."""
    name, folder = dataset.name, locate(dataset.decoys, repository)
    if not str(folder).isprintable():
        raise ConfigError(
            f"unprintable character in the path {str(folder)!r}", where=f"dataset {name}"
        )
    check_is_there(dataset.decoys, repository, f"dataset {name}")
    for_all, of_targets = said_partners(config, dataset, folder, repository)
    store = Path(config.workflow.reuse_store)
    grouped = decoys_of(name, folder, config.grouped_by(dataset), store, of_targets)
    decoys = grouped.decoys
    notes = [*grouped.notes, *grouped.mutants, *grouped.molecules, *grouped.renamed]
    skipped = grouped.passed_over
    if not decoys:
        raise no_decoys(name, folder, skipped)
    labels = labels_of(config, name, repository)
    natives = None
    if dataset.natives is not None:
        natives, lines = _find_natives(result, dataset, decoys, repository, store)
        notes += lines
    check_writable(Path(layout.COVERAGE.format(dataset=name)).parent)
    if config.score_decoys is not None:
        _check_name(name, dataset.decoys, folder)
    size = config.workflow.chunk_size
    given = partners_given(grouped, for_all, of_targets, labels)
    if natives:
        notes += check_named(given, natives, f"dataset {name}, partners")
    rows = plan_of(grouped, for_all, of_targets, labels, natives)
    whole = part = deal(rows, size)
    if config.only:
        result.targets |= {decoy.target for decoy in decoys}
        wanted = [row for row in rows if row.target in config.only]
        part = deal(wanted, size) if wanted else {}
    result.chunks[name], result.labels[name], result.decoys[name] = whole | part, labels, decoys
    _writing(name, lambda: write_plans(name, result.chunks[name]))
    result.current[name] = Current((dataset.decoys, str(folder.resolve())), list(part), list(whole))
    differing = damaged(name)
    gap = survey(name, part, recipes(choices), differing)
    _writing(name, lambda: write_gap(name, gap))
    if differing:
        result.again |= {
            layout.PUBLISHED.format(dataset=name),
            *(str(place(name, *key)) for key in differing),
        }
    labelled = {label[:2] for label in of_decoys(labels)}
    unknown = len(labelled - {decoy.key for decoy in decoys})
    said = f"{len(labelled)} labels, {unknown} of them without decoy"
    if dataset.labels_from_natives:
        said = "labels from natives"
        expected = [
            Label(*decoy.key, math.nan, "")
            for decoy in decoys
            if decoy.target in result.natives[name]
        ]
        training = config.training
        if training.split_by == "target":
            expected = split_by_target(expected, training.validation_percent, training.split_seed)
        result.labels[name] = expected
        result.labelled_by_natives.add(name)
    result.summary[name] = f"{describe_fates(gap)}; {said}"
    every = f"every decoy: {layout.GAP.format(dataset=name)}"
    notes += [f"{line} (partners: {EACH_CHAIN} keeps them apart)" for line in recognised(rows)]
    of_target = {
        key: text for key, text in given.items() if not (natives and key[0] in natives.chains)
    }
    notes += [*called_otherwise(of_target, grouped), *(called_in_models(rows) if natives else [])]
    notes = [*notes, *(f"{line} ({EXPECTED})" for line in describe_passed_over(folder, skipped))]
    if stray := sorted(
        of_targets.keys() - {name for decoy in decoys for name in (decoy.target, decoy.folder)}
    ):
        notes.append(
            f"partners are given for targets without decoys, {len(stray)} in all, such as "
            f"{stray[0]}"
        )
    result.gap[name] = [*describe_stages(gap), *describe_reasons(gap), *notes, every]


def _prepare_graphs(result: Preflight, config: Config, dataset: Dataset, repository: Path) -> None:
    """Find the graphs of another pipeline and check the label table; a job reads the graphs."""
    name, plan = dataset.name, plan_graphs(dataset, repository)
    result.current[name], result.graph_files[name] = plan["current"], plan["graph_files"]
    result.labels[name], result.decoys[name], result.gap[name] = (
        labels_of(config, name, repository),
        [],
        [],
    )
    result.summary[name] = f"{plan['summary']}; {len(result.labels[name])} labels in the table"
    check_writable(Path(layout.COVERAGE.format(dataset=name)).parent)


def _find_natives(
    result: Preflight, dataset: Dataset, decoys: list[Decoy], repository: Path, store: Path
) -> tuple[Natives, list[str]]:
    """Find the natives of a data set; returns their chains, and which are missing or belong to no
    target, in lines.
    """
    where, folder = f"dataset {dataset.name}, natives", locate(dataset.natives, repository)
    check_is_there(dataset.natives, repository, where)
    natives, targets = find_natives(folder), sorted({decoy.target for decoy in decoys})
    paths, _ = natives_of(natives, targets)
    if not paths:
        there = min(natives) if natives else "none"
        what = (
            f"no target has a native: there is {printable(there)}, but for example target "
            f"{printable(targets[0])}"
        )
        raise ConfigError(
            f"{what} in {printable(str(folder))}", where=where, remedy=NATIVES_EXPECTED
        )
    seen = sketches(map(str, paths.values()), store)
    result.natives[dataset.name] = {
        target: (
            str(path),
            *state_if_there(path, sketch.content if (sketch := seen[str(path)]) else ""),
        )
        for target, path in paths.items()
    }
    labelling = Labelling(natives, Store(store))
    looks = {target: seen[str(path)] for target, path in paths.items()}
    return known_natives(looks, lambda decoy: labelling.label(decoy).mapping), unmatched(
        natives, targets
    )


def _check_labels(result: Preflight, config: Config) -> None:
    """Record why the labels of the training data sets cannot be used; skipped while a data set has
    problems.
    """
    names = config.training_datasets
    if not all(name in result.labels for name in names):
        return
    labels = {name: of_decoys(result.labels[name]) for name in names}
    stray = {name: mismatch(labels[name], result.decoys[name]) for name in names}
    result.problems += [f"dataset {name}: {line}" for name, line in stray.items() if line]
    if not any(stray.values()):
        together = (
            [row for name in names for row in table[name]] for table in (labels, result.decoys)
        )
        result.untrainable = [f"training: {line}" for line in label_problems(*together)]


def _writing(dataset: str, step: Callable[[], object]) -> None:
    try:
        step()
    except OSError as error:
        raise ConfigError(
            f"the plans cannot be written: {error}", where=f"dataset {dataset}"
        ) from error


def _check_name(name: str, given: str, folder: Path) -> None:
    """Raise ConfigError when results/<name>/ holds the decoys of another folder."""
    before = read_current(name)
    if before and given != before.folder[0] and str(folder.resolve()) != before.folder[1]:
        raise ConfigError(
            f"results/{name}/ holds the decoys of {before.folder[1]}, not those of "
            f"{folder.resolve()}",
            where="score_decoys",
            remedy="give another name (score_name=NAME) or folder (toporank -o), or delete "
            f"results/{name}/",
        )
