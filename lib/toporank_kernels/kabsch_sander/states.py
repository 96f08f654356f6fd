"""The eight states of a residue.

They follow from hydrogen bonds and the course of the chain (Kabsch & Sander 1983).

Where several patterns hold, H overwrites E and B, and G is written only where there is no other
state. I replaces H, but a residue with E, B or G anywhere in its five blocks it. T, then S, fill
what is left. mkdssp 4 does the same.
"""

from __future__ import annotations

import numpy as np

from toporank_kernels.compilation import compiled
from toporank_kernels.kabsch_sander.hydrogen_bonds import (
    CA,
    bend,
    bonds,
    neighbours,
    segments,
    torsions,
)

NONE, H, B, E, G, I, T, S = range(8)  # noqa: E741
LETTERS = np.frombuffer(b"-HBEGITS", dtype="S1")
"""Letter of each state. Node columns have another order: `features.dssp_nodes.STATE_COLUMNS`."""
BEND = 70.0
"""Degrees above which the chain is bent, over five CA."""
APART, ANTI, PARALLEL = range(3)
"""How two residues face each other."""


@compiled
def bonded(acceptors, donor, acceptor):
    """Whether N–H of one residue is bound to C=O of another."""
    return acceptors[donor, 0] == acceptor or acceptors[donor, 1] == acceptor


@compiled
def bridge(acceptors, segment, i, j):
    """The kind of bridge between residues i < j, if there is one: `APART`, `ANTI` or `PARALLEL`."""
    if i < 1 or j + 1 >= len(segment) or j - i < 3:
        return APART
    if segment[i - 1] != segment[i + 1] or segment[j - 1] != segment[j + 1]:
        return APART
    # N–H of one residue to C=O of another, written donor → acceptor (Kabsch & Sander 1983):
    # parallel where i+1 → j → i−1 or j+1 → i → j−1; antiparallel where i ⇄ j or i+1 → j−1 and j+1 →
    # i−1.
    around_j = bonded(acceptors, i + 1, j) and bonded(acceptors, j, i - 1)
    around_i = bonded(acceptors, j + 1, i) and bonded(acceptors, i, j - 1)
    if around_j or around_i:
        return PARALLEL
    crossing = bonded(acceptors, i + 1, j - 1) and bonded(acceptors, j + 1, i - 1)
    facing = bonded(acceptors, j, i) and bonded(acceptors, i, j)
    return ANTI if crossing or facing else APART


@compiled
def ladders(acceptors, segment, pairs):
    """Runs of bridges, int, shape (m, 6).

    A row is kind, bridges, and first and last residue of one side and of the other.
    """
    runs, count = np.empty((len(pairs), 6), np.int64), 0
    for m in range(len(pairs)):
        i, j = pairs[m]
        kind = bridge(acceptors, segment, i, j)
        if kind == APART:
            continue
        for k in range(count):
            if runs[k, 0] != kind or runs[k, 3] != i - 1:
                continue
            if kind == PARALLEL and runs[k, 5] == j - 1:
                runs[k, 5] = j
            elif kind == ANTI and runs[k, 4] == j + 1:
                runs[k, 4] = j
            else:
                continue
            runs[k, 1] += 1
            runs[k, 3] = i
            break
        else:
            runs[count] = (kind, 1, i, i, j, j)
            count += 1
    return runs[:count]


@compiled
def _bulge(one, other, segment):
    """Whether a ladder goes on in another.

    At most one residue is left out on one side and four on the other.
    """
    if one[0] != other[0]:
        return False
    if segment[min(one[2], other[2])] != segment[max(one[3], other[3])]:
        return False
    if segment[min(one[4], other[4])] != segment[max(one[5], other[5])]:
        return False
    # A bulge: one residue more on one strand, up to four more on the other.
    here = other[2] - one[3]
    across = other[4] - one[5] if one[0] == PARALLEL else one[4] - other[5]
    return (
        here > 0
        and across >= 0
        and here < 6
        and across < 6
        and (here < 3 or across < 3)
    )


