"""What Lightning would refuse is refused before anything is built."""

from __future__ import annotations

import inspect
import typing

import pytest
import pytorch_lightning as pl
from pytorch_lightning.accelerators import AcceleratorRegistry
from pytorch_lightning.strategies import StrategyRegistry

from toporank.learning.trainer_entries import (
    STRATEGIES,
    VALUES,
    trainer_entries,
    trainer_faults,
)

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
    assert all(STRATEGIES.fullmatch(name) for name in strategies)


@pytest.mark.parametrize(
    "entries",
    [{"accelerator": "cpu", "devices": 1, "precision": "bf16-mixed", "gradient_clip_val": 1.0},
     {"accelerator": "gpu", "devices": [0, 1], "strategy": "DeepSpeed_stage_1", "precision": 16},
     {"devices": "0, 1", "strategy": "ddp"}, {"devices": "-1"},
     {"devices": "auto", "limit_train_batches": 0.5, "limit_val_batches": 3, "fast_dev_run": True},
     {"max_time": "00:12:00:00", "profiler": "simple"},
     {"deterministic": True, "max_time": {"hours": 3}, "detect_anomaly": True}],
)  # fmt: skip
def test_what_lightning_takes_is_fine(entries):
    assert trainer_faults(entries) == []


@pytest.mark.parametrize(
    ("entry", "value", "fault"),
    [("max_epoch", 3, "no such entry (did you mean 'max_epochs'?)"),
     ("acelerator", "gpu", "no such entry (did you mean 'accelerator'?)"),
     ("auto_lr_find", True, "no such entry ("),
     ("precision", "fp16", "does not take 'fp16' (it takes 64, 32, 16, "),
     ("precision", 8, "does not take 8 (it takes "),
     ("accelerator", "cuda:0", "does not take 'cuda:0' (it takes auto, cpu, cuda, "),
     ("strategy", "dp", "does not take 'dp' (see Hardware in docs/training.md)"),
     ("strategy", "ddpp", "does not take 'ddpp' ("),
     ("devices", "zero", "does not take 'zero' ("),
     ("strategy", 2, "does not take 2 ("),
     ("profiler", "simpel", "does not take 'simpel' (it takes simple, "),
     ("gradient_clip_val", "1.0", "does not take '1.0' ("),
     ("max_time", 43200, "does not take 43200 ("),
     ("devices", None, "does not take None (")],
)  # fmt: skip
def test_what_lightning_does_not_take_is_named_with_a_remedy(entry, value, fault):
    (line,) = trainer_faults({entry: value})
    verb = "" if entry in SIGNATURE else "has "
    assert line.startswith(f"{entry}: Lightning's Trainer {verb}{fault}")
