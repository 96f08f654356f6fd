"""One run of the workflow for a command: Snakemake, in the foreground."""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from toporank import layout
from toporank.app.workflow import runs
from toporank.errors import TopoRankError
from toporank.files.atomic import check_writable, user_cache
from toporank.layout import repository
from toporank.workers import n_cores

SETTINGS = layout.SETTINGS
CACHE = ".toporank/cache"
"""In OUT: in place of the user's cache folder where that cannot be written, so that code is
compiled only once.
"""
ONLY_SHOW = re.compile(
    r"-[a-zA-Z]*n[a-zA-Z]*|-[hltSDv]|--(help|version|dry-?run|touch|unlock|lint|report|dag|(rule|file)graph"
    r"|(detailed-)?summary|generate-unit-tests|list-.+|cleanup-.+|delete-.+|archive|containerize)(=.*)?"
)
"""Arguments of Snakemake with which nothing is computed, and what it prints is what the user wants
to see.
"""


class RunError(TopoRankError):
    """The workflow did not reach its end."""


def running_arguments() -> argparse.ArgumentParser:
    """The arguments of all commands that run the workflow, as a parent of their parsers."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument(
        "--cores", type=int, metavar="N", help="processor cores to use (all)"
    )
    parser.add_argument(
        "--slurm",
        action="store_true",
        help="submit the jobs to Slurm (docs/cluster.md)",
    )
    parser.add_argument(
        "--snakemake-args",
        nargs=argparse.REMAINDER,
        default=[],
        metavar="...",
        help="arguments passed to Snakemake",
    )
    return parser


def out_folder(folder: Path) -> Path:
    """Return the folder for results, made if it is missing.

    Raises ConfigError when it cannot be written.
    """
    check_writable(folder, "choose another folder with -o")
    return folder


def lock_folder(folder: Path) -> Path:
    """As `out_folder`, for this command alone until it ends.

    Call it before anything there is changed.

    Raises ConfigError when another command is at work there.
    """
    runs.lock(["this folder"], out_folder(folder), "another folder with -o")
    return folder


def run_snakemake(
    target: str, config: Path, out: Path, args: argparse.Namespace
) -> bool:
    """Make a target of the workflow in a folder.

    Parameters
    ----------
    target : its name, or several with spaces between
    config : configuration
    out : the folder
    args : with `running_arguments`

    Returns
    -------
    Whether the target is there now; False where Snakemake only showed something.

    Raises
    ------
    RunError : when it fails; Snakemake has printed why
    """
    arguments = snakemake_arguments(target, config, out, args)
    command = [sys.executable, "-m", "snakemake", *arguments]
    snakemake = subprocess.Popen(command, env={**os.environ, **_own_cache(out)})
    try:
        code = snakemake.wait()
    except KeyboardInterrupt:
        snakemake.wait()  # it was interrupted, too, and ends its jobs
        raise
    if code < 0:
        raise RunError(f"Snakemake was killed by signal {-code}")
    if code:
        what = "the workflow did not reach its end"
        raise RunError(what, where=out, remedy="the reason is above")
    return not is_dry_run(args.snakemake_args)


def is_dry_run(arguments: Iterable[str]) -> bool:
    """Whether Snakemake computes nothing with these arguments, such as those of a dry run.

    >>> is_dry_run(["--config", "rank_by=min_interface"]), is_dry_run(["-np"])
    (False, True)
    """
    return any(ONLY_SHOW.fullmatch(argument) for argument in arguments)


def snakemake_arguments(
    target: str, config: Path, out: Path, args: argparse.Namespace
) -> list[str]:
    """The arguments of Snakemake that make a target of the workflow in `out`.

    All cores that this process may use are used if `args` names none; on Slurm, what the profile
    says counts. Without a cluster Snakemake's own lock is left out: it would outlive a killed run,
    and ours end with their process.
    """
    arguments = [
        "--snakefile",
        str(repository() / "Snakefile"),
        "--directory",
        str(out),
    ]
    if args.slurm:
        arguments += ["--profile", str(repository() / "slurm")]
    if args.cores or not args.slurm:
        arguments += ["--cores", str(args.cores or n_cores())]
    if not args.slurm and not args.snakemake_args:
        arguments.append("--nolock")
    configuration = ["--configfile", str(config.absolute())]
    return [*arguments, *target.split(), *configuration, *args.snakemake_args]


def _own_cache(out: Path) -> dict[str, str]:
    """Environment variables that put caches into `out` where the user's cannot be written."""
    try:
        user_cache().mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=user_cache()).close()
    except OSError:
        cache = str((out / CACHE).absolute())
        return {"XDG_CACHE_HOME": cache, "MPLCONFIGDIR": cache}
    return {}
