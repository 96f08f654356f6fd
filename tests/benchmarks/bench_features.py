"""CPU seconds of the features, stage by stage: the library, and the plain reference of the tests.

    PYTHONPATH=lib:tests python tests/benchmarks/bench_features.py [FOLDER] [--out FOLDER] [--rounds 3]

The reference (`tests/oracle/reference.py`) is laid out as the published pipeline: each stage reads the file with
Biopython, GUDHI's Rips and alpha complexes, loops in Python. Topology by SciPy and GUDHI without such loops
(`engine: gudhi`) stands beside it. All are run in turns in one process with one thread, and the best of several rounds
counts; decoys of more than 1000 residues are run once and have a table of their own. Results are compared as well.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np

from oracle import reference
from toporank.errors import TopoRankError
from toporank.features.registry import Choice, resolve
from toporank.files import write_text
from toporank.identity import find_decoys
from toporank.structures.read import read_complex

EXAMPLES = Path(__file__).parents[2] / "resources" / "example" / "decoys"
STAGES = ("parse and interface", "topology", "nodes", "edges")
LIBRARY, GUDHI, REFERENCE = "library", "library, engine: gudhi", "reference"

LARGE = 1000
"""Residues from which on a decoy is run once and counted by itself."""
FLOORS = {"parse and interface": 40, "topology": 6, "edges": 200, "all": 4.5}
FLOORS_LARGE = {"all": 12}
"""How many times as fast as the reference the library has to be."""

Times = dict[tuple[str, str], float]
"""Seconds by implementation and stage."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=EXAMPLES, help="decoys; default: the embedded example")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/features"), help="where table and plot go")
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()

    choices = {
        LIBRARY: resolve({"interface": {}, "topology": {}, "nodes": {}, "edges": {}}),
        GUDHI: resolve({"interface": {}, "topology": {"engine": "gudhi"}, "nodes": {}, "edges": {}}),
    }
    rows = []
    for k, decoy in enumerate(find_decoys("benchmark", args.folder)):
        if k == 0:
            measure(decoy.path, choices, 1)  # compiling and importing do not count
        try:
            times, size, interface = measure(decoy.path, choices, args.rounds)
        except (TopoRankError, KeyError, ValueError) as error:
            print(f"{decoy.path.name}: left out: {type(error).__name__}: {error}", flush=True)
            continue
        rows.append((decoy.path.name, size, interface, times))
        print(line(*rows[-1]), flush=True)
    text = table(rows)
    print("\n" + text)
    write_text(args.out / "features.md", text)
    plot(rows, args.out / "features.svg")


def measure(path: Path, choices: dict[str, dict[str, Choice]], rounds: int) -> tuple[Times, int, int]:
    """Best times of a decoy, its residues and its interface residues. ValueError if the results differ."""
    best: Times = defaultdict(lambda: np.inf)
    for _ in range(rounds):
        took, complex_, ours = by_library(path, choices)
        theirs_took, theirs = by_reference(path)
        for key, seconds in (took | theirs_took).items():
            best[key] = min(best[key], seconds)
        if len(complex_.residues) > LARGE:
            break
    for stage, mine in ours.items():
        if mine.shape != theirs[stage].shape or not np.allclose(mine, theirs[stage], rtol=0, atol=1e-6):
            raise ValueError(f"{stage} of library and reference differ")
    return dict(best), int((complex_.ca >= 0).sum()), len(ours["topology"])


def by_library(path: Path, choices: dict[str, dict[str, Choice]]) -> tuple[Times, object, dict[str, np.ndarray]]:
    """All stages; topology by either engine."""
    took: Times = {}
    choice = choices[LIBRARY]
    with_interface = lambda: (complex_ := read_complex(path), choice["interface"](complex_).index)  # noqa: E731
    complex_, residues = clocked(took, LIBRARY, STAGES[0], with_interface)
    topology = clocked(took, LIBRARY, "topology", lambda: choice["topology"](complex_, residues))
    clocked(took, GUDHI, "topology", lambda: choices[GUDHI]["topology"](complex_, residues))
    nodes = clocked(took, LIBRARY, "nodes", lambda: choice["nodes"](complex_, residues, topology))
    edges = clocked(took, LIBRARY, "edges", lambda: choice["edges"](complex_, residues))
    return took, complex_, {"topology": topology, "nodes": nodes.values, "edges": edges.attributes}


def by_reference(path: Path) -> tuple[Times, dict[str, np.ndarray]]:
    """All stages. Nothing is remembered from the last time, and of the file nothing from stage to stage."""
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


def cpu_seconds() -> float:
    """Of this process and of those it has waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def total(times: Times, who: str) -> float:
    return sum(seconds for (implementation, _), seconds in times.items() if implementation == who)


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
    usual, large = ([r for r in rows if (r[1] > LARGE) == is_large] for is_large in (False, True))
    lines = [*stage_table(usual, FLOORS), *stage_table(large, FLOORS_LARGE)]
    lines += ["| decoy | residues | interface | library | reference | ratio |", "| --- |" + " ---: |" * 5]
    return "\n".join([*lines, *(line(*row) for row in rows)]) + "\n"


def stage_table(rows: list, floors: dict[str, float]) -> list[str]:
    """Lines of a table by stage; none without decoys."""
    if not rows:
        return []
    sums = summed(rows)
    lines = [
        f"CPU seconds for {len(rows)} decoys of {min(r[1] for r in rows)} to {max(r[1] for r in rows)} residues,"
        f" {sum(r[1] for r in rows)} in all, {sum(r[2] for r in rows)} of them in interfaces.\n",
        f"| stage | {LIBRARY} | {GUDHI} | {REFERENCE} | times as fast as the reference | at least |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for stage in (*STAGES, "all"):
        ours, middle, theirs = (
            total(sums, who) if stage == "all" else sums.get((who, stage)) for who in (LIBRARY, GUDHI, REFERENCE)
        )
        if stage == "all":
            middle += ours - sums[LIBRARY, "topology"]
        between = f"{middle:.3f}" if middle else ""
        ratio, floor = f"{theirs / ours:.1f}", floors.get(stage, "")
        lines.append(f"| {stage} | {ours:.3f} | {between} | {theirs:.3f} | {ratio} | {floor} |")
    return [*lines, ""]


def plot(rows: list, path: Path) -> None:
    """One bar for each stage and implementation, logarithmic."""
    from matplotlib.figure import Figure

    sums = summed(rows)
    figure = Figure(figsize=(6.4, 3.2), layout="constrained")
    axes = figure.subplots()
    for k, who in enumerate((LIBRARY, GUDHI, REFERENCE)):
        drawn = [(i, sums[who, stage]) for i, stage in enumerate(STAGES) if (who, stage) in sums]
        axes.barh([i + 0.26 * (k - 1) for i, _ in drawn], [s for _, s in drawn], 0.24, label=who)
    axes.set(xscale="log", xlabel=f"CPU seconds, {len(rows)} decoys", yticks=range(len(STAGES)), yticklabels=STAGES)
    axes.invert_yaxis()
    axes.legend(frameon=False)
    figure.savefig(path)


if __name__ == "__main__":
    main()
