"""One run of the workflow for a command: what Snakemake prints goes to a log, a person sees a few lines."""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import os
import platform
import re
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TextIO

from toporank import layout
from toporank.app.workflow import locks
from toporank.errors import ConfigError, TopoRankError
from toporank.files.atomic import user_cache, write_text
from toporank.layout import PACKAGE, repository

LOG = "run.log"
"""In OUT: everything that Snakemake printed in the last run."""
SETTINGS = layout.SETTINGS
CACHE = ".toporank/cache"
"""In OUT: stands for the user's cache folder where that cannot be written, so that code is compiled only once."""
_ONLY_SHOW = re.compile(
    r"-[Ffakpq]*[hnltSDv].*|--(lc|li|lp|lt|lu|cm|help|version|dry-?run|touch|unlock|lint|report|archive|containerize"
    r"|dag|d3dag|rulegraph|filegraph|summary|detailed-summary|print-compilation|export-cwl|generate-unit-tests"
    r"|(list|delete|cleanup|conda-cleanup-envs|conda-create|container-cleanup)(-.+)?)(=.*)?"
)
"""Arguments of Snakemake with which nothing is computed, and what it prints is what was asked for."""
RUNNING = ".toporank/running"
"""In OUT: the machine on which Snakemake and all its jobs are at work there. A run that was killed leaves it."""
OF_SNAKEMAKE = ".snakemake/locks"
"""In OUT: the locks of Snakemake, which do not end with its process."""
GOES_ON = "The last run here was killed. This one goes on from where it was."
MOST_LINES = 20
"""Lines of an error that are shown; the log has them all."""

_DECOYS = re.compile(r"^(\S+: [\d,]+/[\d,]+ decoys, .* (\d+) % done.*)$")
_STEPS = re.compile(r"^(\d+) of (\d+) steps \(")
_NOTHING = "Nothing to be done"
_ERROR = re.compile(r"^(\w+(Error|Exception)\b|Error:|\S+: error: )")
_FAILED_JOB = re.compile(r"^logs/\S.*\.log:$")
_TRACEBACK = re.compile(r'^\s+File ".*", line \d+|^Complete log|^At least one job did not')
_LOCKED = "Directory cannot be locked"


class RunError(TopoRankError):
    """The workflow did not reach its end."""


class Progress:
    """How far a run is: on a terminal one line that is drawn anew, elsewhere a line for every quarter of the work."""

    def __init__(self, stream: TextIO):
        self._stream = stream
        self._quarters = 0

    def show(self, line: str) -> None:
        """Take note of a line of Snakemake, which speaks of decoys; a person reads of models."""
        decoys, steps = _DECOYS.match(line), _STEPS.match(line)
        said = decoys[1].replace(" decoys,", " models,", 1) if decoys else ""
        if self._stream.isatty():
            text = said if decoys else f"step {steps[1]} of {steps[2]}" if steps else ""
            if text:
                self._stream.write(f"\r\x1b[K{text[: shutil.get_terminal_size().columns - 1]}")
                self._stream.flush()
        elif decoys and int(decoys[2]) // 25 > self._quarters:
            self._quarters = int(decoys[2]) // 25
            print(said, file=self._stream, flush=True)

    def clear(self) -> None:
        """Remove the line from a terminal."""
        if self._stream.isatty():
            self._stream.write("\r\x1b[K")
            self._stream.flush()


def running_arguments() -> argparse.ArgumentParser:
    """The arguments of all commands that run the workflow, as a parent of their parsers."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--cores", type=int, metavar="N", help="processor cores to use (all)")
    parser.add_argument("--slurm", action="store_true", help="submit the jobs to Slurm (docs/cluster.md)")
    parser.add_argument(
        "--snakemake-args", nargs=argparse.REMAINDER, default=[], metavar="...", help="what follows goes to Snakemake"
    )
    return parser


def out_folder(folder: Path) -> Path:
    """The folder for results, made if it is not there. Raises ConfigError when it cannot be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError as error:
        raise ConfigError(
            f"cannot be written: {error.strerror}", where=folder.absolute(), remedy="choose another folder with -o"
        ) from error


