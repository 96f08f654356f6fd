"""What a network has seen of the targets it scores."""

from __future__ import annotations

import itertools

import pytest
from _chains import HEAVY, chain

from structures_text import alanine, pdb
from toporank.building.chunks.ledger import LedgerRow
from toporank.building.chunks.plan import PlannedDecoy
from toporank.building.chunks.stages import structure_digest
from toporank.building.chunks.store import Store
from toporank.building.target_chains import target_chains
from toporank.comparing.homology.chain_tables import (
    ChainRow,
    compared,
    read_chains,
    sequences_of_chains,
    write_chains,
)
from toporank.comparing.homology.remembered import remember
from toporank.errors import RecordError, StructureError
from toporank.ranking.leakage import describe, leakage
from toporank.structures.identity import Status
from toporank.structures.read import read_complex

TRAINED = {"training_set": {"chains": remember({"t1": [chain(1)], "t2": [chain(2)]})}}
SCORED = {
    "t1": [chain(1)],
    "q": [chain(2)[:90] + chain(5, 30)],
    "new": [chain(3)],
    "nanobody": [],
}

# ---- the table -----------------------------------------------------------------------------------


def test_each_target_is_told_with_its_nearest_training_target():
    rows = {row.target: row for row in leakage([*SCORED, "failed"], SCORED, [TRAINED])}
    assert {target: row.seen_in_training for target, row in rows.items()} == {
        "t1": "yes", "q": "yes", "new": "no", "nanobody": "unknown", "failed": "unknown",
    }  # fmt: skip
    assert (rows["t1"].containment, rows["t1"].why) == (1.0, "it is a training target")
    assert rows["q"].why == "it shares a chain with the training target t2"
    assert rows["q"].containment == pytest.approx(86 / 116, abs=0.2)
    assert (
        rows["nanobody"].why
        == "all its chains are antibodies or peptides, which are not compared"
    )
    assert rows["failed"].why == "no model of it was built"


@pytest.mark.parametrize(
    "description",
    [{}, {"training_set": {"train": 3}}],
    ids=["of TopoQA", "of an older version"],
)
def test_of_a_checkpoint_without_record_nothing_is_known(description):
    rows = leakage(["b", "a"], SCORED, [TRAINED, description])
    assert [(row.target, row.seen_in_training) for row in rows] == [
        ("a", "unknown"),
        ("b", "unknown"),
    ]
    assert describe(rows) == (
        "Of 2 targets 0 were seen in training; of 2 it is not known: the checkpoint does not say "
        "what it was trained on"
    )


def test_of_an_ensemble_it_is_what_any_of_its_members_has_seen():
    other = {"training_set": {"chains": remember({"t3": [chain(3)]})}}
    rows = {
        row.target: row.nearest_training_target
        for row in leakage(SCORED, SCORED, [TRAINED, other, TRAINED])
    }
    assert rows == {"t1": "t1", "q": "t2", "new": "t3", "nanobody": ""}


def test_the_numbers_add_up():
    assert describe(leakage(SCORED, SCORED, [TRAINED])).startswith(
        "Of 4 targets 2 were seen in training; of 1 it is not known: all"
    )
    alone = [leakage([name], SCORED, [TRAINED]) for name in ("t1", "new")]
    assert [describe(rows) for rows in alone] == [
        "The target was seen in training",
        "The target was not seen in training",
    ]


# ---- chains of targets ---------------------------------------------------------------------------


def test_the_sequence_of_a_chain_is_that_of_its_protein_residues(tmp_path):
    atoms = [
        *alanine("B", 1, 0.0), *alanine("B", 2, 4.0), *alanine("A", 7, 0.0, 9.0),
        *[a for a in alanine("A", 9, 4.0, 9.0) if a.name != "CB"],
    ]  # fmt: skip
    atoms[-4:] = [
        a.__class__(**{**vars(a), "residue": "MSE", "het": True}) for a in atoms[-4:]
    ]
    (tmp_path / "x.pdb").write_text(pdb(atoms))
    assert read_complex(tmp_path / "x.pdb").sequences == {"A": "AM", "B": "AA"}


@pytest.fixture
def built(tmp_path):
    """A function from chains of each decoy to what `target_chains` takes: plan, fates and store."""

    def built(**decoys: str) -> tuple:
        plan, fates = [], {}
        for name, chains in decoys.items():
            path = tmp_path / f"{name}.pdb"
            atoms = [
                alanine(c, n, 5.0 * n, 5.0 * i)
                for i, c in enumerate(chains)
                for n in range(1, 23)
            ]
            path.write_text(pdb(itertools.chain(*atoms)))
            member = PlannedDecoy(name.split("_")[0], name, str(path), 0, 0, "")
            plan.append(member)
            fates[member.key] = LedgerRow(
                *member.key,
                Status.OK,
                "graphs",
                n_chains=len(chains),
                structure_sha256=structure_digest(path),
            )
        return plan, fates, Store(tmp_path / "store")

    return built


def test_chains_are_read_from_the_decoy_with_most_of_them(built):
    plan, fates, store = built(T_a="AB", T_b="ABC", T_c="ABC", U_a="XY")
    rows = target_chains(plan[::-1], fates, [], store)
    assert [(row.target, row.decoy, row.chains, row.kind) for row in rows] == [
        ("T", "T_b", "A B C", "peptide"), ("U", "U_a", "X Y", "peptide"),
    ]  # fmt: skip
    assert {row.sequence for row in rows} == {"A" * 22}


def test_a_target_without_a_graph_has_no_chains(built):
    plan, fates, store = built(T_a="AB", U_a="AB", V_a="AB")
    fates["U", "U_a"] = fates["U", "U_a"]._replace(status=Status.NO_INTERFACE)
    del fates["V", "V_a"]
    assert [row.target for row in target_chains(plan, fates, [], store)] == ["T"]


def test_what_was_read_from_the_same_file_is_not_read_again(built, tmp_path):
    plan, fates, store = built(T_a="AB")
    rows = target_chains(plan, fates, [], store)
    (tmp_path / "T_a.pdb").unlink()
    assert target_chains(plan, fates, rows, Store(tmp_path / "empty")) == rows
    assert target_chains(plan, fates, [], store) == rows  # from the store
    with pytest.raises(StructureError):
        target_chains(
            plan,
            fates,
            [rows[0]._replace(structure_sha256="other")],
            Store(tmp_path / "empty"),
        )


def test_antibodies_and_peptides_are_listed_and_not_compared(tmp_path):
    rows = [
        ChainRow("T", "d", "0", "A", "protein", chain(1)), ChainRow("T", "d", "0", "H L", "antibody", HEAVY),
        ChainRow("U", "d", "1", "NA", "peptide", "SLLMWITQC"),
    ]  # fmt: skip
    write_chains(tmp_path / "chains.csv", rows)
    assert read_chains(tmp_path / "chains.csv") == rows
    assert compared(rows) == {"T": [chain(1)], "U": []}
    assert sequences_of_chains(rows)["T"] == {"A": chain(1), "H": HEAVY, "L": HEAVY}
    (tmp_path / "chains.csv").write_text("target\nT\n")
    with pytest.raises(RecordError, match="not a table of chains"):
        read_chains(tmp_path / "chains.csv")
