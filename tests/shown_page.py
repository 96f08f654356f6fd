"""The picture of the page in docs/; `PYTHONPATH=lib python tests/shown_page.py` makes it again."""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import toporank
from browser import PATIENCE, Browser, find_browser

REPOSITORY = Path(__file__).resolve().parent.parent
MODELS = REPOSITORY / "resources/example/binder"
PICTURE = REPOSITORY / "docs/page.png"
WIDTH, HEIGHT = 1280, 1000
DRAWN = "Boolean(document.getElementById('canvas').dataset.drawn)"


def main() -> None:
    program = find_browser()
    if program is None:
        sys.exit(
            f"{PICTURE.name} is as it was: no browser is installed (apt-get install chromium)"
        )
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        results = toporank.score(MODELS)
        results.write(folder)
        (page,) = Path(folder).rglob("report.html")
        browser = Browser(program, Path(folder))
        browser.open(page)
        until = time.monotonic() + PATIENCE
        while not browser.run(DRAWN):
            if time.monotonic() > until:
                raise TimeoutError("the structure is not drawn")
            time.sleep(0.1)
        browser.picture(PICTURE, WIDTH, HEIGHT)
        browser.close()


if __name__ == "__main__":
    main()
