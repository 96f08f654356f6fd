"""One data set before any job: its decoys, natives, labels, chunks, and what is to do for each."""

from __future__ import annotations

import functools
import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Set
from dataclasses import dataclass, field
from operator import eq
from pathlib import Path

from toporank import layout
from toporank.app.config import Config, Dataset
from toporank.app.data_sets import (
    check_is_there,
    configured_partners,
    labels_of,
    locate,
)
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
from toporank.building.coverage import models_in_parts
from toporank.building.gap import (
    DecoyGap,
    describe,
    describe_fates,
    survey_labelled,
    uncovered,
    write_gap,
)
from toporank.building.native_labels import NativeFile, facts_of_natives
from toporank.building.planning import (
    called_in_models,
    partners_given,
    plan_of,
    recognised,
    stray_partners,
)
from toporank.chains.partners import EACH_CHAIN
from toporank.chains.resolve import (
    called_otherwise,
    check_named,
)
from toporank.errors import ConfigError, printable
from toporank.features.registry import FeatureChoice
from toporank.files.atomic import check_writable
from toporank.finding.complexes import BY_FOLDER
from toporank.finding.discovery import decoys_of
from toporank.finding.graph_files import find_graph_files, state_of_files
from toporank.finding.labels import Label, of_decoys, split_by_rules
from toporank.finding.natives import EXPECTED as NATIVES_EXPECTED
from toporank.finding.natives import (
    find_natives,
    small_letters,
    unmatched,
)
from toporank.finding.scan import describe_passed_over, no_decoys
from toporank.lookup import only, targets_of
from toporank.structures.identity import Decoy, DecoyKey, keys_of

ELSEWHERE = "choose another place with --directory"
TO_SCORE = "to score"
Survey = Callable[[Set[ArtefactKey]], list[DecoyGap]]


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

    current: Current = field(default_factory=Current)
    chunks: Chunks = field(default_factory=dict)
    decoys: list[Decoy] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)
    labels_expected: bool = False
    natives: dict[str, NativeFile] = field(default_factory=dict)
    graph_files: str = ""
    again: set[str] = field(default_factory=set)
    summary: str = ""
    notes: list[str] = field(default_factory=list)
    survey: Survey | None = None
    uncovered: list[str] = field(default_factory=list)

    @functools.cached_property
    def plan(self) -> dict[DecoyKey, PlannedDecoy]:
        """All its decoys."""
        chunks = [self.chunks[name] for name in self.current.of_all]
        return by_key(itertools.chain.from_iterable(chunks))


