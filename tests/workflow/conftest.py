"""Whole runs of the workflow on a few real decoys, each in a folder of its own."""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from made_once import made_once
from processes import copy_compiled
from quick_python import quickly

REPOSITORY = Path(__file__).resolve().parent.parent.parent
EXAMPLE = REPOSITORY / "resources" / "example"
DECOYS = {
    "1AVZ": ["near1.pdb.gz", "mid1.cif.gz", "far1.pdb", "wrong1.pdb.gz"],
    "1GCQ": ["near1.pdb.gz", "mid4.cif", "far1.pdb.gz", "wrong1.pdb.gz"],
    "1KTZ": ["near1.pdb.gz", "mid2.ent.gz", "far1.cif.gz", "wrong1.pdb.gz"],
    "2I25": ["apart1.cif.gz"],
}
"""A part of the example with every file format in it; 2I25/apart1 has no interface."""

FEW = {
    "1AVZ": ["near1.pdb.gz", "far1.pdb"],
    "1GCQ": ["near1.pdb.gz", "mid4.cif"],
    "2I25": ["apart1.cif.gz"],
}
"""A part of that, enough to build graphs."""

FEW_SETTINGS = {"workflow": {"chunk_size": 3}, "coverage": {"minimum_percent": 0}}

UNLABELLED = ("1AVZ", "far1")
WITHOUT_DECOY = ("1KTZ", "lost_in_transfer")
N_DECOYS = sum(map(len, DECOYS.values()))

CONFIG = {
    "datasets": [{"name": "mini", "decoys": "decoys", "labels": "labels.csv"}],
    "coverage": {"minimum_percent": 80},
    "training": {
        "sweep": {
            "defaults": {"batch_size": 4, "accumulate": 1, "max_epochs": 3},
            "configs": [{"name": "tiny", "hidden": 8, "heads": 2}],
            "seeds": [1, 2],
        },
        "finetune": {
            "defaults": {
                "batch_size": 4,
                "accumulate": 1,
                "max_epochs": 2,
                "learning_rate": 0.001,
            },
            "phases": [
                {"name": "phase1", "seeds": [3]},
                {"name": "phase2", "parent": "phase1", "seeds": [4]},
            ],
        },
        "final": {"score": "mean", "members": 2},
    },
    "workflow": {"chunk_size": 7},
}


@dataclass
class Study:
    """A working directory with decoys, labels, config and, after a run, results.

    repository : the clone that runs. python : the interpreter that runs it; a quick one by
    default.
    """

    home: Path
    repository: Path = REPOSITORY
    python: str | None = None

    def run(
        self,
        *arguments: str,
        cores: int | None = 2,
        check: bool = True,
        **environment: str,
    ):
        """Run Snakemake here; the finished process with `stdout` holding all that was printed."""
        options = [
            "--snakefile",
            str(self.repository / "Snakefile"),
            "--directory",
            str(self.home),
        ]
        options += [*(["--cores", str(cores)] if cores else []), *arguments]
        # checkpoints record the commit and whether files differ from it, which may change while the
        # tests run
        ceiling = {"GIT_CEILING_DIRECTORIES": str(self.repository / "lib")}
        words = ["-m", "snakemake", *options]
        process = quickly(words, self.repository, self.python, **ceiling, **environment)
        if check:
            assert process.returncode == 0, process.stdout
        return process

    def copy(self, home: Path) -> Study:
        """The study in another folder, to play with."""
        subprocess.run(["cp", "-a", self.home, home], check=True)
        return Study(home, self.repository)

    @property
    def results(self) -> Path:
        return self.home / "results"

    def text(self, path: str) -> str:
        """A result as text."""
        return (self.results / path).read_text()

    def configure(self, **changes) -> None:
        """Write the config with top-level sections replaced."""
        (self.home / "config").mkdir(exist_ok=True)
        (self.home / "config/config.yaml").write_text(
            yaml.safe_dump({**CONFIG, **changes})
        )

    def computed(self, dataset: str = "mini") -> Counter[str]:
        """What the feature jobs of a data set computed, by kind, as their newest logs say."""
        total: Counter[str] = Counter()
        # of chunks and of labels
        for log in self.home.glob(f"logs/[cl]*/{dataset}/*.log"):
            if log.parent.parent.name not in ("chunks", "labels"):
                continue
            line = log.read_text().strip().splitlines()[-1]
            counts = line.split("computed ")[1].split(", reused")[0]
            total.update(yaml.safe_load(counts) or {})
        del total["row"]  # of a decoy, beside its artefacts
        return total

    def forget_logs(self) -> None:
        """So that `computed` counts the next run only."""
        shutil.rmtree(self.home / "logs", ignore_errors=True)

    def tree(self) -> dict[str, bytes]:
        """Every result file with its content; without those that tell of times and places."""
        left_out = {"plan", "ledger", "gap.tsv", "published.tsv"}
        files = (
            p
            for p in self.results.rglob("*")
            if p.is_file() and not left_out & set(p.parts)
        )
        return {str(p.relative_to(self.results)): p.read_bytes() for p in files}


def make_study(home: Path, decoys: dict[str, list[str]] = DECOYS) -> Study:
    """A working directory before its first run."""
    rows = (EXAMPLE / "labels.csv").read_text().splitlines()
    kept = [rows[0]]
    for target, files in decoys.items():
        (home / "decoys" / target).mkdir(parents=True)
        for file in files:
            shutil.copy2(
                EXAMPLE / "decoys" / target / file, home / "decoys" / target / file
            )
            name = file.split(".")[0]
            if (target, name) != UNLABELLED:
                kept += [row for row in rows if row.startswith(f"{target},{name},")]
    kept.append(f"{','.join(WITHOUT_DECOY)},0.5,2,val")
    (home / "labels.csv").write_text("\n".join(kept) + "\n")
    study = Study(home)
    study.configure()
    return study


def clone_to(folder: Path) -> Path:
    """The program in another place, with nothing of earlier runs but what is compiled."""
    for name in ("rules", "lib", "workflow_scripts", "envs", "profiles", "config"):
        shutil.copytree(
            REPOSITORY / name,
            folder / name,
            ignore=shutil.ignore_patterns("__pycache__"),
        )
    shutil.copy(REPOSITORY / "Snakefile", folder)
    copy_compiled(folder / "lib")
    return folder


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """A study that was run to the end once; do not change it."""

    def make(home: Path) -> None:
        printed = make_study(home).run("all").stdout
        (home / "printed.txt").write_text(printed)

    return Study(made_once(tmp_path_factory, "finished-study", make))


def make_few(home: Path) -> Study:
    """A study of a few decoys of which nothing is built."""
    study = make_study(home, FEW)
    study.configure(**FEW_SETTINGS)
    return study


@pytest.fixture
def fresh(tmp_path: Path) -> Study:
    """A few decoys of which nothing is built."""
    return make_few(tmp_path / "fresh")


@pytest.fixture(scope="session")
def few_built(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """Graphs of a few decoys, built once; do not change it."""
    return Study(
        made_once(
            tmp_path_factory, "few", lambda home: make_few(home).run("build_graphs")
        )
    )


@pytest.fixture
def few(few_built: Study, tmp_path: Path) -> Study:
    """A copy of the graphs of a few decoys to play with."""
    return few_built.copy(tmp_path / "few")


@pytest.fixture
def study(finished: Study, tmp_path: Path) -> Study:
    """A copy of the finished study to play with."""
    return finished.copy(tmp_path / "study")
