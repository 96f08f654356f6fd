"""How far two reports of DSSP agree."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from toporank.structures.dssp import Dssp

needs_mkdssp = pytest.mark.skipif(
    shutil.which("mkdssp") is None, reason="mkdssp is not installed"
)


def turn(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Degrees between angles; 0 where neither is defined, 360 where only one is."""
    apart = np.abs((one - other + 180) % 360 - 180)
    return np.where((one == 360.0) == (other == 360.0), apart, 360.0)


def compare(ours: Dssp, theirs: Dssp) -> dict[str, int]:
    """How many residues there are, and how many have another accessibility, angle or state, as
    nodes see it.
    """
    np.testing.assert_array_equal(ours.reported, theirs.reported)
    found = ours.reported
    accessibility = np.abs(ours.accessibility - theirs.accessibility)[found]
    assert accessibility.max(initial=0) <= 1.0
    angle = np.maximum(turn(ours.phi, theirs.phi), turn(ours.psi, theirs.psi))[found]
    state = (
        ours.structure != np.where(theirs.structure == b"P", b"-", theirs.structure)
    )[found]
    return {
        "residues": int(found.sum()),
        "accessibility": int((accessibility > 0).sum()),
        "angle": int((angle > 0.101).sum()),
        "state": int(state.sum()),
    }
