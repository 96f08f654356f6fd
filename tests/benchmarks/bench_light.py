"""What light work costs: CPU seconds of the whole process tree, as a Markdown table, for one checkout or for several.

    PYTHONPATH=lib:tests/slurm python tests/benchmarks/bench_light.py [--repository BEFORE --repository AFTER]

Light is what a user does many times a day, so that starting programs costs more than computing: scoring five decoys,
the same as the first thing after installing, a run with nothing to do, dry runs, and a training that was finished
before. Each number is the median of `--rounds` measurements, each in a process of its own and, where it matters, in a
folder of its own. Checkouts take turns, so that a busy machine is no one's fault. All run with this Python and its
packages; a checkout's library is used for it alone.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median

import yaml

HERE = Path(__file__).resolve().parents[2]
TARGET = "1AVZ"
SCORED = 5
TINY = {
    "sweep": {
        "defaults": {"batch_size": 4, "accumulate": 1, "max_epochs": 3},
        "configs": [{"name": "tiny", "hidden": 8, "heads": 2}],
        "seeds": [1],
    }
}
"""A training of seconds."""
JOB_SECONDS = re.compile(r"([0-9.]+) CPU s, ([0-9.]+) of them in features")


class Checkout:
    """A checkout with a folder to work in."""

    def __init__(self, repository: Path, work: Path):
        self.repository, self.work = repository.resolve(), work
        self.studies = 0
        self.environment = environment(self.repository, work / "compiled")

    @functools.cached_property
    def study(self) -> Path:
        """A finished study of the example with one tiny run; making it compiles everything that is compiled."""
        home = self.new_study()
        decoys = str(HERE / "resources/example/decoys")
        labels = str(HERE / "resources/example/labels.csv")
        configure(home, datasets=[{"name": "study", "decoys": decoys, "labels": labels}], training=TINY)
        self.snakemake(home, "all")
        return home

    def new_study(self) -> Path:
        """An empty working directory."""
        self.studies += 1
        home = self.work / f"{self.studies}"
        home.mkdir(parents=True)
        return home

    def snakemake(self, home: Path, *arguments: str, **changes: str) -> float:
        """CPU seconds of a run in a working directory."""
        snakefile = changes.pop("snakefile", str(self.repository / "Snakefile"))
        command = [sys.executable, "-m", "snakemake", "--snakefile", snakefile, "--cores", "2"]
        return cpu_seconds([*command, "--directory", str(home), *arguments], home, self.environment | changes)

    # ---- what is measured ---------------------------------------------------------------------------------

    def score(self) -> float:
        """Five decoys that were never seen, in a new folder: nothing is reused but compiled code."""
        home = self.new_study()
        return self.snakemake(home, *self.scoring(five_decoys(home)))

    def score_after_installation(self) -> float:
        """The same by a copy of the checkout of which only what its installation compiles is compiled."""
        home = self.new_study()
        clone = copy_of(self.repository, home / "clone")
        changes = {**environment(clone, None), "snakefile": str(clone / "Snakefile")}
        if "toporank compile" in (clone / "Makefile").read_text():
            subprocess.run([sys.executable, "-m", "toporank", "compile"], cwd=clone, check=True,
                           env=self.environment_of(changes), stdout=subprocess.DEVNULL)  # fmt: skip
        return self.snakemake(home, *self.scoring(five_decoys(home)), **changes)

    def nothing_to_do(self) -> float:
        """A finished study, once more."""
        return self.snakemake(self.study, "all")

    def stored_training(self) -> float:
        """A finished training whose results were deleted: it is taken from the reuse store."""
        run = self.study / "results/training/tiny_seed1"
        shutil.rmtree(run)
        return self.snakemake(self.study, f"{run.relative_to(self.study)}/summary.json")

    def dry_run(self, n: int) -> float:
        """Of n decoys with nothing built."""
        home = self.work / f"dry{n}"
        if not home.exists():
            many_decoys(home, n, distinct=False)
            self.snakemake(home, "-n", "build_graphs")  # the first start reads what later ones find in memory
        shutil.rmtree(home / "results", ignore_errors=True)
        return self.snakemake(home, "-n", "build_graphs")

    def overhead(self, n: int) -> float:
        """Milliseconds a decoy of a full build of n new decoys, beside those spent on features."""
        home = self.new_study()
        many_decoys(home, n, distinct=True)
        _ = self.study  # so that everything is compiled
        seconds = self.snakemake(home, "build_graphs")
        logs = "".join(path.read_text() for path in home.glob("logs/**/*.log"))
        features = sum(float(spent) for _, spent in JOB_SECONDS.findall(logs))
        return 1000 * (seconds - features) / n

    # ---- helpers ------------------------------------------------------------------------------------------

    def scoring(self, decoys: Path) -> list[str]:
        return ["score", "--config", f"score_decoys={decoys}", f"checkpoint={self.study / 'results/final/best.ckpt'}"]

    def environment_of(self, changes: dict[str, str]) -> dict[str, str]:
        """The environment of a copy; what is not changed is that of the checkout."""
        return {name: value for name, value in (self.environment | changes).items() if name != "snakefile"}


def environment(repository: Path, compiled: Path | None) -> dict[str, str]:
    """This environment with a checkout's library, and its compiled code in a folder of its own or where it wants."""
    changed = {"PYTHONPATH": str(repository / "lib"), "NUMBA_CACHE_DIR": str(compiled or "")}
    return {**os.environ, **changed}


