"""Settings of the hardware: what goes to Lightning, what it refuses, and two processes that train
as one.
"""

from __future__ import annotations

import dataclasses
import json
from inspect import signature
from pathlib import Path
from unittest.mock import MagicMock

import pandas as pd
import pytest
import pytorch_lightning as pl
import torch
from _synthetic import small_run, train_in_a_process, training_pack
from torch._inductor import config as inductor

from messages import messages
from toporank.errors import ConfigError, TrainingError
from toporank.learning import resident
from toporank.learning.checkpoint import read_description
from toporank.learning.hardware import Hardware
from toporank.learning.train import TrainingGraphs, train_run
from toporank.learning.trainer_entries import trainer_entries


@pytest.fixture(scope="module")
def pack(tmp_path_factory) -> Path:
    """Sixteen training and eight validation decoys: whole batches for two devices."""
    return training_pack(
        tmp_path_factory.mktemp("pack") / "graphs", train=2, val=1, decoys=8
    )


def trained(folder: Path, pack: Path, run, **hardware) -> pd.DataFrame:
    """The metrics of a run with some hardware."""
    run = dataclasses.replace(run, hardware=Hardware(**hardware))
    train_run(run, TrainingGraphs([pack]), 1, folder, folder.parent / "store")
    assert (
        read_description(folder / "last.ckpt")["hardware"] == run.hardware.model_dump()
    )
    return pd.read_csv(folder / "metrics.csv")


@pytest.mark.parametrize(
    ("hardware", "tolerance"),
    [({"fused_optimizer": True}, 1e-5),
     ({"activation_checkpointing": True}, 0),
     ({"trainer": {"precision": "bf16-mixed"}}, 0.02),
     ({"trainer": {"gradient_clip_val": 1e6}}, 1e-6)],
    ids=["fused", "recomputed", "bf16", "clipped"],
)  # fmt: skip
def test_hardware_changes_results_by_rounding_alone(
    tmp_path, pack, hardware, tolerance
):
    run = small_run(max_epochs=2)
    plain = trained(tmp_path / "plain", pack, run)
    other = trained(tmp_path / "other", pack, run, **hardware)
    assert (other["val_loss"] - plain["val_loss"]).abs().max() <= tolerance


def test_entries_of_trainer_reach_lightning_as_they_are(tmp_path, pack):
    with pytest.raises(TrainingError, match="no epoch was finished"):
        trained(
            tmp_path / "run",
            pack,
            small_run(max_epochs=4),
            trainer={"max_time": "00:00:00:00"},
        )
    clipped = trained(
        tmp_path / "clipped",
        pack,
        small_run("c", max_epochs=2),
        trainer={"gradient_clip_val": 1e-9},
    )
    free = trained(tmp_path / "free", pack, small_run("f", max_epochs=2))
    assert not clipped["train_loss"].equals(free["train_loss"])


@pytest.mark.parametrize(("hardware", "message"), messages("trainer"))
def test_what_lightning_or_the_machine_cannot_do_is_an_error_with_its_reason(
    tmp_path, pack, hardware, message
):
    needs_gpu = "offload_optimizer" in hardware or "accelerator" in hardware.get(
        "trainer", {}
    )
    if needs_gpu and torch.cuda.is_available():
        pytest.skip("a machine with a GPU takes these two")
    with pytest.raises(ConfigError, match=message):
        trained(tmp_path / "run", pack, small_run(), **hardware)


# ---- entries of the trainer ----------------------------------------------------------------------


def test_entries_are_checked_against_those_of_the_lightning_that_is_installed():
    assert set(trainer_entries()) == set(signature(pl.Trainer).parameters)


@pytest.mark.parametrize(
    "entries",
    [{"num_sanity_val_steps": 2}, {"logger": True, "callbacks": [], "num_nodes": 1}],
    ids=["sanity", "as it is"],
)
def test_entries_that_change_nothing_change_nothing(tmp_path, pack, entries):
    run = small_run(max_epochs=2)
    plain = trained(tmp_path / "plain", pack, run)
    pd.testing.assert_frame_equal(
        trained(tmp_path / "other", pack, run, trainer=entries), plain
    )


@pytest.mark.parametrize(("batches", "said"), [(True, "1 batch;"), (2, "2 batches;")])
def test_a_smoke_test_is_a_whole_run_of_some_batches_that_says_what_it_is(
    tmp_path, pack, batches, said
):
    folder = tmp_path / "run"
    table = trained(folder, pack, small_run(), trainer={"fast_dev_run": batches})
    assert table["epoch"].tolist() == [0]
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["stopped"].startswith("fast_dev_run: a smoke test")
    assert said in summary["stopped"]
    state = torch.load(folder / "last.ckpt", weights_only=True)
    assert int(state["global_step"]) == 1


