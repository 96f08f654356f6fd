"""`toporank doctor`: is everything there that scoring needs, and what else could be."""

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
SCRIPT = "workflow_scripts/score_targets.py"
PROGRAMS = {
    "mkdssp": "only for `nodes: {dssp: mkdssp}` and checkpoints of TopoQA: workflow_scripts/install_dssp.sh",
    "mmseqs": "only for `training.similarity: mmseqs2`: install MMseqs2",
    "chromium": "only for the tests of the report page",
    "sbatch": "only for --slurm: start on a login node of a cluster",
}
"""Programs that few need, and what for."""
MODULES = {
    "matplotlib": (
        "only for the figures on the page of a study: pip install -r requirements-train.txt"
    ),
    "teddympnn": "only for features of inverse folding: pip install --no-deps teddympnn==0.1.0",
}


class Finding(NamedTuple):
    """One thing that was looked at. state : `OK`, `MISSING` where nothing works without it,
    `OPTIONAL`.
    """

    state: str
    what: str


def add(commands: Any) -> None:
    """The command; it has no arguments."""
    parser = commands.add_parser("doctor", help="check the installation, and say what is missing")
    parser.set_defaults(run=examine)


def examine(_: argparse.Namespace) -> int:
    """Print all findings; 1 if something is missing that is needed."""
    findings = []
    for check in CHECKS:
        for finding in check():
            findings.append(finding)
            print(f"{finding.state:8}{finding.what}", flush=True)
    missing = sum(finding.state == MISSING for finding in findings)
    print(f"{missing} missing" if missing else "Everything that is needed is there.")
    return 1 if missing else 0


def _python() -> Iterator[Finding]:
    state = OK if sys.version_info >= OLDEST_PYTHON else MISSING
    yield Finding(
        state, f"TopoRank {__version__}, Python {platform.python_version()} in {sys.prefix}"
    )
    if sys.platform != "linux":
        yield Finding(
            MISSING, f"Linux: this is {sys.platform} (use a Linux machine, or WSL on Windows)"
        )
    if not shutil.which("bash"):
        yield Finding(MISSING, "bash, in which Snakemake runs the jobs (install it)")


def _packages() -> Iterator[Finding]:
    """Packages that are not there or too old, and how many are as they should be."""
    fine, needed = 0, [line for line in _required() if "extra ==" not in line]
    for requirement in needed:
        name, _, oldest = requirement.partition(">=")
        try:
            version = metadata.version(name)
        except metadata.PackageNotFoundError:
            version = ""
        if version and _numbers(version) >= _numbers(oldest):
            fine += 1
        else:
            there_is = f", there is {version}" if version else ""
            yield Finding(MISSING, f"package {requirement}{there_is} (pip install '{requirement}')")
    yield Finding(OK, f"{fine} of {len(needed)} packages in the versions that are needed")


def _numbers(version: str) -> list[int]:
    """The release of a version, to be compared.

    >>> _numbers("2.13.0+cpu") >= _numbers("2.6")
    True
    """
    return [int(number) for number in re.match(r"[\d.]*\d", version + ".0")[0].split(".")]


def _required() -> list[str]:
    """What pyproject.toml of a clone, or the metadata of an installed package, asks for, each as
    `name>=version`.
    """
    project = repository() / "pyproject.toml"
    if project.is_file():
        return tomllib.loads(project.read_text(encoding="utf-8"))["project"]["dependencies"]
    return metadata.requires("toporank") or []


def _workflow() -> Iterator[Finding]:
    missing = [name for name in (*WORKFLOW, SCRIPT) if not (repository() / name).is_file()]
    script = repository() / SCRIPT
    if missing:
        yield Finding(MISSING, f"{missing[0]} of the workflow in {repository()} ({REINSTALL})")
    elif not os.access(script, os.X_OK):
        yield Finding(MISSING, f"permission to run {script} (chmod +x {script.parent}/*)")
    else:
        yield Finding(OK, f"workflow in {repository()}")


def _computing() -> Iterator[Finding]:
    """Whether what is compiled can be imported, is compiled, and fits the scorer that ships."""
    try:
        installation = importlib.import_module(
            "toporank.app.installation"
        )  # imports torch and numba
    except (ImportError, OSError) as error:
        yield Finding(MISSING, f"PyTorch or Numba, which cannot be imported: {error} ({REINSTALL})")
        return
    folders = installation.cache_folders()
    bare = [folder for folder in folders if not any(folder.rglob("*.nbi"))]
    temporary = [folder for folder in folders if folder.is_relative_to(tempfile.gettempdir())]
    if temporary and not PACKAGE.is_relative_to(tempfile.gettempdir()):
        yield Finding(
            OPTIONAL,
            "no folder for compiled code: every job compiles (set NUMBA_CACHE_DIR to one that you "
            "can write)",
        )
    elif bare:
        yield Finding(
            OPTIONAL, "not compiled yet: the first run takes a minute longer (toporank compile)"
        )
    else:
        yield Finding(OK, f"compiled, in {folders[0].parent}")
    yield from _scorer()


def _scorer() -> Iterator[Finding]:
    from toporank.scorer.scorer import Scorer

    folder = repository() / layout.SHIPPED_SCORER
    try:
        damaged = Scorer.open(folder).missing
    except TopoRankError as error:
        damaged = str(error)
    remedy = f"restore the folder {folder}"
    yield (
        Finding(MISSING, f"scorer: {damaged} ({remedy})")
        if damaged
        else Finding(OK, f"scorer in {folder}, whole")
    )


def _places() -> Iterator[Finding]:
    """Where results and caches go."""
    try:
        with tempfile.TemporaryFile(dir="."):
            free = shutil.disk_usage(".").free / 2**30
            yield Finding(OK, f"the working directory can be written, {free:,.0f} GB free")
    except OSError as error:
        yield Finding(
            OPTIONAL,
            f"the working directory cannot be written: {error.strerror} (write elsewhere with -o)",
        )


def _optional() -> Iterator[Finding]:
    for program, what_for in PROGRAMS.items():
        path = shutil.which(program)
        yield (
            Finding(OK, f"{program}: {path}")
            if path
            else Finding(OPTIONAL, f"no {program} ({what_for})")
        )
    for module, what_for in MODULES.items():
        known = importlib.util.find_spec(module)
        yield Finding(OK, module) if known else Finding(OPTIONAL, f"no {module} ({what_for})")


CHECKS: tuple[Callable[[], Iterator[Finding]], ...] = (
    _python,
    _packages,
    _workflow,
    _computing,
    _places,
    _optional,
)
