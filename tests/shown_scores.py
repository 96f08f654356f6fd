"""The output of `toporank score` that README.md shows; `python tests/shown_scores.py` makes it
again.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
README = REPOSITORY / "README.md"
FOLDER = "resources/example/binder"
BLOCK = re.compile(
    r"(?<=^```text\n)Boltz and ColabFold: .+?(?=^```$)", re.MULTILINE | re.DOTALL
)


def as_shown(printed: str, home: Path) -> str:
    """Return what was printed in a working directory as README.md shows it: paths begin there,
    without progress.
    """
    lines = printed.replace(f"{home}/", "").splitlines(keepends=True)
    progress = re.compile(r".*% done|Compiling")
    return "".join(line for line in lines if not progress.match(line))


def main() -> None:
    """Score the example and put the output into README.md."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder).resolve()
        (home / "resources/example").mkdir(parents=True)
        (home / FOLDER).symlink_to(REPOSITORY / FOLDER)
        environment = {**os.environ, "PYTHONPATH": str(REPOSITORY / "lib")}
        command = [sys.executable, "-m", "toporank", "score", FOLDER]
        done = subprocess.run(
            command,
            cwd=home,
            env=environment,
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
        now = as_shown(done.stdout.replace(str(REPOSITORY / FOLDER), FOLDER), home)
    text = README.read_text(encoding="utf-8")
    (before,) = BLOCK.findall(text)
    README.write_text(text.replace(before, now), encoding="utf-8")
    print(
        "README.md: "
        + ("as it was" if now == before else "changed: read its sentences again")
    )


if __name__ == "__main__":
    main()
