"""Where the files of the workflow lie: Snakefile, rules, scripts, profiles, resources."""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).parent
INSTALLED = PACKAGE / "repository"
"""Where `setup.py` puts them in a wheel; a clone does not have it."""


def repository() -> Path:
    """The folder with the Snakefile: the clone, or that inside the installed package."""
    return INSTALLED if INSTALLED.is_dir() else PACKAGE.parents[1]
