"""How similar each decoy of a target is to the others, and how far these agree on its contacts."""

from __future__ import annotations

import functools
from collections.abc import Iterable

import numpy as np
import pandas as pd

from toporank.chains.chain import ResidueId
from toporank.comparing.decoys import Contacts, Decoys

LEAST_QUALITY = 0.01
"""So that there is a vote where all are thought to be wrong."""


def similarities(contacts: Contacts) -> Iterable[np.ndarray]:
    """The similarity of each decoy to every decoy, (n,), as `compare` has it."""
    for i in range(len(contacts.sizes)):
        yield contacts.similarity(i, contacts.common(i))


def contact_agreement(decoys: Decoys, quality: np.ndarray) -> pd.Series:
    """The share of the other decoys that have a contact, in [0, 1].

    They are weighted by the square of their quality.

    Parameters
    ----------
    decoys : n decoys of a target
    quality : estimated quality of each, shape (n,)

    Returns
    -------
    by `decoy`, and by `first` and `second`, what it calls the residues, such as `A:52A`, in
    alphabetical order; empty for a decoy that is alone
    """
    columns: dict[str, list] = {"decoy": [], "first": [], "second": [], "agreement": []}
    is_alone = len(decoys.names) < 2
    shares_of = [] if is_alone else decoys.contacts.shares(_weight(quality))
    for decoy, names, (pairs, shares) in zip(
        decoys.names, decoys.residues, shares_of, strict=False
    ):
        for one, other in pairs.tolist():
            first, second = pair_named(
                residue_named(names[one]), residue_named(names[other])
            )
            columns["first"].append(first)
            columns["second"].append(second)
        columns["decoy"] += [decoy] * len(pairs)
        columns["agreement"] += shares.tolist()
    table = pd.DataFrame(columns).astype({"agreement": float})
    return table.set_index(["decoy", "first", "second"])["agreement"]


def residue_agreement(of_contacts: pd.Series) -> pd.Series:
    """How far the other decoys agree with each on its interface residues, in [0, 1].

    It is the mean over the contacts of the residue.

    Parameters
    ----------
    of_contacts : as from `contact_agreement`

    Returns
    -------
    by `decoy` and `residue`, what it calls it
    """
    table = of_contacts.reset_index()
    ends = table.melt(["decoy", "agreement"], ["first", "second"], value_name="residue")
    return ends.groupby(["decoy", "residue"])["agreement"].mean()


@functools.lru_cache(maxsize=1 << 16)
def residue_named(residue: ResidueId) -> str:
    """What a decoy calls a residue, such as `A:52A`; the decoys of a target have the same ones."""
    return str(residue)


def pair_named(first: str, second: str) -> tuple[str, str]:
    """Two residues in the order of their names."""
    return (first, second) if first < second else (second, first)


def _weight(quality: np.ndarray) -> np.ndarray:
    return np.square(np.clip(quality, LEAST_QUALITY, 1.0))
