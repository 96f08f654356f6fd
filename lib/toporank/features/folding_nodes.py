"""Nodes that also know what inverse folding says of a residue: how well its amino acid fits the backbone around it."""

from __future__ import annotations

import numpy as np

from toporank.features.contact_nodes import columns as contact_columns
from toporank.features.contact_nodes import contact_nodes
from toporank.features.inverse_folding.likelihoods import Folding, folding
from toporank.features.inverse_folding.parameters import WIDTH, weights_file
from toporank.features.nodes import DsspTopology, NodeTable
from toporank.features.registry import register
from toporank.structures.complex import Complex

FOLDING = tuple(f"folding_{name}" for name in Folding._fields[2:-1])
EMBEDDED = tuple(f"embedding_{i}" for i in range(2 * WIDTH))


@register(
    "nodes/folding/v1",
    alias="folding",
    summary="those of nodes/contacts/v1, and what inverse folding says of each residue in the complex and apart",
    parameters=DsspTopology,
    extends="nodes/contacts/v1",
    ready=weights_file,
    columns=lambda parameters: [*FOLDING, *contact_columns(parameters)],
)
def folding_nodes(parameters: DsspTopology, complex_: Complex, residues: np.ndarray, topology: np.ndarray) -> NodeTable:
    """Node table of a complex: six columns before those of `contact_nodes.contact_nodes`, which takes the same.

    `folding_contacts`, residues of other partners that a residue touches; `folding_together` and `folding_apart`, the
    logarithm of the probability of its amino acid in the complex and in its partner alone; `folding_rank`, how many
    amino acids are more probable in the complex; `folding_entropy_together` and `folding_entropy_apart`, in nats. All
    are 0 where a residue is not standard or lacks backbone atoms. Raises ConfigError without the weights.
    """
    return _with_columns(contact_nodes(parameters, complex_, residues, topology), complex_, residues, n_embedded=0)


@register(
    "nodes/folding_embedding/v1",
    alias="folding_embedding",
    summary="those of nodes/folding/v1, and what the encoder of inverse folding sees of each residue",
    parameters=DsspTopology,
    extends="nodes/folding/v1",
    ready=weights_file,
    columns=lambda parameters: [*FOLDING, *EMBEDDED, *contact_columns(parameters)],
)
def embedding_nodes(
    parameters: DsspTopology, complex_: Complex, residues: np.ndarray, topology: np.ndarray
) -> NodeTable:
    """Node table of a complex: 256 columns behind the first six of `folding_nodes`, which takes the same.

    `embedding_0` to `embedding_127` are the encoder's vector of the residue in the complex, the others its difference
    to that in its partner alone.
    """
    table = contact_nodes(parameters, complex_, residues, topology)
    return _with_columns(table, complex_, residues, n_embedded=len(EMBEDDED))


def _with_columns(table: NodeTable, complex_: Complex, residues: np.ndarray, n_embedded: int) -> NodeTable:
    """The columns of inverse folding before those of a table."""
    said = folding(complex_, residues=residues)
    place = np.full(len(complex_.residues), -1)
    place[residues] = np.arange(len(residues))
    values = np.zeros((len(residues), len(FOLDING) + n_embedded))
    values[place[said.residue]] = np.column_stack([*said[2:-1], said.embedding[:, :n_embedded]])
    values[[bool(reason) for reason in table.lost]] = 0.0
    return NodeTable(np.concatenate([values, table.values], axis=1), table.lost)
