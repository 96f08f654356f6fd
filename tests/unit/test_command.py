"""`toporank score` and its like, but for the run itself, which test_documented_commands.py does."""

from __future__ import annotations

import argparse
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from conftest import REPOSITORY
from toporank.__main__ import main
from toporank.command import doctor, study, unpacking
from toporank.command.given import look_at, name_of
from toporank.command.run import Progress, only_shows, out_folder, running_arguments, snakemake_arguments, why_it_failed
from toporank.config import load_config
from toporank.errors import ConfigError
from toporank.shipped import repository

# ---- what was given -------------------------------------------------------------------------------------------

SERVER = {
    "fold_x_model_0.cif": "data_a", "fold_x_model_1.cif": "data_b", "fold_x_summary_confidences_0.json": "{}",
    "templates/fold_x_template_hit_0_chains_a.cif": "data_c",
}  # fmt: skip
"""A job of the AlphaFold Server."""


def zipped(path: Path, files: dict[str, str]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


def tarred(path: Path, files: dict[str, str]) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text.encode()))
    return path


def test_the_zip_of_a_server_is_unpacked_into_out_and_recognised(tmp_path):
    given = look_at(zipped(tmp_path / "fold_x.zip", SERVER), tmp_path / "out")
    assert given.name == "fold_x"
    assert given.folder == tmp_path / "out/input/fold_x"
    assert given.said == f"AlphaFold Server: 2 decoys of 1 target in {given.folder}"
    assert (given.folder / "fold_x_summary_confidences_0.json").read_text() == "{}"


def test_jobs_in_a_tar_file_are_targets(tmp_path):
    jobs = {f"{job}/fold_{job}_model_{n}.cif": "data_x" for job in ("one", "two") for n in range(3)}
    assert "6 decoys of 2 targets" in look_at(tarred(tmp_path / "jobs.tar.gz", jobs), tmp_path / "out").said


def test_an_archive_is_unpacked_again_only_if_it_changed_and_its_files_keep_their_time(tmp_path):
    archive = zipped(tmp_path / "a.zip", {"a.pdb": "one"})
    folder = unpacking.unpacked(archive, tmp_path)
    then = (folder / "a.pdb").stat().st_mtime_ns
    (folder / "a.pdb").write_text("changed by hand")
    assert (unpacking.unpacked(archive, tmp_path) / "a.pdb").read_text() == "changed by hand"
    os.utime(archive, (1, 1))
    assert (unpacking.unpacked(archive, tmp_path) / "a.pdb").read_text() == "one"
    assert (folder / "a.pdb").stat().st_mtime_ns == then


@pytest.mark.parametrize("make", [zipped, tarred])
@pytest.mark.parametrize("name", ["../a.pdb", "/tmp/a.pdb", "T/../../a.pdb", "..\\a.pdb", "C:/a.pdb", "T/a\tb.pdb"])
def test_no_file_of_an_archive_lands_elsewhere(tmp_path, make, name):
    archive = make(tmp_path / ("a.zip" if make is zipped else "a.tgz"), {name: "x"})
    with pytest.raises(ConfigError, match="would lie elsewhere"):
        unpacking.unpacked(archive, tmp_path / "deep/er")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [archive]


def test_links_in_an_archive_are_left_out(tmp_path):
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        link = tarfile.TarInfo("a.pdb")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    assert [*unpacking.unpacked(tmp_path / "a.tar", tmp_path / "to").iterdir()] == []


@pytest.mark.parametrize(("limit", "most"), [("MOST_FILES", 1), ("MOST_BYTES", 5)])
def test_an_archive_that_is_too_large_is_refused_and_not_taken_for_unpacked(tmp_path, monkeypatch, limit, most):
    archive = zipped(tmp_path / "a.zip", {"a.pdb": "four", "b.pdb": "more"})
    monkeypatch.setattr(unpacking, limit, most)
    for _ in range(2):
        with pytest.raises(ConfigError, match=r"more than .* the room on the disk"):
            unpacking.unpacked(archive, tmp_path)