@compiled
def join_bulges(runs, segment):
    """Join ladders across bulges, in place.

    A ladder that became part of another has no bridges left.
    """
    for k in range(len(runs)):
        if runs[k, 1] == 0:
            continue
        for m in range(k + 1, len(runs)):
            if runs[m, 1] == 0 or not _bulge(runs[k], runs[m], segment):
                continue
            runs[k, 1] += runs[m, 1]
            runs[k, 3] = runs[m, 3]
            if runs[k, 0] == PARALLEL:
                runs[k, 5] = runs[m, 5]
            else:
                runs[k, 4] = runs[m, 4]
            runs[m, 1] = 0


@compiled
def mark_strands(state, runs):
    """E where a ladder has several bridges, B where it has one; both sides, bulges included."""
    for k in range(len(runs)):
        if runs[k, 1] == 0:
            continue
        for side in (2, 4):
            for i in range(runs[k, side], runs[k, side + 1] + 1):
                if state[i] != E:
                    state[i] = E if runs[k, 1] > 1 else B


@compiled
def turn_starts(acceptors, segment):
    """bool, shape (3, n).

    A turn of 3, 4 or 5 residues starts where N–H of i + 3, 4, 5 is bound to C=O of i.
    """
    starts = np.zeros((3, len(segment)), np.bool_)
    for length in range(3, 6):
        for i in range(len(segment) - length):
            starts[length - 3, i] = segment[i] == segment[i + length] and bonded(
                acceptors, i + length, i
            )
    return starts


@compiled
def _mark_helix(state, starts, length, letter, over):
    """Set a helix where two turns of this length start one after the other.

    All of it has a state in `over` or its own.

    Two turns from i − 1 and i make residues i to i + length − 1 a helix, and a single turn stays a
    turn.
    """
    for i in range(1, len(state) - length):
        if starts[length - 3, i] and starts[length - 3, i - 1]:
            free = True
            for k in range(i, i + length):
                free &= state[k] == letter or over[state[k]]
            if free:
                state[i : i + length] = letter


@compiled
def mark_helices(state, starts):
    """H wherever its pattern is, G where nothing else is, I in place of nothing or H."""
    over = np.ones(8, np.bool_)
    _mark_helix(state, starts, 4, H, over)
    over[:] = False
    over[NONE] = True
    _mark_helix(state, starts, 3, G, over)
    over[H] = True
    _mark_helix(state, starts, 5, I, over)


@compiled
def mark_turns_and_bends(state, starts, backbone, segment):
    """T within a turn, S where the chain is bent; where there is no other state.

    Neither at first and last residue.
    """
    for i in range(1, len(state) - 1):
        if state[i] != NONE:
            continue
        for length in range(3, 6):
            for k in range(1, length):
                if i >= k and starts[length - 3, i - k]:
                    state[i] = T
        # κ: the angle between CA(i−2) → CA(i) and CA(i) → CA(i+2).
        inside = 2 <= i < len(state) - 2 and segment[i - 2] == segment[i + 2]
        if (
            state[i] == NONE
            and inside
            and bend(backbone[i - 2, CA], backbone[i, CA], backbone[i + 2, CA]) > BEND
        ):
            state[i] = S


@compiled
def assign_states(backbone, chain, proline):
    """States, uint8, (n,), and φ and ψ, float64, (2, n), of residues with complete backbone.

    backbone : float64, shape (n, 4, 3), see `hydrogen_bonds`. chain : int, shape (n,), equal for
    residues of one chain, which stand together. proline : bool, shape (n,).
    """
    segment, pairs = segments(backbone, chain), neighbours(backbone)
    acceptors = bonds(backbone, segment, proline, pairs)
    state = np.zeros(len(chain), np.uint8)
    runs = ladders(acceptors, segment, pairs)
    runs = runs[np.argsort(runs[:, 2], kind="mergesort")]
    join_bulges(runs, segment)
    mark_strands(state, runs)
    starts = turn_starts(acceptors, segment)
    mark_helices(state, starts)
    mark_turns_and_bends(state, starts, backbone, segment)
    return state, torsions(backbone, segment)
