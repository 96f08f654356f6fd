"""A data set with natives instead of a label table."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from building import published_graph
from conftest import EXAMPLE, FEW_SETTINGS, Study, make_study
from toporank.files.packfile import Pack
from toporank.files.spreadsheets import read_rows
from toporank.finding.labels import read_split_labels

pytestmark = pytest.mark.slow

DECOYS = {"1AVZ": ["mid1.cif.gz", "far1.pdb"], "1GCQ": ["mid4.cif", "wrong1.pdb.gz"]}


PACK = "results/mini/graphs.safetensors"


def qualities(study: Study) -> dict[tuple[str, str], np.ndarray]:
    """Local quality of the edges of every packed decoy."""
    pack = Pack.open(study.home / PACK)
    return {
        (target, decoy): pack.graph(i).edge_y
        for i, (target, decoy, _) in enumerate(pack.decoys)
    }


def test_decoys_are_labelled_by_their_natives_before_their_graphs_are_built(tmp_path):
    study = make_study(tmp_path / "study", DECOYS)
    (study.home / "natives").mkdir()
    for target in DECOYS:
        shutil.copy(
            EXAMPLE / "decoys" / target / "near1.pdb.gz",
            study.home / "natives" / f"{target}.pdb.gz",
        )
    study.configure(
        datasets=[{"name": "mini", "decoys": "decoys", "natives": "natives"}],
        **FEW_SETTINGS,
    )
    printed = study.run("build_graphs", "label_decoys", PACK).stdout
    assert (
        "4 models = 4 ok; 4 labels = 4 with a graph; 0 models without label" in printed
    )

    table = {
        (row["Target"], row["Model"]): float(row["DockQ"])
        for row in read_rows(study.results / "mini/dockq.csv")
    }
    labels = read_split_labels(study.results / "mini/labels.csv")
    assert {label[:2]: label.dockq for label in labels} == table
    assert {label.split for label in labels} == {""}  # `split_targets` decides
    for (target, decoy), dockq in table.items():
        graph = published_graph(study.results / f"mini/graphs/{target}/{decoy}.pt")
        assert graph.y == pytest.approx(dockq, abs=1e-6)

    before = qualities(study)
    assert list(before) == sorted(table)
    assert all(((known >= 0) & (known <= 1)).all() for known in before.values())
    good, bad = (before["1AVZ", name].mean() for name in ("mid1", "far1"))
    assert good > bad

    other = study.home / "natives/1AVZ.pdb.gz"
    shutil.copy(EXAMPLE / "decoys/1AVZ/mid2.pdb.gz", other)
    study.forget_logs()
    study.run("build_graphs", PACK)
    assert study.computed() == {
        "atoms": 1,
        "label": 2,
        "counterparts": 2,
        "graphs": 2,
    }
    after = qualities(study)
    assert {key for key in before if not np.array_equal(before[key], after[key])} == {
        ("1AVZ", "mid1"), ("1AVZ", "far1")
    }  # fmt: skip