@pytest.mark.parametrize("name", ["a.zip", "a.tar.gz"])
def test_a_damaged_archive_is_named_with_a_remedy(tmp_path, name):
    (tmp_path / name).write_text("no archive")
    with pytest.raises(ConfigError, match=rf"{name}: cannot be unpacked.*fetch it again"):
        look_at(tmp_path / name, tmp_path / "out")


def test_a_single_file_is_linked(tmp_path):
    (tmp_path / "model.cif.gz").touch()
    given = look_at(tmp_path / "model.cif.gz", tmp_path / "out")
    assert given.said.startswith("Plain structure files: 1 decoy of 1 target in ")
    assert (given.folder / "model.cif.gz").resolve() == tmp_path / "model.cif.gz"
    (tmp_path / "model.cif").touch()
    assert [path.name for path in look_at(tmp_path / "model.cif", tmp_path / "out").folder.iterdir()] == ["model.cif"]


@pytest.mark.parametrize("name", ["model.pdb", "model.zip"])
def test_a_file_of_the_same_name_from_elsewhere_does_not_take_the_place_of_the_first(tmp_path, name):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        zipped(tmp_path / folder / name, {"model.pdb": folder})
    given = look_at(tmp_path / "a" / name, tmp_path / "out")
    before = (given.folder / "model.pdb").read_bytes()
    with pytest.raises(ConfigError, match=rf"of .*a/{name}, not of .*b/{name} \(choose another folder with -o"):
        look_at(tmp_path / "b" / name, tmp_path / "out")
    assert (given.folder / "model.pdb").read_bytes() == before


@pytest.mark.parametrize(
    ("name", "what_to_do"),
    [("scores.json", "give the folder it lies in"), ("a.7z", "unpack it"), ("a.pdb.zst", "unpack it")],
)
def test_any_other_file_is_refused_with_what_to_give_and_nothing_is_written(tmp_path, name, what_to_do):
    (tmp_path / name).touch()
    with pytest.raises(ConfigError, match=what_to_do):
        look_at(tmp_path / name, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["my run", "Größe", "final", "-x", "...", "解析", "1AVZ"])
def test_any_folder_has_a_name_that_the_configuration_takes(tmp_path, name):
    (tmp_path / name).mkdir()
    chosen = name_of(tmp_path / name)
    assert load_config({"score_decoys": str(tmp_path), "score_name": chosen}).datasets[0].name == chosen


A_CONFIG = str(REPOSITORY / "config/config.yaml")


@pytest.mark.parametrize(
    "arguments",
    [
        ["score", "nowhere"],
        ["train", "nowhere.yaml"],
        ["label", "."],
        ["report", "."],
        ["label", A_CONFIG, "--natives", "."],
        ["label", A_CONFIG, "--partners", "A:B"],
    ],
)
def test_what_cannot_be_done_is_one_line_without_a_run(tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert len(str(caught.value.code).splitlines()) == 1
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize(
    ("given", "expected"), [("my.csv", "/here/my.csv"), ("/x/my.tsv", "/x/my.tsv"), ("H+L:A", "H+L:A")]
)
def test_a_table_of_partners_is_found_from_wherever_the_workflow_runs(tmp_path, monkeypatch, given, expected):
    monkeypatch.chdir(tmp_path)
    args = argparse.Namespace(config=tmp_path, natives=tmp_path, partners=given)
    (dataset,) = json.loads(study._for_natives(args, tmp_path).read_text())["datasets"]
    assert dataset["partners"] == expected.replace("/here", str(tmp_path))


# ---- running --------------------------------------------------------------------------------------------------


def arguments(*words: str) -> list[str]:
    args = running_arguments().parse_args(words)
    return snakemake_arguments("score", Path("/s/toporank.json"), Path("/out"), args)


def test_the_workflow_is_that_of_the_repository_with_the_cores_and_arguments_that_were_given():
    given = arguments("--cores", "3", "--snakemake-args", "-n", "--config", "rank_by=min_interface")
    assert given[given.index("--snakefile") + 1] == str(repository() / "Snakefile")
    assert given[given.index("--cores") + 1] == "3"
    assert given[-3:] == ["-n", "--config", "rank_by=min_interface"]
    assert given.index("score") < given.index("--configfile")


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("-n -np -nq -pn --dry-run --dryrun -t --touch --rulegraph --dag=dot --filegraph -S -D -l --list-rules", True),
        ("--list-changes --lc=code --list-untracked --unlock --lint --cm --cleanup-metadata --delete-all-output", True),
        ("-p -k -F -q -j4 -T2 --cores=4 --nolock --notemp --keep-incomplete --report-after-run --config a=-n", False),
    ],
)
def test_what_snakemake_only_shows_is_no_run(given, shown):
    """By the options of Snakemake 9.27."""
    assert {argument: only_shows([argument]) for argument in given.split()} == dict.fromkeys(given.split(), shown)


