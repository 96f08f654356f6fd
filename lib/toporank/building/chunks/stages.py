"""The four feature stages, and the artefact each makes from a decoy.

The file of a decoy is read once. All that is made of it lies in one scope of the reuse store: the
complex, and the artefact of each stage. A stage takes the complex and the artefact of the stage
before; the key of its own artefact contains the checksum of that, the module with its parameters
and the code: everything it was made from.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import itertools
import logging
from collections import Counter
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import safetensors.numpy

from toporank.building.chunks.store import Compute, Entry, Scope, Store
from toporank.chains.chain import ResidueId
from toporank.chains.partners import Partners, partner_name, partners_text
from toporank.code import GRAPHS, code_of
from toporank.comparing.contacts import contact_bytes
from toporank.errors import FeatureError, StructureError
from toporank.features.bystanders import not_looked_at
from toporank.features.dssp_nodes import NodeTable
from toporank.features.interface import Interface, Meeting
from toporank.features.pairs import Edges
from toporank.features.registry import FeatureChoice, canonical, node_columns, records
from toporank.features.residue_tables import matrix, read_residues, table_bytes
from toporank.files.graph_file import FORMAT, graph_bytes
from toporank.layout import STAGES
from toporank.structures.complex import Complex
from toporank.structures.dssp import dssp_version
from toporank.structures.identity import structure_format
from toporank.structures.model_shape import shape_of
from toporank.structures.stored import from_bytes, to_bytes
from toporank.structures.surroundings import Surroundings
from toporank.structures.text import read_content

if TYPE_CHECKING:
    from toporank.finding.sketch import Sketch
    from toporank.structures.read import StructureFile

log = logging.getLogger(__name__)

CHANGED = "the file was changed while it was built"
"""Why a decoy has no result whose file is not the one that was planned."""
COMPUTED_IN_PARTS = ("interface", "nodes", "edges")
"""The modules that compute the graph of an interface of a decoy; its topology is that of the whole
decoy.
"""

WITHOUT_MODULE = ("complex", "confidence", "contacts", "label")
"""Kinds of artefacts that are made in one way only."""
PACKAGES = {
    "complex": ("gemmi", "numpy"),
    "confidence": ("gemmi", "numpy"),
    "interface": ("gemmi", "numpy"),
    "contacts": ("numpy",),
    "topology": ("numpy", "scipy", "numba", "gudhi"),
    **dict.fromkeys(("nodes", "edges", "graphs"), ("numpy", "numba")),
    "label": ("numpy", "biopython"),
}
"""The packages whose version each kind of artefact depends on."""


@functools.cache
def _version(package: str) -> str:
    return metadata.version(package)


def code_digest(kind: str, choices: dict[str, FeatureChoice]) -> str:
    """Digest of the code and the packages that a kind of artefact depends on: a key of `PACKAGES`.

    All kinds are made again when a file of `code.GRAPHS` changes, and those of the modules of a
    package when a file of that changes.
    """
    plugin = (
        () if kind in WITHOUT_MODULE else _module(kind, choices).module.package_files
    )
    labels = (
        ("comparing", "building/native_labels.py")
        if kind in ("contacts", "label")
        else ()
    )
    confidence = ("programs", "confidence") if kind == "confidence" else ()
    code = code_of(*GRAPHS, *labels, *confidence, *plugin)
    versions = " ".join(_version(package) for package in PACKAGES[kind])
    return hashlib.sha256(f"{code} {versions}".encode()).hexdigest()[:16]


def _module(kind: str, choices: dict[str, FeatureChoice]) -> FeatureChoice:
    return choices["edges" if kind == "graphs" else kind]


def recipes(choices: dict[str, FeatureChoice]) -> dict[str, list[str]]:
    """Stage → digest of its code, and its module with parameters as canonical JSON.

    Stages without a module are left out.
    """
    recipe_of = {}
    for stage in STAGES:
        if ("edges" if stage == "graphs" else stage) not in choices:
            continue
        module = canonical(_module(stage, choices).record())
        recipe_of[stage] = [code_digest(stage, choices), module]
    return recipe_of


def structure_digest(path: Path) -> str:
    """SHA-256 of the file of a decoy. Raises StructureError when it cannot be read."""
    return hashlib.sha256(read_content(path)).hexdigest()


def scope_of(path: Path, structure_sha256: str, model: int) -> str:
    """The scope of the reuse store with all that was made of a structure.

    Its arguments are those of `DecoyArtefacts`.
    """
    text = f"{structure_sha256} {structure_format(path)} {model}"
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass
class DecoyArtefacts:
    """The artefacts of one decoy: each is taken from the store, or made from the ones before it.

    path : the structure file, structure_sha256 : of its content. dockq : its label, or None.
    partners : of the decoy; empty when each chain is one. part_of : the whole decoy, when this is
    one of its interfaces. model : of the file, from 1; 0 for its only one. content : of the file,
    where it was read before.
    """

    path: Path
    structure_sha256: str
    dockq: float | None
    partners: Partners
    choices: dict[str, FeatureChoice]
    store: Store
    part_of: DecoyArtefacts | None = None
    model: int = 0
    content: bytes | None = field(default=None, repr=False)

    def finish(self, stage: str) -> Entry:
        """The artefact of a stage.

        The interface brings the contacts with it, and the graph brings those of the interfaces.
        """
        entry = getattr(self, stage)
        if stage == "interface":
            # made now, by many jobs at once, and taken from the store to compare decoys
            self.contacts  # noqa: B018
        if stage == "graphs":
            # made now, by many jobs at once, and taken from the store when packed
            self.interfaces  # noqa: B018
        return entry

    def read_file(self) -> None:
        """Make all that is made of the file itself, while it is open.

        A file that cannot be used is the reason of its decoy when that comes to its stages.
        """
        try:
            self.complex  # noqa: B018
            self.in_file  # noqa: B018
        except (OSError, MemoryError):
            raise
        except Exception as error:  # noqa: BLE001 -- the job boundary is in `chunk`
            log.debug("%s: %s", self.path, error)

    def save(self) -> None:
        """Put what was made into the store."""
        self.scope.save()

    @functools.cached_property
    def complex(self) -> Entry:
        """Atoms and residues, as `structures.stored` keeps them.

        For one interface of a decoy they are those of the whole decoy.
        """

        def make() -> tuple[bytes, dict[str, Any]]:
            return to_bytes(self._file.complex(self._place)), {}

        return self.scope.cached(
            {"kind": "complex", "code": code_digest("complex", {})}, make
        )

    @functools.cached_property
    def in_file(self) -> Entry:
        """The confidence in the file, as `confidence.bfactors.InFile` keeps it."""

        def make() -> tuple[bytes, dict[str, Any]]:
            from toporank.confidence.bfactors import InFile  # imports gemmi

            return InFile.of(self._file, self._place).to_bytes(), {}

        key = {"kind": "confidence", "code": code_digest("confidence", {})}
        return self.scope.cached(key, make)

    @property
    def _place(self) -> int | None:
        """Place of the model in the file, from 0; None for the only one."""
        return self.model - 1 if self.model else None

    @property
    def _file(self) -> StructureFile:
        """The structure file. Raises StructureError when it is not the one of this digest."""
        from toporank.structures.read import open_structure  # imports gemmi

        file = open_structure(self.path, self.content)
        if file.sha256 != self.structure_sha256:
            raise StructureError(CHANGED, remedy="run again")
        return file

    @functools.cached_property
    def scope(self) -> Scope:
        """All that was made of this structure."""
        if self.part_of:
            return self.part_of.scope
        return self.store.scope(scope_of(self.path, self.structure_sha256, self.model))

    @functools.cached_property
    def interface(self) -> Entry:
        """Interface residues with the coordinates of their CA."""
        choice = self.choices["interface"]

        def make() -> tuple[bytes, dict[str, Any]]:
            complex_ = self._complex
            interface: Interface = choice(complex_)
            self._interface_residues = interface.index
            x, y, z = complex_.xyz[complex_.ca[interface.index]].T
            columns = {
                "x": x,
                "y": y,
                "z": z,
                "nearest": interface.nearest,
                "contacts": interface.contacts.astype(np.int32),
            }
            partners = partners_text(complex_.partners)
            made_by = {"interface": choice.record(), **_unless_empty(partners)}
            content = table_bytes(complex_, interface.index, columns, made_by)
            facts = {
                "n_chains": len(complex_.chains),
                "n_interface_residues": len(interface.index),
                "partners": partners,
                "meetings": interface.meetings,
                "notes": [*complex_.notes, *not_looked_at(complex_, interface.index)],
                "shape": shape_of(complex_),
            }
            return content, facts

        return self._obtain(
            "interface", _unless_empty(partners_text(self.partners)), make
        )

    @functools.cached_property
    def contacts(self) -> Entry:
        """What the decoys of a target are compared by, as `comparing.contacts` keeps it."""
        partners = _unless_empty(partners_text(self.partners))
        depends_on = {**partners, "code": code_digest("contacts", {})}
        return self.obtain(
            "contacts", depends_on, lambda: (contact_bytes(self._complex), {})
        )

    @functools.cached_property
    def topology(self) -> Entry:
        """Unscaled topology of every interface residue."""
        choice = self.choices["topology"]

        def make() -> tuple[bytes, dict[str, Any]]:
            residues = self._interface_residues
            if self.part_of:
                values = self.part_of.topology_of(
                    [self._complex.residues[r] for r in residues]
                )
            else:
                values = choice(self._complex, residues)
            self._topology_rows = residues, values
            columns = dict(zip(choice.columns, values.T, strict=True))
            return table_bytes(
                self._complex, residues, columns, {"topology": choice.record()}
            ), {}

        return self._obtain("topology", {"interface": self.interface.sha256}, make)

    @functools.cached_property
    def nodes(self) -> Entry:
        """Node features of every interface residue, and why a residue is no node."""
        choice, topology = self.choices["nodes"], self.choices["topology"]

        def make() -> tuple[bytes, dict[str, Any]]:
            residues, of_topology = self._topology_rows
            # the registered function, by default features.contact_nodes.contact_nodes
            nodes: NodeTable = choice(self._complex, residues, of_topology)
            is_node = np.array(nodes.lost) == ""
            self._node_rows = residues[is_node], nodes.values[is_node]
            values = dict(zip(node_columns(self.choices), nodes.values.T, strict=True))
            columns = {"lost": list(nodes.lost), **values}
            made_by = records({"nodes": choice, "topology": topology})
            lost = Counter(filter(None, nodes.lost))
            notes = [
                f"{n} of {len(residues)} interface residues left out: {reason}"
                for reason, n in lost.most_common()
            ]
            return table_bytes(self._complex, residues, columns, made_by), {
                "notes": notes
            }

        depends_on = {
            "topology": self.topology.sha256,
            "columns": topology.record(),
            **self._between,
        }
        if choice.parameters.calls_mkdssp:
            depends_on["dssp"] = dssp_version()
        return self._obtain("nodes", depends_on, make)

    @functools.cached_property
    def edges(self) -> Entry:
        """Edges, apart from the graph: a new label computes no feature."""

        def make() -> tuple[bytes, dict[str, Any]]:
            edges: Edges = self.choices["edges"](self._complex, self._node_rows[0])
            arrays = {"index": edges.index, "attributes": edges.attributes}
            return safetensors.numpy.save(arrays), {}

        return self._obtain(
            "edges", {"nodes": self.nodes.sha256, **self._between}, make
        )

    @functools.cached_property
    def graphs(self) -> Entry:
        """The graph with its label."""
        description = {**graph_metadata(self.choices), **self._between}

        def make() -> tuple[bytes, dict[str, Any]]:
            index, values = self._node_rows
            edges = safetensors.numpy.load(self.edges.content)
            names = [str(self._complex.residues[r]) for r in index]
            metadata = {**description, "residues": names}
            content = graph_bytes(
                values, edges["index"], edges["attributes"], self.dockq, metadata
            )
            return content, {}

        made_of = {
            "nodes": self.nodes.sha256,
            "edges": self.edges.sha256,
            "dockq": self.dockq,
        }
        return self._obtain("graphs", {**made_of, "metadata": description}, make)

    @functools.cached_property
    def interfaces(self) -> dict[str, Entry]:
        """The graph of every two partners that touch, as if they were the only ones.

        The result is name of the interface → graph.

        An interface without a residue that can become a node has no graph.
        """
        meetings = [Meeting(*row) for row in self.interface.facts["meetings"]]
        touching = [meeting for meeting in meetings if meeting.contacts]
        if len(touching) == 1:
            return {touching[0].interface: self.graphs}
        chains = {partner_name(body): body for body in self._complex.bodies}
        graphs = {}
        for meeting in touching:
            pair = chains[meeting.first], chains[meeting.second]
            part = DecoyArtefacts(
                self.path,
                self.structure_sha256,
                None,
                pair,
                self.choices,
                self.store,
                part_of=self,
            )
            with contextlib.suppress(FeatureError):
                graphs[meeting.interface] = part.graphs
        return graphs

    def topology_of(self, residues: list[ResidueId]) -> np.ndarray:
        """Rows of the topology for n of the interface residues, (n, k)."""
        _, values = self._topology_rows
        rows = [self._topology_row[residue] for residue in residues]
        return values[np.array(rows, dtype=int)]

    @functools.cached_property
    def _topology_row(self) -> dict[ResidueId, int]:
        """Row of each interface residue in the topology."""
        index, _ = self._topology_rows
        return {self._complex.residues[r]: row for row, r in enumerate(index)}

    @property
    def _between(self) -> dict[str, str]:
        """The partners, unless each chain is one."""
        return _unless_empty(self.interface.facts["partners"])

    def _obtain(self, kind: str, made_of: dict[str, Any], make: Compute) -> Entry:
        module = _module(kind, self.choices).record()
        code = code_digest(kind, self.choices)
        return self.obtain(kind, {**made_of, "module": module, "code": code}, make)

    def obtain(self, kind: str, depends_on: dict[str, Any], make: Compute) -> Entry:
        """Something made of the atoms of the decoy, and of what `depends_on` describes besides.

        `save` keeps it.
        """
        key = {"kind": kind, "reading": code_digest("complex", {}), **depends_on}
        return self.scope.cached(key, make)

    @functools.cached_property
    def _complex(self) -> Complex:
        if self.part_of is None:
            return self._atoms.with_partners(self.partners)
        reach = max(self.choices[name].parameters.reach for name in COMPUTED_IN_PARTS)
        chains = list(itertools.chain.from_iterable(self.partners))
        return self.part_of._surroundings.around(chains, reach).with_partners(
            self.partners
        )

    @functools.cached_property
    def _surroundings(self) -> Surroundings:
        return Surroundings.of(self._atoms)

    @functools.cached_property
    def _atoms(self) -> Complex:
        return from_bytes(self.complex.content)

    # A stage that runs sets these. If its artefact came from the store, they are read from that.

    @functools.cached_property
    def _interface_residues(self) -> np.ndarray:
        """Residue index of the interface, int, (N,)."""
        return read_residues(self.interface.content, self._complex)[0]

    @functools.cached_property
    def _topology_rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Residue index, int, (N,), and topology, (N, k), of the interface."""
        index, table = read_residues(self.topology.content, self._complex)
        return index, matrix(table, self.choices["topology"].columns)

    @functools.cached_property
    def _node_rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Residue index, int, (n,), and features, (n, k), of the rows that are nodes."""
        index, table = read_residues(self.nodes.content, self._complex)
        is_node = np.array(table["lost"]) == ""
        return index[is_node], matrix(table, node_columns(self.choices))[is_node]


def keep_file(path: Path, content: bytes, sketch: Sketch, store: Path) -> None:
    """Put what a structure file holds into a store, so that it need not be opened again.

    The decoys whose atoms cannot be used come out with the reason when it is their turn.

    Parameters
    ----------
    path, content, sketch : of the file
    store : folder of the reuse store
    """
    for model in sketch.decoys:
        made = DecoyArtefacts(
            path,
            sketch.content,
            None,
            (),
            {},
            Store(store),
            model=model,
            content=content,
        )
        made.read_file()
        made.save()


def _unless_empty(partners: str) -> dict[str, str]:
    return {"partners": partners} if partners else {}


def graph_metadata(choices: dict[str, FeatureChoice]) -> dict[str, Any]:
    """Feature modules with parameters, columns and format version, as graphs have them."""
    columns = {
        "node_columns": node_columns(choices),
        "edge_columns": choices["edges"].columns,
    }
    return {"format": FORMAT, "features": records(choices), **columns}