def claimed(folder: Path) -> Path:
    """As `out_folder`, for this command alone until it ends; call it before anything there is changed.

    Raises ConfigError when another command is at work there.
    """
    locks.take(["this folder"], out_folder(folder), "another folder with -o")
    return folder


def make(target: str, config: Path, out: Path, args: argparse.Namespace) -> bool:
    """Make a target of the workflow in `out`; whether it is there now, and not only something about it was asked.

    target : its name, or several with spaces between. args : with `running_arguments`. Raises RunError with the reason
    when it fails.
    """
    announce_compilation()
    arguments, unlock = snakemake_arguments(target, config, out, args), unlocking(args)
    if only_shows(args.snakemake_args):
        print("\n".join(_run(arguments, out, Progress(sys.stdout), unlock)))
        return False
    go_on(out)
    with noted(out, elsewhere=bool(args.slurm or args.snakemake_args)):
        lines = _run(arguments, out, Progress(sys.stdout), unlock)
    if any(line.startswith(_NOTHING) for line in lines):
        print("Nothing to do, everything is up to date.")
    return True


def go_on(out: Path) -> None:
    """Remove the lock of Snakemake that a killed run left in `out`, if that run was on this machine and has ended.

    Our locks end with their processes: where this one can have them all, no other is at work there. Raises ConfigError
    when another is.
    """
    note = out / RUNNING
    here = note.exists() and note.read_text(encoding="utf-8") == platform.node()
    if here and _is_locked(out) and locks.take_all(out):
        shutil.rmtree(out / OF_SNAKEMAKE)
        print(GOES_ON, flush=True)


@contextlib.contextmanager
def noted(out: Path, *, elsewhere: bool) -> Iterator[None]:
    """Note for `go_on` that a run is at work in `out`, until its Snakemake has taken its lock away.

    elsewhere : whether jobs may go on where this machine does not see them, such as on a cluster; then it notes
    nothing.
    """
    note = out / RUNNING
    if not _is_locked(out):  # otherwise by another run, whose note it is
        note.unlink(missing_ok=True)
        if not elsewhere:
            write_text(note, platform.node())
    try:
        yield
    finally:
        if not _is_locked(out):
            note.unlink(missing_ok=True)


def _is_locked(out: Path) -> bool:
    return any((out / OF_SNAKEMAKE).glob("*.lock"))


def unlocking(args: argparse.Namespace) -> str:
    """The command that takes away the lock of a run that was killed: the one that was given, and some words more."""
    return f"{args.typed} {'' if args.snakemake_args else '--snakemake-args '}--unlock"


def only_shows(arguments: Iterable[str]) -> bool:
    """Whether Snakemake computes nothing with these arguments, such as those of a dry run.

    >>> only_shows(["--config", "rank_by=min_interface"]), only_shows(["-np"])
    (False, True)
    """
    return any(_ONLY_SHOW.fullmatch(argument) for argument in arguments)


def snakemake_arguments(target: str, config: Path, out: Path, args: argparse.Namespace) -> list[str]:
    """The arguments of Snakemake that make a target of the workflow in `out`.

    All cores that this process may use are used if `args` names none; on Slurm, what the profile says counts.
    """
    arguments = ["--snakefile", str(repository() / "Snakefile"), "--directory", str(out)]
    arguments += ["--profile", str(repository() / "slurm")] if args.slurm else []
    if args.cores or not args.slurm:
        arguments += ["--cores", str(args.cores or len(os.sched_getaffinity(0)))]
    return [*arguments, *target.split(), "--configfile", str(config.absolute()), *args.snakemake_args]


