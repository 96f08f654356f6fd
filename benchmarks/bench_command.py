"""CPU seconds of `toporank score` and `toporank.score`, as multiples of what importing their
libraries costs.

    make bench-command

Medians of several runs; ratios compare what ran in turn on one machine. The models are those of the
embedded example, each atom moved by a few hundredths of Å so that no two are copies.
"""

from __future__ import annotations

import argparse
import gzip
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
EXAMPLE = REPOSITORY / "resources/example"
MOVED = 0.03
"""Å, standard deviation of each coordinate."""
SCORE = "import sys, toporank; toporank.score(sys.argv[1])"


def cpu_seconds(*command: object) -> float:
    """CPU seconds of a command and all its processes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [str(part) for part in command],
        check=True,
        capture_output=True,
        cwd=tempfile.gettempdir(),
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def moved(text: str, random_: random.Random) -> str:
    """A PDB file in which each atom lies a little elsewhere."""
    lines = []
    for line in text.splitlines():
        if line.startswith(("ATOM", "HETATM")):
            xyz = [
                float(line[start : start + 8]) + random_.gauss(0, MOVED)
                for start in (30, 38, 46)
            ]
            line = line[:30] + "".join(f"{value:8.3f}" for value in xyz) + line[54:]
        lines.append(line)
    return "\n".join([*lines, ""])


def make_targets(folder: Path, numbers: range, n_models: int) -> None:
    """Write targets of some models each, made of the example's in turn."""
    sources = sorted(path for path in (EXAMPLE / "decoys").iterdir() if path.is_dir())
    for number in numbers:
        random_ = random.Random(number)
        decoys = sorted(sources[number % len(sources)].glob("*.pdb*"))
        target = folder / f"T{number:03d}"
        target.mkdir(parents=True)
        for model in range(n_models):
            decoy = decoys[model % len(decoys)]
            content = decoy.read_bytes()
            text = (
                gzip.decompress(content) if decoy.suffix == ".gz" else content
            ).decode()
            (target / f"model_{model}.pdb").write_text(moved(text, random_))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument(
        "--targets",
        type=int,
        default=20,
        help="targets of ten models each; 0 leaves them out",
    )
    args = parser.parse_args()
    python, toporank = sys.executable, Path(sys.executable).parent / "toporank"
    os.environ["PYTHONPATH"] = str(REPOSITORY / "lib")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # users have byte code
    with tempfile.TemporaryDirectory() as folder:
        room = Path(folder)
        five, out = EXAMPLE / "made_up_colabfold", room / "out"
        # compiles, if need be
        cpu_seconds(toporank, "score", five, "-o", room / "first")
        seconds: dict[str, list[float]] = {}
        for run in range(args.runs):
            for name, command in {
                "import torch": [python, "-c", "import torch"],
                "import torch, snakemake": [
                    python,
                    "-W",
                    "ignore",
                    "-c",
                    "import torch, snakemake.cli",
                ],
                "five new models, command": [
                    toporank,
                    "score",
                    five,
                    "-o",
                    f"{out}{run}",
                ],
                "five new models, Python": [python, "-c", SCORE, five],
                "the same again, command": [
                    toporank,
                    "score",
                    five,
                    "-o",
                    f"{out}{run}",
                ],
            }.items():
                seconds.setdefault(name, []).append(cpu_seconds(*command))
        medians = {name: statistics.median(values) for name, values in seconds.items()}
        for name, value in medians.items():
            base = "import torch" if "Python" in name else "import torch, snakemake"
            print(
                f"{name:30s} {value:6.2f} CPU s   {value / medians[base]:.2f} × {base}"
            )
        if args.targets:
            models = room / "models"
            score = [
                toporank,
                "score",
                models,
                "-o",
                room / "many",
                "--targets",
                "folder",
            ]
            make_targets(models, range(args.targets), 10)
            whole = cpu_seconds(*score)
            make_targets(models, range(args.targets, args.targets + 2), 10)
            more = cpu_seconds(*score)
            print(
                f"{args.targets} targets × 10: {whole / (10 * args.targets):.3f} CPU s a model"
            )
            print(
                f"two more targets: {more:.1f} CPU s, {more / whole:.0%} of the whole"
            )
            files = sum(
                path.is_file() for path in (room / "many/.toporank/store").rglob("*")
            )
            print(f"files of the store a model: {files / (10 * args.targets + 20):.2f}")


if __name__ == "__main__":
    main()