def cpu_seconds(command: list[str], home: Path, environment: dict[str, str]) -> float:
    """User and system time of a command and all that it started and waited for; raises CalledProcessError."""
    with open(home / "printed.txt", "w") as printed:
        process = subprocess.Popen(command, stdout=printed, stderr=subprocess.STDOUT, cwd=home, env=environment)
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.stderr.write((home / "printed.txt").read_text())
        raise subprocess.CalledProcessError(process.returncode, command)
    return used.ru_utime + used.ru_stime


def copy_of(repository: Path, to: Path) -> Path:
    """What git knows of a checkout, as it lies there."""
    listed = subprocess.run(
        ["git", "-C", str(repository), "ls-files", "-z"], capture_output=True, text=True, check=True
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (repository / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(repository / name, to / name)
    return to


def configure(home: Path, **config: object) -> None:
    (home / "config").mkdir(exist_ok=True)
    (home / "config/config.yaml").write_text(yaml.safe_dump(config))


def five_decoys(home: Path) -> Path:
    """Decoys of one target."""
    folder = home / "mine" / TARGET
    folder.mkdir(parents=True)
    files = sorted((HERE / "resources/example/decoys" / TARGET).iterdir())
    for path in [path for path in files if path.is_file()][:SCORED]:
        shutil.copy(path, folder)
    return folder.parent


def many_decoys(home: Path, n: int, *, distinct: bool) -> None:
    """The data set of `bench_scale.py`."""
    from bench_scale import make_dataset

    make_dataset(home, n, distinct=distinct)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repository", type=Path, action="append", help="a checkout; several to compare them")
    parser.add_argument("--rounds", type=int, default=3, help="measurements of each")
    parser.add_argument("--decoys", type=int, nargs="*", default=[10_000, 100_000], help="of the dry runs")
    parser.add_argument("--built", type=int, default=1000, help="decoys of the full build; 0: none")
    parser.add_argument("--only", nargs="*", default=[""], help="measure what has one of these words in its name")
    parser.add_argument("--json", type=Path, help="written: every measurement")
    args = parser.parse_args()
    measures: dict[str, Callable[[Checkout], float]] = {
        f"score {SCORED} new decoys": Checkout.score,
        "the same right after installing": Checkout.score_after_installation,
        "nothing to do": Checkout.nothing_to_do,
        "training taken from the store": Checkout.stored_training,
        **{f"dry run, {n:,} decoys, nothing built": lambda c, n=n: c.dry_run(n) for n in args.decoys},
    }
    if args.built:
        measures[f"build of {args.built:,} decoys beside features, ms a decoy"] = lambda c: c.overhead(args.built)
    measures = {what: how for what, how in measures.items() if any(word in what for word in args.only)}
    with tempfile.TemporaryDirectory(prefix="toporank-light-") as folder:
        checkouts = [Checkout(path, Path(folder, str(k))) for k, path in enumerate(args.repository or [HERE])]
        measured = {what: measure(how, checkouts, args.rounds) for what, how in measures.items()}
    if args.json:
        args.json.write_text(json.dumps(measured, indent=1))
    names = [str(path) for path in args.repository or ["CPU s"]]
    print("\n".join(["| | " + " | ".join(names) + " |", "| --- |" + " ---: |" * len(names)]))
    for what, columns in measured.items():
        print(f"| {what} | " + " | ".join(f"{median(values):.1f}" for values in columns) + " |")


def measure(how: Callable[[Checkout], float], checkouts: list[Checkout], rounds: int) -> list[list[float]]:
    """The measurements of each checkout; checkouts take turns."""
    found: list[list[float]] = [[] for _ in checkouts]
    for _ in range(rounds):
        for checkout, values in zip(checkouts, found, strict=True):
            values.append(how(checkout))
    return found


if __name__ == "__main__":
    main()