def _run(arguments: list[str], out: Path, progress: Progress, unlock: str) -> list[str]:
    """Run Snakemake with its log in `out`; returns what it printed. unlock : as for `why_it_failed`.

    It runs in a copy of this process, since all that it imports of this library is there already.
    """
    printed, write_end = os.pipe()
    process = multiprocessing.get_context("fork").Process(target=_snakemake, args=(arguments, out, write_end))
    process.start()
    os.close(write_end)
    lines = []
    try:
        with open(out / LOG, "w", encoding="utf-8") as log, open(printed, encoding="utf-8", errors="replace") as text:
            for line in text:
                log.write(line)
                log.flush()
                lines.append(line.rstrip("\n"))
                progress.show(lines[-1])
        process.join()
    except KeyboardInterrupt:
        process.join()  # Snakemake was interrupted, too, and ends its jobs
        raise RunError("interrupted", remedy="the same command goes on from here") from None
    finally:
        progress.clear()
    if process.exitcode:
        killed = [f"Snakemake was killed by signal {-process.exitcode}."] if process.exitcode < 0 else []
        reason = "\n".join(killed or why_it_failed(lines, unlock))
        raise RunError(f"The run failed; {out / LOG} has all that was printed.\n{reason}")
    return lines


def _snakemake(arguments: list[str], out: Path, write_end: int) -> None:
    """What `python -m snakemake` does, printed into a pipe."""
    for stream in (1, 2):
        os.dup2(write_end, stream)
    os.close(write_end)
    os.environ.update(_cache_of_its_own(out))
    from snakemake.cli import main  # what its plug-ins warn of goes into the log, too

    main(arguments)


def _cache_of_its_own(out: Path) -> dict[str, str]:
    """Environment variables for a cache folder in `out`, where the user's cannot be written; otherwise none."""
    try:
        user_cache().mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=user_cache()):
            return {}
    except OSError:
        return dict.fromkeys(("XDG_CACHE_HOME", "MPLCONFIGDIR"), str((out / CACHE).absolute()))


def announce_compilation() -> None:
    """Say that the first run takes longer, if this is the first."""
    if not _compiled():
        print("The first run compiles first, which takes about a minute.", flush=True)


def _compiled() -> bool:
    """Whether some code was compiled before; looking closer would mean to import numba, which takes a second."""
    here = Path(os.environ.get("NUMBA_CACHE_DIR") or PACKAGE)
    places = {here: "**/toporank-*/**/*.nbi", user_cache(): "toporank-*/**/*.nbi"}
    return any(next(place.glob(pattern), None) for place, pattern in places.items())


def why_it_failed(lines: list[str], unlock: str = "") -> list[str]:
    """The lines that tell a person why: the end of the logs of jobs that failed, or else what Snakemake reports.

    unlock : the command that takes away the lock of a run that was killed.
    """
    if any(_LOCKED in line for line in lines):
        return [
            "A run is at work there, or one was killed. TopoRank cannot see which: that run was on another machine, had"
            " --slurm or --snakemake-args, or was not started by toporank. If none is at work, give this command, and"
            " then yours again:",
            f"  {unlock}",
        ]
    found = [line for first in _numbers(_FAILED_JOB, lines) for line in [lines[first], *_indented(lines[first + 1 :])]]
    if not found and (errors := _numbers(_ERROR, lines)):
        below = lines[errors[-1] + 1 :]
        end = next((i for i, line in enumerate(below) if _TRACEBACK.match(line)), len(below))
        headline = [] if ' in file "' in lines[errors[-1]] and end else [lines[errors[-1]]]
        found = [*headline, *below[:end]]
    return (found or lines)[-MOST_LINES:]


def _numbers(pattern: re.Pattern, lines: list[str]) -> list[int]:
    return [number for number, line in enumerate(lines) if pattern.match(line)]


def _indented(lines: list[str]) -> list[str]:
    end = next((i for i, line in enumerate(lines) if not line.startswith("  ")), len(lines))
    return lines[:end]
