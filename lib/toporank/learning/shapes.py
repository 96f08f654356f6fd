"""Which weights a network has, by its hyper-parameters; no torch, and no compiled code, is needed.

A network of a plug-in has its own, which nobody here knows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from toporank.lookup import only
from toporank.settings import did_you_mean

BUILT_IN = "gatv2"
"""Name of the network of attention over residues."""
OF_CONTACTS = "contacts"
"""Name of the network of contacts by shared area."""
OWN = (BUILT_IN, OF_CONTACTS)
"""Networks of this package."""
SHAPE_KEYS = ("network", "hidden", "heads", "layers", "readout", "local")
"""Hyper-parameters that decide which weights a network has."""
CONTACT = "contact"
"""The edge column that says whether residues are in contact."""
BUFFERS = ("scale_nodes", "scale_edges")
"""Parts that are not trained."""
NOTHING_LEFT = "every part of the network is frozen: leave one out, such as head"


def shape_of(hyperparameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the hyper-parameters that decide on the weights.

    Older checkpoints do not have `local` and `network`.
    """
    complete = {"network": BUILT_IN, "local": False, **hyperparameters}
    return only(complete, SHAPE_KEYS)


def shapes_of(description: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the weights that a description implies, by name."""
    shape = shape_of(description["hyperparameters"])
    hidden, heads, readout = shape["hidden"], shape["heads"], shape["readout"]
    columns = description.get("edge_columns") or ()
    n_local = 0
    if shape["local"]:
        n_local = 2 if CONTACT in columns else 1
    widths = {"nodes": description["node_width"], "edges": description["edge_width"]}
    linear = {
        "embed_nodes": (hidden, widths["nodes"]),
        "embed_edges": (hidden, widths["edges"]),
        "pooled_edges": (hidden // 2, hidden),
        "head.0": (readout, hidden + hidden // 2 + n_local),
        "head.2": (readout, readout),
        "head.4": (1, readout),
    }
    if shape["local"]:
        linear["local_head.ends"] = (hidden, 3 * hidden)
        linear["local_head.out"] = (1, hidden)
    shapes: dict[str, tuple[int, ...]] = {}
    for i in range(shape["layers"]):
        attention = f"layers.{i}.attention"
        shapes[f"{attention}.att"] = (1, heads, hidden)
        shapes[f"{attention}.bias"] = (hidden,)
        shapes[f"{attention}.lin_edge.weight"] = (heads * hidden, hidden)
        linear[f"{attention}.lin_l"] = linear[f"{attention}.lin_r"] = (
            heads * hidden,
            hidden,
        )
        linear[f"layers.{i}.edge_update"] = (hidden, 3 * hidden)
    for name, (rows, n_columns) in linear.items():
        shapes[f"{name}.weight"] = (rows, n_columns)
        shapes[f"{name}.bias"] = (rows,)
    for stage, width in widths.items():
        if is_scaled(description.get("features"), stage):
            shapes[f"scale_{stage}.mean"] = shapes[f"scale_{stage}.sd"] = (width,)
    return shapes


def is_scaled(features: Mapping[str, Any] | None, stage: str) -> bool:
    """Return whether the training set scales the features of a stage, `nodes` or `edges`.

    features : records of the modules; None for graphs of another pipeline. These are scaled, too.
    """
    if features is None:
        return True
    return (features.get(stage) or {}).get("scaling") == "training_set"


def missing_parts(parts: Sequence[str], shapes: Iterable[Mapping[str, Any]]) -> str:
    """Say what is wrong with the parts of a network that are to be frozen.

    Parameters
    ----------
    parts : such as `embed_nodes` or `layers.0`
    shapes : those that the network may have, as of `shape_of`; a part must be in one of them

    Returns
    -------
    a sentence; empty where nothing is wrong, or a plug-in brings the network
    """
    names: dict[str, None] = {}
    for shape in shapes:
        if shape["network"] != BUILT_IN:  # its parts are known when it is made
            return ""
        widths = {"node_width": 1, "edge_width": 1}
        names.update(dict.fromkeys(shapes_of({"hyperparameters": shape, **widths})))
    return parts_fault(parts, names) if parts and names else ""


def parts_fault(parts: Sequence[str], weights: Iterable[str]) -> str:
    """Say which parts to freeze are not among the names of weights, or that all are frozen."""
    weights = [name for name in weights if not name.startswith(BUFFERS)]
    frozen = set()
    for part in parts:
        of_part = [name for name in weights if name.startswith(f"{part}.")]
        if not of_part:
            first_level = dict.fromkeys(name.partition(".")[0] for name in weights)
            hint = did_you_mean(part, first_level)
            of_all = (
                "" if hint.startswith("known") else f"; known: {', '.join(first_level)}"
            )
            return f"the network has no part {part!r}, {hint}{of_all}"
        frozen.update(of_part)
    return NOTHING_LEFT if frozen.issuperset(weights) else ""
