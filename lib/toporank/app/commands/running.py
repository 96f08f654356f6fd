"""One run of the workflow for a command.

What Snakemake prints goes to a log, and a person sees how far it is.
"""

from __future__ import annotations

import argparse
import itertools
import multiprocessing
import os
import re
import tempfile
from collections.abc import Iterable
from pathlib import Path

from tqdm import tqdm

from toporank import layout
from toporank.app.workflow import runs
from toporank.errors import TopoRankError
from toporank.files.atomic import check_writable, user_cache
from toporank.layout import PACKAGE, repository
from toporank.workers import n_cores

LOG = "run.log"
"""In OUT: everything that Snakemake printed in the last run."""
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
MOST_LINES = 20
"""Lines of an error that are shown; the log has them all."""
_DECOYS = re.compile(r"^\S+(, \w+)?: [\d,]+/[\d,]+ decoys, ")
_EPOCH = re.compile(r"^\S+: epoch \d+ of at most .* left$")
_STEPS = re.compile(r"^\d+ of \d+ steps \((\d+)%\) done")
_FAILED_JOB = re.compile(r"^logs/\S.*\.log:$")
_ERROR = re.compile(r"^(\w+(Error|Exception)\b|Error:|\S+: error: )")
_TRACEBACK = re.compile(
    r'^\s+File ".*", line \d+|^Complete log|^At least one job did not'
)


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


def claimed(folder: Path) -> Path:
    """As `out_folder`, for this command alone until it ends.

    Call it before anything there is changed.

    Raises ConfigError when another command is at work there.
    """
    runs.take(["this folder"], out_folder(folder), "another folder with -o")
    return folder


def make(target: str, config: Path, out: Path, args: argparse.Namespace) -> bool:
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
    RunError : with the reason, when it fails
    """
    announce_compilation()
    arguments = snakemake_arguments(target, config, out, args)
    lines = _run(arguments, out)
    if only_shows(args.snakemake_args):
        print("\n".join(lines))
        return False
    if any(line.startswith("Nothing to be done") for line in lines):
        print("Nothing to do, everything is up to date.")
    return True


def only_shows(arguments: Iterable[str]) -> bool:
    """Whether Snakemake computes nothing with these arguments, such as those of a dry run.

    >>> only_shows(["--config", "rank_by=min_interface"]), only_shows(["-np"])
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


def _run(arguments: list[str], out: Path) -> list[str]:
    """Run Snakemake with its log in `out`; returns what it printed.

    It runs in a copy of this process, which has already imported this library.
    """
    printed, write_end = os.pipe()
    process = multiprocessing.get_context("fork").Process(
        target=_snakemake, args=(arguments, out, write_end)
    )
    process.start()
    os.close(write_end)
    lines = []
    try:
        with (
            open(out / LOG, "w", encoding="utf-8") as log,
            open(printed, encoding="utf-8", errors="replace") as text,
            tqdm(total=100, unit="%", disable=None, leave=False) as bar,
        ):
            for line in text:
                log.write(line)
                log.flush()
                lines.append(line.rstrip("\n"))
                if steps := _STEPS.match(line):
                    bar.update(int(steps[1]) - bar.n)
                elif _EPOCH.match(line):
                    tqdm.write(lines[-1])
                elif _DECOYS.match(line):  # a person reads of models
                    tqdm.write(lines[-1].replace(" decoys,", " models,", 1))
        process.join()
    except KeyboardInterrupt:
        process.join()  # Snakemake was interrupted, too, and ends its jobs
        raise
    if process.exitcode:
        killed = f"Snakemake was killed by signal {-process.exitcode}."
        reason = killed if process.exitcode < 0 else "\n".join(why_it_failed(lines))
        raise RunError(
            f"The run failed; {out / LOG} has all that was printed.\n{reason}"
        )
    return lines


def _snakemake(arguments: list[str], out: Path, write_end: int) -> None:
    """What `python -m snakemake` does, printed into a pipe."""
    for stream in (1, 2):
        os.dup2(write_end, stream)
    os.close(write_end)
    try:
        user_cache().mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=user_cache()).close()
    except OSError:
        cache = str((out / CACHE).absolute())
        os.environ.update({"XDG_CACHE_HOME": cache, "MPLCONFIGDIR": cache})
    from snakemake.cli import main  # what its plug-ins warn of goes into the log, too

    main(arguments)


def announce_compilation() -> None:
    """Say that the first run takes longer, if this is the first.

    Looking closer than for files would mean to import numba, which takes a second.
    """
    in_package = Path(os.environ.get("NUMBA_CACHE_DIR") or PACKAGE).glob(
        "**/toporank-*/**/*.nbi"
    )
    in_cache = user_cache().glob("toporank-*/**/*.nbi")
    if not any(in_package) and not any(in_cache):
        print("Compiling (once, about a minute).", flush=True)


def why_it_failed(lines: list[str]) -> list[str]:
    """The lines that tell a person why.

    These are the ends of the logs of jobs that failed, or else what Snakemake reports.
    """
    reasons: list[str] = []
    is_log = False
    for line in lines:
        is_log = bool(_FAILED_JOB.match(line)) or (is_log and line.startswith("  "))
        if is_log:
            reasons.append(line)
    errors = [number for number, line in enumerate(lines) if _ERROR.match(line)]
    if not reasons and errors:
        error, *below = lines[errors[-1] :]
        reasons = list(
            itertools.takewhile(lambda line: not _TRACEBACK.match(line), below)
        )
        if ' in file "' not in error or not reasons:
            reasons.insert(0, error)
    return (reasons or lines)[-MOST_LINES:]
