"""One job: one stage for all decoys of a chunk. The boundary where errors become statuses."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from toporank import layout
from toporank.building import view
from toporank.building.ledger import Ledger, LedgerRow, meetings_text, read_stage, write_ledger
from toporank.building.plan import PlannedDecoy, read_chunk
from toporank.building.stages import Making, recipe, structure_digest
from toporank.building.store import Entry, Store, cpu_seconds
from toporank.decoys.identity import Status
from toporank.decoys.partners import parse_partners
from toporank.errors import ChainMissingError, FeatureError, NoInterfaceError, StructureError, TopoRankError
from toporank.features.registry import Choice
from toporank.files import note_progress
from toporank.structures.dssp import DsspMissingError

log = logging.getLogger(__name__)

PROGRESS_SECONDS = 1.0
FACTS = ("n_chains", "n_interface_residues", "meetings", "atoms_sha256")
STATUS_OF = {
    NoInterfaceError: Status.NO_INTERFACE,
    ChainMissingError: Status.CHAIN_MISSING,
    StructureError: Status.UNREADABLE,
    FeatureError: Status.FAILED,
}


def run_chunk(
    stage: str,
    dataset: str,
    chunk: str,
    choices: dict[str, Choice],
    store: Store,
    labels: Mapping[tuple[str, str], float] | None = None,
) -> list[LedgerRow]:
    """Bring the artefacts of one stage up to date for every decoy of a chunk and write the ledger.

    A decoy that failed in the stage before keeps its status; one that fails here gets one. A full disk or lack of
    memory is no decoy's fault: it ends the job. labels : (target, decoy) → DockQ where the plan has none.
    """
    members, rows, failed, noted = read_chunk(dataset, chunk), [], 0, float("-inf")
    if labels is not None:
        members = [member._replace(dockq=str(labels.get(member.key, ""))) for member in members]
    before = _rows_before(stage, dataset, chunk, members)
    noting = Path(layout.PROGRESS.format(dataset=dataset, stage=stage, chunk=chunk))
    for done, member in enumerate(members):
        if time.monotonic() - noted > PROGRESS_SECONDS:
            note_progress(noting, done, failed)
            noted = time.monotonic()
        row = _run_decoy(stage, dataset, member, before.get(member.key), choices, store)
        if row.status != Status.OK and row.stage == stage:
            failed += 1
            log.warning("%s/%s: %s: %s", member.target, member.decoy, row.status, row.reason)
        rows.append(row)
    note_progress(noting, len(members), failed)
    path = Path(layout.LEDGER.format(dataset=dataset, stage=stage, chunk=chunk))
    write_ledger(path, Ledger(recipe(stage, choices), rows))
    good, used = sum(row.status == Status.OK for row in rows), cpu_seconds()
    log.info(
        f"{dataset} {stage} {chunk}: {len(rows)} decoys, {good} good, {len(rows) - good} without result;"
        f" {used:.2f} CPU s, {store.make_seconds:.2f} of them in features;"
        f" computed {dict(store.computed) or 0}, reused {dict(store.reused) or 0}"
    )
    return rows


def _rows_before(stage: str, dataset: str, chunk: str, members: list[PlannedDecoy]) -> dict[tuple[str, str], LedgerRow]:
    """What became of the decoys of a chunk in the stage before this one; nothing before the first."""
    place = layout.STAGES.index(stage)
    if place == 0:
        return {}
    ledger = read_stage(dataset, layout.STAGES[place - 1], chunk, (member.key for member in members))
    return {row.key: row for row in ledger.rows}


def _run_decoy(
    stage: str, dataset: str, member: PlannedDecoy, before: LedgerRow | None, choices: dict[str, Choice], store: Store
) -> LedgerRow:
    """One decoy in one stage: publish its artefact or remove a stale one; returns its ledger row."""
    path = view.place(dataset, stage, member.key)
    row = before or LedgerRow(*member.key, Status.OK, stage)
    without = {"sha256": "", "size": 0, "mtime_ns": 0}
    if row.status != Status.OK:
        view.withdraw(path)
        return row._replace(**without)
    try:
        digest = row.structure_sha256 or decoy_digest(member)
        entry = making(member, digest, choices, store).finish(stage)
    except (OSError, MemoryError, DsspMissingError):
        raise
    except Exception as error:  # noqa: BLE001 -- the job boundary: a decoy's failure is a status, its siblings go on
        view.withdraw(path)
        status, reason = _verdict(error)
        known = _facts(error.facts) if isinstance(error, TopoRankError) else {}
        return row._replace(status=status, stage=stage, reason=reason, **without, **known)
    reason = "; ".join(filter(None, [row.reason, *entry.facts.get("notes", ())]))
    artefact = {"sha256": entry.sha256, "size": entry.size, "mtime_ns": view.show(path, entry)}
    return row._replace(stage=stage, reason=reason, structure_sha256=digest, **artefact, **_facts(entry.facts))


def _facts(found: dict[str, Any]) -> dict[str, Any]:
    """What a ledger keeps of the facts about an artefact."""
    facts = {name: found[name] for name in FACTS if name in found}
    return {**facts, "meetings": meetings_text(facts["meetings"])} if "meetings" in facts else facts


def making(member: PlannedDecoy, digest: str, choices: dict[str, Choice], store: Store) -> Making:
    """The artefacts of a planned decoy. digest : of its file. choices : may be empty where no feature is asked for."""
    partners = parse_partners(member.partners) if member.partners else ()
    dockq = float(member.dockq) if member.dockq else None
    return Making(Path(member.path), digest, dockq, partners, choices, store, model=member.model)


def restore_graph(dataset: str, member: PlannedDecoy, digest: str, choices: dict[str, Choice], store: Store) -> None:
    """Show the graph of a built decoy again: the store's, which makes it anew if its own is damaged.

    digest : of the file of the decoy when it was built.
    """
    path = view.place(dataset, layout.STAGES[-1], member.key)
    view.show(path, making(member, digest, choices, store).finish(layout.STAGES[-1]))


def interface_graphs(
    decoys: Iterable[tuple[PlannedDecoy, str]], choices: dict[str, Choice], store: Store
) -> Iterator[tuple[tuple[str, str], str, Entry]]:
    """Target and decoy, name and graph of each interface of built decoys, which come with their files' digests."""
    for member, digest in decoys:
        for name, entry in making(member, digest, choices, store).interfaces.items():
            yield member.key, name, entry


def decoy_digest(member: PlannedDecoy) -> str:
    """SHA-256 of the file of a decoy. Raises StructureError when it cannot be read."""
    if member.refused:
        raise StructureError(member.refused)
    return structure_digest(Path(member.path))


def _verdict(error: Exception) -> tuple[str, str]:
    """Status and reason of a decoy that raised."""
    for kind, status in STATUS_OF.items():
        if isinstance(error, kind):
            return status, error.reason
    log.exception("unexpected error, please report it with the decoy that causes it")
    text = error.reason if isinstance(error, TopoRankError) else f"{type(error).__name__}: {error}"
    return Status.FAILED, "unexpected " + " ".join(text.split())
