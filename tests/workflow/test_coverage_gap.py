"""What a dry run says of the decoys, and what `snakemake coverage` writes: the truth, and nothing
is built.
"""

from __future__ import annotations

import os

import pandas as pd

from conftest import FEW, FEW_SETTINGS, make_study

ENOUGH = "coverage={minimum_percent: 30}"
"""Labels whose decoy was renamed away do not stop the build."""
DRY = ("build_graphs", "-n", "--quiet", "rules")


def gap(study) -> pd.DataFrame:
    """The list of every decoy as `snakemake coverage` writes it."""
    study.run("coverage", "--quiet", "rules")
    return pd.read_csv(
        study.results / "mini/gap.tsv", sep="\t", dtype=str, keep_default_na=False
    ).set_index(["target", "decoy"])


def test_before_a_build_everything_is_new_and_coverage_builds_nothing(tmp_path):
    study = make_study(tmp_path / "fresh", FEW)
    printed = study.run(*DRY, cores=None).stdout
    assert "mini: 5 decoys = 5 not built yet; " in printed
    assert "  interface, topology, nodes, graphs: 5 new\n" in printed
    assert "  every decoy: results/mini/gap.tsv\n" in printed
    assert set(gap(study)["graphs"]) == {"new"}
    assert sorted(path.name for path in (study.results / "mini").iterdir()) == [
        "gap.tsv",
        "plan",
    ]


def test_every_kind_of_gap_is_told_apart_and_counted(few):
    printed = few.run(*DRY, cores=None).stdout
    assert "mini: 5 decoys = 4 ok + 1 no_interface; " in printed
    assert (
        "  interface, topology, nodes, graphs: 4 up to date + 1 failed before (1 no_interface)\n"
        in printed
    )
    assert (
        "  failed before, 1 of 1: no CA of one chain within 10 Å of another chain's"
        in printed
    )
    with open(few.home / "decoys/1AVZ/far1.pdb", "a") as decoy:
        decoy.write("REMARK\n")
    (few.home / "decoys/1GCQ/mid4.cif").chmod(0o600)  # which changes nothing
    (few.home / "decoys/1GCQ/near1.pdb.gz").rename(
        few.home / "decoys/1GCQ/renamed.pdb.gz"
    )
    os.truncate(few.results / "mini/nodes/1AVZ/near1.csv", 100)
    few.configure(**FEW_SETTINGS, features={"edges": {"cutoff": 9.0}})
    for _ in range(2):  # a dry run does not make the next one forget
        printed = few.run(*DRY, cores=None).stdout
        assert (
            "  interface, topology: 2 up to date + 1 decoy changed + 1 failed before (1 "
            "no_interface) + 1 new\n"
        ) in printed
        assert (
            "  nodes: 1 artefact damaged + 1 decoy changed + 1 failed before (1 no_interface) + 1 "
            "new + 1 up to date\n"
        ) in printed
        assert (
            "  graphs: 2 parameter changed + 1 decoy changed + 1 failed before (1 no_interface) + "
            "1 new\n"
        ) in printed
    table = gap(few)
    assert table.loc[("1AVZ", "near1"), "nodes"] == "artefact damaged"
    assert table.loc[("1GCQ", "mid4"), "graphs"] == "parameter changed"
    assert table.loc[("1GCQ", "renamed"), "status"] == "not built yet"
    assert "no CA of one chain within" in table.loc[("2I25", "apart1"), "reason"]
    few.run("build_graphs", "--config", ENOUGH)
    assert set(gap(few).loc[("1GCQ", "renamed")].tolist()) == {"up to date", "ok", ""}
