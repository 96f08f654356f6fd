"""`toporank`, or `python -m toporank`: everything a user types.

score FOLDER         the decoys of a folder, scored and ranked
train, label         a scorer of your own, and labels from natives
runs                 finished training runs
compare A B          two scored folders, target by target
figure ANSWER        pictures for slides, of what `score` wrote
doctor               checks the installation
config               every configuration key, as Markdown (the source of config/README.md)
completion SHELL     completion of commands and options for bash and zsh
compile              compiles what is compiled, once after installing
"""

from __future__ import annotations

import argparse
import errno
import sys
import time
from pathlib import Path

from toporank import __version__
from toporank.app.commands import (
    compare,
    completion,
    config_reference,
    doctor,
    figure,
    run_list,
    score,
    train_and_label,
)
from toporank.app.commands.running import running_arguments
from toporank.errors import TopoRankError
from toporank.garbage import end_without_search, not_searched

NO_ROOM = (
    "a disk is full: make room where the results lie and for temporary files (TMPDIR), or choose "
    "another folder with -o, and give the same command again"
)


def main(arguments: list[str] | None = None) -> int:
    """Run a command and return its exit status."""
    prog = "toporank" if Path(sys.argv[0]).name == "toporank" else "python -m toporank"
    what = "Rank the models of protein complexes by predicted DockQ."
    parser = argparse.ArgumentParser(prog=prog, description=what)
    parser.add_argument(
        "--version", action="version", version=f"toporank {__version__}"
    )
    commands = parser.add_subparsers(dest="command", required=True)
    running = running_arguments()
    score.add(commands, running)
    train_and_label.add(commands, running)
    run_list.add(commands)
    compare.add(commands)
    figure.add(commands)
    doctor.add(commands)
    config_reference.add(commands)
    compiling = commands.add_parser(
        "compile", help="compile all numba code, once after installing"
    )
    compiling.set_defaults(run=_compile)
    completion.add(commands)
    args = parser.parse_args(arguments)
    end_without_search()
    try:
        with not_searched():
            return args.run(args)
    except KeyboardInterrupt:
        sys.exit("interrupted (the same command goes on from here)")
    except TopoRankError as error:
        sys.exit(str(error))
    except OSError as error:
        remedy = NO_ROOM if error.errno == errno.ENOSPC else None
        what = error.strerror or str(error)
        sys.exit(str(TopoRankError(what, where=error.filename, remedy=remedy)))


def _compile(_: argparse.Namespace) -> int:
    """Name each part while it compiles; code that is already compiled is only loaded."""
    from toporank.app import installation  # imports torch and numba

    begin = before = time.monotonic()
    print(
        "Compiling: about 40 s, once. Later runs use what is compiled now.", flush=True
    )
    for part in installation.compile_everything():
        print(f"  {part}: {time.monotonic() - before:.1f} s", flush=True)
        before = time.monotonic()
    print(f"Compiled in {time.monotonic() - begin:.0f} s. Kept in")
    for folder in installation.cache_folders():
        print(f"  {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
