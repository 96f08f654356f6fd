"""Compiled DSSP on shapes whose answer is known without any program."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from toporank_kernels.kabsch_sander import accessibility, secondary_structure

BONDS = {"N": (1.329, 116.6), "CA": (1.458, 121.7), "C": (1.525, 111.0)}
"""Å from the atom before, and degrees between this bond and the one before."""


def placed(a, b, c, length: float, angle: float, torsion: float) -> np.ndarray:
    """The point so far from c, at this angle to b and this dihedral angle to a."""
    angle, torsion = np.radians([angle, torsion])
    along = (c - b) / np.linalg.norm(c - b)
    normal = np.cross(b - a, along)
    normal /= np.linalg.norm(normal)
    around = np.cos(torsion) * np.cross(normal, along) + np.sin(torsion) * normal
    return c + length * (np.sin(angle) * around - np.cos(angle) * along)


def chain_of(phi: float, psi: float, n: int) -> np.ndarray:
    """Backbone of n residues with these angles throughout, shape (n, 4, 3): ideal bonds, flat
    peptides.
    """
    trace = [np.zeros(3), np.array([1.458, 0.0, 0.0]), np.array([2.0, 1.42, 0.0])]
    for _ in range(n):
        for name, torsion in (("N", psi), ("CA", 180.0), ("C", phi)):
            trace.append(placed(*trace[-3:], *BONDS[name], torsion))
    trace = np.array(trace).reshape(n + 1, 3, 3)
    bisector = [
        (c - ca) / np.linalg.norm(c - ca) + (c - after) / np.linalg.norm(c - after)
        for (_, ca, c), (after, _, _) in itertools.pairwise(trace)
    ]
    oxygen = [
        c + 1.231 * v / np.linalg.norm(v)
        for c, v in zip(trace[:, 2], bisector, strict=False)
    ]
    return np.concatenate([trace[:n], np.array(oxygen)[:, None]], axis=1)


def turned(strand: np.ndarray, k: int) -> np.ndarray:
    """The strand turned by 180° so that N–H of its residue k and C=O of the copy's face each other,
    and vice versa.
    """
    along = strand[k + 2, 1] - strand[k - 2, 1]
    along /= np.linalg.norm(along)
    side = strand[k, 3] - strand[k, 2]
    side -= side @ along * along
    side /= np.linalg.norm(side)
    axis, centre = (
        np.cross(along, side),
        0.5 * (strand[k, 0] + strand[k, 3]) + 1.45 * side,
    )
    return 2 * (centre + ((strand - centre) @ axis)[..., None] * axis) - strand


def states(*chains: np.ndarray, proline: tuple[int, ...] = ()) -> str:
    """Letters of chains given by their backbones."""
    backbone = np.concatenate(chains)
    number = np.repeat(np.arange(len(chains)), [len(c) for c in chains])
    return b"".join(
        secondary_structure(backbone, number, np.isin(np.arange(len(number)), proline))[
            0
        ]
    ).decode()


# ---- angles and energies -------------------------------------------------------------------------


def test_phi_and_psi_are_those_the_chain_was_built_with_and_none_at_its_ends():
    _, phi, psi = secondary_structure(
        chain_of(-65.0, 140.0, 5), np.zeros(5, int), np.zeros(5, bool)
    )
    np.testing.assert_allclose(phi, [360.0, -65, -65, -65, -65], atol=1e-9)
    np.testing.assert_allclose(psi, [140.0, 140, 140, 140, 360], atol=1e-9)


# ---- helices and turns ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("angles", "letter"), [((-57, -47), "H"), ((-49, -26), "G"), ((-57, -70), "I")]
)
def test_an_ideal_helix_is_one_except_for_its_first_and_last_residue(angles, letter):
    assert states(chain_of(*angles, 14)) == f"-{letter * 12}-"


def test_a_single_turn_is_t_and_a_chain_too_short_for_one_is_bent():
    assert states(chain_of(-57, -47, 5)) == "-TTT-"
    assert states(chain_of(-57, -47, 4)) == "----"


def test_a_helix_ends_where_prolines_have_no_hydrogen_to_give():
    """The last bond is from residue 9 to residue 5; a chain that goes on like this is bent."""
    assert (
        states(chain_of(-57, -47, 20), proline=tuple(range(10, 20)))
        == "-HHHHHHHHSSSSSSSSS--"
    )


# ---- strands -------------------------------------------------------------------------------------


def test_two_strands_side_by_side_are_a_sheet():
    strand = chain_of(-120, 120, 9)
    assert states(strand, turned(strand, 4)) == "-EEEEEEE-" * 2
    assert states(strand, turned(strand, 4) + 4.0) == "-" * 18


# ---- accessible surface --------------------------------------------------------------------------


def surface(*residues: list[tuple[str, float]]) -> np.ndarray:
    """Accessible surface of residues of (name, x) atoms on a line."""
    atoms = [atom for residue in residues for atom in residue]
    start = np.cumsum([0, *map(len, residues)])
    xyz, names = (
        np.array([[x, 0.0, 0.0] for _, x in atoms]),
        np.array([name.encode() for name, _ in atoms]),
    )
    return accessibility(xyz, names, start, np.arange(len(residues)))


RADII = {"N": 1.65, "CA": 1.87, "C": 1.76, "O": 1.4, "CB": 1.8, "SG": 1.8, "OXT": 1.8}


@pytest.mark.parametrize("name", RADII)
def test_an_atom_alone_has_the_sphere_that_water_rolls_on(name):
    assert surface([(name, 0.0)]) == pytest.approx(4 * np.pi * (RADII[name] + 1.4) ** 2)


@pytest.mark.parametrize("distance", [0.5, 2.0, 4.0, 6.0])
def test_of_two_atoms_each_covers_a_cap_of_the_other(distance):
    reach = 3.2
    cap = 2 * np.pi * reach * (reach - distance / 2)
    np.testing.assert_allclose(
        surface([("CB", 0.0)], [("CG", distance)]),
        4 * np.pi * reach**2 - cap,
        atol=4 * np.pi * reach**2 / 100,
    )


def test_the_surface_of_a_residue_is_that_of_its_atoms_and_what_is_inside_has_none():
    assert surface([("CB", 0.0), ("CG", 20.0)]) == pytest.approx(2 * 4 * np.pi * 3.2**2)
    assert surface([("O", 0.1)], [("CA", 0.0)]).tolist() == pytest.approx(
        [0.0, 4 * np.pi * 3.27**2]
    )


@pytest.mark.parametrize(("apart", "share"), [(0.0, 1.0), (0.009, 1.0), (0.011, 0.5)])
def test_atoms_in_one_place_do_not_cover_each_other(apart, share):
    np.testing.assert_allclose(
        surface([("CB", 0.0)], [("CB", apart)]), share * 4 * np.pi * 3.2**2, rtol=0.02
    )


def test_no_residues_have_no_state_and_no_surface():
    none = np.zeros(0, int)
    assert states(np.zeros((0, 4, 3))) == ""
    assert accessibility(
        np.zeros((0, 3)), np.zeros(0, "S8"), np.zeros(1, int), none
    ).shape == (0,)
