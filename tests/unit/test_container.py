"""The image: what goes into it. Nobody builds it here."""

from __future__ import annotations

from fnmatch import fnmatch
from pathlib import Path

import pytest

from conftest import REPOSITORY

NEEDED = (
    "Snakefile", "rules/common.smk", "config/config.yaml", "profiles/default/config.yaml", "workflow_scripts/*.py",
    "lib/**/*.py", "lib/toporank/features/potentials.csv", "lib/toporank/report/*.j2", "resources/scorer/**/*",
    "resources/example/decoys/1PPE/near1.pdb.gz", "README.md", "pyproject.toml", "requirements.txt",
    "requirements-train.txt", "constraints.txt",
)  # fmt: skip


def goes_in(path: str) -> bool:
    """Whether .dockerignore lets a file through: the last pattern that fits decides."""
    found = True
    for pattern in (REPOSITORY / ".dockerignore").read_text().splitlines():
        bare = pattern.removeprefix("!")
        parts = Path(path).parts
        begins = ("/".join(parts[: i + 1]) for i in range(len(parts)))
        if not bare.startswith("#") and any(fnmatch(begin, bare) or fnmatch(f"/{begin}", bare) for begin in begins):
            found = pattern.startswith("!")
    return found


@pytest.mark.parametrize("pattern", NEEDED)
def test_what_scoring_and_training_need_goes_in(pattern):
    files = [str(path.relative_to(REPOSITORY)) for path in REPOSITORY.glob(pattern) if path.is_file()]
    assert files
    assert [path for path in files if not goes_in(path) and "__pycache__" not in path] == []


@pytest.mark.parametrize(
    "path", [".git/config", ".venv/bin/python", "results/a.csv", "tests/conftest.py", "lib/toporank/__pycache__/a.pyc"]
)
def test_what_a_clone_has_besides_stays_out(path):
    assert not goes_in(path)
