"""One job: what predictors say of the decoys of a data set. The boundary where errors become rows."""

from __future__ import annotations

import functools
import logging
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import attrgetter

import numpy as np

from toporank.comparing.native.dockq import FEWEST, superposition
from toporank.errors import TopoRankError, printable
from toporank.inputs.confidence.decoy import Asked, Examined, examine
from toporank.inputs.confidence.side_files import look_anew, place_of
from toporank.inputs.confidence.table import AUTO, INCOMPLETE, Choice, Confidence
from toporank.inputs.confidence.unread import unread
from toporank.structures.complex import Complex

log = logging.getLogger(__name__)

OTHER_POSE = 2.0
"""Å, `displacement`: a relaxed model differs by less from the one that it was made of."""


def confidences(decoys: Iterable[Asked], choice: Choice = AUTO) -> list[Confidence]:
    """The row of each decoy, in their order, in which those of a target follow one another.

    choice : whether B factors are pLDDT. Whatever is wrong with one decoy and its files is the reason in its row.
    """
    return [examined.row for examined in _of_targets(decoys, choice)]


def _of_targets(decoys: Iterable[Asked], choice: Choice) -> Iterator[Examined]:
    """What is known of each decoy by its own files and by the other decoys of its target."""
    look_anew()
    unread_of = functools.cache(unread)
    for _, members in groupby(decoys, key=attrgetter("target")):
        members = list(members)
        examined = [_examined(asked, choice) for asked in members]
        refused = _no_plddt(members, examined)
        for i, asked in enumerate(members):
            found = Examined(Confidence(asked.target, asked.decoy)) if i in refused else examined[i]
            place = place_of(asked.path) if asked.path else None
            passed_over = unread_of(place.parent).about(place) if place else ""
            yield found._replace(row=_incomplete(found.row, passed_over)) if passed_over else found


def _incomplete(row: Confidence, why: str) -> Confidence:
    return row._replace(status=INCOMPLETE, reason="; ".join(filter(None, [row.reason, why])))


def _examined(asked: Asked, choice: Choice) -> Examined:
    """One decoy; whatever it raises becomes the reason in its row."""
    try:
        return examine(asked, choice)
    except TopoRankError as error:
        reason = error.reason
    except Exception as error:  # the job boundary: what the files of a decoy raise costs its own row only
        log.exception("%s/%s: unexpected error, please report it with the files", asked.target, asked.decoy)
        reason = printable(f"unexpected {type(error).__name__}: {error}")
    return Examined(Confidence(asked.target, asked.decoy, status=INCOMPLETE, reason=reason))


def _no_plddt(members: list[Asked], examined: list[Examined]) -> set[int]:
    """Places of the decoys of a target whose B factors look like pLDDT one by one, but not beside the others.

    These are all, where they do not rise into the core on the whole; and the poses that share them with another pose.
    """
    by_numbers = {i: each for i, each in enumerate(examined) if each.profiles}
    if by_numbers and np.mean([each.rise for each in examined if each.rise is not None]) <= 0:
        return set(by_numbers)
    sharing: dict[bytes, list[int]] = {}
    for i, each in by_numbers.items():
        for profile in set(each.profiles):
            sharing.setdefault(profile, []).append(i)
    return {i for places in sharing.values() if _several_poses([members[i] for i in places]) for i in places}


def _several_poses(sharing: list[Asked]) -> bool:
    """Whether models with the same B factors differ in more than a relaxation does, or cannot be compared any more."""
    if len(sharing) < 2:
        return False
    try:
        first = sharing[0].complex()
        return any(displacement(first, other.complex()) > OTHER_POSE for other in sharing[1:])
    except TopoRankError:
        return True


def displacement(first: Complex, second: Complex) -> float:
    """RMSD in Å of the chain that moved most, when the largest chain is superposed; that of CA atoms both have.

    Over all chains it would be small where a small ligand moved on a large receptor. Infinite if the largest chain in
    common has fewer than three residues.
    """
    places = [{c.residues[i]: c.xyz[c.ca[i]] for i in np.flatnonzero(c.ca >= 0)} for c in (first, second)]
    both = [residue for residue in places[0] if residue in places[1]]
    chain = np.array([residue.chain for residue in both])
    names, sizes = np.unique(chain, return_counts=True)
    if max(sizes, default=0) < FEWEST:
        return float("inf")
    moving, fixed = (np.array([of_model[residue] for residue in both]) for of_model in places)
    largest = chain == names[sizes.argmax()]
    turn, shift = superposition(moving[largest], fixed[largest])
    squares = np.square(moving @ turn + shift - fixed).sum(axis=1)
    return float(np.sqrt(max(squares[chain == name].mean() for name in names)))
