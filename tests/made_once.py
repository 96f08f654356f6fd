"""What several tests need and none changes, made once in a session."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock


def made_once(
    tmp_path_factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]
) -> Path:
    """A folder that is made once for all workers, by the first that needs it."""
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    folder = shared / name
    with FileLock(shared / f"{name}.lock"):
        if not (shared / f"{name}.made").exists():
            shutil.rmtree(folder, ignore_errors=True)
            make(folder)
            (shared / f"{name}.made").touch()
    return folder
