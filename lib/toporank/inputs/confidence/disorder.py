"""Disorder: runs of residues whose place the predictor does not know, such as tails that lie across the partner."""

from __future__ import annotations

import numpy as np

from toporank.structures.complex import Complex

VERY_LOW = 50.0
"""pLDDT below which AlphaFold calls a residue of very low confidence, and mostly disordered."""
RUN = 10
"""Residues that follow one another in a chain: fewer are no tail. A chain that would keep fewer is not masked."""
WHY = f"disordered: runs of {RUN} or more with a pLDDT below {VERY_LOW:g}"


def disordered(complex_: Complex, plddt: np.ndarray) -> np.ndarray:
    """Which residues are disordered: those in runs of `RUN` or more with a pLDDT below `VERY_LOW`.

    A run is of amino acids with a CA that follow one another in a chain of the file; a higher pLDDT, an unknown one and
    the end of the chain end it. A chain that would keep fewer than `RUN` residues has no disordered ones.

    Parameters
    ----------
    complex_ : with R residues
    plddt : of each residue, 0 to 100, float, shape (R,); NaN where it is not known

    Returns
    -------
    bool, shape (R,)
    """
    found = np.zeros(len(complex_.residues), dtype=bool)
    of_chain: dict[str, list[int]] = {}
    for place in np.flatnonzero(complex_.ca >= 0):
        of_chain.setdefault(complex_.residues[place].chain, []).append(place)
    for places in map(np.array, of_chain.values()):
        masked = _in_long_runs(plddt[places] < VERY_LOW)
        if np.count_nonzero(~masked) >= RUN:
            found[places[masked]] = True
    return found


def _in_long_runs(low: np.ndarray) -> np.ndarray:
    """Which values are True with `RUN` or more in a row; bool, shape (n,), as `low`."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], low, [False]])))
    found = np.zeros(len(low), dtype=bool)
    for first, behind in edges.reshape(-1, 2):
        found[first:behind] = behind - first >= RUN
    return found
