"""What the pages of the predictors show of real models is what the scorer that ships says of them."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pandas as pd
import pytest
from _forked import snakemake

from conftest import REPOSITORY

PAGES = ("colabfold.md", "boltz.md", "alphafold3.md", "haddock.md")
MULTIMER = "rank_001_alphafold2_multimer_v3_model_1_seed_000"
SHOWN = {
    "homodimer_relaxed_" + MULTIMER: "colabfold_homodimer_relaxed_hydrogens.pdb.gz",
    "pdl1_binder_unrelaxed_" + MULTIMER: f"colabfold_pdl1_binder_unrelaxed_{MULTIMER}.pdb.gz",
    "multichain_model_0": "boltz_multichain_model_0.cif.gz",
    "pdl1_binder_model_0": "boltz_pdl1_binder_model_0.cif.gz",
    "pred.model_idx_0": "chai1_H1140_pred.model_idx_0.cif.gz",
    "rigidbody_1": "haddock3_protprot_complex_1.pdb.gz",
}
"""Decoy of a page → its file in the folder of predictor outputs."""
LINE = re.compile(r"^  \S+ +(\S+), predicted DockQ (\S+), 80 % interval (\S+) to (\S+) \((\w+)\)$", re.MULTILINE)
ROW = re.compile(r"^\| ([A-Z]:[A-Z]) \| (\d+) \| (\S+) \| (\w+) \|$", re.MULTILINE)


@pytest.fixture(scope="module")
def scores(predictor_outputs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every model of the pages scored, each a target by itself, as it is on the pages."""
    home = tmp_path_factory.mktemp("pages")
    for name, file in SHOWN.items():
        (home / f"models/{name}").mkdir(parents=True)
        suffix = re.search(r"\.(pdb|cif)\.gz$", file)[0]
        shutil.copy(predictor_outputs / file, home / f"models/{name}/{name}{suffix}")
    options = ["--snakefile", str(REPOSITORY / "Snakefile"), "--directory", str(home), "--cores", "2"]
    done = snakemake([*options, "score", "--config", f"score_decoys={home / 'models'}"], REPOSITORY, os.environ, 600)
    assert done.returncode == 0, done.stdout
    return home / "results/scores/models"


def test_the_pages_show_what_is_printed_today(scores):
    shown = [line for page in PAGES for line in LINE.findall((REPOSITORY / "docs" / page).read_text())]
    assert sorted(name for name, *_ in shown) == sorted(SHOWN)
    now = {
        row.decoy: (f"{row.pred_dockq:.3f}", f"{row.pred_low:.3f}", f"{row.pred_high:.3f}", row.pred_capri)
        for row in pd.read_csv(scores / "ranking.csv").itertuples()
    }
    assert {name: tuple(rest) for name, *rest in shown} == now


def test_so_do_the_interfaces_one_by_one(scores):
    shown = ROW.findall((REPOSITORY / "docs/boltz.md").read_text())
    table = pd.read_csv(scores / "interfaces.csv").query("decoy == 'multichain_model_0'")
    now = [(row.interface, str(row.n_contacts), f"{row.pred_dockq:.3f}", row.pred_capri) for row in table.itertuples()]
    assert shown == now
