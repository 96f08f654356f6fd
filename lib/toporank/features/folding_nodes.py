"""Nodes that also know from inverse folding how well a residue's amino acid fits the backbone around it."""

from __future__ import annotations

import numpy as np

from toporank.features.contact_nodes import columns as contact_columns
from toporank.features.contact_nodes import contact_nodes
from toporank.features.inverse_folding import Folding, check_installed, folding
from toporank.features.nodes import DsspTopology, NodeTable
from toporank.features.registry import register
from toporank.structures.complex import Complex

FOLDING = tuple(f"folding_{name}" for name in Folding._fields[2:])


@register(
    "nodes/folding/v1",
    alias="folding",
    summary="those of nodes/contacts/v1, and likelihoods of inverse folding in the complex and apart",
    parameters=DsspTopology,
    ready=check_installed,
    columns=lambda parameters: [*FOLDING, *contact_columns(parameters)],
)
def folding_nodes(parameters: DsspTopology, complex_: Complex, residues: np.ndarray, topology: np.ndarray) -> NodeTable:
    """Node table of a complex: six columns before those of `contact_nodes.contact_nodes`, which takes the same.

    `folding_contacts`, residues of other partners that a residue touches; `folding_together` and `folding_apart`, the
    logarithm of the probability of its amino acid in the complex and in its partner alone; `folding_rank`, how many
    amino acids are more probable in the complex; `folding_entropy_together` and `folding_entropy_apart`, in nats. All
    are 0 where a residue is not standard or lacks backbone atoms. Raises ConfigError without the package.
    """
    table = contact_nodes(parameters, complex_, residues, topology)
    likelihoods = folding(complex_, residues)
    place = np.full(len(complex_.residues), -1)
    place[residues] = np.arange(len(residues))
    values = np.zeros((len(residues), len(FOLDING)))
    values[place[likelihoods.residue]] = np.column_stack(likelihoods[2:])
    values[np.array(table.lost) != ""] = 0.0
    return NodeTable(np.concatenate([values, table.values], axis=1), table.lost)
