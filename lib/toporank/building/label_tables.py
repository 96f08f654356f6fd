"""The labels that natives gave: tables for people, and labels to train on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from toporank import layout
from toporank.building.chunks.plan import by_key
from toporank.building.coverage import models_in_parts
from toporank.building.native_labels import LabelledDecoy
from toporank.building.planning import recognised
from toporank.comparing.native.dockq import capri_class
from toporank.errors import first_of
from toporank.files.spreadsheets import read_rows, write_rows
from toporank.finding.labels import Label
from toporank.structures.identity import DecoyKey, Status

SCORES = ("DockQ", "CAPRI", "fnat", "iRMSD", "LRMSD")
COLUMNS = (
    "Target",
    "Model",
    "Partners",
    *SCORES,
    "Mapping",
    "Status",
    "Reason",
    "Joined",
    "Molecules",
    "IsNative",
)
INTERFACE_COLUMNS = ("Target", "Model", "Interface", "Native", *SCORES)


def given_by_natives(
    dataset: str, expected: Iterable[Label]
) -> tuple[list[Label], dict[DecoyKey, str]]:
    """Labels with the DockQ that natives gave so far, and why others will have none.

    Parameters
    ----------
    expected : iterable of Label
        Of all decoys that a native may label.

    Returns
    -------
    labels : list of Label
        DockQ is nan where it is not known yet.
    why : dict
        Target and decoy → the reason.
    """
    table = Path(layout.DOCKQ.format(dataset=dataset))
    known = by_key(read_decoys(table)) if table.exists() else {}
    why = {}
    labels = []
    for label in expected:
        row = known.get(label[:2])
        if row and row.dockq is not None:
            labels.append(label._replace(dockq=row.dockq))
        elif row and row.status != Status.NO_NATIVE:
            why[label[:2]] = f"none: {row.reason}"
        else:
            labels.append(label)
    return labels, why


def write_tables(rows: Iterable[LabelledDecoy], decoys: Path, interfaces: Path) -> None:
    """Write a row for each decoy, and one for each of its interfaces.

    CAPRI class, fnat, iRMSD and LRMSD of a decoy are those of its interface if it has just one.
    """
    of_decoys, of_interfaces = [], []
    for row in rows:
        others = row.interfaces[0][3:] if len(row.interfaces) == 1 else ()
        scores = _scores(row.dockq, *others)
        of_decoys.append(
            (
                *row.key,
                row.partners,
                *scores,
                row.mapping,
                row.status,
                row.reason,
                row.joined,
                row.molecules,
                "yes" if row.is_native else "",
            )
        )
        for interface, native, *values in row.interfaces:
            of_interfaces.append((*row.key, interface, native, *_scores(*values)))
    write_rows(decoys, COLUMNS, of_decoys)
    write_rows(interfaces, INTERFACE_COLUMNS, of_interfaces)


def _scores(dockq: float | None, *others: float) -> tuple[Any, ...]:
    """The cells of `SCORES`. others : fnat, iRMSD and LRMSD of one interface, or nothing."""
    if not others:
        return (dockq, None, None, None, None)
    return dockq, capri_class(*others), *others


def labels(rows: Iterable[LabelledDecoy]) -> list[Label]:
    """The labels of decoys and, of those with several interfaces, of each interface.

    They have no split yet.
    """
    table = []
    for row in rows:
        if row.dockq is None:
            continue
        label = Label(
            target=row.target,
            decoy=row.decoy,
            dockq=row.dockq,
            split="",
            partners=row.partners,
        )
        table.append(label)
        if len(row.interfaces) > 1:
            table += [
                label._replace(dockq=part.dockq, interface=part.interface)
                for part in row.interfaces
            ]
    return table


def read_decoys(path: Path) -> list[LabelledDecoy]:
    """The rows of decoys as `write_tables` wrote them, without their interfaces."""
    rows = []
    for cells in read_rows(path):
        row = LabelledDecoy(
            target=cells["Target"],
            decoy=cells["Model"],
            partners=cells["Partners"],
            dockq=float(cells["DockQ"]) if cells["DockQ"] else None,
            mapping=cells["Mapping"],
            status=cells["Status"],
            reason=cells["Reason"],
            joined=cells.get("Joined", ""),
            molecules=cells.get("Molecules", ""),
            is_native=cells.get("IsNative") == "yes",
        )
        rows.append(row)
    return rows


def describe(rows: Iterable[LabelledDecoy]) -> list[str]:
    """Return how many decoys were labelled, and what is remarkable about natives and decoys."""
    rows = list(rows)
    statuses = Counter(row.status for row in rows)
    lines = [models_in_parts(statuses), *recognised(rows)]
    of_molecules = [row for row in rows if row.molecules]
    if of_molecules:
        names = [f"{row.target}/{row.decoy}" for row in of_molecules]
        lines.append(f"{first_of(names, 1)}: {of_molecules[0].molecules}")
    natives = [row for row in rows if row.is_native]
    if natives:
        first = natives[0]
        lines.append(
            f"{len(natives)} of them are the native itself, such as {first.target}/{first.decoy}: "
            "take them out to train on models only"
        )
    return lines
