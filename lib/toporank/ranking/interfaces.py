"""The interfaces of every decoy: which two partners meet, how closely, and how good their interface
is predicted.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import combinations, groupby, product
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from toporank.building.chunks.ledger import LedgerRow, read_meetings
from toporank.building.coverage import CoverageRow
from toporank.comparing.correspondence import read_chain_map
from toporank.features.interface import Meeting
from toporank.files.spreadsheets import read_rows, write_rows
from toporank.inputs.natural_partners import lines_of_targets
from toporank.scorer.prediction import DECIMALS, Score
from toporank.structures.identity import Status
from toporank.structures.immune import Domain, alike, domains_of
from toporank.structures.partners import chains_of, partner_name

MOST_HINTS = 3
MOST_CHAINS = 12
"""Chains of a target up to which a hint is short enough to be read."""
APART, ABSENT = "apart", "absent"
"""Status of an interface whose partners do not touch, and of one that a model with fewer copies of
a chain lacks.
"""


class InterfaceRow(NamedTuple):
    """Two partners of a decoy that touch in some decoy of its target; numbers are None where they
    are not known.

    interface : both partners, such as `A:H+L`, by the chains of the target
    (`comparing.correspondence`). dockq : to expect of the interface; network_sd : spread between
    the networks. n_contacts : pairs of residues with CA atoms within the cutoff of the interface.
    closest : Å, between CA atoms. status : `ok`, `apart` or `failed`; where the decoy does not have
    both partners, `absent`, or that of the decoy. chains : the same partners as the decoy's own
    file calls them; empty where it does not have both.
    """

    target: str
    decoy: str
    interface: str
    n_residues: int | None
    n_contacts: int | None
    closest: float | None
    dockq: float | None
    network_sd: float | None
    status: str
    chains: str = ""


COLUMNS = InterfaceRow._fields


def interface_table(
    coverage: Iterable[CoverageRow], fates: Mapping[tuple[str, str], LedgerRow]
) -> list[InterfaceRow]:
    """Each decoy of a target with each interface that any of them has, not scored; in order of
    target, decoy, name.
    """
    table = []
    decoys = [row for row in coverage if row.status not in (Status.NO_DECOY, Status.NOT_BUILT)]
    for _, rows in groupby(decoys, key=attrgetter("target")):
        known = [(row, _meetings(row, fates[row.target, row.decoy])) for row in rows]
        names = sorted(
            {
                name
                for _, meetings in known
                for name, (meeting, _) in meetings.items()
                if meeting.contacts
            }
        )
        for row, meetings in known:
            table += [_row(row, name, meetings.get(name)) for name in names]
    return table


def _meetings(decoy: CoverageRow, fate: LedgerRow) -> dict[str, tuple[Meeting, str]]:
    """Name of each pair of partners by the chains of the target → how they meet, and what the decoy
    calls them.
    """
    chain_map, known = read_chain_map(decoy.chains), {}

    def named(partner: str) -> str:
        chains = chains_of(partner)
        return partner_name(sorted(chain_map.get(chain, chain) for chain in chains))

    for meeting in read_meetings(fate):
        pairs = sorted((named(partner), partner) for partner in meeting[:2])
        name, own = (":".join(names) for names in zip(*pairs, strict=True))
        known[name] = meeting, own
    return known


def _row(decoy: CoverageRow, name: str, met: tuple[Meeting, str] | None) -> InterfaceRow:
    if met is None:
        status = ABSENT if decoy.status == Status.OK else decoy.status
        return InterfaceRow(decoy.target, decoy.decoy, name, None, None, None, None, None, status)
    meeting, own = met
    found = meeting.residues, meeting.contacts, meeting.closest
    status = Status.OK if meeting.contacts else APART
    if decoy.status == Status.ONE_BODY:
        status = decoy.status
    return InterfaceRow(decoy.target, decoy.decoy, name, *found, None, None, status, own)


def scored_interfaces(table: Iterable[InterfaceRow], scores: Iterable[Score]) -> list[InterfaceRow]:
    """The table with scores of interfaces; the only interface of a decoy has the score of the
    decoy.

    What cannot be scored, since its few residues are incomplete, say, has failed.
    """
    table, scores = list(table), list(scores)
    of_interface = {
        (*score[:2], frozenset(score.interface.split(":"))): score
        for score in scores
        if score.interface
    }
    of_decoy = {(score.target, score.decoy): score for score in scores if not score.interface}
    touching = Counter(row[:2] for row in table if row.status == Status.OK)
    for i, row in enumerate(table):
        if row.status == Status.OK:
            score = of_interface.get(
                (*row[:2], frozenset((row.chains or row.interface).split(":")))
            )
            score = score or (of_decoy.get(row[:2]) if touching[row[:2]] == 1 else None)
            table[i] = row._replace(status=Status.FAILED) if score is None else _scored(row, score)
    return table


def _scored(row: InterfaceRow, score: Score) -> InterfaceRow:
    return row._replace(dockq=score.pred_dockq, network_sd=score.pred_sd)


class Interfaces(NamedTuple):
    """How many interfaces a decoy has, and the smallest and the mean predicted DockQ of those that
    are scored.

    weakest : name of the interface with the smallest one, where there are several.
    """

    n_interfaces: int | None = None
    min_interface: float | None = None
    mean_interface: float | None = None
    weakest: str = ""


def of_each_decoy(table: Iterable[InterfaceRow]) -> dict[tuple[str, str], Interfaces]:
    """(target, decoy) → its interfaces; decoys without known interfaces are left out."""
    known: dict[tuple[str, str], list[InterfaceRow]] = {}
    for row in table:
        if row.n_contacts is not None:
            known.setdefault(row[:2], []).append(row)
    return {key: _summary(rows) for key, rows in known.items()}


def _summary(rows: list[InterfaceRow]) -> Interfaces:
    n_interfaces = sum(row.n_contacts > 0 for row in rows)
    predicted = {row.interface: row.dockq for row in rows if row.dockq is not None}
    if not predicted:
        return Interfaces(n_interfaces)
    weakest = min(predicted, key=lambda name: (predicted[name], name))
    return Interfaces(
        n_interfaces=n_interfaces,
        min_interface=predicted[weakest],
        mean_interface=round(statistics.fmean(predicted.values()), DECIMALS),
        weakest=weakest if len(predicted) > 1 else "",
    )


def scores_of_weakest(scores: Iterable[Score], table: Iterable[InterfaceRow]) -> list[Score]:
    """The scores of decoys, where one with several interfaces has that of its weakest interface if
    it is lower.

    The DockQ of a complex is a mean over its interfaces, so that of the weakest is not above it.
    table : as from `scored_interfaces`.
    """
    interfaces = of_each_decoy(table)
    found = []
    for score in scores:
        of_decoy = interfaces.get((score.target, score.decoy))
        if of_decoy and of_decoy.weakest and not score.interface:
            score = score._replace(pred_dockq=min(score.pred_dockq, of_decoy.min_interface))
        found.append(score)
    return found


def partners_hint(rows: Iterable[InterfaceRow], sequences: Mapping[str, str] | None = None) -> str:
    """Which two chains of a target may be one partner, in a sentence; empty if there are two
    chains.

    Where partners are given, the sentence says that models do not have the same ones, or that they
    part the chains of an antibody; otherwise it is empty. Two chains may be one partner if they
    touch in every decoy: those whose number of contacts changes least. Antibodies that are one
    partner need no hint, and two of their chains that are not were kept apart on purpose, or do not
    lie as in an antibody.

    sequences : of the chains of the target, by name.
    """
    domains = {name: domains_of(sequence) for name, sequence in (sequences or {}).items()}
    antibody = {name: of_chain for name, of_chain in domains.items() if of_chain}
    contacts: dict[str, list[int]] = {}
    rows = list(rows)
    if any(row.interface.count(":") != 1 for row in rows):
        return ""  # such a chain name could not be said
    if differing := _differing_partners(rows):
        return differing
    for row in rows:
        contacts.setdefault(row.interface, []).append(row.n_contacts or 0)
    chains = sorted({chain for name in contacts for chain in name.split(":")})
    always = {name: found for name, found in contacts.items() if min(found) > 0}
    if any("+" in chain for chain in chains):
        return _parted_antibody(chains, always, antibody)
    if (
        not 3 <= len(chains) <= MOST_CHAINS
        or not always
        or any(set(name.split(":")) <= set(antibody) for name in always)
    ):
        return ""
    name = min(
        always,
        key=lambda n: ((max(always[n]) - min(always[n])) / sum(always[n]), -sum(always[n]), n),
    )
    first, second = name.split(":")
    others = [chain for chain in chains if chain not in (first, second)]
    partners = ":".join([f"{first}+{second}", *others])
    return (
        f"{first} and {second} touch in every model; if they are one partner, say "
        f"partners={partners}"
    )


def _parted_antibody(
    partners: list[str], always: Iterable[str], antibody: Mapping[str, tuple[Domain, ...]]
) -> str:
    """A sentence where the two chains of an antibody are in different partners that were given;
    otherwise empty.

    They are the only chains with a variable domain in their partners; two heavy ones would be of
    two antibodies. always : interfaces of every decoy. antibody : chains with variable domains.
    """
    parts = {partner: chains_of(partner) for partner in partners}
    single = {
        p: own[0]
        for p, chains in parts.items()
        if len(own := [c for c in chains if c in antibody]) == 1
    }
    for name in sorted(always):
        both = name.split(":")
        pair = sorted(single[partner] for partner in both if partner in single)
        if (
            len(pair) < 2
            or any(len(antibody[c]) > 1 for c in pair)
            or alike(*(antibody[c][0] for c in pair))
        ):
            continue
        rest = sorted(chain for partner in both for chain in parts[partner] if chain not in pair)
        better = [
            partner_name(pair),
            *filter(None, [partner_name(rest)]),
            *(p for p in partners if p not in both),
        ]
        first, second = (partner_name([chain]) for chain in pair)
        return (
            f"{first} and {second} look like one antibody, but {':'.join(partners)} parts them: say"
            f" partners={':'.join(better)}, or scores are of their contacts, too"
        )
    return ""


def _differing_partners(rows: list[InterfaceRow]) -> str:
    """A sentence where a chain is in different partners in different models; empty if it is not.

    The partners that a user gives name copies of a chain. In a model that calls them otherwise they
    go by their order.
    """
    models: dict[str, str] = {}
    for row in rows:
        if row.n_contacts:
            models.setdefault(row.interface, row.decoy)
    joined = [name for name in sorted(models) if "+" in name]
    for one, other in combinations(joined, 2):
        for first, second in product(
            *({frozenset(chains_of(p)) for p in name.split(":")} for name in (one, other))
        ):
            if first & second and first - second and second - first:
                return (
                    f"models have different partners, {models[one]} {one} and {models[other]} "
                    f"{other} by the chains of"
                    " the target, and scores of different interfaces: call the copies of a chain "
                    "alike in all models"
                )
    return ""


def for_command(hint: str) -> str:
    """A hint as one types it after `toporank score`; in Python and for Snakemake it is as it was.

    >>> for_command("if they are one partner, say partners=H+L:A")
    'if they are one partner, say --partners H+L:A'
    """
    return hint.replace("say partners=", "say --partners ")


def hints(
    table: Iterable[InterfaceRow], sequences: Mapping[str, Mapping[str, str]] | None = None
) -> list[str]:
    """Which chains may be one partner: a line for each of the first different hints, with the
    targets it is for.

    sequences : as from `chain_tables.sequences_of_chains`.
    """
    known = sequences or {}
    of_hint: dict[str, list[str]] = {}
    for target, rows in groupby(table, key=attrgetter("target")):
        if hint := partners_hint(rows, known.get(target)):
            of_hint.setdefault(hint, []).append(target)
    return lines_of_targets(of_hint)[:MOST_HINTS]


def write_interfaces(path: Path | str, table: Iterable[InterfaceRow]) -> None:
    """Write interfaces.csv."""
    write_rows(path, COLUMNS, table)


def read_interfaces(path: Path | str) -> list[InterfaceRow]:
    """Read interfaces.csv."""
    kinds = {
        "n_residues": int,
        "n_contacts": int,
        "closest": float,
        "dockq": float,
        "network_sd": float,
    }
    return [
        InterfaceRow(
            *((kinds[c](row[c]) if row[c] else None) if c in kinds else row[c] for c in COLUMNS)
        )
        for row in read_rows(path)
    ]
