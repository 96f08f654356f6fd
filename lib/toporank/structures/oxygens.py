"""The oxygen atoms at the end of a chain, for which force fields have names of their own."""

from __future__ import annotations

import numpy as np

TERMINAL_OXYGENS = {
    **dict.fromkeys((b"OT1", b"O1", b"OC1", b"OT"), b"O"),
    **dict.fromkeys((b"OT2", b"O2", b"OC2"), b"OXT"),
}
"""Names that CHARMM, GROMACS and Amber give to O and OXT."""


def with_terminal_oxygens(atom_names: np.ndarray, residue_of: np.ndarray, protein: np.ndarray) -> np.ndarray:
    """Return the atom names with O and OXT at the end of each chain, whatever a force field calls them.

    Parameters
    ----------
    atom_names : bytes, shape (A,)
    residue_of : int, shape (A,), residue of each atom
    protein : bool, shape (R,), which residues are amino acids; one that has an O stays as it is

    Returns
    -------
    bytes, shape (A,)
    """
    if set(atom_names.tolist()).isdisjoint(TERMINAL_OXYGENS):  # quicker than numpy, and true of most files
        return atom_names
    renamed = atom_names.copy()
    has_oxygen = np.zeros(len(protein), dtype=bool)
    has_oxygen[residue_of[atom_names == b"O"]] = True
    in_question = np.isin(atom_names, list(TERMINAL_OXYGENS)) & (protein & ~has_oxygen)[residue_of]
    for residue in np.unique(residue_of[in_question]):
        atoms = np.flatnonzero(in_question & (residue_of == residue))
        names = [TERMINAL_OXYGENS[name] for name in atom_names[atoms].tolist()]
        if b"O" not in names:
            names[0] = b"O"
        renamed[atoms] = names
    return renamed
