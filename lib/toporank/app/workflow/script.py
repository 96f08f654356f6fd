"""What every job of the workflow begins and ends with: its log, its errors, its settings."""

from __future__ import annotations

import contextlib
import functools
import gc
import io
import json
import logging
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from toporank import layout
from toporank.errors import TopoRankError
from toporank.files.atomic import write_text
from toporank.garbage import end_without_search

if TYPE_CHECKING:
    from toporank.building.chunks.store import Store
    from toporank.features.registry import FeatureChoice

STORE = "TOPORANK_STORE"
"""Environment variable with the folder of the reuse store. It is no parameter of a rule: where the
store lies must not make finished results look outdated.
"""
GARBAGE = 100_000
"""New objects after which Python looks for garbage; numba makes many on import, and no garbage."""


class Job:
    """What Snakemake gives a script: its input, output, params, wildcards and threads.

    terminal : where a person looks; what is printed otherwise goes to the log of the job.
    """

    def __init__(self, snakemake: Any, terminal: TextIO):
        self._snakemake = snakemake
        self.terminal = terminal

    def __getattr__(self, name: str) -> Any:
        return getattr(self._snakemake, name)

    @property
    def dataset(self) -> str:
        """The data set of a rule that is about one."""
        return self.wildcards.dataset

    @property
    def store_folder(self) -> Path:
        """Folder of the reuse store."""
        return Path(os.environ[STORE])

    @property
    def store(self) -> Store:
        """The reuse store."""
        from toporank.building.chunks.store import Store

        return Store(self.store_folder)

    @functools.cached_property
    def choices(self) -> dict[str, FeatureChoice]:
        """The feature module of each stage, from the parameter `features`."""
        from toporank.features.registry import choose

        modules = json.loads(self.params.features)
        return {stage: choose(stage, record) for stage, record in modules.items()}

    def tell(self, *lines: str) -> None:
        """Print lines for the person who waits, and into the log."""
        for line in lines:
            print(line)
            print(line, file=self.terminal, flush=True)


class LastLine(logging.Handler):
    """Keeps the last line of a logger in a file for `progress.watch_training`."""

    def __init__(self, path: Path):
        super().__init__(logging.INFO)
        self.path = path

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line in place of the one before."""
        with contextlib.suppress(OSError):  # not worth ending a job for
            write_text(self.path, record.getMessage())

    def close(self) -> None:
        """Remove the file: of a run that has ended nobody wants to hear how far it is."""
        self.path.unlink(missing_ok=True)
        super().close()


@contextlib.contextmanager
def opened(snakemake: Any) -> Iterator[Job]:
    """Run a script of the workflow: `with opened(snakemake) as job:`.

    Whatever it prints goes to the log of its rule. A TopoRankError ends it with one line, there and
    on the terminal. A file beside the log says that the job is running; it stays where the process
    is killed, and `runs.killed` finds it.
    """
    mark = layout.mark_of_running(snakemake.log[0])
    mark.touch()
    gc.set_threshold(GARBAGE)
    end_without_search()
    terminal = os.fdopen(os.dup(1), "w", encoding="utf-8")
    # Lightning starts this script again for each further device of a run
    if os.environ.get("LOCAL_RANK", "0") == "0":
        write_text(snakemake.log[0], "")
    # libraries in C and further processes print by these numbers, too
    with open(snakemake.log[0], "a", encoding="utf-8") as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
    assert isinstance(sys.stdout, io.TextIOWrapper)
    sys.stdout.reconfigure(line_buffering=True)
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stdout)
    job = Job(snakemake, terminal)
    try:
        yield job
    except TopoRankError as error:
        job.tell(str(error))
        sys.exit(1)
    finally:
        mark.unlink(missing_ok=True)
