"""What surrounds the jobs of a run.

It has reasons to refuse it, their environment, and locks against a second run.

Snakemake's own lock does not last: a second run that shares no files with the first, such as
`snakemake coverage`, is let in and removes all locks of the folder when it ends. The locks here
belong to a process and end with it.
"""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from filelock import FileLock, Timeout
from snakemake.common import NOTHING_TO_BE_DONE_MSG
from snakemake.logging import logger
from snakemake.settings.enums import Quietness

from toporank import layout
from toporank.errors import ConfigError
from toporank.files.atomic import user_cache
from toporank.layout import PACKAGE
from toporank.workers import KILLED

if TYPE_CHECKING:
    from toporank.app.workflow.preflight import Preflight

PLANNING = "Building DAG of jobs..."
"""What Snakemake says before it looks for jobs."""
OF_TRAINING = ("finetune", "cross_validation", "final", "scorer", "splits.csv")
PATIENCE = 30
"""Seconds in which a controller of Slurm must answer."""
ROOMS = dict.fromkeys(OF_TRAINING, layout.TRAINING)
ROOMS |= {name: name for name in (layout.TRAINING, layout.SAMPLING)}
"""What is locked for work on each part of `results/` that belongs to no data set."""

_held: dict[Path, FileLock] = {}
"""Locks by path. They end with this process at the latest."""


OF_JOBS = (
    "try again with fewer --cores or a smaller workflow.chunk_size, or where there is more memory; "
    "finished models are kept"
)


def lock(
    names: Iterable[str],
    folder: Path | None = None,
    place: str = "another place with --directory",
) -> None:
    """Lock these names in a folder, or the working directory.

    The lock lasts until this process and its copies end.

    Raises ConfigError when another process holds one of them. A file system without locks is no
    error.
    """
    folder = (folder or Path()).resolve()
    for name in sorted(set(names)):
        path = folder / layout.LOCK.format(name=name)
        if path in _held:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        of_path = FileLock(path, timeout=0)
        try:
            with contextlib.suppress(NotImplementedError):
                of_path.acquire()
        except Timeout as error:
            raise ConfigError(
                f"another run is working on {name}",
                where=folder,
                remedy=f"wait for its end, or choose {place}",
            ) from error
        _held[path] = of_path


def trained(dag: Any) -> dict[str, Path]:
    """The training runs of a run of the workflow.

    Name, with the fold if there is one → where the job leaves its last line.
    """
    runs = {}
    for job in dag.needrun_jobs():
        if "run" in job.wildcards.keys():  # noqa: SIM118 -- a Namedlist
            path = layout.progress_of_run(job.params.folder)
            runs[path.relative_to(layout.TRAINING_PROGRESS).as_posix()] = path
    return runs


def problems(dag: Any, check: Preflight) -> list[str]:
    """What keeps a run from its work.

    Decoys can be sampled before there is anything in the data sets they are for.
    """
    rules = {job.rule.name for job in dag.needrun_jobs()}
    sampling = {rule for rule in rules if rule.startswith("sample_")}
    faults = [] if rules and rules == sampling else [*check.problems]
    if sampling:
        rules.add(layout.SAMPLING)
    if trained(dag):
        rules.add(layout.TRAINING)
    for what, lines in check.problems_of.items():
        faults += lines if what in rules else []
    return faults


def refuse(faults: list[str], what: str = "nothing was run") -> NoReturn:
    """End this process with what keeps a run from its work, a line each."""
    logger.error("\n  ".join([f"Preflight failed, {what}:", *faults]))
    sys.exit(1)


