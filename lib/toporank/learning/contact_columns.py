"""What the network of contacts sees of each contact: no torch is needed, and nothing is learned.

A contact is an edge between residues that share a surface. It is described by itself, by all
contacts of both its residues, by those of the residues that these touch, by the kinds of both
residues, and by the whole interface. Both directions of an edge have the same description.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from toporank.errors import ConfigError
from toporank.learning.shapes import OF_CONTACTS
from toporank.lookup import places_of
from toporank.metrics import Floats

AREA = "area"
"""The edge column with the square root of the surface that two residues share, Å."""
SUMMED = (
    AREA,
    "area_apolar",
    "area_polar",
    "area_energy",
    "energy_short",
    "residue_energy",
    "hydrogen_bonds",
    "salt_bridges",
    "apolar_contacts",
)
"""Columns, signed square roots, whose squares are added up over the contacts of a residue."""
OF_BOTH = ("side_chain_from", "side_chain_to")
"""Columns that differ between the directions of an edge; their sum counts."""
OF_ONE_WAY = ("from_x", "from_y", "from_z", "to_x", "to_y", "to_z")
"""Columns that differ between the directions of an edge and do not count."""
KIND = "aa_"
"""Begins the names of the node columns that say which amino acid a residue is."""
LIMIT = 5.0
"""Standard deviations beyond which a number counts no more."""
LEAST_AREA = 30.0
"""Å², added to a native area before its logarithm."""
LEAST_TOTAL = 1e-3
"""Å² of an interface, at least, so that one without contacts has a mean of 0."""
SMALL_AREA = 0.5
"""Å², below which an area counts as this much where something is divided by it."""
AROUND = 11
"""Columns that describe the whole interface."""


class Columns(NamedTuple):
    """Places of columns, by what they are for.

    Attributes
    ----------
    area : the edge column `AREA`
    summed, of_both, alike : of the edge columns `SUMMED`, `OF_BOTH` and all that both directions
        of an edge have alike
    kinds : node columns
    """

    area: int
    summed: list[int]
    of_both: list[int]
    alike: list[int]
    kinds: list[int]

    @classmethod
    def of(cls, nodes: Sequence[str], edges: Sequence[str]) -> Columns:
        """Return the places in these columns of nodes and edges.

        Raises
        ------
        ValueError : a column is missing, which the message names
        """
        missing = [name for name in (*SUMMED, *OF_BOTH) if name not in edges]
        if missing:
            raise ValueError(f"the edges have no column {', '.join(missing)}")
        place = places_of(edges)
        directed = {*OF_BOTH, *OF_ONE_WAY}
        return cls(
            area=place[AREA],
            summed=[place[name] for name in SUMMED],
            of_both=[place[name] for name in OF_BOTH],
            alike=[place[name] for name in edges if name not in directed],
            kinds=[i for i, name in enumerate(nodes) if name.startswith(KIND)],
        )

    @property
    def width(self) -> int:
        """How many numbers describe a contact."""
        n_sums = len(self.summed) + 1
        of_itself = len(self.alike) + 1 + len(self.summed) - 1
        return of_itself + 3 * n_sums + len(self.kinds) + AROUND


def fitting_columns(nodes: Sequence[str], edges: Sequence[str]) -> Columns:
    """Return the places in columns of nodes and edges.

    Raises
    ------
    ConfigError : a column is missing
    """
    try:
        return Columns.of(nodes, edges)
    except ValueError as error:
        raise ConfigError(
            f"{error}",
            where=f"network {OF_CONTACTS}",
            remedy="build graphs with `features: {nodes: {module: contacts}, "
            "edges: {module: contacts}}`",
        ) from error


class TouchingPairs(NamedTuple):
    """Pairs of residues that share a surface, C of them.

    Attributes
    ----------
    ends : int, (2, C), places of their residues, the lower one first
    edge : int, (C,), the place of an edge of each
    of_edge : int, (E,), the contact of each edge; -1 where residues share no surface
    """

    ends: np.ndarray
    edge: np.ndarray
    of_edge: np.ndarray

    @classmethod
    def of(
        cls, columns: Columns, edge_index: np.ndarray, edge_attr: Floats, n_nodes: int
    ) -> TouchingPairs:
        """Return the contacts of graphs with n nodes, which have edges in both directions."""
        touching = np.flatnonzero(edge_attr[:, columns.area] > 0)
        low, high = np.sort(edge_index[:, touching], axis=0)
        pairs, first, contact = np.unique(
            low * n_nodes + high, return_index=True, return_inverse=True
        )
        of_edge = np.full(edge_index.shape[1], -1)
        of_edge[touching] = contact
        ends = np.stack(np.divmod(pairs, max(n_nodes, 1)))
        return cls(ends=ends, edge=touching[first], of_edge=of_edge)


def described(
    columns: Columns,
    contacts: TouchingPairs,
    x: Floats,
    edge_attr: Floats,
    node_graph: np.ndarray,
    n_graphs: int,
) -> Floats:
    """Return what the network sees of each contact.

    Parameters
    ----------
    columns : of nodes and edges
    contacts : of the graphs
    x : (n, ·), columns of nodes
    edge_attr : (E, ·), columns of edges
    node_graph : int, (n,), the graph of each node
    n_graphs : how many graphs there are

    Returns
    -------
    float32, (C, columns.width)
    """
    first, second = contacts.ends
    edge = edge_attr[contacts.edge].astype(np.float64)
    summed = edge[:, columns.summed]
    amounts = np.sign(summed) * summed**2
    counted = np.column_stack([amounts, np.ones(len(edge))])
    of_residue = _sums(counted, first, len(x)) + _sums(counted, second, len(x))
    low = np.minimum(of_residue[first], of_residue[second])
    high = np.maximum(of_residue[first], of_residue[second])
    beyond = _sums(of_residue[second], first, len(x))
    beyond += _sums(of_residue[first], second, len(x))
    beyond /= np.maximum(of_residue[:, -1:], 1)
    kinds = x[:, columns.kinds].astype(np.float64)
    graph = node_graph[first]
    whole = _of_interfaces(counted, graph, n_graphs)
    touches = of_residue[:, -1] > 0
    n_residues = np.bincount(node_graph[touches], minlength=n_graphs)
    area = np.maximum(amounts[:, :1], SMALL_AREA)
    parts = [
        edge[:, columns.alike],
        edge[:, columns.of_both].sum(axis=1),
        amounts[:, 1:] / area,
        _signed_root(low),
        _signed_root(high),
        _signed_root((beyond[first] + beyond[second]) / 2),
        kinds[first] + kinds[second],
        whole[graph],
        n_residues[graph],
    ]
    return np.column_stack(parts).astype(np.float32)


def _of_interfaces(counted: Floats, graph: np.ndarray, n_graphs: int) -> Floats:
    """The logarithm of the area of each interface, and all else by its area.

    (n_graphs, k). counted : what is added up, of each contact, (C, k). graph : of each contact.
    """
    total = _sums(counted, graph, n_graphs)
    by_area = total[:, 1:] / np.maximum(total[:, :1], 1)
    return np.column_stack([np.log1p(total[:, 0]), by_area])


def _sums(values: Floats, places: np.ndarray, n: int) -> Floats:
    """Sums of the rows of each place, (n, k)."""
    columns = [np.bincount(places, column, n) for column in values.T]
    return np.stack(columns, axis=1).astype(np.float64)


def _signed_root(values: Floats) -> Floats:
    return np.sign(values) * np.sqrt(np.abs(values))
