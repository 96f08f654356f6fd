"""What a process is told about its memory."""

from __future__ import annotations

import platform
import subprocess
import sys
from types import SimpleNamespace

import pytest

from toporank.learning import memory

GLIBC = platform.libc_ver()[0] == "glibc"
FREED = """
import numpy, psutil, sys
from toporank.learning.memory import keep_freed_memory
told = keep_freed_memory() if sys.argv[1] == "told" else None
process, size = psutil.Process(), 16 * 2**20
before = process.memory_info().rss
array = numpy.ones(size, numpy.uint8)
del array
print(told, process.memory_info().rss - before > size / 2)
"""


@pytest.mark.skipif(not GLIBC, reason="only glibc can be told")
@pytest.mark.parametrize("told", [True, None])
def test_freed_memory_is_kept_by_a_process_that_is_told_to(told, repository):
    command = [sys.executable, "-c", FREED, "told" if told else "not"]
    answer = subprocess.run(
        command, capture_output=True, text=True, check=True, env={"PYTHONPATH": f"{repository}/lib"}
    )
    assert answer.stdout.split() == [str(told), str(bool(told))]


@pytest.mark.parametrize("library", [SimpleNamespace(), SimpleNamespace(mallopt=lambda option, value: 0)])
def test_where_memory_cannot_be_kept_nothing_happens(monkeypatch, library):
    monkeypatch.setattr(memory.ctypes, "CDLL", lambda name: library)
    assert memory.keep_freed_memory() is False
