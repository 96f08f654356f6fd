"""What people read of the interfaces of a model: which are right, which partner is weak."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby, product
from operator import itemgetter
from typing import Any

import numpy as np
import pandas as pd

from toporank.chains.partners import chains_of
from toporank.confidence.matrices import Matrices
from toporank.confidence.pair_confidence import OfPair, of_pairs
from toporank.errors import TopoRankError
from toporank.metrics import ACCEPTABLE, MEDIUM
from toporank.ranking.interfaces import APART, BESIDE, MAIN, InterfaceRow, attached
from toporank.scorer.prediction import DECIMALS, KEY
from toporank.structures.identity import DecoyKey

LISTED = 6
"""Interfaces or partners that a sentence names."""
CLASH = 3.0
"""Å between CA atoms of two partners, below which they run through each other."""
LOOKS = {"doubtful": "is doubtful", "wrong": "looks wrong"}
SURE = 0.5
"""Quality from which a contact counts as good."""


def quality_word(dockq: float | None) -> str:
    """Return what DockQ to expect of an interface means in a word, by the digits that are shown.

    >>> quality_word(0.6), quality_word(0.227), quality_word(0.1), quality_word(None)
    ('right', 'doubtful', 'wrong', 'no score')
    """
    if dockq is None or pd.isna(dockq):
        return "no score"
    shown = round(dockq, 2)
    if shown >= MEDIUM:
        return "right"
    return "doubtful" if shown >= ACCEPTABLE else "wrong"


def word_of(row: Any) -> str:
    """Return what an interface is: of a main one how good, of any other why it does not count.

    One that looks right only by a third partner is doubtful where few of its contacts are good.

    row : of the table of interfaces, with its role
    """
    if row.role != MAIN:
        return row.role or row.status
    word = quality_word(row.dockq)
    if word == "right" and is_contradicted(row) and not _has_good_contacts(row):
        return "doubtful"
    return word


def _has_good_contacts(row: Any) -> bool:
    """Whether half of the contacts or more are good; so, too, where it is not known."""
    if pd.isna(row.good_contacts) or not row.n_contacts:
        return True
    return 2 * row.good_contacts >= row.n_contacts


def in_a_word(row: Any) -> str:
    """Return what people read of an interface.

    It is `word_of`, with the distance of partners that are apart, and with its own DockQ where that
    alone looks wrong and a third partner raised it.
    """
    word = word_of(row)
    if word == APART:
        return f"{word}, {row.closest:.0f} Å"
    return f"{word}, alone {row.dockq_alone:.2f}" if is_contradicted(row) else word


def is_contradicted(row: Any) -> bool:
    """Return whether an interface looks wrong alone, and better only by a third partner."""
    if row.role != MAIN or pd.isna(row.dockq_alone) or pd.isna(row.dockq):
        return False
    is_better = quality_word(row.dockq) != "wrong"
    return is_better and quality_word(row.dockq_alone) == "wrong"


def described(
    table: Iterable[InterfaceRow],
    contacts: pd.DataFrame,
    matrices: Callable[[DecoyKey], Matrices],
) -> list[InterfaceRow]:
    """Return the table with `good_contacts` and `looks`, and what predictors say of pairs.

    They say it of decoys with several.

    What their files lack, or why they are not used, confidence.csv says.

    Parameters
    ----------
    contacts : rows of contacts.csv
    matrices : those of a decoy; raises TopoRankError or OSError where there are none
    """
    of_decoys = dict(list(contacts.groupby(KEY)))
    good_of = _good_contacts(contacts)
    rows = []
    for key, group in groupby(table, key=itemgetter(0, 1)):
        of_decoy = [_with_good_contacts(row, good_of) for row in group]
        known = [row for row in of_decoy if row.n_ca_pairs is not None]
        said: dict[str, OfPair] = {}
        if len(known) > 1 and key in of_decoys:
            pairs = [row.chains or row.interface for row in known]
            with contextlib.suppress(TopoRankError, OSError):
                said = of_pairs(matrices(key), of_decoys[key], pairs)
        for row in of_decoy:
            pair = said.get(row.chains or row.interface, OfPair())
            rows.append(
                row._replace(
                    looks=word_of(row),
                    pair_iptm=_if_known(pair.iptm),
                    pair_pae=_if_known(pair.pae),
                )
            )
    return rows


def _good_contacts(contacts: pd.DataFrame) -> dict[DecoyKey, Counter[frozenset[str]]]:
    """Decoy → two of its chains → how many contacts of theirs are good.

    Decoys whose contacts have no quality are left out.
    """
    known = contacts[contacts["pred_quality"].notna()]
    good_of: dict[DecoyKey, Counter[frozenset[str]]] = {}
    columns = (known[name] for name in (*KEY, "chain_1", "chain_2", "pred_quality"))
    for target, decoy, *chains, quality in zip(*columns, strict=True):
        of_decoy = good_of.setdefault((target, decoy), Counter())
        of_decoy[frozenset(chains)] += quality >= SURE
    return good_of


def _with_good_contacts(
    row: InterfaceRow, good_of: Mapping[DecoyKey, Counter[frozenset[str]]]
) -> InterfaceRow:
    of_decoy = good_of.get(row[:2])
    if of_decoy is None or not row.n_contacts:
        return row
    first, second = map(chains_of, (row.chains or row.interface).split(":"))
    n_good = sum(of_decoy[frozenset(pair)] for pair in product(first, second))
    return row._replace(good_contacts=n_good)


def _if_known(value: float) -> float | None:
    return None if np.isnan(value) else round(value, DECIMALS)


def best_first(table: pd.DataFrame) -> pd.DataFrame:
    """Return interfaces in the order in which people read them."""
    return table.sort_values(["dockq", "interface"], ascending=[False, True])


def apart(rows: Iterable[InterfaceRow]) -> list[str]:
    """Return which partners of a decoy touch no other, in sentences. rows : of the decoy."""
    nearest: dict[str, tuple[float, str]] = {}
    touching = set()
    for row in rows:
        if row.n_ca_pairs is None or row.closest is None:
            continue
        partners = (row.chains or row.interface).split(":")
        if row.n_ca_pairs:
            touching.update(partners)
        for partner, other in (partners, partners[::-1]):
            place = row.closest, other
            nearest[partner] = min(place, nearest.get(partner, place))
    return [
        f"partner {partner} touches no other (the closest is {other}, {closest:.1f} Å away)"
        for partner, (closest, other) in sorted(nearest.items())
        if partner not in touching
    ]


def clashes(rows: Iterable[InterfaceRow]) -> list[str]:
    """Return which partners of a decoy run through each other. rows : of the decoy."""
    found = []
    for row in rows:
        if row.n_ca_pairs and row.closest is not None and row.closest < CLASH:
            both = " and ".join((row.chains or row.interface).split(":"))
            far = f"{row.closest:.1f} Å apart"
            found.append(f"{both} clash: their closest CA atoms are {far}")
    return found


def weak_partners(rows: Iterable[InterfaceRow]) -> str:
    """Return which partners of a decoy touch nothing or little, or look wrong, in words.

    Of three partners or more each needs an interface that looks right
    (docs/research/scorer.md#several-interfaces).

    rows : of the decoy, with roles

    Examples
    --------
    >>> touch = ("A:B", 86, 0.8, MAIN), ("B:C", 4, 0.04, MAIN), ("A:D", 0, None, "")
    >>> weak_partners(
    ...     InterfaceRow("T", "m", name, n, n, 5.0, dockq, None, "ok", role=role)
    ...     for name, n, dockq, role in touch
    ... )
    'D touches nothing and C is hardly attached (B:C, 4 residues, 0.04)'
    """
    rows = [row for row in rows if row.n_ca_pairs is not None]
    large = attached(rows)
    contacts: dict[tuple[str, str], list[InterfaceRow]] = {}
    for row in rows:
        names = (row.chains or row.interface).split(":")
        for place in zip(names, row.interface.split(":"), strict=True):
            of_partner = contacts.setdefault(place, [])
            if row.n_ca_pairs:
                of_partner.append(row)
    asked = [row for row in rows if row.role == MAIN]
    has_three = len(set(":".join(row.interface for row in asked).split(":"))) > 2
    is_about_all = has_three and all(row.role != BESIDE for row in rows)
    if is_about_all and not any(map(_is_right, asked)):
        return "no interface looks right"
    nothing = []
    weak = []
    for (name, partner), touching in sorted(contacts.items()):
        main = [row for row in touching if row.role == MAIN] or touching
        where = f" ({'; '.join(map(_sketched, main))})"
        if not touching:
            nothing.append(name)
        elif large and partner not in large:
            weak.append(f"{name} is hardly attached{where}")
        elif is_about_all and not any(map(_is_right, main)):
            best = max(main, key=lambda row: row.dockq or 0.0)
            weak.append(f"{name} {LOOKS[word_of(best)]}{where}")
    if len(nothing) == len(contacts):
        return ""
    if nothing:
        verb = "touches" if len(nothing) == 1 else "touch"
        weak.insert(0, f"{listed(nothing)} {verb} nothing")
    return listed(weak)


def all_have_a_right_one(rows: Iterable[InterfaceRow]) -> bool:
    """Return whether each partner of the main interfaces of a decoy has one that looks right."""
    partners = set()
    right = set()
    for row in rows:
        if row.role == MAIN:
            both = row.interface.split(":")
            partners.update(both)
            if word_of(row) == "right":
                right.update(both)
    return partners == right


def _is_right(row: InterfaceRow) -> bool:
    return row.dockq is None or word_of(row) == "right"


def _sketched(row: InterfaceRow) -> str:
    """Name, size and DockQ of an interface, such as `B:C, 4 residues, 0.04`."""
    name = row.chains or row.interface
    size = f"{row.n_residues} residue{'s' * (row.n_residues != 1)}"
    return f"{name}, {size}" + ("" if row.dockq is None else f", {row.dockq:.2f}")


def listed(items: Sequence[str], before_last: str = "and") -> str:
    """Items with commas, and a word before the last, at most `LISTED`."""
    n_more = len(items) - LISTED
    items = [*items[:LISTED], f"{n_more} more"] if n_more > 0 else [*items]
    return f" {before_last} ".join(filter(None, [", ".join(items[:-1]), *items[-1:]]))
