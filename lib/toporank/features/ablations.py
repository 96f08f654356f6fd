"""Modules that leave something out, to learn what it is worth."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from toporank.features.nodes import NodeTable
from toporank.features.registry import Parameters, register
from toporank.features.scaling import Scaling, scaled
from toporank.structures.complex import Complex


class NoTopology(Parameters):
    """No parameters."""


class TopologyOnly(Parameters):
    """Parameters of `nodes/topology_only/v1`."""

    scaling: Scaling = Field("training_set", description="As of `nodes/dssp_topology/v1`.")


@register(
    "topology/none/v1",
    alias="none",
    summary="no topology columns",
    parameters=NoTopology,
    columns=lambda parameters: [],
)
def no_topology(parameters: NoTopology, complex_: Complex, residues: np.ndarray) -> np.ndarray:
    """Shape (N, 0) for `residues`, int, shape (N,)."""
    return np.zeros((len(residues), 0))


@register(
    "nodes/topology_only/v1",
    alias="topology_only",
    summary="the topology columns and nothing else",
    parameters=TopologyOnly,
    columns=lambda parameters: [],
)
def topology_only_nodes(
    parameters: TopologyOnly, complex_: Complex, residues: np.ndarray, topology: np.ndarray
) -> NodeTable:
    """Every interface residue is a node. topology : (N, t), unscaled."""
    return NodeTable(scaled(topology, parameters.scaling), ("",) * len(residues))
