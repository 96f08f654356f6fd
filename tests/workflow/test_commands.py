"""The commands a user types, and what they say when something is wrong."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pandas as pd
import pytest
from _forked import snakemake

from conftest import EXAMPLE, REPOSITORY, make_study
from toporank.scorer.judge import Calibration, Domain, Judge, Knot, write_judge
from toporank.scorer.manifest import seal

DRY = ("-n", "--quiet", "rules")


@pytest.fixture
def fresh(tmp_path):
    return make_study(tmp_path / "fresh")


def without_mkdssp(folder: Path) -> str:
    """A PATH on which everything the workflow needs is found, except mkdssp."""
    folder.mkdir()
    for program in ("bash", "sh", "env", "git", "tee", "which", "mkdir", "cat"):
        (folder / program).symlink_to(shutil.which(program))
    return str(folder)


def test_a_dry_run_shows_what_is_missing(fresh, finished):
    printed = fresh.run(*DRY, cores=None).stdout
    assert "mini: 13 decoys = 13 not built yet; 13 labels, 1 of them without decoy" in printed
    assert re.search(r"^train_sweep +2$", printed, re.MULTILINE)
    printed = finished.run(*DRY, cores=None).stdout
    assert "mini: 13 decoys = 12 ok + 1 no_interface; 13 labels, 1 of them without decoy" in printed


def test_where_mkdssp_is_asked_for_and_missing_nothing_runs_and_the_remedy_is_told(fresh, tmp_path):
    path = without_mkdssp(tmp_path / "bin")
    assert "Preflight" not in fresh.run(*DRY, cores=None, PATH=path).stdout
    fresh.configure(features={"nodes": {"dssp": "mkdssp"}})
    stopped = fresh.run("build_graphs", check=False, PATH=path)
    assert stopped.returncode != 0
    assert "Preflight failed, nothing was run:\n  mkdssp: not found on the PATH" in stopped.stdout
    assert "apt-get install dssp" in stopped.stdout
    assert not (fresh.results / "mini/interface").exists()
    warned = fresh.run(*DRY, cores=None, PATH=path)
    assert "Preflight: mkdssp: not found on the PATH" in warned.stdout


def test_an_unsupported_mkdssp_is_refused(fresh, tmp_path):
    fake = tmp_path / "fake/mkdssp"
    fake.parent.mkdir()
    fake.write_text("#!/bin/sh\necho mkdssp version 2.2.1\n")
    fake.chmod(0o755)
    fresh.configure(features={"nodes": {"dssp": "mkdssp"}})
    stopped = fresh.run("build_graphs", check=False, PATH=f"{fake.parent}:{os.environ['PATH']}")
    assert "2.2.1 is not supported, 4.x is" in stopped.stdout


def test_all_problems_are_told_at_once(fresh):
    fresh.configure(
        datasets=[
            {"name": "mini", "decoys": "decoys", "labels": "labels.csv"},
            {"name": "gone", "decoys": "no/such/folder"},
            {"name": "bad", "decoys": "decoys/1AVZ", "labels": "wrong.csv"},
        ]
    )
    (fresh.home / "wrong.csv").write_text("Target,Model,DockQ\n1AVZ,near1,1.5\n")
    stopped = fresh.run("build_graphs", check=False)
    assert stopped.returncode != 0
    for part in (
        "dataset gone: there is no ",
        "wrong.csv, line 2: DockQ of 1AVZ/near1 is '1.5', not a number from 0 to 1",
    ):
        assert part in stopped.stdout


def test_a_misspelt_key_is_an_error_that_names_the_right_one(fresh):
    fresh.configure(features={"topology": {"radios": 9.0}})
    stopped = fresh.run(*DRY, cores=None, check=False)
    assert stopped.returncode != 0
    assert "features.topology.radios: unknown key (did you mean 'radius'?)" in stopped.stdout


def test_the_checkpoint_of_the_study_in_this_folder_scores_and_nothing_is_trained(study):
    """Its ensemble, too; and the study is as finished as it was."""
    before = study.tree()
    mine = study.home / "my decoys"
    shutil.copytree(study.home / "decoys/1GCQ", mine)
    printed = study.run(
        "score", "--config", f"score_decoys={mine}", "scorer=results/final/best.ckpt"
    ).stdout
    assert not re.search("train_sweep|select_final|finetune", printed)
    ranking = pd.read_csv(study.results / "scores/my_decoys/details.csv")
    of_study = pd.read_csv(study.results / "scores/mini/details.csv").query("target == '1GCQ'")
    assert ranking["decoy"].tolist() == of_study["decoy"].tolist()
    for column in (
        "score",
        "network_sd",
    ):  # of each decoy by itself: who else is scored changes no bit of it
        assert ranking[column].tolist() == of_study[column].tolist()
    assert {name: study.tree()[name] for name in before} == before
    assert "Nothing to be done" in study.run("all").stdout


def test_a_folder_without_labels_is_scored_with_a_checkpoint_alone(finished, tmp_path):
    """Files of several formats and odd names, lying directly in the folder; and a decoy no score
    can be given.
    """
    folder = tmp_path / "my models"
    folder.mkdir()
    shutil.copy(EXAMPLE / "decoys/1EMV/near1.pdb.gz", folder / "näher 1.pdb.gz")
    shutil.copy(EXAMPLE / "decoys/1GCQ/mid4.cif", folder / "model.v2_tidy.cif")
    shutil.copy(EXAMPLE / "decoys/2I25/apart1.cif.gz", folder / "apart.cif.gz")
    (folder / "empty.pdb").touch()
    home = tmp_path / "scoring"
    home.mkdir()
    study = type(finished)(home)
    (tmp_path / "a place").mkdir()
    lone = shutil.copy(
        finished.results / "final/best.ckpt", tmp_path / "a place/lone.ckpt"
    )  # without its ensemble
    study.run("score", "--config", f"score_decoys={folder}", f"scorer={lone}")
    ranking = pd.read_csv(study.results / "scores/my_models/models.csv")
    assert sorted(ranking["decoy"]) == ["apart", "empty", "model.v2_tidy", "näher 1"]
    assert sorted(ranking["status"]) == [
        "no_interface",
        "ok",
        "ok",
        "unreadable",
    ]  # four targets, one complex each
    assert ranking["target"].nunique() == 4
    assert ranking["dockq"].notna().sum() == 2
    assert set(ranking["verdict"].dropna()) <= {"check", "do not believe"}  # no calibration
    assert "näher 1" in study.text("scores/my_models/report.html")


def test_the_score_of_a_decoy_does_not_depend_on_its_company(finished, tmp_path):
    """Scored alone by a copy of the ensemble, a decoy of the study gets the network score and
    spread it got there.

    To the copy belongs a judge, which is where interval and domain come from.
    """
    folder = tmp_path / "alone"
    (folder / "1AVZ").mkdir(parents=True)
    shutil.copy(EXAMPLE / "decoys/1AVZ/mid1.cif.gz", folder / "1AVZ")
    study = type(finished)(tmp_path)
    shutil.copytree(finished.results / "final", tmp_path / "a copy of it")
    scorer = tmp_path / "a copy of it"
    write_judge(scorer / "judge.json", a_judge())
    refused = study.run(
        "score", "--config", f"score_decoys={folder}", f"scorer={scorer}", check=False
    ).stdout
    assert "judge.json: it is not part of the scorer that scorer.json describes" in refused
    seal(scorer, mean=True)
    printed = study.run("score", "--config", f"score_decoys={folder}", f"scorer={scorer}").stdout
    alone, together = (
        row_of(each, "mid1")
        for each in (study.results / "scores/alone", finished.results / "scores/mini")
    )
    assert alone["network"] == pytest.approx(together["score"], abs=1e-6)
    assert alone["network_sd"] == pytest.approx(together["network_sd"], abs=1e-6)
    assert [alone["dockq_low"], alone["dockq_high"]] == pytest.approx([0, alone["dockq"]], abs=1e-6)
    assert (
        alone["out_of_domain"]
        == f"interface of {alone['n_interface_residues']} residues, training had 1 to 5"
    )
    assert f"80 % interval 0.00 to {alone['dockq_high']:.2f}" in printed
    assert "toy: the scorer was trained on decoys of 2 targets only" in printed
    assert pd.isna(together["dockq_low"])
    assert alone["out_of_domain"] in study.text("scores/alone/report.html")


def row_of(scores: Path, decoy: str) -> pd.Series:
    """What models.csv and details.csv say of a decoy."""
    tables = (
        pd.read_csv(scores / name).set_index("decoy") for name in ("models.csv", "details.csv")
    )
    return pd.concat([table.loc[decoy] for table in tables])


def a_judge() -> Judge:
    """Wide intervals and a narrow domain."""
    knots = [
        Knot(dockq=0, low=0, high=0, p_acceptable=0),
        Knot(dockq=1, low=0, high=1, p_acceptable=1),
    ]
    narrow = Domain(  # the network has 8 hidden units
        n_interface_residues=(1, 5),
        n_chains=(2, 2),
        center=[0.0] * 12,
        axes=[],
        deviations=[],
        limit=0,
    )
    calibration = Calibration(constant=-2, mean=4, within=4, knots=knots)
    return Judge(
        temperature=0.05,
        consensus=0.3,
        of_residues=[],
        of_pairs=[],
        structure=calibration,
        domain=narrow,
    )


def test_a_foreign_checkpoint_is_refused_with_a_reason(tmp_path):
    (tmp_path / "decoys/T").mkdir(parents=True)
    (tmp_path / "other.ckpt").write_bytes(b"not a checkpoint")
    study_type = type(make_study(tmp_path / "x"))
    printed = (
        study_type(tmp_path)
        .run("score", "--config", "score_decoys=decoys", "scorer=other.ckpt", check=False)
        .stdout
    )
    assert "other.ckpt: not a readable checkpoint" in printed


def test_the_study_is_planned_for_a_cluster_from_a_clone(tmp_path):
    """In a copy of what git knows, so that nothing here is disturbed or depended on."""
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", str(REPOSITORY), str(clone)], check=True)
    options = ["--profile", "slurm", "--configfile", "config/study.yaml", "-n", "--quiet", "rules"]
    answer = snakemake(options, clone, os.environ, 120)
    assert answer.returncode == 0, answer.stdout
    assert re.search(r"^train_sweep +9$", answer.stdout, re.MULTILINE)
    assert re.search(r"^train_finetune +4$", answer.stdout, re.MULTILINE)


def test_snakemake_makes_its_own_report_too(study):
    study.run("--report", "snakemake-report.html")
    assert (study.home / "snakemake-report.html").stat().st_size > 100_000