def test_on_slurm_the_profile_says_how_many_cores_a_node_has():
    assert "--cores" not in arguments("--slurm")
    assert arguments("--slurm")[arguments("--slurm").index("--profile") + 1] == str(repository() / "slurm")


def test_a_folder_that_cannot_be_written_is_refused(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match=r"cannot be written.*-o"):
        out_folder(tmp_path / "file/out")


PREFLIGHT = """\
Building DAG of jobs...
WorkflowError in file "rules/common.smk", line 67:
Preflight failed, nothing was run:
  dataset five: there is no /five (is it spelled right?)
  File "rules/common.smk", line 67, in __onstart
"""
JOB = """\
RuleException:
CalledProcessError in file "rules/scoring.smk", line 42:
Command 'set -euo pipefail;  score.py' returned non-zero exit status 1.
Exiting because a job execution failed. Look above for error messages
logs/scoring/five.log:
  trees.safetensors: not readable trees (restore the file)
Complete log(s): log
WorkflowError:
At least one job did not complete successfully.
"""
LOCKED = """\
Assuming unrestricted shared filesystem usage.
LockException:
Error: Directory cannot be locked. Please make sure that no other Snakemake process is at work
"""


def test_of_a_failure_the_reason_is_shown_and_nothing_else():
    assert why_it_failed(PREFLIGHT.splitlines()) == PREFLIGHT.splitlines()[2:4]
    assert why_it_failed(JOB.splitlines()) == JOB.splitlines()[4:6]
    wrong = "snakemake: error: unrecognized arguments: --x"
    assert why_it_failed(["usage: snakemake [-h]", "   [--version]", wrong]) == [wrong]


def test_a_lock_comes_with_the_way_out():
    (said,) = why_it_failed(LOCKED.splitlines())
    assert "--snakemake-args --unlock" in said


def test_in_a_log_progress_is_a_line_for_every_quarter_of_the_work():
    stream = io.StringIO()
    progress = Progress(stream)
    for percent in range(101):
        progress.show(f"five: {percent}/100 decoys, 0 without result, {percent} % done")
    progress.show("3 of 9 steps (33%) done")
    assert [line.split(", ")[-1] for line in stream.getvalue().splitlines()] == [
        "25 % done", "50 % done", "75 % done", "100 % done",
    ]  # fmt: skip


def test_on_a_terminal_progress_is_one_line_that_is_removed_at_the_end():
    stream = io.StringIO()
    stream.isatty = lambda: True
    progress = Progress(stream)
    progress.show("five: 1/5 decoys, 0 without result, 20 % done")
    progress.show("3 of 9 steps (33%) done")
    progress.clear()
    assert "\n" not in stream.getvalue()
    assert "step 3 of 9" in stream.getvalue()
    assert stream.getvalue().endswith("\r\x1b[K")


# ---- in a wheel ---------------------------------------------------------------------------------------------


