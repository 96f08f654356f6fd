"""`make bench-scale` with little numbers: the script runs and fills its table. How long it takes is not looked at."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from conftest import REPOSITORY

pytestmark = pytest.mark.slow

SCRIPT = REPOSITORY / "tests/benchmarks/bench_scale.py"
LITTLE = ("--decoys", "200", "--no-build", "--distinct", "6", "--on-slurm", "0")


def test_the_benchmark_of_many_decoys_fills_its_table():
    path = os.pathsep.join(str(REPOSITORY / folder) for folder in ("lib", "tests/slurm"))
    done = subprocess.run(
        [sys.executable, str(SCRIPT), *LITTLE], env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    cells = [[cell.strip() for cell in line.split("|")[1:3]] for line in done.stdout.splitlines()[2:]]
    assert cells == [
        ["full build, every content new", "6"],
        ["… of which features", "6"],
        ["… of which starts and files of the jobs", "6"],
        ["… of which Snakemake", "6"],
        ["… overhead, a decoy", "6"],
        ["dry run, nothing built", "200"],
    ], done.stderr
    assert done.stderr.strip() in ("", "a floor was missed")  # so few decoys share what a build costs at least
