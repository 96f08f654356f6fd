"""The values of one decoy, from its file to its graph, each from the reuse store or made.

The file of a decoy is read once. All that is made of it lies in one scope of the store. The key of
a value is known before anything is computed: it has the code and the module with its parameters
that make it, and the keys of what it needs.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import logging
import math
from collections import Counter
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import safetensors.numpy

from toporank.building.chunks.stages import (
    PACKAGES,
    WITHOUT_MODULE,
    Source,
    code_digest,
    module_of,
)
from toporank.building.chunks.store import Compute, Entry, ResultKey, Scope, Store
from toporank.chains.partners import Partners, partner_name, partners_text
from toporank.comparing.contacts import contact_bytes
from toporank.errors import FeatureError
from toporank.features.bystanders import not_looked_at
from toporank.features.dssp_nodes import NodeTable
from toporank.features.interface import Interface, Meeting
from toporank.features.pairs import Edges
from toporank.features.registry import FeatureChoice, canonical, node_columns, records
from toporank.features.residue_tables import (
    ResidueColumns,
    matrix,
    read_residues,
    table_bytes,
)
from toporank.features.steps import (
    Made,
    Step,
    graph_steps,
    interface_steps,
    steps_of_whole,
    unless_empty,
)
from toporank.files.graph_file import Graph, graph_bytes, read_graph
from toporank.structures.complex import Complex
from toporank.structures.dssp import dssp_version
from toporank.structures.model_shape import shape_of
from toporank.structures.stored import from_bytes, to_bytes

if TYPE_CHECKING:
    from toporank.confidence.bfactors import InFile
    from toporank.structures.read import StructureFile

log = logging.getLogger(__name__)

OF_TRAINING = ("interface", "topology", "nodes", "edges")
"""Values that the store keeps of decoys that are learned from, not of those that are scored."""


class Artefacts(Made):
    """The values of one decoy, or of one of its interfaces, by name.

    Values of the file are `atoms` and `in_file`, of the decoy `complex`, which has its partners,
    `contacts`, `interface`, `topology`, `nodes`, `edges` and `graphs`.

    Parameters
    ----------
    scope : of the store, with all that was made of this structure
    steps : that make values
    choices : stage → feature module
    kept : names of the values that are put into the store
    described : what keys have of each value that is given
    given : values
    """

    def __init__(
        self,
        scope: Scope,
        steps: list[Step],
        choices: dict[str, FeatureChoice],
        kept: Collection[str],
        described: dict[str, Any],
        **given: Any,
    ):
        super().__init__(steps, **given)
        self.scope = scope
        self.choices = choices
        self.kept = kept
        self._digests = described

    def __missing__(self, name: str) -> Any:
        """Take a value from the store, or make it."""
        form = FORMS.get(name)
        if form is None:
            return super().__missing__(name)
        entry = (
            self.entry(name) if name in self.kept else self.scope.lookup(self.key(name))
        )
        if entry is not None and name not in self:
            self[name] = form.read(entry, self)
        return self[name] if name in self else super().__missing__(name)

    def entry(self, name: str) -> Entry:
        """A value as the store keeps it."""

        def make() -> tuple[bytes, dict[str, Any]]:
            if name not in self:
                Made.__missing__(self, name)
            form = FORMS[name]
            return form.write(self[name], self), form.facts(self)

        return self.scope.cached(self.key(name), make)

    def finish(self, stage: str) -> Entry:
        """The artefact of a stage; of one that is not kept, its facts alone.

        The interface brings the contacts with it, and the graph brings those of the interfaces.
        They are made now, by many jobs at once, and taken from the store later.
        """
        if stage in self.kept:
            entry = self.entry(stage)
        else:
            self[stage]  # makes it
            entry = Entry("", FORMS[stage].facts(self), b"")
        if stage == "interface":
            self.entry("contacts")
        if stage == "graphs":
            self.interfaces  # noqa: B018 -- makes them
        return entry

    @functools.cached_property
    def interfaces(self) -> dict[str, Entry]:
        """The graph of every two partners that touch, as if they were the only ones.

        The result is name of the interface → graph. An interface without a residue that can become
        a node has no graph.
        """
        meetings = [
            meeting for meeting in self["interface"].meetings if meeting.contacts
        ]
        if len(meetings) == 1:
            return {meetings[0].interface: self.entry("graphs")}
        bodies = {partner_name(body): body for body in self["complex"].bodies}
        graphs = {}
        for meeting in meetings:
            part = self._part((bodies[meeting.first], bodies[meeting.second]))
            with contextlib.suppress(FeatureError):
                graphs[meeting.interface] = part.entry("graphs")
        return graphs

    def _part(self, partners: Partners) -> Artefacts:
        """The values of two partners."""
        whole = [self._digest("complex"), self._digest("topology")]
        return Artefacts(
            scope=self.scope,
            steps=interface_steps(self.choices),
            choices=self.choices,
            kept=("graphs",),
            described={
                "whole": whole,
                "partners": partners_text(partners),
                "dockq": None,
            },
            whole=self,
            partners=partners,
            dockq=None,
        )

    def read_file(self) -> None:
        """Make all that is made of the file itself, while it is open.

        A file that cannot be used is the reason of its decoy when that comes to its stages.
        """
        try:
            self.entry("atoms")
            self.entry("in_file")
        except (OSError, MemoryError):
            raise
        except Exception as error:  # noqa: BLE001 -- the job boundary is in `chunk`
            log.debug("%s", error)

    def save(self) -> None:
        """Put what was made into the store."""
        self.scope.save()

    def obtain(self, kind: str, depends_on: ResultKey, make: Compute) -> Entry:
        """Something else made of the atoms, and of what `depends_on` describes besides."""
        key = {"kind": kind, "atoms": self._digest("atoms"), **depends_on}
        return self.scope.cached(key, make)

    def key(self, name: str) -> ResultKey:
        """All that a value depends on."""
        key: ResultKey = {"kind": name}
        for need in self.steps[name].needs:
            key[need] = self._digest(need)
        if name not in PACKAGES:
            return key
        key["code"] = code_digest(name, self.choices)
        if name not in WITHOUT_MODULE:
            module = module_of(name, self.choices)
            key["module"] = module.record()
            if module.parameters.calls_mkdssp:
                key["dssp"] = dssp_version()
        return key

    def _digest(self, name: str) -> Any:
        """What the keys of others have of a value."""
        if name not in self._digests:
            key = canonical(self.key(name)).encode()
            self._digests[name] = hashlib.sha256(key).hexdigest()
        return self._digests[name]


def artefacts_of(
    source: Source,
    store: Store,
    choices: dict[str, FeatureChoice],
    partners: Partners = (),
    dockq: float | None = None,
) -> Artefacts:
    """The values of a decoy in a file.

    Parameters
    ----------
    source : where it is
    store : the reuse store
    choices : feature modules of the stages that are asked for
    partners : of the decoy; empty when each chain is one
    dockq : its label
    """
    steps = [
        Step("file", ("source",), Source.open),
        Step("atoms", ("file", "source"), _atoms),
        Step("in_file", ("file", "source"), _in_file),
        Step("complex", ("atoms", "partners"), Complex.with_partners),
        Step("contacts", ("complex",), contact_bytes),
        *graph_steps(choices),
        *steps_of_whole(),
    ]
    kept = [name for name in FORMS if not (store.graphs_only and name in OF_TRAINING)]
    # the scope is that of the file
    described = {"source": "", "partners": partners_text(partners), "dockq": dockq}
    return Artefacts(
        scope=store.scope(source.scope),
        steps=steps,
        choices=choices,
        kept=kept,
        described=described,
        source=source,
        partners=partners,
        dockq=dockq,
    )


def _atoms(file: StructureFile, source: Source) -> Complex:
    return file.complex(source.place)


def _in_file(file: StructureFile, source: Source) -> InFile:
    from toporank.confidence.bfactors import InFile  # imports gemmi

    return InFile.of(file, source.place)


# ---- how the store keeps values ------------------------------------------------------------------


def _no_facts(made: Artefacts) -> dict[str, Any]:
    return {}


class Form(NamedTuple):
    """How the store keeps a value.

    Attributes
    ----------
    write : takes the value and all values, returns bytes
    read : takes the entry and all values, returns the value
    facts : takes all values, returns what the ledger has of this one
    """

    write: Callable[[Any, Artefacts], bytes]
    read: Callable[[Entry, Artefacts], Any]
    facts: Callable[[Artefacts], dict[str, Any]] = _no_facts


def _write_table(
    made: Artefacts, columns: ResidueColumns, made_by: dict[str, Any]
) -> bytes:
    return table_bytes(made["complex"], made["interface"].index, columns, made_by)


def _write_interface(interface: Interface, made: Artefacts) -> bytes:
    """Interface residues with the coordinates of their CA."""
    complex_ = made["complex"]
    x, y, z = complex_.xyz[complex_.ca[interface.index]].T
    columns = {
        "x": x,
        "y": y,
        "z": z,
        "nearest": interface.nearest,
        "contacts": interface.contacts.astype(np.int32),
    }
    between = unless_empty(partners_text(complex_.partners))
    made_by = {"interface": made.choices["interface"].record(), **between}
    return _write_table(made, columns, made_by)


def _read_interface(entry: Entry, made: Artefacts) -> Interface:
    index, table = read_residues(entry.content, made["complex"])
    meetings = [Meeting(*meeting) for meeting in entry.facts["meetings"]]
    contacts, nearest = np.asarray(table["contacts"]), np.asarray(table["nearest"])
    return Interface(index, contacts, nearest, meetings)


def _facts_of_interface(made: Artefacts) -> dict[str, Any]:
    complex_ = made["complex"]
    interface = made["interface"]
    return {
        "n_chains": len(complex_.chains),
        "n_interface_residues": len(interface.index),
        "meetings": interface.meetings,
        "side_chains": complex_.side_chains,
        "notes": [*complex_.notes, *not_looked_at(complex_, interface.index)],
        "shape": shape_of(complex_),
    }


def _write_topology(values: np.ndarray, made: Artefacts) -> bytes:
    """Unscaled topology of every interface residue."""
    choice = made.choices["topology"]
    columns = dict(zip(choice.columns, values.T, strict=True))
    return _write_table(made, columns, {"topology": choice.record()})


def _read_topology(entry: Entry, made: Artefacts) -> np.ndarray:
    _, table = read_residues(entry.content, made["complex"])
    return matrix(table, made.choices["topology"].columns)


def _write_nodes(nodes: NodeTable, made: Artefacts) -> bytes:
    """Node features of every interface residue, and why a residue is no node."""
    choices = made.choices
    values = dict(zip(node_columns(choices), nodes.values.T, strict=True))
    made_by = records({name: choices[name] for name in ("nodes", "topology")})
    return _write_table(made, {"lost": list(nodes.lost), **values}, made_by)


def _read_nodes(entry: Entry, made: Artefacts) -> NodeTable:
    _, table = read_residues(entry.content, made["complex"])
    return NodeTable(matrix(table, node_columns(made.choices)), tuple(table["lost"]))


def _facts_of_nodes(made: Artefacts) -> dict[str, Any]:
    lost = made["nodes"].lost
    notes = [
        f"{n} of {len(lost)} interface residues left out: {reason}"
        for reason, n in Counter(filter(None, lost)).most_common()
    ]
    return {"notes": notes}


def _write_edges(edges: Edges, made: Artefacts) -> bytes:
    arrays = {"index": edges.index, "attributes": edges.attributes}
    return safetensors.numpy.save(arrays)


def _read_edges(entry: Entry, made: Artefacts) -> Edges:
    return Edges(**safetensors.numpy.load(entry.content))


def _write_graph(graph: Graph, made: Artefacts) -> bytes:
    dockq = None if math.isnan(graph.y) else graph.y
    return graph_bytes(
        graph.x, graph.edge_index, graph.edge_attr, dockq, graph.metadata
    )


def _read_in_file(entry: Entry, made: Artefacts) -> InFile:
    from toporank.confidence.bfactors import InFile  # imports gemmi

    return InFile.from_bytes(entry.content)


FORMS = {
    "atoms": Form(
        lambda atoms, _: to_bytes(atoms), lambda entry, _: from_bytes(entry.content)
    ),
    "in_file": Form(lambda in_file, _: in_file.to_bytes(), _read_in_file),
    "contacts": Form(lambda contacts, _: contacts, lambda entry, _: entry.content),
    "interface": Form(_write_interface, _read_interface, _facts_of_interface),
    "topology": Form(_write_topology, _read_topology),
    "nodes": Form(_write_nodes, _read_nodes, _facts_of_nodes),
    "edges": Form(_write_edges, _read_edges),
    "graphs": Form(_write_graph, lambda entry, _: read_graph(entry.content, "")),
}
