"""The workflow on a real Slurm of one node: submissions, resources, failures, cancelling and
starting again.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd
import pytest
import yaml
from one_node import cluster, missing

from quick_python import quick_python, quickly
from signals import listen_to_ctrl_c

REPOSITORY = Path(__file__).resolve().parents[2]
EXAMPLE = REPOSITORY / "resources/example"
NAMES = ("near1", "far1")
DECOYS = {"1AVZ": NAMES, "1GCQ": NAMES}
SETTINGS = "--slurm-status-command squeue --cores 2 --latency-wait 5"
PATIENCE = 900
"""Seconds after which a test gives up; a job whose demands cannot be met waits for ever."""
TRAINING = {
    "sweep": {
        "defaults": {"batch_size": 4, "accumulate": 1, "max_epochs": 1},
        "configs": [{"name": "tiny", "hidden": 8, "heads": 2}],
        "seeds": [1],
    }
}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        bool(missing()),
        reason=f"NO TEST OF SLURM WAS RUN: missing here: {', '.join(missing())}",
    ),
]


@dataclass
class Study:
    """Decoys, labels and configuration in a folder, a cluster to send its jobs to, and the Python
    that does.
    """

    home: Path
    environment: dict[str, str]
    python: str
    started: list[subprocess.Popen] = field(default_factory=list)

    def start(self, *arguments: str, seconds: int = 1) -> subprocess.Popen:
        """`snakemake --profile slurm`, from the repository root, which looks at its jobs every
        so many seconds.
        """
        impatient = str(Path(__file__).with_name("impatient.py"))
        command = [
            self.python,
            impatient,
            "--profile",
            "slurm",
            "--directory",
            str(self.home),
        ]
        command += [*SETTINGS.split(), *arguments]
        environment = {**self.environment, "SECONDS_BETWEEN_LOOKS": str(seconds)}
        with open(self.home / "printed.txt", "w") as printed:
            process = subprocess.Popen(
                command, cwd=REPOSITORY, env=environment, stdout=printed, stderr=subprocess.STDOUT,
                preexec_fn=listen_to_ctrl_c,
            )  # fmt: skip
        self.started.append(process)
        return process

    def run(self, *arguments: str) -> None:
        status = self.start(*arguments).wait(PATIENCE)
        assert status == 0, (self.home / "printed.txt").read_text()

    def jobs(self) -> pd.DataFrame:
        """What was submitted so far: id, state, rule (or `group`), MB and minutes, as strings."""
        columns = {
            "id": "%i",
            "state": "%T",
            "comment": "%k",
            "memory": "%m",
            "minutes": "%l",
        }
        queue = [
            "squeue",
            "--states=all",
            "--noheader",
            "--format",
            "|".join(columns.values()),
        ]
        answer = subprocess.run(
            queue, env=self.environment, capture_output=True, text=True, check=True
        ).stdout
        return pd.DataFrame(
            [line.split("|") for line in answer.splitlines()], columns=list(columns)
        )

    def suspend(self, job: str) -> None:
        """Stop the processes of a job, which stays allocated."""
        subprocess.run(["scontrol", "suspend", job], env=self.environment, check=True)

    def wait_for_running_job(self) -> str:
        """Id of a job, once there is one that runs. Raises TimeoutError with what Snakemake
        said.
        """
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            jobs = self.jobs()
            if (running := jobs["id"][jobs["state"] == "RUNNING"]).any():
                return running.iloc[0]
            time.sleep(0.3)
        raise TimeoutError((self.home / "printed.txt").read_text())

    def ends(self) -> set[str]:
        """The states of all jobs, once none runs or waits any more. Raises TimeoutError."""
        until = time.monotonic() + PATIENCE
        while (states := set(self.jobs()["state"])) - {
            "CANCELLED",
            "COMPLETED",
            "FAILED",
        }:
            if time.monotonic() > until:
                raise TimeoutError(states)
            time.sleep(0.3)
        return states

    def graphs(self) -> dict[str, bytes]:
        root = self.home / "results/mini/graphs"
        return {
            str(path.relative_to(root)): path.read_bytes()
            for path in root.rglob("*.pt")
        }

    def coverage(self) -> str:
        return (self.home / "results/mini/coverage.tsv").read_text()


def make_home(home: Path) -> Path:
    """Four decoys of the example and one that is no structure, in two chunks."""
    for target, names in DECOYS.items():
        (home / "decoys" / target).mkdir(parents=True)
        for name in names:
            (source,) = (EXAMPLE / "decoys" / target).glob(f"{name}.*")
            shutil.copy(source, home / "decoys" / target)
    (home / "decoys/1AVZ/broken.pdb").write_bytes(b"\x00 not a structure")
    labels = pd.read_csv(EXAMPLE / "labels.csv").query(
        "Target in @DECOYS and Model in @NAMES"
    )
    splits = labels["Target"].map({"1AVZ": "train", "1GCQ": "val"})
    labels.assign(split=splits).to_csv(home / "labels.csv", index=False)
    config = {
        "datasets": [{"name": "mini", "decoys": "decoys", "labels": "labels.csv"}],
        "training": TRAINING,
        "workflow": {"chunk_size": 3},
    }
    (home / "config").mkdir()
    (home / "config/config.yaml").write_text(yaml.safe_dump(config))
    return home


@pytest.fixture
def study(tmp_path: Path, submitting_python: str):
    """The decoys with a cluster."""
    home = make_home(tmp_path / "study")
    with cluster(tmp_path / "cluster", memory=20_000) as environment:
        study = Study(home, environment, submitting_python)
        try:
            yield study
        finally:
            for process in study.started:
                process.kill()
                process.wait()


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """The same decoys taken to graphs without Slurm."""
    home = make_home(tmp_path_factory.mktemp("local"))
    words = ["--directory", str(home), "--cores", "2", "build_graphs"]
    done = quickly(["-m", "snakemake", *words], REPOSITORY)
    assert done.returncode == 0, done.stdout
    return Study(home, dict(os.environ), sys.executable)


def test_decoys_to_report(study, local):
    """The other two tests, which kill jobs, start these in the ordinary way."""
    study.environment["PYTHON_OF_JOBS"] = quick_python()
    study.run("all")
    assert (study.home / "results/report.html").is_file()
    jobs = study.jobs()
    rules = [comment.split("_wildcards")[0] for comment in jobs["comment"]]
    asked = Counter(zip(rules, jobs["memory"], jobs["minutes"], strict=True))
    assert asked == {
        ("rule_chunk_build_chunk", "3000M", "2:00:00"): 2,
        ("rule_pack_graphs", "4000M", "1:00:00"): 1,
        ("rule_train_sweep", "6000M", "12:00:00"): 1,
        ("rule_score_targets", "4000M", "2:00:00"): 2,
        ("rule_collect_scores", "4000M", "1:00:00"): 1,
        ("rule_read_confidence", "4000M", "1:00:00"): 1,
    }
    assert set(jobs["state"]) == {"COMPLETED"}
    assert study.graphs() == local.graphs()
    assert study.coverage() == local.coverage()
    assert "\tunreadable\t" in study.coverage()


def test_a_job_the_scheduler_kills_gets_another_attempt_with_more(study):
    process = study.start("build_graphs")
    killed = study.wait_for_running_job()
    subprocess.run(["scancel", killed], env=study.environment, check=True)
    assert process.wait(PATIENCE) == 0, (study.home / "printed.txt").read_text()
    jobs = study.jobs().set_index("id")
    assert list(jobs.loc[killed, ["state", "memory", "minutes"]]) == [
        "CANCELLED",
        "3000M",
        "2:00:00",
    ]
    others = Counter(
        jobs.drop(killed)[["state", "memory", "minutes"]].itertuples(
            index=False, name=None
        )
    )
    assert others == {
        ("COMPLETED", "3000M", "2:00:00"): 1,
        ("COMPLETED", "6000M", "4:00:00"): 1,
    }
    assert len(study.graphs()) == 4
    assert "\tunreadable\t" in study.coverage()


def test_what_was_interrupted_or_killed_is_started_again(study, local):
    """Ctrl-C takes the jobs along. After a kill -9 they go on without a master, while a new one
    takes over.
    """
    # Snakemake forgets its jobs while it looks at them: a signal that arrives then would leave
    # them running
    process = study.start(
        "build_graphs", "--slurm-init-seconds-before-status-checks", "20", seconds=20
    )
    # it would be done before the signal arrives
    study.suspend(study.wait_for_running_job())
    process.send_signal(signal.SIGINT)
    # it ends once it has slept until its next look
    assert process.wait(PATIENCE) != 0
    assert "CANCELLED" in study.ends()
    process = study.start("build_graphs")
    study.wait_for_running_job()
    process.kill()
    process.wait()
    study.run("--unlock")
    study.run("build_graphs")
    assert study.graphs() == local.graphs()
