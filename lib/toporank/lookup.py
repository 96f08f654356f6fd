"""Look-up tables that many places need: places of names, rows by decoy."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Protocol, TypeVar

NameOf = TypeVar("NameOf", bound=Hashable)
ValueOf = TypeVar("ValueOf")


class OfTarget(Protocol):
    """Anything that belongs to a target."""

    @property
    def target(self) -> str:
        """Name of the target."""


class OfDecoy(OfTarget, Protocol):
    """Anything that belongs to a decoy."""

    @property
    def decoy(self) -> str:
        """Name of the decoy within its target."""


OneOf = TypeVar("OneOf", bound=OfDecoy)


def places_of(names: Iterable[NameOf]) -> dict[NameOf, int]:
    """Return name → its place among the names, from 0.

    >>> places_of("ACD")
    {'A': 0, 'C': 1, 'D': 2}
    """
    return {name: place for place, name in enumerate(names)}


def only(
    values: Mapping[NameOf, ValueOf], names: Iterable[NameOf]
) -> dict[NameOf, ValueOf]:
    """Return the values of these names, in their order.

    Raises KeyError where a name has no value.

    >>> only({"A": 1, "B": 2, "C": 3}, ["C", "A"])
    {'C': 3, 'A': 1}
    """
    return {name: values[name] for name in names}


def by_decoy(rows: Iterable[OneOf]) -> dict[tuple[str, str], OneOf]:
    """Return (target, decoy) → its row, the last where it has several."""
    return {(row.target, row.decoy): row for row in rows}


def targets_of(rows: Iterable[OfTarget]) -> set[str]:
    """Return the targets that have a row."""
    return {row.target for row in rows}
