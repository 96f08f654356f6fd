"""ipTM and PAE of each two partners of a model."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import pandas as pd

from toporank.chains.partners import chains_of
from toporank.confidence.matrices import Matrices


class OfPair(NamedTuple):
    """Confidence in two partners; nan where it is unknown.

    Attributes
    ----------
    iptm : the highest of their chains
    pae : mean of their contacts, Å
    """

    iptm: float = np.nan
    pae: float = np.nan


def of_pairs(
    matrices: Matrices, contacts: pd.DataFrame, pairs: Iterable[str]
) -> dict[str, OfPair]:
    """Return the confidence of a predictor in pairs of partners of a model.

    Parameters
    ----------
    matrices : of the model
    contacts : its rows of contacts.csv
    pairs : such as `A:H+L`, by the chains of its file
    """
    place_of = {str(residue): place for place, residue in enumerate(matrices.residues)}
    names = contacts[["chain_1", "residue_1", "chain_2", "residue_2"]]
    found = {}
    for pair in pairs:
        first, second = map(chains_of, pair.split(":"))
        errors = []
        for chain_1, residue_1, chain_2, residue_2 in names.itertuples(index=False):
            both = {chain_1 in first, chain_2 in first}
            ends = f"{chain_1}:{residue_1}", f"{chain_2}:{residue_2}"
            is_of_pair = len(both) == 2 and {chain_1, chain_2} & set(second)
            if matrices.pae is not None and is_of_pair and place_of.keys() >= set(ends):
                i, j = map(place_of.get, ends)
                errors += [matrices.pae[i, j], matrices.pae[j, i]]
        pae = float(np.mean(errors)) if errors else np.nan
        found[pair] = OfPair(_iptm(matrices, first, second), pae)
    return found


def _iptm(matrices: Matrices, first: tuple[str, ...], second: tuple[str, ...]) -> float:
    if matrices.pair_iptm is None or not {*first, *second} <= {*matrices.chains}:
        return np.nan
    both_ways = np.fmax(matrices.pair_iptm, matrices.pair_iptm.T)
    rows = np.isin(matrices.chains, first)
    columns = np.isin(matrices.chains, second)
    return float(np.fmax.reduce(both_ways[np.ix_(rows, columns)], axis=None))
