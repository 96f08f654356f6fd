"""Schedulers played by little programs: the profiles but Slurm's, and what Slurm is asked for where
it has GPUs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from conftest import CONFIG, REPOSITORY, Study, make_few, make_study
from messages import messages
from quick_python import quick_python

SCHEDULER = REPOSITORY / "workflow_scripts/scheduler.sh"
PROGRAMS = Path(__file__).with_name("schedulers")
"""Programs that run the jobs at once, in the background, and leave files beside themselves."""
VOLUME = {
    "TOPORANK_IMAGE": "registry/toporank:0.1.0",
    "TOPORANK_VOLUME": "shared:/data",
}
QUICK = "--cores 2 --latency-wait 5 --seconds-between-status-checks 1"


def path_with(folder: Path, **programs: str) -> str:
    """The PATH with these programs of a folder first."""
    folder.mkdir(exist_ok=True)
    for name, text in programs.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def scheduler(folder: Path, words: str, **programs: str) -> subprocess.CompletedProcess:
    """What scheduler.sh answers where these programs are the cluster's."""
    environment = {**os.environ, "PATH": path_with(folder / "bin", **programs)}
    how = {"env": environment, "cwd": folder, "capture_output": True, "text": True}
    return subprocess.run([SCHEDULER, *words.split()], check=False, **how)


def built(folder: Path, profile: str, path: str, **environment: str) -> Study:
    """A data set that was built through a scheduler."""
    study = make_few(folder / "study")
    options = ["--profile", f"profiles/{profile}", *QUICK.split(), "build_graphs"]
    study.run(*options, cores=None, PATH=path, **environment)
    assert len(list((study.results / "mini/graphs").rglob("*.pt"))) == 4
    return study


def test_a_data_set_is_built_through_qsub(tmp_path):
    """One submission for each chunk, with the resources of the rules; the failure of one is
    seen.
    """
    texts = {name: (PROGRAMS / name).read_text() for name in ("qsub", "qstat", "qacct")}
    study = built(tmp_path, "generic", path_with(tmp_path / "sge", **texts))
    asked = (tmp_path / "sge/asked").read_text().splitlines()
    assert len(asked) == len(list((study.results / "mini/plan").glob("*.tsv")))
    assert all("-l h_vmem=3001M,h_rt=7200" in line for line in asked)


@pytest.mark.slow
def test_a_data_set_is_built_by_pods(tmp_path):
    """Each chunk is a job that runs in the image, on the shared folder, with the resources of its
    rule.
    """
    text = f"#!{quick_python()}\n{(PROGRAMS / 'kubectl.py').read_text()}"
    path = path_with(tmp_path / "bin", kubectl=text)
    study = built(tmp_path, "kubernetes", path, **VOLUME)
    jobs = [
        yaml.safe_load(file.read_text()) for file in (tmp_path / "bin").glob("*.yaml")
    ]
    assert len(jobs) == len(list((study.results / "mini/plan").glob("*.tsv")))
    for job in jobs:
        pod = job["spec"]["template"]["spec"]
        (container,), (volume,) = pod["containers"], pod["volumes"]
        assert container["image"] == VOLUME["TOPORANK_IMAGE"]
        assert pod["activeDeadlineSeconds"] == 7200
        assert container["resources"] == {
            "requests": {"cpu": "1", "memory": "3000M"},
            "limits": {"memory": "3000M"},
        }
        assert container["volumeMounts"] == [
            {"name": volume["name"], "mountPath": "/data"}
        ]
        assert volume["persistentVolumeClaim"] == {"claimName": "shared"}


def test_pods_without_an_image_are_refused_with_a_reason(tmp_path):
    no = "#!/bin/sh\ncat > /dev/null\nexit 1\n"
    answer = scheduler(tmp_path, "kubernetes submit 1 2000 60 job.sh", kubectl=no)
    assert answer.returncode != 0
    assert "TOPORANK_IMAGE: give the image of the jobs" in answer.stderr


def test_aws_batch_gets_the_script_and_what_it_needs(tmp_path):
    aws = f"#!/bin/sh\nprintf '%s\\n' \"$@\" > '{tmp_path}/asked'\necho 7f3c\n"
    words = "aws submit 2 3000 90 --job-queue Q --job-definition D job.sh"
    assert scheduler(tmp_path, words, aws=aws).stdout == "7f3c\n"
    asked = (tmp_path / "asked").read_text().splitlines()
    assert json.loads(asked[asked.index("--container-overrides") + 1]) == {
        "command": ["bash", "job.sh"],
        "resourceRequirements": [
            {"type": "VCPU", "value": "2"},
            {"type": "MEMORY", "value": "3000"},
        ],
    }
    assert asked[asked.index("--timeout") + 1] == "attemptDurationSeconds=5400"
    assert asked[-4:] == ["--job-queue", "Q", "--job-definition", "D"]


