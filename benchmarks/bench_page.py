#!/usr/bin/env python3
"""How large the page of many decoys is, and how long a browser takes to open it, as Markdown.

    PYTHONPATH=lib:tests:tests/unit python benchmarks/bench_page.py [--decoys 5000] [--targets 1 100 1000]

The decoys are one of the embedded example again and again, with scores drawn at random. `opened` is when the page has
loaded and its scripts have run, `drawn` when the structures in sight are drawn, too, without a graphics card.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from pathlib import Path

import numpy as np
from _shown import EXAMPLE

from browser import Browser, find_browser
from described_checkpoint import DESCRIPTION
from toporank.building.coverage import CoverageRow
from toporank.ranking.interfaces import InterfaceRow
from toporank.ranking.ranked import ComparedDecoy, ranking
from toporank.report.page import render
from toporank.report.results import Study, joined_results
from toporank.scorer.prediction import Estimate, Score
from toporank.structures.identity import Status


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--decoys", type=int, default=5000)
    parser.add_argument("--targets", type=int, nargs="+", default=[1, 100, 1000])
    args = parser.parse_args()
    program = find_browser()
    if program is None:
        parser.error("no browser is installed (apt-get install chromium)")
    print("| decoys | targets | MB | written, s | opened, s | drawn, s |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: |")
    for targets in args.targets:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            print("| " + " | ".join(cost(program, Path(folder), args.decoys, targets)) + " |", flush=True)


def cost(program: str, folder: Path, decoys: int, targets: int) -> list[str]:
    """A row of the table."""
    shown = study(folder, decoys, targets)
    started, page = time.perf_counter(), folder / "report.html"
    page.write_text(render(shown, folder), encoding="utf-8")
    written, browser = time.perf_counter() - started, Browser(program, folder)
    started = time.perf_counter()
    browser.open(page)
    opened = time.perf_counter() - started
    browser.run("document.getElementById('view').scrollIntoView()")
    while browser.run("document.getElementById('view').dataset.drawn") is None:
        time.sleep(0.01)
    drawn = time.perf_counter() - started
    browser.close()
    return [f"{decoys:,}", f"{targets:,}", f"{page.stat().st_size / 1e6:.2f}",
            *(f"{seconds:.1f}" for seconds in (written, opened, drawn))]  # fmt: skip


def study(folder: Path, decoys: int, targets: int) -> Study:
    """So many decoys, as many of each target, with all that a page can show of them."""
    draw = random.Random(1)
    keys = [(f"target{i % targets:04}", f"model_{i:05}_seed_{i:06}") for i in range(decoys)]
    path = str(EXAMPLE / "near1.pdb.gz")
    rows = sorted(CoverageRow(*key, Status.OK, "graphs", "", None, "", 2, draw.randint(20, 99), path) for key in keys)
    scores = [Score(*key, draw.random(), draw.random() / 5) for key in keys]
    compared = [ComparedDecoy(*key, draw.randint(1, 9), draw.random(), draw.choice(("", keys[0][1]))) for key in keys]
    known = {key: Estimate(0.1, 0.9, draw.choice(("", "3 chains, training had 2"))) for key in keys}
    table = ranking(rows, scores, comparison=compared, estimates=known)
    meetings = [InterfaceRow(*key, "A:B", 20, 40, 4.0, 0.5, None, "", Status.OK) for key in keys]
    more = {"interfaces": {"bench": meetings}, "folders": {"bench": folder}}
    more["vectors"] = {"bench": {key: np.array([draw.gauss(0, 1) for _ in range(50)]) for key in keys}}
    return Study(["bench"], joined_results("bench", rows, table), {}, None, {}, DESCRIPTION, **more)


if __name__ == "__main__":
    main()
