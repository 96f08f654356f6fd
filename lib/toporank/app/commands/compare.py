"""`toporank compare`: two folders that `toporank score` wrote, target by target."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toporank.app.commands.running import claimed
from toporank.errors import ConfigError
from toporank.files.atomic import write_text

if TYPE_CHECKING:
    from toporank.report.runs.compare import Comparison, PairRow, Shared
    from toporank.report.runs.folder import Place, Run
    from toporank.report.targets import TargetRow

TABLE, PAGE = "compare.csv", "compare.html"
LISTED = 10
"""Largest differences that the terminal shows."""


def add(commands: Any) -> None:
    """The command and its arguments."""
    said = "compare two runs of `toporank score`, target by target"
    parser = commands.add_parser("compare", help=said, description=said)
    for name, what in (("a", "the first run, A: a folder that `toporank score` wrote"), ("b", "the second run, B")):
        parser.add_argument(name, metavar=f"RUN_{name.upper()}", type=Path, help=what)
    where = "folder for the page and the table (toporank_compare_<A>_<B> in the working directory)"
    parser.add_argument("-o", "--out", type=Path, metavar="OUT", help=where)
    parser.set_defaults(run=compare_runs)


def compare_runs(args: argparse.Namespace) -> int:
    """Compare, write table and page, and print what differs. Raises TopoRankError when it cannot be done."""
    from toporank.report.runs.compare import compare, compare_text  # these import numpy, for which --help need not wait
    from toporank.report.runs.compare_page import render
    from toporank.report.runs.folder import Place, Run

    a, b = (Run(Place.find(folder)) for folder in (args.a, args.b))
    if a.place.key == b.place.key:
        raise ConfigError("both runs are the same folder", where=args.b, remedy="give two runs")
    found = compare(a, b)
    if not found.having("both"):
        names = [f"{run.place.out} has {', '.join(list(run.targets)[:3]) or 'none'}" for run in (a, b)]
        remedy = "compare runs of the same complexes; targets belong together by name or by their sequences"
        raise ConfigError(f"the runs share no target: {'; '.join(names)}", where=args.b, remedy=remedy)
    out = claimed(args.out or Path(default_name(a.place, b.place)))
    page = render(found, a, b, out.resolve())
    write_text(out / TABLE, compare_text(found.rows))
    write_text(out / PAGE, page)
    print("\n".join([*lines(found, a, b), f"page:  {out / PAGE}", f"table: {out / TABLE}"]))
    return 0


def default_name(a: Place, b: Place) -> str:
    """Name of the folder for the page of two runs.

    >>> from toporank.report.runs.folder import Place
    >>> default_name(Place(Path("x/toporank_af2"), "af2", "toporank_af2"), Place(Path("boltz"), "boltz", "boltz"))
    'toporank_compare_af2_boltz'
    """
    return "_".join(["toporank_compare", *(place.name.removeprefix("toporank_") for place in (a, b))])


def lines(found: Comparison, a: Run, b: Run) -> list[str]:
    """What the terminal says of a comparison."""
    from toporank.report.formatting import counted
    from toporank.report.runs.compare import counts_of

    counts = counts_of(found)
    said = [f"{name}: {_size(run)} in {run.place.out}" for name, run in (("A", a), ("B", b))]
    said += [f"WARNING: {text}" for text in found.alarms]
    said += ["WARNING: so the scores of A and B do not mean the same"] if found.alarms else []
    said += [f"note: {text}" for text in found.notes]
    sides = f"{counted(counts['both'], 'target')} in both runs, {counts.get('only_a', 0):,} only in A,"
    sides += f" {counts.get('only_b', 0):,} only in B"
    if unscored := sum(counts.get(code, 0) for code in ("only_a_scored", "only_b_scored", "none_scored")):
        sides += f"; of those in both, {unscored:,} lack a score in A or B"
    said.append(sides)
    overlap = counts.get("a_higher", 0) + counts.get("b_higher", 0)
    said.append(
        f"A is better for {counts.get('a_better', 0):,} and B for {counts.get('b_better', 0):,}: the intervals do not"
        f" overlap; for {overlap:,} they do; {counts.get('same', 0):,} have no difference to speak of"
    )
    said += [f"the verdict differs for {counts['verdict']:,}"] if counts.get("verdict") else []
    said += [f"the chains differ for {counts['chains']:,}: is it the same complex?"] if counts.get("chains") else []
    said += _largest(found)
    return [*said, _shared(found.shared)]


def _size(run: Run) -> str:
    from toporank.report.formatting import counted

    n_models = sum(row.n_models for row in run.targets.values())
    return f"{counted(len(run.targets), 'target')} with {counted(n_models, 'model')}"


def _largest(found: Comparison) -> list[str]:
    """The largest differences that are differences, a line each."""
    rows = [row for row in found.rows if row.difference is not None and "same" not in row.codes][:LISTED]
    return ["largest differences, B − A:", *(f"  {_in_short(row)}" for row in rows)] if rows else []


def _in_short(row: PairRow) -> str:
    sign = "+" if row.difference > 0 else "−"
    values = f"A {_of_run(row.a)}, B {_of_run(row.b)}"
    return f"{row.target} {sign}{abs(row.difference):.2f}: {values}; trust {row.trust}"


def _of_run(row: TargetRow) -> str:
    interval = f" [{row.pred_low:.2f}, {row.pred_high:.2f}]" if row.pred_low is not None else ""
    return f"{row.dockq:.2f}{interval} {row.verdict}"


def _shared(shared: Shared | None) -> str:
    if shared is None:
        return "one of the runs does not say what its models contain, so nobody knows which models both have"
    if not shared.n:
        return "no model of A has the same atoms as a model of B"
    same = f"{shared.n:,} {'model has' if shared.n == 1 else 'models have'} the same atoms in both runs"
    if not shared.changed:
        return f"{same}, and the same score"
    company = f"; {shared.company:,} of these have other models beside them, on which a score depends"
    moved = f"{shared.changed:,} {'has' if shared.changed == 1 else 'have'} another score"
    moved += f", by {shared.largest:.2g} at most ({shared.where})"
    return f"{same}: {moved}{company if shared.company else ''}"