def plan_decoys(
    config: Config,
    dataset: Dataset,
    store: Path,
    choices: dict[str, FeatureChoice],
) -> PlannedDataset:
    """Find the decoys and labels of a data set, plan its jobs, and write what there is to do.

    Parameters
    ----------
    config, dataset
        The configuration and the data set.
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
    folder = _folder_of_decoys(dataset)
    for_all, of_targets = configured_partners(config, dataset, folder)
    labels = labels_of(config, name)
    native_of = _natives_by_name(dataset)
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
        _check_name(dataset)

    given = partners_given(grouped, for_all, of_targets, labels)
    notes = grouped.sentences()
    if natives:
        notes += unmatched(native_of, sorted(targets_of(decoys)))
        notes += check_named(given, natives, f"dataset {name}, partners")
    rows = plan_of(grouped, given, labels, natives)
    for line in recognised(rows):
        notes.append(f"{line} (partners: {EACH_CHAIN} keeps them apart)")
    notes += called_otherwise(given, grouped, natives)
    notes += called_in_models(rows) if natives else []
    notes += describe_passed_over(folder, grouped.passed_over)
    notes += stray_partners(of_targets, grouped)

    current, chunks = _dealt(config, dataset, rows)
    planned = PlannedDataset(
        current=current,
        chunks=chunks,
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
    asked_for = planned.labels
    if config.only:
        asked_for = [label for label in asked_for if label.target in config.only]
    survey = functools.partial(
        survey_labelled,
        name,
        only(chunks, current.chunks),
        recipes(choices),
        asked_for if dataset.is_labelled else None,
        dataset.labels_from_natives,
    )
    gap = _first_gap(name, planned, survey)
    planned.summary = f"{describe_fates(gap)}; {about_labels}"
    in_file = f"every model: {layout.GAP.format(dataset=name)}"
    planned.notes = [*describe(gap), *notes, in_file]
    planned.uncovered = uncovered(gap, config.coverage, name)
    return planned


def _first_gap(name: str, planned: PlannedDataset, survey: Survey) -> list[DecoyGap]:
    """What is to do for each decoy, which is written; and which published files differ is noted."""
    planned.survey = survey
    published = read_published(name)
    differing = damaged(name, published)
    planned.again = {str(place(name, *key)) for key in differing}
    if differing or any(row.asked for row in published.values()):
        planned.again.add(layout.PUBLISHED.format(dataset=name))
    gap = survey(differing)
    write_gap(name, gap)
    return gap


def _dealt(
    config: Config, dataset: Dataset, rows: list[PlannedDecoy]
) -> tuple[Current, Chunks]:
    """What this run builds of a data set, and all chunks of it by name."""
    size = config.workflow.chunk_size
    # decoys that are only scored have no chunks of features
    dealt = dealt_in_parts(rows, size, split=config.score_decoys is None)
    of_all: Chunks = {}
    for of_part in dealt.values():
        of_all |= of_part
    chunks = of_all
    if config.only:
        chunks = deal([row for row in rows if row.target in config.only], size)
    parts = {part: list(of_part) for part, of_part in dealt.items()}
    current = Current(_folders(dataset), list(chunks), list(of_all), parts)
    return current, of_all | chunks


def _folders(dataset: Dataset) -> tuple[str, str]:
    """The folder of a data set, as given and as resolved."""
    return dataset.folder, str(locate(dataset.folder).resolve())


def _folder_of_decoys(dataset: Dataset) -> Path:
    """Where the decoys of a data set lie. Raises ConfigError where that is no folder."""
    where = f"dataset {dataset.name}"
    folder = locate(dataset.folder)
    if not str(folder).isprintable():
        raise ConfigError(
            f"unprintable character in the path {str(folder)!r}", where=where
        )
    check_is_there(dataset.folder, where)
    return folder


def _describe_labels(labels: list[Label], decoys: list[Decoy]) -> str:
    labelled = {label[:2] for label in of_decoys(labels)}
    without_decoy = labelled - keys_of(decoys)
    return f"{len(labelled)} labels, {len(without_decoy)} of them without model"


def _expected_labels(
    config: Config, decoys: list[Decoy], natives: Iterable[str]
) -> list[Label]:
    """The labels that a job can compute: those of targets with a native."""
    labels = [
        Label(*decoy.key, math.nan, "") for decoy in decoys if decoy.target in natives
    ]
    return split_by_rules(labels, config.split_rules)


def plan_graphs(config: Config, dataset: Dataset) -> PlannedDataset:
    """Find the graphs of another pipeline and check the label table; a job reads the graphs.

    Arguments and errors : as for `plan_decoys`.
    """
    name = dataset.name
    folder = locate(dataset.folder)
    check_is_there(dataset.folder, f"dataset {name}, graphs")
    for file in dataset.scorer:
        check_is_there(file, f"dataset {name}, scorer")
    paths = find_graph_files(folder, name)
    labels = labels_of(config, name)
    check_writable(Path(layout.GAP.format(dataset=name)).parent, ELSEWHERE, make=False)
    return PlannedDataset(
        current=Current(_folders(dataset)),
        labels=labels,
        graph_files=state_of_files(paths),
        summary=f"{len(paths)} graphs of another pipeline; {len(labels)} labels in the table",
    )


def _natives_by_name(dataset: Dataset) -> dict[str, Path]:
    """The natives that are given. Raises ConfigError where their folder cannot be read."""
    if dataset.natives is None:
        return {}
    check_is_there(dataset.natives, f"dataset {dataset.name}, natives")
    return find_natives(locate(dataset.natives))


def _no_native(dataset: Dataset, natives: Iterable[str], target: str) -> ConfigError:
    """That no target, such as this one, has a native."""
    first_native = printable(min(natives)) if natives else "none"
    what = (
        f"no target has a native: there is {first_native}, but for example target "
        f"{printable(target)} in {printable(dataset.folder)}"
    )
    where = f"dataset {dataset.name}, natives"
    return ConfigError(what, where=where, remedy=NATIVES_EXPECTED)


def _check_name(dataset: Dataset) -> None:
    """Raise ConfigError when results/<name>/ holds the models of another folder."""
    name, folders = dataset.name, _folders(dataset)
    before = read_current(name)
    if before is None or any(map(eq, before.folder, folders)):
        return
    raise ConfigError(
        f"results/{name}/ holds the models of {before.folder[1]}, not those of {folders[1]}",
        where="score_decoys",
        remedy="give another name (score_name=NAME) or folder (toporank -o), or delete "
        f"results/{name}/",
    )
