"""The confidence of predictors in the decoys of a data set; errors become rows here."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from toporank.chains.match import superposition
from toporank.chains.thresholds import FEWEST_ATOMS
from toporank.confidence.b_factor_runs import shift_of
from toporank.confidence.beside import unread
from toporank.confidence.bfactors import OF_A_MONOMER
from toporank.confidence.examine import DecoyFile, Examined, examine
from toporank.confidence.table import (
    AUTO,
    FROM_PLDDT,
    INCOMPLETE,
    NOTHING,
    Confidence,
    PlddtChoice,
    has_numbers,
)
from toporank.errors import TopoRankError, printable
from toporank.programs.catalogue import place_of
from toporank.programs.file_names import look_anew
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
                row = _without_plddt(row, without_plddt[i])
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


def _no_plddt(members: list[DecoyFile], examined: list[Examined]) -> dict[int, str]:
    """Decoys whose B factors look like pLDDT one by one, but not beside others, and why.

    Place → reason, empty where their models say nothing for it. These are the poses that share the
    B factors of a chain with another pose, and those whose numbers leave it open and whose target's
    numbers speak against it.
    """
    without_plddt: dict[int, str] = {}
    evidence = [each.evidence for each in examined if each.evidence is not None]
    if evidence and np.mean(evidence) <= 0:
        without_plddt = {i: "" for i, each in enumerate(examined) if each.is_open}
    sharing: dict[int, set[int]] = {}
    for i, each in enumerate(examined):
        if each.profiles and members[i].of_monomers:
            without_plddt[i] = OF_A_MONOMER
        for runs in each.profiles.values():
            for run in runs:
                sharing.setdefault(run, set()).add(i)
    for places in {tuple(sorted(sharers)) for sharers in sharing.values()}:
        if _several_poses([(members[i], examined[i].profiles) for i in places]):
            without_plddt |= dict.fromkeys(places, OF_A_MONOMER)
    return without_plddt


def _without_plddt(row: Confidence, reason: str) -> Confidence:
    """The row without pLDDT and what follows from it."""
    unknown: dict[str, Any] = dict.fromkeys(FROM_PLDDT)
    row = row._replace(**unknown | {"plddt_source": ""})
    reasons = [text for text in (row.reason, reason) if text]
    left = has_numbers(row)
    status = INCOMPLETE if reason else row.status if left else NOTHING
    return row._replace(status=status, reason="; ".join(reasons))


def _several_poses(
    models: list[tuple[DecoyFile, Mapping[str, Mapping[int, int]]]],
) -> bool:
    """Whether models with the same B factors differ in more than a relaxation does.

    It is true where they cannot be compared any more, too. Chains that have the same B factors are
    the same, whatever they and their residues are called.
    """
    if len(models) < 2:
        return False
    (first, of_first), *others = models
    try:
        complex_ = first.complex()
        for other, of_other in others:
            same_chains: dict[str, SameChain] = {}
            taken = set()
            for name, runs in of_first.items():
                # of several copies the one of the same name
                for each in sorted(of_other, key=lambda other: other != name):
                    shift = shift_of(runs, of_other[each])
                    if shift is not None and each not in taken:
                        same_chains[name] = SameChain(each, shift)
                        taken.add(each)
                        break
            if displacement(complex_, other.complex(), same_chains) > OTHER_POSE:
                return True
    except TopoRankError:
        return True
    return False


class SameChain(NamedTuple):
    """name : of a chain in another model. shift : how many places later its residues lie there."""

    name: str
    shift: int


def displacement(
    first: Complex, second: Complex, same_chains: Mapping[str, SameChain] | None = None
) -> float:
    """Return the RMSD in Å of the chain that moved most, with the largest chain superposed.

    It counts CA atoms that both have.

    Over all chains it would be small where a small ligand moved on a large receptor. Infinite if
    the largest chain in common has fewer than three residues.

    Parameters
    ----------
    same_chains : chain of the first → the same chain of the second, with its residues in the same
        order; all other residues are compared by their names
    """
    same_chains = same_chains or {}
    pairs: list[tuple[int, int]] = []
    for name, other in same_chains.items():
        of_first = np.flatnonzero((first.ca >= 0) & (first.chain_of == name))
        of_second = np.flatnonzero((second.ca >= 0) & (second.chain_of == other.name))
        of_first = of_first[max(-other.shift, 0) :]
        of_second = of_second[max(other.shift, 0) :]
        pairs += zip(of_first.tolist(), of_second.tolist(), strict=False)
    places_in_second = second.index()
    for i in np.flatnonzero(first.ca >= 0).tolist():
        place = places_in_second.get(first.residues[i], -1)
        known = first.residues[i].chain in same_chains
        if place >= 0 and second.ca[place] >= 0 and not known:
            pairs.append((i, place))
    if not pairs:
        return float("inf")
    of_first, of_second = np.array(pairs).T
    _, chain_of, sizes = np.unique(
        first.chain_of[of_first], return_inverse=True, return_counts=True
    )
    if sizes.max() < FEWEST_ATOMS:
        return float("inf")
    moving = first.xyz[first.ca[of_first]]
    fixed = second.xyz[second.ca[of_second]]
    is_largest = chain_of == sizes.argmax()
    turn, shift = superposition(moving[is_largest], fixed[is_largest])
    squares = np.square(moving @ turn + shift - fixed).sum(axis=1)
    of_chains = np.bincount(chain_of, weights=squares) / sizes
    return float(np.sqrt(of_chains.max()))
