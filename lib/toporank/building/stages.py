"""The feature stages as steps from file to file. Each computes one artefact of one decoy.

A stage reads the structure and the artefact of the stage before it, nothing else; the key of its artefact
in the reuse store therefore names the content of these two, the module with its parameters, and a digest
of the code that runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import toporank
from toporank.building.store import Entry, Store
from toporank.building.tables import matrix, read_residues, write_residues
from toporank.code import source_digest
from toporank.decoys.identity import structure_format
from toporank.features.interface import Interface
from toporank.features.nodes import NodeTable
from toporank.features.registry import Choice, canonical
from toporank.structures.dssp import dssp_version
from toporank.structures.read import read_complex


@dataclass(frozen=True)
class Task:
    """One decoy in one stage.

    source : the structure file. upstream : artefact of the stage before, None for the first.
    dockq : its label, None where it has none.
    """

    source: Path
    upstream: Path | None
    structure_sha256: str
    upstream_sha256: str
    choices: dict[str, Choice]
    dockq: float | None

    def depends_on(self, stage: str) -> dict[str, Any]:
        """What the artefact of a stage (or the edges) depends on."""
        return {
            "structure": self.structure_sha256,
            "format": structure_format(self.source),
            "upstream": self.upstream_sha256,
            "module": self.choices[stage].record(),
            "code": code_digest(stage, self.choices),
        }


@dataclass(frozen=True)
class Stage:
    """A feature stage: `run(task, store)` gives its artefact."""

    name: str
    run: Callable[[Task, Store], Entry]


SHARED_SOURCES = (
    "structures/complex.py", "structures/columns.py", "structures/density.py", "structures/read.py",
    "features/neighbours.py", "building/tables.py", "building/stages.py",
)  # fmt: skip
EDGES = ("compilation.py", "features/scaling.py", "features/edges.py", "features/kernels/distances.py")
SOURCES = {
    "interface": (),
    "topology": (
        "compilation.py",
        *(
            f"persistence/{module}.py"
            for module in ("__init__", "alpha", "clouds", "delaunay", "double", "pairing", "summary")
        ),
    ),
    "nodes": (
        "compilation.py",
        "structures/builtin_dssp.py",
        "structures/dssp.py",
        "features/scaling.py",
        *(f"kabsch_sander/{module}.py" for module in ("__init__", "hydrogen_bonds", "states", "surface")),
    ),
    "edges": EDGES,
    "graphs": (*EDGES, "graphs/pyg_file.py"),
}
"""The code each kind of artefact depends on beside its feature module, as paths below this package."""


def code_digest(kind: str, choices: dict[str, Choice]) -> str:
    """Digest of the code that a kind of artefact depends on: a key of `SOURCES`, and the chosen modules."""
    root = Path(toporank.__file__).parent
    stage = {"graphs": "edges"}.get(kind, kind)
    shared = (str(root / source) for source in (*SHARED_SOURCES, *SOURCES[kind]))
    return source_digest((*shared, choices[stage].module.source))


def recipe(stage: str, choices: dict[str, Choice]) -> str:
    """Code, modules and parameters that a feature stage needs, in one line: what its receipt says."""
    return f"{code_digest(stage, choices)} {stage_features(choices, stage)}"


def stage_features(choices: dict[str, Choice], stage: str) -> str:
    """Modules and parameters a feature stage needs, as canonical JSON: a change of any other is not its concern."""
    return canonical({name: choices[name].record() for name in NEEDED[stage]})


def run_interface(task: Task, store: Store) -> Entry:
    """Interface residues with the coordinates of their CA."""
    choice = task.choices["interface"]

    def make(path: Path) -> dict[str, Any]:
        complex_ = read_complex(task.source)
        interface: Interface = choice(complex_)
        ca = complex_.xyz[complex_.ca[interface.index]]
        columns = {
            **dict(zip("xyz", ca.T, strict=True)),
            "nearest": interface.nearest,
            "contacts": interface.contacts.astype(np.int32),
        }
        write_residues(path, complex_, interface.index, columns, {"interface": choice.record()})
        return {"n_chains": len(complex_.chains), "n_interface_residues": len(interface.index), "notes": complex_.notes}

    return store.obtain("interface", task.depends_on("interface"), ".parquet", make)


def run_topology(task: Task, store: Store) -> Entry:
    """Unscaled topology of every interface residue."""
    choice = task.choices["topology"]

    def make(path: Path) -> dict[str, Any]:
        complex_ = read_complex(task.source)
        residues, _ = read_residues(task.upstream, complex_)
        columns = dict(zip(choice.columns, choice(complex_, residues).T, strict=True))
        write_residues(path, complex_, residues, columns, {"topology": choice.record()})
        return {}

    return store.obtain("topology", task.depends_on("topology"), ".parquet", make)


def run_nodes(task: Task, store: Store) -> Entry:
    """Node features of every interface residue, and why a residue is no node."""
    choice, topology = task.choices["nodes"], task.choices["topology"]

    def make(path: Path) -> dict[str, Any]:
        complex_ = read_complex(task.source)
        residues, table = read_residues(task.upstream, complex_)
        nodes: NodeTable = choice(complex_, residues, matrix(table, topology.columns))
        columns = {"lost": list(nodes.lost), **dict(zip(node_columns(task.choices), nodes.values.T, strict=True))}
        write_residues(path, complex_, residues, columns, {"nodes": choice.record(), "topology": topology.record()})
        lost = Counter(filter(None, nodes.lost))
        left_out = [f"{n} of {len(residues)} interface residues left out: {why}" for why, n in lost.most_common()]
        return {"notes": left_out}

    depends_on = task.depends_on("nodes") | {"topology": topology.record()}
    if choice.parameters.calls_mkdssp:
        depends_on["dssp"] = dssp_version()
    return store.obtain("nodes", depends_on, ".parquet", make)


def node_columns(choices: dict[str, Choice]) -> list[str]:
    """Names of the node features: those of the node module, then those of the topology module."""
    return choices["nodes"].columns + choices["topology"].columns


NEEDED = {
    "interface": ("interface",),
    "topology": ("topology",),
    "nodes": ("topology", "nodes"),
    "graphs": ("interface", "topology", "nodes", "edges"),
}
"""Whose module and parameters each stage needs to know."""

STAGES = {
    "interface": Stage("interface", run_interface),
    "topology": Stage("topology", run_topology),
    "nodes": Stage("nodes", run_nodes),
}
"""The stages that need no torch; the graph stage is in `toporank.graphs.pyg_file`."""
