"""What a change of decoys, labels, parameters or code costs; its end is that of a clean run, byte
by byte.
"""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from conftest import CONFIG, EXAMPLE, REPOSITORY, Study, clone_to, make_study
from made_once import made_once

pytestmark = pytest.mark.slow

THREE = {"1AVZ": ["near1.pdb.gz", "far1.pdb"], "1GCQ": ["mid4.cif"]}
GRAPHS = "build_graphs"
OF_FILE = Counter(atoms=3, in_file=3, contacts=3)
FEATURES_ALL = Counter(interface=3, topology=3, nodes=3, edges=3, graphs=3)
ALL = OF_FILE + FEATURES_ALL
"""Of decoys that were read before."""


def clean(home: Path, repository: Path = REPOSITORY, **settings) -> Study:
    """Three decoys taken to graphs in a new folder."""
    study = make_study(home, THREE)
    study.repository = repository
    study.configure(coverage={"minimum_percent": 0}, **settings)
    study.run(GRAPHS)
    return study


def again(study: Study, **settings) -> Counter[str]:
    """What the next run computes."""
    study.configure(coverage={"minimum_percent": 0}, **settings)
    study.forget_logs()
    study.run(GRAPHS)
    return study.computed()


def afresh(study: Study, home: Path) -> dict[str, bytes]:
    """What the inputs of a study come to in a new folder, where there is nothing to reuse."""
    home.mkdir()
    subprocess.run(
        ["cp", "-a", *(str(path) for path in inputs(study)), str(home)], check=True
    )
    fresh = Study(home, study.repository)
    fresh.run(GRAPHS)
    return fresh.tree()


def inputs(study: Study) -> list[Path]:
    made = ("results", "logs")
    return [
        path
        for path in study.home.iterdir()
        if path.name not in made and not path.name.startswith(".")
    ]


@pytest.fixture(scope="module")
def three(tmp_path_factory) -> Study:
    """Three decoys taken to graphs once; do not change it."""
    return Study(made_once(tmp_path_factory, "three", clean))


def test_decoys_changed_added_removed_and_renamed_then_a_label_changed(three, tmp_path):
    """In each run two changes, of which only the first or none has something to compute."""
    study = three.copy(tmp_path / "study")
    changed, labels = study.home / "decoys/1AVZ/far1.pdb", study.home / "labels.csv"
    text, table = changed.read_text(), labels.read_text()

    atom = next(
        line
        for line in text.splitlines()
        if line.startswith("ATOM") and line[12:16] == " CA "
    )
    changed.write_text(
        text.replace(atom, f"{atom[:30]}{float(atom[30:38]) + 0.5:8.3f}{atom[38:]}")
    )
    shutil.copy(EXAMPLE / "decoys/1GCQ/far1.pdb.gz", study.home / "decoys/1GCQ")
    assert again(study) == Counter(dict.fromkeys(ALL, 2))
    after = study.tree()
    for name in (
        "topology/1AVZ/far1.csv",
        "nodes/1AVZ/far1.csv",
        "graphs/1AVZ/far1.pt",
    ):
        assert after[f"mini/{name}"] != three.tree()[f"mini/{name}"]
    assert after == afresh(study, tmp_path / "changed and added")

    changed.unlink()
    (study.home / "decoys/1GCQ/mid4.cif").rename(study.home / "decoys/1GCQ/renamed.cif")
    labels.write_text(table.replace("1GCQ,mid4,", "1GCQ,renamed,"))
    assert again(study) == Counter()
    coverage = [
        line.split("\t")[:2]
        for line in study.text("mini/coverage.tsv").splitlines()[1:]
    ]
    assert coverage == [
        ["1AVZ", "near1"],
        ["1GCQ", "far1"],
        ["1GCQ", "renamed"],
        ["1KTZ", "lost_in_transfer"],
    ]
    assert {name.split("/")[-1].split(".")[0] for name in study.tree() if name.startswith("mini/graphs/")} == {
        "near1", "far1", "renamed",
    }  # fmt: skip
    assert not [name for name in study.tree() if "1AVZ/far1" in name or "mid4" in name]
    assert study.tree() == afresh(study, tmp_path / "removed and renamed")

    changed.write_text(text)
    (study.home / "decoys/1GCQ/far1.pdb.gz").unlink()
    (study.home / "decoys/1GCQ/renamed.cif").rename(study.home / "decoys/1GCQ/mid4.cif")
    labels.write_text(f"{table}1AVZ,far1,0.125,0,train\n")
    assert again(study) == Counter(graphs=1)
    assert study.tree() == afresh(study, tmp_path / "label")
    labels.write_text(table)
    assert again(study) == Counter()
    assert study.tree() == three.tree()


