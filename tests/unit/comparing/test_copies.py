"""Decoys that are the same model, and those that are one complex, moved as a whole."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np
import pytest
from _complexes import chain, places_of_chains, renamed, selected, together

from structures_text import EXAMPLES
from toporank.comparing.copies import copies_of
from toporank.structures.complex import Complex
from toporank.structures.model_shape import shape_of
from toporank.structures.read import read_complex

NEAR = read_complex(EXAMPLES / "1EMV/near1.pdb.gz")
OTHERS = [
    read_complex(EXAMPLES / f"1EMV/{name}.pdb.gz")
    for name in ("mid2", "far2", "wrong1")
]
Change = Callable[[Complex], Complex]


def rotation(seed: int) -> np.ndarray:
    matrix, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))
    return matrix * np.sign(np.linalg.det(matrix))


def pose(seed: int, complex_: Complex = NEAR, digits: int = 9) -> Complex:
    """A complex somewhere else, rounded as in a PDB file. digits : of the rotation."""
    shift = 80 * np.random.default_rng(seed).normal(size=3)
    xyz = complex_.xyz @ rotation(seed).round(digits).T + shift
    return replace(complex_, xyz=xyz.round(3))


def shaken(complex_: Complex, noise: float) -> Complex:
    """noise : Å, of each coordinate."""
    shift = noise * np.random.default_rng(1).normal(size=complex_.xyz.shape)
    return replace(complex_, xyz=complex_.xyz + shift)


def of(*decoys: Complex, partners: dict | None = None) -> dict[str, str]:
    """Copy → original of decoys called 0, 1, 2 …"""
    shapes = {str(k): shape_of(decoy) for k, decoy in enumerate(decoys)}
    return copies_of(shapes, partners).original


def renumbered(complex_: Complex) -> Complex:
    residues = [
        residue._replace(number=place, insertion_code="")
        for place, residue in enumerate(complex_.residues, 1)
    ]
    return replace(complex_, residues=tuple(residues))


def in_other_order(complex_: Complex) -> Complex:
    names = [*places_of_chains(complex_)]
    return together(*(chain(complex_, name, name) for name in reversed(names)))


def with_atoms(complex_: Complex, name: bytes, residues: Iterable[int]) -> Complex:
    """With one more atom of this name in some residues, 1 Å from their first one."""
    order, names, xyz = [], [], []
    for residue, first in enumerate(complex_.atom_slices[:-1].tolist()):
        atoms = range(first, int(complex_.atom_slices[residue + 1]))
        order += [residue] * len(atoms)
        names += complex_.atom_names[atoms].tolist()
        xyz += complex_.xyz[atoms].tolist()
        if residue in residues:
            order.append(residue)
            names.append(name)
            xyz.append((complex_.xyz[first] + 1).tolist())
    return replace(
        complex_,
        residue_of=np.array(order),
        atom_names=np.array(names, dtype="S8"),
        xyz=np.array(xyz),
        ca=np.flatnonzero(np.array(names) == b"CA"),
    )


def without_a_ring_flip(complex_: Complex) -> Complex:
    """The two sides of aromatic rings have each other's names."""
    swapped = {b"CD1": b"CD2", b"CD2": b"CD1", b"CE1": b"CE2", b"CE2": b"CE1"}
    names = complex_.atom_names.copy()
    for k in np.flatnonzero(np.isin(np.array(complex_.names), ["PHE", "TYR"])):
        atoms = slice(*complex_.atom_slices[k : k + 2])
        names[atoms] = [swapped.get(name, name) for name in names[atoms].tolist()]
    return replace(complex_, atom_names=names)


SAME: dict[str, Change] = {
    "other names": lambda c: renamed(c, {"A": "L", "B": "H"}),
    "names exchanged": lambda c: renamed(c, {"A": "B", "B": "A"}),
    "another order": in_other_order,
    "renumbered": renumbered,
    "hydrogens": lambda c: with_atoms(c, b"HA", range(0, 214, 3)),
    "OXT": lambda c: with_atoms(c, b"OXT", [82, 213]),
    "two decimals": lambda c: replace(c, xyz=c.xyz.round(2)),
    "superposed": lambda c: pose(1, c),
    "a rotation of four decimals": lambda c: pose(2, c, digits=4),
    "sides of rings": without_a_ring_flip,
    "all of it": lambda c: renumbered(in_other_order(renamed(pose(3, c), {"A": "X"}))),
}


@pytest.mark.parametrize("change", SAME)
def test_a_copy_is_the_same_model_not_the_same_text(change):
    assert of(NEAR, OTHERS[0], SAME[change](NEAR)) == {"2": "0"}