class BeforeJobs(logging.Handler):
    """Ends Snakemake with exit code 1 where the jobs of a data set cannot be known.

    A dry run with other faults, where a run would end before its jobs, ends behind them: Snakemake
    has no hook there, but counts them before and behind.
    """

    def __init__(self, workflow: Any, check: Preflight):
        super().__init__()
        self.workflow = workflow
        self.check = check
        hidden = {Quietness.RULES, Quietness.PROGRESS}
        quiet = set(workflow.output_settings.quiet or ())
        self.n_counts = 1 if quiet == hidden else 2  # jobs are not shown, but counted
        self.faults: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Take what Snakemake tells."""
        if record.msg == PLANNING and self.check.lacks_plan:
            refuse(self.check.problems)
        if not self.workflow.dryrun:
            return
        if record.msg == NOTHING_TO_BE_DONE_MSG:
            self.faults = self.check.problems
            self.n_counts = 0
        elif hasattr(record, "stats"):
            # behind its jobs none is left
            self.faults = self.faults or problems(self.workflow.dag, self.check)
            self.n_counts -= 1
        if self.faults and self.n_counts <= 0:
            # the error that `refuse` logs comes here, too
            faults, self.faults = self.faults, []
            refuse(faults, "a run would end here")


def forget_killed(dag: Any) -> None:
    """Remove what the killed jobs of earlier runs left."""
    for job in dag.needrun_jobs():
        for log in job.log:
            layout.mark_of_running(log).unlink(missing_ok=True)


def killed(dag: Any) -> list[str]:
    """Which jobs of a run were killed, with what to do, a line each."""
    lines = []
    for job in dag.needrun_jobs():
        marks = [layout.mark_of_running(log) for log in job.log]
        if any(mark.exists() for mark in marks) and not dag.finished(job):
            lines.append(f"{job.rule.name}, {job.log[0]}: the job {KILLED} ({OF_JOBS})")
    return lines


def claimed(dag: Any) -> set[str]:
    """What no other run may work on at the same time.

    These are names of data sets, `training` and `sampling`.

    What a job writes decides. Features alone, such as those of one decoy, may be built during
    another run: they change nothing that others read.
    """
    claims = set()
    for job in dag.needrun_jobs():
        wildcards = set(job.wildcards.keys())
        if wildcards & {"chunk", "decoy"}:
            continue
        if "dataset" in wildcards:
            claims.add(job.wildcards.dataset)
            continue
        for path in job.output:
            room = Path(path).parts[1:2]
            if room and room[0] in ROOMS:
                claims.add(ROOMS[room[0]])
    return claims


def use_this_environment(reuse_store: str) -> None:
    """Let jobs find workflow scripts, library, reuse store and the Python that runs Snakemake.

    Set through the environment rather than in commands: where a clone, its virtual environment or
    the store lies must not make finished results look outdated. A conda environment of a rule still
    comes first. What the user has on PATH and PYTHONPATH stays there, behind ours.
    """
    repository = layout.repository()
    front = [str(Path(sys.executable).parent), str(repository / "workflow_scripts")]
    os.environ["PATH"] = _before(os.environ.get("PATH", ""), front)
    os.environ["PYTHONPATH"] = _before(
        os.environ.get("PYTHONPATH", ""), [str(repository / "lib")]
    )
    os.environ["PYTHONHASHSEED"] = "0"
    os.environ["TOPORANK_STORE"] = reuse_store


def _before(path: str, front: list[str]) -> str:
    """A search path with these folders first, and once."""
    # an empty entry would be the working directory
    behind = path.split(os.pathsep) if path else []
    return os.pathsep.join(dict.fromkeys([*front, *behind]))


def submission_problems(executor: str, python: str) -> list[str]:
    """Return why jobs cannot be submitted.

    python : the interpreter, which Snakemake writes into jobs without quotes.
    """
    problems = []
    without_slurm = _why_no_slurm() if executor == "slurm" else ""
    if without_slurm:
        problems.append(
            f"--profile slurm: {without_slurm} (start on a login node of the cluster,"
            " or leave the profile out to run on this machine)"
        )
    if any(character.isspace() for character in python):
        problems.append(
            f"jobs cannot be submitted with a Python whose path has a space: {python}"
            " (make the .venv in a folder without one; the repository itself may stay)"
        )
    return problems


def _why_no_slurm() -> str:
    """Return why no job can be submitted to Slurm, or nothing where its controller answers."""
    if not shutil.which("sbatch"):
        return "sbatch is not on the PATH"
    try:
        answer = subprocess.run(
            ["scontrol", "ping"], capture_output=True, text=True, timeout=PATIENCE
        )
    except FileNotFoundError:
        return ""  # a cluster with a sbatch of its own
    except subprocess.TimeoutExpired:
        return f"no controller of Slurm answered within {PATIENCE} seconds"
    if "is UP" in answer.stdout:
        return ""
    states = answer.stdout.split("\n")[0] or answer.stderr.strip().split("\n")[-1]
    return f"no controller of Slurm answers: {states}"


def first_compilation() -> str:
    """Return that this run takes longer since it compiles, or nothing where code is compiled.

    Looking closer than for files would mean to import numba, which takes a second.
    """
    beside_code = PACKAGE.parent.glob("toporank*/**/toporank-*/**/*.nbi")
    if os.environ.get("NUMBA_CACHE_DIR"):
        beside_code = Path(os.environ["NUMBA_CACHE_DIR"]).glob("toporank-*/**/*.nbi")
    in_cache = user_cache().glob("toporank-*/**/*.nbi")
    is_compiled = any(beside_code) or any(in_cache)
    return "" if is_compiled else "Compiling (once, about a minute)."
