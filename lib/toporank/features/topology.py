"""Persistent homology of the atoms around each interface residue.

For each residue and each set of elements: H0 of the Vietoris–Rips filtration (its finite death
times are the edge lengths of a minimum spanning tree) and H1 of the alpha complex (filtration
values are squared radii, as GUDHI gives them), each summarised by five statistics (Han et al.
2025).

There are two engines for the same numbers: `toporank_kernels.persistence`, and SciPy with GUDHI,
the reference, which also works out the few clouds that the former leaves undecided. Each is
imported only when needed: an import takes longer than many decoys.
"""

from __future__ import annotations

import itertools
import re
from typing import Literal

import numpy as np
from pydantic import Field, field_validator

from toporank.features.registry import Angstrom, Parameters, register
from toporank.structures.complex import Complex

STATISTICS = ("sum", "min", "max", "mean", "std")
H1_QUANTITIES = ("length", "birth", "death")


class Persistence(Parameters):
    """Parameters of `topology/persistence/v1`."""

    radius: Angstrom = Field(8.0, le=30)
    """Atoms within this distance of the residue's CA, itself included, form its cloud."""
    element_sets: tuple[str, ...] = Field(
        ("C", "N", "O", "CN", "CO", "NO", "CNO"), min_length=1
    )
    """One pair of diagrams for each: the letters are the elements whose atoms take part."""
    h0_max_death: Angstrom = 8.0
    """H0 bars that die later are left out."""
    min_persistence: float = Field(
        0.01, ge=0, json_schema_extra={"unit": "Å for H0, Å² for H1"}
    )
    """Shorter bars are left out."""
    atoms: Literal["protein", "all"] = "protein"
    """`protein`: atoms of amino acids only. `all`: water, ions and ligands too, as published."""
    precision: Literal["float64", "float32"] = "float64"
    """`float32` rounds coordinates to single precision first, as published; it changes values by
    about 1e-4 and serves comparison only.
    """
    engine: Literal["compiled", "gudhi"] = "compiled"
    """`compiled` is about 17 times as fast; `gudhi` is the reference. Both give the same numbers
    to 1e-9.
    """

    @field_validator("element_sets")
    @classmethod
    def _letters(cls, sets: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(sets)) < len(sets) or not all(
            re.fullmatch("[A-Z]+", letters) for letters in sets
        ):
            raise ValueError("sets are made of capital letters and each is given once")
        return sets


class NoTopology(Parameters):
    """No parameters."""


@register(
    "topology/none/v1",
    alias="none",
    summary="no topology columns",
    parameters=NoTopology,
    columns=lambda parameters: [],
)
def no_topology(
    parameters: NoTopology, complex_: Complex, residues: np.ndarray
) -> np.ndarray:
    """Shape (N, 0) for `residues`, int, shape (N,)."""
    return np.zeros((len(residues), 0))


def columns(parameters: Persistence) -> list[str]:
    """Column names: all H0 columns, then all H1 columns, element sets in the given order."""
    h0 = itertools.product(["h0"], parameters.element_sets, ["death"], STATISTICS)
    h1 = itertools.product(["h1"], parameters.element_sets, H1_QUANTITIES, STATISTICS)
    return ["_".join(parts) for parts in itertools.chain(h0, h1)]


@register(
    "topology/persistence/v1",
    alias="persistence",
    summary="H0 (Rips) and H1 (alpha) statistics of the atoms around each interface residue",
    parameters=Persistence,
    columns=columns,
)
def persistence_topology(
    parameters: Persistence, complex_: Complex, residues: np.ndarray
) -> np.ndarray:
    """Describe the topology of the atoms around each residue.

    Parameters
    ----------
    parameters : Persistence
    complex_ : Complex
    residues : int, shape (N,), indices of residues

    Returns
    -------
    float64, shape (N, 20 × element sets), unscaled, Å for H0 and Å² for H1

    Examples
    --------
    >>> from toporank.layout import repository
    >>> example = repository() / "resources/example"
    >>> from toporank.structures.read import read_complex
    >>> complex_ = read_complex(example / "decoys/1PPE/near1.pdb.gz")
    >>> residues = complex_.ca.nonzero()[0][:3]
    >>> persistence_topology(Persistence(), complex_, residues).shape
    (3, 140)
    """
    usable = (
        complex_.is_protein[complex_.residue_of]
        if parameters.atoms == "protein"
        else slice(None)
    )
    xyz = complex_.xyz[usable].astype(parameters.precision).astype(np.float64)
    elements = complex_.elements[usable]
    centres = complex_.xyz[complex_.ca[residues]]
    compute = _reference if parameters.engine == "gudhi" else _compiled
    return compute(parameters, xyz, elements, centres)


