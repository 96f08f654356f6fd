"""The coverage gap: what a build still has to do, by decoy and stage, and what has no label.

It opens no artefact.
"""

from __future__ import annotations

import contextlib
import functools
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from textwrap import shorten
from typing import NamedTuple

from toporank import layout
from toporank.building.chunks.ledger import LedgerRow, Recipes, read_outcomes
from toporank.building.chunks.plan import (
    Chunks,
    PlannedDecoy,
    by_key,
    chunk_names,
    read_chunk,
)
from toporank.building.chunks.published import ArtefactKey
from toporank.building.coverage import (
    WITHOUT_FILE,
    Coverage,
    describe_labels,
    in_parts,
    models_in_parts,
    most_frequent,
    outcome,
    read_coverage,
    shortfall,
)
from toporank.building.label_tables import given_by_natives
from toporank.comparing.homology.chain_tables import read_splits, split_of_targets
from toporank.errors import ConfigError
from toporank.files.atomic import write_text_if_changed
from toporank.files.records import to_lines
from toporank.files.spreadsheets import defused
from toporank.finding.labels import Label, of_decoys
from toporank.lookup import by_decoy
from toporank.structures.identity import DecoyKey, Status


class State:
    """What a stage has to do for a decoy."""

    UP_TO_DATE = "up to date"
    NEW = "new"
    CHANGED = "model changed"
    RELABELLED = "label changed"
    PARAMETER = "parameter changed"
    CODE = "code changed"
    DAMAGED = "artefact damaged"
    FAILED = "failed before"
    REFUSED = "cannot be read"
    NO_DECOY = "no model"


CARRIED_ON = (State.NEW, State.CHANGED, State.PARAMETER, State.CODE, State.FAILED)
"""States that later stages share, because their input may change."""

COLUMNS: tuple[str, ...] = ("target", "decoy", *layout.STAGES, "status", "reason")
COLUMNS += ("dockq", "split", "label")
NOT_BUILT = "not built yet"
NOT_IN_TABLE = "none: the label table does not name it"
NO_NATIVE = "none: its target has no native"
OF_NATIVE = "its native will say"


class DecoyGap(NamedTuple):
    """One decoy with its state in each stage, or a label without decoy.

    status, reason : what the last build said of it, as in coverage; `not built yet` if none did.
    dockq, split : of its label, as far as they are known.
    label : why DockQ is missing, where a label is expected.
    """

    target: str
    decoy: str
    states: tuple[str, ...]
    status: str
    reason: str
    dockq: float | None = None
    split: str = ""
    label: str = ""

    @property
    def with_graph(self) -> bool:
        """Whether it has a graph to train on, or may get one."""
        if self.states == BUILT:
            return self.status == Status.OK
        return _may_be_built(self.states)


def in_all(state: str) -> tuple[str, ...]:
    """One state in all stages."""
    return (state,) * len(layout.STAGES)


BUILT = in_all(State.UP_TO_DATE)


@functools.cache  # ten thousand decoys have a handful of them
def _may_be_built(states: tuple[str, ...]) -> bool:
    return {State.FAILED, State.REFUSED, State.NO_DECOY}.isdisjoint(states)


class Fate(NamedTuple):
    """The entry of a decoy in a ledger, by which recipes it was built, and what it was then."""

    row: LedgerRow
    recipes: Recipes
    planned: PlannedDecoy


def survey(
    dataset: str,
    dealt: Chunks,
    recipes: Recipes,
    damaged: Set[ArtefactKey] = frozenset(),
) -> list[DecoyGap]:
    """What has to be done for the decoys of a data set, or of a part of it, sorted.

    Parameters
    ----------
    dataset : str
        Whose ledgers are read.
    dealt : dict
        Its chunks, by `plan.deal`.
    recipes : mapping
        The current ones of each stage.
    damaged : set
        Published artefacts that differ from what was built.
    """
    fates: dict[DecoyKey, Fate] = {}
    are_built = True
    for chunk, members in dealt.items():
        try:
            fates |= _fates(dataset, chunk, members)
        except FileNotFoundError:
            are_built = False
    if not are_built:
        fates = _earlier(dataset) | fates
    moved = _moved(dataset) if fates else {}
    new = in_all(State.NEW)
    rows = []
    for members in dealt.values():
        for member in members:
            fate = fates.get(member.key)
            if fate is None and member.refused:
                states = in_all(State.REFUSED)
                row = DecoyGap(*member.key, states, member.refused_as, member.refused)
            elif fate is None:
                row = DecoyGap(*member.key, new, NOT_BUILT, "")
            else:
                row = _built_before(member, fate, moved, recipes, damaged)
            rows.append(row)
    return sorted(rows, key=itemgetter(0, 1))


