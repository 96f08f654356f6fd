"""`toporank compare`: two folders that `toporank score` wrote, target by target."""

from __future__ import annotations

import argparse
import importlib.util
import os
from pathlib import Path
from typing import Any

from toporank.errors import ConfigError


def add(commands: Any) -> None:
    """The command and its arguments."""
    summary = "compare two runs of `toporank score`, target by target"
    parser = commands.add_parser("compare", help=summary, description=summary)
    parser.add_argument("a", metavar="RUN_A", type=Path, help="the first run, A: a folder that `toporank score` wrote")
    parser.add_argument("b", metavar="RUN_B", type=Path, help="the second run, B")
    where = "folder for the table and the scatter (toporank_compare_<A>_<B> in the working directory)"
    parser.add_argument("-o", "--out", type=Path, metavar="OUT", help=where)
    parser.set_defaults(run=compare_runs)


def compare_runs(args: argparse.Namespace) -> int:
    """Write the table and the scatter, and print what differs. Raises TopoRankError when the runs share no target."""
    from toporank.app.commands.running import claimed
    from toporank.app.commands.shown import answer_folder
    from toporank.files.spreadsheets import write_rows
    from toporank.report.compare import COLUMNS, compare, unlike  # imports pandas, for which --help need not wait

    a, b = answer_folder(args.a), answer_folder(args.b)
    table = compare(a, b)
    counts = table["status"].value_counts()
    if set(counts.index) <= {"only_a", "only_b"}:
        remedy = "targets belong together by name or by their sequences"
        raise ConfigError(f"has no target of {args.a}", where=args.b, remedy=remedy)
    names = [run.resolve().name.removeprefix("toporank_") for run in (args.a, args.b)]
    out = claimed(args.out or Path("_".join(["toporank_compare", *names])))
    write_rows(out / "compare.csv", COLUMNS, table.itertuples(index=False))
    for reason in unlike(a, b):
        print(f"WARNING: the scores of A and B do not mean the same: {reason}")
    print("targets:", ", ".join(f"{n:,} {status}" for status, n in counts.items()))
    scored = table[table["difference"].notna()]
    for row in scored.head(10).itertuples():
        print(f"  {row.target} {row.difference:+.2f}: A {row.verdict_a}, B {row.verdict_b}; trust: {row.trust}")
    print(f"table:   {out / 'compare.csv'}")
    if importlib.util.find_spec("matplotlib"):
        os.environ.setdefault("MPLBACKEND", "agg")  # draws without a screen
        axes = scored.plot.scatter("dockq_a", "dockq_b", xlim=(0, 1), ylim=(0, 1), figsize=(5, 5), s=12)
        axes.axline((0, 0), slope=1, color="0.8", zorder=0)
        axes.figure.savefig(out / "compare.png", dpi=150)
        print(f"scatter: {out / 'compare.png'}")
    return 0
