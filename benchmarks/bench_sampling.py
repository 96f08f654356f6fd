"""Makes decoys of natives and measures what they must be: free of clashes, of all qualities, no
size that tells DockQ.

    OMP_NUM_THREADS=1 PYTHONPATH=lib python benchmarks/bench_sampling.py NATIVES PARTNERS [--out
    FOLDER]

NATIVES and PARTNERS are what `sampling.natives` and `sampling.partners` name. Each native is
sampled by a process of its own, as the workflow does it, and a target that is there is not made
again. Everything is measured on the files that were written.
"""

from __future__ import annotations

import argparse
import itertools
import random
import resource
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from toporank import layout
from toporank.chains.partners import parse_partners, read_partners
from toporank.files.atomic import write_text
from toporank.finding.natives import find_natives, unbound_files
from toporank.structures.complex import Complex
from toporank.structures.identity import Status
from toporank.structures.read import read_complex
from toporank_sampling.choice import spearman
from toporank_sampling.rows import Row, read_rows

SCRIPT = Path(__file__).parents[1] / "workflow_scripts" / "sample_target.py"
OVERLAP, CLASH, INTERFACE = 2.5, 3.0, 10.0
"""Å: heavy atoms that overlap, heavy atoms that clash, CA atoms of an interface."""
ROTATIONS = 60
GATES = {
    "poses without heavy atoms of both partners nearer than 2.5 Å": ("at least", 0.98),
    "mean within-target |Spearman| of DockQ with interface size": ("at most", 0.1),
    "mean within-target |Spearman| of DockQ with clashes": ("at most", 0.1),
    "poses of DockQ 0.23 to 0.8": ("at least", 0.25),
    "CPU s a pose at 450 residues": ("at most", 3.0),
}


class Measured(NamedTuple):
    """One decoy as it was written. size : interface residues. clashes, overlaps : pairs of heavy
    atoms.
    """

    target: str
    dockq: float
    size: int
    clashes: int
    overlaps: int
    residues: int
    docking: str
    form: str


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("natives", type=Path)
    parser.add_argument("partners", type=Path)
    parser.add_argument("--out", type=Path, default=Path("results/benchmarks/sampling"))
    parser.add_argument(
        "--targets",
        type=int,
        default=40,
        help="drawn at random, with and without unbound partners in turn",
    )
    parser.add_argument(
        "--residues",
        type=int,
        nargs=2,
        default=(150, 450),
        help="fewest and most of a native",
    )
    parser.add_argument("--decoys", type=int, default=8, help="of each native")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--measure-only", action="store_true", help="what has been made so far"
    )
    args = parser.parse_args()

    if not args.measure_only:
        make(args)
    decoys, rows, seconds = measure(args.out / "decoys")
    text = table(decoys, rows, seconds)
    print(text)
    write_text(args.out / "sampling.md", text)
    plot(decoys, args.out / "sampling.svg")


