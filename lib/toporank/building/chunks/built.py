"""The decoys of a data set with what became of each: what the steps after the features begin with."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from toporank.building.chunks.chunk import making
from toporank.building.chunks.ledger import LedgerRow, last_fates
from toporank.building.chunks.plan import PlannedDecoy, read_chunk, read_current
from toporank.building.chunks.stages import Making
from toporank.building.chunks.store import Store

Key = tuple[str, str]
"""Target and decoy."""


class Built(NamedTuple):
    """plan : every decoy by target and name. fates : what became of those that were built."""

    plan: dict[Key, PlannedDecoy]
    fates: dict[Key, LedgerRow]

    @classmethod
    def of(cls, plan: Iterable[PlannedDecoy], fates: Iterable[LedgerRow]) -> Built:
        """From rows in any order."""
        return cls({decoy.key: decoy for decoy in plan}, {row.key: row for row in fates})

    def made(self, key: Key, store: Store) -> Making:
        """What is made of a decoy that was built, without features."""
        fate = self.fates[key]
        return making(self.plan[key], fate.structure_sha256, {}, store, atoms_known=fate.complex)


def read_built(dataset: str, *, fates: bool = True) -> Built:
    """The decoys of a data set of the working directory, as its last run recorded them.

    fates : whether its ledgers are read, too.

    Raises RecordError when a record is damaged.
    """
    current = read_current(dataset)
    plan = (decoy for chunk in current.of_all for decoy in read_chunk(dataset, chunk))
    return Built.of(plan, last_fates(dataset, current).values() if fates else ())
