"""Checkpoints of TopoQA, the published implementation.

It knows what they look like and what they become here.

Such a file is recognised by the names of its tensors. Its network is ours under other names, but
for the edge update, which it computes once for each head and then averages; being linear, that is
one map with averaged weights (Han et al. 2025).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from toporank.errors import CheckpointError

ORIGIN = "TopoQA"
FEATURES = "topoqa_compat"
"""Preset of the features that these networks were trained on."""

GRAPH_FORMAT = 1
"""`graphs.FORMAT` with which the features of the preset were last compared with the published ones.
"""

ATTENTION_DROPOUT = 0.25
"""As published; a checkpoint does not say, and scoring does not use it."""

_LINEAR = {
    "embed.0": "embed_nodes",
    "edge_embed.0": "embed_edges",
    "fc_edge": "pooled_edges",
    "protein_fc_1.0": "head.0",
    "fc1": "head.2",
    "out": "head.4",
}
_LAYERS = ("conv1.0", "conv2.0")
"""A third one is in the files, too, but no part of the prediction."""

_ATTENTION = (
    "att",
    "bias",
    "lin_l.weight",
    "lin_l.bias",
    "lin_r.weight",
    "lin_r.bias",
    "lin_edge.weight",
)

RENAMED: dict[str, str] = {}
"""Their name of a tensor to ours, where the tensor stays as it is."""

AVERAGED: dict[str, str] = {}
"""Their name of a tensor to ours, where heads × hidden rows become the mean over heads."""

for part in ("weight", "bias"):
    for theirs, ours in _LINEAR.items():
        RENAMED[f"{theirs}.{part}"] = f"{ours}.{part}"
    for number, theirs in enumerate(_LAYERS):
        AVERAGED[f"{theirs}.edge_linear.{part}"] = f"layers.{number}.edge_update.{part}"
for number, theirs in enumerate(_LAYERS):
    for part in _ATTENTION:
        RENAMED[f"{theirs}.{part}"] = f"layers.{number}.attention.{part}"

TENSORS = frozenset({*RENAMED, *AVERAGED})
DIMENSIONS = {
    "embed.0.weight": 2,
    "edge_embed.0.weight": 2,
    "conv1.0.att": 3,
    "fc1.weight": 2,
}
"""Of the tensors that tell the shape of the network."""


def describe(state: Any, path: Path) -> dict[str, Any] | None:
    """Return the description of a TopoQA checkpoint as `checkpoint.read_description` does.

    None for any other.

    state : its `state_dict`. path : the file, for messages.
    Raises CheckpointError when the network takes other columns than the features of TopoQA have.
    """
    tensors = state if isinstance(state, dict) else {}
    shapes = {
        name: tuple(getattr(tensor, "shape", ())) for name, tensor in tensors.items()
    }
    if not set(shapes) >= TENSORS:
        return None
    if any(len(shapes[name]) != n for name, n in DIMENSIONS.items()):
        return None
    # with all feature modules, which other checkpoints do not need
    from toporank.features.presets import PRESETS
    from toporank.features.registry import node_columns, records, resolve_recorded

    choices = resolve_recorded(PRESETS[FEATURES])
    nodes, edges = node_columns(choices), choices["edges"].columns
    (hidden, node_width), (_, edge_width) = (
        shapes["embed.0.weight"],
        shapes["edge_embed.0.weight"],
    )
    if (node_width, edge_width) != (len(nodes), len(edges)):
        raise CheckpointError(
            f"a {ORIGIN} network for {node_width} node and {edge_width} edge columns;"
            f" the published features have {len(nodes)} and {len(edges)}",
            where=path,
        )
    return {
        "origin": ORIGIN,
        "format": GRAPH_FORMAT,
        "features": records(choices),
        "node_columns": nodes,
        "edge_columns": edges,
        "node_width": node_width,
        "edge_width": edge_width,
        "hyperparameters": {
            "hidden": hidden,
            "heads": shapes["conv1.0.att"][1],
            "layers": len(_LAYERS),
            "readout": shapes["fc1.weight"][0],
            "attention_dropout": ATTENTION_DROPOUT,
        },
    }


def published_shapes(
    ours: dict[str, tuple[int, ...]], heads: int
) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the published tensors by their names, from those of our `DockQNet`."""
    shapes = {old: ours[new] for old, new in RENAMED.items()}
    for old, new in AVERAGED.items():
        shapes[old] = (heads * ours[new][0], *ours[new][1:])
    return shapes


def network_weights(state: dict[str, Any], heads: int) -> dict[str, Any]:
    """Return the state of our `DockQNet` from theirs, which has `published_shapes`.

    Values are tensors or arrays.
    """
    weights = {new: state[old] for old, new in RENAMED.items()}
    for old, new in AVERAGED.items():
        rows = state[old]
        weights[new] = rows.reshape(heads, -1, *rows.shape[1:]).mean(0)
    return weights
