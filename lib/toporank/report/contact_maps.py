"""The contacts of a model as maps: residues of one partner against those of the other."""

from __future__ import annotations

import string
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from toporank.chains.partners import Partners
from toporank.lookup import places_of
from toporank.ranking.interface_words import SURE


def contact_maps(contacts: pd.DataFrame, partners: Partners) -> list[dict[str, Any]]:
    """Return a map for each two partners that touch, those with most contacts first.

    Each has `name`, such as `A:H+L`; `a` and `b`, the residues of either partner, such as `A 52
    LYS`, in order; `k`: for each contact the places of its residues in both, and its quality in
    per cent, one after the other; and `s`, the number of contacts with a quality of `SURE` or more.
    """
    partner_of: dict[str, str] = {}
    for chains in partners:
        partner_of |= dict.fromkeys(chains, "+".join(chains))
    of_pairs = defaultdict(list)
    for row in contacts.itertuples():
        first = partner_of.get(row.chain_1, row.chain_1)
        second = partner_of.get(row.chain_2, row.chain_2)
        residue_1 = _residue(row.chain_1, row.residue_1, row.residue_name_1)
        residue_2 = _residue(row.chain_2, row.residue_2, row.residue_name_2)
        quality = float(np.nan_to_num(row.pred_quality))
        of_pairs[f"{first}:{second}"].append((residue_1, residue_2, quality))
    maps = []
    for name, cells in of_pairs.items():
        residues_1, residues_2, _ = map(set, zip(*cells, strict=True))
        places_1 = places_of(sorted(residues_1))
        places_2 = places_of(sorted(residues_2))
        flat: list[int] = []
        for residue_1, residue_2, quality in cells:
            flat += places_1[residue_1], places_2[residue_2], round(100 * quality)
        drawn = {"name": name, "a": _labels(places_1), "b": _labels(places_2)}
        n_sure = sum(quality >= SURE for _, _, quality in cells)
        maps.append({**drawn, "k": flat, "s": n_sure})
    return sorted(maps, key=lambda drawn: -len(drawn["k"]))


def _residue(chain: str, residue: str, name: str) -> tuple[str, int, str, str]:
    """A residue such as 52A, to sort by: chain, number, insertion code and name."""
    digits = residue.rstrip(string.ascii_letters)
    return chain, int(digits), residue[len(digits) :], name


def _labels(residues: Iterable[tuple[str, int, str, str]]) -> list[str]:
    labels = []
    for chain, number, insertion, name in residues:
        labels.append(f"{chain} {number}{insertion} {name}".strip())
    return labels
