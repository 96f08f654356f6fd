"""Where nobody gives partners, the chains of an antibody are one in every model of a target,
whatever their names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from _chains import ALPHA, B2M, BETA, CLASS_1, LYSOZYME, PEPTIDE

from complexes import (
    ANTIBODY,
    away,
    moved,
    near_partner,
    renamed,
    turned,
    without,
    write_pdb,
)
from structures_text import Atom, atoms_of, pdb
from toporank.building.chunks.plan import PlannedDecoy
from toporank.building.coverage import coverage_table, read_coverage, write_coverage
from toporank.building.planning import (
    bodies_alone,
    partners_given,
    plan_of,
    recognised,
)
from toporank.chains.body_names import lines_of_targets
from toporank.chains.immune import domains_of
from toporank.finding.complexes import BY_SEQUENCE
from toporank.finding.discovery import decoys_of
from toporank.ranking.agreement import with_predictor
from toporank.ranking.model_table import model_table
from toporank.ranking.target_table import target_notes
from toporank.structures.chains import ONE_TO_THREE
from toporank.tables.frames import of_records
from toporank.tables.of_predictors import CONFIDENCE

ATOMS = atoms_of(ANTIBODY)


def planned(
    folder: Path, for_all: str = "", of_targets: Mapping[str, str] | None = None
) -> dict[str, PlannedDecoy]:
    """The plan of the models of a folder, by name."""
    table = of_targets or {}
    grouped = decoys_of("set", folder, BY_SEQUENCE, folder.with_name("store"), table)
    given = partners_given(grouped, for_all, table)
    return {row.decoy: row for row in plan_of(grouped, given)}


def partners(folder: Path, *given) -> dict[str, str]:
    return {name: row.partners for name, row in planned(folder, *given).items()}


@pytest.fixture
def models(tmp_path) -> Path:
    """Models of one target that name chains as the PDB and as a predictor does, and one that lacks
    the antigen.
    """
    predicted = {"H": "A", "L": "B", "A": "C"}
    write_pdb(tmp_path / "T/deposited.pdb", ATOMS)
    write_pdb(tmp_path / "T/predicted.pdb", renamed(turned(ATOMS, "A"), predicted))
    write_pdb(
        tmp_path / "T/light_first.pdb", renamed(ATOMS, {"H": "B", "L": "A", "A": "C"})
    )
    write_pdb(tmp_path / "T/away.pdb", away(ATOMS, "A", 50.0))
    write_pdb(tmp_path / "T/no_antigen.pdb", without(ATOMS, "A"))
    return tmp_path / "T"


def test_each_model_has_the_partners_by_its_own_chains(models):
    found = partners(models)
    assert found == {
        "away": "A:H+L", "deposited": "A:H+L", "predicted": "A+B:C", "light_first": "A+B:C", "no_antigen": "A:H+L",
    }  # fmt: skip
    assert planned(models)["no_antigen"].lacks.startswith(
        "of 3 protein chains that most models of the target have, 2:"
    )


def test_the_native_has_its_own(models):
    """By names of the native, partners that are recognised in a model would be wrong."""
    assert {row.native_partners for row in planned(models).values()} == {""}
    assert planned(models, "A:H+L")["predicted"].native_partners == "A:H+L"
    assert {row.native_partners for row in planned(models, "chains").values()} == {
        "chains"
    }


def test_what_somebody_gives_goes_first(models):
    assert partners(models, "H:A+L")["predicted"] == "A:B+C"
    assert set(partners(models, "chains").values()) == {""}
    assert set(partners(models, "", {"T": "chains"}).values()) == {""}


def test_a_row_of_a_table_counts_for_its_target_alone(tmp_path):
    write_pdb(tmp_path / "in/T/model.pdb", ATOMS)
    names = {"ALA": "GLY"}
    other = [replace(a, residue=names.get(a.residue, a.residue)) for a in ATOMS]
    write_pdb(tmp_path / "in/U/other.pdb", other)
    assert partners(tmp_path / "in", "", {"T": "chains"}) == {
        "model": "",
        "other": "A:H+L",
    }
    assert partners(tmp_path / "in", "", {"T": "A+H:L"}) == {
        "model": "A+H:L",
        "other": "A:H+L",
    }


def test_the_models_of_a_target_have_the_same_partners(tmp_path):
    """In a bad model the two chains lie apart; where they do in most models, they are no antibody
    there.
    """
    for name in ("a", "b"):
        write_pdb(tmp_path / f"most/{name}.pdb", ATOMS)
    apart = away(ATOMS, "L", 60.0)
    write_pdb(tmp_path / "most/bad.pdb", renamed(apart, {"H": "X", "L": "Y"}))
    assert partners(tmp_path / "most") == {"a": "A:H+L", "b": "A:H+L", "bad": "A:X+Y"}
    for name in ("a", "b"):
        write_pdb(tmp_path / f"few/{name}.pdb", apart)
    write_pdb(tmp_path / "few/c.pdb", ATOMS)
    assert set(partners(tmp_path / "few").values()) == {""}


def test_two_antibodies_on_two_antigens_are_four_partners(tmp_path):
    far = moved(ATOMS, "HLA", lambda xyz: xyz + 200.0)
    copy = renamed(far, {"H": "I", "L": "M", "A": "B"})
    write_pdb(
        tmp_path / "two/model.pdb",
        sorted([*ATOMS, *copy], key=lambda atom: "HILMAB".index(atom.chain)),
    )
    write_pdb(
        tmp_path / "two/crossed.pdb",
        sorted([*ATOMS, *copy], key=lambda atom: "HIMLAB".index(atom.chain)),
    )
    assert set(partners(tmp_path / "two").values()) == {"A:B:H+L:I+M"}


def test_every_model_of_a_file_has_them(tmp_path):
    blocks = [
        f"MODEL     {k:4d}\n{pdb(atoms)}ENDMDL\n"
        for k, atoms in enumerate((ATOMS, ATOMS), 1)
    ]
    (tmp_path / "T").mkdir()
    (tmp_path / "T/poses.pdb").write_text("".join(blocks) + "END\n")
    assert partners(tmp_path / "T") == {"poses#1": "A:H+L", "poses#2": "A:H+L"}
    assert partners(tmp_path / "T") == {"poses#1": "A:H+L", "poses#2": "A:H+L"}, (
        "as it was seen before"
    )


def test_it_is_said_once_for_all_targets(models):
    grouped = decoys_of("set", models, BY_SEQUENCE, models.with_name("store"))
    plan = plan_of(grouped, {})
    (line,) = recognised(plan)
    assert line == "T: H and L are an antibody: counted as H+L against A"
    assert {row.decoy: row.joined for row in plan}[
        "predicted"
    ] == "A and B are an antibody: counted as A+B against C"
    given = partners_given(grouped, "A:H+L", {})
    assert recognised(plan_of(grouped, given)) == []
    several = {f"{name} and L are an antibody": [name] for name in "abcdef"}
    assert lines_of_targets(several)[-1] == "and 3 more targets in the same way"


def straight(**chains: tuple[str, float]) -> list[Atom]:
    """CA atoms of straight chains, by sequence and place along x in Å; of a variable domain,
    residue 44 is at z = 0.
    """
    atoms = []
    for name, (sequence, x) in chains.items():
        domains = domains_of(sequence)
        middle = domains[0].face if domains else len(sequence) // 2
        for i, letter in enumerate(sequence):
            z = 3.8 * (i - middle)
            atoms.append(Atom("CA", ONE_TO_THREE[letter], name, i + 1, x, 0.0, z))
    return atoms


RECEPTOR = straight(D=(ALPHA, 0.0), E=(BETA, 11.0), A=(LYSOZYME, -7.0))
RECEPTOR_ON_MHC = straight(
    A=(CLASS_1, 0), B=(B2M, 7), C=(PEPTIDE, -5), D=(ALPHA, -40), E=(BETA, -51)
)
ANTIBODY_SENTENCE = "H and L are an antibody: counted as H+L against A"


@pytest.mark.parametrize(
    ("atoms", "sentence"),
    [
        (ATOMS, ANTIBODY_SENTENCE),
        (near_partner(ATOMS, "HL", "A", 12.0), ANTIBODY_SENTENCE),
        (RECEPTOR, "D and E are a T-cell receptor: counted as D+E against A"),
        (
            RECEPTOR_ON_MHC,
            "A, B and C are an MHC molecule with its peptide, and D and E are a T-cell receptor:"
            " counted as A+B+C against D+E",
        ),
    ],
    ids=["antibody", "pieces of an antibody", "receptor", "receptor on MHC"],
)
def test_terminal_page_and_targets_say_what_the_plan_recognised(
    tmp_path, atoms, sentence
):
    for name in ("a", "b"):
        write_pdb(tmp_path / f"T/{name}.pdb", atoms)
    plan = [*planned(tmp_path / "T").values()]
    assert recognised(plan) == [f"T: {sentence}"]
    write_coverage(tmp_path / "coverage.tsv", coverage_table(plan, [], []))
    coverage = read_coverage(tmp_path / "coverage.tsv")
    assert recognised(coverage) == [f"T: {sentence}"]
    models = with_predictor(model_table(coverage, {}), of_records(CONFIDENCE, []))
    notes = target_notes(models, [], [], [], between=lambda *names: None)
    assert notes["T"].notes[0] == sentence


@pytest.mark.parametrize("names", ["HL", "KM", "BA"])
def test_an_antibody_without_antigen_is_named(tmp_path, names):
    heavy, light = names
    fab = renamed(without(ATOMS, "A"), {"H": heavy, "L": light})
    write_pdb(tmp_path / "T/fab.pdb", fab)
    write_pdb(tmp_path / "U/whole.pdb", ATOMS)
    grouped = decoys_of("set", tmp_path, BY_SEQUENCE, tmp_path.with_name("store"))
    first, second = sorted(names)
    assert bodies_alone(plan_of(grouped, {}), grouped) == [
        f"T: {first} and {second} are an antibody without anything that it binds: counted as "
        f"{first} against {second}"
    ]
