"""What changed is recomputed, nothing else; the end is the same as that of a clean run."""

from __future__ import annotations

import gzip
import os
import re
from collections import Counter

import yaml

from conftest import CONFIG, make_study

GRAPHS = "build_graphs"


def counted_run(study, *arguments, **keywords) -> Counter:
    study.forget_logs()
    study.run(GRAPHS, *arguments, **keywords)
    return study.computed()


def test_touching_a_decoy_computes_nothing(study):
    os.utime(study.home / "decoys/1AVZ/far1.pdb")
    before = study.tree()
    assert counted_run(study) == Counter()
    assert study.tree() == before


def test_a_changed_decoy_computes_its_own_artefacts_only(study):
    decoy = study.home / "decoys/1AVZ/far1.pdb"
    original = decoy.read_text()
    decoy.write_text(original.replace("HETATM", "REMARK"))
    assert counted_run(study) == Counter(interface=1, topology=1, nodes=1, edges=1)  # equal graph: reused
    decoy.write_text(original)
    assert counted_run(study) == Counter()


def test_a_changed_label_computes_no_feature(study):
    labels = study.home / "labels.csv"
    labels.write_text(labels.read_text().replace("0.5,2,val", "0.5,2,val\n1AVZ,far1,0.125,0,train"))
    assert counted_run(study) == Counter(graphs=1)
    clean = make_study(study.home.parent / "clean")
    clean.home.joinpath("labels.csv").write_text(labels.read_text())
    clean.run(GRAPHS)
    assert (clean.results / "mini/graphs/1AVZ/far1.pt").read_bytes() == (
        study.results / "mini/graphs/1AVZ/far1.pt"
    ).read_bytes()


def test_a_parameter_of_a_late_stage_leaves_early_stages_alone_and_changes_back_for_free(study):
    before = study.tree()
    study.configure(features={"edges": {"cutoff": 9.0}})
    computed = counted_run(study)
    assert set(computed) == {"edges", "graphs"}
    assert not list(study.home.glob("logs/interface/mini/*.log"))
    study.configure()
    assert counted_run(study) == Counter()
    assert study.tree() == before


def test_a_deleted_or_damaged_artefact_is_repaired(study):
    before = study.tree()
    (study.results / "mini/topology/1GCQ/mid4.parquet").unlink()
    with open(study.results / "mini/graphs/1KTZ/mid2.pt", "r+b") as handle:
        handle.truncate(100)
    (study.results / "mini/nodes/1AVZ/near1.parquet").write_bytes(b"garbage")
    study.run(GRAPHS)
    assert study.tree() == before
    assert "Nothing to be done" in study.run(GRAPHS).stdout


def test_an_added_and_a_removed_decoy(study):
    (study.home / "decoys/1AVZ/near1.pdb.gz").rename(study.home / "decoys/1AVZ/renamed.pdb.gz")
    study.configure(coverage={"minimum_percent": 50})  # there is a label for the old name
    assert counted_run(study)["topology"] == 0  # the same content under another name
    graphs = study.results / "mini/graphs/1AVZ"
    assert (graphs / "renamed.pt").exists()
    assert not (graphs / "near1.pt").exists()
    (study.home / "decoys/1AVZ/renamed.pdb.gz").rename(study.home / "decoys/1AVZ/near1.pdb.gz")
    study.run(GRAPHS)
    clean = make_study(study.home.parent / "clean")
    clean.run(GRAPHS)
    assert {k: v for k, v in study.tree().items() if k.startswith("mini/graphs/")} == {
        k: v for k, v in clean.tree().items() if k.startswith("mini/graphs/")
    }


def test_a_damaged_decoy_does_not_stop_the_others(study):
    """Garbage, a truncated gzip file and a decoy of one chain: each named with a reason, the study ends well."""
    (study.home / "decoys/1AVZ/far1.pdb").write_bytes(b"\x00\x01 garbage")
    cut = study.home / "decoys/1GCQ/far1.pdb.gz"
    cut.write_bytes(cut.read_bytes()[:2000])
    whole = gzip.decompress((study.home / "decoys/1GCQ/wrong1.pdb.gz").read_bytes()).decode()
    one_chain = "".join(line for line in whole.splitlines(keepends=True) if line[21:22] != "B")
    (study.home / "decoys/1GCQ/wrong1.pdb.gz").write_bytes(gzip.compress(one_chain.encode()))
    study.configure(coverage={"minimum_percent": 50})
    study.run("all")
    rows = {tuple(line.split("\t")[:2]): line for line in study.text("mini/coverage.tsv").splitlines()}
    assert "unreadable\tinterface\tbinary data, not text" in rows["1AVZ", "far1"]
    assert "unreadable\tinterface\tdamaged gzip file" in rows["1GCQ", "far1"]
    assert "only one protein chain" in rows["1GCQ", "wrong1"]
    assert not (study.results / "mini/graphs/1AVZ/far1.pt").exists()
    ranking = [line for line in study.text("scores/mini/ranking.csv").splitlines() if ",1GCQ," in line]
    assert [line.rpartition(",")[2] for line in ranking] == ["ok", "ok", "unreadable", "unreadable"]
    report = study.text("report.html")
    assert "binary data, not text" in report
    assert "damaged gzip file" in report


def test_too_few_graphs_stop_training_with_a_reason(study):
    study.configure(coverage={"minimum_percent": 95})
    stopped = study.run("all", check=False)
    assert stopped.returncode != 0
    assert "11 of 13 labels (84.6 %) have a graph, at least 95 % must" in stopped.stdout
    study.configure(coverage={"minimum_percent": 80, "fail_on_missing": True})
    assert "every label must" in study.run("all", check=False).stdout


def test_a_moved_data_set_computes_nothing(study):
    (study.home / "decoys").rename(study.home / "moved decoys é")
    study.configure(datasets=[{**CONFIG["datasets"][0], "decoys": "moved decoys é"}])
    assert counted_run(study) == Counter()


def test_one_more_seed_trains_one_more_run(study):
    training = yaml.safe_load(yaml.safe_dump(CONFIG["training"]))
    training["sweep"]["seeds"].append(9)
    study.configure(training=training)
    printed = study.run("results/training/leaderboard.csv").stdout
    assert re.search(r"^train_sweep +1$", printed, re.MULTILINE)


def test_a_touched_decoy_trains_nothing_again(study):
    """The jobs run, for Snakemake sees new files, but find their results finished."""
    os.utime(study.home / "decoys/1AVZ/near1.pdb.gz")
    before = study.tree()
    study.forget_logs()
    study.run("all")
    assert study.computed() == Counter()
    training = [
        log.read_text() for log in study.home.glob("logs/*/*.log") if log.parent.name in ("training", "finetune")
    ]
    assert all("taken from the reuse store" in text for text in training)
    assert study.tree() == before
