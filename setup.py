"""Puts the files of the workflow into the wheel; everything else is in pyproject.toml."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

WORKFLOW = (
    "Snakefile",
    "rules",
    "workflow_scripts",
    "config",
    "profiles",
    "slurm",
    "envs",
    "resources",
)
TO = "toporank/repository"
"""Where `toporank.layout` looks for them."""


class BuildWithWorkflow(build_py):
    """Copies them beside the modules; an editable installation finds them in the clone."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        shutil.rmtree(Path(self.build_lib, TO), ignore_errors=True)
        for path in self._workflow():
            to = Path(self.build_lib, TO, path)
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, to)

    def get_source_files(self) -> list[str]:
        return [*super().get_source_files(), *map(str, self._workflow())]

    def _workflow(self) -> list[Path]:
        paths = [
            inner for name in map(Path, WORKFLOW) for inner in [name, *name.rglob("*")]
        ]
        return sorted(p for p in paths if p.is_file() and "__pycache__" not in p.parts)


setup(cmdclass={"build_py": BuildWithWorkflow})
