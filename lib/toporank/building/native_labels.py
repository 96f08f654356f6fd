"""The labels of the decoys of a chunk, from the natives of their targets."""

from __future__ import annotations

import functools
import hashlib
import json
import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from toporank import layout
from toporank.building.chunks.artefacts import Artefacts, artefacts_of
from toporank.building.chunks.chunk import decoy_content, making
from toporank.building.chunks.plan import PlannedDecoy, by_key, planned, read_chunk
from toporank.building.chunks.stages import Source, code_digest, structure_digest
from toporank.building.chunks.store import Entry, Store
from toporank.chains.body_names import sentence_of_pairs
from toporank.chains.immune import bodies_of, pairs_of
from toporank.chains.partners import (
    EACH_CHAIN,
    mapping_text,
    partners_text,
    sorted_text,
)
from toporank.chains.resolve import Chosen, Natives, of_complex
from toporank.comparing.copies import are_copies
from toporank.comparing.native.label import Native, NativeLabel, label
from toporank.errors import (
    LabelError,
    NativeError,
    OtherProteinError,
    RecordError,
    StructureError,
)
from toporank.files.atomic import write_text
from toporank.files.state import state_if_there
from toporank.finding.look import sketches
from toporank.finding.natives import natives_of
from toporank.structures.complex import Complex
from toporank.structures.identity import Decoy, DecoyKey, Status, status_of_error

log = logging.getLogger(__name__)

DECIMALS = 6
STATUS_OF = {
    NativeError: Status.NO_NATIVE,
    OtherProteinError: Status.OTHER_PROTEIN,
    LabelError: Status.FAILED,
    StructureError: Status.UNREADABLE,
}


NativeFile = tuple[str, int, int]
"""Path, and the two numbers of its state."""


class InterfaceLabel(NamedTuple):
    """One interface of a decoy.

    interface : the partners that meet, by chains of the decoy, as `partners.partners_text` writes
    them; native : the same by chains of the native. irmsd, lrmsd : Å.
    """

    interface: str
    native: str
    dockq: float
    fnat: float
    irmsd: float
    lrmsd: float


class LabelledDecoy(NamedTuple):
    """The labels of a decoy by its native. dockq is None for a decoy without a label.

    `reason` says why, or what was left out.

    partners : of the native, empty when each chain is one. mapping : as from
        `chains.partners.mapping_text`.
    counterparts : digest of what `Labelling.counterparts` gives, and of the native; empty without
        a label.
    joined : which chains of the native are one partner by nature, in a sentence; empty where
        partners are given.
    molecules : which chain is several molecules, or may be, in a sentence.
    is_native : whether it has the atoms of the native.
    """

    target: str
    decoy: str
    partners: str
    dockq: float | None
    mapping: str
    status: str
    reason: str
    interfaces: tuple[InterfaceLabel, ...] = ()
    counterparts: str = ""
    joined: str = ""
    molecules: str = ""
    is_native: bool = False

    @property
    def key(self) -> DecoyKey:
        """Identity within the data set."""
        return self.target, self.decoy


def label_chunk(
    dataset: str, chunk: str, natives: Mapping[str, Path], store: Store
) -> list[LabelledDecoy]:
    """Label the decoys of a chunk and write the result.

    A decoy that cannot be labelled gets a status. A full disk or lack of memory is no decoy's
    fault: it ends the job.

    Parameters
    ----------
    dataset, chunk : str
        Whose plan is read.
    natives : mapping
        As for `Labelling`.
    store : Store
        The reuse store.
    """
    labelling = Labelling(natives, store)
    rows = [labelling.label(member) for member in read_chunk(dataset, chunk)]
    path = layout.LABELLED.format(dataset=dataset, chunk=chunk)
    write_text(path, json.dumps(rows, indent=0) + "\n")
    labelled = sum(row.dockq is not None for row in rows)
    computed = dict(store.computed) or 0
    log.info(
        f"{dataset} {chunk}: {len(rows)} models, {labelled} labelled; computed {computed}"
    )
    return rows


