"""One run on several devices: what one device would have made of it."""

from __future__ import annotations

import json
import os
from functools import partial

import pandas as pd
import pytest
import torch
from _synthetic import members, small_run, training_graphs, training_pack

from toporank.config import load_config
from toporank.config.hardware import Hardware
from toporank.errors import ConfigError, TrainingError
from toporank.graphs.pack import GraphStore
from toporank.graphs.packing import write_pack
from toporank.training import train
from toporank.training.data import training_batches, validation_batches
from toporank.training.distributed import on_devices
from toporank.training.run import Run

TWO = Hardware(devices=2)


def run_on(hardware: Hardware, name: str, **other) -> Run:
    return Run(**{**vars(small_run(name, **other)), "hardware": hardware})


@pytest.mark.parametrize("n_devices", [2, 3])
def test_the_devices_share_out_every_batch(tmp_path, n_devices):
    store = GraphStore.open([training_pack(tmp_path / "pack")])
    schedule = small_run().hyperparameters
    for made in (partial(training_batches, store, schedule, 1), partial(validation_batches, store, 5)):
        whole = [batch.index.tolist() for batch in made()]
        shares = [[batch.index.tolist() for batch in made((device, n_devices))] for device in range(n_devices)]
        together = [sorted(i for part in parts for i in part) for parts in zip(*shares, strict=True)]
        assert together == [sorted(batch) for batch in whole]
        assert max(len(a) - len(b) for a, b in zip(shares[0], shares[-1], strict=True)) <= 1


def refuse() -> None:
    raise ConfigError("it is refused", where="here", remedy="ask otherwise")


def crash() -> None:
    os._exit(3)


@pytest.mark.slow
def test_what_goes_wrong_in_a_process_is_said():
    with pytest.raises(ConfigError, match=r"here: it is refused \(ask otherwise\)"):
        on_devices(1, refuse)
    with pytest.raises(TrainingError, match="one of 1 processes ended"):
        on_devices(1, crash)


@pytest.mark.slow
@pytest.mark.skipif(not torch.distributed.is_gloo_available(), reason="torch without gloo")
@pytest.mark.parametrize(
    "objective",
    [
        {},
        {"loss": "bce", "ranking_term": "listwise", "decoys_per_target": 4, "ranking_every": 2},
    ],
    ids=["mse", "bce-listwise"],
)
def test_two_processes_train_as_one_does(tmp_path, objective):
    """The last batch of both splits has one graph, so that one process has none. Without dropout, which differs."""
    graphs = training_graphs()
    for key in [key for key in graphs if key[:2] == ("T0", "d0")]:
        del graphs[key]
    pack = tmp_path / "pack"
    write_pack(pack, members(tmp_path / "graphs", graphs))
    tables, weights = [], []
    for hardware in (Hardware(), TWO):
        folder = tmp_path / f"on{hardware.devices}"
        run = run_on(
            hardware.model_copy(update={"validation_batch": 11}),
            "run",
            max_epochs=2,
            attention_dropout=0.0,
            accumulate=1,
            **objective,
        )
        summary = train.train_run(run, [pack], 2, folder, tmp_path / "store")
        assert summary["epochs"] == 2
        tables.append(pd.read_csv(folder / "metrics.csv"))
        weights.append(torch.load(folder / "last.ckpt", weights_only=True)["state_dict"])
        assert json.loads((folder / "summary.json").read_text())["best_loss"]["epoch"] in (0, 1)
    pd.testing.assert_frame_equal(*tables, rtol=1e-5, atol=1e-5)
    for name in weights[0]:
        torch.testing.assert_close(weights[1][name], weights[0][name], rtol=1e-5, atol=1e-5)


@pytest.mark.slow
def test_a_loss_that_is_no_number_on_one_device_stops_all_and_names_the_decoys(tmp_path):
    graphs = training_graphs()
    graphs["T1", "d3", "train"].x[:] = float("nan")
    pack = tmp_path / "pack"
    write_pack(pack, members(tmp_path / "graphs", graphs))
    with pytest.raises(TrainingError, match=r"the training loss is not a finite number in epoch 0, .*T1/d3"):
        train.train_run(run_on(TWO, "run"), [pack], 2, tmp_path / "out", tmp_path / "store")


def test_a_run_asks_for_the_cores_of_all_its_processes():
    config = load_config({"training": {"threads": 3, "hardware": {"devices": 2}}})
    assert config.training.cores == 6
