"""What predictors say of the decoys of a data set: the boundary where errors become rows."""

from __future__ import annotations

import functools
import logging
from collections.abc import Iterable
from itertools import groupby
from operator import attrgetter

import numpy as np

from toporank.comparing.native.dockq import FEWEST, superposition
from toporank.errors import TopoRankError, printable
from toporank.inputs.confidence.decoy import DecoyFile, Examined, examine
from toporank.inputs.confidence.side_files import look_anew
from toporank.inputs.confidence.table import AUTO, INCOMPLETE, Choice, Confidence
from toporank.inputs.confidence.unread import unread
from toporank.inputs.predictors import place_of
from toporank.structures.complex import Complex

log = logging.getLogger(__name__)

OTHER_POSE = 2.0
"""Å, `displacement`: a relaxed model differs by less from the one that it was made of."""


def confidences(decoys: Iterable[DecoyFile], choice: Choice = AUTO) -> list[Confidence]:
    """Return the row of each decoy, in their order, in which those of a target follow one another.

    choice : whether B factors are pLDDT. Whatever is wrong with one decoy and its files is the
    reason in its row.
    """
    look_anew()
    unread_files = functools.cache(unread)
    rows = []
    for _, members in groupby(decoys, key=attrgetter("target")):
        members = list(members)
        examined = [_examined(decoy, choice) for decoy in members]
        without_plddt = _no_plddt(members, examined)
        for i, decoy in enumerate(members):
            row = Confidence(decoy.target, decoy.decoy) if i in without_plddt else examined[i].row
            if decoy.path:
                place = place_of(decoy.path)
                row = _with_unread(row, unread_files(place.parent).about(place))
            rows.append(row)
    return rows


def _with_unread(row: Confidence, sentence: str) -> Confidence:
    """The row with a sentence on files that are not read, if there are any."""
    if not sentence:
        return row
    reason = f"{row.reason}; {sentence}" if row.reason else sentence
    return row._replace(status=INCOMPLETE, reason=reason)


def _examined(decoy: DecoyFile, choice: Choice) -> Examined:
    """One decoy; whatever it raises becomes the reason in its row."""
    try:
        return examine(decoy, choice)
    except TopoRankError as error:
        reason = error.reason
    except (
        Exception
    ) as error:  # the job boundary: what the files of a decoy raise costs its own row only
        log.exception(
            "%s/%s: unexpected error, please report it with the files", decoy.target, decoy.decoy
        )
        reason = printable(f"unexpected {type(error).__name__}: {error}")
    return Examined(Confidence(decoy.target, decoy.decoy, status=INCOMPLETE, reason=reason))


def _no_plddt(members: list[DecoyFile], examined: list[Examined]) -> set[int]:
    """Places of the decoys of a target whose B factors look like pLDDT one by one, but not beside
    the others.

    These are all, where they do not rise into the core on the whole; and the poses that share them
    with another pose.
    """
    by_numbers = [i for i, each in enumerate(examined) if each.profiles]
    rises = [each.rise for each in examined if each.rise is not None]
    if by_numbers and np.mean(rises) <= 0:
        return set(by_numbers)
    sharing: dict[bytes, list[int]] = {}
    for i in by_numbers:
        for profile in set(examined[i].profiles):
            sharing.setdefault(profile, []).append(i)
    without_plddt: set[int] = set()
    for places in sharing.values():
        if _several_poses([members[i] for i in places]):
            without_plddt.update(places)
    return without_plddt


def _several_poses(sharing: list[DecoyFile]) -> bool:
    """Whether models with the same B factors differ in more than a relaxation does, or cannot be
    compared any more.
    """
    if len(sharing) < 2:
        return False
    try:
        first = sharing[0].complex()
        return any(displacement(first, other.complex()) > OTHER_POSE for other in sharing[1:])
    except TopoRankError:
        return True


def displacement(first: Complex, second: Complex) -> float:
    """Return the RMSD in Å of the chain that moved most, when the largest chain is superposed, of
    common CA atoms.

    Over all chains it would be small where a small ligand moved on a large receptor. Infinite if
    the largest chain in common has fewer than three residues.
    """
    ca_of_first = _ca_by_residue(first)
    ca_of_second = _ca_by_residue(second)
    common = [residue for residue in ca_of_first if residue in ca_of_second]
    chain = np.array([residue.chain for residue in common])
    names, sizes = np.unique(chain, return_counts=True)
    if max(sizes, default=0) < FEWEST:
        return float("inf")
    moving = np.array([ca_of_first[residue] for residue in common])
    fixed = np.array([ca_of_second[residue] for residue in common])
    largest = chain == names[sizes.argmax()]
    turn, shift = superposition(moving[largest], fixed[largest])
    squares = np.square(moving @ turn + shift - fixed).sum(axis=1)
    return float(np.sqrt(max(squares[chain == name].mean() for name in names)))


def _ca_by_residue(complex_: Complex) -> dict:
    return {
        complex_.residues[i]: complex_.xyz[complex_.ca[i]] for i in np.flatnonzero(complex_.ca >= 0)
    }