def read_labelled(dataset: str, chunks: Iterable[str]) -> list[LabelledDecoy]:
    """What `label_chunk` wrote of these chunks.

    Raises RecordError when a file is something else.
    """
    rows = []
    for chunk in chunks:
        path = Path(layout.LABELLED.format(dataset=dataset, chunk=chunk))
        try:
            for cells in json.loads(path.read_text(encoding="utf-8")):
                row = LabelledDecoy(*cells)
                interfaces = tuple(
                    InterfaceLabel(*interface) for interface in row.interfaces
                )
                rows.append(row._replace(interfaces=interfaces))
        except (ValueError, TypeError) as error:
            what = f"not the labels of a chunk: {error}"
            raise RecordError(what, where=path, remedy="delete it") from error
    return sorted(rows)


def dockq_of(dataset: str, chunk: str) -> dict[DecoyKey, float]:
    """(target, decoy) → DockQ of the decoys of a chunk that have one."""
    return {
        row.key: row.dockq
        for row in read_labelled(dataset, [chunk])
        if row.dockq is not None
    }


@dataclass
class _NativeFile:
    """The native of a target.

    It is read when somebody needs it, and its contacts are computed when a label has to be.

    partners : as text; empty where the chains of a body are one partner by nature.
    unclear : why it is not clear which file it is.
    """

    path: Path | None
    partners: str
    store: Store
    unclear: str = ""

    @functools.cached_property
    def made(self) -> Artefacts:
        """Its values, with the atoms in the reuse store. Raises NativeError."""
        if self.unclear:
            raise NativeError(
                self.unclear, remedy="name the right one after the target"
            )
        if self.path is None:
            remedy = "put one into the folder of natives"
            raise NativeError("the target has no native", remedy=remedy)
        try:
            source = Source(self.path, structure_digest(self.path))
            made = artefacts_of(source, self.store, {})
            made.entry("atoms")
        except StructureError as error:
            what = f"the native {self.path} cannot be read: {error.what}"
            raise NativeError(what, remedy=error.remedy) from error
        made.save()
        return made

    @functools.cached_property
    def complex(self) -> Complex:
        return self.made["atoms"]

    @functools.cached_property
    def native(self) -> Native:
        partners = of_complex(self.complex.protein_chains, self.partners)
        try:
            return Native(self.complex, partners, are_given=bool(self.partners))
        except NativeError as error:
            raise NativeError(
                f"{error.what}, in {self.path}", remedy=error.remedy
            ) from error

    @functools.cached_property
    def joined(self) -> str:
        """Which chains TopoRank takes for one partner, in a sentence.

        It is empty where partners are given.
        """
        if self.partners:
            return ""
        partners = of_complex(self.complex.protein_chains)
        sentence = sentence_of_pairs(partners, pairs_of(self.complex.protein_chains))
        return sentence and f"in the native, {sentence}"


