"""The coverage gap: what a build still has to do, for every decoy and stage, without opening one
artefact.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterable, Sequence, Set
from itertools import groupby
from pathlib import Path
from textwrap import shorten
from typing import NamedTuple

from toporank import layout
from toporank.building.chunks.ledger import Ledger, LedgerRow, Recipes, read_outcomes
from toporank.building.chunks.plan import Chunks, PlannedDecoy, chunk_names, read_chunk
from toporank.building.chunks.published import Key
from toporank.building.coverage import in_parts
from toporank.files.atomic import write_text_if_changed
from toporank.files.spreadsheets import defused
from toporank.structures.identity import Status


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


CARRIED_ON = (State.NEW, State.CHANGED, State.PARAMETER, State.CODE)
"""States that later stages share, because their input may change."""

COLUMNS = ("target", "decoy", *layout.STAGES, "status", "reason")
ALL_NEW, NOT_BUILT = (State.NEW,) * len(layout.STAGES), "not built yet"


class DecoyGap(NamedTuple):
    """One decoy: its state in each stage, and what the last build said of it (`not built yet` if
    none did).
    """

    target: str
    decoy: str
    states: tuple[str, ...]
    status: str
    reason: str


Fate = tuple[LedgerRow, Recipes, PlannedDecoy]
"""What a ledger says of a decoy, by which recipes it was built, and what it was then."""


def survey(
    dataset: str, dealt: Chunks, recipes: Recipes, damaged: Set[Key] = frozenset()
) -> list[DecoyGap]:
    """What has to be done for the decoys of a data set, or of a part of it, sorted.

    dealt : by `plan.deal`. recipes : the current ones. damaged : published artefacts that differ
    from what was built.
    """
    ledgers = {chunk: _ledger(dataset, chunk, members) for chunk, members in dealt.items()}
    own = {
        row.key: (row, ledger.recipes)
        for ledger in ledgers.values()
        if ledger
        for row in ledger.rows
    }
    earlier = _earlier(dataset) if None in ledgers.values() else {}
    rows = []
    for member in (member for members in dealt.values() for member in members):
        fate = (*own[member.key], member) if member.key in own else earlier.get(member.key)
        if fate is None:
            rows.append(DecoyGap(*member.key, ALL_NEW, NOT_BUILT, ""))
            continue
        states: list[str] = []
        for stage in layout.STAGES:
            state = _state(stage, member, fate, recipes)
            if state == State.UP_TO_DATE and (stage, *member.key) in damaged:
                state = State.DAMAGED
            before = states[-1] if states else State.UP_TO_DATE
            states.append(before if before == State.FAILED or before in CARRIED_ON else state)
        rows.append(DecoyGap(*member.key, tuple(states), fate[0].status, fate[0].reason))
    return sorted(rows)


def _ledger(dataset: str, chunk: str, members: Iterable[PlannedDecoy]) -> Ledger | None:
    """None where there is none."""
    try:
        return read_outcomes(dataset, chunk, (member.key for member in members))
    except FileNotFoundError:
        return None


def _earlier(dataset: str) -> dict[tuple[str, str], Fate]:
    """What the latest earlier build recorded for each decoy, in whichever chunk it was."""
    fates: dict[tuple[str, str], Fate] = {}
    for chunk in chunk_names(Path(layout.LEDGER.format(dataset=dataset, chunk="x")).parent):
        with contextlib.suppress(
            FileNotFoundError
        ):  # no plan, one of another version, or just removed
            members = {member.key: member for member in read_chunk(dataset, chunk)}
            ledger = read_outcomes(dataset, chunk, members)
            fates |= {row.key: (row, ledger.recipes, members[row.key]) for row in ledger.rows}
    return fates


def _state(stage: str, now: PlannedDecoy, fate: Fate, recipes: Recipes) -> str:
    """What a stage has to do for a decoy by itself, if its artefact is what the ledger says."""
    row, built_by, then = fate
    if (then.size, then.version) != (now.size, now.version):
        return State.CHANGED
    if stage == layout.STAGES[-1] and then.dockq != now.dockq:
        return State.RELABELLED
    if built_by.get(stage) != recipes[stage]:
        return (
            State.CODE if built_by.get(stage, ["", ""])[1] == recipes[stage][1] else State.PARAMETER
        )
    failed = row.status != Status.OK and layout.STAGES.index(row.stage) <= layout.STAGES.index(
        stage
    )
    return State.FAILED if failed else State.UP_TO_DATE


def write_gap(dataset: str, rows: Sequence[DecoyGap]) -> None:
    """Write the list of every decoy where it changed."""
    lines = [
        "\t".join(map(defused, (r.target, r.decoy, *r.states, r.status, r.reason))) for r in rows
    ]
    write_text_if_changed(
        layout.GAP.format(dataset=dataset), "\n".join(["\t".join(COLUMNS), *lines, ""])
    )


def describe_stages(rows: Sequence[DecoyGap]) -> list[str]:
    """One line for each run of stages with equal numbers, such as `topology, nodes: 9 up to date +
    1 new`.
    """
    alike, counted = Counter((row.states, row.status) for row in rows), []
    for i, stage in enumerate(layout.STAGES):
        now, failed = Counter(), Counter()
        for (states, status), n in alike.items():
            now[states[i]] += n
            if states[i] == State.FAILED:
                failed[status] += n
        if failed:
            why = ", ".join(f"{n} {status}" for status, n in sorted(failed.items()))
            now[f"{State.FAILED} ({why})"] = now.pop(State.FAILED)
        counted.append((stage, in_parts(now)))
    return [
        f"{', '.join(s for s, _ in same)}: {text}"
        for text, same in groupby(counted, key=lambda pair: pair[1])
    ]


def describe_reasons(rows: Sequence[DecoyGap]) -> list[str]:
    """The two most frequent reasons of decoys that failed before, a line each."""
    reasons = Counter(row.reason for row in rows if State.FAILED in row.states and row.reason)
    frequent = sorted(reasons.items(), key=lambda pair: (-pair[1], pair[0]))[:2]
    return [
        f"{State.FAILED}, {n} of {reasons.total()}: {shorten(why, 70, placeholder=' …')}"
        for why, n in frequent
    ]


def describe_fates(rows: Sequence[DecoyGap]) -> str:
    """What the last build made of the decoys, in one line that adds up."""
    return f"{len(rows)} decoys = {in_parts(Counter(row.status for row in rows))}"
