"""What the jobs of the workflow find in their environment."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path


def use_this_environment(repository: Path, reuse_store: str) -> None:
    """Let jobs find the workflow scripts, this library, the reuse store, and the Python that runs Snakemake.

    Set through the environment rather than in commands: where a clone, its virtual environment or the store lies
    must not make finished results look outdated. A conda environment of a rule still comes first. What the user has on
    PATH and PYTHONPATH stays there, behind ours.
    """
    front = [str(Path(sys.executable).parent), str(repository / "workflow_scripts")]
    os.environ["PATH"] = _before(os.environ.get("PATH", ""), front)
    os.environ["PYTHONPATH"] = _before(os.environ.get("PYTHONPATH", ""), [str(repository / "lib")])
    os.environ["PYTHONHASHSEED"] = "0"
    os.environ["TOPORANK_STORE"] = reuse_store


def _before(path: str, front: list[str]) -> str:
    """A search path with these folders first, and once."""
    behind = path.split(os.pathsep) if path else []  # an empty entry would be the working directory
    return os.pathsep.join([*front, *(entry for entry in behind if entry not in front)])


def submission_problems(executor: str, python: str) -> list[str]:
    """Why jobs cannot be submitted. python : the interpreter, which Snakemake writes into jobs without quotes."""
    problems = []
    if executor == "slurm" and not shutil.which("sbatch"):
        problems.append(
            "--profile slurm: sbatch is not on the PATH (start on a login node of the cluster,"
            " or leave the profile out to run on this machine)"
        )
    if any(character.isspace() for character in python):
        problems.append(
            f"jobs cannot be submitted with a Python whose path has a space: {python}"
            " (make the .venv in a folder without one; the repository itself may stay)"
        )
    return problems