class Labelling:
    """What the natives of targets say of decoys, taken from the store or computed.

    natives : as `finding.natives.find_natives` finds them.
    """

    def __init__(self, natives: Mapping[str, Path], store: Store):
        self._natives, self._store = natives, store
        # the decoys of a target follow each other
        self._native = functools.lru_cache(maxsize=8)(self._open)

    def label(self, member: PlannedDecoy) -> LabelledDecoy:
        """The label of a decoy, or why it has none."""
        try:
            content, digest = decoy_content(member)
            entry, counterparts = self._entries(member, digest, content)
        except tuple(STATUS_OF) as error:
            status = status_of_error(error, STATUS_OF)
            log.warning(
                "%s/%s: %s: %s", member.target, member.decoy, status, error.reason
            )
            return LabelledDecoy(
                target=member.target,
                decoy=member.decoy,
                partners=member.native_partners,
                dockq=None,
                mapping="",
                status=status,
                reason=error.reason,
            )
        label = json.loads(entry.content)
        native = self._native(member.target, member.native_partners)
        of_native = native.made.entry("atoms").sha256
        compared_with = f"{counterparts.sha256} {of_native}"
        return LabelledDecoy(
            target=member.target,
            decoy=member.decoy,
            partners=member.native_partners or label["partners"],
            dockq=label["dockq"],
            mapping=label["mapping"],
            status=Status.OK,
            reason=label["reason"],
            interfaces=tuple(
                InterfaceLabel(*interface) for interface in label["interfaces"]
            ),
            counterparts=hashlib.sha256(compared_with.encode()).hexdigest(),
            joined=label["joined"],
            molecules=label["molecules"],
            is_native=label["is_native"],
        )

    def counterparts(self, member: PlannedDecoy, digest: str) -> np.ndarray:
        """Which residue of the native each of a labelled decoy is, int, (R,).

        `comparing.native.label` says it.

        digest : of the decoy's file. Raises what keeps a decoy from being labelled.
        """
        _, counterparts = self._entries(member, digest)
        return np.frombuffer(counterparts.content, "<i4")

    def native(self, member: PlannedDecoy) -> Complex:
        """The native of a labelled decoy."""
        return self._native(member.target, member.native_partners).complex

    def _open(self, target: str, partners: str) -> _NativeFile:
        paths, unclear = natives_of(self._natives, [target])
        return _NativeFile(
            paths.get(target), partners, self._store, unclear.get(target, "")
        )

    def _entries(
        self, member: PlannedDecoy, digest: str, content: bytes | None = None
    ) -> tuple[Entry, Entry]:
        """Label and counterparts."""
        native = self._native(member.target, member.native_partners)
        made = making(member, digest, {}, self._store, content)
        complex_ = made["atoms"]

        @functools.cache
        def compared() -> NativeLabel:
            return label(native.native, complex_)

        def make_label() -> tuple[bytes, dict[str, Any]]:
            measured = compared()
            is_the_native = are_copies(native.complex, complex_)
            of_native = native.complex.on_molecules
            on_molecules = [*complex_.on_molecules]
            on_molecules += [f"in the native, {note}" for note in of_native]
            notes = ["the same atoms as the native"] if is_the_native else []
            notes += [*measured.notes, *on_molecules]
            joins_chains = any(len(partner) > 1 for partner in measured.partners)
            record = {
                "dockq": round(measured.dockq, DECIMALS),
                "mapping": mapping_text(measured.mapping),
                "reason": "; ".join(notes),
                "joined": native.joined,
                "molecules": next(iter(on_molecules), ""),
                "is_native": is_the_native,
                "interfaces": _interfaces(measured),
                "partners": sorted_text(measured.partners) if joins_chains else "",
            }
            return json.dumps(record).encode(), {}

        def make_counterparts() -> tuple[bytes, dict[str, Any]]:
            return compared().counterparts.astype("<i4").tobytes(), {}

        depends_on = {
            "native": native.made.entry("atoms").sha256,
            "partners": member.native_partners,
            "code": code_digest("label", {}),
        }
        label_entry = made.obtain("label", depends_on, make_label)
        counterparts = made.obtain("counterparts", depends_on, make_counterparts)
        made.save()
        return label_entry, counterparts


def facts_of_natives(
    natives: Mapping[str, Path], decoys: Iterable[Decoy], store: Path
) -> tuple[Natives, dict[str, NativeFile]]:
    """What natives say about the partners of decoys, and the file of each target that has one.

    natives : as for `Labelling`. store : the reuse store.
    """
    decoy_of = by_key(decoys)
    paths, _ = natives_of(natives, sorted({target for target, _ in decoy_of}))
    seen = sketches(map(str, paths.values()), store)
    files = {}
    chains = {}
    bodies = {}
    for target, path in paths.items():
        sketch = seen[str(path)]
        state = state_if_there(path, sketch.content if sketch else "")
        files[target] = (str(path), state.size, state.version)
        chains[target] = sketch.first.chains if sketch else None
        if sketch:
            names = [name for name, _ in sketch.first.chains]
            bodies[target] = partners_text(bodies_of(names, sketch.first.pairs))
    labelling = Labelling(natives, Store(store))

    def mapping(key: DecoyKey, partners: str) -> str:
        of_decoy = "" if partners == EACH_CHAIN else partners
        chosen = {key: Chosen(of_decoy, named=partners)}
        (member,) = planned([decoy_of[key]], {}, chosen)
        return labelling.label(member).mapping

    return Natives(chains, bodies, mapping), files


def _interfaces(measured: NativeLabel) -> list[InterfaceLabel]:
    rows = []
    for sides, scores in measured.interfaces.items():
        of_decoy = []
        for side in sides:
            counterparts = [measured.mapping.get(name, ()) for name in side]
            of_decoy.append(set().union(*counterparts))
        values = [round(value, DECIMALS) for value in scores]
        rows.append(InterfaceLabel(sorted_text(of_decoy), sorted_text(sides), *values))
    return rows
