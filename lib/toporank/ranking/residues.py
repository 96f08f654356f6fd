"""residues.csv and contacts.csv.

They say how good each interface residue and each contact is thought to be. This module also
chooses the decoys for which that is shown.
"""

from __future__ import annotations

import pandas as pd

from toporank.tables.columns import CONTACTS, RESIDUES, Table
from toporank.tables.frames import typed

SHOWN = 3
"""Decoys of each target, by rank, that are shown by residue."""
TO_ANGSTROM = 2
"""Decimals of distances."""


def residue_rows(residues: pd.DataFrame) -> pd.DataFrame:
    """Return the table of residues. residues : as from `residue_quality.with_quality`."""
    return _rounded(residues.assign(**_places(residues["residue"])), RESIDUES)


def contact_rows(contacts: pd.DataFrame, residues: pd.DataFrame) -> pd.DataFrame:
    """Return the table of contacts.

    contacts, residues : as from `residue_quality.with_quality`.
    """
    name_of = residues.set_index(["decoy", "residue"])["residue_name"]
    table = contacts.assign(
        distance=contacts["distance"].astype(float).round(TO_ANGSTROM)
    )
    for number, end in ((1, "first"), (2, "second")):
        ends = pd.MultiIndex.from_frame(contacts[["decoy", end]])
        table[f"residue_name_{number}"] = name_of.reindex(ends).to_numpy()
        for name, values in _places(contacts[end]).items():
            table[f"{name}_{number}"] = values
    return _rounded(table, CONTACTS)


def _places(names: pd.Series) -> dict[str, pd.Series]:
    """Chain and number of residues such as `A:52A`."""
    parts = names.astype(str).str.extract("(?P<chain>.*):(?P<residue>.*)")
    return dict(parts.items())


def _rounded(frame: pd.DataFrame, table: Table) -> pd.DataFrame:
    return typed(frame, table.kinds).round(table.decimals)


def why_no_quality(n_scored: int, *, has_residues: bool, has_contacts: bool) -> str:
    """Return why residues.csv or contacts.csv has no row, in a sentence.

    It is empty if both have some, or no decoy is scored.

    Parameters
    ----------
    n_scored : decoys with a score
    has_residues, has_contacts : whether the tables have a row
    """
    if n_scored and not has_residues:
        return (
            "the scorer does not predict the quality of residues: residues.csv is empty"
        )
    if has_residues and not has_contacts:
        return (
            "contacts.csv is empty: the scorer looks at edges that do "
            "not say which atoms touch, or "
            "no residues touch"
        )
    return ""


def leading(table: pd.DataFrame, most: int = SHOWN) -> pd.DataFrame:
    """Return the scored models that are shown by residue.

    They are the first of each of the first ranks of each target.

    Parameters
    ----------
    table : as from `model_table`
    most : ranks of each target
    """
    scored = table[table["dockq"].notna() & (table["rank"] <= most)]
    return scored.drop_duplicates(["target", "rank"])
