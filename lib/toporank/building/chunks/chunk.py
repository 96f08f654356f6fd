"""One job: the decoys of a chunk through all feature stages.

The boundary where errors become statuses.
"""

from __future__ import annotations

import functools
import hashlib
import logging
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toporank import layout
from toporank.building.chunks.artefacts import Artefacts, artefacts_of
from toporank.building.chunks.ledger import (
    Ledger,
    LedgerRow,
    meetings_text,
    parts_text,
    write_ledger,
)
from toporank.building.chunks.plan import PlannedDecoy, read_chunk
from toporank.building.chunks.stages import Source, recipes
from toporank.building.chunks.store import Store, cpu_seconds
from toporank.chains.partners import parse_partners
from toporank.errors import (
    ChainMissingError,
    ChangedError,
    FeatureError,
    IntermediateError,
    NoInterfaceError,
    OverlapError,
    RecordError,
    StructureError,
    TopoRankError,
)
from toporank.features.registry import FeatureChoice
from toporank.files.atomic import note_progress
from toporank.files.state import FileState, state_if_there
from toporank.structures.dssp import DsspMissingError, dssp_version
from toporank.structures.identity import DecoyKey, Status
from toporank.structures.text import read_content

if TYPE_CHECKING:
    from toporank.finding.sketch import Sketch

log = logging.getLogger(__name__)

PROGRESS_SECONDS = 1.0
BUILD_AGAIN = "build the chunk again: --forcerun build_chunk"
FACTS = ("n_chains", "n_interface_residues", "meetings", "shape", "side_chains")
STATUS_OF = {
    NoInterfaceError: Status.NO_INTERFACE,
    ChainMissingError: Status.CHAIN_MISSING,
    IntermediateError: Status.INTERMEDIATE,
    OverlapError: Status.OVERLAPPING,
    StructureError: Status.UNREADABLE,
    FeatureError: Status.FAILED,
}


def run_chunk(
    dataset: str,
    chunk: str,
    choices: dict[str, FeatureChoice],
    store: Store,
    labels: Mapping[DecoyKey, float] | None = None,
) -> list[LedgerRow]:
    """Bring the artefacts of every decoy of a chunk up to date in the store, and write the ledger.

    A decoy that fails in a stage gets a status, and its siblings go on. A full disk or lack of
    memory is no decoy's fault: it ends the job.

    Parameters
    ----------
    dataset, chunk : str
        Whose plan is read.
    choices : dict
        Stage → feature module with its parameters.
    store : Store
        The reuse store.
    labels : mapping, optional
        (target, decoy) → DockQ, in the place of that of the plan.
    """
    members = read_chunk(dataset, chunk)
    if labels is not None:
        members = [
            member._replace(dockq=str(labels.get(member.key, ""))) for member in members
        ]
    progress = Path(layout.PROGRESS.format(dataset=dataset, chunk=chunk))
    rows: list[LedgerRow] = []
    n_failed, noted, first_done = 0, float("-inf"), cpu_seconds()
    for member in members:
        if time.monotonic() - noted > PROGRESS_SECONDS:
            note_progress(progress, len(rows), n_failed)
            noted = time.monotonic()
        row = run_decoy(member, choices, store)
        if row.status != Status.OK:
            n_failed += 1
            log.warning(
                "%s/%s: %s: %s", member.target, member.decoy, row.status, row.reason
            )
        if not rows:
            # the first decoy also loads libraries and compiled code
            first_done = cpu_seconds()
        rows.append(row)
    note_progress(progress, len(members), n_failed)
    ledger = Path(layout.LEDGER.format(dataset=dataset, chunk=chunk))
    write_ledger(ledger, Ledger(recipes(choices), rows))
    seconds = cpu_seconds()
    log.info(
        f"{dataset} {chunk}: {len(rows)} models, {len(rows) - n_failed} good, {n_failed} without "
        f"result; {seconds:.2f} CPU s, {seconds - first_done:.2f} of them in features; "
        f"computed {dict(store.computed) or 0}, reused {dict(store.reused) or 0}"
    )
    return rows


