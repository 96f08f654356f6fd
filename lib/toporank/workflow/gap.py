"""The coverage gap: what a build still has to do, for every decoy and stage, without opening one artefact."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from textwrap import shorten
from typing import NamedTuple

from toporank import layout
from toporank.building import view
from toporank.building.ledger import Ledger, LedgerRow, read_stage
from toporank.building.plan import Chunks, PlannedDecoy, attempts, chunk_names, read_chunk
from toporank.decoys.identity import Status
from toporank.evaluation.coverage import in_parts
from toporank.files import write_text_if_changed
from toporank.spreadsheets import defused


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
    """One decoy: its state in each stage, and what the last build said of it (`not built yet` if none did)."""

    target: str
    decoy: str
    states: tuple[str, ...]
    status: str
    reason: str


class Survey(NamedTuple):
    """chunks : what is to be built, by name. decoys : the gap of each, sorted."""

    chunks: Chunks
    decoys: list[DecoyGap]


Fate = tuple[LedgerRow, str, PlannedDecoy]
"""What a ledger says of a decoy, by which recipe it was built, and what it was then."""


def survey(dataset: str, dealt: Chunks, recipes: Mapping[str, str], *, again: bool = False) -> Survey:
    """What has to be done for the decoys of a data set, or of a part of it.

    dealt : by `plan.deal`. recipes : stage → current recipe. again : try decoys without a graph again.
    A chunk is attempted again when an artefact differs from its ledger, when a ledger is missing although that of the
    last stage is there, or when that is asked for.
    """
    last, seen = attempts(dataset), {stage: view.look(dataset, stage) for stage in layout.STAGES}
    chunks, rows, earlier = {}, [], _Earlier(dataset)
    for content, members in dealt.items():
        attempt = last.get(content, 0)
        keys = [member.key for member in members]
        ledgers = {stage: _ledger(dataset, stage, f"{content}.{attempt}", keys) for stage in layout.STAGES}
        damaged = {s: set(view.differing(dataset, s, ledgers[s].rows, seen[s])) for s in layout.STAGES if ledgers[s]}
        ended = ledgers[layout.STAGES[-1]]
        retried = again and ended is not None and any(row.status != Status.OK for row in ended.rows)
        lost = ended is not None and None in ledgers.values()
        chunks[f"{content}.{attempt + bool(retried or lost or any(damaged.values()))}"] = members
        if not any(ledgers.values()) and earlier.is_empty():
            rows += [DecoyGap(target, decoy, ALL_NEW, NOT_BUILT, "") for target, decoy in keys]
            continue
        fates = {
            stage: ledger and {row.key: (row, ledger.recipe) for row in ledger.rows}
            for stage, ledger in ledgers.items()
        }
        for member in members:
            states: list[str] = []
            for stage in layout.STAGES:
                own = fates[stage]
                fate = (*own[member.key], member) if own else earlier.fate(stage, member.key)
                state = _state(stage, member, fate, recipes[stage])
                differs = own and member.key in damaged[stage]
                if state == State.UP_TO_DATE and (differs or (not own and earlier.differs(stage, fate[0], seen))):
                    state = State.DAMAGED
                before = states[-1] if states else State.UP_TO_DATE
                carried = before == State.FAILED or (before in CARRIED_ON and state != State.NEW)
                states.append(before if carried else state)
            status, reason = (fate[0].status, fate[0].reason) if fate else (NOT_BUILT, "")
            rows.append(DecoyGap(*member.key, tuple(states), status, reason))
    return Survey(chunks, sorted(rows))


def _ledger(dataset: str, stage: str, chunk: str, keys: Iterable[tuple[str, str]]) -> Ledger | None:
    """None where there is none."""
    try:
        return read_stage(dataset, stage, chunk, keys)
    except FileNotFoundError:
        return None


class _Earlier:
    """What the latest earlier build recorded for a decoy in another chunk. Read when first needed."""

    def __init__(self, dataset: str):
        self._dataset = dataset
        self._fates: dict[str, dict[tuple[str, str], Fate]] = {}

    def fate(self, stage: str, key: tuple[str, str]) -> Fate | None:
        return self._of(stage).get(key)

    def is_empty(self) -> bool:
        return not any(self._of(stage) for stage in layout.STAGES)

    def _of(self, stage: str) -> dict[tuple[str, str], Fate]:
        if stage not in self._fates:
            self._fates[stage] = self._read(stage)
        return self._fates[stage]

    def differs(self, stage: str, row: LedgerRow, seen: Mapping[str, view.Seen]) -> bool:
        return any(view.differing(self._dataset, stage, [row], seen[stage]))

    def _read(self, stage: str) -> dict[tuple[str, str], Fate]:
        fates: dict[tuple[str, str], Fate] = {}
        for chunk in chunk_names(Path(layout.LEDGER.format(dataset=self._dataset, stage=stage, chunk="x")).parent):
            with contextlib.suppress(FileNotFoundError):  # no plan any more, or a build beside this run removed both
                members = {member.key: member for member in read_chunk(self._dataset, chunk)}
                ledger = read_stage(self._dataset, stage, chunk, members)
                fates |= {row.key: (row, ledger.recipe, members[row.key]) for row in ledger.rows}
        return fates


def _state(stage: str, now: PlannedDecoy, fate: Fate | None, recipe: str) -> str:
    """What a stage has to do for a decoy by itself, if its artefact is what the ledger says."""
    if fate is None:
        return State.NEW
    row, built_by, then = fate
    if (then.size, then.mtime_ns) != (now.size, now.mtime_ns):
        return State.CHANGED
    if stage == layout.STAGES[-1] and then.dockq != now.dockq:
        return State.RELABELLED
    if built_by != recipe:
        same_parameters = built_by.partition(" ")[2] == recipe.partition(" ")[2]
        return State.CODE if same_parameters else State.PARAMETER
    return State.UP_TO_DATE if row.status == Status.OK else State.FAILED


def write_gap(dataset: str, rows: Sequence[DecoyGap]) -> None:
    """Write the list of every decoy where it changed."""
    lines = ["\t".join(map(defused, (r.target, r.decoy, *r.states, r.status, r.reason))) for r in rows]
    write_text_if_changed(layout.GAP.format(dataset=dataset), "\n".join(["\t".join(COLUMNS), *lines, ""]))


def describe_stages(rows: Sequence[DecoyGap]) -> list[str]:
    """One line for each run of stages with equal numbers, such as `topology, nodes: 9 up to date + 1 new`."""
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
    return [f"{', '.join(s for s, _ in same)}: {text}" for text, same in groupby(counted, key=lambda pair: pair[1])]


def describe_reasons(rows: Sequence[DecoyGap]) -> list[str]:
    """The two most frequent reasons of decoys that failed before, a line each."""
    reasons = Counter(row.reason for row in rows if State.FAILED in row.states and row.reason)
    frequent = sorted(reasons.items(), key=lambda pair: (-pair[1], pair[0]))[:2]
    return [f"{State.FAILED}, {n} of {reasons.total()}: {shorten(why, 70, placeholder=' …')}" for why, n in frequent]


def describe_fates(rows: Sequence[DecoyGap]) -> str:
    """What the last build made of the decoys, in one line that adds up."""
    return f"{len(rows)} decoys = {in_parts(Counter(row.status for row in rows))}"
