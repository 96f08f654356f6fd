"""The confidence of predictors in the decoys of a data set; errors become rows here."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from itertools import groupby
from operator import attrgetter

import numpy as np

from toporank.comparing.native.dockq import FEWEST, superposition
from toporank.errors import TopoRankError, printable
from toporank.inputs.confidence.decoy import DecoyFile, Examined, examine
from toporank.inputs.confidence.side_files import look_anew
from toporank.inputs.confidence.table import AUTO, INCOMPLETE, Confidence, PlddtChoice
from toporank.inputs.confidence.unread import unread
from toporank.inputs.predictors import place_of
from toporank.structures.complex import Complex

log = logging.getLogger(__name__)

OTHER_POSE = 2.0
"""Å, `displacement`: a relaxed model differs by less from the one that it was made of."""


def confidences(
    decoys: Iterable[DecoyFile], choice: PlddtChoice = AUTO, anew: bool = True
) -> list[Confidence]:
    """Return the row of each decoy, in their order, in which those of a target follow one another.

    Whatever is wrong with one decoy and its files is the reason in its row.

    Parameters
    ----------
    choice : whether B factors are pLDDT
    anew : whether to look which files lie beside the decoys, or to know it from a look before
    """
    if anew:
        look_anew()
    rows = []
    for _, of_target in groupby(decoys, key=attrgetter("target")):
        members = list(of_target)
        examined = [_examined(decoy, choice) for decoy in members]
        without_plddt = _no_plddt(members, examined)
        for i, decoy in enumerate(members):
            row = examined[i].row
            if i in without_plddt:
                row = Confidence(decoy.target, decoy.decoy)
            if decoy.path:
                place = place_of(decoy.path)
                sentence = unread(place.parent).about(place)
                if sentence:
                    reason = f"{row.reason}; {sentence}" if row.reason else sentence
                    row = row._replace(status=INCOMPLETE, reason=reason)
            rows.append(row)
    return rows


def _examined(decoy: DecoyFile, choice: PlddtChoice) -> Examined:
    """One decoy; whatever it raises becomes the reason in its row."""
    name = f"{decoy.target}/{decoy.decoy}"
    try:
        return examine(decoy, choice)
    except TopoRankError as error:
        reason = error.reason
    except Exception as error:  # what the files of a decoy raise costs its own row only
        log.exception("%s: unexpected error, please report it with the files", name)
        reason = printable(f"unexpected {type(error).__name__}: {error}")
    return Examined(
        Confidence(decoy.target, decoy.decoy, status=INCOMPLETE, reason=reason)
    )


def _no_plddt(members: list[DecoyFile], examined: list[Examined]) -> set[int]:
    """Places of decoys whose B factors look like pLDDT one by one, but not beside the others.

    These are all, where they do not rise into the core on the whole; and the poses that share them
    with another pose.
    """
    sharing: dict[bytes, set[int]] = {}
    for i, each in enumerate(examined):
        for profile in each.profiles:
            sharing.setdefault(profile, set()).add(i)
    by_numbers = set().union(*sharing.values())
    rises = [each.rise for each in examined if each.rise is not None]
    if by_numbers and np.mean(rises) <= 0:
        return by_numbers
    without_plddt: set[int] = set()
    for places in sharing.values():
        if _several_poses([members[i] for i in sorted(places)]):
            without_plddt |= places
    return without_plddt


def _several_poses(decoys: list[DecoyFile]) -> bool:
    """Whether models with the same B factors differ in more than a relaxation does.

    It is true where they cannot be compared any more, too.
    """
    if len(decoys) < 2:
        return False
    try:
        first = decoys[0].complex()
        return any(
            displacement(first, other.complex()) > OTHER_POSE for other in decoys[1:]
        )
    except TopoRankError:
        return True


def displacement(first: Complex, second: Complex) -> float:
    """Return the RMSD in Å of the chain that moved most, with the largest chain superposed.

    It counts CA atoms that both have.

    Over all chains it would be small where a small ligand moved on a large receptor. Infinite if
    the largest chain in common has fewer than three residues.
    """
    places_in_second = second.index()
    moving = []
    fixed = []
    chain_of = []
    for i in np.flatnonzero(first.ca >= 0):
        place = places_in_second.get(first.residues[i], -1)
        if place >= 0 and second.ca[place] >= 0:
            moving.append(first.xyz[first.ca[i]])
            fixed.append(second.xyz[second.ca[place]])
            chain_of.append(first.residues[i].chain)
    _, chain_of, sizes = np.unique(chain_of, return_inverse=True, return_counts=True)
    if max(sizes, default=0) < FEWEST:
        return float("inf")
    moving = np.array(moving)
    fixed = np.array(fixed)
    is_largest = chain_of == sizes.argmax()
    turn, shift = superposition(moving[is_largest], fixed[is_largest])
    squares = np.square(moving @ turn + shift - fixed).sum(axis=1)
    of_chains = np.bincount(chain_of, weights=squares) / sizes
    return float(np.sqrt(of_chains.max()))
