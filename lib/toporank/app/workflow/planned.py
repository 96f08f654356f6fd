"""One data set before any job: its decoys, natives, labels, chunks, and what is to do for each."""

from __future__ import annotations

import functools
import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass, field
from pathlib import Path

from toporank import layout
from toporank.app.config import Config, Dataset, check_is_there, locate
from toporank.app.workflow.data_sets import configured_partners, labels_of
from toporank.building.chunks.plan import (
    Chunks,
    Current,
    PlannedDecoy,
    by_key,
    deal,
    dealt_in_parts,
    read_current,
)
from toporank.building.chunks.published import (
    ArtefactKey,
    damaged,
    place,
    read_published,
)
from toporank.building.chunks.stages import recipes
from toporank.building.coverage import models_in_parts, shortfall
from toporank.building.gap import (
    NO_NATIVE,
    NOT_IN_TABLE,
    OF_NATIVE,
    DecoyGap,
    describe,
    describe_fates,
    survey,
    with_labels,
    write_gap,
)
from toporank.building.label_tables import read_decoys
from toporank.building.native_labels import NativeFile, facts_of_natives
from toporank.building.planning import (
    called_in_models,
    partners_given,
    plan_of,
    recognised,
)
from toporank.chains.partners import EACH_CHAIN
from toporank.chains.resolve import (
    Given,
    Natives,
    called_otherwise,
    check_named,
)
from toporank.comparing.homology.chain_tables import read_splits, split_of_targets
from toporank.errors import ConfigError, printable
from toporank.features.registry import FeatureChoice
from toporank.files.atomic import check_writable
from toporank.finding.complexes import BY_FOLDER, Grouped
from toporank.finding.discovery import decoys_of
from toporank.finding.graph_files import find_graph_files, state_of_files
from toporank.finding.labels import Label, of_decoys, split_by_target
from toporank.finding.natives import EXPECTED as NATIVES_EXPECTED
from toporank.finding.natives import (
    find_natives,
    small_letters,
    unmatched,
)
from toporank.finding.scan import describe_passed_over, no_decoys
from toporank.lookup import targets_of
from toporank.structures.identity import Decoy, DecoyKey, Status, keys_of

ELSEWHERE = "choose another place with --directory"
TO_SCORE = "to score"


@dataclass
class PlannedDataset:
    """A data set that can be built.

    current : what `onstart` records for the jobs. labels_expected : a job computes the labels;
    `labels` then has those that it can, with DockQ nan. natives : the file of each target.
    graph_files : the state of the graphs of another pipeline. again : published files that differ
    now, although Snakemake takes them for finished. summary, notes : what a person reads of it.
    survey : looks at what is to do for each decoy, given the published files that differ; None
    where nothing is built.
    uncovered : why coverage will not be enough.
    """

    current: Current | None = None
    chunks: Chunks = field(default_factory=dict)
    decoys: list[Decoy] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)
    labels_expected: bool = False
    natives: dict[str, NativeFile] = field(default_factory=dict)
    graph_files: str = ""
    again: set[str] = field(default_factory=set)
    summary: str = ""
    notes: list[str] = field(default_factory=list)
    survey: Callable[[Set[ArtefactKey]], list[DecoyGap]] | None = None
    uncovered: list[str] = field(default_factory=list)

    @functools.cached_property
    def plan(self) -> dict[DecoyKey, PlannedDecoy]:
        """All its decoys."""
        names = self.current.of_all if self.current else []
        chunks = [self.chunks[name] for name in names]
        return by_key(itertools.chain.from_iterable(chunks))


