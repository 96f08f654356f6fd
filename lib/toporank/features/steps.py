"""The steps from the atoms of a decoy to its graph, and what each of them needs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from toporank.chains.chain import ResidueId
from toporank.chains.partners import Partners, partners_text
from toporank.features.dssp_nodes import NodeTable
from toporank.features.interface import Interface
from toporank.features.pairs import Edges
from toporank.features.registry import FeatureChoice, node_columns, records
from toporank.files.graph_file import FORMAT, Graph
from toporank.lookup import places_of
from toporank.structures.complex import Complex
from toporank.structures.surroundings import Surroundings

COMPUTED_IN_PARTS = ("interface", "nodes", "edges")
"""The modules that compute the graph of an interface of a decoy; its topology is that of the whole
decoy.
"""


class Step(NamedTuple):
    """How a value of a decoy is made.

    Attributes
    ----------
    name : of the value
    needs : names of the values that `make` takes, in its order
    make : function that returns the value
    """

    name: str
    needs: tuple[str, ...]
    make: Callable[..., Any]


class Made(dict[str, Any]):
    """The values of one decoy by name. One that is missing is made of what it needs.

    Parameters
    ----------
    steps : one for each value that can be made
    given : the others

    Examples
    --------
    >>> made = Made([Step("area", ("width", "height"), lambda w, h: w * h)], width=2, height=3)
    >>> made["area"]
    6
    """

    def __init__(self, steps: Iterable[Step], **given: Any):
        super().__init__(given)
        self.steps = {step.name: step for step in steps}

    def __missing__(self, name: str) -> Any:
        """Make a value."""
        step = self.steps[name]
        self[name] = step.make(*[self[need] for need in step.needs])
        return self[name]


def graph_steps(choices: dict[str, FeatureChoice]) -> list[Step]:
    """The steps from `complex` and `dockq` to `graphs`.

    Parameters
    ----------
    choices : stage → feature module with its parameters; of the stages that are asked for
    """

    def topology_of(complex_: Complex, interface: Interface) -> np.ndarray:
        return choices["topology"](complex_, interface.index)

    return [
        Step("topology", ("complex", "interface"), topology_of),
        *_steps_after_topology(choices),
    ]


def interface_steps(choices: dict[str, FeatureChoice]) -> list[Step]:
    """The steps to the graph of two partners of a decoy, as if they were the only ones.

    They begin with `partners`, these two, and `whole`, the values of the whole decoy.

    Parameters
    ----------
    choices : stage → feature module with its parameters
    """
    reach = max(choices[name].parameters.reach for name in COMPUTED_IN_PARTS)

    def part(whole: Made, partners: Partners) -> Complex:
        near = whole["surroundings"].around(chain.from_iterable(partners), reach)
        return near.with_partners(partners)

    def topology_of(complex_: Complex, interface: Interface, whole: Made) -> np.ndarray:
        row_of = whole["topology_row"]
        rows = [row_of[each] for each in complex_.residues_at(interface.index)]
        return whole["topology"][np.array(rows, dtype=int)]

    return [
        Step("complex", ("whole", "partners"), part),
        Step("topology", ("complex", "interface", "whole"), topology_of),
        *_steps_after_topology(choices),
    ]


def steps_of_whole() -> list[Step]:
    """What `interface_steps` need of the whole decoy, once for all its interfaces."""

    def topology_row(complex_: Complex, interface: Interface) -> dict[ResidueId, int]:
        return places_of(complex_.residues_at(interface.index))

    return [
        Step("surroundings", ("atoms",), Surroundings.of),
        Step("topology_row", ("complex", "interface"), topology_row),
    ]


def _steps_after_topology(choices: dict[str, FeatureChoice]) -> list[Step]:
    """The interface, and the steps from the topology to the graph."""

    def interface_of(complex_: Complex) -> Interface:
        return choices["interface"](complex_)

    def nodes_of(
        complex_: Complex, interface: Interface, topology: np.ndarray
    ) -> NodeTable:
        # the registered function, by default features.contact_nodes.contact_nodes
        return choices["nodes"](complex_, interface.index, topology)

    def edges_of(complex_: Complex, interface: Interface, nodes: NodeTable) -> Edges:
        return choices["edges"](complex_, interface.index[nodes.is_node])

    def graph_of(
        complex_: Complex,
        interface: Interface,
        nodes: NodeTable,
        edges: Edges,
        dockq: float | None,
    ) -> Graph:
        index = interface.index[nodes.is_node]
        names = list(map(str, complex_.residues_at(index)))
        between = unless_empty(partners_text(complex_.partners))
        return Graph(
            x=nodes.values[nodes.is_node].astype(np.float32),
            edge_index=edges.index,
            edge_attr=edges.attributes.astype(np.float32),
            y=math.nan if dockq is None else dockq,
            metadata={**graph_metadata(choices), **between, "residues": names},
        )

    of_nodes = ("complex", "interface", "nodes")
    return [
        Step("interface", ("complex",), interface_of),
        Step("nodes", ("complex", "interface", "topology"), nodes_of),
        Step("edges", of_nodes, edges_of),
        Step("graphs", (*of_nodes, "edges", "dockq"), graph_of),
    ]


def unless_empty(partners: str) -> dict[str, str]:
    """The partners as metadata have them: nothing where each chain is one."""
    return {"partners": partners} if partners else {}


def graph_metadata(choices: dict[str, FeatureChoice]) -> dict[str, Any]:
    """Feature modules with parameters, columns and format version, as graphs have them."""
    return {
        "format": FORMAT,
        "features": records(choices),
        "node_columns": node_columns(choices),
        "edge_columns": choices["edges"].columns,
    }
