"""Snakemake in a process that has it imported already: importing it takes longer than most of what the tests ask."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

SERVER = multiprocessing.get_context("forkserver")
SERVER.set_forkserver_preload(["snakemake.cli"])


def snakemake(arguments: list[str], folder: Path, environment: Mapping[str, str], seconds: float):
    """What `python -m snakemake` does in a folder; the finished process with `stdout` holding all that was printed."""
    with tempfile.NamedTemporaryFile("r") as printed:
        process = SERVER.Process(target=_main, args=(arguments, folder, dict(environment), printed.name))
        process.start()
        process.join(seconds)
        if process.exitcode is None:
            process.kill()
            raise subprocess.TimeoutExpired(arguments, seconds, printed.read())
        return subprocess.CompletedProcess(arguments, process.exitcode, printed.read())


def _main(arguments: list[str], folder: Path, environment: dict[str, str], printed: str) -> None:
    from snakemake.cli import main

    with open(printed, "wb") as handle:
        os.dup2(handle.fileno(), 1)
        os.dup2(handle.fileno(), 2)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    main(arguments)
