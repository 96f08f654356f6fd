"""`toporank doctor`: what scoring needs, and which optional programs are installed."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import platform
import re
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from importlib import metadata
from typing import Any, NamedTuple

from toporank import __version__, layout
from toporank.errors import TopoRankError
from toporank.layout import PACKAGE, repository

OK, MISSING, OPTIONAL = "ok", "MISSING", "-"
OLDEST_PYTHON = (3, 11)
REINSTALL = "install TopoRank again"
WORKFLOW = (
    "Snakefile",
    "rules/common.smk",
    "profiles/default/config.yaml",
    "slurm/config.yaml",
    "config/config.yaml",
)
SCRIPT = "workflow_scripts/scheduler.sh"
PROGRAMS = {
    "mkdssp": "only for `nodes: {dssp: mkdssp}` and checkpoints of TopoQA: "
    "workflow_scripts/install_dssp.sh",
    "mmseqs": "only for `training.similarity: mmseqs2`: install MMseqs2",
    "chromium": "only for the tests of the report page",
    "sbatch": "only for --slurm: start on a login node of a cluster",
}
"""Programs that few need, and their purpose."""
MODULES = {
    "matplotlib": "only for the figures on the page of a study: "
    "pip install -r requirements-train.txt",
    "sklearn": "only for t-SNE on that page, likewise",
    "teddympnn": "only for features of inverse folding: pip install --no-deps teddympnn==0.1.0",
}


class Finding(NamedTuple):
    """One part of the installation.

    state : `OK`, `MISSING` where nothing works without it, `OPTIONAL`.
    """

    state: str
    what: str


def add(commands: Any) -> None:
    """The command; it has no arguments."""
    parser = commands.add_parser(
        "doctor", help="check the installation, and say what is missing"
    )
    parser.set_defaults(run=examine)


def examine(_: argparse.Namespace) -> int:
    """Print all findings; 1 if something is missing that is needed."""
    n_missing = 0
    for check in CHECKS:
        for finding in check():
            n_missing += finding.state == MISSING
            print(f"{finding.state:8}{finding.what}", flush=True)
    print(
        f"{n_missing} missing" if n_missing else "Everything that is needed is there."
    )
    return 1 if n_missing else 0


def _python() -> Iterator[Finding]:
    python = f"Python {platform.python_version()} in {sys.prefix}"
    is_new = sys.version_info >= OLDEST_PYTHON
    yield Finding(OK if is_new else MISSING, f"TopoRank {__version__}, {python}")
    if sys.platform != "linux":
        what = f"Linux: this is {sys.platform} (use a Linux machine, or WSL on Windows)"
        yield Finding(MISSING, what)
    if not shutil.which("bash"):
        yield Finding(MISSING, "bash, in which Snakemake runs the jobs (install it)")


def _packages() -> Iterator[Finding]:
    """Packages that are missing or too old, and how many are as they should be."""
    n_good = 0
    requirements = [line for line in _required() if "extra ==" not in line]
    for requirement in requirements:
        name, _, oldest = requirement.partition(">=")
        try:
            version = metadata.version(name)
        except metadata.PackageNotFoundError:
            version = ""
        if version and _numbers(version) >= _numbers(oldest):
            n_good += 1
        else:
            there_is = f", there is {version}" if version else ""
            what = f"package {requirement}{there_is} (pip install '{requirement}')"
            yield Finding(MISSING, what)
    yield Finding(
        OK, f"{n_good} of {len(requirements)} packages in the versions that are needed"
    )


def _numbers(version: str) -> list[int]:
    """The release of a version, to be compared.

    >>> _numbers("2.13.0+cpu") >= _numbers("2.6")
    True
    """
    release = re.match(r"[\d.]*\d", version + ".0")
    return [int(part) for part in release[0].split(".")] if release else []


def _required() -> list[str]:
    """The requirements in pyproject.toml of a clone, or in the metadata of an installed package."""
    project = repository() / "pyproject.toml"
    if project.is_file():
        return tomllib.loads(project.read_text(encoding="utf-8"))["project"][
            "dependencies"
        ]
    return metadata.requires("toporank") or []


def _workflow() -> Iterator[Finding]:
    folder = repository()
    missing = [name for name in (*WORKFLOW, SCRIPT) if not (folder / name).is_file()]
    script = folder / SCRIPT
    if missing:
        yield Finding(
            MISSING, f"{missing[0]} of the workflow in {folder} ({REINSTALL})"
        )
    elif not os.access(script, os.X_OK):
        yield Finding(
            MISSING, f"permission to run {script} (chmod +x {script.parent}/*)"
        )
    else:
        yield Finding(OK, f"workflow in {folder}")


def _computing() -> Iterator[Finding]:
    """Whether what is compiled can be imported, is compiled, and fits the scorer that ships."""
    try:
        # with torch and numba
        installation = importlib.import_module("toporank.app.installation")
    except (ImportError, OSError) as error:
        yield Finding(
            MISSING,
            f"PyTorch or Numba, which cannot be imported: {error} ({REINSTALL})",
        )
        return
    folders = installation.cache_folders()
    temporary = tempfile.gettempdir()
    is_lost = any(folder.is_relative_to(temporary) for folder in folders)
    if is_lost and not PACKAGE.is_relative_to(temporary):
        what = "no folder for compiled code: every job compiles"
        yield Finding(
            OPTIONAL, f"{what} (set NUMBA_CACHE_DIR to one that you can write)"
        )
    elif all(any(folder.rglob("*.nbi")) for folder in folders):
        yield Finding(OK, f"compiled, in {folders[0].parent}")
    else:
        what = (
            "not compiled yet: the first run takes a minute longer (toporank compile)"
        )
        yield Finding(OPTIONAL, what)
    accelerators = installation.accelerators()
    for accelerator in accelerators:
        yield Finding(OK, f"trains on {accelerator}")
    if len(accelerators) == 1:
        yield Finding(OPTIONAL, "no GPU that PyTorch can use (few need one)")
    yield from _scorer()


def _scorer() -> Iterator[Finding]:
    from toporank.scorer.scorer import Scorer

    folder = repository() / layout.SHIPPED_SCORER
    try:
        damaged = Scorer.open(folder).missing
    except TopoRankError as error:
        damaged = str(error)
    if damaged:
        yield Finding(MISSING, f"scorer: {damaged} (restore the folder {folder})")
    else:
        yield Finding(OK, f"scorer in {folder}, whole")


def _places() -> Iterator[Finding]:
    """Where results and caches go."""
    try:
        with tempfile.TemporaryFile(dir="."):
            free = shutil.disk_usage(".").free / 2**30
            yield Finding(
                OK, f"the working directory can be written, {free:,.0f} GB free"
            )
    except OSError as error:
        what = f"the working directory cannot be written: {error.strerror}"
        yield Finding(OPTIONAL, f"{what} (write elsewhere with -o)")


def _optional() -> Iterator[Finding]:
    for program, purpose in PROGRAMS.items():
        path = shutil.which(program)
        if path:
            yield Finding(OK, f"{program}: {path}")
        else:
            yield Finding(OPTIONAL, f"no {program} ({purpose})")
    for module, purpose in MODULES.items():
        if importlib.util.find_spec(module):
            yield Finding(OK, module)
        else:
            yield Finding(OPTIONAL, f"no {module} ({purpose})")


CHECKS: tuple[Callable[[], Iterator[Finding]], ...] = (
    _python,
    _packages,
    _workflow,
    _computing,
    _places,
    _optional,
)
