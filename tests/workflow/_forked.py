"""Snakemake in a process that has it imported already: importing it takes longer than most of what
the tests ask.
"""

from __future__ import annotations

import functools
import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from _jobs import started_quickly

SERVER = multiprocessing.get_context("forkserver")
SERVER.set_forkserver_preload(
    ["snakemake.cli", "snakemake.report.html_reporter", "numpy", "pydantic", "psutil"]
)
_FOLDER = tempfile.TemporaryDirectory(prefix="toporank-jobs-")


@functools.cache
def quick_python() -> str:
    """The Python that starts the jobs of this process."""
    return started_quickly(Path(_FOLDER.name))


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
    sys.executable = python  # jobs find the Python that runs Snakemake
    main(arguments)
