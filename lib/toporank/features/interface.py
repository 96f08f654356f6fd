"""Interface residues: those with a CA near a CA of another chain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from pydantic import Field

from toporank.errors import NoInterfaceError, StructureError
from toporank.features.neighbours import kd_tree, pairs_between_groups
from toporank.features.registry import Parameters, register
from toporank.structures.complex import Complex

MAX_CONTACTS = 500_000
"""Contacts of the largest interface; a graph has twice as many edges, which take 0.1 kB each. A natural complex has
about one contact a residue."""


@dataclass(frozen=True)
class Interface:
    """The interface residues of a complex, sorted by chain, number and insertion code; length N ≥ 2.

    Attributes
    ----------
    index : int, shape (N,), position in `Complex.residues`
    contacts : int, shape (N,), residues of other chains within the cutoff
    nearest : float64, shape (N,), Å from CA to the nearest CA of another chain
    """

    index: np.ndarray
    contacts: np.ndarray
    nearest: np.ndarray


class CaCutoff(Parameters):
    """Parameters of `interface/ca_cutoff/v1`."""

    cutoff: float = Field(
        10.0,
        gt=0,
        le=50,
        json_schema_extra={"unit": "Å"},
        description="A residue is in the interface when its CA is closer than this to a CA of another chain.",
    )
    residues: Literal["protein", "atom_records"] = Field(
        "protein",
        description="`protein`: every amino acid of a chain, modified ones too. `atom_records`: none that the file"
        " writes as HETATM, as published.",
    )


@register(
    "interface/ca_cutoff/v1",
    alias="ca_cutoff",
    summary="residues with a CA nearer than a cutoff to a CA of another chain",
    parameters=CaCutoff,
    columns=lambda parameters: ["x", "y", "z", "nearest"],
    added={"residues": "protein"},
)
def ca_cutoff_interface(parameters: CaCutoff, complex_: Complex) -> Interface:
    """Find the interface residues (Han et al. 2025).

    Raises StructureError when there are fewer than two protein chains, NoInterfaceError (with the closest
    distance) when none come near each other.
    """
    residues = np.flatnonzero(complex_.ca >= 0)
    if parameters.residues == "atom_records":
        residues = residues[~np.isin(residues, list(complex_.hetero))]
    names = [complex_.residues[r].chain for r in residues.tolist()]
    chains = sorted(set(names))
    number = {name: i for i, name in enumerate(chains)}
    chain = np.array([number[name] for name in names])
    if len(chains) < 2:
        found = f"only one protein chain ({chains[0]!r})" if len(chains) else "no protein chain"
        notes = "".join(f"; {note}" for note in complex_.notes)
        raise StructureError(
            f"{found} with CA atoms, at least two are needed{notes}",
            remedy="write all chains, each with a name of its own, into one model",
        )
    xyz = complex_.xyz[complex_.ca[residues]]
    pairs, distance = pairs_between_groups(xyz, chain, parameters.cutoff, most=MAX_CONTACTS)
    if len(pairs) > MAX_CONTACTS:
        raise StructureError(
            f"more than {MAX_CONTACTS} pairs of residues of different chains within {parameters.cutoff:g} Å",
            remedy="are many chains in one place? or use a part of the complex",
        )
    if len(pairs) == 0:
        raise NoInterfaceError(
            f"no CA of one chain within {parameters.cutoff:g} Å of another chain's"
            f" (closest {closest_approach(xyz, chain):.1f} Å)",
            n_chains=len(chains),
        )
    contacts = np.bincount(pairs.ravel(), minlength=len(residues))
    nearest = np.full(len(residues), np.inf)
    np.minimum.at(nearest, pairs.ravel(), np.repeat(distance, 2))
    touching = sorted(np.flatnonzero(contacts), key=lambda i: complex_.residues[residues[i]])
    return Interface(residues[touching], contacts[touching], nearest[touching])


def closest_approach(xyz: np.ndarray, chain: np.ndarray) -> float:
    """Smallest distance in Å between points of different chains. xyz : (n, 3); chain : int, (n,)."""
    return min(
        float(kd_tree(xyz[chain == c]).query(xyz[chain != c])[0].min()) for c in np.unique(chain) if (chain != c).any()
    )
