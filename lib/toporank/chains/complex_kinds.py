"""Which kind of complex a target is, by the sequences of its chains.

Confidence means something else in each kind, and training may lack one.
"""

from __future__ import annotations

from collections.abc import Iterable

from toporank.chains.immune import (
    ALPHA_2,
    BETA_OF_2,
    HAS_DOMAIN,
    HAS_GROOVE,
    IS_SHORT,
    roles_of,
)

PROTEINS = "proteins"
ANTIBODY = "antibody and antigen"
RECEPTOR = "T-cell receptor and MHC molecule"
PEPTIDE = "protein and peptide"
KINDS = (PROTEINS, ANTIBODY, RECEPTOR, PEPTIDE)
WITH_BINDER = (ANTIBODY, RECEPTOR)
"""Kinds in which variable domains bind: of antibodies, nanobodies or T-cell receptors."""


def kind_of_complex(sequences: Iterable[str]) -> str:
    """Return the kind of a complex, one of `KINDS`.

    Chains with variable domains bind to others that have none; alone they are proteins. What they
    bind decides whether they are a T-cell receptor: by its sequence an antibody looks like one.

    Parameters
    ----------
    sequences : one-letter codes of each chain

    Examples
    --------
    >>> kind_of_complex(["MKTAYIAKQRQISFVKSHFSRQLEERLGLIEVQ", "SLLMWITQC"])
    'protein and peptide'
    """
    roles = [roles_of(sequence) for sequence in sequences]
    others = [of_chain for of_chain in roles if HAS_DOMAIN not in of_chain]
    present = frozenset[int]().union(*others)
    if others and len(others) < len(roles):
        is_mhc = present & {HAS_GROOVE, ALPHA_2, BETA_OF_2}
        return RECEPTOR if is_mhc else ANTIBODY
    return PEPTIDE if IS_SHORT in present and len(others) > 1 else PROTEINS
