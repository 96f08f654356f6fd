"""Partners in whole runs: the score answers the question that was asked, however it is asked."""

from __future__ import annotations

import pandas as pd
import pytest

from complexes import ANTIBODY, write_pdb
from conftest import Study
from structures_text import atoms_of

pytestmark = pytest.mark.slow

ATOMS = atoms_of(ANTIBODY)


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
