"""What a result was made with: versions, git state, code."""

from __future__ import annotations

import contextlib
import hashlib
import platform
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Any

import toporank
from toporank import plugins
from toporank.code import code_of
from toporank.learning.shapes import OWN
from toporank.structures.dssp import DsspMissingError, dssp_version

TRAINING_PACKAGES = ("torch", "torch-geometric", "pytorch-lightning", "numba", "numpy")
"""The packages whose version decides the result of a training run."""
PACKAGES = (*TRAINING_PACKAGES, "gudhi", "gemmi", "scipy", "snakemake")


def provenance() -> dict[str, Any]:
    """Return the versions of package, Python and libraries, and the git state of the clone."""
    return {"versions": versions(), "git": git_state()}


def versions() -> dict[str, str]:
    """Return versions by name; what is not installed is left out."""
    versions_by_name = {
        "toporank": toporank.__version__,
        "python": platform.python_version(),
    }
    for package in (*PACKAGES, *plugins.packages()):
        with contextlib.suppress(metadata.PackageNotFoundError):
            versions_by_name[package] = metadata.version(package)
    with contextlib.suppress(DsspMissingError):  # scoring finished graphs needs none
        versions_by_name["mkdssp"] = dssp_version()
    return versions_by_name


def git_state() -> str:
    """Return the commit of this clone, `+changes` if files differ from it, or `not a clone`."""
    here = Path(toporank.__file__).parent
    describe = "describe --always --abbrev=12 --dirty=+changes --exclude=*"
    command = ["git", "-C", str(here), *describe.split()]
    try:
        answer = subprocess.run(
            command, capture_output=True, text=True, timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return "git is not available"
    return answer.stdout.strip() if answer.returncode == 0 else "not a clone"


def training_code(*networks: str) -> str:
    """Return a digest of the code that decides a training run, and of the packages it uses.

    networks : their names; of one of a plug-in, all Python files of its package count.
    """
    packages = " ".join(metadata.version(package) for package in TRAINING_PACKAGES)
    theirs: list[str] = []
    for network in sorted({*networks} - {*OWN}):
        theirs += plugins.sources(plugins.networks()[network].module)
    text = f"{code_of('learning', 'metrics.py', *theirs)} {packages}"
    return hashlib.sha256(text.encode()).hexdigest()[:16]
