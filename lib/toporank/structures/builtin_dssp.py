"""Secondary structure, accessibility and backbone angles by `structures.kabsch_sander`: DSSP without mkdssp."""

from __future__ import annotations

import numpy as np

from toporank.structures.complex import STANDARD, Complex
from toporank.structures.dssp import NO_ANGLE, Dssp

BACKBONE = (b"N", b"CA", b"C", b"O")


def builtin_dssp(complex_: Complex, accessible: np.ndarray) -> Dssp:
    """As `run_dssp`, but with the accessibility of the residues `accessible`, int, only; 0 for others.

    A residue is found when its backbone is complete and it is, or counts as, one of the 20. Others are ignored: they
    are no neighbours in a chain and cover no surface.
    """
    from toporank.structures import kabsch_sander  # numba is slow to import, and every job imports all feature modules

    n = len(complex_.residues)
    found, backbone = np.isin(complex_.parents, list(STANDARD)), np.full((n, len(BACKBONE)), -1)
    for k, name in enumerate(BACKBONE):
        atoms = np.flatnonzero(complex_.atom_names == name)
        backbone[complex_.residue_of[atoms], k] = atoms
    found &= (backbone >= 0).all(axis=1)
    chain = np.unique([residue.chain for residue in complex_.residues], return_inverse=True)[1]
    known = np.flatnonzero(found)
    known = known[np.argsort(chain[known], kind="stable")]  # by chain, as mkdssp is given them
    proline = np.array(complex_.parents)[known] == "PRO"

    dssp = Dssp(found, np.full(n, b"-"), np.zeros(n), np.full(n, NO_ANGLE), np.full(n, NO_ANGLE))
    states, phi, psi = kabsch_sander.secondary_structure(complex_.xyz[backbone[known]], chain[known], proline)
    dssp.structure[known], dssp.phi[known], dssp.psi[known] = states, np.round(phi, 1), np.round(psi, 1)
    place = np.full(n, -1)
    place[known] = np.arange(len(known))
    atoms = np.flatnonzero(found[complex_.residue_of] & ~complex_.is_hydrogen)
    atoms = atoms[np.argsort(place[complex_.residue_of[atoms]], kind="stable")]
    start = np.searchsorted(place[complex_.residue_of[atoms]], np.arange(len(known) + 1))
    wanted = np.intersect1d(accessible, known)
    area = kabsch_sander.accessibility(complex_.xyz[atoms], complex_.atom_names[atoms], start, place[wanted])
    dssp.accessibility[wanted] = np.floor(area + 0.5)
    return dssp