def plan_decoys(
    config: Config,
    dataset: Dataset,
    repository: Path,
    store: Path,
    choices: dict[str, FeatureChoice],
) -> PlannedDataset:
    """Find the decoys and labels of a data set, plan its jobs, and write what there is to do.

    Parameters
    ----------
    config, dataset, repository
        The configuration, the data set, and where relative paths may begin, too.
    store
        The reuse store.
    choices
        The feature module of each stage.

    Raises
    ------
    ConfigError
        When it cannot be built.
    """
    name = dataset.name
    where = f"dataset {name}"
    folder = _folder_of_decoys(dataset, repository)
    for_all, of_targets = configured_partners(config, dataset, folder, repository)
    labels = labels_of(config, name, repository)
    native_of = _natives_by_name(dataset, repository)
    grouped_by = config.grouped_by(dataset)
    targets = targets_of(labels) or native_of
    grouped = decoys_of(
        name,
        folder,
        grouped_by,
        store,
        of_targets,
        targets=small_letters(targets) if grouped_by == BY_FOLDER else (),
        labelled=bool(targets),
    )
    decoys = grouped.decoys
    if not decoys:
        raise no_decoys(name, folder, grouped.passed_over)
    natives = None
    native_files: dict[str, NativeFile] = {}
    if dataset.natives is not None:
        natives, native_files = facts_of_natives(native_of, decoys, store)
        if not native_files:
            raise _no_native(dataset, native_of, decoys[0].target)
    check_writable(Path(layout.GAP.format(dataset=name)).parent, ELSEWHERE, make=False)
    if config.score_decoys is not None:
        _check_name(name, dataset.folder, folder)

    given = partners_given(grouped, for_all, of_targets, labels)
    notes = grouped.sentences()
    if natives:
        notes += unmatched(native_of, sorted(targets_of(decoys)))
        notes += check_named(given, natives, f"{where}, partners")
    rows = plan_of(grouped, given, labels, natives)
    notes += _notes_on_partners(rows, given, natives, grouped)
    unread = describe_passed_over(folder, grouped.passed_over)
    notes += unread
    notes += _stray_partners(of_targets, decoys)

    size = config.workflow.chunk_size
    # decoys that are only scored have no chunks of features
    dealt = dealt_in_parts(rows, size, split=config.score_decoys is None)
    all_chunks: Chunks = {}
    for of_part in dealt.values():
        all_chunks |= of_part
    chunks = all_chunks
    if config.only:
        wanted = [row for row in rows if row.target in config.only]
        chunks = deal(wanted, size) if wanted else {}
    planned = PlannedDataset(
        current=Current(
            folder=(dataset.folder, str(folder.resolve())),
            chunks=list(chunks),
            of_all=list(all_chunks),
            parts={part: list(of_part) for part, of_part in dealt.items()},
        ),
        chunks=all_chunks | chunks,
        decoys=decoys,
        labels=labels,
        labels_expected=dataset.labels_from_natives,
        natives=native_files,
        notes=notes,
    )
    if config.score_decoys is not None:
        outcomes = Counter(decoy.refused_as or TO_SCORE for decoy in decoys)
        planned.summary = models_in_parts(outcomes)
        return planned
    about_labels = _describe_labels(labels, decoys)
    if dataset.labels_from_natives:
        planned.labels = _expected_labels(config, decoys, planned.natives)
        about_labels = "labels from natives"
    survey = functools.partial(
        _surveyed, config, dataset, planned.labels, chunks, choices
    )
    _note_gap(planned, config, name, about_labels, survey)
    return planned


def _note_gap(
    planned: PlannedDataset,
    config: Config,
    name: str,
    about_labels: str,
    survey: Callable[[Set[ArtefactKey]], list[DecoyGap]],
) -> None:
    """Write what is to do for each decoy, and note what a person reads of it.

    It also notes which published files differ.
    """
    planned.survey = survey
    published = read_published(name)
    differing = damaged(name, published)
    gap = survey(differing)
    write_gap(name, gap)
    planned.again = {str(place(name, *key)) for key in differing}
    if differing or any(row.asked for row in published.values()):
        planned.again.add(layout.PUBLISHED.format(dataset=name))
    planned.summary = f"{describe_fates(gap)}; {about_labels}"
    every = f"every model: {layout.GAP.format(dataset=name)}"
    planned.notes = [*describe(gap), *planned.notes, every]
    planned.uncovered = _uncovered(gap, config, name)


def _folder_of_decoys(dataset: Dataset, repository: Path) -> Path:
    """Where the decoys of a data set lie. Raises ConfigError where that is no folder."""
    where = f"dataset {dataset.name}"
    folder = locate(dataset.folder, repository)
    if not str(folder).isprintable():
        raise ConfigError(
            f"unprintable character in the path {str(folder)!r}", where=where
        )
    check_is_there(dataset.folder, repository, where)
    return folder


def _surveyed(
    config: Config,
    dataset: Dataset,
    labels: list[Label],
    chunks: Chunks,
    choices: dict[str, FeatureChoice],
    differing: Set[ArtefactKey],
) -> list[DecoyGap]:
    """What is to do for the decoys of some chunks, with the labels of their targets.

    The last run gives splits where the labels do not.
    """
    gap = survey(dataset.name, chunks, recipes(choices), differing)
    if not dataset.is_labelled:
        return gap
    labels = of_decoys(labels)
    if config.only:
        labels = [label for label in labels if label.target in config.only]
    if Path(layout.SPLITS).exists() and not all(label.split for label in labels):
        split_of = split_of_targets(read_splits(layout.SPLITS))
        for i, label in enumerate(labels):
            split = label.split or split_of.get((dataset.name, label.target), "")
            labels[i] = label._replace(split=split)
    if not dataset.labels_from_natives:
        return with_labels(gap, labels, NOT_IN_TABLE)
    table = Path(layout.DOCKQ.format(dataset=dataset.name))
    known = by_key(read_decoys(table)) if table.exists() else {}
    why = {}
    given = []
    for label in labels:
        row = known.get(label[:2])
        if row and row.dockq is not None:
            given.append(label._replace(dockq=row.dockq))
        elif row and row.status != Status.NO_NATIVE:
            why[label[:2]] = f"none: {row.reason}"
        else:
            given.append(label)
    return with_labels(gap, given, NO_NATIVE, why)