def run_decoy(
    member: PlannedDecoy,
    choices: dict[str, FeatureChoice],
    store: Store,
    digest: str = "",
) -> LedgerRow:
    """One decoy through all stages, or up to the one where it fails: then the row says why.

    The store keeps the row of a good decoy beside its artefacts. digest : SHA-256 of its file,
    where `keep_file` took it; otherwise the file is read. Raises OSError, MemoryError or
    DsspMissingError, which no decoy causes.
    """
    row = LedgerRow(*member.key, Status.OK, layout.STAGES[0], dockq=member.dockq)
    content = None
    try:
        if not digest:
            content, digest = decoy_content(member)
    except StructureError as error:
        status, reason = _verdict(error)
        return row._replace(status=status, reason=reason)
    row = row._replace(structure_sha256=digest)
    made = making(member, digest, choices, store, content)
    key = _key_of_row(member, choices, store)
    stored = made.scope.lookup(key)
    if stored is not None:
        log.info("%s/%s: all stages from the reuse store", *member.key)
        return row._replace(**stored.facts)
    made.read_file()
    row = _through_stages(row, made)
    if row.status == Status.OK:
        facts = row._asdict()
        del facts["target"], facts["decoy"]  # the same file may have another name
        made.scope.cached(key, lambda: (b"", facts))
    made.save()
    return row


def _key_of_row(
    member: PlannedDecoy, choices: dict[str, FeatureChoice], store: Store
) -> dict[str, Any]:
    calls_mkdssp = choices and choices["nodes"].parameters.calls_mkdssp
    return {
        "kind": "row",
        "partners": member.partners,
        "dockq": member.dockq,
        "recipes": recipes(choices),
        "mkdssp": dssp_version() if calls_mkdssp else "",
        "graphs_only": store.graphs_only,
        "columns": LedgerRow._fields,
    }


def run_stage(
    member: PlannedDecoy, last: str, choices: dict[str, FeatureChoice], store: Store
) -> tuple[LedgerRow, bytes]:
    """One decoy up to a stage, and the artefact of that; empty where it fails.

    What the stages before made comes from the store.

    Parameters
    ----------
    member : PlannedDecoy
        The decoy.
    last : str
        One of `layout.STAGES`.
    choices, store : dict, Store
        The feature modules, and the reuse store.
    """
    row = LedgerRow(*member.key, Status.OK, layout.STAGES[0], dockq=member.dockq)
    try:
        content, digest = decoy_content(member)
    except StructureError as error:
        status, reason = _verdict(error)
        return row._replace(status=status, reason=reason), b""
    made = making(member, digest, choices, store, content)
    made.read_file()
    row = _through_stages(row, made, last)
    made.save()
    is_made = row.status == Status.OK
    return row, made.finish(last).content if is_made else b""


def _through_stages(
    row: LedgerRow, made: Artefacts, last: str = layout.STAGES[-1]
) -> LedgerRow:
    """The row of a decoy after these stages, or the one where it fails."""
    times: list[str] = []
    try:
        for stage in layout.STAGES[: layout.STAGES.index(last) + 1]:
            row = row._replace(stage=stage)
            begin = time.perf_counter()
            entry = made.finish(stage)
            times.append(f"{stage} {time.perf_counter() - begin:.3f} s")
            reason = "; ".join(
                filter(None, [row.reason, *entry.facts.get("notes", ())])
            )
            facts = _facts(entry.facts) | {stage: entry.sha256}
            row = row._replace(reason=reason, **facts)
        if last == layout.STAGES[-1]:
            row = row._replace(parts=parts_text(made.interfaces))
        return row
    except (OSError, MemoryError, DsspMissingError):
        raise
    except Exception as error:  # noqa: BLE001
        # the job boundary: a decoy's failure is a status, its siblings go on
        status, reason = _verdict(error)
        if isinstance(error, ChangedError):
            row = row._replace(structure_sha256="")
        facts = _facts(error.facts) if isinstance(error, TopoRankError) else {}
        reason = "; ".join(filter(None, [reason, row.side_chains]))
        return row._replace(status=status, reason=reason, **facts)
    finally:
        log.info("%s/%s: %s", row.target, row.decoy, ", ".join(times))


def _facts(of_artefact: dict[str, Any]) -> dict[str, Any]:
    """What a ledger keeps of the facts about an artefact."""
    facts = {name: of_artefact[name] for name in FACTS if name in of_artefact}
    if "meetings" in facts:
        facts["meetings"] = meetings_text(facts["meetings"])
    return facts


