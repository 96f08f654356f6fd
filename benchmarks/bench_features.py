"""CPU seconds of the features, stage by stage: the library, and the plain reference of the tests.

    OMP_NUM_THREADS=1 PYTHONPATH=lib:tests python benchmarks/bench_features.py [FOLDER] [--out
    FOLDER]

The reference (`tests/oracle/reference.py`) is laid out as the published pipeline: each stage reads
the file with Biopython, GUDHI's Rips and alpha complexes, loops in Python. Other ways of the
library to the same values stand beside it: topology by SciPy and GUDHI without such loops, nodes by
mkdssp. All are run in turns in one process with one thread, and the best of several rounds counts;
decoys of more than 1000 residues are run once and have a table of their own. Results are compared
as well.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np

from oracle import reference
from toporank.errors import TopoRankError
from toporank.features.dssp_nodes import MAX_ACCESSIBILITY
from toporank.features.registry import FeatureChoice, resolve
from toporank.files.atomic import write_text
from toporank.finding.folders import find_decoys
from toporank.structures.read import read_complex

EXAMPLES = Path(__file__).parents[1] / "resources" / "example" / "decoys"
STAGES = ("parse and interface", "topology", "nodes", "edges")
LIBRARY, REFERENCE = "library", "reference"
OTHER_WAYS = {"topology": {"engine": "gudhi"}, "nodes": {"dssp": "mkdssp"}}
"""Parameters of stages that give the same values by other means."""
WITHIN = {"nodes": 1 / min(MAX_ACCESSIBILITY.values())}
"""How far library and reference may be apart: accessibilities by 1 Å², everything else by 1e-6."""

LARGE = 1000
"""Residues from which on a decoy is run once and counted by itself."""
FLOORS = {
    "parse and interface": 40,
    "topology": 6,
    "edges": 200,
    "all, dssp: mkdssp": 4.5,
}
FEATURE_PATH = (
    "import toporank.building.chunks.chunk, toporank_kernels.persistence, "
    "toporank_kernels.kabsch_sander"
)
START_UP = 0.8
"""CPU seconds, with compiled code in the cache."""
FLOORS_LARGE = {"all, dssp: mkdssp": 12}
"""How many times as fast as the reference the library has to be."""

Choices = dict[str, FeatureChoice]
Times = dict[tuple[str, str], float]
"""Seconds by implementation and row of the table: a stage, or another way of the library to go
through it.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "folder",
        nargs="?",
        type=Path,
        default=EXAMPLES,
        help="decoys; default: the embedded example",
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("results/benchmarks/features"),
        help="where table and plot go",
    )
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()

    usual = {
        "interface": {},
        "topology": {},
        "nodes": {},
        "edges": {"module": "legacy"},
    }
    choices = resolve(usual)
    others = {
        stage: resolve(usual | {stage: parameters})[stage]
        for stage, parameters in OTHER_WAYS.items()
    }
    rows = []
    for k, path in enumerate(
        Path(decoy.path) for decoy in find_decoys("benchmark", args.folder)
    ):
        if k == 0:
            measure(path, choices, others, 1)  # compiling and importing do not count
        try:
            times, size, interface = measure(path, choices, others, args.rounds)
        except (TopoRankError, KeyError, ValueError) as error:
            print(f"{path.name}: left out: {type(error).__name__}: {error}", flush=True)
            continue
        rows.append((path.name, size, interface, times))
        print(line(*rows[-1]), flush=True)
    text = (
        table(rows)
        + f"\nA process that imports the feature path: {start_up():.2f} CPU s, at most {START_UP}.\n"
    )
    print("\n" + text)
    write_text(args.out / "features.md", text)
    plot(rows, args.out / "features.svg")


def measure(
    path: Path, choices: Choices, others: Choices, rounds: int
) -> tuple[Times, int, int]:
    """Best times of a decoy, its residues and its interface residues. ValueError if the results
    differ.
    """
    best: Times = defaultdict(lambda: np.inf)
    for _ in range(rounds):
        took, complex_, ours = by_library(path, choices, others)
        theirs_took, theirs = by_reference(path)
        for key, seconds in (took | theirs_took).items():
            best[key] = min(best[key], seconds)
        if len(complex_.residues) > LARGE:
            break
    for row, mine in ours.items():
        stage = row.partition(",")[0]
        within = WITHIN.get(stage, 1e-6)
        if mine.shape != theirs[stage].shape or not np.allclose(
            mine, theirs[stage], rtol=0, atol=within
        ):
            raise ValueError(f"{row} of library and reference differ")
    return dict(best), int((complex_.ca >= 0).sum()), len(ours["topology"])


def other_way(stage: str) -> str:
    """Name of its row."""
    return stage + "".join(
        f", {key}: {value}" for key, value in OTHER_WAYS[stage].items()
    )


def by_library(
    path: Path, choices: Choices, others: Choices
) -> tuple[Times, object, dict[str, np.ndarray]]:
    """All stages, and the other ways."""
    took: Times = {}

    def timed(row: str, step: Callable):
        return clocked(took, LIBRARY, row, step)

    complex_, residues = timed(
        STAGES[0],
        lambda: (complex_ := read_complex(path), choices["interface"](complex_).index),
    )
    topology = timed("topology", lambda: choices["topology"](complex_, residues))
    nodes = timed("nodes", lambda: choices["nodes"](complex_, residues, topology))
    edges = timed("edges", lambda: choices["edges"](complex_, residues))
    by_gudhi = timed(
        other_way("topology"), lambda: others["topology"](complex_, residues)
    )
    by_mkdssp = timed(
        other_way("nodes"), lambda: others["nodes"](complex_, residues, topology)
    )
    return took, complex_, {
        "topology": topology, "nodes": nodes.values, "edges": edges.attributes,
        other_way("topology"): by_gudhi, other_way("nodes"): by_mkdssp.values,
    }  # fmt: skip


