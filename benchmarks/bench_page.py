#!/usr/bin/env python3
"""How large the page of many models is, and how long a browser takes to open it, as Markdown.

    PYTHONPATH=lib:tests:tests/unit python benchmarks/bench_page.py [--models 5000] [--targets 1 100 1000]

The models are four of the embedded example, with scores drawn at random. `opened` is when the page has loaded and its
scripts have run, `filtered` what one key in the search field takes, both without a graphics card.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from pathlib import Path

from browser import Browser, find_browser
from scored_folders import EXAMPLE, open_folder, write_answer
from toporank.report.page import write_page_of

FILTER = """(() => { const before = performance.now(); document.getElementById("find").value = "7"; filter();
    document.getElementById("targets").offsetHeight; return performance.now() - before; })()"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--models", type=int, default=5000)
    parser.add_argument("--targets", type=int, nargs="+", default=[1, 100, 1000])
    args = parser.parse_args()
    program = find_browser()
    if program is None:
        parser.error("no browser is installed (apt-get install chromium)")
    print("| models | targets | MB | written, s | opened, s | filtered, ms |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: |")
    for targets in args.targets:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            print("| " + " | ".join(cost(program, Path(folder), args.models, targets)) + " |", flush=True)


def cost(program: str, folder: Path, n_models: int, n_targets: int) -> list[str]:
    """A row of the table."""
    draw = random.Random(1)
    models: dict[str, dict[str, float]] = {}
    for i in range(n_models):
        models.setdefault(f"target{i % n_targets:04}", {})[f"model_{i:05}"] = draw.random()
    files = {f"model_{i:05}": EXAMPLE / "near1.pdb.gz" for i in range(n_models)}
    write_answer(folder, models, files=files)
    scored = open_folder(folder)
    started = time.perf_counter()
    write_page_of(scored.folder / "models.csv", scored.scorer)
    written = time.perf_counter() - started
    page = scored.folder / "report.html"
    browser = Browser(program, folder)
    started = time.perf_counter()
    browser.open(page)
    opened = time.perf_counter() - started
    filtered = browser.run(FILTER)
    browser.close()
    size = page.stat().st_size / 1e6
    return [f"{n_models:,}", f"{n_targets:,}", f"{size:.2f}", f"{written:.1f}", f"{opened:.1f}", f"{filtered:.0f}"]


if __name__ == "__main__":
    main()
