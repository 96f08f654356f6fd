"""Checkpoints that describe themselves: everything needed to score is inside, readable without torch.

A checkpoint is an ordinary Lightning file. Its description is one JSON text under the key `toporank`:
feature modules and parameters, column names, widths, hyper-parameters, training-set fingerprint, versions,
git state, epoch and validation metrics.
"""

from __future__ import annotations

import json
import pickletools
import zipfile
from pathlib import Path
from typing import Any

from toporank.errors import CheckpointError
from toporank.model import topoqa

KEY = "toporank"
MARK = '{"toporank_checkpoint":'
"""How the description begins, which is how it is found without unpickling anything."""


def describe(content: dict[str, Any]) -> str:
    """The description as stored."""
    return json.dumps({"toporank_checkpoint": 1, **content}, ensure_ascii=False)


def read_description(path: Path | str) -> dict[str, Any]:
    """The description of a checkpoint. Reads text out of the file, runs no code from it and needs no torch.

    A checkpoint of TopoQA does not describe itself; its description is made up from its tensors and says so
    under `origin`. It has no run, seed, epoch, metrics, selection, training set or provenance.

    Raises CheckpointError when the file is damaged or comes from neither.
    """
    path = Path(path)
    try:
        description = _description(path)
    except FileNotFoundError as error:
        raise CheckpointError("no such checkpoint", where=path) from error
    except (OSError, zipfile.BadZipFile, ValueError, EOFError) as error:
        raise CheckpointError(f"not a readable checkpoint: {error}", where=path) from error
    if description is None:
        remedy = f"use a best.ckpt that this workflow trained, or a checkpoint of {topoqa.ORIGIN}"
        raise CheckpointError("not a TopoRank checkpoint", where=path, remedy=remedy)
    return description


def _description(path: Path) -> dict[str, Any] | None:
    """None when the file is sound but nothing we know."""
    with zipfile.ZipFile(path) as archive:
        name = next((n for n in archive.namelist() if n.endswith("/data.pkl")), None)
        if name is None:
            return None
        pickled = archive.read(name)
    texts = (argument for _, argument, _ in pickletools.genops(pickled) if isinstance(argument, str))
    own = next((text for text in texts if text.startswith(MARK)), None)
    return topoqa.describe(pickled, path) if own is None else json.loads(own)
