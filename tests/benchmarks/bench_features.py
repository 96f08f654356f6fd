"""CPU seconds of the features, stage by stage: the library, and the plain reference of the tests.

    PYTHONPATH=lib:tests python tests/benchmarks/bench_features.py [FOLDER] [--out FOLDER] [--rounds 3]

The reference (`tests/oracle/reference.py`: Biopython, GUDHI's Rips and alpha complexes, loops in Python) is meant to
be believed and not to be quick; so topology by SciPy and GUDHI without such loops (`engine: gudhi`) stands beside it.
All are run in turns in one process, and the best of several rounds counts. Their results are compared as well.
"""

from __future__ import annotations

import argparse
import functools
import resource
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np

from oracle import reference
from toporank.errors import TopoRankError
from toporank.features.nodes import MAX_ACCESSIBILITY
from toporank.features.registry import Choice, resolve
from toporank.files import write_text
from toporank.identity import find_decoys
from toporank.structures.read import read_complex

EXAMPLES = Path(__file__).parents[2] / "resources" / "example" / "decoys"
STAGES = ("parse and interface", "topology", "nodes", "edges")
LIBRARY, GUDHI, REFERENCE = "library", "library, engine: gudhi", "reference"
WITHIN = {"nodes": 1 / min(MAX_ACCESSIBILITY.values())}
"""How far library and reference may be apart: mkdssp's accessibilities by 1 Å², everything else by 1e-6."""

Times = dict[tuple[str, str], float]
"""Seconds by implementation and stage."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=EXAMPLES, help="decoys; default: the embedded example")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/features"), help="where table and plot go")
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()

    reference.interface = functools.cache(reference.interface)  # its other stages ask for it again
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
    for stage, mine in ours.items():
        within = WITHIN.get(stage, 1e-6)
        if mine.shape != theirs[stage].shape or not np.allclose(mine, theirs[stage], rtol=0, atol=within):
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
    """All stages, nothing remembered from the last time."""
    for function in (reference.read, reference.interface, reference.topology, reference.dssp):
        function.cache_clear()
    took: Times = {}
    clocked(took, REFERENCE, STAGES[0], lambda: reference.interface(path))
    topology = clocked(took, REFERENCE, "topology", lambda: reference.topology(path))
    nodes = clocked(took, REFERENCE, "nodes", lambda: reference.nodes(path))
    edges = clocked(took, REFERENCE, "edges", lambda: reference.scaled_columns(reference.edges(path)[1]))
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
    """Two Markdown tables: stages, and decoys."""
    sums = summed(rows)
    lines = [
        f"CPU seconds for {len(rows)} decoys with {sum(r[1] for r in rows)} residues,"
        f" {sum(r[2] for r in rows)} of them in interfaces.\n",
        f"| stage | {LIBRARY} | {GUDHI} | {REFERENCE} | times as fast as the reference |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for stage in STAGES:
        ours, middle, theirs = (sums.get((who, stage)) for who in (LIBRARY, GUDHI, REFERENCE))
        between = f"{middle:.3f}" if middle else ""
        lines.append(f"| {stage} | {ours:.3f} | {between} | {theirs:.3f} | {theirs / ours:.1f} |")
    ours, theirs = total(sums, LIBRARY), total(sums, REFERENCE)
    other = ours - sums[LIBRARY, "topology"] + sums[GUDHI, "topology"]
    lines.append(f"| all | {ours:.3f} | {other:.3f} | {theirs:.3f} | {theirs / ours:.1f} |")
    lines += ["", "| decoy | residues | interface | library | reference | ratio |", "| --- |" + " ---: |" * 5]
    return "\n".join([*lines, *(line(*row) for row in rows)]) + "\n"


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
