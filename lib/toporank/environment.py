"""What the jobs of the workflow find in their environment."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def use_this_environment(repository: Path) -> None:
    """Let jobs find the workflow scripts, this library, and the Python that runs Snakemake.

    Set through the environment rather than in commands: where a clone or its virtual environment lies
    must not make finished results look outdated. A conda environment of a rule still comes first.
    """
    front = [str(Path(sys.executable).parent), str(repository / "workflow_scripts")]
    path = [entry for entry in os.environ.get("PATH", "").split(os.pathsep) if entry not in front]
    os.environ["PATH"] = os.pathsep.join(front + path)
    os.environ["PYTHONPATH"] = str(repository / "lib")
    os.environ["PYTHONHASHSEED"] = "0"
