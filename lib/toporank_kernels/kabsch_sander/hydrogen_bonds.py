"""Angles and hydrogen bonds of a protein backbone (Kabsch & Sander 1983, Biopolymers 22:2577).

A backbone is float64, shape (n, 4, 3): N, CA, C and O of n residues in Å.
"""

from __future__ import annotations

import numpy as np

from toporank_kernels.compilation import compiled, inlined

N, CA, C, O = range(4)  # noqa: E741
PEPTIDE_BOND = 2.5
"""Å from C to the next N up to which two residues are joined."""
REACH = 9.0
"""Å between the CA of two residues below which they may share a hydrogen bond."""
COUPLING = -27.888
"""kcal Å / mol: −332 · 0.42 · 0.20, the two pairs of partial charges."""
BOND = -0.5
"""kcal/mol below which it is a hydrogen bond."""
STRONGEST = -9.9
"""kcal/mol, the energy where atoms are closer than `CLOSEST`, and the least there is."""
CLOSEST = 0.5
"""Å."""
NO_ANGLE = 360.0
"""Degrees, where an angle is not defined."""


@inlined
def _minus(a, b):
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@inlined
def _dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inlined
def _cross(a, b):
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )


@inlined
def _distance(a, b):
    difference = _minus(a, b)
    return np.sqrt(_dot(difference, difference))


@compiled
def dihedral(a, b, c, d):
    """Degrees, −180 to 180, between the planes of a b c and b c d.

    `NO_ANGLE` where three are on a line.
    """
    # tan φ = |bc| · ab·(bc × cd) / (ab × bc)·(bc × cd): unlike arccos it is exact near 0° and 180°.
    axis = _minus(c, b)
    first, second = _cross(_minus(b, a), axis), _cross(axis, _minus(d, c))
    if _dot(first, first) == 0.0 or _dot(second, second) == 0.0:
        return NO_ANGLE
    across = _dot(_minus(b, a), second) * np.sqrt(_dot(axis, axis))
    return np.degrees(np.arctan2(across, _dot(first, second)))


@compiled
def bend(a, b, c):
    """Degrees by which the path a b c departs from a straight line; 0 where two points coincide."""
    first, second = _minus(b, a), _minus(c, b)
    turned = _cross(first, second)
    return np.degrees(np.arctan2(np.sqrt(_dot(turned, turned)), _dot(first, second)))


@compiled
def segments(backbone, chain):
    """int, shape (n,): rises by one wherever a residue is not joined to the one before. chain.

    chain : int, shape (n,).
    """
    segment = np.zeros(len(chain), np.int64)
    for i in range(1, len(chain)):
        joined = (
            chain[i] == chain[i - 1]
            and _distance(backbone[i - 1, C], backbone[i, N]) <= PEPTIDE_BOND
        )
        segment[i] = segment[i - 1] + (not joined)
    return segment


@compiled
def torsions(backbone, segment):
    """φ and ψ in degrees, shape (2, n); `NO_ANGLE` at the ends of a segment."""
    angles = np.full((2, len(segment)), NO_ANGLE)
    for i in range(1, len(segment)):
        if segment[i] == segment[i - 1]:
            here, before = backbone[i], backbone[i - 1]
            angles[0, i] = dihedral(before[C], here[N], here[CA], here[C])
            angles[1, i - 1] = dihedral(before[N], before[CA], before[C], here[N])
    return angles


@compiled
def hydrogens(backbone, segment):
    """Amide hydrogens, shape (n, 3): 1 Å from N against the C=O before.

    N itself where there is no residue before.
    """
    # X-ray structures lack hydrogens. N–H is parallel to C=O of the residue before, since the
    # peptide is flat.
    places = backbone[:, N].copy()
    for i in range(1, len(segment)):
        length = _distance(backbone[i - 1, C], backbone[i - 1, O])
        if segment[i] == segment[i - 1] and length > 0.0:
            for axis in range(3):
                places[i, axis] += (
                    backbone[i - 1, C, axis] - backbone[i - 1, O, axis]
                ) / length
    return places


@compiled
def energy(donor, hydrogen, acceptor):
    """kcal/mol of the bond from N–H of one residue to C=O of another.

    It has three decimals, as DSSP keeps it.
    """
    # E = 332 · 0.42 · 0.20 · (1/r(ON) + 1/r(CH) − 1/r(OH) − 1/r(CN)): Coulomb's law between the
    # partial charges ±0.42 e of C=O and ±0.20 e of N–H (Kabsch & Sander 1983, eq. 1). Below 0.5 Å
    # DSSP gives the least energy.
    ho, hc = _distance(hydrogen, acceptor[O]), _distance(hydrogen, acceptor[C])
    nc, no = _distance(donor[N], acceptor[C]), _distance(donor[N], acceptor[O])
    if min(ho, hc, nc, no) < CLOSEST:
        return STRONGEST
    return max(
        round(1000.0 * COUPLING * (1.0 / ho - 1.0 / hc + 1.0 / nc - 1.0 / no)) / 1000.0,
        STRONGEST,
    )


@compiled
def neighbours(backbone):
    """Pairs i < j of residues whose CA are closer than `REACH`, shape (m, 2), in order.

    It searches all pairs.
    """
    x, y, z = (
        backbone[:, CA, 0].copy(),
        backbone[:, CA, 1].copy(),
        backbone[:, CA, 2].copy(),
    )
    square, pairs, count = (
        np.empty(len(x)),
        np.empty((16 * len(x) + 16, 2), np.int64),
        0,
    )
    for i in range(len(x)):
        for j in range(i + 1, len(x)):  # no branches: runs several residues at a time
            square[j] = (x[j] - x[i]) ** 2 + (y[j] - y[i]) ** 2 + (z[j] - z[i]) ** 2
        if count + len(x) > len(pairs):
            more = np.empty((2 * len(pairs) + len(x), 2), np.int64)
            more[:count] = pairs[:count]
            pairs = more
        for j in range(i + 1, len(x)):
            if square[j] < REACH * REACH:
                pairs[count, 0], pairs[count, 1] = i, j
                count += 1
    return pairs[:count]


@compiled
def bonds(backbone, segment, proline, pairs):
    """The two acceptors each N–H binds best, int, shape (n, 2), −1 where there is no bond.

    proline : bool, shape (n,); they have no hydrogen. pairs : see `neighbours`.
    """
    acceptors, energies = np.full((len(segment), 2), -1), np.zeros((len(segment), 2))
    hydrogen = hydrogens(backbone, segment)
    for m in range(len(pairs)):
        for donor, acceptor in ((pairs[m, 0], pairs[m, 1]), (pairs[m, 1], pairs[m, 0])):
            if proline[donor] or donor == acceptor + 1:
                continue
            bond = energy(backbone[donor], hydrogen[donor], backbone[acceptor])
            if bond < energies[donor, 0]:
                acceptors[donor, 1], energies[donor, 1] = (
                    acceptors[donor, 0],
                    energies[donor, 0],
                )
                acceptors[donor, 0], energies[donor, 0] = acceptor, bond
            elif bond < energies[donor, 1]:
                acceptors[donor, 1], energies[donor, 1] = acceptor, bond
    for i in range(len(segment)):
        for k in range(2):
            if energies[i, k] >= BOND:
                acceptors[i, k] = -1
    return acceptors
