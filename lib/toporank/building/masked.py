"""Which residues of planned decoys are disordered, by the predictor's own pLDDT. What was seen is kept."""

from __future__ import annotations

import json
import multiprocessing
import os
from collections.abc import Iterable
from functools import partial
from itertools import groupby
from operator import attrgetter
from pathlib import Path

from toporank.building.chunks.plan import PlannedDecoy
from toporank.building.chunks.store import Store
from toporank.code import code_of
from toporank.files.state import FileState
from toporank.inputs.confidence.decoy import Asked
from toporank.inputs.confidence.job import masks
from toporank.inputs.confidence.side_files import state
from toporank.inputs.confidence.table import Choice
from toporank.inputs.discovery import MANY
from toporank.structures.partners import parse_partners


def with_disorder_masked(plan: Iterable[PlannedDecoy], choice: Choice, store: Store) -> list[PlannedDecoy]:
    """The plan with the disordered residues of each decoy masked, as `inputs.confidence.disorder` defines them.

    choice : whether B factors are pLDDT. A decoy without pLDDT, or one that cannot be read, is as it was.
    """
    of_targets = [list(members) for _, members in groupby(sorted(plan), key=attrgetter("target"))]
    masked = partial(_masked, choice=choice, store=store)
    if sum(map(len, of_targets)) < MANY:
        return [decoy for members in of_targets for decoy in masked(members)]
    with multiprocessing.get_context("fork").Pool(len(os.sched_getaffinity(0))) as pool:
        return [decoy for members in pool.imap(masked, of_targets) for decoy in members]


def _masked(members: list[PlannedDecoy], choice: Choice, store: Store) -> list[PlannedDecoy]:
    """The decoys of a target with their masks, from the store where their files are as they were."""

    def make() -> tuple[bytes, dict]:
        return json.dumps(masks(map(_asked, members), choice)).encode(), {}

    depends_on = {
        "decoys": members,
        "beside": _state_beside(members),
        "plddt": choice,
        "code": code_of("inputs.confidence.job"),
    }
    texts = json.loads(store.obtain("masks", depends_on, make).content)
    return [decoy._replace(masked=text) for decoy, text in zip(members, texts, strict=True)]


def _asked(decoy: PlannedDecoy) -> Asked:
    partners = parse_partners(decoy.partners) if decoy.partners else ()
    return Asked(*decoy.key, Path(decoy.path) if decoy.path else None, partners, model=decoy.model)


def _state_beside(members: Iterable[PlannedDecoy]) -> list[tuple[str, FileState]]:
    """The state of all files in which a predictor may speak of these decoys."""
    paths = {path for decoy in members if decoy.path for path in (decoy.path, os.path.realpath(decoy.path))}
    return state({Path(path).parent for path in paths})
