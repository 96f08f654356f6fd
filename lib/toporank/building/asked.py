"""The decoys whose confidence is asked for, each with its atoms as they were built."""

from __future__ import annotations

import contextlib
import functools
import hashlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from toporank.building.chunks.built import Built, Key
from toporank.building.chunks.store import Box, Store
from toporank.building.coverage import CoverageRow
from toporank.code import code_of
from toporank.inputs.confidence.decoy import Asked, Examined, examine
from toporank.inputs.confidence.side_files import place_of, state_below
from toporank.inputs.confidence.table import INCOMPLETE, Choice, Confidence
from toporank.structures.complex import Complex
from toporank.structures.identity import Status
from toporank.structures.partners import parse_partners
from toporank.structures.stored import from_bytes

KIND = "examined"


def asked(coverage: Iterable[CoverageRow], built: Built, store: Store) -> Iterator[Asked]:
    """What `inputs.confidence.job.confidences` takes, in the order of coverage; labels without decoy are left out."""
    for row in coverage:
        if row.status in (Status.NO_DECOY, Status.NOT_BUILT):
            continue
        decoy = built.plan[row.target, row.decoy]
        partners = parse_partners(decoy.partners) if decoy.partners else ()
        fate = built.fates.get(decoy.key)
        digest = fate.structure_sha256 if fate else ""
        atoms = functools.partial(_atoms, built, decoy.key, store) if digest else None
        yield Asked(
            *decoy.key, Path(decoy.path) if decoy.path else None, partners, digest, atoms, decoy.model, decoy.masked
        )


@contextlib.contextmanager
def remembered(built: Built, store: Store) -> Iterator[Callable[[Asked, Choice], Examined]]:
    """`examine`, which knows from the store what it found before, unless a file of a predictor has changed since.

    What it found incomplete it looks at again: that a file can be read now does not show. The decoys of a target are
    asked for one after another.
    """
    code, state, boxes = code_of("building.asked", without=("building.chunks",)), functools.cache(state_below), {}

    def box_of(target: str) -> Box:
        if target not in boxes:
            _save(boxes)
            boxes[target] = store.box(hashlib.sha256(f"{KIND} {target}".encode()).hexdigest())
        return boxes[target]

    def examined(asked: Asked, choice: Choice) -> Examined:
        fate = built.fates.get((asked.target, asked.decoy))
        if not (asked.path and fate and fate.complex):
            return examine(asked, choice)
        own = {name: getattr(asked, name) for name in ("partners", "sha256", "model", "masked")}
        files = {"name": asked.path.name, "beside": state(place_of(asked.path).parent)}
        depends_on = {"complex": fate.complex, **own, **files, "choice": choice, "code": code}
        box = box_of(asked.target)
        if known := box.known(KIND, depends_on):
            row = Confidence(asked.target, asked.decoy, **known.facts["row"])
            profiles = tuple(map(bytes.fromhex, known.facts["profiles"]))
            return Examined(row, known.facts["rise"], profiles, known.facts["disordered"])
        found = examine(asked, choice)
        if found.row.status != INCOMPLETE:
            row = {name: value for name, value in found.row._asdict().items() if name not in ("target", "decoy")}
            kept = {"row": row, "profiles": [profile.hex() for profile in found.profiles]}
            box.obtain(KIND, depends_on, lambda: (b"", {**kept, "rise": found.rise, "disordered": found.disordered}))
        return found

    yield examined
    _save(boxes)


def _save(boxes: dict[str, Box]) -> None:
    for box in boxes.values():
        box.save()
    boxes.clear()


def _atoms(built: Built, key: Key, store: Store) -> Complex:
    """The atoms of a decoy, from the reuse store."""
    return from_bytes(built.made(key, store).complex.content)
