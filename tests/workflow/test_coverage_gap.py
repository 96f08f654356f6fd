"""What a dry run says of the decoys, and what `snakemake coverage` writes: the truth, and nothing
is built.
"""

from __future__ import annotations

import os
import re

import pandas as pd
import pytest

from conftest import FEW, FEW_SETTINGS, make_study

DRY = ("build_graphs", "-n", "--quiet", "rules")


def gap(study) -> pd.DataFrame:
    """The list of every decoy as `snakemake coverage` writes it."""
    study.run("coverage", "--quiet", "rules")
    return pd.read_csv(
        study.results / "mini/gap.tsv", sep="\t", dtype=str, keep_default_na=False
    ).set_index(["target", "decoy"])


def files_of(study) -> set[str]:
    """All files in its folder, but for those that Snakemake keeps for itself."""
    files = (path.relative_to(study.home) for path in study.home.rglob("*"))
    return {str(path) for path in files if ".snakemake" not in path.parts}


def test_before_a_build_everything_is_new_and_nothing_is_written_but_the_list(fresh):
    before = files_of(fresh)
    printed = fresh.run(*DRY, cores=None).stdout
    assert "mini: 5 models = 5 not built yet; " in printed
    for line in (
        "interface, topology, nodes, graphs: 5 new",
        "labels that can have a graph: train 4 of 4, val 0 of 1; mean DockQ 0.627, of the others 0.500",
        "labels without model: 1, such as 1KTZ/lost_in_transfer",
        "models without label: 1, such as 1AVZ/far1",
        "every model: results/mini/gap.tsv",
    ):
        assert f"\n  {line}\n" in printed
    assert "\nmkdssp: not needed: built-in DSSP\n" in printed
    new = {"results", "results/mini", "results/mini/gap.tsv"}
    assert files_of(fresh) - before == new
    told = gap(fresh)
    assert files_of(fresh) - before == new
    assert told.loc[("1AVZ", "far1"), "label"].startswith("none: the label table")
    lost = told.loc[("1KTZ", "lost_in_transfer")]
    assert (lost["status"], lost["graphs"]) == ("label_without_decoy", "no model")


@pytest.mark.parametrize(
    ("target", "status", "reason"),
    [("build_graphs", 1, "at most 4 of 5 labels (80.0 %) can have a graph (train 4 of 4, 100.0 %, val 0 of 1, 0.0 %)"),
     ("train", 1, "training: no label of split 'val' has a model"),
     ("label_decoys", 1, "no data set has natives"), ("sample_decoys", 1, "sampling.natives: not given"),
     ("coverage", 0, ""), ("results/mini/graphs/1AVZ/near1.pt", 0, "")],
)  # fmt: skip
def test_a_dry_run_ends_with_an_error_where_a_run_of_this_target_would(
    tmp_path, target, status, reason
):
    study = make_study(tmp_path / "fresh", FEW)
    looked = study.run("-n", target, cores=None, check=False)
    assert looked.returncode == status
    assert ("Preflight failed, a run would end here:\n" in looked.stdout) == bool(
        status
    )
    assert reason in looked.stdout
    # the jobs are shown first, whatever is wrong
    assert status == 0 or re.search(r"^total +[1-9]", looked.stdout, re.MULTILINE)
    assert study.run("--list", target, cores=None).returncode == 0
    (study.home / "decoys").rename(study.home / "elsewhere")
    moved = study.run("-n", target, cores=None, check=False)
    assert moved.returncode == 1
    assert moved.stdout.count("there is no ") == 1
    assert "Job stats" not in moved.stdout


def test_every_kind_of_gap_is_told_apart_and_counted(few):
    printed = few.run(*DRY, cores=None).stdout
    assert "mini: 5 models = 4 ok + 1 no_interface; " in printed
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
            "  interface, topology: 2 up to date + 1 failed before (1 no_interface) + 1 model "
            "changed + 1 new\n"
        ) in printed
        assert (
            "  nodes: 1 artefact damaged + 1 failed before (1 no_interface) + 1 model changed + 1 "
            "new + 1 up to date\n"
        ) in printed
        assert (
            "  graphs: 2 parameter changed + 1 failed before (1 no_interface) + 1 model changed + "
            "1 new\n"
        ) in printed
    table = gap(few)
    assert table.loc[("1AVZ", "near1"), "nodes"] == "artefact damaged"
    assert table.loc[("1GCQ", "mid4"), "graphs"] == "parameter changed"
    assert table.loc[("1GCQ", "renamed"), "status"] == "not built yet"
    assert "no CA of one chain within" in table.loc[("2I25", "apart1"), "reason"]
    few.run("build_graphs")
    assert_current(few)
    table = gap(few)
    assert set(table.loc[("1GCQ", "renamed")][:5]) == {"up to date", "ok"}


def assert_current(study) -> None:
    """The list is what a look at everything would write, and agrees with coverage."""
    left = study.text("mini/gap.tsv")
    table = gap(study)
    assert study.text("mini/gap.tsv") == left
    path = study.results / "mini/coverage.tsv"
    coverage = pd.read_csv(path, sep="\t", dtype=str, keep_default_na=False)
    coverage = coverage.set_index(["target", "decoy"])
    same = ["status", "reason", "split"]
    pd.testing.assert_frame_equal(table[same], coverage[same])
    assert not {"new", "model changed"} & set(table["graphs"])


def test_after_a_build_the_list_says_what_coverage_says(few):
    assert_current(few)


def test_after_a_build_that_failed_the_list_says_what_there_is(fresh):
    fresh.configure(**FEW_SETTINGS | {"workflow": {"chunk_size": 1}})
    (fresh.home / "results/mini").mkdir(parents=True)
    (fresh.home / "results/mini/chains.csv").mkdir()
    assert fresh.run("build_graphs", check=False).returncode != 0
    left = fresh.text("mini/gap.tsv")
    assert left.count("\tok\t") == 4
    gap(fresh)
    assert fresh.text("mini/gap.tsv") == left
