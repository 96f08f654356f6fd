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

from conftest import CONFIG, REPOSITORY, make_study

SCHEDULER = REPOSITORY / "workflow_scripts/scheduler.sh"
QSUB = """#!/bin/bash
# runs the job at once, in the background
cd "$(dirname "$0")"
echo x >> submitted
id=$(wc -l < submitted)
echo "$@" >> asked
(cd - > /dev/null; bash "${@: -1}" > "$OLDPWD/$id.out" 2>&1; echo $? > "$OLDPWD/$id.status") > /dev/null 2>&1 &
echo "$id"
"""
QSTAT = '#!/bin/bash\n! [ -e "$(dirname "$0")/$2.status" ]\n'
QACCT = (
    '#!/bin/bash\necho "failed       0"\necho "exit_status  $(cat "$(dirname "$0")/$2.status")"\n'
)


KUBECTL = """#!{python}
# runs the jobs that are created at once, in the background
import subprocess, sys
from pathlib import Path
import yaml
here = Path(__file__).parent
if sys.argv[1] == "create":
    job = yaml.safe_load(sys.stdin)
    name = "toporank-" + str(len(list(here.glob("*.yaml"))) + 1)
    (here / (name + ".yaml")).write_text(yaml.safe_dump(job))
    (container,) = job["spec"]["template"]["spec"]["containers"]
    end = 'echo $? > "' + str(here / name) + '.status"'
    command = " ".join("'" + word + "'" for word in container["command"])
    quiet = dict(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    subprocess.Popen(["bash", "-c", command + "; " + end], cwd=container["workingDir"], start_new_session=True, **quiet)
    print("job.batch/" + name)
else:
    status = here / (sys.argv[3] + ".status")
    if status.exists():
        print("SuccessCriteriaMet Complete" if status.read_text() == "0\\n" else "FailureTarget Failed", end="")
"""
VOLUME = {"TOPORANK_IMAGE": "registry/toporank:0.1.0", "TOPORANK_VOLUME": "shared:/data"}


def program(path, text):
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def test_a_data_set_is_built_through_qsub(tmp_path, submitting_python):
    """One submission for each chunk, with the resources of the rules; the failure of one is
    seen.
    """
    for name, text in (("qsub", QSUB), ("qstat", QSTAT), ("qacct", QACCT)):
        program(tmp_path / "sge" / name, text)
    study = make_study(tmp_path / "study")
    study.python = submitting_python
    path = f"{tmp_path / 'sge'}:{os.environ['PATH']}"
    study.run(
        "--profile", "profiles/generic", "--cores", "2", "--latency-wait", "5", "--seconds-between-status-checks", "1",
        "build_graphs", cores=None, PATH=path,
    )  # fmt: skip
    asked = (tmp_path / "sge/asked").read_text().splitlines()
    assert len(asked) == len(list((study.results / "mini/plan").glob("*.tsv")))
    assert all("-l h_vmem=3001M,h_rt=7200" in line for line in asked)
    assert len(list((study.results / "mini/graphs").rglob("*.pt"))) == 12


def test_a_data_set_is_built_by_pods(tmp_path, submitting_python):
    """Each chunk is a job that runs in the image, on the shared folder, with the resources of its
    rule.
    """
    program(tmp_path / "bin/kubectl", KUBECTL.format(python=submitting_python))
    study = make_study(tmp_path / "study")
    study.python = submitting_python
    study.run(
        "--profile", "profiles/kubernetes", "--cores", "2", "--latency-wait", "5",
        "--seconds-between-status-checks", "1", "build_graphs",
        cores=None, PATH=f"{tmp_path / 'bin'}:{os.environ['PATH']}", **VOLUME,
    )  # fmt: skip
    jobs = [yaml.safe_load(path.read_text()) for path in (tmp_path / "bin").glob("*.yaml")]
    assert len(jobs) == len(list((study.results / "mini/plan").glob("*.tsv")))
    for pod in (job["spec"]["template"]["spec"] for job in jobs):
        (container,), (volume,) = pod["containers"], pod["volumes"]
        assert (container["image"], pod["activeDeadlineSeconds"]) == (
            "registry/toporank:0.1.0",
            7200,
        )
        assert container["resources"] == {
            "requests": {"cpu": "1", "memory": "3000M"},
            "limits": {"memory": "3000M"},
        }
        assert container["volumeMounts"] == [{"name": volume["name"], "mountPath": "/data"}]
        assert volume["persistentVolumeClaim"] == {"claimName": "shared"}
    assert len(list((study.results / "mini/graphs").rglob("*.pt"))) == 12


