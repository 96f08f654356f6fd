"""Killed runs, full disks, read-only folders, two runs at once: nothing is corrupt, and the next
run completes.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import zipfile
from collections import Counter
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from _running import jobs, standing_still, start, wait_for

from conftest import EXAMPLE, FEW_SETTINGS, REPOSITORY, Study
from quick_python import quick_python, quickly
from signals import listen_to_ctrl_c

pytestmark = pytest.mark.slow


def graphs(study: Study) -> dict[str, bytes]:
    return {
        name: content
        for name, content in study.tree().items()
        if name.endswith((".pt", ".csv"))
    }


def finished_entries(study: Study) -> Counter[str]:
    """What is in the reuse store, by kind."""
    boxes = [
        zipfile.ZipFile(path)
        for path in study.home.glob(".toporank/store/??/[0-9a-f]*.zip")
    ]
    kinds = [name.partition("/")[0] for box in boxes for name in box.namelist()]
    return Counter(kind for kind in kinds if kind != "row")


@pytest.mark.parametrize("victim", ["main process", "job"])
def test_after_kill_9_the_next_run_completes_and_loses_at_most_what_was_in_flight(
    fresh, few_built, victim
):
    run = start(fresh)
    wait_for(lambda: finished_entries(fresh)["atoms"] >= 1 and jobs(fresh))
    if victim == "job":
        wait_for(lambda: list(fresh.home.glob("logs/chunks/mini/*.running")))
        for job in jobs(fresh):
            os.kill(job, signal.SIGKILL)
        assert run.wait(300) != 0
        (printed,) = fresh.home.glob("printed-*.txt")
        assert re.search(
            r"build_chunk, logs/chunks/mini/\w+\.log: the job was killed before .* \(try again with "
            "fewer --cores",
            printed.read_text(),
        )
    else:
        run.kill()
        run.wait(60)
        wait_for(lambda: not jobs(fresh))
        assert "--unlock" in fresh.run("build_graphs", check=False).stdout
        fresh.run("--unlock")
    kept, all_entries = finished_entries(fresh), finished_entries(few_built)
    fresh.forget_logs()
    fresh.run("build_graphs")
    assert fresh.computed() == all_entries - kept
    assert graphs(fresh) == graphs(few_built)
    assert not list(fresh.results.rglob("*.tmp"))


def finished_graphs(folder: Path) -> list[Path]:
    """The files of the store that have a graph; one that is being replaced has not."""
    boxes = folder.glob("out/.toporank/store/??/[0-9a-f]*.zip")
    finished = []
    for path in boxes:
        with (
            suppress(FileNotFoundError, zipfile.BadZipFile),
            zipfile.ZipFile(path) as box,
        ):
            if any(name.startswith("graphs/") for name in box.namelist()):
                finished.append(path)
    return finished


@pytest.mark.parametrize("how_it_ends", [signal.SIGKILL, signal.SIGINT])
def test_after_kill_9_or_ctrl_c_the_same_toporank_goes_on(tmp_path, how_it_ends):
    """The whole group gets the signal, as where memory runs out, a session ends, or in a terminal."""
    command = [
        sys.executable,
        "-m",
        "toporank",
        "score",
        str(EXAMPLE / "decoys/1GCQ"),
        "-o",
        str(tmp_path / "out"),
        "--cores",
        "2",
    ]
    how = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    run = subprocess.Popen(
        command, start_new_session=True, preexec_fn=listen_to_ctrl_c, **how
    )
    wait_for(lambda: len(finished_graphs(tmp_path)) > 3)
    os.killpg(run.pid, how_it_ends)
    printed, _ = run.communicate()
    if how_it_ends == signal.SIGINT:
        assert printed.splitlines()[1:] == [
            "interrupted (the same command goes on from here)"
        ]
        assert run.returncode == 1
    assert not list(tmp_path.glob("out/**/models.csv"))
    finished = {path: path.stat().st_ino for path in finished_graphs(tmp_path)}
    again = quickly(command[1:], REPOSITORY)
    assert again.returncode == 0, again.stdout
    assert "1GCQ: " in again.stdout
    assert {
        path: path.stat().st_ino for path in finished
    } == finished  # what was made is not made again


def test_a_restart_beside_jobs_of_a_killed_run_ends_well(fresh, few_built):
    """The orphans stand still while the new run overtakes them, then write what is there
    already.
    """
    run = start(fresh)
    wait_for(lambda: jobs(fresh))
    orphans = jobs(fresh)
    with standing_still(orphans):
        run.kill()
        run.wait(60)
        fresh.run("--unlock")
        fresh.run("build_graphs")
        assert graphs(fresh) == graphs(few_built)
        assert set(orphans) <= set(jobs(fresh))
    wait_for(lambda: not jobs(fresh))
    fresh.forget_logs()
    fresh.run("build_graphs")
    assert fresh.computed() == Counter()
    assert graphs(fresh) == graphs(few_built)


@contextmanager
def small_disk(place: Path, options: str):
    """A file system in memory; needs the right to mount."""
    place.mkdir(parents=True, exist_ok=True)
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)],
        capture_output=True,
        check=False,
    )
    if mounted.returncode != 0:
        pytest.skip(
            f"NOT TESTED: no file system may be mounted here: {mounted.stderr.decode().strip()}"
        )
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def test_a_full_disk_ends_the_run_blames_no_decoy_and_the_next_run_completes(
    fresh, few_built
):
    with small_disk(fresh.home / "disk", "size=128k"):
        fresh.configure(
            **{
                **FEW_SETTINGS,
                "workflow": {"chunk_size": 3, "reuse_store": "disk/store"},
            }
        )
        stopped = fresh.run("build_graphs", check=False)
        assert stopped.returncode != 0
        assert "No space left on device" in stopped.stdout
        ledgers = "".join(
            path.read_text() for path in fresh.results.rglob("ledger/*.tsv")
        )
        assert "failed" not in ledgers
        assert not (fresh.results / "mini/coverage.tsv").exists()
        subprocess.run(
            ["mount", "-o", "remount,size=64m", str(fresh.home / "disk")], check=True
        )
        fresh.run("build_graphs")
        assert graphs(fresh) == graphs(few_built)
        assert not list(fresh.home.glob("disk/store/*/.*.tmp"))


def test_scoring_onto_a_full_disk_says_what_to_do_and_goes_on_with_more_room(tmp_path):
    disk = tmp_path / "disk"
    models = REPOSITORY / "resources/example/made_up_colabfold"
    words = ["-m", "toporank", "score", str(models), "-o", str(disk / "out")]
    with small_disk(disk, "size=200k"):
        stopped = quickly(words, REPOSITORY)
        assert stopped.returncode == 1
        assert re.search(r"No space left on device \(.*make room", stopped.stdout)
        more = ["mount", "-o", "remount,size=64m", disk]
        subprocess.run(more, check=True)
        assert quickly(words, REPOSITORY).returncode == 0
        assert (disk / "out/results/scores/made_up_colabfold/models.csv").exists()


def test_a_read_only_results_folder_is_named_before_anything_runs(fresh):
    with small_disk(fresh.home / "results", "ro"):
        stopped = fresh.run("build_graphs", check=False)
        assert stopped.returncode != 0
        assert (
            f"{fresh.results}: cannot be written: Read-only file system"
            in stopped.stdout
        )
        assert not (fresh.home / ".toporank/store").exists() or not finished_entries(
            fresh
        )
    fresh.run("build_graphs", "-n", "--quiet", cores=None)


def test_of_two_runs_in_one_folder_the_second_is_refused_and_the_first_ends_well(
    fresh, few_built
):
    first = start(fresh)
    wait_for(lambda: jobs(fresh))
    second = fresh.run("build_graphs", check=False)
    assert second.returncode != 0
    assert "cannot be locked" in second.stdout
    assert first.wait(300) == 0
    assert graphs(fresh) == graphs(few_built)
    assert "Nothing to be done" in fresh.run("build_graphs").stdout


def test_of_two_runs_started_at_the_same_instant_one_is_refused_and_the_other_does_the_work(
    fresh, few_built
):
    """Snakemake looks for a lock, then writes one: in between both may pass, and one is refused
    after that.
    """
    runs = [start(fresh, quick_python()) for _ in range(2)]
    failed = [run.wait(300) != 0 for run in runs]
    printed = "".join(path.read_text() for path in fresh.home.glob("printed-*.txt"))
    assert sorted(failed) == [False, True]
    assert ("cannot be locked" in printed) != (
        "another run is at work on mini" in printed
    )
    assert fresh.computed() == finished_entries(fresh) == finished_entries(few_built)
    assert fresh.tree() == few_built.tree()
    assert "Nothing to be done" in fresh.run("build_graphs").stdout
