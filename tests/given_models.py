"""What a folder, archive or file holds, as `toporank score` finds it before it scores anything."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from toporank.app.commands.running import lock_folder
from toporank.app.commands.score import settings_of
from toporank.app.commands.scoring_input import (
    INPUT,
    STORE,
    chains_of_decoys,
    check_partners,
    described,
    folder_to_score,
    name_of,
)
from toporank.app.config import load_config
from toporank.app.score_folder import find_models


class Given(NamedTuple):
    """folder : with the models. name : of the results. said : what the command prints first."""

    folder: Path
    name: str
    said: str


def look_at(given: Path, out: Path, partners: str | None = None) -> Given:
    """What the command sees in a folder, archive or file."""
    folder, of_archives = folder_to_score(
        given, lambda: lock_folder(out).resolve() / INPUT
    )
    name = name_of(given)
    config = load_config(
        settings_of(
            folder, name, partners, targets="sequence", confidence=True, scorer=None
        )
    )
    models = find_models(config, folder, out / STORE, of_archives)
    check_partners(partners, "model", chains_of_decoys(models.grouped))
    return Given(folder, name, "\n".join(described(models, given, folder)))
