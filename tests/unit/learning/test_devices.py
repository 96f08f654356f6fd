"""One run on several devices: what one device would have made of it."""

from __future__ import annotations

import json
import os
import pickle
import re
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pandas as pd
import pytest
import torch
from _synthetic import local_pack, members, small_run, training_graphs, training_pack

from toporank.app.config import load_config
from toporank.building.packing import write_pack
from toporank.errors import TrainingError
from toporank.learning import fit, train
from toporank.learning.data import training_batches, validation_batches
from toporank.learning.distributed import on_devices, this_device
from toporank.learning.graphs import GraphStore
from toporank.learning.hardware import Hardware
from toporank.learning.run import Run

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


def crash() -> None:
    os._exit(3)


@pytest.mark.slow
def test_a_process_that_ends_by_itself_is_an_error():
    with pytest.raises(TrainingError, match="one of 1 processes ended"):
        on_devices(1, crash)


LOCAL = "local"
OBJECTIVES = {"mse": {}, "bce-listwise": {"loss": "bce", "ranking_term": "listwise", "decoys_per_target": 4},
              LOCAL: {"local_weight": 2.0}}  # fmt: skip
NOT_A_NUMBER = "nan"


@dataclass(frozen=True)
class Trained:
    """Runs of two processes by name, as folders, and what the last of them, which fails, was stopped with."""

    folder: Path
    error: TrainingError


class NotYetError(Exception):
    """In place of starting processes: what they would do."""


@pytest.fixture(scope="module")
def trained(tmp_path_factory) -> Trained:
    """All runs of this file in one pair of processes, which take longer to start than to train.

    Each run is prepared up to where it would start its processes, one pair does the work of all, and each is finished.
    """
    folder = tmp_path_factory.mktemp("two")
    wrong = training_graphs()
    wrong["T1", "d3", "train"].x[:] = float("nan")
    packs = {
        name: (local_pack if name == LOCAL else packed)(folder / f"{name}_pack", odd_graphs()) for name in OBJECTIVES
    }
    packs[NOT_A_NUMBER] = packed(folder / f"{NOT_A_NUMBER}_pack", wrong)
    with pytest.MonkeyPatch.context() as patch:
        work = [prepared(name, pack, folder, patch) for name, pack in packs.items()]
        with pytest.raises(TrainingError) as caught:
            on_devices(2, in_turn, work, folder / "outcomes")
        with open(folder / "outcomes", "rb") as file:
            for name in OBJECTIVES:
                outcome = pickle.load(file)
                patch.setattr(fit, "on_devices", lambda *_, outcome=outcome: outcome)
                train_one(name, packs[name], folder)
    return Trained(folder, caught.value)


def odd_graphs() -> dict:
    """The last batch of both splits has one graph, so that one process has none."""
    graphs = training_graphs()
    return {key: graph for key, graph in graphs.items() if key[:2] != ("T0", "d0")}


def packed(path: Path, graphs: dict) -> Path:
    write_pack(path, members(path.with_suffix(".graphs"), graphs))
    return path


def train_one(name: str, pack: Path, folder: Path, hardware: Hardware = TWO) -> Path:
    """Without dropout, which differs from device to device."""
    run = run_on(hardware, name, max_epochs=2, attention_dropout=0.0,
                 accumulate=1, **OBJECTIVES.get(name, {}))  # fmt: skip
    output = folder / f"{name}_on{hardware.devices}"
    assert train.train_run(run, [pack], 2, output, folder / "store")["epochs"] == 2
    return output


def prepared(name: str, pack: Path, folder: Path, patch: pytest.MonkeyPatch) -> tuple:
    """What each process of a run has to do, and with which arguments."""

    def tell(n_devices: int, *work) -> None:
        assert n_devices == 2
        raise NotYetError(work)

    patch.setattr(fit, "on_devices", tell)
    with pytest.raises(NotYetError) as caught:
        train_one(name, pack, folder)
    return caught.value.args[0]


def in_turn(work: list[tuple], outcomes: Path) -> None:
    """Do the work of several runs in this process; the first process writes down what came out of each."""
    for do, *arguments in work:
        outcome = do(*arguments)
        if this_device() == 0:
            with open(outcomes, "ab") as file:
                pickle.dump(outcome, file)


@pytest.mark.slow
@pytest.mark.skipif(not torch.distributed.is_gloo_available(), reason="torch without gloo")
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_two_processes_train_as_one_does(trained, objective):
    two = trained.folder / f"{objective}_on2"
    one = train_one(objective, trained.folder / f"{objective}_pack", trained.folder, Hardware())
    for folder in (one, two):
        assert json.loads((folder / "summary.json").read_text())["best_loss"]["epoch"] in (0, 1)
    tables = [pd.read_csv(folder / "metrics.csv") for folder in (one, two)]
    pd.testing.assert_frame_equal(*tables, rtol=1e-5, atol=1e-5)
    weights = [torch.load(folder / "last.ckpt", weights_only=True)["state_dict"] for folder in (one, two)]
    for name in weights[0]:
        torch.testing.assert_close(weights[1][name], weights[0][name], rtol=1e-5, atol=1e-5)


@pytest.mark.slow
@pytest.mark.skipif(not torch.distributed.is_gloo_available(), reason="torch without gloo")
def test_a_loss_that_is_no_number_on_one_device_stops_all_and_names_the_decoys(trained):
    assert re.search(r"the training loss is not a finite number in epoch 0, .*T1/d3", str(trained.error))


def test_a_run_asks_for_the_cores_of_all_its_processes():
    config = load_config({"training": {"threads": 3, "hardware": {"devices": 2}}})
    assert config.training.cores == 6
