"""DSSP without mkdssp: the answers of mkdssp, on real decoys and on damaged ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dssp_agreement import compare, needs_mkdssp
from structures_text import (
    EXAMPLES,
    Atom,
    alanine,
    changed,
    complex_of,
    moved,
    pair,
    random_complex,
)
from toporank.structures.complex import Complex
from toporank.structures.dssp import Dssp, builtin_dssp, run_dssp
from toporank.structures.read import read_complex

REFERENCE = [
    "1A2K_trimer_model", "1AHW_bound", "1AY7_bound", "1BUH_bound", "1DFJ_bound", "1E6E_unbound", "1GLA_unbound",
    "1N2C_bound", "1NW9_cluspro", "1PPE_bound", "1VFB_bound", "2SIC_bound", "2SIC_patchdock", "6AL0_af2_0",
    "dips_2aqp_attract", "dockq_model",
]  # fmt: skip


def all_of(complex_: Complex) -> Dssp:
    return builtin_dssp(complex_, np.arange(len(complex_.residues)))


# ---- agreement with mkdssp -----------------------------------------------------------------------


@needs_mkdssp
def test_on_the_reference_decoys_it_agrees_with_mkdssp_within_the_gates(
    reference_dir: Path,
):
    total: dict[str, int] = {}
    for name in REFERENCE:
        complex_ = read_complex(reference_dir / "topoqa" / "pdb" / f"{name}.pdb.gz")
        for key, count in compare(all_of(complex_), run_dssp(complex_)).items():
            total[key] = total.get(key, 0) + count
    assert total["residues"] == 9173
    assert total["accessibility"] <= 0.001 * total["residues"]
    assert total["angle"] == 0
    assert total["state"] <= 0.005 * total["residues"]


def without(complex_: Complex, atoms: np.ndarray) -> Complex:
    """The complex without some of its atoms."""
    keep = ~atoms
    return replace(
        complex_,
        xyz=complex_.xyz[keep],
        atom_names=complex_.atom_names[keep],
        residue_of=complex_.residue_of[keep],
    )


def some(complex_: Complex, share: float) -> np.ndarray:
    """bool, shape (R,): residues drawn at random."""
    return np.random.default_rng(7).random(len(complex_.residues)) < share


def read_as(complex_: Complex, parent: str, share: float) -> Complex:
    parents = np.where(some(complex_, share), parent, complex_.parents)
    return replace(complex_, parents=tuple(parents.tolist()))


def shaken(complex_: Complex, by: float, scale: float = 1.0) -> Complex:
    noise = np.random.default_rng(5).normal(0, by, complex_.xyz.shape)
    return replace(complex_, xyz=np.round(complex_.xyz * scale + noise, 3))


def chopped(complex_: Complex) -> Complex:
    """Twelve residues to a chain: no more than the 26 chains that mkdssp can tell apart."""
    residues = (
        r._replace(chain=f"{r.chain}{i // 12:02}")
        for i, r in enumerate(complex_.residues)
    )
    return replace(complex_, residues=tuple(residues))


def laid_over(complex_: Complex) -> Complex:
    """The second chain moved into the first."""
    second = (complex_.chain_of == complex_.chains[1])[complex_.residue_of]
    shift = complex_.xyz[~second].mean(axis=0) - complex_.xyz[second].mean(axis=0)
    return replace(complex_, xyz=np.round(complex_.xyz + shift * second[:, None], 3))


DAMAGE: dict[str, Callable[[Complex], Complex]] = {
    "untouched": lambda c: c,
    "moved": lambda c: replace(moved(c, 4), xyz=np.round(moved(c, 4).xyz, 3)),
    "gaps": lambda c: without(c, some(c, 0.1)[c.residue_of]),
    "atoms missing": lambda c: without(
        c, np.random.default_rng(1).random(len(c.xyz)) < 0.03
    ),
    "unknown residues": lambda c: read_as(c, "UNK", 0.1),
    "not protein": lambda c: read_as(c, "", 0.1),
    "prolines": lambda c: read_as(c, "PRO", 0.2),
    "shaken": lambda c: shaken(c, 0.3),
    "squeezed": lambda c: shaken(c, 0.1, 0.85),
    "chopped": chopped,
    "laid over": laid_over,
}


@needs_mkdssp
@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("name", ["1GCQ/mid1.pdb", "1PPE/near1.pdb.gz"])
def test_whatever_happened_to_a_decoy_it_agrees_with_mkdssp(name, damage):
    complex_ = DAMAGE[damage](read_complex(EXAMPLES / name))
    differing = compare(all_of(complex_), run_dssp(complex_))
    assert differing["residues"] > 60
    assert differing["accessibility"] <= 1
    assert differing["angle"] == differing["state"] == 0


# ---- what it does not depend on ------------------------------------------------------------------


def assert_same(one: Dssp, other: Dssp):
    for field in ("reported", "structure", "accessibility", "phi", "psi"):
        np.testing.assert_array_equal(
            getattr(one, field), getattr(other, field), err_msg=field
        )


def test_accessibility_of_some_residues_is_the_same_as_when_all_are_asked_for(decoy):
    wanted = np.array([70, 3, 4, 100])
    some_, all_ = builtin_dssp(decoy, wanted), all_of(decoy)
    np.testing.assert_array_equal(
        some_.accessibility[wanted], all_.accessibility[wanted]
    )
    assert not np.delete(some_.accessibility, wanted).any()
    np.testing.assert_array_equal(some_.structure, all_.structure)


# ---- what cannot be DSSP's business --------------------------------------------------------------


@pytest.mark.parametrize("atom", [b"N", b"CA", b"C", b"O"])
def test_a_residue_without_one_of_its_backbone_atoms_is_not_found_and_the_others_are(
    decoy, atom
):
    dssp = all_of(without(decoy, (decoy.residue_of == 30) & (decoy.atom_names == atom)))
    assert np.flatnonzero(~dssp.reported).tolist() == [30]
    assert (dssp.psi[29], dssp.phi[31]) == (360.0, 360.0)


def row(n: int, step: float) -> list[Atom]:
    """So many alanines, each this far from the one before."""
    atoms = []
    for number in range(1, n + 1):
        atoms += alanine("A", number, step * number)
    return atoms


NONSENSE = {
    "pair": complex_of(pair()),
    "one residue": complex_of(alanine("A", 1, 0.0)),
    "one atom": complex_of([Atom("CA", "ALA", "A", 1, 0.0, 0.0, 0.0)]),
    "nothing known": complex_of(changed(pair(), residue="UNK")),
    "one place": complex_of(changed(row(7, 0.0), x=0.0, y=0.0, z=0.0)),
    "coincident": complex_of(row(7, 0.0)),
    "dense": complex_of(atom for atom in row(7, 1.0) if atom.name != "CB"),
    "random": random_complex(0, residues=30, spread=4.0),
}


@pytest.mark.parametrize("case", NONSENSE)
def test_nonsense_gets_an_answer(case):
    dssp = all_of(NONSENSE[case])
    for values in (dssp.accessibility, dssp.phi, dssp.psi):
        assert np.isfinite(values).all()
    assert set(dssp.structure.tolist()) <= set(
        np.array(list("HBEGITS-"), "S1").tolist()
    )
    assert (dssp.accessibility >= 0).all()
    assert not dssp.accessibility[~dssp.reported].any()