def test_a_parameter_of_the_last_stage_changed_then_back_in_a_data_set_that_was_moved(
    three, tmp_path
):
    study = three.copy(tmp_path / "study")
    before = study.tree()
    assert again(study, features={"edges": {"cutoff": 9.0}}) == Counter(
        edges=3, graphs=3
    )
    assert study.tree() == afresh(study, tmp_path / "wider") != before
    (study.home / "decoys").rename(study.home / "moved decoys é")
    assert (
        again(study, datasets=[{**CONFIG["datasets"][0], "decoys": "moved decoys é"}])
        == Counter()
    )
    coverage = (
        before.pop("mini/coverage.tsv")
        .decode()
        .replace("\tdecoys/", "\tmoved decoys é/")
    )
    assert study.tree() == {**before, "mini/coverage.tsv": coverage.encode()}


def test_parameters_of_the_first_and_the_third_stage_changed_and_back(three, tmp_path):
    study = three.copy(tmp_path / "study")
    before = study.tree()
    wider = {"features": {"interface": {"cutoff": 9.0}}}
    assert again(study, **wider) == FEATURES_ALL
    assert study.tree() == clean(tmp_path / "wider", **wider).tree() != before
    unscaled = {"features": {"nodes": {"scaling": "none"}}}  # and the first stage back
    assert again(study, **unscaled) == FEATURES_ALL - Counter(interface=3, topology=3)
    assert study.tree() == clean(tmp_path / "unscaled", **unscaled).tree() != before
    assert again(study) == Counter()
    assert study.tree() == before


def test_two_folders_and_two_data_sets_share_a_reuse_store(tmp_path):
    """What one computed the others find, each under its own names."""
    first = clean(tmp_path / "first", workflow={"reuse_store": "../store"})
    assert first.computed() == ALL
    second = make_study(tmp_path / "second", THREE)
    (second.home / "decoys/1GCQ").rename(second.home / "decoys/another")
    datasets = [{"name": name, "decoys": "decoys"} for name in ("mini", "twin")]
    second.configure(datasets=datasets, workflow={"reuse_store": "../store"})
    second.run(GRAPHS)
    for name in ("mini", "twin"):
        assert second.computed(name)["topology"] == 0
    assert not (second.home / ".toporank/store").exists()
    for file in ("1AVZ/near1", "1AVZ/far1"):
        ours = second.results / f"twin/topology/{file}.csv"
        assert (
            ours.read_bytes()
            == (first.results / f"mini/topology/{file}.csv").read_bytes()
        )


def test_code_of_one_stage_changed_and_back(tmp_path):
    study = clean(tmp_path / "study", clone_to(tmp_path / "toporank"))
    before = study.tree()
    module = study.repository / "lib/toporank/features/topology.py"
    text = module.read_text()
    module.write_text(text.replace("return values", "return 1.5 * values", 1))
    assert again(study) == ALL
    afresh = clean(tmp_path / "clean", study.repository)
    assert study.tree() == afresh.tree() != before
    module.write_text(text)
    assert again(study) == Counter()
    assert study.tree() == before
