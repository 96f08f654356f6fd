"""The coverage gap: what a build still has to do, by decoy and stage.

It opens no artefact.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterable, Sequence, Set
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
from toporank.building.coverage import in_parts, most_frequent
from toporank.files.atomic import write_text_if_changed
from toporank.files.records import to_lines
from toporank.files.spreadsheets import defused
from toporank.structures.identity import DecoyKey, Status


class State:
    """What a stage has to do for a decoy."""

    UP_TO_DATE = "up to date"
    NEW = "new"
    CHANGED = "decoy changed"
    RELABELLED = "label changed"
    PARAMETER = "parameter changed"
    CODE = "code changed"
    DAMAGED = "artefact damaged"
    FAILED = "failed before"


CARRIED_ON = (State.NEW, State.CHANGED, State.PARAMETER, State.CODE, State.FAILED)
"""States that later stages share, because their input may change."""

COLUMNS = ("target", "decoy", *layout.STAGES, "status", "reason")
ALL_NEW, NOT_BUILT = (State.NEW,) * len(layout.STAGES), "not built yet"


class DecoyGap(NamedTuple):
    """One decoy with its state in each stage.

    It also has what the last build said of it (`not built yet` if none did).
    """

    target: str
    decoy: str
    states: tuple[str, ...]
    status: str
    reason: str


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
    rows = []
    for members in dealt.values():
        for member in members:
            fate = fates.get(member.key)
            if fate is None:
                rows.append(DecoyGap(*member.key, ALL_NEW, NOT_BUILT, ""))
            else:
                states = _states(member, fate, recipes, damaged)
                rows.append(
                    DecoyGap(*member.key, states, fate.row.status, fate.row.reason)
                )
    return sorted(rows)


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
    """Write the list of every decoy where it changed."""
    lines = []
    for row in rows:
        cells = (row.target, row.decoy, *row.states, row.status, row.reason)
        lines.append([defused(cell) for cell in cells])
    write_text_if_changed(layout.GAP.format(dataset=dataset), to_lines(COLUMNS, lines))


def describe_stages(rows: Sequence[DecoyGap]) -> list[str]:
    """Return a line for each run of stages with equal numbers.

    An example is `topology, nodes: 9 up to date + 1 new`.
    """
    counted = []
    for i, stage in enumerate(layout.STAGES):
        n_of_state = Counter(row.states[i] for row in rows)
        failed = Counter(row.status for row in rows if row.states[i] == State.FAILED)
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
    return f"{len(rows)} decoys = {in_parts(Counter(row.status for row in rows))}"
