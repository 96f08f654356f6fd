#!/usr/bin/env python3
"""How large the page of many models is, and how long a browser takes to open it, as Markdown.

    PYTHONPATH=lib:tests:tests/unit python benchmarks/bench_page.py [--models 5000] [--targets 1 100
    1000]

The models are four of the embedded example, with scores drawn at random. `first paint` is by the
page's own clock and shall be at most 1.5 s for 1,000 targets of two models (`--models 2000
--targets 1000`). `opened` is when the page has loaded and its scripts have run, `filtered` what a
text in the search field takes: of five texts the median, of each the best of three, which shall be
at most 100 ms. All without a graphics card.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from pathlib import Path

from browser import Browser, find_browser
from scored_folders import EXAMPLE, open_folder, write_answer
from toporank.report.page import write_page

PAINT = """(async () => {
    const painted = () => performance.getEntriesByType("paint").find(({ name }) => name === "first-contentful-paint");
    for (let i = 0; i < 600 && !painted(); i++) await new Promise(done => setTimeout(done, 50));
    return painted() ? painted().startTime : null;
})()"""
FILTER = """["target09", "target1", "9", "target", "77"].map(text => Math.min(...[1, 2, 3].map(() => {
    document.getElementById("find").value = "";
    filter();
    document.getElementById("targets").offsetHeight;
    document.getElementById("find").value = text;
    const before = performance.now();
    filter();
    document.getElementById("targets").offsetHeight;
    return performance.now() - before;
})))"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--models", type=int, default=5000)
    parser.add_argument("--targets", type=int, nargs="+", default=[1, 100, 1000])
    args = parser.parse_args()
    program = find_browser()
    if program is None:
        parser.error("no browser is installed (apt-get install chromium)")
    print(
        "| models | targets | MB | written, s | first paint, s | opened, s | filtered, ms |"
    )
    print("| ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for targets in args.targets:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            print(
                "| "
                + " | ".join(cost(program, Path(folder), args.models, targets))
                + " |",
                flush=True,
            )


def cost(program: str, folder: Path, n_models: int, n_targets: int) -> list[str]:
    """A row of the table."""
    draw = random.Random(1)
    models: dict[str, dict[str, float]] = {}
    for i in range(n_models):
        models.setdefault(f"target{i % n_targets:04}", {})[f"model_{i:05}"] = (
            draw.random()
        )
    files = {f"model_{i:05}": EXAMPLE / "near1.pdb.gz" for i in range(n_models)}
    write_answer(folder, models, files=files)
    scored = open_folder(folder)
    started = time.perf_counter()
    write_page(scored, scored.folder)
    written = time.perf_counter() - started
    page = scored.folder / "report.html"
    browser = Browser(program, folder)
    started = time.perf_counter()
    browser.open(page)
    opened = time.perf_counter() - started
    filtered = statistics.median(browser.run(FILTER))
    paint = browser.run(PAINT)
    browser.close()
    size = page.stat().st_size / 1e6
    painted = "not painted" if paint is None else f"{paint / 1000:.2f}"
    counts = [f"{n_models:,}", f"{n_targets:,}", f"{size:.2f}", f"{written:.1f}"]
    return [*counts, painted, f"{opened:.1f}", f"{filtered:.0f}"]


if __name__ == "__main__":
    main()
