"""Entries of `training.trainer`, checked without Lightning, whose import takes seconds."""

from __future__ import annotations

import ast
import functools
import re
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
    "val_check_interval": "an epoch is judged at its end, or with check_val_every_n_epoch",
    "gpus": "give accelerator: gpu and devices: N",
}
"""Entries that cannot be set, and why."""
ALLOWED = {
    "logger": (True, None),
    "callbacks": ([], None),
    "enable_checkpointing": (True, None),
    "num_nodes": (1,),
}
"""Entries that Lightning takes and TopoRank sets itself, with the values that change nothing."""
WHY_NOT = {
    "logger": f"{CHECKPOINTS}; leave it out",
    "callbacks": f"{CHECKPOINTS}, and a configuration cannot name objects; leave it out",
    "enable_checkpointing": f"{CHECKPOINTS}; leave it out",
    "num_nodes": "the devices of a run are in one machine; leave it out",
}
VALUES = {
    "accelerator": ("auto", "cpu", "cuda", "gpu", "mps", "tpu"),
    "precision": (
        *(64, 32, 16, "64", "32", "16", "bf16", "64-true", "32-true", "16-true"),
        *("16-mixed", "bf16-true", "bf16-mixed"),
        *("transformer-engine", "transformer-engine-float16"),
    ),
    "profiler": ("simple", "advanced", "pytorch", "xla"),
    "gradient_clip_algorithm": ("norm", "value"),
    "deterministic": (True, False, "warn"),
}
"""All values that these entries take, beside None."""
STRATEGIES = re.compile(r"auto|(ddp|deepspeed|fsdp|xla)(_\w+)?|single_\w+")
"""Names of Lightning's strategies."""
DEVICES = re.compile(r"auto|-?\d+(\s*,\s*\d+)*,?")
"""Texts that it takes for devices."""
KINDS = {bool: "bool", int: "int", float: "float", str: "str", list: "list"}
KINDS |= {dict: "dict", type(None): "Optional"}
"""Type of a value in YAML → how an annotation names it."""
LIMITS = ("limit_train_batches", "limit_val_batches")
"""Entries that may not leave everything out."""
COUNTS = {"check_val_every_n_epoch": 1, "fast_dev_run": 0}
"""Entries that are whole numbers, and the smallest."""


def typed(value: Any) -> Any:
    """The value that a text from Snakemake's `--config` means, which has no other types inside."""
    if not isinstance(value, str):
        return value
    if value in ("true", "false"):
        return value == "true"
    return int(value) if value.isdecimal() else value


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
    if entry in LIMITS and value == 0:
        return "cannot be 0: nothing would be learned, or judged"
    if entry in COUNTS and not (isinstance(value, int) and value >= COUNTS[entry]):
        return f"must be a whole number from {COUNTS[entry]}, not {value!r}"
    known = trainer_entries()
    if known and entry not in known:
        return f"Lightning's Trainer has no such entry ({did_you_mean(entry, known)})"
    if not _is_taken(entry, value, known.get(entry, frozenset(KINDS.values()))):
        allowed = ", ".join(map(str, VALUES.get(entry, ())))
        remedy = (
            f"it takes {allowed}" if allowed else "see Hardware in docs/training.md"
        )
        return f"Lightning's Trainer does not take {value!r} ({remedy})"
    return ""


@functools.cache
def trainer_entries() -> dict[str, frozenset[str]]:
    """The entries of the installed `Trainer` and the types that each takes.

    They are read from its source, since importing it takes seconds; empty where Lightning is
    installed for the jobs alone.
    """
    package = find_spec("pytorch_lightning")
    if package is None or package.origin is None:
        return {}
    source = Path(package.origin).with_name("trainer") / "trainer.py"
    entries = {}
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ClassDef) and node.name == "Trainer":
            for part in node.body:
                if isinstance(part, ast.FunctionDef) and part.name == "__init__":
                    for argument in part.args.kwonlyargs:
                        types = frozenset(_types_in(argument.annotation))
                        entries[argument.arg] = types
    return entries


def _types_in(annotation: ast.expr | None) -> set[str]:
    """The names of the types in an annotation, such as `list` and `str` of `list[int] | str`."""
    if isinstance(annotation, ast.Name):
        return {annotation.id}
    if isinstance(annotation, ast.Subscript):
        outer = _types_in(annotation.value)
        is_choice = outer & {"Union", "Optional"}
        return outer | _types_in(annotation.slice) if is_choice else outer
    parts = annotation.elts if isinstance(annotation, ast.Tuple) else []
    return set().union(*map(_types_in, parts))


def _is_taken(name: str, value: Any, types: frozenset[str]) -> bool:
    """Whether an entry can have a value. types : as the annotation of the entry names them."""
    if value is None:
        return "Optional" in types
    spelled = value.lower() if isinstance(value, str) else value
    if name == "strategy":
        return isinstance(value, str) and STRATEGIES.fullmatch(spelled) is not None
    if name == "devices" and isinstance(value, str):
        return DEVICES.fullmatch(spelled) is not None
    if name in VALUES:
        same_type = [one for one in VALUES[name] if type(one) is type(spelled)]
        return spelled in same_type
    kinds = {KINDS.get(type(value), "")}
    kinds |= {"float"} if kinds == {"int"} else set()
    kinds |= {"_PATH"} if kinds == {"str"} else set()
    return bool(kinds & types)
