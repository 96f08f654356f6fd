"""Coverage: one row for every decoy and every label, so that nothing is lost silently."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pydantic import Field

from toporank import layout
from toporank.building.chunks.ledger import LedgerRow, read_meetings
from toporank.building.chunks.plan import PlannedDecoy
from toporank.errors import ConfigError, RecordError
from toporank.features.interface import Meeting
from toporank.files.spreadsheets import read_rows, write_rows
from toporank.settings import Section
from toporank.structures.identity import Status

if TYPE_CHECKING:
    from toporank.inputs.labels import Label

SAME_LABEL = 0.01
"""Difference of DockQ up to which the labels of two copies of a model are the same, but for
rounding or the program.
"""


class CoverageRow(NamedTuple):
    """What became of a decoy, or of a label without decoy.

    `stage` and `reason` say where and why it ended, `dockq` and `split` are those of its label,
    `path` is its file, `duplicate_of` the first decoy of its target, by name, that has the same
    atoms in the same places, or where there is no result the same file. `chains` says which chains
    of the target its chains are, as `comparing.correspondence.chain_map_text` writes it. `model`
    says which of the models of its file it is, from 1; 0 for the only one. `joined` says which
    chains are one partner by nature, in a sentence. What is not known is None or, of text, empty.
    """

    target: str
    decoy: str
    status: str
    stage: str
    reason: str
    dockq: float | None
    split: str
    n_chains: int | None
    n_interface_residues: int | None
    path: str
    duplicate_of: str = ""
    chains: str = ""
    model: int = 0
    joined: str = ""


ONE_BODY = (
    "{n} models of the target are one complex, moved as a whole, so there is nothing to rank: is "
    "the receptor in"
    " another file? (write receptor and ligand of each pose into one file)"
)
"""Reason of a decoy that is the same complex as most decoys of its target, in another place."""
COLUMNS = CoverageRow._fields
_SEPARATOR = re.compile("[\t\r\n]")


def coverage_table(
    plan: Iterable[PlannedDecoy],
    ledger: Iterable[LedgerRow],
    labels: Iterable[Label],
    chains: Mapping[tuple[str, str], str] | None = None,
    moved: Mapping[tuple[str, str], int] | None = None,
) -> list[CoverageRow]:
    """Join decoys, what became of them, and labels; sorted by target and decoy.

    A label without decoy is a row of its own with status `label_without_decoy`; a decoy without a
    ledger row was not asked for. chains : (target, decoy) → its column `chains`. moved : (target,
    decoy) → how many decoys of its target are the same complex, moved as a whole, of those that
    are. Raises ValueError when a decoy or label is given twice.
    """
    paths = _by_name(plan)
    fates, known = _by_name(ledger), _by_name(labels)
    rows = [
        _row(*key, paths.get(key), fates.get(key), known.get(key))
        for key in sorted({*paths, *known})
    ]
    first: dict[tuple, str] = {}
    for i, row in enumerate(rows):
        key = row.target, row.decoy
        same = _of_copies(paths.get(key), fates.get(key))
        original = first.setdefault((row.target, *same), row.decoy) if same else row.decoy
        copy = original if original != row.decoy else ""
        rows[i] = row._replace(
            duplicate_of=copy, chains=(chains or {}).get((row.target, row.decoy), "")
        )
        n_alike = (moved or {}).get((row.target, row.decoy))
        if n_alike and row.status == Status.OK:
            reason = "; ".join(filter(None, [ONE_BODY.format(n=n_alike), row.reason]))
            rows[i] = rows[i]._replace(
                status=Status.ONE_BODY, reason=reason, stage=layout.STAGES[0]
            )
    return rows


def _of_copies(plan: PlannedDecoy | None, fate: LedgerRow | None) -> tuple:
    """What copies of a decoy have in common: atoms and partners, or the file where there is no
    result; else nothing.
    """
    if plan is None or fate is None or plan.refused:
        return ()
    if fate.status == Status.OK:
        return (fate.atoms_sha256, plan.partners) if fate.atoms_sha256 else ()
    if not plan.version:
        return ()
    return (fate.status, plan.size, plan.version, plan.model, plan.partners)


def _by_name(rows: Iterable) -> dict[tuple[str, str], object]:
    found = {}
    for row in rows:
        if (row.target, row.decoy) in found:
            raise ValueError(f"{row.target}/{row.decoy} is given twice")
        found[row.target, row.decoy] = row
    return found


def _row(
    target: str, decoy: str, plan: PlannedDecoy | None, fate: LedgerRow | None, label: Label | None
) -> CoverageRow:
    if plan is None:
        became = Status.NO_DECOY, "", "the label table names it, but there is no such file"
    elif fate is None:
        became = Status.NOT_BUILT, "", "not of the targets asked for"
    else:
        became = _verdict(fate, plan)
    dockq, split = (label.dockq, label.split) if label else (None, "")
    sizes = (fate.n_chains, fate.n_interface_residues) if plan and fate else (-1, -1)
    n_chains, n_interface_residues = (size if size >= 0 else None for size in sizes)
    path, model, joined = (plan.path, plan.model, plan.joined) if plan else ("", 0, "")
    sizes = n_chains, n_interface_residues
    return CoverageRow(
        target, decoy, *became, dockq, split, *sizes, path, model=model, joined=joined
    )


def _verdict(fate: LedgerRow, plan: PlannedDecoy) -> tuple[str, str, str]:
    """Status, stage and reason of a decoy: a graph in which a partner has no part does not stand
    for the decoy.

    Where partners are given, the chains that they name count, and `building` has seen to these.
    Otherwise a further copy of a chain, which the other models of the target lack, may lie apart. A
    decoy without any interface has none, unless partners are given.
    """
    given = plan.partners and not plan.recognised
    if plan.lacks and not given and fate.status != Status.NO_INTERFACE and fate.n_chains > 0:
        further = "" if fate.status == Status.CHAIN_MISSING else fate.reason
        return (
            Status.CHAIN_MISSING,
            layout.STAGES[0],
            "; ".join(filter(None, [plan.lacks, further])),
        )
    if fate.status == Status.OK or (fate.status == Status.NO_INTERFACE and plan.partners):
        meetings, notes = read_meetings(fate), [fate.reason] if fate.status == Status.OK else []
        bodies = sorted({name for meeting in meetings for name in meeting[:2]})
        touching = {name for meeting in meetings if meeting.contacts for name in meeting[:2]}
        apart = [name for name in bodies if name not in touching]
        further_copies = set(plan.spare.split("+")) if touching and not given else set()
        spare = [name for name in apart if further_copies.issuperset(name.split("+"))]
        if apart := [name for name in apart if name not in spare]:
            why = [_how_far(name, meetings) for name in (apart if touching else apart[:1])]
            return Status.PARTNER_APART, layout.STAGES[0], "; ".join(filter(None, [*why, *notes]))
        further = [
            f"chain {name} is a further copy and touches no other: left out" for name in spare
        ]
        return fate.status, fate.stage, "; ".join(filter(None, [*further, *notes]))
    return fate.status, fate.stage, fate.reason


def _how_far(partner: str, meetings: list[Meeting]) -> str:
    nearest = min((m for m in meetings if partner in m[:2]), key=lambda meeting: meeting.closest)
    other = nearest.second if partner == nearest.first else nearest.first
    return (
        f"partner {partner} touches no other (the closest is {other}, {nearest.closest:.1f} Å away)"
    )


def write_coverage(path: Path | str, rows: Iterable[CoverageRow]) -> None:
    """Write coverage.tsv. Raises ConfigError naming a row whose text cannot stand in one line of
    it.
    """
    rows = list(rows)
    for row in rows:
        if _SEPARATOR.search("".join(cell for cell in row if isinstance(cell, str))):
            raise ConfigError(
                f"target {row.target!r}, decoy {row.decoy!r}: a tab or line break in its name or "
                "reason",
                where=path,
                remedy="rename the file, or correct the label",
            )
    write_rows(path, COLUMNS, rows, tabs=True)


def read_coverage(path: Path | str) -> list[CoverageRow]:
    """Read coverage.tsv. Raises RecordError when it is something else."""
    try:
        header = Path(path).read_text(encoding="utf-8").partition("\n")[0].split("\t")
        if header != list(COLUMNS):
            raise ValueError("it has other columns")
        return [_from_text(row) for row in read_rows(path, tabs=True)]
    except (ValueError, TypeError) as error:
        raise RecordError(
            f"not a coverage table: {error}", where=path, remedy="delete it and run again"
        ) from error


def _from_text(row: dict[str, str]) -> CoverageRow:
    numbers = {"dockq": float, "n_chains": int, "n_interface_residues": int}
    known = {
        column: number(row[column]) if row[column] else None for column, number in numbers.items()
    }
    return CoverageRow(
        **{**{column: row[column] for column in COLUMNS}, **known, "model": int(row["model"])}
    )


def counts(rows: Iterable[CoverageRow]) -> str:
    """One line in which the numbers add up."""
    rows = list(rows)
    decoys = [row for row in rows if row.status != Status.NO_DECOY]
    labelled = [row for row in rows if row.dockq is not None]
    with_graph = sum(row.status == Status.OK for row in labelled)
    without = Counter(row.status for row in labelled if row.status != Status.OK)
    return (
        f"{len(decoys)} decoys = {in_parts(Counter(row.status for row in decoys))}; "
        f"{len(labelled)} labels = {in_parts(Counter({'with a graph': with_graph}) + without)}; "
        f"{sum(row.dockq is None for row in decoys)} decoys without label"
    )


def conflicting(rows: Iterable[CoverageRow]) -> str:
    """That copies of a model have other labels than the model itself, with the first such pair;
    empty if none has.
    """
    rows = list(rows)
    known = {(row.target, row.decoy): row for row in rows if row.dockq is not None}
    pairs = [
        (row, known.get((row.target, row.duplicate_of)))
        for row in known.values()
        if row.duplicate_of
    ]
    found = [
        (copy, model)
        for copy, model in pairs
        if model and abs(copy.dockq - model.dockq) > SAME_LABEL
    ]
    if not found:
        return ""
    copy, model = found[0]
    return (
        f"{len(found)} cop{'y has' if len(found) == 1 else 'ies have'} another DockQ than the "
        "same atoms under another"
        f" name, such as {copy.target}/{copy.decoy} ({copy.dockq:g}) and {model.decoy} "
        f"({model.dockq:g})"
    )


class Coverage(Section):
    """When too few labelled decoys have graphs to train on."""

    minimum_percent: float = Field(
        90.0,
        ge=0,
        le=100,
        json_schema_extra={"unit": "%"},
        description="Smallest share of a data set's labels that must have a graph before training.",
    )


def check_policy(rows: Iterable[CoverageRow], policy: Coverage, dataset: str) -> None:
    """Raise ConfigError when too few labels of a data set have a graph to train on it."""
    labels = [row.status for row in rows if row.dockq is not None]
    labelled = [status for status in labels if status != Status.NOT_BUILT]
    if labels and not labelled:
        return  # none of its targets is asked for
    missing = [status for status in labelled if status != Status.OK]
    percent = 100.0 * (len(labelled) - len(missing)) / len(labelled) if labelled else 0.0
    if percent < policy.minimum_percent:
        reasons = ", ".join(f"{n} {status}" for status, n in Counter(missing).most_common())
        raise ConfigError(
            f"{len(labelled) - len(missing)} of {len(labelled)} labels ({percent:.1f} %) have a "
            "graph, at least"
            f" {policy.minimum_percent:g} % must (missing: {reasons or 'no labels at all'})",
            where=f"dataset {dataset}",
            remedy=f"see {layout.COVERAGE.format(dataset=dataset)}, or change `coverage` in the "
            "configuration",
        )


def in_parts(parts: Mapping[str, int]) -> str:
    """`3 ok + 1 failed`: most frequent first."""
    return (
        " + ".join(f"{n} {what}" for what, n in sorted(parts.items(), key=lambda p: (-p[1], p[0])))
        or "0"
    )