def _compiled(
    parameters: Persistence, xyz: np.ndarray, elements: np.ndarray, centres: np.ndarray
) -> np.ndarray:
    """Topology around each centre by `toporank_kernels.persistence`."""
    from toporank_kernels.persistence import describe_clouds, members_of_balls

    start, member = members_of_balls(xyz, centres, parameters.radius)
    values, _ = describe_clouds(
        xyz,
        elements,
        parameters.element_sets,
        start,
        member,
        max_death=parameters.h0_max_death,
        min_persistence=parameters.min_persistence,
        in_doubt=h1_bars,
    )
    return values


def _reference(
    parameters: Persistence, xyz: np.ndarray, elements: np.ndarray, centres: np.ndarray
) -> np.ndarray:
    """Topology around each centre by SciPy and GUDHI."""
    from scipy.spatial import cKDTree

    rows = []
    for atoms in cKDTree(xyz).query_ball_point(centres, parameters.radius):
        atoms = np.array(sorted(atoms))
        h0, h1 = [], []
        for letters in parameters.element_sets:
            points = xyz[atoms[np.isin(elements[atoms], np.array(list(letters), "S1"))]]
            h0.append(
                _statistics(
                    h0_deaths(
                        points, parameters.h0_max_death, parameters.min_persistence
                    )
                )
            )
            bars = h1_bars(points, parameters.min_persistence)
            birth, death = bars[:, 0], bars[:, 1]
            h1 += [_statistics(death - birth), _statistics(birth), _statistics(death)]
        rows.append(np.concatenate(h0 + h1))
    return np.array(rows)


def h0_deaths(
    points: np.ndarray, max_death: float = np.inf, min_persistence: float = 0.0
) -> np.ndarray:
    """Finite H0 death times in Å of the Rips filtration of points, (n, 3) → (≤ n - 1,), rising.

    They are the edge lengths of the Euclidean minimum spanning tree, which are the merge heights of
    single linkage.
    """
    from scipy.cluster.hierarchy import linkage

    if len(points) < 2:
        return np.zeros(0)
    deaths = linkage(points, method="single")[:, 2]
    return deaths[(deaths <= max_death) & (deaths >= min_persistence)]


def h1_bars(points: np.ndarray, min_persistence: float = 0.0) -> np.ndarray:
    """H1 bars of the alpha complex of points, by GUDHI.

    Parameters
    ----------
    points : float64, shape (n, 3), Å
    min_persistence : Å², shorter bars are left out

    Returns
    -------
    float64, shape (bars, 2), birth and death in Å²: squared radii

    Examples
    --------
    >>> square = [[0, 0, 0], [2, 0, 0], [2, 2, 0], [0, 2, 0]]
    >>> h1_bars(np.array(square, dtype=float)).round(3)  # a loop, born at 1 Å, filled at √2 Å
    array([[1., 2.]])
    """
    import gudhi

    if (
        len(points) < 4
    ):  # no tetrahedron: the 3-D alpha complex is empty by the published convention
        return np.zeros((0, 2))
    tree = gudhi.AlphaComplex(points=points).create_simplex_tree()
    tree.compute_persistence()
    bars = np.asarray(
        tree.persistence_intervals_in_dimension(1), dtype=np.float64
    ).reshape(-1, 2)
    return bars[bars[:, 1] - bars[:, 0] >= min_persistence]


def _statistics(values: np.ndarray) -> np.ndarray:
    """sum, min, max, mean and population standard deviation; zeros when there are no values."""
    if len(values) == 0:
        return np.zeros(len(STATISTICS))
    return np.array(
        [values.sum(), values.min(), values.max(), values.mean(), values.std()]
    )
