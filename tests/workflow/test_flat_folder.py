"""One folder with models of several complexes, named and ordered as it happened, has the ranking of
tidy folders.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from complexes import renamed, write_pdb
from conftest import EXAMPLE, REPOSITORY
from made_once import made_once
from quick_python import quickly
from structures_text import Atom, atoms_of

pytestmark = pytest.mark.slow

TIDY = {
    "1AVZ": ("far1", "near1", "mid2", "wrong1"),
    "1GCQ": ("far1", "near1", "mid1", "wrong1"),
}
RENAMED = ("near1", "wrong1")


def atoms(target: str, decoy: str) -> list[Atom]:
    (path,) = (EXAMPLE / "decoys" / target).glob(f"{decoy}.pdb*")
    return atoms_of(path)


def otherwise(atoms: list[Atom]) -> list[Atom]:
    """With the names of both chains exchanged, and the second chain first."""
    first, second = sorted({atom.chain for atom in atoms})
    return renamed(atoms, {first: second, second: first})


def scored(folder: Path) -> str:
    """Score a folder; what was printed. Results go to OUT beside it."""
    out = ["-o", str(folder.parent / "OUT")]
    words = ["-m", "toporank", "score", str(folder), *out]
    done = quickly(words, REPOSITORY)
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def both(tmp_path_factory) -> Path:
    """The same models in two ways, scored: `tidy` in a folder for each target, `flat` in one
    folder.
    """

    def make(home: Path) -> None:
        for target, decoys in TIDY.items():
            for decoy in decoys:
                lines = atoms(target, decoy)
                write_pdb(home / f"tidy/models/{target}/{decoy}.pdb", lines)
                lines = otherwise(lines) if decoy in RENAMED else lines
                write_pdb(home / f"flat/models/{decoy}_{target}.pdb", lines)
        two = [(home / f"flat/models/{decoy}_1AVZ.pdb") for decoy in ("far1", "mid2")]
        texts = [path.read_text().replace("END\n", "") for path in two]
        models = "".join(
            f"MODEL     {n:4}\n{text}ENDMDL\n" for n, text in enumerate(texts, 1)
        )
        (home / "flat/models/two_1AVZ.pdb").write_text(f"{models}END\n")
        for path in two:
            path.unlink()
        for folder in ("tidy", "flat"):
            (home / folder / "printed.txt").write_text(scored(home / folder / "models"))

    return made_once(tmp_path_factory, "flat-folder", make)


def ranking(home: Path) -> pd.DataFrame:
    """Scores and places, by target and by the model as the tidy folders call it."""
    (path,) = (home / "OUT").rglob("models.csv")
    table = pd.read_csv(path).merge(
        pd.read_csv(path.with_name("details.csv")), on=["target", "decoy"]
    )
    called = {"two_1AVZ#1": "far1", "two_1AVZ#2": "mid2"}
    decoys = [called.get(name, name.partition("_")[0]) for name in table["decoy"]]
    columns = ["rank", "dockq", "network", "consensus", "n_interface_residues"]
    return (
        table.assign(decoy=decoys).set_index(["target", "decoy"])[columns].sort_index()
    )


def test_the_first_lines_say_what_is_a_target(both):
    tidy, flat = (
        (both / folder / "printed.txt").read_text().splitlines()
        for folder in ("tidy", "flat")
    )
    assert tidy[0].startswith("Plain structure files: 8 models of 2 targets in ")
    assert flat[0].startswith("Plain structure files: 8 models of 2 targets in ")
    assert " ".join("\n".join(flat).split()).count(
        "folder models holds models of 2 different complexes, as their sequences say: each "
        "complex is a target (--targets folder keeps to the folders)"
    )


def test_neither_folders_nor_names_of_chains_change_ranks_and_scores(both):
    tidy, flat = (ranking(both / folder) for folder in ("tidy", "flat"))
    assert (
        list(flat.index)
        == list(tidy.index)
        == [(t, d) for t in sorted(TIDY) for d in sorted(TIDY[t])]
    )
    pd.testing.assert_frame_equal(flat, tidy, rtol=0, atol=1e-6)


def test_the_table_says_which_chain_is_which_and_which_model_of_the_file_it_is(both):
    (path,) = (both / "flat" / "OUT").rglob("details.csv")
    table = pd.read_csv(path, keep_default_na=False, dtype={"model": str}).set_index(
        "decoy"
    )
    numbers = {name: int(number) for name, number in table["model"].items() if number}
    assert {name: number for name, number in numbers.items() if number} == {
        "two_1AVZ#1": 1,
        "two_1AVZ#2": 2,
    }
    for target in TIDY:
        rows = table[table["target"] == target]
        swapped = {
            name.partition("_")[0] for name in rows.index if rows["chains"][name]
        }
        assert swapped in (
            {*RENAMED},
            {name.partition("_")[0] for name in rows.index} - {*RENAMED},
        )
