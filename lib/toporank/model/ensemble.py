"""The checkpoints beside a scorer: whether their mean is the score, or only their spread is reported."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import Field

from toporank.config.base import Name, Section
from toporank.errors import CheckpointError, ConfigError
from toporank.layout import MEMBERS
from toporank.validation import checked


class Ensemble(NamedTuple):
    """Checkpoints whose spread is reported, and whether the score is their mean."""

    members: list[Path]
    mean: bool


NO_ENSEMBLE = Ensemble([], mean=False)


class _Members(Section):
    """members.json, as `selection.write_ensemble` leaves it."""

    score: Literal["best", "mean"]
    rule: str
    members: list[Name] = Field(min_length=1)


def read_ensemble(folder: Path | None) -> Ensemble:
    """The ensemble in a folder. Without members.json, as earlier versions left it, its mean is not the score.

    folder : None for an ensemble of none. Raises CheckpointError when members.json is damaged or names a checkpoint
    that is not there.
    """
    if folder is None:
        return NO_ENSEMBLE
    path = folder / MEMBERS
    found = sorted(folder.glob("*.ckpt"))
    if not path.exists():
        return Ensemble(found, mean=False)
    try:
        stored = checked(_Members, json.loads(path.read_text(encoding="utf-8")), where=MEMBERS)
    except (ValueError, RecursionError, ConfigError) as error:
        raise CheckpointError(f"not a usable list of members: {' '.join(str(error).split())}", where=path) from error
    members = sorted(folder / f"{name}.ckpt" for name in stored.members)
    if members != found:
        odd = sorted({file.name for file in members} ^ {file.name for file in found})
        raise CheckpointError(
            f"the checkpoints beside it are not its members: {', '.join(odd)}",
            where=path,
            remedy="restore the folder, or delete it: scores then have no spread",
        )
    return Ensemble(members, mean=stored.score == "mean")
