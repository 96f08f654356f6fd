"""The sequences of the chains of every target, and how the chains of its decoys correspond."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby
from operator import attrgetter

from toporank.building.chunks.chunk import making
from toporank.building.chunks.ledger import LedgerRow
from toporank.building.chunks.plan import PlannedDecoy
from toporank.building.chunks.store import Store
from toporank.chains.kmers import kind_of
from toporank.chains.partners import chain_map_text
from toporank.comparing.decoys import maps_of_target
from toporank.comparing.homology.chain_tables import ChainRow
from toporank.structures.identity import DecoyKey, Status


def target_chains(
    plan: Iterable[PlannedDecoy],
    fates: Mapping[DecoyKey, LedgerRow],
    earlier: Iterable[ChainRow],
    store: Store,
) -> list[ChainRow]:
    """The chains of every target with a graph, sorted by target.

    They are read from the decoy with most chains, the first by name of several.

    Parameters
    ----------
    plan : iterable of PlannedDecoy
        The decoys.
    fates : mapping
        (target, decoy) → its outcome.
    earlier : iterable of ChainRow
        What was read before; it is taken from there where the file is the same.
    store : Store
        The reuse store.

    Raises
    ------
    StructureError
        When a file is no longer what was built.
    """
    chosen: dict[str, PlannedDecoy] = {}
    for decoy in sorted(plan):
        fate, first = fates.get(decoy.key), chosen.get(decoy.target)
        if fate is None or fate.status != Status.OK:
            continue
        if first is None or fate.n_chains > fates[first.key].n_chains:
            chosen[decoy.target] = decoy
    rows_of_file: dict[tuple[str, str, str], list[ChainRow]] = {}
    for row in earlier:
        rows_of_file.setdefault(
            (row.target, row.decoy, row.structure_sha256), []
        ).append(row)
    rows = []
    for decoy in chosen.values():
        digest = fates[decoy.key].structure_sha256
        rows += rows_of_file.get((*decoy.key, digest)) or _read(decoy, digest, store)
    return rows


def correspondence_of(
    plan: Iterable[PlannedDecoy], fates: Mapping[DecoyKey, LedgerRow], store: Store
) -> dict[DecoyKey, str]:
    """Target and decoy → which chains of the target its chains are.

    As `correspondence.chain_map_text` writes it, of decoys whose interface is known.

    Raises StructureError when a file is no longer what was built.
    """
    correspondence = {}
    built = []
    for decoy in sorted(plan):
        fate = fates.get(decoy.key)
        if fate and fate.meetings:
            built.append(decoy)
    for target, decoys in groupby(built, key=attrgetter("target")):
        contents = {}
        for decoy in decoys:
            made = making(decoy, fates[decoy.key].structure_sha256, {}, store)
            contents[decoy.decoy] = made["contacts"]
        for name, chain_map in maps_of_target(contents.items()).items():
            correspondence[target, name] = chain_map_text(chain_map)
    return correspondence


def _read(decoy: PlannedDecoy, digest: str, store: Store) -> list[ChainRow]:
    """The chains of a decoy. digest : of its file."""
    made = making(decoy, digest, {}, store)
    complex_ = made["atoms"]
    made.save()
    names: dict[str, list[str]] = {}
    for name, sequence in complex_.sequences.items():
        names.setdefault(sequence, []).append(name)
    rows = []
    for sequence, of_sequence in names.items():
        row = ChainRow(
            target=decoy.target,
            decoy=decoy.decoy,
            structure_sha256=digest,
            chains=" ".join(of_sequence),
            kind=kind_of(sequence),
            sequence=sequence,
        )
        rows.append(row)
    return rows
