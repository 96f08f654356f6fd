"""What the jobs of the workflow find in their environment."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def use_this_environment(repository: Path, reuse_store: str) -> None:
    """Let jobs find the workflow scripts, this library, the reuse store, and the Python that runs Snakemake.

    Set through the environment rather than in commands: where a clone, its virtual environment or the store lies
    must not make finished results look outdated. A conda environment of a rule still comes first.
    """
    front = [str(Path(sys.executable).parent), str(repository / "workflow_scripts")]
    path = [entry for entry in os.environ.get("PATH", "").split(os.pathsep) if entry not in front]
    os.environ["PATH"] = os.pathsep.join(front + path)
    os.environ["PYTHONPATH"] = str(repository / "lib")
    os.environ["PYTHONHASHSEED"] = "0"
    os.environ["TOPORANK_STORE"] = reuse_store