PROFILES = ("htcondor", "kubernetes", "aws")


@pytest.mark.parametrize("name", PROFILES)
def test_a_profile_is_one_that_snakemake_can_run_the_workflow_with(tmp_path, name):
    shown = make_study(tmp_path / "study").run(
        "--profile", f"profiles/{name}", "-n", "build_graphs", cores=None
    )
    assert "build_chunk" in shown.stdout


def test_all_profiles_of_clusters_have_the_same_settings():
    """What is said of chunks, attempts and memory holds for each."""
    read = {
        path.parent.name: yaml.safe_load(path.read_text())
        for path in REPOSITORY.glob("profiles/*/config.yaml")
    }
    generic = read["generic"]
    for name in PROFILES:
        for key in ("jobs", "cores", "latency-wait", "group-components", "retries"):
            assert read[name][key] == generic[key], (name, key)
        assert set(generic["default-resources"]) <= set(read[name]["default-resources"])


def test_training_on_cuda_asks_slurm_for_as_many_gpus_as_devices(study, tmp_path):
    """Every job fails here."""
    programs = dict.fromkeys(("sinfo", "sshare", "sacctmgr", "scancel"), "#!/bin/sh\n")
    programs["scontrol"] = "#!/bin/sh\necho 'Slurmctld(primary) at head is UP'\n"
    programs |= dict.fromkeys(("squeue", "sacct"), "#!/bin/sh\necho '7|FAILED'\n")
    programs["sbatch"] = f"#!/bin/sh\necho \"$@\" >> '{tmp_path}/asked'\necho 7\n"
    cuda = {"accelerator": "cuda", "devices": 2}
    study.configure(training={**CONFIG["training"], "trainer": cuda})
    options = "--profile slurm --retries 0 --slurm-init-seconds-before-status-checks 1"
    words = [*options.split(), "results/training/leaderboard.csv"]
    path = path_with(tmp_path / "slurm", **programs)
    stopped = study.run(*words, check=False, cores=None, PATH=path)
    assert stopped.returncode != 0
    asked = (tmp_path / "asked").read_text().splitlines()
    assert len(asked) == 2
    assert all(" --gpus=2 " in line for line in asked)
    assert all(" --cpus-per-task=2 " in line for line in asked)


def test_a_python_that_jobs_could_not_start_is_refused_before_any_job(tmp_path):
    """Locally it is fine: only what is submitted has its path unquoted."""
    study = make_study(tmp_path / "study")
    (tmp_path / "a space").symlink_to(sys.prefix)
    study.python = str(
        tmp_path / "a space" / Path(sys.executable).relative_to(sys.prefix)
    )
    refused = study.run("--profile", "profiles/generic", "build_graphs", check=False)
    assert refused.returncode != 0
    assert (
        f"a Python whose path has a space: {study.python} (make the .venv"
        in refused.stdout
    )
    assert not list(study.results.rglob("*.pt"))
    assert study.run("-n", "build_graphs").returncode == 0


@pytest.mark.parametrize(("cluster", "program", "says", "status"), messages("clusters"))
def test_what_a_scheduler_says_of_a_job(tmp_path, cluster, program, says, status):
    programs = dict.fromkeys(
        ("qstat", "qacct", "bjobs", "kubectl", "aws"), "#!/bin/sh\nexit 1\n"
    )
    if program:
        programs[program] = f"#!/bin/sh\ncat <<'E'\n{says}\nE\n"
    answer = scheduler(tmp_path, f"{cluster} status 7", **programs)
    assert (answer.returncode, answer.stdout.strip()) == (0, status)


@pytest.mark.parametrize(
    ("cluster", "program", "says", "options"),
    [
        ("pbs", "qsub", "7.server", "-V select=1:ncpus=2:mem=3000mb -l walltime=1:30:00 -q long job.sh"),
        ("lsf", "bsub", "Job <7> is submitted to default queue <normal>.", "-W 90 -o logs/scheduler/%J.log -q long"),
        ("sge", "qsub", "7", "-V -pe smp 2 -l h_vmem=1501M,h_rt=5400 -q long job.sh"),
    ],
)  # fmt: skip
def test_what_a_scheduler_is_asked_for(tmp_path, cluster, program, says, options):
    """Jobs get the environment (-V), from bsub without asking."""
    text = f"#!/bin/sh\necho \"$@\" > '{tmp_path}/asked'\necho '{says}'\n"
    answer = scheduler(
        tmp_path, f"{cluster} submit 2 3000 90 -q long job.sh", **{program: text}
    )
    assert answer.stdout.strip().split(".")[0] == "7"
    asked = (tmp_path / "asked").read_text()
    assert options.removeprefix("-V ") in asked
    assert ("-V" in asked.split()) is options.startswith("-V")
