"""Secondary structure, backbone angles and accessible surface, as DSSP defines them.

numba compiles it.

Written from the publications: Kabsch & Sander 1983 (Biopolymers 22:2577) for hydrogen bonds, states
and radii, Shrake & Rupley 1973 (J. Mol. Biol. 79:351) for the surface. Where these leave a choice,
the answers of mkdssp 4 decide. Importing this package imports numba, which is slow: import it only
to compute.
"""

import functools

import numpy as np

from toporank_kernels.kabsch_sander import solvent, states

__all__ = ["accessibility", "secondary_structure"]


@functools.cache
def _prepare() -> np.ndarray:
    """Compile, or load, what is called below, with the very types it is called with.

    Returns the sphere.
    """
    sphere = solvent.fibonacci_sphere()
    none = np.zeros(0, np.int64)
    states.assign_states(np.zeros((0, 4, 3)), none, np.zeros(0, np.bool_))
    solvent.accessible_surface(
        np.zeros((0, 3)), np.zeros(0), np.zeros(1, np.int64), none, sphere
    )
    return sphere


def secondary_structure(
    backbone: np.ndarray, chain: np.ndarray, proline: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """State, φ and ψ of n residues.

    Parameters
    ----------
    backbone : float64, shape (n, 4, 3), N, CA, C and O in Å
    chain : int, shape (n,), one number for each chain, whose residues stand together
    proline : bool, shape (n,)

    Returns
    -------
    state : bytes `S1`, shape (n,), the letters HBEGITS or `-`
    phi, psi : float64, shape (n,), degrees; 360 where there is no angle
    """
    _prepare()
    state, (phi, psi) = states.assign_states(
        np.ascontiguousarray(backbone, np.float64),
        np.ascontiguousarray(chain, np.int64),
        proline.astype(np.bool_),
    )
    return states.LETTERS[state], phi, psi


def accessibility(
    xyz: np.ndarray, names: np.ndarray, start: np.ndarray, wanted: np.ndarray
) -> np.ndarray:
    """Accessible surface of some residues.

    Parameters
    ----------
    xyz : float64, shape (A, 3), all atoms but hydrogens, Å
    names : bytes, shape (A,)
    start : int, shape (n + 1,): the atoms of residue r are start[r] to start[r + 1], at least one
    wanted : int, shape (w,), the residues

    Returns
    -------
    float64, shape (w,), Å²
    """
    reach = np.full(len(xyz), solvent.SIDE_CHAIN)
    for name, radius in solvent.RADII.items():
        reach[names == name] = radius
    return solvent.accessible_surface(
        np.ascontiguousarray(xyz, np.float64),
        reach + solvent.PROBE,
        np.ascontiguousarray(start, np.int64),
        np.ascontiguousarray(wanted, np.int64),
        _prepare(),
    )
