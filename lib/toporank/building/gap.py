"""The coverage gap: what a build has still to do, for every decoy and stage, without opening one artefact.

A finished job leaves a *receipt* beside its ledger: the recipe (modules, parameters, code) and the plan it worked
by. What differs between receipts, plans and recipes of now is what is to do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from textwrap import shorten

from toporank import layout
from toporank.building.plan import COLUMNS as PLAN_COLUMNS
from toporank.building.plan import artefacts_on_disk, claims_of_others, damaged_artefacts, read_plan
from toporank.decoys.identity import Status
from toporank.files import write_text, write_text_if_changed


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
"""States that later stages share: what they take in may be another."""

COLUMNS = ("target", "decoy", *layout.STAGES, "status", "reason")
NOT_BUILT = "not built yet"


@dataclass(frozen=True)
class DecoyGap:
    """One decoy: its state in each stage, and what the last build said of it (`not built yet` if none did)."""

    target: str
    decoy: str
    states: tuple[str, ...]
    status: str
    reason: str


def write_receipt(dataset: str, stage: str, chunk: str, recipe: str, plan: str) -> None:
    """Note by which recipe (one line) and plan (text) the artefacts of a chunk were made."""
    write_text(layout.RECEIPT.format(dataset=dataset, stage=stage, chunk=chunk), f"{recipe}\n{plan}")


def survey(dataset: str, chunks: Sequence[str], recipes: Mapping[str, str], selection: str = "") -> list[DecoyGap]:
    """The gap of every planned decoy of a data set, sorted. recipes : stage → recipe of now."""
    there, claims = {}, {}
    rows = []
    for chunk in chunks:
        path = Path(layout.PLAN.format(dataset=dataset, chunk=chunk))
        plan, built = path.read_text(encoding="utf-8"), {s: _receipt(dataset, s, chunk) for s in layout.STAGES}
        damaged: set[str] = set()
        if any(text and text[1].partition("\n")[0] != plan.partition("\n")[0] for text in built.values()):
            there = there or artefacts_on_disk(dataset)  # this chunk was sent to repair
            claims = claims or claims_of_others(dataset, selection)
            damaged = set(damaged_artefacts(dataset, chunk, read_plan(path), there, claims))
        fates = {s: _fates(dataset, s, chunk) if built[s] else {} for s in layout.STAGES}
        before = {s: _plan_rows(built[s][1]) if built[s] and built[s][1] != plan else None for s in layout.STAGES}
        outdated = {s: _outdated(built[s][0], recipes[s]) if built[s] else "" for s in layout.STAGES}
        for key, row in _plan_rows(plan).items():
            states: list[str] = []
            for stage in layout.STAGES:
                fate = fates[stage].get(key)
                then = row if before[stage] is None else before[stage].get(key)
                own = State.NEW if fate is None or then is None else (
                    _difference(stage, then, row) or outdated[stage] or _outcome(stage, key, fate, damaged)
                )  # fmt: skip
                last = states[-1] if states else State.UP_TO_DATE
                carried = last == State.FAILED or (last in CARRIED_ON and own != State.NEW)
                states.append(last if carried else own)
            status, _, reason = fates["graphs"].get(key, (NOT_BUILT, "", ""))
            rows.append(DecoyGap(*key, tuple(states), status, reason))
    return sorted(rows, key=lambda row: (row.target, row.decoy))


def nearest(one: Sequence[DecoyGap], other: Sequence[DecoyGap]) -> list[DecoyGap]:
    """The decoys of `one`, each as `other` has it where less is to do there."""
    also = {(row.target, row.decoy): row for row in other}
    pairs = [(row, also.get((row.target, row.decoy), row)) for row in one]
    return [max(pair, key=lambda row: row.states.count(State.UP_TO_DATE)) for pair in pairs]


def _receipt(dataset: str, stage: str, chunk: str) -> tuple[str, str] | None:
    """Recipe and plan of a finished chunk, None where it was never finished."""
    place = {"dataset": dataset, "stage": stage, "chunk": chunk}
    path = Path(layout.RECEIPT.format(**place))
    if not path.exists() or not Path(layout.LEDGER.format(**place)).exists():
        return None
    recipe, _, plan = path.read_text(encoding="utf-8").partition("\n")
    return recipe, plan


def _lines(text: str) -> list[list[str]]:
    return [line.split("\t") for line in text.split("\n") if line]


def _plan_rows(plan: str) -> dict[tuple[str, str], dict[str, str]]:
    return {(line[0], line[1]): dict(zip(PLAN_COLUMNS, line, strict=True)) for line in _lines(plan)[2:]}


def _fates(dataset: str, stage: str, chunk: str) -> dict[tuple[str, str], tuple[str, str, str]]:
    """(target, decoy) → status, stage and reason of a ledger."""
    text = Path(layout.LEDGER.format(dataset=dataset, stage=stage, chunk=chunk)).read_text(encoding="utf-8")
    return {(line[0], line[1]): (line[2], line[3], line[4]) for line in _lines(text)[1:]}


def _outdated(then: str, now: str) -> str:
    """Whether parameters or code changed; empty when neither did."""
    if then == now:
        return ""
    parameters = (recipe.partition(" ")[2] for recipe in (then, now))
    return State.CODE if len(set(parameters)) == 1 else State.PARAMETER


def _difference(stage: str, then: dict[str, str], now: dict[str, str]) -> str:
    if (then["size"], then["mtime_ns"]) != (now["size"], now["mtime_ns"]):
        return State.CHANGED
    return State.RELABELLED if stage == "graphs" and then["dockq"] != now["dockq"] else ""


def _outcome(stage: str, key: tuple[str, str], fate: tuple[str, str, str], damaged: set[str]) -> str:
    if fate[0] != Status.OK:
        return State.FAILED
    return State.DAMAGED if layout.artefact(stage, *key) in damaged else State.UP_TO_DATE


def write_gap(dataset: str, rows: Sequence[DecoyGap]) -> None:
    """Write the list of every decoy where it changed."""
    lines = ["\t".join((r.target, r.decoy, *r.states, r.status, r.reason)) for r in rows]
    write_text_if_changed(layout.GAP.format(dataset=dataset), "\n".join(["\t".join(COLUMNS), *lines, ""]))


def describe_stages(rows: Sequence[DecoyGap]) -> list[str]:
    """One line for each run of stages with equal numbers, such as `topology, nodes: 9 up to date + 1 new`."""
    counted = []
    for i, stage in enumerate(layout.STAGES):
        failed = Counter(r.status for r in rows if r.states[i] == State.FAILED)
        now = Counter(r.states[i] for r in rows)
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


def in_parts(parts: Mapping[str, int]) -> str:
    """`3 ok + 1 failed`: most frequent first."""
    return " + ".join(f"{n} {what}" for what, n in sorted(parts.items(), key=lambda p: (-p[1], p[0]))) or "0"
