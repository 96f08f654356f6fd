"""What Lightning and the network would refuse is refused before anything is built."""

from __future__ import annotations

import inspect
import typing

import pytest
import pytorch_lightning as pl
from pytorch_lightning.accelerators import AcceleratorRegistry
from pytorch_lightning.strategies import StrategyRegistry

from toporank.learning.checked_settings import (
    STRATEGIES,
    VALUES,
    freezing_faults,
    parts_with_weights,
    trainer_entries,
    trainer_faults,
)
from toporank.learning.message_passing import with_message_passing
from toporank.learning.network import Architecture, DockQNet

SIGNATURE = inspect.signature(pl.Trainer.__init__).parameters


def test_the_entries_are_those_of_the_installed_trainer():
    assert {"self", *trainer_entries()} == {*SIGNATURE}
    precisions = set()
    for literal in typing.get_args(SIGNATURE["precision"].annotation):
        precisions |= set(typing.get_args(literal))
    assert set(VALUES["precision"]) == precisions
    registered = AcceleratorRegistry.available_accelerators()
    assert set(VALUES["accelerator"]) == {"auto", "gpu", *registered}
    strategies = StrategyRegistry.available_strategies()
    assert all(name.startswith(STRATEGIES) for name in strategies)


@pytest.mark.parametrize(
    "entries",
    [{"accelerator": "cpu", "devices": 1, "precision": "bf16-mixed", "gradient_clip_val": 1.0},
     {"accelerator": "gpu", "devices": [0, 1], "strategy": "DeepSpeed_stage_1", "precision": 16},
     {"devices": "auto", "limit_train_batches": 0.5, "limit_val_batches": 3, "fast_dev_run": True},
     {"max_time": "00:12:00:00", "check_val_every_n_epoch": None, "profiler": "simple"},
     {"deterministic": True, "default_root_dir": "here", "max_time": {"hours": 3}, "detect_anomaly": True}],
)  # fmt: skip
def test_what_lightning_takes_is_fine(entries):
    assert trainer_faults(entries) == []


@pytest.mark.parametrize(
    ("entry", "value", "fault"),
    [("gpus", 2, "no such entry (known: "),
     ("max_epoch", 3, "no such entry (did you mean 'max_epochs'?)"),
     ("acelerator", "gpu", "no such entry (did you mean 'accelerator'?)"),
     ("auto_lr_find", True, "no such entry ("),
     ("precision", "fp16", "does not take 'fp16' (it takes 64, 32, 16, "),
     ("precision", 8, "does not take 8 (it takes "),
     ("accelerator", "cuda:0", "does not take 'cuda:0' (it takes auto, cpu, cuda, "),
     ("strategy", "dp", "does not take 'dp' (see Hardware in docs/training.md)"),
     ("strategy", 2, "does not take 2 ("),
     ("profiler", "simpel", "does not take 'simpel' (it takes simple, "),
     ("gradient_clip_val", "1.0", "does not take '1.0' ("),
     ("num_nodes", [2], "does not take [2] ("),
     ("max_time", 43200, "does not take 43200 ("),
     ("devices", None, "does not take None (")],
)  # fmt: skip
def test_what_lightning_does_not_take_is_named_with_a_remedy(entry, value, fault):
    (line,) = trainer_faults({entry: value})
    assert line.startswith(f"{entry}: Lightning's Trainer {'has ' * (entry not in SIGNATURE)}{fault}")  # fmt: skip


@pytest.mark.parametrize("local", [False, True])
@pytest.mark.parametrize("layers", [1, 3])
def test_the_parts_are_those_of_the_network_that_is_trained(layers, local):
    architecture = Architecture(
        hidden=8, heads=2, layers=layers, readout=4, local=local
    )
    network = with_message_passing(DockQNet(5, 3, architecture))
    names = [name.rpartition(".")[0] for name, _ in network.named_parameters()]
    assert set(parts_with_weights(layers, local)) == set(names)


@pytest.mark.parametrize(
    "freeze",
    [["embed_nodes", "embed_edges", "layers.0"], ["layers"], ["head.0", "layers.1.attention"],
     ["embed_nodes", "embed_edges", "layers", "pooled_edges", "head.0", "head.2"]],
)  # fmt: skip
def test_parts_that_exist_can_be_frozen(freeze):
    assert freezing_faults(freeze, layers=2, local=False) == []


@pytest.mark.parametrize(
    ("freeze", "fault"),
    [(["embed_node"], "no part 'embed_node' (its parts are embed_nodes, embed_edges, layers, "),
     (["layers.2"], "no part 'layers.2' (its parts are embed_nodes, embed_edges, layers, pooled_edges, head, layers.0, layers.1)"),
     (["layer.0"], "no part 'layer.0'"), (["head.1"], "no part 'head.1'"),
     (["local_head"], "no part 'local_head'"), (["embed_nodes.weight"], "no part 'embed_nodes.weight'"),
     (["embed_nodes", "embed_edges", "layers", "pooled_edges", "head"], "every part of the network is frozen"),
     (["embed_nodes", "embed_edges", "layers.0", "layers.1", "pooled_edges", "head.0", "head.2", "head.4"],
      "nothing would be trained (leave one out, such as head)")],
)  # fmt: skip
def test_what_cannot_be_frozen_is_named(freeze, fault):
    (line,) = freezing_faults(freeze, layers=2, local=False)
    assert fault in line
