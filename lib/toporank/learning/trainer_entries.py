"""Entries of `training.trainer`, checked without Lightning, whose import takes seconds."""

from __future__ import annotations

import ast
import functools
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from toporank.settings import did_you_mean

KEYS = {"max_epochs": "max_epochs", "accumulate_grad_batches": "accumulate"}
"""Entries that are keys of a configuration of the sweep, or of a phase."""
CHECKPOINTS = "TopoRank needs its checkpoints and metrics.csv"
REFUSED = {
    "default_root_dir": "TopoRank chooses the folder of a run",
    "plugins": "TopoRank chooses how processes find each other",
    "reload_dataloaders_every_n_epochs": "each epoch has its own order",
    "gpus": "give accelerator: gpu and devices: N",
}
"""Entries that cannot be set, and why."""
ALLOWED = {
    "logger": (True, None),
    "callbacks": ([], None),
    "enable_checkpointing": (True, None),
    "num_nodes": (1,),
    "precision": (
        *("transformer-engine", "transformer-engine-float16"),
        *("16-true", "16-mixed", "bf16-true", "bf16-mixed", "32-true", "64-true"),
        *(64, 32, 16, "64", "32", "16", "bf16", None),
    ),
}
"""Entries with few possible values, as YAML gives them."""
WHY_NOT = {
    "logger": f"{CHECKPOINTS}; leave it out",
    "callbacks": f"{CHECKPOINTS}, and a configuration cannot name objects; leave it out",
    "enable_checkpointing": f"{CHECKPOINTS}; leave it out",
    "num_nodes": "the devices of a run are in one machine; leave it out",
    "precision": "Lightning takes 32, 16-mixed, bf16-mixed and a few more",
}
COUNTS = {"check_val_every_n_epoch": 1, "fast_dev_run": 0}
"""Entries that are whole numbers, and the smallest."""


def trainer_faults(trainer: dict[str, Any]) -> list[str]:
    """Return what is wrong with the entries for Lightning's `Trainer`, a sentence each.

    Lightning itself refuses at the start of a run what depends on the machine.
    """
    faults = []
    for entry, value in trainer.items():
        fault = _fault(entry, value)
        if fault:
            faults.append(f"{entry}: {fault}")
    return faults


def _fault(entry: str, value: Any) -> str:
    if entry in KEYS:
        return (
            f"it is the key {KEYS[entry]} of training.sweep.defaults, of a configuration or of a "
            "phase"
        )
    if entry in REFUSED:
        return f"cannot be set: {REFUSED[entry]}"
    if entry in ALLOWED and value not in ALLOWED[entry]:
        return f"cannot be {value!r}: {WHY_NOT[entry]}"
    if entry in COUNTS and not (isinstance(value, int) and value >= COUNTS[entry]):
        return f"must be a whole number from {COUNTS[entry]}, not {value!r}"
    usual = {"accelerator", "devices", *ALLOWED, *COUNTS}
    if entry not in usual and entry not in (trainer_entries() or (entry,)):
        return f"Lightning's Trainer has no such entry, {did_you_mean(entry, trainer_entries())}"
    return ""


@functools.cache
def trainer_entries() -> tuple[str, ...]:
    """Return the names of the parameters of Lightning's `Trainer`, as its source has them.

    There are none where Lightning is not installed.
    """
    spec = find_spec("pytorch_lightning")
    if spec is None or spec.origin is None:
        return ()
    source = Path(spec.origin).parent / "trainer" / "trainer.py"
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ClassDef) and node.name == "Trainer":
            return _parameters(node)
    return ()


def _parameters(class_: ast.ClassDef) -> tuple[str, ...]:
    for function in class_.body:
        if isinstance(function, ast.FunctionDef) and function.name == "__init__":
            parameters = (*function.args.args, *function.args.kwonlyargs)
            return tuple(parameter.arg for parameter in parameters[1:])
    return ()
