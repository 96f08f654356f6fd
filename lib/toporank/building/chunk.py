"""One job: one stage for all decoys of a chunk. The boundary where errors become statuses."""

from __future__ import annotations

import dataclasses
import logging
import time
from pathlib import Path

from toporank import layout
from toporank.building.gap import write_receipt
from toporank.building.ledger import LedgerRow, read_ledger, write_ledger
from toporank.building.plan import PlanRow, read_plan
from toporank.building.progress import Part, note
from toporank.building.stages import Stage, Task
from toporank.building.store import Store, cpu_seconds
from toporank.decoys.identity import Status
from toporank.errors import FeatureError, NoInterfaceError, StructureError, TopoRankError
from toporank.features.registry import Choice
from toporank.files import link_or_copy, sha256
from toporank.structures.dssp import DsspMissingError
from toporank.structures.read import check_file

log = logging.getLogger(__name__)

PROGRESS_SECONDS = 1.0


def run_chunk(
    stage: Stage,
    dataset: str,
    plan: Path,
    upstream: Path | None,
    ledger: Path,
    choices: dict[str, Choice],
    store: Store,
    recipe: str = "",
) -> list[LedgerRow]:
    """Bring the artefacts of one stage up to date for every decoy of a plan and write the ledger.

    upstream : ledger of the stage before, None for the first. A decoy that failed there keeps its status;
    one that fails here gets one. A full disk or lack of memory is no decoy's fault: it ends the job.
    recipe : line for the receipt (see `stages.recipe`).
    """
    before = {(r.target, r.decoy): r for r in read_ledger(upstream)} if upstream else {}
    plan_text = plan.read_text(encoding="utf-8")
    members, rows, failed, noted = read_plan(plan), [], 0, float("-inf")
    part = Part(dataset, stage.name, plan.stem)
    for done, member in enumerate(members):
        if time.monotonic() - noted > PROGRESS_SECONDS:
            note(part, done, failed)
            noted = time.monotonic()
        rows.append(_run_decoy(stage, dataset, member, before.get((member.target, member.decoy)), choices, store))
        if rows[-1].status != Status.OK and rows[-1].stage == stage.name:
            failed += 1
            log.warning("%s/%s: %s: %s", member.target, member.decoy, rows[-1].status, rows[-1].reason)
    note(part, len(members), failed)
    write_receipt(dataset, stage.name, plan.stem, recipe, plan_text)
    write_ledger(ledger, rows)
    good = sum(row.status == Status.OK for row in rows)
    log.info(
        "%s %s %s: %d decoys, %d good, %d without result; %.2f CPU s, %.2f of them in features; computed %s, reused %s",
        dataset, stage.name, plan.stem, len(rows), good, len(rows) - good, cpu_seconds(), store.make_seconds,
        dict(store.computed) or 0, dict(store.reused) or 0,
    )  # fmt: skip
    return rows


def _run_decoy(
    stage: Stage, dataset: str, member: PlanRow, before: LedgerRow | None, choices: dict[str, Choice], store: Store
) -> LedgerRow:
    """One decoy in one stage: publish its artefact or remove a stale one, and say which."""
    product = _product(dataset, stage.name, member)
    blank = LedgerRow(member.target, member.decoy, Status.OK, stage.name, "", -1, -1, "", 0)
    before = before or blank
    if before.status != Status.OK:
        product.unlink(missing_ok=True)
        return dataclasses.replace(before, sha256="", size=0)
    try:
        entry = stage.run(_task(dataset, stage, member, before, choices), store)
    except (OSError, MemoryError, DsspMissingError):
        raise
    except Exception as error:  # noqa: BLE001 -- the job boundary: a decoy's failure is a status, its siblings go on
        product.unlink(missing_ok=True)
        status, reason = _verdict(error)
        return dataclasses.replace(
            before, status=status, stage=stage.name, reason=reason, sha256="", size=0, **_known_facts(error)
        )
    if not (product.exists() and product.samefile(entry.path)):
        link_or_copy(entry.path, product)
    facts = {k: entry.facts[k] for k in ("n_chains", "n_interface_residues") if k in entry.facts}
    facts["reason"] = "; ".join(filter(None, [before.reason, *entry.facts.get("notes", ())]))
    return dataclasses.replace(before, stage=stage.name, sha256=entry.sha256, size=entry.size, **facts)


def _task(dataset: str, stage: Stage, member: PlanRow, before: LedgerRow, choices: dict[str, Choice]) -> Task:
    previous = layout.STAGES.index(stage.name) - 1
    source = Path(member.path)
    check_file(source)
    try:
        digest = sha256(source)
    except OSError as error:
        raise StructureError(
            f"cannot be read: {error.strerror}", remedy="make it readable for the user who runs the workflow"
        ) from error
    return Task(
        source=source,
        upstream=_product(dataset, layout.STAGES[previous], member) if previous >= 0 else None,
        structure_sha256=digest,
        upstream_sha256=before.sha256,
        choices=choices,
        dockq=float(member.dockq) if member.dockq else None,
    )


def _product(dataset: str, stage: str, member: PlanRow) -> Path:
    return Path(layout.ARTEFACTS.format(dataset=dataset, stage=stage)).parent / layout.artefact(
        stage, member.target, member.decoy
    )


def _verdict(error: Exception) -> tuple[str, str]:
    """Status and reason of a decoy that raised."""
    if isinstance(error, NoInterfaceError):
        return Status.NO_INTERFACE, error.reason
    if isinstance(error, StructureError):
        return Status.UNREADABLE, error.reason
    if isinstance(error, FeatureError):
        return Status.FAILED, error.reason
    log.exception("unexpected error, please report it with the decoy that causes it")
    text = error.reason if isinstance(error, TopoRankError) else f"{type(error).__name__}: {error}"
    return Status.FAILED, "unexpected " + " ".join(text.split())


def _known_facts(error: Exception) -> dict[str, int]:
    """What a failure still tells of the complex."""
    return {"n_chains": error.n_chains, "n_interface_residues": 0} if isinstance(error, NoInterfaceError) else {}
