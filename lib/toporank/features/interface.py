"""Interface residues: those with a CA near a CA of another partner.

Where no partners are given, each chain is one.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from pydantic import Field

from toporank.chains.partners import partner_name
from toporank.errors import ChainMissingError, NoInterfaceError, StructureError
from toporank.features.bystanders import nucleic_acids
from toporank.features.registry import Angstrom, Parameters, register
from toporank.structures.complex import Complex
from toporank.structures.neighbours import (
    members,
    pairs_between_groups,
    smallest_distance,
)

MAX_CONTACTS = 500_000
"""Contacts of the largest interface; a graph has twice as many edges, which take 0.1 kB each. A
natural complex has about one contact a residue.
"""


class Meeting(NamedTuple):
    """Two partners, as `partners.partner_name` writes them, and how they meet.

    residues : number of their interface residues, contacts : number of pairs of these. closest : Å,
    between CA atoms.
    """

    first: str
    second: str
    residues: int
    contacts: int
    closest: float

    @property
    def interface(self) -> str:
        """Its name, such as `A:H+L`."""
        return f"{self.first}:{self.second}"


MOST_BODIES = 24
"""Most partners; every pair of them is measured, which would be too many of 300, say."""


@dataclass(frozen=True)
class Interface:
    """The interface residues of a complex, sorted by chain, number and insertion code.

    Its length is N ≥ 2.

    Attributes
    ----------
    index : int, shape (N,), position in `Complex.residues`
    contacts : int, shape (N,), residues of other partners within the cutoff
    nearest : float64, shape (N,), Å from CA to the nearest CA of another partner
    meetings : of every pair of partners; of more than `MOST_BODIES` partners, only of those that
        touch, and of one that touches no other with the nearest

    Examples
    --------
    >>> from toporank.layout import repository
    >>> example = repository() / "resources/example"
    >>> from toporank.structures.read import read_complex
    >>> complex_ = read_complex(example / "decoys/1PPE/near1.pdb.gz")
    >>> interface = ca_cutoff_interface(CaCutoff(), complex_)
    >>> nearest = int(interface.nearest.argmin())
    >>> str(complex_.residues[interface.index[nearest]])
    'A:194'
    """

    index: np.ndarray
    contacts: np.ndarray
    nearest: np.ndarray
    meetings: list[Meeting]


class CaCutoff(Parameters):
    """Parameters of `interface/ca_cutoff/v1`."""

    cutoff: Angstrom = Field(10.0, le=50)
    """A residue is in the interface when its CA is closer than this to a CA of another partner."""
    residues: Literal["protein", "atom_records"] = "protein"
    """`protein`: every amino acid of a chain, modified ones too. `atom_records`: none that the
    file writes as HETATM, as published.
    """

    @property
    def reach(self) -> float:
        """How far from the interface the module looks, Å: at atoms of partners only."""
        return 0.0


@register(
    "interface/ca_cutoff/v1",
    alias="ca_cutoff",
    summary="residues with a CA nearer than a cutoff to a CA of another partner",
    parameters=CaCutoff,
    columns=lambda parameters: ["x", "y", "z", "nearest"],
)
def ca_cutoff_interface(parameters: CaCutoff, complex_: Complex) -> Interface:
    """Find the interface residues between partners (Han et al. 2025).

    Parameters
    ----------
    parameters : CaCutoff
    complex_ : Complex

    Returns
    -------
    Interface

    Raises
    ------
    StructureError
        when there are fewer than two protein chains
    ChainMissingError
        when a partner has no residue
    NoInterfaceError
        with the closest distance, when no two partners come near each other

    Examples
    --------
    >>> from toporank.layout import repository
    >>> from toporank.structures.read import read_complex
    >>> complex_ = read_complex(repository() / "resources/example/decoys/1PPE/near1.pdb.gz")
    >>> interface = ca_cutoff_interface(CaCutoff(), complex_)
    >>> len(interface.index), str(complex_.residues[interface.index[0]])
    (58, 'A:39')
    """
    residues = np.flatnonzero((complex_.ca >= 0) & (complex_.body_of >= 0))
    if parameters.residues == "atom_records":
        residues = residues[~np.isin(residues, list(complex_.hetero))]
    body = complex_.body_of[residues]
    _check_bodies(complex_, body)
    xyz = complex_.xyz[complex_.ca[residues]]
    pairs, distance = pairs_between_groups(
        xyz, body, parameters.cutoff, most=MAX_CONTACTS
    )
    if len(pairs) > MAX_CONTACTS:
        raise StructureError(
            f"more than {MAX_CONTACTS} pairs of residues of different partners within "
            f"{parameters.cutoff:g} Å",
            remedy="are many chains in one place? or use a part of the complex",
        )
    meetings = _meetings(complex_, xyz, body, pairs, distance)
    if len(pairs) == 0:
        closest = min(meeting.closest for meeting in meetings)
        side = "partner" if complex_.partners else "chain"
        raise NoInterfaceError(
            f"no CA of one {side} within {parameters.cutoff:g} Å of another {side}'s (closest "
            f"{closest:.1f} Å)",
            facts={
                "n_chains": len(complex_.chains),
                "n_interface_residues": 0,
                "meetings": meetings,
            },
        )
    contacts = np.bincount(pairs.ravel(), minlength=len(residues))
    nearest = np.full(len(residues), np.inf)
    np.minimum.at(nearest, pairs.ravel(), np.repeat(distance, 2))
    touching = sorted(
        np.flatnonzero(contacts), key=lambda i: complex_.residues[residues[i]]
    )
    return Interface(
        residues[touching], contacts[touching], nearest[touching], meetings
    )


def _check_bodies(complex_: Complex, body: np.ndarray) -> None:
    """Raise ChainMissingError unless there are two bodies with residues.

    body : int, (n,).
    """
    with_residues = np.unique(body)
    without = np.setdiff1d(np.arange(len(complex_.bodies)), with_residues)
    if complex_.partners and len(without):
        what = f"partner {partner_name(complex_.bodies[without[0]])} has no CA atoms"
        raise ChainMissingError(what, facts={"n_chains": len(complex_.chains)})
    if len(with_residues) > 1:
        return
    notes = "".join(f"; {note}" for note in complex_.notes)
    needed = f" with CA atoms, at least two are needed{notes}"
    remedy = "write all chains, each with a name of its own, into one model"
    if len(with_residues) == 0:
        raise StructureError(f"no protein chain{needed}", remedy=remedy)
    (chain,) = complex_.bodies[with_residues[0]]
    acids = "".join(
        f"; {acid}: TopoRank scores interfaces of proteins only"
        for acid in nucleic_acids(complex_)
    )
    what = f"only one protein chain ({chain!r}){needed}{acids}"
    raise StructureError(what, remedy=None if acids else remedy, facts={"n_chains": 1})


def _meetings(
    complex_: Complex,
    xyz: np.ndarray,
    body: np.ndarray,
    pairs: np.ndarray,
    distance: np.ndarray,
) -> list[Meeting]:
    """How bodies meet. xyz : CA atoms, (n, 3).

    body : int, (n,); pairs : int, (P, 2), of near CA; distance : (P,).
    """
    touching, number = np.unique(
        np.sort(body[pairs], axis=1), axis=0, return_inverse=True
    )
    rows_of_pair = members(number.ravel(), len(touching))
    rows_of = dict(zip(map(tuple, touching.tolist()), rows_of_pair, strict=True))
    points = [xyz[rows] for rows in members(body, len(complex_.bodies))]
    with_residues = np.unique(body).tolist()
    measured: Iterable[tuple[int, int]] = itertools.combinations(with_residues, 2)
    if len(with_residues) > MOST_BODIES:
        alone = np.setdiff1d(with_residues, touching).tolist()
        measured = sorted({*rows_of, *_nearest_bodies(xyz, body, points, alone)})
    names = [partner_name(chains) for chains in complex_.bodies]
    meetings = []
    for first, second in measured:
        rows = rows_of.get((first, second), np.array([], dtype=int))
        near = distance[rows]
        closest = (
            near.min()
            if len(rows)
            else smallest_distance(points[first], points[second])
        )
        meetings.append(
            Meeting(
                first=names[first],
                second=names[second],
                residues=len(np.unique(pairs[rows])),
                contacts=len(rows),
                closest=round(float(closest), 2),
            )
        )
    return meetings


def _nearest_bodies(
    xyz: np.ndarray, body: np.ndarray, points_of: list[np.ndarray], alone: list[int]
) -> list[tuple[int, int]]:
    """Each body of `alone` with the body nearest to one of its points.

    points_of : of each body.
    """
    from scipy.spatial import cKDTree  # only for many partners: slow to import

    pairs = []
    tree = cKDTree(xyz)
    for first in alone:
        points = points_of[first]
        # Of so many neighbours of a point, one at least is of another body.
        distance, index = map(np.asarray, tree.query(points, len(points) + 1))
        is_other = body[index] != first
        nearest = distance[is_other].min()
        second = int(body[index[is_other & (distance == nearest)]].min())
        pairs.append((min(first, second), max(first, second)))
    return pairs
