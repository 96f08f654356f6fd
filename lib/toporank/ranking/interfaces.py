"""interfaces.csv: which partners of a decoy meet, how closely, and how good the interface is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from toporank.building.chunks.ledger import LedgerRow, read_meetings
from toporank.building.coverage import CoverageRow
from toporank.comparing.correspondence import read_chain_map
from toporank.features.interface import Meeting
from toporank.files.spreadsheets import write_rows
from toporank.ranking.frames import WHOLE, read_frame
from toporank.scorer.prediction import DECIMALS, KEY, Score
from toporank.structures.identity import DecoyKey, Status
from toporank.structures.partners import chains_of, partner_name

APART, ABSENT = "apart", "absent"
"""Status of an interface whose partners do not touch, and of one that a model with fewer copies of
a chain lacks.
"""


class InterfaceRow(NamedTuple):
    """Two partners of a decoy that touch in some decoy of its target.

    Numbers are None where they are not known.

    Attributes
    ----------
    interface : both partners, such as `A:H+L`, by the chains of the target
        (`comparing.correspondence`)
    n_contacts : pairs of residues with CA atoms within the cutoff of the interface
    closest : Å, between CA atoms
    dockq : to expect of the interface
    network_sd : spread between the networks
    status : `ok`, `apart` or `failed`; where the decoy does not have both partners, `absent`, or
        that of the decoy
    chains : the same partners as the decoy's own file calls them; empty where it does not have both
    """

    target: str
    decoy: str
    interface: str
    n_residues: int | None
    n_contacts: int | None
    closest: float | None
    dockq: float | None
    network_sd: float | None
    status: str
    chains: str = ""


KINDS = {
    **dict.fromkeys(InterfaceRow._fields, str),
    **dict.fromkeys(("n_residues", "n_contacts"), WHOLE),
    **dict.fromkeys(("closest", "dockq", "network_sd"), float),
}
"""Of the columns, see `frames`."""


def interface_table(
    coverage: Iterable[CoverageRow], fates: Mapping[DecoyKey, LedgerRow]
) -> list[InterfaceRow]:
    """Return each decoy of a target with each interface that any has, not scored.

    They are in order of target, decoy and name.
    """
    decoys = [
        row for row in coverage if row.status not in (Status.NO_DECOY, Status.NOT_BUILT)
    ]
    table = []
    for _, rows in groupby(decoys, key=attrgetter("target")):
        meetings = {row: _meetings(row, fates[row.target, row.decoy]) for row in rows}
        names = set()
        for of_decoy in meetings.values():
            names.update(
                name for name, (meeting, _) in of_decoy.items() if meeting.contacts
            )
        for row, of_decoy in meetings.items():
            table += [_row(row, name, of_decoy.get(name)) for name in sorted(names)]
    return table


def _meetings(decoy: CoverageRow, fate: LedgerRow) -> dict[str, tuple[Meeting, str]]:
    """Pair of partners by chains of the target → how they meet, and what the decoy calls them."""
    chain_map = read_chain_map(decoy.chains)
    meetings = {}
    for meeting in read_meetings(fate):
        pair = []
        for partner in meeting[:2]:
            chains = sorted(chain_map.get(chain, chain) for chain in chains_of(partner))
            pair.append((partner_name(chains), partner))
        (first, first_of_file), (second, second_of_file) = sorted(pair)
        meetings[f"{first}:{second}"] = meeting, f"{first_of_file}:{second_of_file}"
    return meetings


def _row(
    decoy: CoverageRow, name: str, met: tuple[Meeting, str] | None
) -> InterfaceRow:
    meeting, of_file = met or (None, "")
    status = decoy.status
    if meeting is None and status == Status.OK:
        status = ABSENT
    elif meeting and status != Status.ONE_BODY:
        status = Status.OK if meeting.contacts else APART
    return InterfaceRow(
        target=decoy.target,
        decoy=decoy.decoy,
        interface=name,
        n_residues=meeting and meeting.residues,
        n_contacts=meeting and meeting.contacts,
        closest=meeting and meeting.closest,
        dockq=None,
        network_sd=None,
        status=status,
        chains=of_file,
    )


def scored_interfaces(
    table: Iterable[InterfaceRow], scores: Iterable[Score]
) -> list[InterfaceRow]:
    """Return the table with scores of interfaces.

    The only interface of a decoy has the score of the decoy.

    What cannot be scored, for instance since its few residues are incomplete, has failed.
    """
    table = list(table)
    n_touching = Counter(row[:2] for row in table if row.status == Status.OK)
    score_of = {}
    for score in scores:
        score_of[score.target, score.decoy, frozenset(score.interface.split(":"))] = (
            score
        )
    whole = frozenset([""])
    scored = []
    for row in table:
        if row.status == Status.OK:
            partners = frozenset((row.chains or row.interface).split(":"))
            score = score_of.get((*row[:2], partners))
            if score is None and n_touching[row[:2]] == 1:
                score = score_of.get((*row[:2], whole))
            if score is None:
                row = row._replace(status=Status.FAILED)
            else:
                row = row._replace(dockq=score.pred_dockq, network_sd=score.pred_sd)
        scored.append(row)
    return scored


def summaries(table: Iterable[InterfaceRow]) -> pd.DataFrame:
    """Return the interfaces of each decoy in one row; decoys without known interfaces are left out.

    Returns
    -------
    DataFrame with target, decoy, `n_interfaces` in contact, and the smallest and the mean DockQ to
    expect of those that are scored, `min_interface` and `mean_interface`; `weakest_interface` is
    the name of the one with the smallest, where there are several
    """
    rows = pd.DataFrame(table, columns=InterfaceRow._fields).astype({"dockq": float})
    rows = rows[rows["n_contacts"].notna()].sort_values(["dockq", "interface"])
    rows["touches"] = rows["n_contacts"] > 0
    summary = rows.groupby(KEY, as_index=False).agg(
        n_interfaces=("touches", "sum"),
        min_interface=("dockq", "min"),
        mean_interface=("dockq", "mean"),
        weakest_interface=("interface", "first"),
        n_scored=("dockq", "count"),
    )
    summary["mean_interface"] = summary["mean_interface"].round(DECIMALS)
    has_several = summary.pop("n_scored") > 1
    summary["weakest_interface"] = summary["weakest_interface"].where(has_several, "")
    return summary


def scores_of_weakest(
    scores: Iterable[Score], table: Iterable[InterfaceRow]
) -> list[Score]:
    """Return the scores of decoys, that of the weakest interface where it is lower.

    The DockQ of a complex is a mean over its interfaces, so that of the weakest is not above it.
    table : as from `scored_interfaces`.
    """
    several = summaries(table).query("weakest_interface != ''").set_index(KEY)
    weakest = several["min_interface"].to_dict()
    lowered = []
    for score in scores:
        if not score.interface:
            dockq = weakest.get((score.target, score.decoy), score.pred_dockq)
            score = score._replace(pred_dockq=min(score.pred_dockq, dockq))
        lowered.append(score)
    return lowered


def write_interfaces(path: Path | str, table: Iterable[InterfaceRow]) -> None:
    """Write interfaces.csv."""
    write_rows(path, InterfaceRow._fields, table)


def read_interfaces(path: Path | str) -> list[InterfaceRow]:
    """Read interfaces.csv."""
    frame = read_frame(path, KINDS)[list(InterfaceRow._fields)]
    frame = frame.astype(object).where(frame.notna(), None)
    return list(map(InterfaceRow._make, frame.itertuples(index=False, name=None)))
