"""What Lightning's `Trainer` and the network make of settings, known before anything is built.

Nothing here imports torch or Lightning.
"""

from __future__ import annotations

import ast
import functools
import importlib.util
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from toporank.settings import did_you_mean

# ---- entries of Lightning's Trainer --------------------------------------------------------------

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
STRATEGIES = ("auto", "ddp", "deepspeed", "fsdp", "single_", "xla")
"""How the names of Lightning's strategies begin; longer ones have `_` after it."""
KINDS = {bool: "bool", int: "int", float: "float", str: "str", list: "list"}
KINDS |= {dict: "dict", type(None): "Optional"}
"""Type of a value in YAML → how an annotation names it."""


@functools.cache
def trainer_entries() -> dict[str, frozenset[str]]:
    """The entries of the installed `Trainer` and the types that each takes.

    They are read from its source, since importing it takes seconds; empty where Lightning is
    installed for the jobs alone.
    """
    package = importlib.util.find_spec("pytorch_lightning")
    if package is None:
        return {}
    source = Path(package.origin).with_name("trainer") / "trainer.py"
    entries = {}
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ClassDef) and node.name == "Trainer":
            (init,) = [part for part in node.body if _is_init(part)]
            for argument in init.args.kwonlyargs:
                entries[argument.arg] = frozenset(_types_in(argument.annotation))
    return entries


def _is_init(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef) and node.name == "__init__"


def _types_in(annotation: ast.expr) -> set[str]:
    """The names of the types in an annotation, such as `list` and `str` of `list[int] | str`."""
    if isinstance(annotation, ast.Name):
        return {annotation.id}
    if isinstance(annotation, ast.Subscript):
        outer = _types_in(annotation.value)
        is_choice = outer & {"Union", "Optional"}
        return outer | _types_in(annotation.slice) if is_choice else outer
    parts = annotation.elts if isinstance(annotation, ast.Tuple) else []
    return set().union(*map(_types_in, parts))


def trainer_faults(entries: Mapping[str, Any]) -> list[str]:
    """What Lightning's `Trainer` would refuse on any machine, a line for each entry."""
    known = trainer_entries()
    faults = []
    for name, value in entries.items():
        if known and name not in known:
            remedy = did_you_mean(name, known)
            faults.append(f"{name}: Lightning's Trainer has no such entry ({remedy})")
        elif not _is_taken(name, value, known.get(name, frozenset(KINDS.values()))):
            allowed = ", ".join(map(str, VALUES.get(name, ())))
            remedy = (
                f"it takes {allowed}" if allowed else "see Hardware in docs/training.md"
            )
            faults.append(
                f"{name}: Lightning's Trainer does not take {value!r} ({remedy})"
            )
    return faults


def _is_taken(name: str, value: Any, types: frozenset[str]) -> bool:
    """Whether an entry can have a value. types : as the annotation of the entry names them."""
    if value is None:
        return "Optional" in types
    spelled = value.lower() if isinstance(value, str) else value
    if name == "strategy":
        return isinstance(value, str) and spelled.startswith(STRATEGIES)
    if name in VALUES:
        same_type = [one for one in VALUES[name] if type(one) is type(spelled)]
        return spelled in same_type
    kinds = {KINDS.get(type(value), "")}
    kinds |= {"float"} if kinds == {"int"} else set()
    kinds |= {"_PATH"} if kinds == {"str"} else set()
    return bool(kinds & types)


# ---- parts of the network ------------------------------------------------------------------------

OF_LAYER = ("attention", "edge_update")
OF_LAYER += tuple(f"attention.lin_{end}" for end in ("l", "r", "edge"))


def parts_with_weights(layers: int, local: bool) -> list[str]:
    """The parts of a network that have weights of their own, by their names in the network.

    Examples
    --------
    >>> parts_with_weights(layers=0, local=False)
    ['embed_nodes', 'embed_edges', 'pooled_edges', 'head.0', 'head.2', 'head.4']
    """
    of_layers = [f"layers.{n}.{part}" for n in range(layers) for part in OF_LAYER]
    of_local = ["local_head.ends", "local_head.out"] if local else []
    around = ["pooled_edges", "head.0", "head.2", "head.4"]
    return ["embed_nodes", "embed_edges", *of_layers, *around, *of_local]


def freezing_faults(freeze: Iterable[str], layers: int, local: bool) -> list[str]:
    """Why these parts of a network cannot be frozen, a line each; none where they can."""
    left = parts_with_weights(layers, local)
    parts = dict.fromkeys(name.partition(".")[0] for name in left)
    parts |= dict.fromkeys(f"layers.{n}" for n in range(layers))
    faults = []
    for part in freeze:
        if not any(_is_in(name, part) for name in parts_with_weights(layers, local)):
            faults.append(
                f"the network has no part {part!r} (its parts are {', '.join(parts)})"
            )
        left = [name for name in left if not _is_in(name, part)]
    if not left:
        faults.append(
            "every part of the network is frozen, nothing would be trained (leave one out, "
            "such as head)"
        )
    return faults


def _is_in(name: str, part: str) -> bool:
    """Whether a part of the network is another one or in it."""
    return f"{name}.".startswith(f"{part}.")
