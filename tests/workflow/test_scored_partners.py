"""Partners in whole runs: the score answers the question that was asked, however it is asked."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from complexes import ANTIBODY, antibody_decoys, away, chains_of, ring, write_pdb
from conftest import Study
from structures_text import atoms_of

pytestmark = pytest.mark.slow

ATOMS = atoms_of(ANTIBODY)


def score(folder: Path, finished: Study, *settings: str) -> Study:
    """Score the decoys of a folder with the checkpoint of the finished study."""
    study = Study(folder)
    study.configure()
    checkpoint = finished.results / "final/best.ckpt"
    study.printed = study.run(
        "score", "--config", "score_decoys=in", f"scorer={checkpoint}", *settings
    ).stdout
    return study


@pytest.fixture(scope="module")
def scored(tmp_path_factory, finished) -> Study:
    """An antibody on its antigen with partners, without, and with each chain apart, and a ring of
    five chains.
    """
    home = tmp_path_factory.mktemp("partners")
    for target in ("said", "unsaid", "chains"):
        antibody_decoys(home / "in" / target, ATOMS, "A")
    five = ring(chains_of(ATOMS, "H"), 5, 24.0)
    write_pdb(home / "in/ring/whole.pdb", five)
    write_pdb(home / "in/ring/off.pdb", away(five, "C", 60.0))
    (home / "in/partners.csv").write_text(
        "target,partners\nsaid,H+L:A\nchains,chains\n"
    )
    return score(home, finished)


def table(study: Study, name: str) -> pd.DataFrame:
    return pd.read_csv(study.results / "scores/in" / name, keep_default_na=False)


def ranked(study: Study, target: str) -> list[tuple[str, str]]:
    """Decoys by rank, with their status."""
    rows = table(study, "models.csv")
    rows = rows[rows["target"] == target]
    assert rows["rank"].tolist() == list(range(1, len(rows) + 1))
    return list(zip(rows["decoy"], rows["status"], strict=True))


def test_an_antigen_that_is_away_or_missing_is_behind_every_one_that_is_there(scored):
    assert sorted(ranked(scored, "said")[:2]) == [("native", "ok"), ("turned", "ok")]
    assert sorted(ranked(scored, "said")[2:]) == [
        ("away200", "partner_apart"), ("away50", "partner_apart"), ("no_antigen", "chain_missing"),
    ]  # fmt: skip
    assert ranked(scored, "unsaid") == ranked(scored, "said")
    assert ranked(scored, "chains")[2:] == ranked(scored, "said")[2:]
    aside = table(scored, "models.csv").query("status != 'ok' and target != 'ring'")
    assert set(aside["dockq"]) == {""}


def test_with_partners_the_antibody_itself_is_no_interface(scored):
    residues = (
        table(scored, "details.csv")
        .query("decoy == 'native'")
        .set_index("target")["n_interface_residues"]
    )
    assert int(residues["said"]) == int(residues["unsaid"]) < int(residues["chains"])
    rows = table(scored, "interfaces.csv").query("decoy == 'native'")
    for target in ("said", "unsaid"):
        assert rows[rows["target"] == target]["interface"].tolist() == ["A:H+L"]
    assert rows[rows["target"] == "chains"]["interface"].tolist() == [
        "A:H",
        "A:L",
        "H:L",
    ]


def test_a_ring_that_lost_a_chain_keeps_the_scores_of_its_other_interfaces(scored):
    assert ranked(scored, "ring") == [("whole", "ok"), ("off", "partner_apart")]
    rows = (
        table(scored, "interfaces.csv")
        .query("target == 'ring'")
        .set_index(["decoy", "interface"])
    )
    whole, off = rows.loc["whole"], rows.loc["off"]
    assert whole[whole["status"] == "ok"].index.tolist() == [
        "A:B",
        "A:E",
        "B:C",
        "C:D",
        "D:E",
    ]
    assert off[off["status"] == "ok"].index.tolist() == ["A:B", "A:E", "D:E"]
    assert off.loc[["B:C", "C:D"], "status"].tolist() == ["apart", "apart"]
    assert all(off.loc[["B:C", "C:D"], "closest"].astype(float) > 10)
    for name in ("A:B", "A:E", "D:E"):
        assert float(off.loc[name, "dockq"]) == pytest.approx(
            float(whole.loc[name, "dockq"]), abs=0.05
        )
    summary = table(scored, "details.csv").query("decoy == 'whole'").iloc[0]
    values = whole.loc[whole["role"] == "main", "dockq"].astype(float)
    assert float(summary["min_interface"]) == values.min()
    assert int(summary["n_interfaces"]) == 5
    assert float(summary["mean_interface"]) == pytest.approx(values.mean(), abs=1e-6)


def test_the_answer_says_what_is_one_partner_where_nobody_gave_partners(scored):
    sentence = "H and L are an antibody: counted as H+L against A"
    assert f"unsaid: {sentence}" in scored.printed
    assert sentence in scored.text("scores/in/report.html")
    joined = table(scored, "targets.csv").set_index("target")["notes"]
    assert sentence in joined["unsaid"]
    assert "antibody" not in joined["said"]
    assert "antibody" not in joined["chains"]


def test_the_order_of_interfaces_can_decide(scored, finished):
    """The same graphs ranked by their worst interface: only the ranking is made again."""
    study = score(scored.home, finished, "rank_by=min_interface")
    models = table(study, "models.csv").query("target == 'chains' and status == 'ok'")
    rows = models.merge(table(study, "details.csv"), on=["target", "decoy"])
    assert rows["min_interface"].astype(float).is_monotonic_decreasing
    assert "build_chunk" not in study.printed


def test_partners_can_be_said_in_the_configuration_a_table_or_the_labels(tmp_path):
    """For all, for a data set, in a table that it names, and in its labels: the same interface."""
    study = Study(tmp_path)
    datasets = [
        {"name": "for_all", "decoys": "decoys"},
        {"name": "of_set", "decoys": "decoys", "partners": "H+L:A"},
        {"name": "named", "decoys": "decoys", "partners": "given.csv"},
        {"name": "labelled", "decoys": "decoys", "labels": "labels.csv"},
    ]
    write_pdb(tmp_path / "decoys/T/native.pdb", ATOMS)
    (tmp_path / "given.csv").write_text("target;partners\nT;A:L+H\n")
    (tmp_path / "labels.csv").write_text(
        "Target,Model,Partners,DockQ\nT,native,H+L:A,1.0\n"
    )
    study.configure(datasets=datasets)
    first, *others = (f"results/{row['name']}/published.tsv" for row in datasets)
    study.run(first, "--config", "partners=L+H:A")
    study.run(*others)
    files = [study.results / row["name"] / "interface/T/native.csv" for row in datasets]
    assert len({path.read_bytes() for path in files}) == 1
    assert set(pd.read_csv(files[0])["chain"]) == {"A", "H", "L"}
