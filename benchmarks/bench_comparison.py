#!/usr/bin/env python3
"""What comparing the decoys of a target costs, and how well consensus alone ranks decoys, as
Markdown.

    PYTHONPATH=lib python benchmarks/bench_comparison.py [--decoys 1000] [--ranked FOLDER LABELS]

The decoys are one of the embedded example whose partner is turned and shifted at random: by little,
so that most are twins, or by much. FOLDER is as a data set's; LABELS a CSV with columns target,
decoy and dockq.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from operator import attrgetter
from pathlib import Path

import numpy as np
import pandas as pd

from toporank.comparing.contacts import contact_bytes
from toporank.comparing.decoys import Compared, compare
from toporank.finding.folders import find_decoys
from toporank.metrics import per_target
from toporank.structures.complex import Complex
from toporank.structures.read import read_complex

EXAMPLE = Path(__file__).parents[1] / "resources/example/decoys/1PPE/near1.pdb.gz"
SPREADS = (0.1, 1.0, 5.0)
"""Å, of the shift; a turn moves what is 20 Å away as far."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--decoys", type=int, default=1000, help="of a target; 0: none")
    parser.add_argument(
        "--ranked",
        type=Path,
        nargs=2,
        metavar=("FOLDER", "LABELS"),
        help="rank these by consensus",
    )
    args = parser.parse_args()
    if args.decoys:
        print(
            "| shift, Å | decoys | contacts, ms each | comparison, CPU s | MB | twins | clusters |"
        )
        print("| ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
        for spread in SPREADS:
            print("| " + " | ".join(cost(args.decoys, spread)) + " |")
    if args.ranked:
        print(ranked(*args.ranked))


def cost(n: int, spread: float) -> list[str]:
    """A row of the table."""
    decoys = list(perturbed(read_complex(EXAMPLE), n, spread))
    started = time.process_time()
    contents = [
        Compared(f"{i:05}", contact_bytes(decoy)) for i, decoy in enumerate(decoys)
    ]
    of_contacts, started = time.process_time() - started, time.process_time()
    found = compare(contents).values()
    spent = time.process_time() - started
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    twins, clusters = (
        sum(bool(row.twin_of) for row in found),
        max(row.cluster or 0 for row in found),
    )
    return [f"{spread:g}", f"{n:,}", f"{1000 * of_contacts / n:.1f}", f"{spent:.1f}", f"{megabytes:.0f}",
            str(twins), str(clusters)]  # fmt: skip


def perturbed(complex_: Complex, n: int, spread: float) -> Iterator[Complex]:
    """The complex with its first partner turned and shifted."""
    draw, moving = np.random.default_rng(0), complex_.body_of[complex_.residue_of] == 0
    centre = complex_.xyz[moving].mean(axis=0)
    for _ in range(n):
        axis, xyz = draw.normal(0, spread / 20, 3), complex_.xyz.copy()
        xyz[moving] += np.cross(axis, xyz[moving] - centre) + draw.normal(0, spread, 3)
        yield replace(complex_, xyz=xyz)


def ranked(folder: Path, labels: Path) -> str:
    """How consensus ranks labelled decoys, in a line."""
    known = pd.read_csv(labels, usecols=["target", "decoy", "dockq"]).dropna()
    dockq = known.set_index(["target", "decoy"])["dockq"].to_dict()
    decoys = sorted(
        decoy for decoy in find_decoys("ranked", folder) if decoy.key in dockq
    )
    rows = []
    for target, of_target in groupby(decoys, key=attrgetter("target")):
        found = compare(
            Compared(decoy.name, contact_bytes(read_complex(decoy.path)))
            for decoy in of_target
        )
        rows += [
            (target, name, dockq[target, name], row.consensus or 0.0)
            for name, row in found.items()
        ]
    metrics = per_target(
        pd.DataFrame(rows, columns=["target", "decoy", "dockq", "pred_dockq"])
    )
    mean = metrics.mean(numeric_only=True)
    return (
        f"{len(rows)} decoys of {len(metrics)} targets: Spearman {mean['spearman']:.3f}, ranking "
        "loss"
        f" {mean['ranking_loss']:.3f} (random {mean['random_pick_loss']:.3f}), success@1 "
        f"{mean['success_at_1']:.2f}"
        f" (a random pick {sum(r[2] >= 0.23 for r in rows) / len(rows):.2f})"
    )


if __name__ == "__main__":
    main()
