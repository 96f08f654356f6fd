"""`toporank merge`: folders that `toporank score` wrote for the parts of a screen, joined into one."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from toporank import layout
from toporank.app.commands.given import name_of
from toporank.app.commands.running import claimed
from toporank.layout import repository


def add(commands: Any) -> None:
    """The command and its arguments."""
    said = "join runs of `toporank score`, such as the parts of a screen, into one"
    parser = commands.add_parser("merge", help=said, description=said)
    what = "folders that `toporank score` wrote"
    parser.add_argument("runs", metavar="RUN", type=Path, nargs="+", help=what)
    where = "folder for the whole: its tables, its page and the structures of the best models"
    parser.add_argument("--into", type=Path, metavar="FOLDER", required=True, help=where)
    other = "the scorer that scored the runs, if it is not where it was"
    parser.add_argument("--scorer", type=Path, metavar="PATH", help=other)
    parser.set_defaults(run=merge_runs)


def merge_runs(args: argparse.Namespace) -> int:
    """Join the runs and print the answer of the whole. Raises TopoRankError when it cannot be done."""
    from toporank.app.commands.shown import answer
    from toporank.report.formatting import counted
    from toporank.report.runs.folder import Place  # these import numpy, for which --help need not wait
    from toporank.report.runs.merge import check_room, joinable, scorer_of, write_whole

    places = [Place.find(folder) for folder in args.runs]
    into = Place(args.into.resolve(), name_of(args.into), args.into.name)
    check_room(into, places)
    whole = joinable(places)
    scorer = scorer_of(whole, args.scorer, repository() / layout.SHIPPED_SCORER)
    claimed(args.into)
    write_whole(whole, into, scorer)
    for part in whole.parts:
        print(f"{part.place.out}: {counted(len(part.targets), 'target')}")
    if whole.twice:
        others = f" and {len(whole.twice) - 1:,} more" if len(whole.twice) > 1 else ""
        print(f"{whole.twice[0]}{others}: several runs have the same rows; the whole has them once")
    said, scored = answer(args.into, into.dataset)
    print("\n".join(said))
    return 0 if scored else 1
