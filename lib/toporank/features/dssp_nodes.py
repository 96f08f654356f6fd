"""Nodes of `nodes/dssp_topology/v1`.

They have accessibility, backbone angles, secondary structure, residue type and topology. The
default, `contact_nodes`, puts ten columns before these.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from toporank.errors import FeatureError
from toporank.features.registry import Parameters, Scaling, min_max, register, scaled
from toporank.lookup import places_of
from toporank.structures.complex import STANDARD, Complex
from toporank.structures.dssp import Dssp, builtin_dssp, run_dssp

STATE_COLUMNS = "HBEGITS-"
"""DSSP's eight states; every other letter (mkdssp 4 has P, poly-proline) counts as `-`."""
AMINO_ACIDS = "ACDEFGHIKLMNPQRSTVWY"

REMEDY = "each residue needs its N, CA, C and O; rebuild them or leave the model out"

DSSP_REACH = 20.0
"""Å. States of a residue depend on bonds with residues whose CA is within 9 Å, and these on others
within 9 Å of them; accessibility depends on atoms within 6.6 Å.
"""
MAX_ACCESSIBILITY = {
    "A": 106,
    "R": 248,
    "N": 157,
    "D": 163,
    "C": 135,
    "Q": 198,
    "E": 194,
    "G": 84,
    "H": 184,
    "I": 169,
    "L": 164,
    "K": 205,
    "M": 188,
    "F": 197,
    "P": 136,
    "S": 130,
    "T": 142,
    "W": 227,
    "Y": 222,
    "V": 142,
}
"""Å², the largest accessibility of each residue type (Rost & Sander 1994, Proteins 20:216)."""


@dataclass(frozen=True)
class NodeTable:
    """One row for each interface residue; a row that cannot become a node says why.

    Attributes
    ----------
    values : float64, shape (N, k); rows of lost residues are zero
    lost : length N, `""` for a node, otherwise the reason
    """

    values: np.ndarray
    lost: tuple[str, ...]

    @property
    def is_node(self) -> np.ndarray:
        """Which rows are nodes, bool, shape (N,)."""
        return np.array(self.lost) == ""


class DsspTopology(Parameters):
    """Parameters of `nodes/dssp_topology/v1`."""

    scaling: Scaling = "training_set"
    """`per_decoy`: φ, ψ (over all residues of the complex) and topology (over its interface) are
    scaled to [0, 1] within each decoy, as published. `training_set`: by mean and standard
    deviation of the training graphs, kept in the checkpoint. `none`: degrees and raw topology.
    """
    modified: Literal["parent", "lost"] = "parent"
    """`parent`: a modified or renamed amino acid counts as its parent (`MSE` as `MET`, `HIE` as
    `HIS`). `lost`: it is not a node, and DSSP does not see it, as published.
    """
    orientation: Literal["file", "principal_axes"] = "principal_axes"
    """How the complex lies when accessibility is computed, which changes with it by 1 Å² and
    more; states and angles do not. `file`: as in the file, as published. `principal_axes`:
    always the same, from the shape of the complex.
    """
    dssp: Literal["builtin", "mkdssp"] = "builtin"
    """`builtin`: accessibility, φ, ψ and states by code of this project, about 30 times as fast.
    `mkdssp`: by that program, which must be installed. docs/features.md shows how closely they
    agree.
    """

    @property
    def calls_mkdssp(self) -> bool:
        """Whether mkdssp must be installed."""
        return self.dssp == "mkdssp"

    @property
    def reach(self) -> float:
        """How far from the interface the module looks, in Å."""
        return float("inf") if self.scaling == "per_decoy" else DSSP_REACH


def columns(parameters: DsspTopology) -> list[str]:
    """Names of this module's own columns; the topology columns follow them."""
    states = [f"ss_{state}" for state in STATE_COLUMNS.replace("-", "")]
    types = [f"aa_{letter}" for letter in AMINO_ACIDS]
    return ["rasa", "phi", "psi", *states, "ss_none", *types, "aa_unknown"]


@register(
    "nodes/dssp_topology/v1",
    alias="dssp_topology",
    summary=(
        "DSSP accessibility, φ, ψ, 8-state structure and residue type, then the topology columns"
    ),
    parameters=DsspTopology,
    columns=columns,
)
def dssp_topology_nodes(
    parameters: DsspTopology,
    complex_: Complex,
    residues: np.ndarray,
    topology: np.ndarray,
) -> NodeTable:
    """Make the node table of a complex; DSSP sees all its protein residues.

    Parameters
    ----------
    parameters : DsspTopology
    complex_ : Complex
    residues : int, shape (N,), the interface
    topology : float64, shape (N, t), unscaled, from the topology stage

    Returns
    -------
    NodeTable
        with values of shape (N, 32 + t)

    Raises
    ------
    FeatureError
        when DSSP reports none of the interface residues

    Examples
    --------
    >>> from toporank.layout import repository
    >>> example = repository() / "resources/example"
    >>> from toporank.structures.read import read_complex
    >>> complex_ = read_complex(example / "decoys/1PPE/near1.pdb.gz")
    >>> residues = np.arange(5)
    >>> topology = np.zeros((5, 140))
    >>> table = dssp_topology_nodes(DsspTopology(dssp="builtin"), complex_, residues, topology)
    >>> table.values.shape
    (5, 172)
    """
    seen = without_modified(complex_) if parameters.modified == "lost" else complex_
    if parameters.orientation == "principal_axes":
        seen = along_principal_axes(seen, residues)
    dssp = (
        run_dssp(seen) if parameters.dssp == "mkdssp" else builtin_dssp(seen, residues)
    )
    return assemble_nodes(parameters, complex_, residues, topology, dssp)


