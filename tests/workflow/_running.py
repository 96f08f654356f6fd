"""A build in a process of its own, and its feature jobs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from conftest import REPOSITORY, Study

IN_FLIGHT = 2
"""Jobs side by side, so decoys at work at any time."""


def start(study: Study, python: str = sys.executable) -> subprocess.Popen:
    """Start a build of all graphs; what it prints goes to a file. A quick Python is no parent of
    its jobs, which `jobs` does not find then.
    """
    place = [
        "--snakefile",
        str(REPOSITORY / "Snakefile"),
        "--directory",
        str(study.home),
    ]
    words = ["-m", "snakemake", *place, "--cores", str(IN_FLIGHT), "build_graphs"]
    with open(study.home / f"printed-{time.monotonic_ns()}.txt", "w") as printed:
        return subprocess.Popen(
            [python, *words], cwd=REPOSITORY, stdout=printed, stderr=subprocess.STDOUT
        )


def wait_for(what, seconds: float = 300) -> None:
    """Wait until `what()` is true."""
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, "what the test waits for does not happen"
        time.sleep(0.02)


def jobs(study: Study) -> list[int]:
    """Process ids of running feature jobs in this study."""
    found = []
    for process in Path("/proc").iterdir():
        try:
            if process.name.isdecimal() and os.readlink(process / "cwd") == str(
                study.home
            ):
                words = (process / "cmdline").read_bytes().split(b"\0")
                if any(w.endswith(b"build_chunk.py") for w in words[:3]):
                    found.append(int(process.name))
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue
    return found


@contextmanager
def standing_still(processes: list[int]) -> Iterator[None]:
    """Processes that do nothing meanwhile."""
    try:
        for process in processes:
            os.kill(process, signal.SIGSTOP)
        yield
    finally:
        for process in processes:
            os.kill(process, signal.SIGCONT)
