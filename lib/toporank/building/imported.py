"""Graphs of another pipeline as a data set.

It gives targets, labels, coverage, and the members of its pack.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import NamedTuple

from toporank.building.coverage import SAME_LABEL, WITHOUT_FILE, CoverageRow
from toporank.building.packing import Member
from toporank.comparing.homology.chain_tables import UNKNOWN, ChainRow
from toporank.errors import ConfigError, printable
from toporank.features.registry import DEFAULT_MODULES
from toporank.files.graph_file import Graph
from toporank.finding.graph_files import GraphFile
from toporank.finding.labels import Label, mismatch, of_decoys
from toporank.lookup import by_decoy
from toporank.structures.identity import Decoy, DecoyKey, Status

NO_TARGET = (
    "put it into a folder that is named after its target, give the file the text `target`, or "
    "name target and file in the labels"
)
TWO_TARGETS = (
    "the labels name this file for several targets: put the files "
    "into a folder for each target"
)


class ImportedGraphs(NamedTuple):
    """A data set of graphs of another pipeline.

    coverage : a row for each graph, and each label without graph. labels : as training and
        evaluation read them.
    chains : a row for each target, without sequence.
    members : of the pack.
    notes : what the user should know.
    """

    coverage: list[CoverageRow]
    labels: list[Label]
    chains: list[ChainRow]
    members: list[Member]
    notes: list[str]


def import_graphs(
    dataset: str,
    files: Iterable[GraphFile],
    table: Iterable[Label],
    read: Callable[[Path], Graph],
) -> ImportedGraphs:
    """Join graphs of another pipeline with their labels.

    Parameters
    ----------
    dataset : str
        Name of the data set.
    files : iterable of GraphFile
        The graphs.
    table : iterable of Label
        Rows of the label table, if there is one. They name targets that files do not name, label
        files without `y`, and say which split a target belongs to.
    read : callable
        Path of a file → its graph.

    Returns
    -------
    ImportedGraphs

    Raises
    ------
    ConfigError
        Naming the file, when its target is not known or two files are one decoy; or when no row of
        the table belongs to a file.
    """
    table = of_decoys(table)
    targets_of: dict[str, set[str]] = {}
    for label in table:
        targets_of.setdefault(label.decoy, set()).add(label.target)
    files = [_as_labelled(file, targets_of) for file in files]
    files.sort(key=attrgetter("key"))
    _check_names(dataset, files)
    decoys = [Decoy(dataset, file.target, file.decoy, str(file.path)) for file in files]
    if problem := mismatch(table, decoys):
        raise ConfigError(problem, where=f"dataset {dataset}")
    without_file = by_decoy(table)
    split_of = {label.target: label.split for label in table}
    labels, coverage, members, differing = [], [], [], []
    for file in files:
        in_table = without_file.pop(file.key, None)
        of_file = _label_of(file, in_table, split_of.get(file.target, ""))
        if of_file is not None:
            labels.append(of_file)
            if in_table and abs(in_table.dockq - of_file.dockq) > SAME_LABEL:
                differing.append((in_table, of_file))
        row = _coverage_row(file.key, Status.OK, of_file)
        coverage.append(row._replace(path=str(file.path)))
        members.append(_member(file, of_file, read))
    notes = _notes(files, labels, differing)
    for label in without_file.values():
        labels.append(label)
        row = _coverage_row(label[:2], Status.NO_DECOY, label)
        coverage.append(row._replace(reason=WITHOUT_FILE))
    return ImportedGraphs(
        coverage=sorted(coverage, key=itemgetter(0, 1)),
        labels=sorted(labels, key=itemgetter(0, 1)),
        chains=_chains(files),
        members=members,
        notes=notes,
    )


def _as_labelled(file: GraphFile, targets_of: Mapping[str, set[str]]) -> GraphFile:
    """Return the graph by the name that the label table has for it, with its target.

    targets_of : by the name of a decoy, the targets under which the label table has it.
    """
    names = [file.decoy, file.file_name]
    labelled_by = next((name for name in names if name in targets_of), file.decoy)
    targets = targets_of.get(labelled_by, set())
    if file.target in targets:
        return file._replace(decoy=labelled_by)
    if file.target:
        return file
    if len(targets) != 1:
        remedy = TWO_TARGETS if targets else NO_TARGET
        raise ConfigError("its target is not known", where=file.path, remedy=remedy)
    (target,) = targets
    return file._replace(target=target, decoy=labelled_by)


def _check_names(dataset: str, files: list[GraphFile]) -> None:
    """Raise ConfigError when two files are the same decoy. files : sorted by target and decoy."""
    for first, second in pairwise(files):
        if first.key == second.key:
            raise ConfigError(
                f"{printable(str(first.path))} and {printable(str(second.path))} are both graph "
                f"{second.decoy!r} of target {second.target!r}",
                where=f"dataset {dataset}",
                remedy="rename or remove one of them",
            )


def _label_of(file: GraphFile, in_table: Label | None, split: str) -> Label | None:
    """The label of a graph: its own DockQ or else that of the table; None without."""
    if math.isnan(file.dockq):
        return in_table
    if in_table is None:
        return Label(
            target=file.target, decoy=file.decoy, dockq=file.dockq, split=split
        )
    return in_table._replace(dockq=file.dockq)


def _coverage_row(key: DecoyKey, status: str, label: Label | None) -> CoverageRow:
    """The outcome of a graph, or of a label without graph."""
    row = CoverageRow(target=key[0], decoy=key[1], status=status)
    return row._replace(dockq=label.dockq, split=label.split) if label else row


def _member(
    file: GraphFile, label: Label | None, read: Callable[[Path], Graph]
) -> Member:
    dockq = math.nan if label is None else label.dockq
    return Member(
        target=file.target,
        decoy=file.decoy,
        split="" if label is None else label.split,
        graph=file.path,
        sha256=hashlib.sha256(f"{file.sha256} {dockq!r}".encode()).hexdigest(),
        read=lambda: read(file.path)._replace(y=dockq),
    )


def _chains(files: list[GraphFile]) -> list[ChainRow]:
    """A row for each target, which says that its chains are unknown."""
    rows: dict[str, ChainRow] = {}
    for file in files:
        row = ChainRow(
            target=file.target,
            decoy=file.decoy,
            structure_sha256=file.sha256,
            chains="",
            kind=UNKNOWN,
            sequence="",
        )
        rows.setdefault(file.target, row)
    return list(rows.values())


def _notes(
    files: list[GraphFile], labels: list[Label], differing: list[tuple[Label, Label]]
) -> list[str]:
    """What the user should know.

    differing : labels of the table and of files that contradict each other.
    """
    notes = []
    silent = [file for file in files if file.unnamed]
    if silent:
        stages = {", ".join(DEFAULT_MODULES): "the graphs"}
        unnamed = ", ".join(silent[0].unnamed)
        which = (
            "the files do" if len(silent) == len(files) else f"{len(silent)} files do"
        )
        notes.append(
            f"{which} not say which feature modules made {stages.get(unnamed, unnamed)}, so "
            "TopoRank cannot name the features: a scorer that is trained on these graphs can score "
            "such graphs alone, and no structures"
        )
    notes.append(
        "the graphs have no sequences, so there are no clusters: each target is split alone, "
        "and similar targets can be on both sides"
    )
    if not labels:
        notes.append(
            "no graph has a label, so these graphs are only scored: name the data sets to train "
            "on under training.datasets"
        )
    if differing:
        in_table, label = differing[0]
        notes.append(
            f"warning: `y` and the label table differ for {len(differing)} graphs, such as "
            f"{label.target}/{label.decoy} ({label.dockq:g} and {in_table.dockq:g}): `y` counts"
        )
    return notes
