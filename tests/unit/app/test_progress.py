"""How far a build is, from what its jobs leave behind: share, rate, time left, and how it is
shown.
"""

from __future__ import annotations

import logging
import sys
from pathlib import Path

import pytest

from toporank.app.workflow.progress import Part, line, watch, watch_training
from toporank.app.workflow.script import LastLine

pytestmark = pytest.mark.usefixtures("own_folder")


def note(part: Part, text: str) -> None:
    """As `building.chunks.chunk` leaves word."""
    part.path.parent.mkdir(parents=True, exist_ok=True)
    part.path.write_text(text)


@pytest.mark.parametrize(
    ("notes", "seconds", "finished", "counts"),
    [
        ([], 10, 0, "0/1,000 models, 0 without result, 0% done"),
        (
            ["200\t3\n", "50\t1\n"],
            10,
            250,
            "250/1,000 models, 4 without result, 25% done, 25/s, 00:30 left",
        ),
        (
            ["half a f", "500\t0\n"],
            5,
            500,
            "500/1,000 models, 0 without result, 50% done, 1e+02/s, 00:05 left",
        ),
        (
            ["500\t0\n", "500\t3\n"],
            40,
            1000,
            "1,000/1,000 models, 3 without result, 100% done, 25/s, 00:00 left",
        ),
    ],
    ids=["not started", "a quarter", "a damaged note", "done"],
)
def test_the_share_of_the_decoys_gives_rate_and_time_left(
    notes, seconds, finished, counts
):
    parts = {Part("mini", f"00{n}-of-002"): 500 for n in (1, 2)}
    for part, text in zip(parts, notes, strict=False):
        note(part, text)
    assert line("mini", parts, seconds) == (f"mini: {counts}", finished)


def test_a_line_for_each_step_when_it_advances_and_what_an_earlier_run_left_does_not_count(
    caplog,
):
    first, second = Part("a", "001", "features"), Part("a", "001-of-001", "scores")
    note(first, "2\t0\n")
    scenes = iter(
        [
            lambda: None,
            lambda: note(first, "2\t0\n"),
            lambda: note(second, "2\t1\n"),
            lambda: None,
        ]
    )
    with caplog.at_level(logging.INFO, logger="told"):
        watch(
            {first: 2, second: 2},
            logging.getLogger("told"),
            sleep=lambda seconds: next(scenes)(),
        ).join(20)
    assert [record.message.partition(" without")[0] for record in caplog.records] == [
        "a, features: 0/2 models, 0", "a, scores: 0/2 models, 0", "a, features: 2/2 models, 0",
        "a, scores: 2/2 models, 1",
    ]  # fmt: skip


def test_the_last_epoch_of_each_run_that_is_trained_is_reported_once(caplog):
    paths = {name: Path("notes", name) for name in ("small_seed1", "waits_seed1")}
    paths["small_seed1"].parent.mkdir()
    paths["small_seed1"].write_text("of an earlier run")
    training = logging.Logger("of a job")
    last_line = LastLine(paths["small_seed1"])
    training.addHandler(last_line)

    def end() -> None:
        training.info("epoch 3 of at most 9")
        last_line.close()  # as at the end of its process

    scenes = iter(
        [
            lambda: None,
            lambda: training.info("epoch %d of at most 9", 1),
            lambda: None,
            lambda: training.info("epoch 2 of at most 9"),
            end,
            sys.exit,
        ]
    )
    with caplog.at_level(logging.INFO, logger="told"):
        told = logging.getLogger("told")
        watch_training(paths, told, sleep=lambda seconds: next(scenes)()).join(20)
    assert [record.message for record in caplog.records] == [
        "small_seed1: epoch 1 of at most 9", "small_seed1: epoch 2 of at most 9"
    ]  # fmt: skip


def test_nobody_waits_where_nothing_is_trained():
    assert watch_training({}, logging.getLogger("told")) is None
