"""The commands a user types, and what they say when something is wrong."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pandas as pd
import pytest

from conftest import EXAMPLE, REPOSITORY, Study, make_study
from quick_python import quickly
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
    assert (
        "mini: 13 models = 13 not built yet; 13 labels, 1 of them without model"
        in printed
    )
    assert re.search(r"^train_sweep +2$", printed, re.MULTILINE)
    printed = finished.run(*DRY, cores=None).stdout
    assert (
        "mini: 13 models = 12 ok + 1 no_interface; 13 labels, 1 of them without model"
        in printed
    )


def test_an_unknown_key_ends_with_a_sentence_alone(fresh):
    stopped = fresh.run(*DRY, "--config", "batches=3", cores=None, check=False)
    assert stopped.returncode == 1
    said = stopped.stdout.partition("The configuration cannot be used:\n")[2]
    assert said.startswith("  batches: unknown key")
    assert said.count("\n") == 1
    assert "common.smk" not in stopped.stdout


def test_where_mkdssp_is_asked_for_and_missing_nothing_runs_and_the_remedy_is_told(
    fresh, tmp_path
):
    path = without_mkdssp(tmp_path / "bin")
    assert "Preflight" not in fresh.run(*DRY, cores=None, PATH=path).stdout
    fresh.configure(features={"nodes": {"dssp": "mkdssp"}})
    stopped = fresh.run("build_graphs", check=False, PATH=path)
    assert stopped.returncode != 0
    assert (
        "Preflight failed, nothing was run:\n  mkdssp: not found on the PATH"
        in stopped.stdout
    )
    assert "apt-get install dssp" in stopped.stdout
    assert not (fresh.results / "mini/interface").exists()
    looked = fresh.run(*DRY, cores=None, PATH=path, check=False)
    assert looked.returncode == 1
    assert (
        "mkdssp: not usable\nPreflight: mkdssp: not found on the PATH" in looked.stdout
    )


def score(
    home: Path, decoys: Path, scorer: Path | str, *, check: bool = True
) -> tuple[str, Study]:
    """Score a folder in a working directory; what was printed, and the study."""
    study = Study(home)
    settings = f"score_decoys={decoys}", f"scorer={scorer}"
    return study.run("score", "--config", *settings, check=check).stdout, study


def models_of(study: Study, name: str) -> pd.DataFrame:
    """models.csv and details.csv in one table."""
    models = pd.read_csv(study.results / f"scores/{name}/models.csv")
    details = pd.read_csv(study.results / f"scores/{name}/details.csv")
    return models.merge(details, on=["target", "decoy"])


def test_the_checkpoint_of_the_study_in_this_folder_scores_and_nothing_is_trained(
    study,
):
    """Its ensemble, too; and the study is as finished as it was. The score of a decoy does not hang
    on who else is scored.
    """
    before = study.tree()
    mine = study.home / "my decoys"
    shutil.copytree(study.home / "decoys/1GCQ", mine)
    printed, _ = score(study.home, mine, "results/final/best.ckpt")
    assert not re.search("train_sweep|select_final|finetune", printed)
    ours = models_of(study, "my_decoys")
    of_study = models_of(study, "mini").query("target == '1GCQ'")
    for column in ("decoy", "score", "network_sd"):
        assert ours[column].tolist() == of_study[column].tolist()
    assert {name: study.tree()[name] for name in before} == before
    assert "Nothing to be done" in study.run("all").stdout


def test_a_folder_without_labels_is_scored_with_a_checkpoint_alone(finished, tmp_path):
    """Files of several formats and odd names, lying directly in the folder, each another complex;
    and a decoy no score can be given. The checkpoint has no ensemble and no calibration.
    """
    folder, home = tmp_path / "my models", tmp_path / "scoring"
    folder.mkdir()
    home.mkdir()
    shutil.copy(EXAMPLE / "decoys/1EMV/near1.pdb.gz", folder / "näher 1.pdb.gz")
    shutil.copy(EXAMPLE / "decoys/1GCQ/mid4.cif", folder / "model.v2_tidy.cif")
    shutil.copy(EXAMPLE / "decoys/2I25/apart1.cif.gz", folder / "apart.cif.gz")
    (folder / "empty.pdb").touch()
    (tmp_path / "a place").mkdir()
    lone = shutil.copy(
        finished.results / "final/best.ckpt", tmp_path / "a place/lone.ckpt"
    )
    _, study = score(home, folder, lone)
    models = models_of(study, "my_models").set_index("decoy")
    assert models["status"].to_dict() == {
        "apart": "no_interface",
        "empty": "unreadable",
        "model.v2_tidy": "ok",
        "näher 1": "ok",
    }
    assert models["target"].is_unique
    assert models["dockq"].notna().sum() == 2
    assert set(models["verdict"].dropna()) <= {"check", "do not believe"}
    assert "näher 1" in study.text("scores/my_models/report.html")


def test_a_scorer_with_a_judge_gives_intervals_and_says_what_is_out_of_domain(
    finished, tmp_path
):
    """A decoy of the study, scored alone by a copy of the ensemble, has the network score and
    spread it has there.
    """
    folder, scorer = tmp_path / "alone", tmp_path / "a copy of it"
    # under another name: nothing is said of the domain of a training target
    (folder / "another").mkdir(parents=True)
    shutil.copy(EXAMPLE / "decoys/1AVZ/mid1.cif.gz", folder / "another")
    shutil.copytree(finished.results / "final", scorer)
    write_judge(scorer / "judge.json", a_judge())
    refused, _ = score(tmp_path, folder, scorer, check=False)
    assert (
        "judge.json: it is not part of the scorer that scorer.json describes" in refused
    )
    seal(scorer, mean=True)
    printed, study = score(tmp_path, folder, scorer)
    (alone,) = models_of(study, "alone").to_dict("records")
    (together,) = (
        models_of(finished, "mini").query("decoy == 'mid1'").to_dict("records")
    )
    assert alone["network"] == pytest.approx(together["score"], abs=1e-6)
    assert alone["network_sd"] == pytest.approx(together["network_sd"], abs=1e-6)
    assert [alone["dockq_low"], alone["dockq_high"]] == pytest.approx(
        [0, alone["dockq"]], abs=1e-6
    )
    size = alone["n_interface_residues"]
    assert (
        alone["out_of_domain"] == f"interface of {size} residues, training had 1 to 5"
    )
    assert f"80 % interval 0.00 to {alone['dockq_high']:.2f}" in printed
    assert "toy: the scorer was trained on models of 2 targets only" in printed
    assert pd.isna(together["dockq_low"])
    assert alone["out_of_domain"] in study.text("scores/alone/report.html")


def a_judge() -> Judge:
    """Wide intervals and a narrow domain; the network has 8 hidden units."""
    knots = [
        Knot(dockq=0, low=0, high=0, p_acceptable=0),
        Knot(dockq=1, low=0, high=1, p_acceptable=1),
    ]
    return Judge(
        temperature=0.05,
        consensus=0.3,
        of_residues=[],
        of_pairs=[],
        structure=Calibration(constant=-2, mean=4, within=4, knots=knots),
        domain=Domain(
            n_interface_residues=(1, 5),
            n_chains=(2, 2),
            center=[0.0] * 12,
            axes=[],
            deviations=[],
            limit=0,
        ),
    )


def test_the_study_is_planned_for_a_cluster_from_a_clone(tmp_path):
    """In a copy of what git knows, so that nothing here is disturbed or depended on."""
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", str(REPOSITORY), str(clone)], check=True)
    shutil.copytree(EXAMPLE / "decoys", clone / "data/decoys")
    labels = pd.read_csv(EXAMPLE / "labels.csv")
    for split, rows in labels.groupby("split"):
        rows.to_csv(clone / f"data/{split}_labels.csv", index=False)
    options = [
        "-m",
        "snakemake",
        "--profile",
        "slurm",
        "--configfile",
        "config/study.yaml",
        "-n",
        "--quiet",
        "rules",
    ]
    answer = quickly(options, clone)
    assert answer.returncode == 0, answer.stdout
    assert re.search(r"^train_sweep +9$", answer.stdout, re.MULTILINE)
    assert re.search(r"^finetune_phase1 +1$", answer.stdout, re.MULTILINE)
    assert re.search(r"^finetune_phase2 +3$", answer.stdout, re.MULTILINE)
    shutil.rmtree(clone / "data")
    stopped = quickly(options, clone)
    assert stopped.returncode == 1
    assert "dataset study: there is no " in stopped.stdout


def test_snakemake_makes_its_own_report_too(study):
    study.run("--report", "snakemake-report.html")
    assert (study.home / "snakemake-report.html").stat().st_size > 100_000
