"""The graph of one decoy as the reuse store keeps it.

It is tensors and metadata in the format of safetensors.

`learning.pyg_files.pt_bytes` turns it into the `.pt` file of PyTorch Geometric, which
`building.chunks.published.publish` writes (Snakemake rule `publish`).
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from toporank.errors import GraphError
from toporank.files import described

FORMAT = 1
"""Version of the graph; raise it when what is written changes meaning."""

REBUILD = "build the graph again"


class Graph(NamedTuple):
    """One decoy as the network sees it.

    x : (n, k) float32. edge_index : (2, E) int64. edge_attr : (E, m) float32. y : its DockQ, nan
        where unlabelled.
    metadata : of the features.
    edge_y : (E,) float32, the local quality of each edge, nan where unknown; of a graph in a pack
        alone, None where the pack has none.
    residues : of a graph in a pack alone, the names of its nodes as `packfile.Pack` has them.
    """

    x: np.ndarray
    edge_index: np.ndarray
    edge_attr: np.ndarray
    y: float
    metadata: dict[str, Any]
    edge_y: np.ndarray | None = None
    residues: str = ""

    def kind(self) -> dict[str, Any]:
        """What must be equal for graphs to be used together."""
        return {
            "node width": self.x.shape[1],
            "edge width": self.edge_attr.shape[1],
            "feature modules": self.metadata.get("features"),
            "graph format": self.metadata.get("format"),
        }


def graph_bytes(
    x: np.ndarray,
    edge_index: np.ndarray,
    edge_attr: np.ndarray,
    y: float | None,
    metadata: dict[str, Any],
) -> bytes:
    """Return a graph in the format of safetensors; the same graph gives the same bytes.

    Parameters
    ----------
    x : (n, k) node features, kept in float32
    edge_index : (2, E) nodes that each edge joins, kept in int64
    edge_attr : (E, m) edge features, kept in float32
    y : DockQ of the decoy, None where it has no label
    metadata : what JSON can hold; the order of keys does not count

    Raises
    ------
    TypeError : where JSON cannot hold the metadata
    """
    arrays: dict[str, np.ndarray] = {
        "x": np.asarray(x, np.float32),
        "edge_index": np.asarray(edge_index, np.int64),
        "edge_attr": np.asarray(edge_attr, np.float32),
    }
    if y is not None:
        arrays["y"] = np.array([y], np.float32)
    return described.to_bytes(arrays, metadata)


def read_graph(content: bytes, where: Path | str) -> Graph:
    """Return the graph that `graph_bytes` made.

    Parameters
    ----------
    content : its bytes
    where : what an error calls it

    Raises
    ------
    GraphError : where the bytes are damaged, or are not those of a graph
    """
    try:
        arrays, metadata = described.from_bytes(content)
        y = arrays["y"].item() if "y" in arrays else math.nan
        return Graph(
            arrays["x"], arrays["edge_index"], arrays["edge_attr"], y, metadata
        )
    except (KeyError, ValueError) as error:
        raise GraphError(
            f"not a readable graph: {error}", where=where, remedy=REBUILD
        ) from error
