"""The quality, by natives, of contacts of labelled decoys and of residues.

Contacts are in the order of the edges of their graphs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from toporank.building.chunks.chunk import making
from toporank.building.chunks.ledger import LedgerRow
from toporank.building.chunks.plan import read_chunks
from toporank.building.chunks.store import Store
from toporank.building.native_labels import Labelling, read_labelled
from toporank.code import code_of
from toporank.comparing.native.local import (
    expected_ca,
    local_quality,
    native_contacts,
    right_residues,
)
from toporank.comparing.votes import pair_named
from toporank.files.graph_file import Graph
from toporank.structures.complex import Complex
from toporank.structures.identity import DecoyKey


class LocalQualities:
    """What the natives of a data set say of the edges of the graphs of its decoys.

    It is empty without natives.

    chunks : all of the data set. fates : of its decoys in the last stage. natives : by target.
    """

    def __init__(
        self,
        dataset: str,
        chunks: Iterable[str],
        fates: Mapping[DecoyKey, LedgerRow],
        natives: Mapping[str, Path],
        store: Store,
    ):
        labelled = list(chunks) if natives else []
        self._plan = read_chunks(dataset, labelled)
        self._counterparts = {
            row.key: row.counterparts for row in read_labelled(dataset, labelled)
        }
        self._fates = fates
        self._labelling = Labelling(natives, store)
        self._store = store
        self._code = code_of(
            "chains", "structures", "comparing", "building/local_quality.py"
        )

    def digest(self, key: DecoyKey) -> str:
        """Of the labels of a decoy by its native, target and name, and of this code.

        It is empty where the labels of the decoy by its native say nothing.
        """
        counterparts = self._counterparts.get(key)
        if not counterparts:
            return ""
        return hashlib.sha256(f"{counterparts} {self._code}".encode()).hexdigest()

    def of(self, key: DecoyKey, graph: Graph) -> np.ndarray:
        """Local quality of the edges of the graph of a labelled decoy: float32, (E,).

        NaN where it is unknown.
        """
        complex_, counterparts, native = self._compared(key)
        expected = expected_ca(counterparts, native)
        place_of = complex_.index_of_names()
        nodes = np.array([place_of[name] for name in graph.metadata["residues"]])
        return local_quality(
            complex_.xyz[complex_.ca[nodes]], expected[nodes], graph.edge_index
        )

    def truth(
        self, key: DecoyKey
    ) -> tuple[dict[str, bool], frozenset[tuple[str, str]]] | None:
        """`native.local.right_residues` of a labelled decoy, and the contacts of its native.

        None without a label.

        Residues have names such as `A:52A`, contacts two of them as from `votes.pair_named`.
        """
        if not self.digest(key):
            return None
        complex_, counterparts, native = self._compared(key)
        contacts = native_contacts(complex_, counterparts, native)
        names = [*map(str, complex_.residues)]
        is_right = right_residues(complex_, counterparts, contacts)
        residues = {names[place]: right for place, right in is_right.items()}
        pairs = [pair_named(names[i], names[j]) for i, j in contacts.tolist()]
        return residues, frozenset(pairs)

    def _compared(self, key: DecoyKey) -> tuple[Complex, np.ndarray, Complex]:
        """A decoy with its partners, what its residues are in the native, and the native."""
        member, digest = self._plan[key], self._fates[key].structure_sha256
        made = making(member, digest, {}, self._store)
        complex_ = made["complex"]
        counterparts = self._labelling.counterparts(member, digest)
        return complex_, counterparts, self._labelling.native(member)
