"""A chain that touches nothing or little is named, and the number is that of the others, however
the model is written.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import gemmi
import numpy as np
import pytest
from scipy.spatial import cKDTree

import toporank
from complexes import chains_of, moved, positions, renamed, write_pdb
from structures_text import EXAMPLES, Atom, atoms_of, mmcif

PAIR = atoms_of(EXAMPLES / "1EMV/near1.pdb.gz")
INHIBITOR = chains_of(atoms_of(EXAMPLES / "1PPE/near1.pdb.gz"), "B")


def ca(atoms: list[Atom]) -> np.ndarray:
    return positions(atom for atom in atoms if atom.name == "CA")


def beside(chain: str, place: tuple[float, float, float]) -> list[Atom]:
    """The inhibitor of another complex with its middle so many Å from that of the pair."""
    atoms = renamed(INHIBITOR, {"B": chain})
    shift = positions(PAIR).mean(axis=0) + place - positions(atoms).mean(axis=0)
    return moved(atoms, chain, lambda xyz: xyz + shift)


def touching(chain: str) -> list[Atom]:
    """The inhibitor with a few residues on the pair."""
    tree = cKDTree(ca(PAIR))
    for distance in np.arange(60.0, 20.0, -0.25):
        atoms = beside(chain, (distance, 0, 0))
        if np.count_nonzero(tree.query(ca(atoms))[0] < 10) >= 2:
            return atoms
    raise AssertionError


FAR = beside("C", (90, 0, 0))
MODELS = {
    "far": PAIR + FAR,
    "far, first": renamed(PAIR + FAR, {"C": "A", "A": "B", "B": "C"}),
    "touching": PAIR + touching("C"),
    "touching and far": PAIR + touching("C") + beside("D", (0, 95, 0)),
}


def as_pdb(folder: Path, atoms: list[Atom]) -> Path:
    return write_pdb(folder / "m.pdb", atoms).parent


def as_mmcif(folder: Path, atoms: list[Atom]) -> Path:
    (folder / "m.cif").write_text(mmcif(atoms))
    return folder


def as_models_of_a_file(folder: Path, atoms: list[Atom]) -> Path:
    structure = in_memory(folder, atoms)
    structure.add_model(structure[0].clone(), 0)
    structure.renumber_models()
    (folder / "m.pdb").write_text(structure.make_pdb_string())
    return folder


def in_memory(folder: Path, atoms: list[Atom]) -> gemmi.Structure:
    return gemmi.read_structure(str(write_pdb(folder / "m.pdb", atoms)))


WRITTEN = [as_mmcif, as_models_of_a_file, in_memory]


@pytest.fixture(scope="module")
def answer(tmp_path_factory) -> Callable:
    """Scores one model that is written in a way."""
    cache = tmp_path_factory.mktemp("cache")

    def scored(atoms: list[Atom], written: Callable = as_pdb) -> toporank.Results:
        folder = tmp_path_factory.mktemp("in")
        return toporank.score(written(folder, atoms), cache=cache)

    return scored


@pytest.mark.parametrize(
    ("what", "written"),
    [*(("far", way) for way in WRITTEN), ("far, first", as_mmcif)],
)
def test_a_chain_that_touches_nothing_is_named_and_takes_nothing(answer, what, written):
    pair = answer(PAIR).models["dockq"].iloc[0]
    results = answer(MODELS[what], written)
    assert results.models["dockq"].tolist() == pytest.approx([pair] * len(results.models))  # fmt: skip
    (caveats,) = results.targets["caveats"]
    loose = {"far": "C", "far, first": "A"}[what]
    assert f"partner {loose} touches no other" in caveats
    assert f"but {loose} touches nothing: check" in repr(results)


@pytest.mark.parametrize(
    ("what", "written"),
    [("touching", as_pdb), ("touching", as_mmcif), ("touching and far", in_memory)],
)
def test_a_touch_of_a_few_residues_is_named_in_the_headline_and_counts(
    answer, what, written
):
    results = answer(MODELS[what], written)
    touch = results.interfaces.set_index("interface").loc["B:C"]
    assert (touch["role"], touch["n_residues"] < 10) == ("main", True)
    assert touch["dockq"] < 0.1
    (model,) = results.models.itertuples()
    pair, away = 0.7, "D touches nothing and " * ("far" in what)
    assert model.dockq < pair
    assert model.weak_partners.startswith(f"{away}C is hardly attached (B:C, ")
    assert model.verdict != "believe"
    assert f"but {model.weak_partners}: {model.verdict}" in repr(results)
    assert "one partner" not in results.targets["caveats"].iloc[0]