def making(
    member: PlannedDecoy,
    digest: str,
    choices: dict[str, FeatureChoice],
    store: Store,
    content: bytes | None = None,
) -> Artefacts:
    """The values of a planned decoy.

    Parameters
    ----------
    member : PlannedDecoy
        The decoy.
    digest : str
        SHA-256 of its file.
    choices : dict
        Feature modules; may be empty where no feature is asked for.
    store : Store
        The reuse store.
    content : bytes, optional
        Of its file, where it was read before.
    """
    return artefacts_of(
        Source(Path(member.path), digest, member.model, content),
        store,
        choices,
        partners=parse_partners(member.partners) if member.partners else (),
        dockq=float(member.dockq) if member.dockq else None,
    )


def keep_file(path: Path, content: bytes, sketch: Sketch, store: Store) -> None:
    """Put what a structure file holds into a store, so that it need not be opened again.

    The decoys whose atoms cannot be used come out with the reason when it is their turn.

    Parameters
    ----------
    path, content, sketch : of the file
    store : the reuse store
    """
    for model in sketch.decoys:
        made = artefacts_of(Source(path, sketch.content, model, content), store, {})
        made.read_file()
        store.save_later(made.scope)


def artefact(
    stage: str,
    digest: str,
    member: PlannedDecoy,
    row: LedgerRow,
    choices: dict[str, FeatureChoice],
    store: Store,
) -> bytes:
    """An artefact of a built decoy, or the graph of one of its interfaces.

    It comes from the store, or is made again.

    Parameters
    ----------
    stage : str
        That made it.
    digest : str
        Its checksum.
    member, row : PlannedDecoy, LedgerRow
        The decoy, and its outcome.
    choices, store : dict, Store
        The feature modules, and the reuse store.

    Raises
    ------
    RecordError
        When it cannot be made as it was.
    """
    source = Source(Path(member.path), row.structure_sha256, member.model)
    content = store.find(source.scope, stage, digest)
    if content is None:
        labelled_as_then = member._replace(dockq=row.dockq)
        made = making(labelled_as_then, row.structure_sha256, choices, store)
        for each in layout.STAGES[: layout.STAGES.index(stage) + 1]:
            entry = made.finish(each)
        parts = made.interfaces.values() if stage == layout.STAGES[-1] else ()
        content_of = {each.sha256: each.content for each in (entry, *parts)}
        content = content_of.get(digest)
        made.save()
    if content is None:
        what = "is not in the store, and comes out differently now"
        where = f"{member.target}/{member.decoy}, {stage}"
        raise RecordError(what, where=where, remedy=BUILD_AGAIN)
    return content


def interface_graphs(
    decoys: Iterable[tuple[PlannedDecoy, LedgerRow]],
) -> Iterator[tuple[PlannedDecoy, LedgerRow, str, str]]:
    """The built decoys with the name of each interface, and the checksum of its graph."""
    for member, row in decoys:
        for name, digest in row.graphs_of_interfaces.items():
            yield member, row, name, digest


def decoy_content(member: PlannedDecoy) -> tuple[bytes, str]:
    """The bytes of the file of a decoy, and their SHA-256.

    Raises StructureError when it cannot be read, and IntermediateError where it is no model.
    """
    if member.refused_as == Status.INTERMEDIATE:
        raise IntermediateError(member.refused)
    if member.refused:
        raise StructureError(member.refused)
    return _content_of(Path(member.path), state_if_there(member.path))


@functools.lru_cache(maxsize=1)  # the models of a file follow one another
def _content_of(path: Path, state: FileState) -> tuple[bytes, str]:
    content = read_content(path)
    return content, hashlib.sha256(content).hexdigest()


def _verdict(error: Exception) -> tuple[str, str]:
    """Status and reason of a decoy that raised."""
    for kind, status in STATUS_OF.items():
        if isinstance(error, kind):
            return status, error.reason
    log.exception("unexpected error, please report it with the model that causes it")
    text = (
        error.reason
        if isinstance(error, TopoRankError)
        else f"{type(error).__name__}: {error}"
    )
    return Status.FAILED, "unexpected " + " ".join(text.split())
