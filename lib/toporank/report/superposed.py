"""Models of a target laid on one another, turned so that their interface is in sight."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from toporank.comparing.correspondence import Trace, matched, traces
from toporank.comparing.native.dockq import FEWEST, superposition
from toporank.structures.complex import Complex


def superposed(
    mobile: Complex, fixed: Complex, chains: Mapping[str, str | None]
) -> Complex:
    """A complex moved on another by the CA atoms of the largest partner they share; else as it is.

    chains : of the first → of the second.
    """
    of_mobile, of_fixed = _traces(mobile), _traces(fixed)
    moved = [np.zeros(0, int)]
    partners = [np.zeros(0, int)]
    for name, trace in of_mobile.items():
        other = of_fixed.get(chains.get(name))
        if other is not None:
            places = np.asarray(matched(other, trace))
            moved.append(trace.index[places >= 0])
            partners.append(other.index[places[places >= 0]])
    residues, others = np.concatenate(moved), np.concatenate(partners)
    bodies = fixed.body_of[others]
    if not (bodies >= 0).any():
        return mobile
    in_largest = bodies == np.bincount(bodies[bodies >= 0]).argmax()
    if in_largest.sum() < FEWEST:
        return mobile
    xyz = mobile.xyz[mobile.ca[residues[in_largest]]]
    turn, shift = superposition(xyz, fixed.xyz[fixed.ca[others[in_largest]]])
    return replace(mobile, xyz=mobile.xyz @ turn + shift)


def _traces(complex_: Complex) -> dict[str, Trace]:
    """The chains of a complex: their residues with a CA."""
    residues = np.flatnonzero(complex_.ca >= 0)
    of_complex = traces(
        [complex_.residues[r] for r in residues],
        "".join(complex_.letters[r] for r in residues),
        complex_.xyz[complex_.ca[residues]],
        np.zeros((0, 2), int),
    )
    chains = {}
    for name, trace in of_complex.chains.items():
        chains[name] = trace._replace(index=residues[trace.index])
    return chains


def turned(complex_: Complex) -> Complex:
    """With its centre at the origin, and the largest partner to the left of the others."""
    residues = np.flatnonzero((complex_.ca >= 0) & (complex_.body_of >= 0))
    if len(residues) < FEWEST:
        return complex_
    xyz, body = complex_.xyz[complex_.ca[residues]], complex_.body_of[residues]
    centre = xyz.mean(axis=0)
    xyz = xyz - centre
    left = body == np.bincount(body).argmax()
    across = xyz[0]
    if not left.all():
        across = xyz[~left].mean(axis=0) - xyz[left].mean(axis=0)
    x = across / np.linalg.norm(across)
    flat = xyz - np.outer(xyz @ x, x)
    y = np.linalg.svd(flat, full_matrices=False)[2][0]
    axes = np.stack([x, y, np.cross(x, y)], axis=1)
    return replace(complex_, xyz=(complex_.xyz - centre) @ axes)