def test_a_wheel_has_the_whole_workflow_and_finds_it(tmp_path):
    pytest.importorskip("setuptools")
    build = [
        "setup.py",
        "-q",
        "egg_info",
        "--egg-base",
        str(tmp_path),
        "build_py",
        "--build-lib",
        str(tmp_path / "lib"),
    ]
    subprocess.run([sys.executable, *build], cwd=REPOSITORY, check=True, capture_output=True)
    found = [sys.executable, "-c", "from toporank.shipped import repository; print(repository())"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "lib")}
    answer = subprocess.run(found, cwd=tmp_path, check=True, capture_output=True, text=True, env=environment)
    inside = tmp_path / "lib/toporank/repository"
    assert answer.stdout.strip() == str(inside)
    used = {*re.findall(r'include: "(.+)"', (REPOSITORY / "Snakefile").read_text()), "Snakefile", "slurm/config.yaml"}
    used |= {f"workflow_scripts/{path.name}" for path in (REPOSITORY / "workflow_scripts").glob("*.*")}
    used |= {
        f"envs/{name}"
        for path in REPOSITORY.glob("rules/*.smk")
        for name in re.findall(r"envs/(.+)\"", path.read_text())
    }
    used |= {"config/config.yaml", "profiles/default/config.yaml", "resources/example/labels.csv"}
    used |= {str(path.relative_to(REPOSITORY)) for path in REPOSITORY.glob("resources/scorer/**/*.*")}
    assert {name for name in used if not (inside / name).is_file()} == set()
    assert os.access(inside / "workflow_scripts/score.py", os.X_OK)
    library = [path for path in (REPOSITORY / "lib/toporank").rglob("*") if "__pycache__" not in path.parts]
    files = [path.relative_to(REPOSITORY / "lib") for path in library if path.is_file()]
    assert [file for file in files if not (tmp_path / "lib" / file).is_file()] == []


# ---- doctor ---------------------------------------------------------------------------------------------------


def examined(capsys, *checks) -> tuple[int, str]:
    doctor.CHECKS, before = checks, doctor.CHECKS
    try:
        return doctor.examine(argparse.Namespace()), capsys.readouterr().out
    finally:
        doctor.CHECKS = before


def test_this_installation_is_whole(capsys):
    code, said = examined(capsys, doctor._python, doctor._packages, doctor._workflow, doctor._places, doctor._optional)
    assert code == 0, said
    assert said.endswith("Everything that is needed is there.\n")


def test_a_package_that_is_missing_or_too_old_is_named_with_the_remedy(capsys, monkeypatch):
    monkeypatch.setattr(doctor, "_required", lambda: ["numpy>=999", "no-such-package-zz>=1", "pandas>=2.2"])
    code, said = examined(capsys, doctor._packages)
    assert code == 1
    assert "pip install 'numpy>=999'" in said
    assert "package no-such-package-zz>=1" in said
    assert "1 of 3 packages in the versions that are needed" in said


def test_a_workflow_without_its_rules_is_missing_and_mkdssp_is_not(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(doctor, "repository", lambda: tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    code, said = examined(capsys, doctor._workflow, doctor._optional)
    assert code == 1
    assert said.count("MISSING") == 1
    assert "-       no mkdssp" in said


def test_a_scorer_that_was_changed_is_not_whole(monkeypatch, tmp_path):
    whole = repository() / "resources/scorer"
    for path in whole.rglob("*"):
        if path.is_file():
            (tmp_path / "resources/scorer" / path.relative_to(whole)).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "resources/scorer" / path.relative_to(whole)).symlink_to(path)
    monkeypatch.setattr(doctor, "repository", lambda: tmp_path)
    assert [finding.state for finding in doctor._scorer()] == [doctor.OK]
    (tmp_path / "resources/scorer/trees.safetensors").unlink()
    (tmp_path / "resources/scorer/trees.safetensors").write_text("others")
    (finding,) = doctor._scorer()
    assert finding.state == doctor.MISSING
    assert "restore the folder" in finding.what