def _built_before(
    member: PlannedDecoy,
    fate: Fate,
    moved: Mapping[DecoyKey, str],
    recipes: Recipes,
    damaged: Set[ArtefactKey],
) -> DecoyGap:
    """A decoy with what coverage says of it, by the plan of that time."""
    status, _, reason = outcome(fate.row, fate.planned)
    if status == Status.OK and member.key in moved:
        status, reason = Status.ONE_BODY, moved[member.key]
    states = _states(member, fate, recipes, damaged)
    return DecoyGap(*member.key, states, status, reason)


def _moved(dataset: str) -> dict[DecoyKey, str]:
    """Why decoys are one complex, moved as a whole, as coverage says, which compares decoys."""
    path = Path(layout.COVERAGE.format(dataset=dataset))
    if not path.exists() or f"\t{Status.ONE_BODY}\t" not in path.read_text("utf-8"):
        return {}
    rows = [row for row in read_coverage(path) if row.status == Status.ONE_BODY]
    return {(row.target, row.decoy): row.reason for row in rows}


def with_labels(
    rows: Iterable[DecoyGap],
    labels: Iterable[Label],
    lacking: str = "",
    why: Mapping[DecoyKey, str] | None = None,
) -> list[DecoyGap]:
    """Join decoys with their labels; a label without decoy is a row of its own.

    Parameters
    ----------
    rows : iterable of DecoyGap
        From `survey`.
    labels : iterable of Label
        Those of these decoys and targets. DockQ is nan where a job computes it.
    lacking : str
        Why a decoy has no label; empty where none is expected.
    why : mapping, optional
        (target, decoy) → the same, of single decoys.
    """
    why = why or {}
    label_of = by_decoy(labels)
    joined = []
    for row in rows:
        key, of_build = row[:2], row[:5]
        label = label_of.pop(key, None)
        if label is None:
            row = DecoyGap(*of_build, label=why.get(key, lacking))
        elif math.isnan(label.dockq):
            row = DecoyGap(*of_build, split=label.split, label=OF_NATIVE)
        else:
            row = DecoyGap(*of_build, label.dockq, label.split)
        joined.append(row)
    for label in label_of.values():
        states, status = in_all(State.NO_DECOY), Status.NO_DECOY
        row = DecoyGap(*label[:2], states, status, WITHOUT_FILE, label.dockq)
        joined.append(row._replace(split=label.split))
    return sorted(joined, key=itemgetter(0, 1))


def survey_labelled(
    dataset: str,
    dealt: Chunks,
    recipes: Recipes,
    labels: Iterable[Label] | None,
    from_natives: bool,
    damaged: Set[ArtefactKey] = frozenset(),
) -> list[DecoyGap]:
    """As `survey`, joined with the labels of these decoys and their targets.

    The last run gives splits where the labels do not.

    Parameters
    ----------
    dataset, dealt, recipes, damaged
        As for `survey`.
    labels : iterable of Label, optional
        None where the data set has none.
    from_natives : bool
        Whether a job gives the labels their DockQ.
    """
    rows = survey(dataset, dealt, recipes, damaged)
    if labels is None:
        return rows
    labels = of_decoys(labels)
    if Path(layout.SPLITS).exists() and not all(label.split for label in labels):
        split_of = split_of_targets(read_splits(layout.SPLITS))
        for i, label in enumerate(labels):
            split = label.split or split_of.get((dataset, label.target), "")
            labels[i] = label._replace(split=split)
    if not from_natives:
        return with_labels(rows, labels, NOT_IN_TABLE)
    given, why = given_by_natives(dataset, labels)
    return with_labels(rows, given, NO_NATIVE, why)


def uncovered(rows: Sequence[DecoyGap], policy: Coverage, dataset: str) -> list[str]:
    """That too few labels of a data set can ever have a graph, or nothing."""
    has_labels = any(row.dockq is not None for row in rows)
    if not has_labels or any(row.label == OF_NATIVE for row in rows):
        return []
    missing = shortfall(rows, policy, "can have")
    if not missing:
        return []
    remedy = f"see {layout.GAP.format(dataset=dataset)}, or change `coverage`"
    return [f"dataset {dataset}: at most {missing} ({remedy})"]


def _fates(
    dataset: str, chunk: str, members: Iterable[PlannedDecoy]
) -> dict[DecoyKey, Fate]:
    """What the ledger of a chunk says of its decoys. Raises FileNotFoundError without one."""
    planned = by_key(members)
    ledger = read_outcomes(dataset, chunk, planned)
    return {row.key: Fate(row, ledger.recipes, planned[row.key]) for row in ledger.rows}


def _earlier(dataset: str) -> dict[DecoyKey, Fate]:
    """What the latest earlier build recorded for each decoy, in whichever chunk it was."""
    fates: dict[DecoyKey, Fate] = {}
    for chunk in chunk_names(
        Path(layout.LEDGER.format(dataset=dataset, chunk="x")).parent
    ):
        # no plan, one of another version, or just removed
        with contextlib.suppress(FileNotFoundError):
            fates |= _fates(dataset, chunk, read_chunk(dataset, chunk))
    return fates


