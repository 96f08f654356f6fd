"""Hundreds of damaged decoys a day: each is read or refused in words, in time, and never takes the
process with it.

Each day has its own share of the seeds, so that `make test` runs all of them within four days; the
others are `slow`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

SEEDS = 1600
SHARES = 4
TODAY = datetime.now(UTC).toordinal() % SHARES
SECONDS = 60
"""For one share, on a busy machine; alone on a core it takes four."""


@pytest.mark.parametrize(
    "share",
    [pytest.param(k, marks=[pytest.mark.slow] * (k != TODAY)) for k in range(SHARES)],
)
def test_damaged_decoys_are_read_or_refused_in_words(share, repository):
    size = SEEDS // SHARES
    here = Path(__file__).parent
    path = os.pathsep.join(map(str, (repository / "lib", repository / "tests", here)))
    command = [
        sys.executable,
        str(here / "_fuzz.py"),
        str(share * size),
        str((share + 1) * size),
    ]
    answer = subprocess.run(
        command,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    seeds = [line for line in answer.stderr.splitlines() if line.isdigit()]
    assert answer.returncode == 0, (
        f"ended with {answer.returncode} at seed {seeds[-1:]}: {answer.stderr[-2000:]}"
    )
    outcomes = json.loads(answer.stdout)
    assert sum(outcomes.values()) == size
    assert set(outcomes) >= {"read", "StructureError"}, (
        "the damage is too light or too heavy to tell anything"
    )
