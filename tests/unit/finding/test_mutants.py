"""Models of one target that are of different proteins: the user is told, since they are compared as
one complex.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from _chains import chain, exchanged

from given_models import look_at
from structures_text import protein, put
from toporank.finding.complexes import BY_FOLDER, BY_SEQUENCE, Grouped
from toporank.finding.discovery import decoys_of

A, B, C, D = (
    chain(seed, length) for seed, length in ((1, 150), (2, 110), (3, 90), (4, 130))
)


@pytest.fixture
def found(tmp_path):
    """Group files `<folder>/<model>` with the sequences of their chains A, B …."""

    def found(files: dict[str, list[str]], by: str = BY_SEQUENCE) -> Grouped:
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        for path, sequences in files.items():
            atoms = []
            for y, (name, sequence) in enumerate(zip("ABC", sequences, strict=False)):
                atoms += protein(name, sequence, y=9.0 * y)
            put(folder, {f"{path}.pdb": atoms})
        return decoys_of("ds", folder, by, tmp_path / "store")

    return found


def test_mutants_in_one_folder_are_named(found, tmp_path):
    """Two nanobodies that differ in a loop."""
    nanobodies = {"nbA": A, "nbB": exchanged(A, *range(90, 100))}
    files = {
        f"x/{name}_{n}": [B, seen] for name, seen in nanobodies.items() for n in "12"
    }
    flat = found(files)
    assert ({decoy.target for decoy in flat.decoys}, flat.notes) == ({"x"}, [])
    assert flat.mutants == [
        "models of x have 2 different sequences of chain B (nbA_1 and nbB_1 differ in 10 "
        "residues) and are compared as"
        " one complex: put those of each sequence into a folder of its own to score them apart"
    ]
    terminal = look_at(Path(flat.decoys[0].path).parents[1], tmp_path / "out").said
    assert terminal.splitlines()[1:] == [f"  {flat.mutants[0]}"]
    apart = found({f"{path[2:5]}/{path[2:]}": seen for path, seen in files.items()})
    assert ({decoy.target for decoy in apart.decoys}, apart.mutants) == (
        {"nbA", "nbB"},
        [],
    )
    assert found(files, BY_FOLDER).mutants == flat.mutants


def test_many_mutants_are_one_sentence_about_the_first_target(found):
    mutants = {f"x/m{n:02d}": [B, exchanged(A, 20 + n)] for n in range(12)}
    (said,) = found(mutants | {"y/a": [C, D], "y/b": [C, exchanged(D, 60)]}).mutants
    assert "models of x have 10 or more different sequences of chain B (m" in said
    assert "differ in 2 residues" in said
    assert said.endswith("to score them apart; so it is with 1 more target, such as y")


@pytest.mark.parametrize(
    "files",
    [
        {
            "x/a": [A, B],
            "x/b": [A[10:130], B[:50] + B[60:]],
            "x/c": [f"MGSSHHHHHH{A}", B],
        },
        {f"x/{n}": [A, exchanged(A, 75)] for n in "ab"},
        {"x/a": [A, exchanged(A, 75), B], "x/b": [A, A, B]},
    ],
    ids=["constructs", "a heterodimer of mutants", "a copy that is a mutant"],
)
def test_nothing_is_said_where_models_have_the_same_proteins(found, files):
    assert found(files).mutants == []


def test_a_domain_beside_the_whole_protein_is_named(found):
    (said,) = found({"x/a": [A, B], "x/b": [A[:100], B]}).mutants
    assert said.startswith("models of x have chains A of 100 and of 150 residues (b an")
