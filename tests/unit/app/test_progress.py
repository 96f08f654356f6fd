"""How far a build is, from what its jobs leave behind: share, rate, time left, and how it is shown."""

from __future__ import annotations

import logging
import re

import psutil
import pytest

from toporank.app.workflow.progress import Build, Part, duration, watch


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def look(build: Build) -> str:
    build.look()
    return build.line()


def parts(*chunks: str, dataset: str = "mini") -> list[Part]:
    return [Part(dataset, chunk) for chunk in chunks]


def note(job: Part, done: int, failed: int) -> None:
    """As `building.chunks.chunk` leaves word."""
    job.path.parent.mkdir(parents=True, exist_ok=True)
    job.path.write_text(f"{done}\t{failed}\n")


def test_the_share_of_the_decoys_gives_rate_and_time_left():
    clock = Clock()
    first, second = jobs = parts("001-of-002", "002-of-002")
    build = Build("mini", dict.fromkeys(jobs, 500), clock)
    assert look(build) == "mini: 0/1,000 decoys, 0 without result, 0 % done"
    clock.now += 10
    note(first, 200, 3)
    note(second, 50, 1)
    assert look(build) == ("mini: 250/1,000 decoys, 4 without result, 25 % done, 25/s, 30 s left")
    clock.now += 30
    note(first, 500, 3)
    note(second, 500, 3)
    assert "1,000/1,000 decoys, 6 without result, 100 % done, 25/s, 0 s left" in look(build)
    assert build.finished


def test_the_rate_is_that_of_the_last_two_minutes():
    """A quick start, by reuse say, promises nothing for long; what stands still has no rate."""
    clock = Clock()
    chunk = Part("mini", "001-of-001")
    build = Build("mini", {chunk: 10_000}, clock)
    note(chunk, 5000, 0)
    clock.now += 5
    assert "1e+03/s, 5 s left" in look(build)
    for i in range(1, 15):
        clock.now += 10
        note(chunk, 5000 + 10 * i, 0)
        line = look(build)
    assert "1/s, 1 h 21 min left" in line
    for _ in range(15):
        clock.now += 10
        line = look(build)
    assert line == "mini: 5,140/10,000 decoys, 0 without result, 51 % done"


def test_an_attempt_that_starts_again_takes_its_counts_back():
    job = Part("mini", "001-of-001")
    build = Build("mini", {job: 4}, Clock())
    note(job, 3, 1)
    assert "3/4" in look(build)
    note(job, 0, 0)
    assert look(build) == "mini: 0/4 decoys, 0 without result, 0 % done"


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "0 s"), (89, "89 s"), (150, "2 min"), (3570, "1 h 00 min"), (12_000, "3 h 20 min")]
)
def test_a_duration_in_words(seconds, text):
    assert duration(seconds) == text


def watched(caplog, scenes, n=2, **keywords) -> list[str]:
    """What is told of two data sets; each sleep plays one scene."""
    jobs = parts("001-of-001", dataset="a") + parts("001-of-001", dataset="b")
    scene = iter(scenes)
    logger = logging.getLogger("told")
    with caplog.at_level(logging.INFO, logger="told"):
        watch(dict.fromkeys(jobs, n), logger, 30, sleep=lambda seconds: next(scene)(jobs), **keywords).join(20)
    return [record.message.partition(" done")[0] for record in caplog.records]


def all_done(jobs: list[Part]) -> None:
    for job in jobs:
        note(job, 2, 0)


def test_a_line_for_each_data_set_until_it_is_through(caplog):
    scenes = [lambda jobs: None, lambda jobs: all_done(jobs[:1]), all_done]
    assert watched(caplog, [*scenes, all_done]) == [
        "a: 0/2 decoys, 0 without result, 0 %", "b: 0/2 decoys, 0 without result, 0 %",
        "a: 2/2 decoys, 0 without result, 100 %",  # nothing new of b
        "b: 2/2 decoys, 0 without result, 100 %",
    ]  # fmt: skip


def test_a_line_says_how_much_memory_jobs_on_this_machine_take(caplog):
    watched(caplog, [lambda jobs: None, all_done, all_done], here=True)
    assert re.fullmatch(r"a: 0/2 decoys, 0 without result, 0 % done, \d+\.\d GB", caplog.records[0].message)
    held = psutil.Process().memory_info().rss / 1e9
    assert float(caplog.records[0].message.rpartition(", ")[2].removesuffix(" GB")) >= held - 0.1


def test_a_build_that_is_soon_done_tells_nothing(caplog):
    assert watched(caplog, [all_done]) == []


def test_what_an_earlier_run_left_does_not_count(caplog):
    all_done(parts("001-of-001", dataset="a"))
    assert watched(caplog, [lambda jobs: None, all_done, all_done])[0] == "a: 0/2 decoys, 0 without result, 0 %"