def make(args: argparse.Namespace) -> None:
    """Sample natives until there are enough of the wanted size."""
    partners, natives = read_partners(args.partners), find_natives(args.natives)
    order = sorted(natives)
    random.Random(args.seed).shuffle(order)
    free = [target for target in order if unbound_files(natives[target])]
    rest = [target for target in order if target not in free]
    order = [
        target
        for pair in itertools.zip_longest(free, rest)
        for target in pair
        if target
    ]
    made = 0
    for target in order:
        n = int(np.count_nonzero(read_complex(natives[target]).ca >= 0))
        if not args.residues[0] <= n <= args.residues[1]:
            continue
        if made == args.targets:
            break
        made += 1
        folder = args.out / "decoys" / target
        if (folder / "cpu_seconds").exists():
            continue
        command = [
            sys.executable,
            SCRIPT,
            "--target",
            target,
            "--native",
            natives[target],
            "--output",
            folder,
        ]
        command += ["--unbound", *unbound_files(natives[target])]
        command += ["--partners", partners.get(target, ""), "--decoys", args.decoys]
        command += ["--rotations", ROTATIONS, "--seed", args.seed]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(list(map(str, command)), check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        (folder / "cpu_seconds").write_text(f"{took:.2f}\n")
        print(f"{made} {target}: {n} residues, {took:.0f} CPU s", flush=True)


def measure(folder: Path) -> tuple[list[Measured], list[Row], dict[str, float]]:
    """All decoys as written, all rows of the tables, CPU s of each target."""
    decoys, rows, seconds = [], [], {}
    for done in sorted(folder.glob("*/cpu_seconds")):
        target = done.parent.name
        rows += (own := read_rows(done.parent / layout.POSES))
        kept = [row for row in own if row.Status == Status.OK]
        decoys += [measured(done.parent, row) for row in kept]
        if kept:
            seconds[target] = float(done.read_text()) / len(kept)
    return decoys, rows, seconds


def measured(folder: Path, row: Row) -> Measured:
    """One decoy."""
    complex_ = read_complex(next(folder.glob(f"{row.Model}.*")))
    receptor, ligand = (
        np.isin(chains_of(complex_), side) for side in parse_partners(row.Partners)
    )
    heavy = [
        cKDTree(complex_.xyz[side[complex_.residue_of]]) for side in (receptor, ligand)
    ]
    clashes, overlaps = (
        int(heavy[0].count_neighbors(heavy[1], d)) for d in (CLASH, OVERLAP)
    )
    ca = [complex_.xyz[complex_.ca[side]] for side in (receptor, ligand)]
    size = sum(
        np.isfinite(cKDTree(b).query(a, distance_upper_bound=INTERFACE)[0]).sum()
        for a, b in (ca, ca[::-1])
    )
    dockq = float(row.DockQ)
    n = len(complex_.residues)
    return Measured(
        row.Target, dockq, int(size), clashes, overlaps, n, row.Docking, row.Form
    )


def chains_of(complex_: Complex) -> list[str]:
    """The chain of each residue."""
    return [residue.chain for residue in complex_.residues]


def correlations(decoys: list[Measured]) -> np.ndarray:
    """Within each target the rank correlation of DockQ with size and with clashes, shape (targets,
    2).
    """
    found = []
    for target in sorted({decoy.target for decoy in decoys}):
        own = [decoy for decoy in decoys if decoy.target == target]
        columns = np.array(
            [[decoy.dockq, decoy.size, decoy.clashes] for decoy in own], dtype=float
        ).T
        found.append(spearman(columns[0], columns[1:]))
    return np.array(found)


def cost(decoys: list[Measured], seconds: dict[str, float]) -> float:
    """CPU s a pose at 450 residues, by a straight line through the targets."""
    residues = {decoy.target: decoy.residues for decoy in decoys}
    slope, start = np.polyfit(
        [residues[target] for target in seconds], list(seconds.values()), 1
    )
    return float(start + 450 * slope)


def table(decoys: list[Measured], rows: list[Row], seconds: dict[str, float]) -> str:
    """The gates, and what else there is to know."""
    dockq = np.array([decoy.dockq for decoy in decoys])
    rho = correlations(decoys)
    values = [
        np.mean([decoy.overlaps == 0 for decoy in decoys]),
        *np.abs(rho).mean(axis=0),
        np.mean((dockq >= 0.23) & (dockq <= 0.8)),
        cost(decoys, seconds),
    ]
    lines = [
        f"{len(seconds)} natives, {len(decoys)} decoys",
        "",
        "| | measured | limit | |",
        "| --- | ---: | --- | --- |",
    ]
    for (what, (sign, limit)), value in zip(GATES.items(), values, strict=True):
        good = value >= limit if sign == "at least" else value <= limit
        lines.append(
            f"| {what} | {value:.3f} | {sign} {limit:g} | {'ok' if good else 'missed'} |"
        )
    tenths = np.histogram(dockq, np.linspace(0, 1, 11))[0]
    lines += ["", f"DockQ by tenths: {' '.join(map(str, tenths))}"]
    lines.append(
        "signed means of both correlations: "
        f"{', '.join(f'{value:+.3f}' for value in rho.mean(axis=0))}"
    )
    for name in ("docking", "form"):
        lines.append(
            f"{name}: {dict(Counter(getattr(decoy, name) for decoy in decoys))}"
        )
    reasons = Counter(
        " ".join(row.Reason.split()[1:4]) for row in rows if row.Status != Status.OK
    )
    lines.append(f"rows without decoy: {dict(reasons)}")
    return "\n".join([*lines, ""])


def plot(decoys: list[Measured], path: Path) -> None:
    """DockQ of all decoys, and interface size and clashes by DockQ."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "sampling"
    from matplotlib import pyplot

    figure, (left, middle, right) = pyplot.subplots(
        1, 3, figsize=(10, 3), layout="constrained"
    )
    dockq = np.array([decoy.dockq for decoy in decoys])
    forms = sorted({decoy.form for decoy in decoys})
    left.hist(
        [[d.dockq for d in decoys if d.form == form] for form in forms],
        np.linspace(0, 1, 21),
        stacked=True,
        label=forms,
    )
    left.set(xlabel="DockQ", ylabel="decoys")
    left.legend(frameon=False)
    means = {
        d.target: np.mean([e.size for e in decoys if e.target == d.target])
        for d in decoys
    }
    middle.plot(
        dockq,
        [d.size / means[d.target] for d in decoys],
        ".",
        markersize=2,
        rasterized=True,
    )
    middle.set(xlabel="DockQ", ylabel="interface residues / mean of target")
    right.plot(dockq, [d.clashes for d in decoys], ".", markersize=2, rasterized=True)
    right.set(xlabel="DockQ", ylabel="pairs of heavy atoms < 3 Å")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    main()
