"""interfaces.csv: which partners of a decoy meet, how closely, and how good the interface is.

A decoy with several interfaces has one number: the mean of the DockQ of the whole and of the mean
over its main interfaces. Side contacts do not count: small ones of partners that have a large one
elsewhere. Where an antibody meets an antigen, the number is the mean over their interfaces alone
(docs/partners.md).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from itertools import groupby, product
from operator import attrgetter, itemgetter
from typing import NamedTuple

import numpy as np
import pandas as pd

from toporank.building.chunks.ledger import LedgerRow, read_meetings
from toporank.building.coverage import CoverageRow
from toporank.chains.kmers import ANTIBODY
from toporank.chains.partners import chains_of, partner_name, read_chain_map
from toporank.comparing.homology.chain_tables import ChainRow
from toporank.features.interface import Meeting
from toporank.scorer.prediction import DECIMALS, KEY, Score
from toporank.structures.identity import DecoyKey, Status

APART, ABSENT = "apart", "absent"
"""Status of an interface whose partners do not touch, and of one that a model with fewer copies of
a chain lacks.
"""

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
    good_contacts : contacts with a quality of `SURE` or more
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
    good_contacts: int | None = None


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
        large = attached(of_decoy)
        main = set()
        for row in asked:
            both = row.interface.split(":")
            if _size(row) >= LEAST or not large.issuperset(both):
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


def attached(rows: Iterable[InterfaceRow]) -> set[str]:
    """Return the partners of a decoy that have a large interface."""
    large = set()
    for row in rows:
        if _size(row) >= LEAST:
            large.update(row.interface.split(":"))
    return large


def _size(row: InterfaceRow) -> int:
    return min(row.n_residues or 0, row.n_ca_pairs or 0)
