"""What a folder, archive or file holds, as `toporank score` finds it before it scores anything."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from toporank.app.commands.running import lock_folder
from toporank.app.commands.shown import described
from toporank.app.commands.terminal import Terminal
from toporank.app.request import (
    INPUT,
    STORE,
    Request,
    chains_of_decoys,
    check_partners,
)

ONE_LINE = 10_000


class Given(NamedTuple):
    """folder : with the models. name : of the results. said : what the command prints first."""

    folder: Path
    name: str
    said: str


def look_at(given: Path, out: Path, partners: str | None = None) -> Given:
    """What the command sees in a folder, archive or file."""
    inputs = lambda: lock_folder(out).resolve() / INPUT  # noqa: E731
    request = Request.of(given, inputs, partners)
    models = request.models(out / STORE)
    check_partners(partners, "model", chains_of_decoys(models.grouped))
    said = described(request, models, Terminal(ONE_LINE))
    return Given(request.folder, request.settings["score_name"], "\n".join(said))