def turned_side_chain(complex_: Complex) -> Complex:
    """A lysine whose last three atoms are 2 Å away."""
    residue = complex_.names.index("LYS")
    atoms = np.flatnonzero(complex_.residue_of == residue)[-3:]
    xyz = complex_.xyz.copy()
    xyz[atoms, 0] += 2
    return replace(complex_, xyz=xyz)


def exchanged_amide(complex_: Complex) -> Complex:
    """The nitrogen and oxygen of an asparagine in each other's places."""
    residue = complex_.names.index("ASN")
    atoms = np.flatnonzero(complex_.residue_of == residue)
    names = complex_.atom_names[atoms].tolist()
    one, other = atoms[names.index(b"OD1")], atoms[names.index(b"ND2")]
    xyz = complex_.xyz.copy()
    xyz[[one, other]] = xyz[[other, one]]
    return replace(complex_, xyz=xyz)


def mirrored(complex_: Complex) -> Complex:
    return replace(complex_, xyz=complex_.xyz * [1, 1, -1])


DIFFERENT: dict[str, Change] = {
    "another sample": lambda c: shaken(c, 0.05),
    "a side chain turned": turned_side_chain,
    "an amide turned": exchanged_amide,
    "a mirror image": mirrored,
    "the ligand moved": lambda c: together(chain(c, "A", "A"), chain(c, "B", "B", 0.2)),
    "a residue less": lambda c: selected(c, np.arange(1, len(c.residues))),
    "another letter": lambda c: replace(c, parents=("TRP", *c.parents[1:])),
}


@pytest.mark.parametrize("change", DIFFERENT)
def test_another_model_is_no_copy(change):
    assert of(NEAR, DIFFERENT[change](NEAR)) == {}


def test_chains_of_a_homomer_may_be_in_any_order():
    trimer = together(
        *(chain(NEAR, "A", name, 30.0 * k) for k, name in enumerate("ABC"))
    )
    bent = replace(trimer, xyz=trimer.xyz + [0, 1, 0] * (trimer.xyz[:, :1] > 50))
    shuffled = pose(4, in_other_order(renamed(trimer, {"A": "B", "B": "C", "C": "A"})))
    assert of(trimer, bent, shuffled) == {"2": "0"}


def test_copies_have_the_same_partners_by_their_own_names():
    four = together(
        NEAR, renamed(pose(5), {"A": "C", "B": "D"}), chain(NEAR, "A", "E", 200.0)
    )
    names = {"A": "B", "B": "A"}
    other = renamed(four, names)
    partners = {"0": (("A", "C"), ("B", "D")), "1": (("B", "C"), ("A", "D"))}
    assert of(four, other, partners=partners) == {"1": "0"}
    partners["1"] = (("A", "C"), ("B", "D"))
    assert of(four, other, partners=partners) == {}


def test_each_copy_belongs_to_its_own_original():
    models = [NEAR, *OTHERS]
    copies = [pose(k, renamed(model, {"A": "Z"})) for k, model in enumerate(models)]
    assert of(*models, *copies) == {str(k + 4): str(k) for k in range(4)}


def moved(*decoys: Complex) -> set[str]:
    shapes = {str(k): shape_of(decoy) for k, decoy in enumerate(decoys)}
    return set(copies_of(shapes).moved)


@pytest.mark.parametrize("digits", [9, 4], ids=["EquiDock", "MEGADOCK"])
@pytest.mark.parametrize("n", [3, 10])
def test_poses_of_one_body_are_recognised_also_beside_one_other_model(n, digits):
    poses = [pose(seed, digits=digits) for seed in range(n)]
    everyone = {str(k) for k in range(n)}
    assert moved(*poses) == everyone
    assert moved(*poses, OTHERS[0]) == everyone
    assert moved(*poses, poses[1]) == everyone | {str(n)}
    assert of(*poses, poses[1]) == {str(n): "1"}


@pytest.mark.parametrize(
    "decoys",
    [
        [NEAR],
        [NEAR, pose(1)],
        [NEAR, *OTHERS, *(pose(k, model) for k, model in enumerate([NEAR, *OTHERS]))],
        [shaken(pose(seed), 0.05 * seed) for seed in range(4)],
        [NEAR, NEAR, NEAR],
        [pose(0), pose(1), pose(2), *OTHERS],
        [],
    ],
    ids=[
        "one model",
        "a superposed copy",
        "four models and four superposed copies",
        "samples of a predictor",
        "models in one place",
        "one in three places among six",
        "none",
    ],
)
def test_other_models_are_ranked(decoys):
    assert moved(*decoys) == set()
