"""`toporank compare`: two folders that `toporank score` wrote, target by target."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from toporank.errors import ConfigError

LISTED = 10


def add(commands: Any) -> None:
    """Add the command and its arguments."""
    summary = "compare two runs of `toporank score`, target by target"
    parser = commands.add_parser("compare", help=summary, description=summary)
    parser.add_argument(
        "a",
        metavar="RUN_A",
        type=Path,
        help="the first run, A: a folder that `toporank score` wrote",
    )
    parser.add_argument("b", metavar="RUN_B", type=Path, help="the second run, B")
    where = "folder for table and scatter (toporank_compare_<A>_<B> in the working directory)"
    parser.add_argument("-o", "--out", type=Path, metavar="OUT", help=where)
    parser.set_defaults(run=compare_runs)


def compare_runs(args: argparse.Namespace) -> int:
    """Write the table and the scatter, and print what differs.

    Raises
    ------
    TopoRankError : a folder has no answer, or the runs share no target
    """
    # pandas, for which --help need not wait
    from toporank.app.commands.running import lock_folder
    from toporank.ranking.scored_folder import open_answer
    from toporank.ranking.target_table import CLOSE
    from toporank.report.compare import compare, differences_of_runs
    from toporank.tables.frames import write_frame

    a, b = open_answer(args.a), open_answer(args.b)
    for run in (a, b):
        if not run.chains_file.is_file():
            print(
                f"WARNING: {run.folder} has no chains.csv, so targets are matched by name "
                f"alone (copy results/{run.name}/chains.csv of the run into it)"
            )
    table = compare(a, b)
    shared = table[~table["status"].isin(["only_a", "only_b"])]
    if shared.empty:
        remedy = "targets belong together by name or by their sequences"
        raise ConfigError(f"has no target of {args.a}", where=args.b, remedy=remedy)
    names = [run.resolve().name.removeprefix("toporank_") for run in (args.a, args.b)]
    out = lock_folder(args.out or Path("_".join(["toporank_compare", *names])))
    write_frame(table, out / "compare.csv", files=["file_a", "file_b"])
    for reason in differences_of_runs(a, b):
        print(f"WARNING: the scores of A and B cannot be compared: {reason}")
    trust = shared["trust"].replace("", "not scored")
    print(f"{_targets(len(shared))} in both runs:", _counts(trust))
    others = table["status"].drop(shared.index).str.replace("_", " ")
    if len(others):
        print("further targets:", _counts(others))
    scored = shared[shared["difference"].notna()]
    is_same = (scored["status"] == "same") & (
        scored["verdict_a"] == scored["verdict_b"]
    )
    changed = scored[~is_same]
    for row in changed.head(LISTED).itertuples():
        dockq = f"DockQ {row.dockq_a:.2f} in A and {row.dockq_b:.2f} in B"
        print(
            f"  {row.target}: {dockq} ({row.verdict_a}, {row.verdict_b}); "
            f"trust {row.trust}: {row.why}"
        )
    if len(changed) > LISTED:
        print(f"  {len(changed) - LISTED:,} more differ (compare.csv)")
    if is_same.any():
        how = f"DockQ within {CLOSE}, the same verdict"
        print(f"  unchanged ({how}): {_targets(int(is_same.sum()))}")
    print(f"table:   {out / 'compare.csv'}")
    try:
        print(f"scatter: {_scatter(table, out / 'compare.png')}")
    except ConfigError as error:
        print(f"no scatter: {error}")
    return 0


def _targets(n: int) -> str:
    return f"{n:,} target{'s' * (n != 1)}"


def _counts(column: Any) -> str:
    return ", ".join(f"{value} {n:,}" for value, n in column.value_counts().items())


def _scatter(table: Any, path: Path) -> Path:
    from toporank.report.figures import new_figure

    with new_figure(3.5, 3.5) as (figure, axes):
        axes.axline((0, 0), slope=1, color="0.8", zorder=0)
        axes.scatter(table["dockq_a"], table["dockq_b"], s=14)
        axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="DockQ in A", ylabel="DockQ in B")
        figure.savefig(path, dpi=300)
    return path