def by_reference(path: Path) -> tuple[Times, dict[str, np.ndarray]]:
    """All stages. Nothing is remembered from the last time, and of the file nothing from stage to
    stage.
    """
    for function in (reference.interface, reference.topology, reference.dssp):
        function.cache_clear()
    took: Times = {}

    def stage(name: str, step: Callable):
        reference.read.cache_clear()
        return clocked(took, REFERENCE, name, step)

    stage(STAGES[0], lambda: reference.interface(path))
    topology = stage("topology", lambda: reference.topology(path))
    nodes = stage("nodes", lambda: reference.nodes(path))
    edges = stage("edges", lambda: reference.scaled_columns(reference.edges(path)[1]))
    return took, {"topology": topology, "nodes": nodes, "edges": edges}


def clocked(took: Times, who: str, stage: str, step: Callable):
    """The result of a step; its CPU seconds, those of programs it ran included, go into `took`."""
    before = cpu_seconds()
    result = step()
    took[who, stage] = cpu_seconds() - before
    return result


def start_up(rounds: int = 5) -> float:
    """CPU seconds of a process that imports what a feature job does, the least of some."""
    found = []
    for _ in range(rounds):
        before = cpu_seconds()
        subprocess.run([sys.executable, "-c", FEATURE_PATH], check=True)
        found.append(cpu_seconds() - before)
    return min(found)


def cpu_seconds() -> float:
    """Of this process and of those it has waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def total(times: Times, who: str) -> float:
    return sum(times[who, stage] for stage in STAGES)


def with_mkdssp(times: Times) -> float:
    """Of the library, all stages, nodes by mkdssp."""
    return (
        total(times, LIBRARY)
        - times[LIBRARY, "nodes"]
        + times[LIBRARY, other_way("nodes")]
    )


def line(name: str, size: int, interface: int, times: Times) -> str:
    """A decoy as a row of the second table."""
    ours, theirs = total(times, LIBRARY), total(times, REFERENCE)
    return f"| {name} | {size} | {interface} | {ours:.3f} | {theirs:.3f} | {theirs / ours:.1f} |"


def summed(rows: list) -> Times:
    """Times of all decoys together."""
    sums: Times = defaultdict(float)
    for *_, times in rows:
        for key, seconds in times.items():
            sums[key] += seconds
    return sums


def table(rows: list) -> str:
    """Markdown: stages of the usual decoys, of large ones, then all decoys."""
    usual, large = (
        [r for r in rows if (r[1] > LARGE) == is_large] for is_large in (False, True)
    )
    lines = [*stage_table(usual, FLOORS), *stage_table(large, FLOORS_LARGE)]
    lines += [
        "| decoy | residues | interface | library | reference | ratio |",
        "| --- |" + " ---: |" * 5,
    ]
    return "\n".join([*lines, *(line(*row) for row in rows)]) + "\n"


def stage_table(rows: list, floors: dict[str, float]) -> list[str]:
    """Lines of a table by stage; none without decoys."""
    if not rows:
        return []
    sums = summed(rows)
    lines = [
        f"CPU seconds for {len(rows)} decoys of {min(r[1] for r in rows)} to "
        f"{max(r[1] for r in rows)} residues,"
        f" {sum(r[1] for r in rows)} in all, {sum(r[2] for r in rows)} of them in interfaces.\n",
        f"| stage | {LIBRARY} | {REFERENCE} | times as fast as the reference | at least |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    seconds = [
        (row, ours, sums[REFERENCE, row.partition(",")[0]])
        for row, ours in library_rows(sums)
    ]
    everything = total(sums, REFERENCE)
    seconds += [
        ("all", total(sums, LIBRARY), everything),
        ("all, dssp: mkdssp", with_mkdssp(sums), everything),
    ]
    for row, ours, theirs in seconds:
        lines.append(
            f"| {row} | {ours:.3f} | {theirs:.3f} | {theirs / ours:.1f} | {floors.get(row, '')} |"
        )
    return [*lines, ""]


def library_rows(sums: Times) -> list[tuple[str, float]]:
    """Rows of the stages and of other ways, in order, with the library's seconds."""
    rows = [
        row
        for stage in STAGES
        for row in (stage, *([other_way(stage)] if stage in OTHER_WAYS else []))
    ]
    return [(row, sums[LIBRARY, row]) for row in rows]


def plot(rows: list, path: Path) -> None:
    """One bar for each stage and implementation, logarithmic."""
    from matplotlib.figure import Figure

    sums = summed(rows)
    bars = [
        (row, seconds, "C0" if row in STAGES else "C1")
        for row, seconds in library_rows(sums)
    ]
    bars += [
        (f"{stage}, {REFERENCE}", sums[REFERENCE, stage], "C2") for stage in STAGES
    ]
    bars.sort(key=lambda bar: STAGES.index(bar[0].partition(",")[0]))
    figure = Figure(figsize=(6.4, 3.6), layout="constrained")
    axes = figure.subplots()
    axes.barh(
        [name for name, *_ in bars],
        [s for _, s, _ in bars],
        color=[color for *_, color in bars],
    )
    axes.set(xscale="log", xlabel=f"CPU seconds, {len(rows)} decoys")
    axes.invert_yaxis()
    figure.savefig(path)


if __name__ == "__main__":
    main()