def test_pods_without_an_image_are_refused_with_a_reason(tmp_path):
    program(tmp_path / "bin/kubectl", "#!/bin/sh\ncat > /dev/null\nexit 1\n")
    environment = {**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    command = [SCHEDULER, "kubernetes", "submit", "1", "2000", "60", "job.sh"]
    answer = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert answer.returncode != 0
    assert "TOPORANK_IMAGE: give the image of the jobs" in answer.stderr


def test_aws_batch_gets_the_script_and_what_it_needs(tmp_path):
    program(
        tmp_path / "bin/aws", f"#!/bin/sh\nprintf '%s\\n' \"$@\" > '{tmp_path}/asked'\necho 7f3c\n"
    )
    environment = {**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    command = [
        SCHEDULER,
        "aws",
        "submit",
        "2",
        "3000",
        "90",
        "--job-queue",
        "Q",
        "--job-definition",
        "D",
        "a job.sh",
    ]
    answer = subprocess.run(
        command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert answer.stdout == "7f3c\n"
    asked = (tmp_path / "asked").read_text().splitlines()
    assert json.loads(asked[asked.index("--container-overrides") + 1]) == {
        "command": ["bash", "a job.sh"],
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


def test_training_on_cuda_asks_slurm_for_as_many_gpus_as_devices(
    study, submitting_python, tmp_path
):
    program(tmp_path / "slurm/sbatch", f"#!/bin/sh\necho \"$@\" >> '{tmp_path}/asked'\necho 7\n")
    for name in ("sinfo", "sshare", "sacctmgr", "scontrol", "scancel"):
        program(tmp_path / "slurm" / name, "#!/bin/sh\n")
    for name in ("squeue", "sacct"):  # every job has failed
        program(tmp_path / "slurm" / name, "#!/bin/sh\necho '7|FAILED'\n")
    study.configure(
        training={**CONFIG["training"], "trainer": {"accelerator": "cuda", "devices": 2}}
    )
    study.python = submitting_python
    stopped = study.run(
        "--profile", "slurm", "--retries", "0", "--slurm-init-seconds-before-status-checks", "1",
        "results/training/leaderboard.csv", check=False, cores=None, PATH=f"{tmp_path / 'slurm'}:{os.environ['PATH']}",
    )  # fmt: skip
    assert stopped.returncode != 0
    asked = (tmp_path / "asked").read_text().splitlines()
    assert len(asked) == 2
    assert all(" --gpus=2 " in line for line in asked)
    assert all(" --cpus-per-task=2 " in line for line in asked)


def test_a_python_that_jobs_could_not_start_is_refused_before_any_job(tmp_path):
    """Locally it is fine: only what is submitted has its path unquoted."""
    study = make_study(tmp_path / "study")
    (tmp_path / "a space").symlink_to(sys.prefix)
    study.python = str(tmp_path / "a space" / Path(sys.executable).relative_to(sys.prefix))
    refused = study.run("--profile", "profiles/generic", "build_graphs", check=False)
    assert refused.returncode != 0
    assert f"a Python whose path has a space: {study.python} (make the .venv" in refused.stdout
    assert not list(study.results.rglob("*.pt"))
    assert study.run("-n", "build_graphs").returncode == 0


@pytest.mark.parametrize(
    ("scheduler", "program_name", "says", "status"),
    [
        ("pbs", "qstat", "    job_state = R", "running"),
        ("pbs", "qstat", "    job_state = F\n    Exit_status = 0", "success"),
        ("pbs", "qstat", "    job_state = F\n    Exit_status = 271", "failed"),
        ("lsf", "bjobs", "PEND", "running"),
        ("lsf", "bjobs", "DONE", "success"),
        ("lsf", "bjobs", "EXIT", "failed"),
        ("kubernetes", "kubectl", "", "running"),
        ("kubernetes", "kubectl", "SuccessCriteriaMet", "running"),
        ("kubernetes", "kubectl", "SuccessCriteriaMet Complete", "success"),
        ("kubernetes", "kubectl", "Complete", "success"),
        ("kubernetes", "kubectl", "FailureTarget Failed", "failed"),
        ("aws", "aws", "RUNNABLE", "running"),
        ("aws", "aws", "SUCCEEDED", "success"),
        ("aws", "aws", "FAILED", "failed"),
        ("sge", "qacct", "failed       0\nexit_status  0", "success"),
        ("sge", "qacct", "failed       0\nexit_status  1", "failed"),
        ("sge", "qacct", "failed       100 : assumedly after job\nexit_status  137", "failed"),
    ],
)
def test_what_a_scheduler_says_of_a_job(tmp_path, scheduler, program_name, says, status):
    if scheduler == "sge":
        program(tmp_path / "bin/qstat", "#!/bin/sh\nexit 1\n")
    program(tmp_path / "bin" / program_name, f"#!/bin/sh\ncat <<'E'\n{says}\nE\n")
    environment = {**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    answer = subprocess.run(
        [SCHEDULER, scheduler, "status", "7"], env=environment, capture_output=True, text=True
    )
    assert (answer.returncode, answer.stdout.strip()) == (0, status)


@pytest.mark.parametrize("scheduler", ["sge", "pbs", "lsf", "kubernetes", "aws"])
def test_a_scheduler_that_does_not_answer_is_asked_again(tmp_path, scheduler):
    for name in ("qstat", "qacct", "bjobs", "kubectl", "aws"):
        program(tmp_path / "bin" / name, "#!/bin/sh\nexit 1\n")
    environment = {**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    answer = subprocess.run(
        [SCHEDULER, scheduler, "status", "7"], env=environment, capture_output=True, text=True
    )
    assert (answer.returncode, answer.stdout.strip()) == (0, "running")


@pytest.mark.parametrize(
    ("scheduler", "name", "says", "options"),
    [
        (
            "pbs",
            "qsub",
            "7.server",
            "select=1:ncpus=2:mem=3000mb -l walltime=1:30:00 -q long job.sh",
        ),
        (
            "lsf",
            "bsub",
            "Job <7> is submitted to default queue <normal>.",
            "-W 90 -o logs/scheduler/%J.log -q long",
        ),
        ("sge", "qsub", "7", "-pe smp 2 -l h_vmem=1501M,h_rt=5400 -q long job.sh"),
    ],
)
def test_what_a_scheduler_is_asked_for(tmp_path, scheduler, name, says, options):
    program(
        tmp_path / "bin" / name, f"#!/bin/sh\necho \"$@\" > '{tmp_path}/asked'\necho '{says}'\n"
    )
    environment = {**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    command = [SCHEDULER, scheduler, "submit", "2", "3000", "90", "-q", "long", "job.sh"]
    answer = subprocess.run(
        command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip().split(".")[0] == "7"
    asked = (tmp_path / "asked").read_text()
    assert options in asked
    assert ("-V" in asked.split()) is (
        scheduler != "lsf"
    )  # jobs get the environment, from bsub without asking
