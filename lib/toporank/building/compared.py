"""How every decoy of a data set stands among the others of its target."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from toporank.building.built import Built
from toporank.building.chunks.store import Store
from toporank.building.coverage import CoverageRow
from toporank.chains.partners import read_chain_map
from toporank.comparing.decoys import Compared, compare
from toporank.errors import StructureError
from toporank.structures.complex import Complex
from toporank.structures.identity import DecoyKey

REMEMBERED = 2048
"""Decoys whose contacts stay in memory, ten kilobytes or so each: they are looked at three times.
Of more decoys than these they are read anew each time, which takes a third of a millisecond.
"""


class ComparedDecoy(NamedTuple):
    """A decoy with a graph and its `comparing.decoys.Comparison`.

    A copy has that of the first, but no twin.
    """

    target: str
    decoy: str
    cluster: int | None
    consensus: float | None
    twin_of: str


def comparison_table(
    coverage: Iterable[CoverageRow], contacts: Callable[[DecoyKey], Compared]
) -> list[ComparedDecoy]:
    """A row for each decoy with a graph, in the order of coverage. Copies count once.

    Parameters
    ----------
    coverage : iterable of CoverageRow
        The outcome of each decoy, by target.
    contacts : callable
        (target, decoy) → what it is compared by.
    """
    table = []
    good = [row for row in coverage if row.is_scored]
    for target, rows in groupby(good, key=attrgetter("target")):
        decoys = list(rows)
        originals = [row.decoy for row in decoys if not row.duplicate_of]
        comparisons = compare(contacts((target, decoy)) for decoy in originals)
        for row in decoys:
            comparison = comparisons[row.duplicate_of or row.decoy]
            if row.duplicate_of:
                comparison = comparison._replace(twin_of="")
            table.append(ComparedDecoy(target, row.decoy, *comparison))
    return table


def stored_contacts(
    built: Built, coverage: Iterable[CoverageRow], store: Store
) -> Callable[[DecoyKey], Compared]:
    """What a decoy that is built is compared by: from the store, or made again.

    The function raises StructureError, naming the decoy, when it is not in the store and its file
    is gone.
    """
    chains = {
        (row.target, row.decoy): read_chain_map(row.chains)
        for row in coverage
        if row.chains
    }

    @functools.lru_cache(maxsize=REMEMBERED)
    def contacts(key: DecoyKey) -> Compared:
        try:
            made = built.made(key, store)
            contents = made["contacts"]
            made.save()
            return Compared(key[1], contents, chains.get(key, {}))
        except StructureError as error:
            raise StructureError(error.reason, where="/".join(key)) from error

    return contacts


def stored_complexes(built: Built, store: Store) -> Callable[[DecoyKey], Complex]:
    """The atoms of a decoy that is built, from the store, or its file is read again.

    The function raises StructureError when they are not in the store and its file is gone.
    """
    return lambda key: built.made(key, store)["atoms"]
