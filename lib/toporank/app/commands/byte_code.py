"""Byte code of what scoring imports, kept once after installing.

`pip install --no-compile` leaves it out, so that the many modules that nobody imports take no room. Python would write
it when it first imports a file, but not into a folder that the user cannot write to.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import py_compile
import sys
from pathlib import Path

SCORING = (
    "gudhi", "pandas", "scipy.cluster.hierarchy", "scipy.spatial", "snakemake.cli", "snakemake.api",
    "snakemake.workflow", "snakemake.executors.local", "toporank.app.commands.shown", "toporank.app.commands.score",
    "toporank.app.installation", "toporank.report.beside", "toporank.report.page", "toporank.app.workflow.jobs",
    "toporank.app.workflow.progress",
)  # fmt: skip
"""What brings nearly all that is imported when models are scored."""


def write_byte_code() -> None:
    """Keep the byte code of all modules that this process and scoring import, where the user may write it."""
    for name in SCORING:
        importlib.import_module(name)
    files = (getattr(module, "__file__", None) for module in list(sys.modules.values()))
    for file in filter(None, files):
        if file.endswith(".py") and not Path(importlib.util.cache_from_source(file)).exists():
            with contextlib.suppress(OSError):
                py_compile.compile(file, quiet=2)
