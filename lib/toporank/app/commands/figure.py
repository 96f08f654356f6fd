"""`toporank figure`: pictures of a folder that `toporank score` wrote."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import Any

from toporank.errors import TopoRankError

KINDS = ("ranking", "screen", "structure", "pae", "contacts")
COLOURS = ("partner", "quality", "plddt")
FORMATS = ("png", "svg", "pdf")
DPI = 300


def add(commands: Any) -> None:
    """Add the command and its arguments."""
    summary = "figures of a folder that `score` wrote"
    parser = commands.add_parser("figure", help=summary, description=summary)
    parser.add_argument(
        "answer", metavar="ANSWER", type=Path, help="the OUT of `toporank score`"
    )
    parser.add_argument("--target", metavar="T", help="target (the most promising one)")
    parser.add_argument("--model", metavar="M", help="one of its models (the best one)")
    what = (
        "ranking: the models of the target; screen: the best model of each target; structure: "
        "the backbone; pae: predicted aligned error; contacts: which residues touch (all)"
    )
    parser.add_argument("--kind", choices=KINDS, help=what)
    parser.add_argument(
        "--colour", choices=COLOURS, default="partner", help="of a structure (partner)"
    )
    parser.add_argument(
        "--interface", metavar="A:B", default="", help="contacts of two partners (all)"
    )
    parser.add_argument(
        "--columns",
        type=int,
        choices=(1, 2),
        default=1,
        help="width: one column of a journal, 89 mm, or two, 183 mm (1)",
    )
    parser.add_argument(
        "--format", choices=FORMATS, default="png", help=f"png has {DPI} dpi (png)"
    )
    where = "where to write (here)"
    parser.add_argument(
        "-o", "--out", type=Path, metavar="FOLDER", default=Path(), help=where
    )
    parser.set_defaults(run=figure)


def figure(args: argparse.Namespace) -> int:
    """Draw, and print the name of each file.

    Where all kinds are drawn, a line says why one is missing.

    Raises
    ------
    TopoRankError : a picture that the user names cannot be drawn
    """
    from toporank.app.commands.running import out_folder
    from toporank.ranking.scored_folder import open_answer
    from toporank.report.figure_kinds import DRAWN, choice_of
    from toporank.report.figures import new_figure

    with new_figure(1, 1):  # says at once how to install matplotlib
        pass
    choice = choice_of(
        open_answer(args.answer),
        args.target or "",
        args.model or "",
        colour=args.colour,
        interface=args.interface,
        columns=args.columns,
    )
    kinds = [args.kind] if args.kind else list(KINDS)
    if not args.kind and len(choice.scored.targets) < 2:
        kinds.remove("screen")
    folder = out_folder(args.out)
    # both widths of a figure may lie in one folder
    ending = f"_2_columns.{args.format}" if args.columns == 2 else f".{args.format}"
    for kind in kinds:
        try:
            for name, drawing in DRAWN[kind](choice):
                plain = re.sub(r"[^\w.+-]+", "_", name)
                path = folder / f"{plain}{ending}"
                drawing.savefig(path, dpi=DPI)
                print(path, flush=True)
        except (TopoRankError, OSError) as error:
            if args.kind:
                raise
            print(f"no {kind}: {error}", flush=True)
    return 0
