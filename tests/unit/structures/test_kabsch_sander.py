"""Compiled DSSP on shapes whose answer is known without any program."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from toporank.structures.kabsch_sander import accessibility, secondary_structure
from toporank.structures.kabsch_sander.hydrogen_bonds import dihedral, energy, segments
from toporank.structures.kabsch_sander.states import ANTI, APART, PARALLEL, bridge, join_bulges

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
        c + 1.231 * v / np.linalg.norm(v) for c, v in zip(trace[:, 2], bisector, strict=False)
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
    axis, centre = np.cross(along, side), 0.5 * (strand[k, 0] + strand[k, 3]) + 1.45 * side
    return 2 * (centre + ((strand - centre) @ axis)[..., None] * axis) - strand


def states(*chains: np.ndarray, proline: tuple[int, ...] = ()) -> str:
    """Letters of chains given by their backbones."""
    backbone = np.concatenate(chains)
    number = np.repeat(np.arange(len(chains)), [len(c) for c in chains])
    return b"".join(
        secondary_structure(backbone, number, np.isin(np.arange(len(number)), proline))[0]
    ).decode()


# ---- angles and energies -------------------------------------------------------------------------


@pytest.mark.parametrize("degrees", [-179.0, -90.0, -57.0, 0.0, 33.3, 90.0, 180.0])
def test_a_dihedral_angle_is_that_of_the_last_bond_seen_along_the_one_before(degrees):
    a, b, c = np.array([[1.0, 0, 0], [0, 0, 0], [0, 0, 1.5]])
    d = c + np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees)), 0.7])
    assert dihedral(a, b, c, d) == pytest.approx(degrees)


def test_where_atoms_are_on_a_line_there_is_no_dihedral_angle():
    line = np.array([[0.0, 0, 0], [1, 0, 0], [2, 0, 0], [2, 1, 0]])
    assert dihedral(*line) == dihedral(*line[::-1]) == dihedral(*np.zeros((4, 3))) == 360.0


def test_phi_and_psi_are_those_the_chain_was_built_with_and_none_at_its_ends():
    _, phi, psi = secondary_structure(
        chain_of(-65.0, 140.0, 5), np.zeros(5, int), np.zeros(5, bool)
    )
    np.testing.assert_allclose(phi, [360.0, -65, -65, -65, -65], atol=1e-9)
    np.testing.assert_allclose(psi, [140.0, 140, 140, 140, 360], atol=1e-9)


def test_a_chain_ends_where_the_next_nitrogen_is_more_than_two_and_a_half_angstrom_away_or_has_another_name():
    chain = chain_of(-65.0, 140.0, 4)
    away = (chain[2, 0] - chain[1, 2]) / np.linalg.norm(chain[2, 0] - chain[1, 2])
    for distance, expected in ((2.49, [0, 0, 0, 0]), (2.51, [0, 0, 1, 1])):
        moved = chain.copy()
        moved[2:] += away * (distance - 1.329)
        assert segments(moved, np.zeros(4, int)).tolist() == expected
    assert segments(chain, np.array([0, 0, 7, 7])).tolist() == [0, 0, 1, 1]


def test_the_energy_is_coulomb_s_law_for_the_published_charges():
    """On a line: N at 0, H at 1, O at 2.9, C at 4.131 Å."""
    line = lambda *x: np.array([[v, 0.0, 0.0] for v in x])  # noqa: E731
    donor, acceptor = line(0.0, 9, 9, 9), line(9.0, 9, 4.131, 2.9)
    expected = 332 * 0.42 * 0.20 * (1 / 2.9 + 1 / 3.131 - 1 / 1.9 - 1 / 4.131)
    assert energy(donor, line(1.0)[0], acceptor) == pytest.approx(expected, abs=0.0006)
    assert energy(donor, line(2.5)[0], acceptor) == -9.9  # 0.4 Å from O
    assert energy(donor, line(2.3)[0], acceptor) == -9.9  # 0.6 Å from O
    assert energy(donor, donor[0], acceptor) == 0.0


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
    assert states(chain_of(-57, -47, 20), proline=tuple(range(10, 20))) == "-HHHHHHHHSSSSSSSSS--"


# ---- strands -------------------------------------------------------------------------------------


def test_two_strands_side_by_side_are_a_sheet():
    strand = chain_of(-120, 120, 9)
    assert states(strand, turned(strand, 4)) == "-EEEEEEE-" * 2
    assert states(strand, turned(strand, 4) + 4.0) == "-" * 18


KINDS = {
    "facing": (ANTI, [(4, 10), (10, 4)]),
    "crossing": (ANTI, [(5, 9), (11, 3)]),
    "around the second": (PARALLEL, [(5, 10), (10, 3)]),
    "around the first": (PARALLEL, [(11, 4), (4, 9)]),
}
"""Bonds (donor, acceptor) that make a bridge between residues 4 and 10."""


def table(bonds, n: int = 16) -> np.ndarray:
    """Acceptors of each donor, shape (n, 2)."""
    acceptors = np.full((n, 2), -1)
    for donor, acceptor in bonds:
        acceptors[donor, int(acceptors[donor, 0] >= 0)] = acceptor
    return acceptors


@pytest.mark.parametrize("name", KINDS)
def test_a_bridge_takes_both_of_its_bonds_and_unbroken_chains_around_it(name):
    kind, bonds = KINDS[name]
    whole = np.zeros(16, int)
    assert bridge(table(bonds), whole, 4, 10) == kind
    for lacking in range(2):
        assert bridge(table(bonds[:lacking] + bonds[lacking + 1 :]), whole, 4, 10) == APART
    for first in (4, 5, 10, 11):
        assert bridge(table(bonds), (np.arange(16) >= first).astype(int), 4, 10) == APART
    assert bridge(table(bonds), (np.arange(16) >= 7).astype(int), 4, 10) == kind
    assert (
        bridge(table(bonds)[:11], whole[:11], 4, 10) == APART
    )  # the last residue has none after it


@pytest.mark.parametrize(
    ("here", "there", "joined"),
    [
        (2, 2, True),
        (2, 5, True),
        (5, 2, True),
        (1, 6, False),
        (6, 1, False),
        (3, 3, False),
        (2, -1, False),
        (0, 2, False),
    ],
)
@pytest.mark.parametrize("kind", [ANTI, PARALLEL])
def test_ladders_join_across_a_bulge_of_one_residue_on_one_side_and_up_to_four_on_the_other(
    kind, here, there, joined
):
    other = [30 + there, 31 + there] if kind == PARALLEL else [29 - there, 30 - there]
    first = [kind, 2, 4, 5, 29, 30] if kind == PARALLEL else [kind, 2, 4, 5, 30, 31]
    found = np.array([first, [kind, 2, 5 + here, 6 + here, *other]])
    join_bulges(found, np.zeros(40, int))
    both = [kind, 4, 4, 6 + here, min(first[4], other[0]), max(first[5], other[1])]
    assert found[0].tolist() == (both if joined else first)
    assert (found[1, 1] == 0) == joined


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
    assert accessibility(np.zeros((0, 3)), np.zeros(0, "S8"), np.zeros(1, int), none).shape == (0,)
