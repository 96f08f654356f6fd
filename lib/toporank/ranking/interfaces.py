"""interfaces.csv: which partners of a decoy meet, how closely, and how good the interface is.

A decoy with several interfaces has one number: the mean of the DockQ of the whole and of the mean
over its main interfaces. Side contacts do not count: small ones of partners that have a large one
elsewhere. Where an antibody meets an antigen, the number is the mean over their interfaces alone
(docs/partners.md).
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import groupby, product
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from toporank.building.chunks.ledger import LedgerRow, read_meetings
from toporank.building.coverage import CoverageRow
from toporank.chains.kmers import ANTIBODY
from toporank.chains.partners import chains_of, partner_name, read_chain_map
from toporank.comparing.homology.chain_tables import ChainRow
from toporank.confidence.matrices import Matrices
from toporank.confidence.pair_confidence import OfPair, of_pairs
from toporank.errors import TopoRankError
from toporank.features.interface import Meeting
from toporank.metrics import ACCEPTABLE, MEDIUM
from toporank.scorer.prediction import DECIMALS, KEY, Score
from toporank.structures.identity import DecoyKey, Status

APART, ABSENT = "apart", "absent"
"""Status of an interface whose partners do not touch, and of one that a model with fewer copies of
a chain lacks.
"""

LISTED = 6
"""Interfaces or partners that a sentence names."""
LOOKS = {"doubtful": "is doubtful", "wrong": "looks wrong"}
LEAST = 10
"""Residues, and pairs of them, of a large interface; contacts of one that a third partner raises.
"""
MAIN, SIDE, BESIDE = "main", "side contact", "beside the antibody"
"""Roles of an interface: the number of the decoy is about the main ones."""


class InterfaceRow(NamedTuple):
    """Two partners of a decoy that touch in some decoy of its target.

    Numbers are None where they are not known.

    Attributes
    ----------
    interface : both partners, such as `A:H+L`, by the chains of the target
        (`comparing.correspondence`)
    n_ca_pairs : pairs of residues with CA atoms within the cutoff of the interface
    closest : Å, between CA atoms
    dockq : to expect of the interface
    network_sd : spread between the networks
    status : `ok`, `apart` or `failed`; where the decoy does not have both partners, `absent`, or
        that of the decoy
    chains : the same partners as the decoy's own file calls them; empty where it does not have both
    role : `MAIN`, `SIDE` or `BESIDE`; empty where the partners do not touch
    n_contacts : pairs of residues with heavy atoms nearer than 5 Å, the rows of contacts.csv
    looks : what it is in a word, see `word_of`
    pair_iptm, pair_pae : of the predictor, as in `confidence.pair_confidence`
    dockq_alone : DockQ before a third partner raised it
    """

    target: str
    decoy: str
    interface: str
    n_residues: int | None
    n_ca_pairs: int | None
    closest: float | None
    dockq: float | None
    network_sd: float | None
    status: str
    chains: str = ""
    role: str = ""
    n_contacts: int | None = None
    looks: str = ""
    pair_iptm: float | None = None
    pair_pae: float | None = None
    dockq_alone: float | None = None


def interface_table(
    coverage: Iterable[CoverageRow], fates: Mapping[DecoyKey, LedgerRow]
) -> list[InterfaceRow]:
    """Return each decoy of a target with each interface that any has, not scored.

    A partner that touches no other has a row with the nearest one. Rows are in order of target,
    decoy and name.
    """
    decoys = [
        row for row in coverage if row.status not in (Status.NO_DECOY, Status.NOT_BUILT)
    ]
    table = []
    for _, rows in groupby(decoys, key=attrgetter("target")):
        meetings = {row: _meetings(row, fates[row.target, row.decoy]) for row in rows}
        names = set()
        for of_decoy in meetings.values():
            names |= _named(of_decoy)
        for row, of_decoy in meetings.items():
            table += [_row(row, name, of_decoy.get(name)) for name in sorted(names)]
    return table


def _meetings(decoy: CoverageRow, fate: LedgerRow) -> dict[str, tuple[Meeting, str]]:
    """Pair of partners by chains of the target → how they meet, and what the decoy calls them."""
    chain_map = read_chain_map(decoy.chains)
    meetings = {}
    for meeting in read_meetings(fate):
        pair = []
        for partner in meeting[:2]:
            chains = sorted(chain_map.get(chain, chain) for chain in chains_of(partner))
            pair.append((partner_name(chains), partner))
        (first, first_of_file), (second, second_of_file) = sorted(pair)
        meetings[f"{first}:{second}"] = meeting, f"{first_of_file}:{second_of_file}"
    return meetings


def _named(meetings: Mapping[str, tuple[Meeting, str]]) -> set[str]:
    """The interfaces of a decoy, and the nearest partner of each that touches no other."""
    nearest: dict[str, tuple[bool, float, str]] = {}
    for name, (meeting, _) in meetings.items():
        for partner in name.split(":"):
            place = not meeting.contacts, meeting.closest, name
            nearest[partner] = min(place, nearest.get(partner, place))
    touching = {name for name, (meeting, _) in meetings.items() if meeting.contacts}
    return touching | {name for _, _, name in nearest.values()} if touching else set()


def _row(
    decoy: CoverageRow, name: str, met: tuple[Meeting, str] | None
) -> InterfaceRow:
    meeting, of_file = met or (None, "")
    status = decoy.status
    if meeting is None and status == Status.OK:
        status = ABSENT
    elif meeting and status != Status.ONE_BODY:
        status = Status.OK if meeting.contacts else APART
    return InterfaceRow(
        target=decoy.target,
        decoy=decoy.decoy,
        interface=name,
        n_residues=meeting and meeting.residues,
        n_ca_pairs=meeting and meeting.contacts,
        closest=meeting and meeting.closest,
        dockq=None,
        network_sd=None,
        status=status,
        chains=of_file,
    )


def scored_interfaces(
    table: Iterable[InterfaceRow], scores: Iterable[Score]
) -> list[InterfaceRow]:
    """Return the table with scores of interfaces.

    The only interface of a decoy has the score of the decoy.

    What cannot be scored, for instance since its few residues are incomplete, has failed.
    """
    table = list(table)
    n_touching = Counter(row[:2] for row in table if row.status == Status.OK)
    score_of = {}
    for score in scores:
        score_of[score.target, score.decoy, frozenset(score.interface.split(":"))] = (
            score
        )
    whole = frozenset([""])
    scored = []
    for row in table:
        if row.status == Status.OK:
            partners = frozenset((row.chains or row.interface).split(":"))
            of_row = score_of.get((*row[:2], partners))
            if of_row is None and n_touching[row[:2]] == 1:
                of_row = score_of.get((*row[:2], whole))
            if of_row is None:
                row = row._replace(status=Status.FAILED)
            else:
                row = row._replace(
                    dockq=of_row.pred_dockq,
                    network_sd=of_row.pred_sd,
                    dockq_alone=of_row.pred_dockq,
                )
        scored.append(row)
    return scored


def with_contacts(
    table: Iterable[InterfaceRow], contacts: pd.DataFrame
) -> list[InterfaceRow]:
    """Return the table with `n_contacts`, and with DockQ raised where a third partner asks for it.

    Partners that lie right to a third lie right to each other. So DockQ is no lower than that of
    the weaker of two such interfaces, as far as the contacts agree: no more than their mean quality
    (docs/research/scorer.md#several-interfaces). Few contacts say too little.

    contacts : as from `residue_quality.with_quality`
    """
    of_decoys: dict[DecoyKey, dict[frozenset[str], list[float]]] = {}
    columns = (contacts[name] for name in (*KEY, "first", "second", "pred_quality"))
    for target, decoy, *ends, quality in zip(*columns, strict=True):
        chains = frozenset(end.rpartition(":")[0] for end in ends)
        of_decoy = of_decoys.setdefault((target, decoy), {})
        of_decoy.setdefault(chains, []).append(quality)
    rows = []
    for key, group in groupby(table, key=itemgetter(0, 1)):
        of_decoy = of_decoys.get(key, {})
        of_model = list(group)
        dockq_of = {}
        for row in of_model:
            if row.dockq is not None:
                dockq_of[frozenset(row.interface.split(":"))] = row.dockq
        for row in of_model:
            if of_decoy and row.n_ca_pairs is not None:
                qualities = _qualities(row, of_decoy)
                row = row._replace(n_contacts=len(qualities))
                is_large = row.role != SIDE and len(qualities) >= LEAST
                if row.dockq is not None and is_large:
                    third = _by_third_partners(row.interface.split(":"), dockq_of)
                    agreed = min(third, float(np.mean(qualities)))
                    row = row._replace(dockq=max(row.dockq, round(agreed, DECIMALS)))
            rows.append(row)
    return rows


def dockq_of_chains(
    table: Iterable[InterfaceRow],
) -> dict[DecoyKey, dict[frozenset[str], float]]:
    """Return two chains of a decoy with several interfaces → DockQ to expect of theirs.

    Chains are those of the file.
    """
    dockq: dict[DecoyKey, dict[frozenset[str], float]] = {}
    for key, group in groupby(table, key=itemgetter(0, 1)):
        of_decoy: dict[frozenset[str], float] = {}
        n_scored = 0
        for row in group:
            if row.dockq is not None:
                n_scored += 1
                partners = (row.chains or row.interface).split(":")
                for pair in product(*map(chains_of, partners)):
                    of_decoy[frozenset(pair)] = row.dockq
        if n_scored > 1:
            dockq[key] = of_decoy
    return dockq


def _qualities(
    row: InterfaceRow, of_chains: Mapping[frozenset[str], list[float]]
) -> list[float]:
    """Qualities of the contacts of an interface, from those of pairs of chains."""
    first, second = map(chains_of, (row.chains or row.interface).split(":"))
    qualities = []
    for pair in product(first, second):
        qualities += of_chains.get(frozenset(pair), [])
    return qualities


def described(
    table: Iterable[InterfaceRow],
    contacts: pd.DataFrame,
    matrices: Callable[[DecoyKey], Matrices],
) -> list[InterfaceRow]:
    """Return the table with `looks`, and what predictors say of pairs in decoys with several.

    What their files lack, or why they are not used, confidence.csv says.

    Parameters
    ----------
    contacts : rows of contacts.csv
    matrices : those of a decoy; raises TopoRankError or OSError where there are none
    """
    of_decoys = dict(list(contacts.groupby(KEY)))
    rows = []
    for key, group in groupby(table, key=itemgetter(0, 1)):
        of_decoy = list(group)
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


def _if_known(value: float) -> float | None:
    return None if np.isnan(value) else round(value, DECIMALS)


def _by_third_partners(
    pair: list[str], dockq_of: Mapping[frozenset[str], float]
) -> float:
    """DockQ of the weaker interface of two partners with a third; the best of all thirds."""
    links: dict[str, list[float]] = {}
    for both, dockq in dockq_of.items():
        if len(both.intersection(pair)) == 1:
            (third,) = both.difference(pair)
            links.setdefault(third, []).append(dockq)
    return max((min(link) for link in links.values() if len(link) == 2), default=0.0)


def antibodies_of(chains: Iterable[ChainRow]) -> set[str]:
    """Return the chains of a target with a variable domain. chains : of the target."""
    names: set[str] = set()
    for row in chains:
        if row.kind == ANTIBODY:
            names.update(row.chains.split())
    return names


def with_roles(
    table: Iterable[InterfaceRow], antibodies: Collection[str] = ()
) -> list[InterfaceRow]:
    """Return the table with the role of each interface.

    A small one is main, too, where one of its partners has no large one.

    antibodies : chains of antibodies, nanobodies and T-cell receptors
    """
    rows = []
    for _, group in groupby(table, key=itemgetter(0, 1)):
        of_decoy = list(group)
        asked = _asked(of_decoy, antibodies)
        attached = _attached(of_decoy)
        main = set()
        for row in asked:
            both = row.interface.split(":")
            if _size(row) >= LEAST or not attached.issuperset(both):
                main.add(row)
        main = main or set(asked)
        for row in of_decoy:
            role = ""
            if row in main:
                role = MAIN
            elif row.n_ca_pairs:
                role = SIDE if row in asked else BESIDE
            rows.append(row._replace(role=role))
    return rows


def _asked(
    rows: Iterable[InterfaceRow], antibodies: Collection[str]
) -> list[InterfaceRow]:
    """The interfaces of a decoy in contact; of one with antibody and antigen, only theirs."""
    touching = []
    binding = []
    sides = set()
    for row in rows:
        of_row = set()
        for partner in row.interface.split(":"):
            of_row.add(set(chains_of(partner)).isdisjoint(antibodies))
        sides |= of_row
        if row.n_ca_pairs:
            touching.append(row)
            if len(of_row) > 1:
                binding.append(row)
    return binding if len(sides) > 1 else touching


def _attached(rows: Iterable[InterfaceRow]) -> set[str]:
    """The partners of a decoy that have a large interface."""
    attached = set()
    for row in rows:
        if _size(row) >= LEAST:
            attached.update(row.interface.split(":"))
    return attached


def _size(row: InterfaceRow) -> int:
    return min(row.n_residues or 0, row.n_ca_pairs or 0)


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

    row : of the table of interfaces, with its role
    """
    if row.role == MAIN:
        return quality_word(row.dockq)
    return row.role or row.status


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
    attached = _attached(rows)
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
        where = f" ({'; '.join(map(_sketched, touching))})"
        if not touching:
            nothing.append(name)
        elif attached and partner not in attached:
            weak.append(f"{name} is hardly attached{where}")
        elif is_about_all and not any(map(_is_right, touching)):
            best = max(row.dockq or 0.0 for row in touching)
            weak.append(f"{name} {LOOKS[quality_word(best)]}{where}")
    if len(nothing) == len(contacts):
        return ""
    if nothing:
        verb = "touches" if len(nothing) == 1 else "touch"
        weak.insert(0, f"{listed(nothing)} {verb} nothing")
    return listed(weak)


def _is_right(row: InterfaceRow) -> bool:
    return row.dockq is None or quality_word(row.dockq) == "right"


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