def test_validation_every_second_epoch(tmp_path, pack):
    """Loss, schedule and checkpoints go by the epochs that were judged."""
    run = small_run(max_epochs=6, plateau_patience=1, learning_rate=0.2)
    folder = tmp_path / "run"
    table = trained(folder, pack, run, trainer={"check_val_every_n_epoch": 2})
    every = trained(tmp_path / "every", pack, run)
    assert table["val_loss"].notna().tolist() == [False, True] * 3
    before_the_rate_falls = slice(0, 2)
    pd.testing.assert_series_equal(
        table["train_loss"][before_the_rate_falls],
        every["train_loss"][before_the_rate_falls],
    )
    judged = table[table["val_loss"].notna()].sort_values("val_loss")
    best = read_description(folder / "best_loss.ckpt")
    assert best["epoch"] == judged["epoch"].iloc[0]
    rates = table["learning_rate"].tolist()
    for epoch, loss in table["val_loss"][:5].items():
        is_worse = loss > table["val_loss"][:epoch].min()
        expected = 0.2 * rates[epoch] if is_worse else rates[epoch]
        assert rates[epoch + 1] == pytest.approx(expected)


def test_workers_make_the_same_batches_and_are_no_other_run(tmp_path, pack):
    run = small_run(max_epochs=2)
    plain = trained(tmp_path / "one/run", pack, run)
    loading = {"num_workers": 1, "prefetch_factor": 3, "pin_memory": False}
    table = trained(tmp_path / "two/run", pack, run, **loading)
    pd.testing.assert_frame_equal(table, plain)
    stores = [next(tmp_path.glob(f"{name}/store/runs/*")) for name in ("one", "two")]
    assert stores[0].name == stores[1].name


def test_the_last_batch_is_left_out_where_it_is_small(tmp_path, pack):
    """Sixteen graphs by five are three batches, and a batch of 17 would leave nothing."""
    run = small_run(max_epochs=1, batch_size=5, accumulate=1, drop_last=True)
    trained(tmp_path / "run", pack, run)
    state = torch.load(tmp_path / "run/last.ckpt", weights_only=True)
    assert int(state["global_step"]) == 3
    with pytest.raises(ConfigError, match="drop_last: the 16 training graphs of a dev"):
        trained(tmp_path / "large", pack, small_run(batch_size=17, drop_last=True))


def test_the_report_of_the_profiler_is_in_the_folder_of_the_run(tmp_path, pack):
    trained(tmp_path / "run", pack, small_run(), trainer={"profiler": "simple"})
    report = (tmp_path / "run/profile/fit-report.txt").read_text()
    assert "run_training_epoch" in report


@pytest.mark.slow
def test_where_nothing_can_be_compiled_it_trains_without_and_says_so(
    tmp_path, pack, monkeypatch, caplog
):
    monkeypatch.setattr(inductor.cpp, "cxx", ("no-such-compiler",))
    monkeypatch.setattr(inductor, "force_disable_caches", True)
    run = small_run(max_epochs=1)
    plain = trained(tmp_path / "plain", pack, run)
    table = trained(tmp_path / "other", pack, run, compile="default")
    assert "torch.compile failed, so training goes on without" in caplog.text
    pd.testing.assert_frame_equal(table, plain)


# ---- several devices -----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.skipif(
    not torch.distributed.is_gloo_available(), reason="torch without gloo"
)
def test_two_processes_train_as_one_with_batches_of_twice_the_size(tmp_path, pack):
    """Without dropout, which differs from device to device."""
    settings = {"max_epochs": 2, "attention_dropout": 0.0, "accumulate": 1}
    one = trained(tmp_path / "one", pack, small_run(**settings, batch_size=8))
    (tmp_path / "new").mkdir()
    both = Hardware(trainer={"devices": 2, "strategy": "ddp"})
    two = dataclasses.replace(small_run(**settings, batch_size=4), hardware=both)
    done = train_in_a_process(two, pack, tmp_path / "new/two", threads=2)
    assert done.returncode == 0, done.stderr
    pd.testing.assert_frame_equal(
        pd.read_csv(tmp_path / "new/two/metrics.csv"), one, rtol=1e-5, atol=1e-5
    )
    states = [
        torch.load(tmp_path / name / "last.ckpt", weights_only=True)["state_dict"]
        for name in ("one", "new/two")
    ]
    for name in states[0]:
        torch.testing.assert_close(
            states[1][name], states[0][name], rtol=1e-5, atol=1e-5
        )


def test_recording_the_last_step_of_an_epoch_computes_no_step_beyond_it(monkeypatch):
    """A batch that is left over has a size of its own, which is recorded when it comes."""
    of_streams = ("Stream", "stream", "current_stream")
    of_graphs = ("CUDAGraph", "graph", "graph_pool_handle")
    for name in (*of_streams, *of_graphs, "get_rng_state", "set_rng_state"):
        monkeypatch.setattr(torch.cuda, name, MagicMock())
    number, n_steps, computed = torch.tensor([6]), 7, []

    def step(n_nodes: int, n_edges: int) -> None:
        computed.append(int(number))
        number.add_(1)

    module = MagicMock(device=torch.device("cuda"))
    module.parameters.return_value = []
    module.changed_by_steps.return_value = [number]
    resident.Steps(module, step).run(50, 200)
    assert computed
    assert max(computed) < n_steps