def _states(
    member: PlannedDecoy, fate: Fate, recipes: Recipes, damaged: Set[ArtefactKey]
) -> tuple[str, ...]:
    """What each stage has to do for a decoy."""
    states: list[str] = []
    for stage in layout.STAGES:
        if states and states[-1] in CARRIED_ON:
            states.append(states[-1])
            continue
        state = _state(stage, member, fate, recipes)
        if state == State.UP_TO_DATE and (stage, *member.key) in damaged:
            state = State.DAMAGED
        states.append(state)
    return tuple(states)


def _state(stage: str, member: PlannedDecoy, fate: Fate, recipes: Recipes) -> str:
    """What a stage has to do for a decoy if the stages before have nothing to do.

    This holds if its artefact is what the ledger says.
    """
    row, built_by, before = fate
    if (before.size, before.version) != (member.size, member.version):
        return State.CHANGED
    if stage == layout.STAGES[-1] and before.dockq != member.dockq:
        return State.RELABELLED
    if built_by.get(stage) != recipes[stage]:
        _, parameters = built_by.get(stage, ("", ""))
        return State.CODE if parameters == recipes[stage][1] else State.PARAMETER
    stages = layout.STAGES
    has_failed = row.status != Status.OK and stages.index(row.stage) <= stages.index(
        stage
    )
    return State.FAILED if has_failed else State.UP_TO_DATE


def write_gap(dataset: str, rows: Sequence[DecoyGap]) -> None:
    """Write the list of every decoy and of every label without one, where it changed.

    Raises ConfigError where it cannot be written.
    """
    lines = []
    for row in rows:
        target, decoy, states, status, reason, dockq, split, label = row
        names = defused(target), defused(decoy)
        of_label = "" if dockq is None else f"{dockq:g}", split, label
        lines.append((*names, *states, status, defused(reason), *of_label))
    path = layout.GAP.format(dataset=dataset)
    try:
        write_text_if_changed(path, to_lines(COLUMNS, lines))
    except OSError as error:
        raise ConfigError(f"cannot be written: {error.strerror}", where=path) from error


def describe(rows: Sequence[DecoyGap]) -> list[str]:
    """Lines on what is to do, and on labels: how many have a graph, which have no decoy."""
    pending = {State.NEW, State.CHANGED, State.PARAMETER, State.CODE}
    is_built = all(pending.isdisjoint(row.states) for row in rows)
    what = "with a graph" if is_built else "that can have a graph"
    lines = describe_stages(rows) + describe_reasons(rows)
    lines += filter(None, [describe_labels(rows, what)])
    return lines + describe_missing(rows)


def describe_stages(rows: Sequence[DecoyGap]) -> list[str]:
    """Return a line for each run of stages with equal numbers.

    An example is `topology, nodes: 9 up to date + 1 new`.
    """
    n_alike = Counter((row.states, row.status) for row in _decoys(rows))
    counted = []
    for i, stage in enumerate(layout.STAGES):
        n_of_state: Counter[str] = Counter()
        failed: Counter[str] = Counter()
        for (states, status), n in n_alike.items():
            n_of_state[states[i]] += n
            if states[i] == State.FAILED:
                failed[status] += n
        if failed:
            statuses = ", ".join(
                f"{n} {status}" for status, n in sorted(failed.items())
            )
            n_of_state[f"{State.FAILED} ({statuses})"] = n_of_state.pop(State.FAILED)
        counted.append((stage, in_parts(n_of_state)))
    lines = []
    for text, same in groupby(counted, key=itemgetter(1)):
        stages = ", ".join(stage for stage, _ in same)
        lines.append(f"{stages}: {text}")
    return lines


def describe_reasons(rows: Sequence[DecoyGap]) -> list[str]:
    """The two most frequent reasons of decoys that failed before, a line each."""
    reasons = Counter(
        row.reason for row in rows if State.FAILED in row.states and row.reason
    )
    lines = []
    for reason, n in most_frequent(reasons)[:2]:
        short = shorten(reason, 70, placeholder=" …")
        lines.append(f"{State.FAILED}, {n} of {reasons.total()}: {short}")
    return lines


def describe_fates(rows: Sequence[DecoyGap]) -> str:
    """What the last build made of the decoys, in one line that adds up."""
    decoys = _decoys(rows)
    return models_in_parts(Counter(row.status for row in decoys))


def describe_missing(rows: Sequence[DecoyGap]) -> list[str]:
    """How many labels have no decoy and how many decoys no label, each with the first of them."""
    lines = []
    for what, missing in (
        (
            "labels without model",
            [row for row in rows if row.status == Status.NO_DECOY],
        ),
        ("models without label", [row for row in rows if row.label.startswith("none")]),
    ):
        if missing:
            first = "/".join(missing[0][:2])
            lines.append(f"{what}: {len(missing):,}, such as {first}")
    return lines


def _decoys(rows: Iterable[DecoyGap]) -> list[DecoyGap]:
    return [row for row in rows if row.status != Status.NO_DECOY]
