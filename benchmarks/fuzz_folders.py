"""Damage files of predictors' folders at random and score them: `python benchmarks/fuzz_folders.py
N FOLDER…`.

Each of N times a folder is copied, one of its files is damaged in one of the ways of
tests/inputs/_fuzz.py (or renamed, emptied, exchanged with another one, cut), and the copy is scored
in this process. Every structure file must have a row, and nothing but an error of TopoRank may be
raised. Prints how often each outcome was met; the seeds of others end it.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
from _fuzz import DAMAGES, flip_bytes

import toporank
from toporank.errors import TopoRankError


def damage(folder: Path, draw: np.random.Generator) -> str:
    """Damage one file of a folder; returns how."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    file = files[draw.integers(len(files))]
    ways = [
        "content",
        "content",
        "content",
        "rename",
        "empty",
        "exchange",
        "cut",
        "remove",
    ]
    way = ways[draw.integers(len(ways))]
    if way == "content" and file.stat().st_size > 1:
        content = file.read_bytes()
        # a JSON file in one line has nothing else to damage
        few = content.count(b"\n") < 4
        change = flip_bytes if few else DAMAGES[draw.integers(len(DAMAGES))]
        file.write_bytes(change(content, draw))
        return f"{change.__name__} {file.name}"
    if way == "rename":
        file.rename(file.with_name(f"x{file.name}"))
    elif way == "empty":
        file.write_bytes(b"")
    elif way == "exchange":
        other = files[draw.integers(len(files))]
        content = file.read_bytes()
        file.write_bytes(other.read_bytes())
        other.write_bytes(content)
    elif way == "cut":
        content = file.read_bytes()
        file.write_bytes(content[: int(draw.integers(len(content) + 1))])
    else:
        file.unlink()
    return f"{way} {file.name}"


def main() -> None:
    n, *folders = sys.argv[1:]
    outcomes: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as cache:
        for seed in range(int(n)):
            draw = np.random.default_rng(seed)
            source = Path(folders[seed % len(folders)])
            with tempfile.TemporaryDirectory() as room:
                folder = Path(shutil.copytree(source, Path(room, source.parent.name)))
                how = damage(folder, draw)
                try:
                    results = toporank.score(folder, cache=cache)
                except TopoRankError as error:
                    outcomes[f"{type(error).__name__}"] += 1
                    continue
                except Exception as error:
                    raise SystemExit(
                        f"seed {seed}, {source}, {how}: {type(error).__name__}: {error}"
                    ) from error
                unexpected = [note for note in results.notes if "unexpected" in note]
                if unexpected:
                    raise SystemExit(f"seed {seed}, {source}, {how}: {unexpected[0]}")
                outcomes.update(results.models["status"])
                planned = {decoy.key for decoy in results.plan}
                rows = {(row.target, row.decoy) for row in results.rows("coverage")}
                if planned != rows or len(results.models) != len(planned):
                    raise SystemExit(
                        f"seed {seed}, {source}, {how}: models without a row"
                    )
    print(dict(outcomes))


if __name__ == "__main__":
    main()
