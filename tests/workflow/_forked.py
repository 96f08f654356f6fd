"""Snakemake in a process that has it and TopoRank imported already: that takes longer than most of
what the tests ask.
"""

from __future__ import annotations

import atexit
import functools
import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from multiprocessing import forkserver
from pathlib import Path
from unittest.mock import patch

from _jobs import LIBRARY, forget_another, started_quickly

SERVER = multiprocessing.get_context("forkserver")
SERVER.set_forkserver_preload(["_preloaded"])
PATHS = os.pathsep.join([str(LIBRARY), str(Path(__file__).parent)])


@functools.cache
def quick_python() -> str:
    """The Python that starts the jobs of this process; its Snakemakes have a server, too."""
    with patch.dict(os.environ, PYTHONPATH=PATHS):
        forkserver.ensure_running()
    folder = tempfile.mkdtemp(prefix="toporank-jobs-")
    atexit.register(shutil.rmtree, folder)
    return started_quickly(Path(folder))


def snakemake(
    arguments: list[str], folder: Path, environment: Mapping[str, str], seconds: float
):
    """What `python -m snakemake` does in a folder; the finished process with `stdout` holding all
    that was printed.
    """
    with tempfile.NamedTemporaryFile("r") as printed:
        process = SERVER.Process(
            target=_main,
            args=(arguments, folder, dict(environment), printed.name, quick_python()),
        )
        process.start()
        process.join(seconds)
        if process.exitcode is None:
            process.kill()
            raise subprocess.TimeoutExpired(arguments, seconds, printed.read())
        return subprocess.CompletedProcess(arguments, process.exitcode, printed.read())


def _main(
    arguments: list[str],
    folder: Path,
    environment: dict[str, str],
    printed: str,
    python: str,
) -> None:
    from snakemake.cli import main

    with open(printed, "wb") as handle:
        os.dup2(handle.fileno(), 1)
        os.dup2(handle.fileno(), 2)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    forget_another(folder / "lib")
    sys.executable = python  # jobs find the Python that runs Snakemake
    main(arguments)
