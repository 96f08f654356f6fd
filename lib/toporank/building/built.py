"""The decoys of a data set with the outcome of each.

The steps after the features begin with it.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from toporank import layout
from toporank.building.chunks.artefacts import Artefacts
from toporank.building.chunks.chunk import artefact, interface_graphs, making
from toporank.building.chunks.ledger import LedgerRow, last_fates, read_meetings
from toporank.building.chunks.plan import (
    PlannedDecoy,
    by_key,
    read_chunks,
    what_was_built,
)
from toporank.building.chunks.store import Store
from toporank.building.coverage import CoverageRow, read_coverage
from toporank.building.local_quality import LocalQualities
from toporank.building.packing import Member, write_pack
from toporank.chains.partners import parse_partners
from toporank.confidence.examine import DecoyFile
from toporank.confidence.matrices import Matrices, matrices_of
from toporank.features.registry import FeatureChoice
from toporank.structures.identity import DecoyKey, Status


class Built(NamedTuple):
    """plan : every decoy by target and name. fates : the outcome of those that were built."""

    plan: dict[DecoyKey, PlannedDecoy]
    fates: dict[DecoyKey, LedgerRow]

    @classmethod
    def of(cls, plan: Iterable[PlannedDecoy], fates: Iterable[LedgerRow]) -> Built:
        """From rows in any order."""
        return cls(by_key(plan), by_key(fates))

    def made(self, key: DecoyKey, store: Store) -> Artefacts:
        """What is made of a decoy that was built, without features."""
        fate = self.fates[key]
        return making(self.plan[key], fate.structure_sha256, {}, store)


def read_built(dataset: str, *, fates: bool = True) -> Built:
    """The decoys of a data set of the working directory, as its last run recorded them.

    Parameters
    ----------
    dataset : str
        Its name.
    fates : bool
        Whether its ledgers are read, too.

    Raises
    ------
    RecordError
        When a record is damaged.
    """
    current = what_was_built(dataset)
    plan = read_chunks(dataset, current.of_all)
    return Built(plan, last_fates(dataset, current) if fates else {})


def read_part(dataset: str, chunks: Iterable[str], *, fates: bool) -> Built:
    """The decoys of a part of a data set: those of its chunks. Raises as `read_built`."""
    plan = read_chunks(dataset, chunks)
    current = what_was_built(dataset)
    if not fates:
        return Built(plan, {})
    if current.chunks == current.of_all:
        current = current._replace(chunks=list(chunks), of_all=list(chunks))
    return Built(plan, last_fates(dataset, current))


def confidence_requests(
    coverage: Iterable[CoverageRow], built: Built, store: Store
) -> Iterator[DecoyFile]:
    """What `confidence.confidences.confidences` takes, in the order of coverage.

    It leaves out labels without a decoy.
    """
    for row in coverage:
        if row.status in (Status.NO_DECOY, Status.NOT_BUILT):
            continue
        decoy = built.plan[row.target, row.decoy]
        fate = built.fates.get(decoy.key)
        made = built.made(decoy.key, store) if fate and fate.structure_sha256 else None
        yield DecoyFile(
            *decoy.key,
            Path(decoy.path) if decoy.path else None,
            parse_partners(decoy.partners) if decoy.partners else (),
            functools.partial(made.__getitem__, "atoms") if made else None,
            functools.partial(made.__getitem__, "in_file") if made else None,
            decoy.model,
            bool(decoy.of_monomers),
        )


def matrices_of_decoy(built: Built, key: DecoyKey, store: Store) -> Matrices:
    """What the predictor of a decoy says of pairs of residues and of chains.

    Raises TopoRankError or OSError as `matrices_of`, or when the decoy cannot be read.
    """
    decoy = built.plan[key]
    made = built.made(key, store)
    partners = parse_partners(decoy.partners) if decoy.partners else ()
    complex_ = made["atoms"].with_partners(partners)
    return matrices_of(Path(decoy.path), complex_, made["in_file"].b_factors)


class GraphsToPack(NamedTuple):
    """The members of the packs of a data set.

    decoys : the graph of each decoy that is scored. interfaces : those of the interfaces of decoys
    that have several, or that are not scored as a whole. joined : in how many of the first a
    partner has several chains.
    """

    decoys: list[Member]
    interfaces: list[Member]
    joined: int


def graphs_to_pack(
    coverage: Iterable[CoverageRow],
    built: Built,
    choices: dict[str, FeatureChoice],
    store: Store,
    *,
    whole: bool = False,
    left_out: Collection[DecoyKey] = (),
) -> GraphsToPack:
    """The members of both packs of a data set, in the order of coverage and in that of names.

    Parameters
    ----------
    coverage : iterable of CoverageRow
        The outcome of each decoy.
    built : Built
        The decoys.
    choices, store : dict, Store
        The feature modules, and the reuse store.
    whole : bool
        Leave out what nobody learns from: interfaces, and decoys with a partner apart.
    left_out : collection of DecoyKey
        Decoys whose interfaces alone are scored.

    Raises
    ------
    RecordError
        When a graph is not in the store and cannot be made as it was.
    """
    pack = Packing(choices, store)
    members, parts, n_joined = [], [], 0
    for row in coverage:
        fate = built.fates.get((row.target, row.decoy))
        if fate is None:
            continue
        decoy, meetings = built.plan[fate.key], read_meetings(fate)
        is_scored = row.is_scored and fate.key not in left_out
        if is_scored and not (whole and row.status == Status.PARTNER_APART):
            n_joined += any("+" in meeting.interface for meeting in meetings)
            members.append(pack.member(decoy, fate, row.split, fate.graphs))
        n_touching = sum(meeting.contacts > 0 for meeting in meetings)
        # the graph of a scored decoy with one interface is that of the interface
        is_one = n_touching <= 1 and is_scored
        if fate.status == Status.OK and row.status != Status.ONE_BODY and not is_one:
            parts.append((decoy, fate))
    of_interfaces = () if whole else interface_graphs(sorted(parts))
    return GraphsToPack(
        members, [pack.member(*part) for part in of_interfaces], n_joined
    )


def pack_graphs(
    dataset: str,
    table: Path,
    pack: Path,
    choices: dict[str, FeatureChoice],
    store: Store,
    natives: Mapping[str, Path],
) -> tuple[int, int]:
    """Pack the graphs of all good decoys of a data set, and what natives say of their edges.

    Parameters
    ----------
    dataset, table : str, Path
        The data set, and its coverage.tsv.
    pack : Path
        Written; graphs that are in it already are copied.
    choices, store : dict, Store
        The feature modules, and the reuse store.
    natives : mapping
        Target → file of its native; empty without natives.

    Returns
    -------
    tuple of int
        How many graphs are in the pack, and how many of them were read.
    """
    built = read_built(dataset)
    chunks = what_was_built(dataset).of_all
    qualities = LocalQualities(dataset, chunks, built.fates, natives, store)
    coverage = read_coverage(table)
    to_pack = graphs_to_pack(coverage, built, choices, store, whole=True)
    members = []
    for member in to_pack.decoys:
        quality = qualities.digest((member.target, member.decoy))
        members.append(member._replace(quality_sha256=quality))
    n_read = write_pack(pack, members, to_pack.joined, qualities.of)
    return len(members), n_read


class Packing(NamedTuple):
    """What makes graphs that are not in the store."""

    choices: dict[str, FeatureChoice]
    store: Store

    def member(
        self, decoy: PlannedDecoy, fate: LedgerRow, split: str, digest: str
    ) -> Member:
        """A graph as a member of a pack.

        split : of the decoy, or the name of an interface. digest : of the graph.
        """
        content = functools.partial(
            artefact, layout.STAGES[-1], digest, decoy, fate, self.choices, self.store
        )
        return Member(*decoy.key, split, Path(*decoy.key), digest, content)
