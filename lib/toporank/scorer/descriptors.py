"""Descriptors of whole interfaces: sums and means over the nodes and edges of graphs.

They say what mean pooling hides from a network: how large an interface is, how much it buries, and how much of that is
well packed, charged or clashing.
"""

from __future__ import annotations

import numpy as np

from toporank.errors import GraphError
from toporank.features.contact_edges import ROOTS
from toporank.features.contact_nodes import OWN
from toporank.features.folding_nodes import FOLDING
from toporank.features.inverse_folding import Folding, measures
from toporank.features.registry import narrowed
from toporank.files.packfile import PackedGraphs

NEEDED = {"nodes": "nodes/contacts/v1", "edges": "edges/contacts/v1"}
TYPES, STRUCTURE, ACCESSIBLE = "aa_", "ss_", "rasa"
AREAS = ("area_apolar", "area_polar", "area_mixed", "area_energy")
ENERGIES = ("energy_short", "energy_middle", "energy_long", "residue_energy")
SHARES = ("buried_apolar", "buried_polar")
WITHOUT_SIDES = ("interface_residues", "gain_worse_side", "together_worse_side", "gain_sum_worse_side")
"""Measures of inverse folding that are known already, or need the partner of each residue."""
FEW = 1e-3
"""Å², beside which no area counts as none."""


def describe(graphs: PackedGraphs) -> tuple[list[str], np.ndarray]:
    """Names of the descriptors, and their values for each graph: float64, shape (len(graphs), k).

    Raises GraphError unless the graphs have the features of `NEEDED`, or modules that extend them.
    """
    features = narrowed(graphs.metadata.get("features") or {}, {"nodes": {"module": NEEDED["nodes"]}})
    if len(graphs) and any((features.get(stage) or {}).get("module") != module for stage, module in NEEDED.items()):
        raise GraphError(
            f"descriptors need graphs of {' and '.join(NEEDED.values())}", remedy="build them with these features"
        )
    of_nodes, of_edges = graphs.metadata.get("node_columns", []), graphs.metadata.get("edge_columns", [])
    rows = [_describe(*_tables(graphs, i), of_nodes, of_edges) for i in range(len(graphs))]
    names = list(rows[0]) if rows else []
    return names, np.array([list(row.values()) for row in rows], dtype=np.float64).reshape(len(rows), len(names))


def _tables(graphs: PackedGraphs, i: int) -> tuple[np.ndarray, np.ndarray]:
    """Node and edge features of graph i."""
    part, place = graphs.parts[graphs.part_of[i]], graphs.place_in_part[i]
    (n, n_end), (e, e_end) = (part[name][place : place + 2].tolist() for name in ("node_start", "edge_start"))
    return np.asarray(part["x"][n:n_end], float), np.asarray(part["edge_attr"][e:e_end], float)


def _describe(x: np.ndarray, edges: np.ndarray, of_nodes: list[str], of_edges: list[str]) -> dict[str, float]:
    """The descriptors of one graph by name. x : (n, k), edges : (E, m), both directions of each pair."""
    n, pairs = len(x), len(edges) / 2
    plain = edges.copy()
    plain[:, ROOTS] = np.sign(edges[:, ROOTS]) * np.square(edges[:, ROOTS])
    total = dict(zip(of_edges, plain.sum(axis=0) / 2, strict=True))
    mean = dict(zip(of_edges, plain.mean(axis=0), strict=True))
    residues = dict(zip(of_nodes, x.T, strict=True))
    own = {name: np.sign(residues[name]) * np.square(residues[name]) for name in OWN}
    types = [name for name in of_nodes if name.startswith(TYPES)]
    buried = own["buried"].sum() + FEW
    found = {"residues": n, "log_residues": np.log1p(n), "log_pairs": np.log1p(pairs)}
    for name in of_edges[ROOTS]:
        found |= {f"{name}_sum": total[name], f"{name}_mean": mean[name], f"{name}_a_residue": total[name] / n}
    found |= {f"{name}_mean": mean[name] for name in of_edges[ROOTS.stop :]}
    found |= {f"{name}_share": total[name] / (total["area"] + FEW) for name in AREAS}
    found |= {f"{name}_a_contact": total[name] / (total["contact"] + 1) for name in ENERGIES}
    for name, values in own.items():
        found |= {f"residue_{name}_sum": values.sum(), f"residue_{name}_mean": values.mean()}
    found |= {f"{name}_share": own[name].sum() / buried for name in SHARES}
    found |= {name: residues[name].mean() for name in types}
    found |= {f"buried_{name}": (residues[name] * own["buried"]).sum() / buried for name in types}
    found |= {name: residues[name].mean() for name in of_nodes if name.startswith(STRUCTURE) or name == ACCESSIBLE}
    return found | _folding(residues) if FOLDING[0] in residues else found


def _folding(residues: dict[str, np.ndarray]) -> dict[str, float]:
    """What inverse folding says of the residues in contact. residues : (n,) each."""
    values = [residues[name] for name in FOLDING]
    touching = values[0] > 0
    said = Folding(np.flatnonzero(touching), np.zeros(touching.sum(), int), *(each[touching] for each in values))
    return {f"folding_{name}": value for name, value in measures(said).items() if name not in WITHOUT_SIDES}
