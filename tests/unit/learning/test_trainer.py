"""Settings of the hardware: what goes to Lightning, what it refuses, and two processes that train
as one.
"""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
import torch
from _synthetic import small_run, training_pack

from toporank.errors import ConfigError, TrainingError
from toporank.learning.checkpoint import read_description
from toporank.learning.hyperparameters import Hardware
from toporank.learning.train import TrainingGraphs, train_run


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


@pytest.mark.parametrize(
    ("hardware", "message"),
    [({"trainer": {"accelerator": "cuda"}}, "training.trainer: Lightning cannot train so: .*CUDA"),
     ({"trainer": {"precision": "7"}}, "training.trainer: Lightning cannot train so: .*7"),
     ({"trainer": {"no_such_entry": 1}}, "training.trainer: Lightning cannot train so: .*no_such_entry"),
     ({"offload_optimizer": True}, "training.trainer: Lightning cannot train so: .*torchao")],
)  # fmt: skip
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


@pytest.mark.slow
@pytest.mark.skipif(
    not torch.distributed.is_gloo_available(), reason="torch without gloo"
)
def test_two_processes_train_as_one_with_batches_of_twice_the_size(tmp_path, pack):
    """Without dropout, which differs from device to device."""
    settings = {"max_epochs": 2, "attention_dropout": 0.0, "accumulate": 1}
    one = trained(tmp_path / "one", pack, small_run(**settings, batch_size=8))
    two = small_run(**settings, batch_size=4)
    parameters = {
        "seed": two.seed,
        "hyperparameters": two.hyperparameters.model_dump(),
        "selection": two.selection.model_dump(),
        "hardware": {"trainer": {"devices": 2, "strategy": "ddp"}},
    }
    script = Path(__file__).resolve().parents[3] / "workflow_scripts/train.py"
    command = [
        sys.executable,
        script,
        "--name",
        "run",
        "--packs",
        pack,
        "--store",
        tmp_path / "store2",
    ]
    command += [
        "--output",
        tmp_path / "two",
        "--threads",
        "2",
        "--parameters",
        json.dumps(parameters),
    ]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        env=environment,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    pd.testing.assert_frame_equal(
        pd.read_csv(tmp_path / "two/metrics.csv"), one, rtol=1e-5, atol=1e-5
    )
    states = [
        torch.load(tmp_path / name / "last.ckpt", weights_only=True)["state_dict"]
        for name in ("one", "two")
    ]
    for name in states[0]:
        torch.testing.assert_close(
            states[1][name], states[0][name], rtol=1e-5, atol=1e-5
        )
