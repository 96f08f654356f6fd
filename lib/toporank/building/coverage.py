"""Coverage: one row for every decoy and every label, so that nothing is lost silently."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from operator import attrgetter
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from pydantic import Field

from toporank import layout
from toporank.building.chunks.ledger import LedgerRow, read_meetings
from toporank.building.chunks.plan import PlannedDecoy
from toporank.chains.partners import Partners, given_partners
from toporank.comparing.copies import copies_of
from toporank.errors import ConfigError, RecordError
from toporank.features.interface import Meeting
from toporank.files.spreadsheets import read_rows, write_rows
from toporank.finding.labels import SPLITS, Label
from toporank.settings import Section
from toporank.structures.identity import DecoyKey, Status

SAME_LABEL = 0.01
"""Difference of DockQ up to which the labels of two copies of a model are the same, but for
rounding or the program.
"""


class CoverageRow(NamedTuple):
    """The outcome of a decoy, or of a label without decoy.

    `stage` and `reason` say where and why it ended, `dockq` and `split` are those of its label,
    `path` is its file, `duplicate_of` the first decoy of its target, by name, that is the same
    model, or where there is no result the same file. `chains` says which chains
    of the target its chains are, as `comparing.correspondence.chain_map_text` writes it. `model`
    says which of the models of its file it is, from 1; 0 for the only one. `joined` says which
    chains are one partner by nature and `side_chains` which have no side chains, in a sentence.
    An unknown number is None and an unknown text is empty.
    """

    target: str
    decoy: str
    status: str
    stage: str = ""
    reason: str = ""
    dockq: float | None = None
    split: str = ""
    n_chains: int | None = None
    n_interface_residues: int | None = None
    path: str = ""
    duplicate_of: str = ""
    chains: str = ""
    model: int = 0
    joined: str = ""
    side_chains: str = ""

    @property
    def with_graph(self) -> bool:
        """Whether it can be trained on."""
        return self.status == Status.OK

    @property
    def is_scored(self) -> bool:
        """Whether the decoy as a whole is scored: it lacks no chain, and partners touch."""
        if self.status == Status.PARTNER_APART:
            return bool(self.n_interface_residues)
        return self.status == Status.OK


ONE_BODY = (
    "{n} models of the target are one complex, moved as a whole, so there is nothing to rank: is "
    "the receptor in another file? (write receptor and ligand of each pose into one file)"
)
"""Reason of a decoy that is the same complex as most decoys of its target, in another place."""
TOUCHES_NO_OTHER = "touches no other"
WITHOUT_FILE = "the label table names it, but there is no such file"
COLUMNS = CoverageRow._fields
NUMBERS = {"dockq": float, "n_chains": int, "n_interface_residues": int, "model": int}
"""The columns that are no text."""
_SEPARATOR = re.compile("[\t\r\n]")


def coverage_table(
    plan: Iterable[PlannedDecoy],
    ledger: Iterable[LedgerRow],
    labels: Iterable[Label],
    chains: Mapping[DecoyKey, str] | None = None,
) -> list[CoverageRow]:
    """Join decoys, their outcomes, and labels; sorted by target and decoy.

    A label without decoy is a row of its own with status `label_without_decoy`; a decoy without a
    ledger row was not asked for.

    Parameters
    ----------
    plan, ledger, labels : iterable
        The decoys, their outcomes, and their labels, in any order.
    chains : mapping, optional
        (target, decoy) → its column `chains`.

    Raises
    ------
    ValueError
        When a decoy or label is given twice.
    """
    chains = chains or {}
    plans, fates, labels_of = _by_key(plan), _by_key(ledger), _by_key(labels)
    copies = _copies(plans, fates)
    rows = []
    for key in sorted({*plans, *labels_of}):
        row = _row(key, plans.get(key), fates.get(key), labels_of.get(key))
        row = row._replace(
            chains=chains.get(key, ""), duplicate_of=copies.original.get(key, "")
        )
        if key in copies.moved and row.status == Status.OK:
            reason = _sentences(ONE_BODY.format(n=copies.moved[key]), row.reason)
            row = row._replace(
                status=Status.ONE_BODY, stage=layout.STAGES[0], reason=reason
            )
        rows.append(row)
    return rows


class _Copies(NamedTuple):
    """As `comparing.copies.TargetCopies`, by target and decoy."""

    original: dict[DecoyKey, str]
    moved: dict[DecoyKey, int]


def _copies(
    plans: Mapping[DecoyKey, PlannedDecoy], fates: Mapping[DecoyKey, LedgerRow]
) -> _Copies:
    """The copies of decoys: the same model and partners, or without a result the same file."""
    shapes: dict[tuple[str, str], dict[str, str]] = {}
    partners: dict[str, dict[str, Partners]] = {}
    copies = _Copies({}, {})
    first_file: dict[tuple, str] = {}
    for key in sorted(plans.keys() & fates.keys()):
        decoy, fate = plans[key], fates[key]
        target, name = key
        if decoy.refused:
            continue
        if fate.shape:
            shapes.setdefault((target, fate.status), {})[name] = fate.shape
            given = given_partners(decoy.partners)
            partners.setdefault(target, {})[name] = given
        elif decoy.version and fate.status != Status.OK:
            file = target, fate.status, decoy.size, decoy.version, decoy.model
            original = first_file.setdefault((*file, decoy.partners), name)
            if original != name:
                copies.original[key] = original
    for (target, _), of_status in shapes.items():
        found = copies_of(of_status, partners[target])
        for name, original in found.original.items():
            copies.original[target, name] = original
        for name, n_places in found.moved.items():
            copies.moved[target, name] = n_places
    return copies


def _by_key(rows: Iterable[Any]) -> dict[DecoyKey, Any]:
    """(target, decoy) → its row. Raises ValueError where there are two."""
    row_of: dict[DecoyKey, Any] = {}
    for row in rows:
        key = row.target, row.decoy
        if key in row_of:
            raise ValueError(f"{row.target}/{row.decoy} is given twice")
        row_of[key] = row
    return row_of


def _row(
    key: DecoyKey,
    plan: PlannedDecoy | None,
    fate: LedgerRow | None,
    label: Label | None,
) -> CoverageRow:
    """The outcome of a decoy or label, but for what depends on other rows."""
    row = CoverageRow(*key, Status.NO_DECOY, reason=WITHOUT_FILE)
    if label:
        row = row._replace(dockq=label.dockq, split=label.split)
    if plan is None:
        return row
    row = row._replace(path=plan.path, model=plan.model, joined=plan.joined)
    if fate is None:
        return row._replace(
            status=Status.NOT_BUILT, reason="its target was not requested"
        )
    status, stage, reason = outcome(fate, plan)
    return row._replace(
        status=status,
        stage=stage,
        reason=reason,
        side_chains=fate.side_chains,
        n_chains=fate.n_chains if fate.n_chains >= 0 else None,
        n_interface_residues=fate.n_interface_residues
        if fate.n_interface_residues >= 0
        else None,
    )


def outcome(fate: LedgerRow, plan: PlannedDecoy) -> tuple[str, str, str]:
    """Status, stage and reason of a decoy by its own row of a ledger.

    A graph in which a partner has no part is not that of the decoy.

    Where partners are given, the chains that they name count, and `building` has seen to these.
    Otherwise a further copy of a chain, which the other models of the target lack, may lie apart. A
    decoy without any interface has none, unless partners are given.
    """
    are_given = plan.partners and not plan.is_by_nature
    has_no_interface = fate.status == Status.NO_INTERFACE
    if plan.lacks and not are_given and not has_no_interface and fate.n_chains > 0:
        further = "" if fate.status == Status.CHAIN_MISSING else fate.reason
        return Status.CHAIN_MISSING, layout.STAGES[0], _sentences(plan.lacks, further)
    if fate.status != Status.OK and not (has_no_interface and plan.partners):
        return fate.status, fate.stage, fate.reason
    meetings = read_meetings(fate)
    bodies, touching = set(), set()
    for meeting in meetings:
        bodies |= {meeting.first, meeting.second}
        if meeting.contacts:
            touching |= {meeting.first, meeting.second}
    further_copies = set(plan.spare.split("+")) if touching and not are_given else set()
    spare: list[str] = []
    apart: list[str] = []
    for name in sorted(bodies - touching):
        is_spare = further_copies.issuperset(name.split("+"))
        (spare if is_spare else apart).append(name)
    notes = "" if has_no_interface else fate.reason
    if apart:
        named = apart if touching else apart[:1]
        distances = [_how_far(name, meetings) for name in named]
        return Status.PARTNER_APART, layout.STAGES[0], _sentences(*distances, notes)
    left_out = [
        f"chain {name} is a further copy and touches no other: left out"
        for name in spare
    ]
    return fate.status, fate.stage, _sentences(*left_out, notes)


def _sentences(*reasons: str) -> str:
    """Reasons in one line, without those that are empty."""
    return "; ".join(filter(None, reasons))


def _how_far(partner: str, meetings: list[Meeting]) -> str:
    of_partner = [meeting for meeting in meetings if partner in meeting[:2]]
    nearest = min(of_partner, key=attrgetter("closest"))
    other = nearest.second if partner == nearest.first else nearest.first
    return (
        f"partner {partner} {TOUCHES_NO_OTHER} (the closest is {other}, "
        f"{nearest.closest:.1f} Å away)"
    )


def write_coverage(path: Path | str, rows: Iterable[CoverageRow]) -> None:
    """Write coverage.tsv.

    Raises ConfigError naming a row whose text cannot stand in one line of it.
    """
    rows = list(rows)
    for row in rows:
        if _SEPARATOR.search("".join(cell for cell in row if isinstance(cell, str))):
            raise ConfigError(
                f"target {row.target!r}, model {row.decoy!r}: a tab or line break in its name or "
                "reason",
                where=path,
                remedy="rename the file, or correct the label",
            )
    write_rows(path, COLUMNS, rows, tabs=True)


def read_coverage(path: Path | str) -> list[CoverageRow]:
    """Read coverage.tsv. Raises RecordError when it is something else."""
    rows = []
    try:
        header = Path(path).read_text(encoding="utf-8").partition("\n")[0].split("\t")
        if header != list(COLUMNS):
            raise ValueError("it has other columns")
        for cells in read_rows(path, tabs=True):
            row: dict[str, Any] = dict(cells)
            for name, of in NUMBERS.items():
                row[name] = of(cells[name]) if cells[name] else None
            rows.append(CoverageRow(**row))
    except (ValueError, TypeError) as error:
        what = f"not a coverage table: {error}"
        raise RecordError(what, where=path, remedy="delete it and run again") from error
    return rows


def counts(rows: Iterable[CoverageRow]) -> str:
    """One line in which the numbers add up."""
    decoys: Counter[str] = Counter()
    labels: Counter[str] = Counter()
    without_label = 0
    for row in rows:
        if row.status != Status.NO_DECOY:
            decoys[row.status] += 1
            without_label += row.dockq is None
        if row.dockq is not None:
            labels["with a graph" if row.status == Status.OK else row.status] += 1
    return (
        f"{models_in_parts(decoys)}; "
        f"{labels.total()} labels = {in_parts(labels)}; "
        f"{n_models(without_label)} without label"
    )


def conflicting(rows: Iterable[CoverageRow]) -> str:
    """That copies of a model have other labels than the model itself, with the first such pair.

    The text is empty if no copy has.
    """
    labelled = [row for row in rows if row.dockq is not None]
    row_of = _by_key(labelled)
    differing = []
    for copy in labelled:
        model = row_of.get((copy.target, copy.duplicate_of))
        if model and abs(copy.dockq - model.dockq) > SAME_LABEL:
            differing.append((copy, model))
    if not differing:
        return ""
    copy, model = differing[0]
    number = "1 copy has" if len(differing) == 1 else f"{len(differing)} copies have"
    return (
        f"{number} another DockQ than the same atoms under another name, such as "
        f"{copy.target}/{copy.decoy} ({copy.dockq:g}) and {model.decoy} ({model.dockq:g})"
    )


class Coverage(Section):
    """When too few labelled decoys have graphs to train on."""

    minimum_percent: float = Field(
        90.0,
        ge=0,
        le=100,
        json_schema_extra={"unit": "%"},
        description="Smallest share of a data set's labels, and of those of each split, that must "
        "have a graph before training.",
    )


class Labels(NamedTuple):
    """The labels of a split: DockQ of those with a graph, and of those without one."""

    with_graph: list[float]
    without: list[float]

    @property
    def total(self) -> int:
        """How many there are."""
        return len(self.with_graph) + len(self.without)

    @property
    def percent(self) -> float:
        """How many have a graph."""
        return 100.0 * len(self.with_graph) / self.total if self.total else 0.0

    def __str__(self) -> str:
        return f"{len(self.with_graph):,} of {self.total:,}"


def labels_of_splits(rows: Iterable[Any]) -> dict[str, Labels]:
    """The labels of each split, train before val before test, and under "" all of them.

    rows : with `dockq`, `split` and `with_graph`, such as those of coverage or of the gap.
    """
    of_split: dict[str, Labels] = {}
    for row in rows:
        if row.dockq is not None:
            if row.split not in of_split:
                of_split[row.split] = Labels([], [])
            labels = of_split[row.split]
            of_labels = labels.with_graph if row.with_graph else labels.without
            of_labels.append(row.dockq)
    everything = Labels([], [])
    for labels in of_split.values():
        everything.with_graph.extend(labels.with_graph)
        everything.without.extend(labels.without)
    there = {split: of_split[split] for split in SPLITS if split in of_split}
    return {"": everything, **there}


def describe_labels(rows: Iterable[Any], what: str = "with a graph") -> str:
    """How many labels of each split have a graph, and whether their mean DockQ is another.

    rows : as for `labels_of_splits`. The text is empty without any label.
    """
    everything, *splits = labels_of_splits(rows).items()
    _, labels = everything
    if not labels.total:
        return ""
    numbers = ", ".join(f"{split} {part}" for split, part in splits) or str(labels)
    text = f"labels {what}: {numbers}"
    if labels.with_graph and labels.without:
        means = fmean(labels.with_graph), fmean(labels.without)
        text += "; mean DockQ {:.3f}, of the others {:.3f}".format(*means)
    return text


def shortfall(rows: Iterable[Any], policy: Coverage, verb: str = "have") -> str:
    """That too few labels have a graph to train on, with the numbers; empty where enough have.

    rows : as for `labels_of_splits`. policy : what is enough.
    """
    of_splits = labels_of_splits(rows)
    if all(part.percent >= policy.minimum_percent for part in of_splits.values()):
        return ""
    everything = of_splits.pop("")
    of_each = ", ".join(
        f"{split} {part}, {part.percent:.1f} %" for split, part in of_splits.items()
    )
    of_each = f" ({of_each})" if len(of_splits) > 1 else ""
    must = " of each split must" if len(of_splits) > 1 else " must"
    return (
        f"{everything} labels ({everything.percent:.1f} %) {verb} a graph{of_each}, at least "
        f"{policy.minimum_percent:g} %{must}"
    )


def check_policy(rows: Iterable[CoverageRow], policy: Coverage, dataset: str) -> None:
    """Raise ConfigError when too few labels of a data set have a graph to train on it."""
    statuses = Counter(row.status for row in rows if row.dockq is not None)
    if set(statuses) == {Status.NOT_BUILT}:
        return  # none of its targets is asked for
    missing = shortfall((row for row in rows if row.status != Status.NOT_BUILT), policy)
    del statuses[Status.NOT_BUILT], statuses[Status.OK]
    if missing:
        reasons = ", ".join(f"{n} {status}" for status, n in statuses.most_common())
        raise ConfigError(
            f"{missing} (missing: {reasons or 'no labels at all'})",
            where=f"dataset {dataset}",
            remedy=f"see {layout.COVERAGE.format(dataset=dataset)}, or change `coverage` in the "
            "configuration",
        )


def most_frequent(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """What was counted and how often, most frequent first, then by name."""
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))


def models_in_parts(parts: Counter[str]) -> str:
    """`4 models = 3 ok + 1 failed`."""
    return f"{n_models(parts.total())} = {in_parts(parts)}"


def n_models(n: int) -> str:
    """`1 model` or `4 models`."""
    return f"{n} model{'s' * (n != 1)}"


def in_parts(parts: Mapping[str, int]) -> str:
    """`3 ok + 1 failed`: most frequent first."""
    return " + ".join(f"{n} {what}" for what, n in most_frequent(parts)) or "0"