def _uncovered(gap: list[DecoyGap], config: Config, name: str) -> list[str]:
    """That too few labels of a data set can ever have a graph."""
    if all(row.dockq is None for row in gap) or any(
        row.label == OF_NATIVE for row in gap
    ):
        return []
    missing = shortfall(gap, config.coverage, "can have")
    if not missing:
        return []
    remedy = f"see {layout.GAP.format(dataset=name)}, or change `coverage`"
    return [f"dataset {name}: at most {missing} ({remedy})"]


def _notes_on_partners(
    rows: list[PlannedDecoy],
    given: Mapping[DecoyKey, Given],
    natives: Natives | None,
    grouped: Grouped,
) -> list[str]:
    """Which partners were recognised, and which chains models call otherwise."""
    notes = [
        f"{line} (partners: {EACH_CHAIN} keeps them apart)" for line in recognised(rows)
    ]
    notes += called_otherwise(given, grouped, natives)
    return notes + called_in_models(rows) if natives else notes


def _stray_partners(of_targets: Iterable[str], decoys: list[Decoy]) -> list[str]:
    """A note on partners of targets that have no decoys, if there are any."""
    names = targets_of(decoys) | {decoy.folder for decoy in decoys}
    stray = sorted(set(of_targets) - names)
    if not stray:
        return []
    what = "partners are given for targets without models"
    return [f"{what}, {len(stray)} in all, such as {stray[0]}"]


def _describe_labels(labels: list[Label], decoys: list[Decoy]) -> str:
    labelled = {label[:2] for label in of_decoys(labels)}
    without_decoy = labelled - keys_of(decoys)
    return f"{len(labelled)} labels, {len(without_decoy)} of them without model"


def _expected_labels(
    config: Config, decoys: list[Decoy], natives: Iterable[str]
) -> list[Label]:
    """The labels that a job can compute: those of targets with a native."""
    training = config.training
    labels = [
        Label(*decoy.key, math.nan, "") for decoy in decoys if decoy.target in natives
    ]
    if training.split_by == "target":
        return split_by_target(labels, training.validation_percent, training.split_seed)
    return labels


def plan_graphs(config: Config, dataset: Dataset, repository: Path) -> PlannedDataset:
    """Find the graphs of another pipeline and check the label table; a job reads the graphs.

    Arguments and errors : as for `plan_decoys`.
    """
    name = dataset.name
    folder = locate(dataset.folder, repository)
    check_is_there(dataset.folder, repository, f"dataset {name}, graphs")
    for file in dataset.scorer:
        check_is_there(file, repository, f"dataset {name}, scorer")
    paths = find_graph_files(folder, name)
    labels = labels_of(config, name, repository)
    check_writable(Path(layout.GAP.format(dataset=name)).parent, ELSEWHERE, make=False)
    return PlannedDataset(
        current=Current(
            folder=(dataset.folder, str(folder.resolve())), chunks=[], of_all=[]
        ),
        labels=labels,
        graph_files=state_of_files(paths),
        summary=f"{len(paths)} graphs of another pipeline; {len(labels)} labels in the table",
    )


def _natives_by_name(dataset: Dataset, repository: Path) -> dict[str, Path]:
    """The natives that are given. Raises ConfigError where their folder cannot be read."""
    if dataset.natives is None:
        return {}
    check_is_there(dataset.natives, repository, f"dataset {dataset.name}, natives")
    return find_natives(locate(dataset.natives, repository))


def _no_native(dataset: Dataset, natives: Iterable[str], target: str) -> ConfigError:
    """That no target, such as this one, has a native."""
    first_native = printable(min(natives)) if natives else "none"
    what = (
        f"no target has a native: there is {first_native}, but for example target "
        f"{printable(target)} in {printable(dataset.folder)}"
    )
    where = f"dataset {dataset.name}, natives"
    return ConfigError(what, where=where, remedy=NATIVES_EXPECTED)


def _check_name(name: str, decoys: str, folder: Path) -> None:
    """Raise ConfigError when results/<name>/ holds the models of another folder."""
    before = read_current(name)
    if (
        before is None
        or decoys == before.folder[0]
        or str(folder.resolve()) == before.folder[1]
    ):
        return
    raise ConfigError(
        f"results/{name}/ holds the models of {before.folder[1]}, not those of {folder.resolve()}",
        where="score_decoys",
        remedy="give another name (score_name=NAME) or folder (toporank -o), or delete "
        f"results/{name}/",
    )