class TopologyOnly(Parameters):
    """Parameters of `nodes/topology_only/v1`."""

    scaling: Scaling = "training_set"
    """As of `nodes/dssp_topology/v1`."""


@register(
    "nodes/topology_only/v1",
    alias="topology_only",
    summary="the topology columns and nothing else",
    parameters=TopologyOnly,
    columns=lambda parameters: [],
)
def topology_only_nodes(
    parameters: TopologyOnly,
    complex_: Complex,
    residues: np.ndarray,
    topology: np.ndarray,
) -> NodeTable:
    """Every interface residue is a node. topology : (N, t), unscaled."""
    return NodeTable(scaled(topology, parameters.scaling), ("",) * len(residues))


def without_modified(complex_: Complex) -> Complex:
    """The complex with protein residues of the 20 names only.

    DSSP leaves out the others by itself.
    """
    parents = np.where(complex_.is_modified, "", complex_.parents)
    return replace(complex_, parents=tuple(parents.tolist()))


def along_principal_axes(complex_: Complex, residues: np.ndarray) -> Complex:
    """Return the complex with the mean of its CA atoms at 0, principal axes along x, y and z.

    The axes are the eigenvectors of the second moments Σ (r − r̄)(r − r̄)ᵀ. Each points to where
    the CA atoms reach farther out, the sign of Σ ((r − r̄) · axis)³; the third completes a
    right-handed system. Only partners of the interface count, so that a chain far away turns
    nothing.

    Parameters
    ----------
    complex_ : Complex
    residues : int, shape (N,), the interface

    Returns
    -------
    Complex
    """
    of_interface = np.isin(complex_.body_of, complex_.body_of[residues])
    ca = complex_.xyz[complex_.ca[(complex_.ca >= 0) & of_interface]]
    centre = ca.mean(axis=0)
    _, axes = np.linalg.eigh((ca - centre).T @ (ca - centre))
    axes *= np.where((((ca - centre) @ axes) ** 3).sum(axis=0) < 0, -1.0, 1.0)
    axes[:, 0] = np.cross(axes[:, 1], axes[:, 2])
    return replace(complex_, xyz=(complex_.xyz - centre) @ axes)


def assemble_nodes(
    parameters: DsspTopology,
    complex_: Complex,
    residues: np.ndarray,
    topology: np.ndarray,
    dssp: Dssp,
) -> NodeTable:
    """Put the columns together; see `dssp_topology_nodes`."""
    letters = [STANDARD.get(complex_.parents[r], "unknown") for r in residues]
    reported = dssp.reported[residues]
    lost = [_why_lost(*row) for row in zip(reported, letters, strict=True)]
    if all(lost):
        raise FeatureError(
            f"none of the {len(lost)} interface residues can become a node: {lost[0]}",
            remedy=REMEDY,
        )
    largest = np.array([MAX_ACCESSIBILITY.get(letter, np.inf) for letter in letters])
    relative_accessibility = np.minimum(dssp.accessibility[residues] / largest, 1.0)
    all_angles = np.stack([dssp.phi, dssp.psi], axis=1)
    angles = all_angles[residues]
    if parameters.scaling == "per_decoy":
        angles = min_max(angles, all_angles[dssp.reported])
    values = np.concatenate(
        [
            relative_accessibility[:, None],
            angles,
            one_hot(
                [state.decode() for state in dssp.structure[residues]], STATE_COLUMNS
            ),
            one_hot(letters, [*AMINO_ACIDS, "unknown"]),
            scaled(topology, parameters.scaling),
        ],
        axis=1,
    )
    values[np.array(lost) != ""] = 0.0
    return NodeTable(values, tuple(lost))


def _why_lost(reported: bool, letter: str) -> str:
    """Why an interface residue cannot be a node; empty when it can."""
    if not reported:
        return "not reported by DSSP (incomplete backbone, or modified?)"
    return (
        ""
        if letter in MAX_ACCESSIBILITY
        else "residue type without a reference accessibility"
    )


def one_hot(values: list[str], alphabet: str | list[str]) -> np.ndarray:
    """float64, shape (len(values), len(alphabet)).

    A value outside the alphabet counts as its last entry.
    """
    position = places_of(alphabet)
    column = [position.get(value, len(alphabet) - 1) for value in values]
    return np.eye(len(alphabet))[column]
