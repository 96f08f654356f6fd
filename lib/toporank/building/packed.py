"""Which graphs of a data set go into its packs: one of each decoy, and those of single interfaces."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from toporank import layout
from toporank.building.chunks.built import Built
from toporank.building.chunks.chunk import artefact, interface_graphs
from toporank.building.chunks.ledger import LedgerRow, read_meetings
from toporank.building.chunks.plan import PlannedDecoy
from toporank.building.chunks.store import Store
from toporank.building.coverage import CoverageRow
from toporank.building.packing import Member
from toporank.features.registry import Choice
from toporank.structures.identity import Status


class Packed(NamedTuple):
    """decoys : the graph of each good decoy. interfaces : those of the interfaces of decoys that have several, or that
    are not good as a whole. joined : in how many of the first a partner has several chains.
    """

    decoys: list[Member]
    interfaces: list[Member]
    joined: int


def packed(
    coverage: Iterable[CoverageRow], built: Built, choices: dict[str, Choice], store: Store, *, whole: bool = False
) -> Packed:
    """The members of both packs of a data set, in the order of coverage and in that of names.

    whole : without those of interfaces, which nobody learns from. Raises RecordError when a graph is not in the store
    and cannot be made as it was.
    """
    members, several, joined = [], [], 0
    for row in coverage:
        fate = built.fates.get((row.target, row.decoy))
        meetings = read_meetings(fate) if fate else []
        if row.status == Status.OK:
            joined += any("+" in name for meeting in meetings for name in meeting[:2])
            members.append(_member(built.plan[fate.key], fate, row.split, fate.graphs, choices, store))
        if (
            fate and fate.status == Status.OK and row.status != Status.ONE_BODY
        ):  # a graph stands for its one interface, if it stands for the decoy
            touching = sum(meeting.contacts > 0 for meeting in meetings)
            several += [(built.plan[fate.key], fate)] if touching > 1 or row.status != Status.OK else []
    parts = () if whole else interface_graphs(sorted(several))
    return Packed(members, [_member(*part, choices, store) for part in parts], joined)


def _member(
    decoy: PlannedDecoy, fate: LedgerRow, split: str, digest: str, choices: dict[str, Choice], store: Store
) -> Member:
    """A graph in the store as a member of a pack. split : of the decoy, or the name of an interface."""
    content = functools.partial(artefact, layout.STAGES[-1], digest, decoy, fate, choices, store)
    return Member(*decoy.key, split, Path(*decoy.key), digest, content)
