"""The decoys whose confidence is asked for, each with its atoms as they were built."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from pathlib import Path

from toporank.building.chunks.built import Built, Key
from toporank.building.chunks.store import Store
from toporank.building.coverage import CoverageRow
from toporank.inputs.confidence.decoy import DecoyFile
from toporank.structures.complex import Complex
from toporank.structures.identity import Status
from toporank.structures.partners import parse_partners
from toporank.structures.stored import from_bytes


def asked(coverage: Iterable[CoverageRow], built: Built, store: Store) -> Iterator[DecoyFile]:
    """What `inputs.confidence.job.confidences` takes, in the order of coverage; labels without decoy are left out."""
    for row in coverage:
        if row.status in (Status.NO_DECOY, Status.NOT_BUILT):
            continue
        decoy = built.plan[row.target, row.decoy]
        partners = parse_partners(decoy.partners) if decoy.partners else ()
        fate = built.fates.get(decoy.key)
        digest = fate.structure_sha256 if fate else ""
        atoms = functools.partial(_atoms, built, decoy.key, store) if digest else None
        yield DecoyFile(*decoy.key, Path(decoy.path) if decoy.path else None, partners, digest, atoms, decoy.model)


def _atoms(built: Built, key: Key, store: Store) -> Complex:
    """The atoms of a decoy, from the reuse store."""
    return from_bytes(built.made(key, store).complex.content)
