"""The labels that natives gave: tables for people, and labels to train on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from toporank.building.coverage import in_parts
from toporank.building.native_labels import IS_THE_NATIVE, LabelledDecoy
from toporank.files.spreadsheets import read_rows, write_rows
from toporank.inputs.labels import Label
from toporank.inputs.natural_partners import lines_of_targets
from toporank.metrics import CAPRI_NAMES, capri_class
from toporank.structures.body_names import COUNTED_AS

SCORES = ("DockQ", "CAPRI", "fnat", "iRMSD", "LRMSD")
COLUMNS = ("Target", "Model", "Partners", *SCORES, "Mapping", "Status", "Reason")
INTERFACE_COLUMNS = ("Target", "Model", "Interface", "Native", *SCORES)


def write_tables(rows: Iterable[LabelledDecoy], decoys: Path, interfaces: Path) -> None:
    """Write a row for each decoy, and one for each of its interfaces.

    fnat, iRMSD and LRMSD of a decoy are those of its interface if it has just one.
    """
    rows = list(rows)
    write_rows(decoys, COLUMNS, map(_row, rows))
    measured = ((row.key, interface) for row in rows for interface in row.interfaces)
    write_rows(
        interfaces,
        INTERFACE_COLUMNS,
        ((*key, *one[:2], *_scores(*one[2:])) for key, one in measured),
    )


def _row(row: LabelledDecoy) -> tuple[Any, ...]:
    single = row.interfaces[0][3:] if len(row.interfaces) == 1 else (None, None, None)
    scores = _scores(row.dockq, *single) if row.dockq is not None else (None,) * len(SCORES)
    return *row.key, row.partners, *scores, row.mapping, row.status, row.reason


def _scores(dockq: float, *others: float | None) -> tuple[Any, ...]:
    return dockq, CAPRI_NAMES[int(capri_class(dockq))], *others


def labels(rows: Iterable[LabelledDecoy]) -> list[Label]:
    """The labels of decoys and, of those with several interfaces, of each interface; they have no
    split yet.
    """
    found = []
    for row in rows:
        if row.dockq is not None:
            found.append(Label(*row.key, row.dockq, "", partners=row.partners))
            parts = row.interfaces if len(row.interfaces) > 1 else []
            whose = {"split": "", "partners": row.partners}
            found += [
                Label(*row.key, part.dockq, interface=part.interface, **whose) for part in parts
            ]
    return found


def read_decoys(path: Path) -> list[LabelledDecoy]:
    """The rows of decoys as `write_tables` wrote them, without their interfaces."""
    return [
        LabelledDecoy(
            target=row["Target"],
            decoy=row["Model"],
            partners=row["Partners"],
            dockq=float(row["DockQ"]) if row["DockQ"] else None,
            mapping=row["Mapping"],
            status=row["Status"],
            reason=row["Reason"],
            interfaces=[],
        )
        for row in read_rows(path)
    ]


def describe(rows: Iterable[LabelledDecoy]) -> list[str]:
    """How many were labelled, in numbers that add up, which chains of natives are one partner, and
    which decoys are the native itself.
    """
    rows = list(rows)
    lines = [f"{len(rows)} decoys = {in_parts(Counter(row.status for row in rows))}"]
    joined: dict[str, list[str]] = {}
    for target, reasons in {
        row.target: row.reason for row in rows if row.dockq is not None
    }.items():
        for sentence in reasons.split("; "):
            if COUNTED_AS in sentence:
                joined.setdefault(sentence, []).append(target)
    lines += lines_of_targets(joined)
    same = [row for row in rows if row.reason.startswith(IS_THE_NATIVE)]
    if same:
        one = f"{same[0].target}/{same[0].decoy}"
        lines.append(
            f"{len(same)} of them are the native itself, such as {one}: take them out to train on "
            "decoys only"
        )
    return lines
