"""What a process is told about its memory."""

from __future__ import annotations

import platform
import subprocess
import sys
from pathlib import Path
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


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="asks Linux")
def test_peak_memory_is_the_process_s_own_and_not_that_of_the_larger_one_that_started_it(repository):
    """The parent holds 600 MB, the child 300: getrusage would say 600 in both."""
    child = (
        "import numpy; a = numpy.ones(300 << 20, 'u1'); del a; from toporank.learning.memory import *;"
        "print(peak_memory())"
    )
    parent = (
        "import numpy, subprocess, sys; held = numpy.ones(600 << 20, 'u1'); from toporank.learning.memory import *;"
        "print(peak_memory(), flush=True); subprocess.run([sys.executable, '-c', sys.argv[1]], check=True)"
    )
    environment_of_both = {"PYTHONPATH": f"{repository}/lib"}
    command = [sys.executable, "-c", parent, child]
    answer = subprocess.run(command, env=environment_of_both, check=True, capture_output=True, text=True)
    of_parent, of_child = (int(line) >> 20 for line in answer.stdout.split())
    assert 600 < of_parent < 800
    assert 300 < of_child < 500


@pytest.mark.parametrize("status", [None, "Name:\tpython\n"], ids=["no file", "no such line"])
def test_peak_memory_where_proc_does_not_tell_it(monkeypatch, tmp_path, status):
    if status is not None:
        (tmp_path / "status").write_text(status)
    monkeypatch.setattr(memory, "Path", lambda name: tmp_path / "status")
    monkeypatch.setattr(memory.resource, "getrusage", lambda who: SimpleNamespace(ru_maxrss=5))
    monkeypatch.setattr(memory, "sys", SimpleNamespace(platform="linux"))
    assert memory.peak_memory() == 5 * 1024
    monkeypatch.setattr(memory, "sys", SimpleNamespace(platform="darwin"))
    assert memory.peak_memory() == 5
