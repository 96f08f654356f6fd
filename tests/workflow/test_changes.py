"""Damage, touching, coverage limits, one more seed: what is recomputed, and what is not. See
test_recomputation.
"""

from __future__ import annotations

import gzip
import os
import re
import shutil
import subprocess
from collections import Counter

import pandas as pd
import pytest
import yaml

from conftest import CONFIG

pytestmark = pytest.mark.slow

GRAPHS = "build_graphs"
ONE_RUN = {"sweep": {**CONFIG["training"]["sweep"], "seeds": [1]}}


def counted_run(study, *arguments, **keywords) -> Counter:
    study.forget_logs()
    study.run(GRAPHS, *arguments, **keywords)
    return study.computed()


def test_a_deleted_or_damaged_artefact_is_repaired(few):
    """From the reuse store, or by computing it again where that lost it, too."""
    before = few.tree()
    topology, nodes, graph, same_size = (
        few.results / "mini" / name
        for name in (
            "topology/1GCQ/mid4.csv",
            "nodes/1AVZ/near1.csv",
            "graphs/1AVZ/near1.pt",
            "graphs/1GCQ/mid4.pt",
        )
    )
    topology.unlink()
    nodes.write_bytes(b"garbage")
    os.truncate(graph, 100)
    same_size.write_bytes(b"x" * same_size.stat().st_size)
    assert counted_run(few) == Counter()
    assert few.tree() == before
    shutil.rmtree(few.home / ".toporank/store")
    graph.unlink()
    few.run(GRAPHS)
    assert few.tree() == before
    few.run("results/mini/graphs/1GCQ/mid4.pt")
    os.truncate(same_size, 100)
    few.run("results/mini/graphs/1GCQ/mid4.pt")
    assert few.tree() == before
    few.run(GRAPHS)  # looks whether what was asked for alone is its own
    assert few.tree() == before
    assert "Nothing to be done" in few.run(GRAPHS).stdout


def test_a_damaged_decoy_does_not_stop_the_others(study):
    """Garbage, a truncated gzip file and a decoy of one chain: each named with a reason, the study
    ends well.

    When the files are whole again, so is everything that came of them. Nothing is computed or
    trained for that, nor for a decoy that was touched: the jobs run, for Snakemake sees new files,
    but find their results finished.
    """
    before = study.tree()
    subprocess.run(
        ["cp", "-a", str(study.home / "decoys"), str(study.home / "whole")], check=True
    )
    (study.home / "decoys/1AVZ/far1.pdb").write_bytes(b"\x00\x01 garbage")
    cut = study.home / "decoys/1GCQ/far1.pdb.gz"
    cut.write_bytes(cut.read_bytes()[:2000])
    whole = gzip.decompress(
        (study.home / "decoys/1GCQ/wrong1.pdb.gz").read_bytes()
    ).decode()
    one_chain = "".join(
        line for line in whole.splitlines(keepends=True) if line[21:22] != "B"
    )
    (study.home / "decoys/1GCQ/wrong1.pdb.gz").write_bytes(
        gzip.compress(one_chain.encode())
    )
    study.configure(coverage={"minimum_percent": 50}, training=ONE_RUN)
    study.run("all")
    rows = {
        tuple(line.split("\t")[:2]): line
        for line in study.text("mini/coverage.tsv").splitlines()
    }
    assert "unreadable\tinterface\tbinary data, not text" in rows["1AVZ", "far1"]
    assert "unreadable\tinterface\tdamaged gzip file" in rows["1GCQ", "far1"]
    assert "only one protein chain" in rows["1GCQ", "wrong1"]
    assert not (study.results / "mini/graphs/1AVZ/far1.pt").exists()
    models = pd.read_csv(study.results / "scores/mini/models.csv")
    status = models.loc[models["target"] == "1GCQ", "status"]
    assert status.tolist() == ["ok", "ok", "chain_missing", "unreadable"]
    report = study.text("scores/mini/report.html")
    assert "binary data, not text" in report
    assert "damaged gzip file" in report
    shutil.rmtree(study.home / "decoys")
    (study.home / "whole").rename(study.home / "decoys")
    os.utime(study.home / "decoys/1AVZ/near1.pdb.gz")
    study.configure()
    study.forget_logs()
    study.run("all")
    assert study.computed() == Counter()
    logs = [
        log.read_text()
        for stage in ("training", "finetune")
        for log in study.home.glob(f"logs/{stage}/*.log")
    ]
    assert sum("taken from the reuse store" in text for text in logs) == 4
    assert study.tree() == before


def test_too_few_graphs_stop_training_with_a_reason(study):
    study.configure(coverage={"minimum_percent": 95})
    stopped = study.run("all", check=False)
    assert stopped.returncode != 0
    assert "at least 95 % of each split must" in stopped.stdout


def test_one_more_seed_trains_one_more_run(study):
    training = yaml.safe_load(yaml.safe_dump(CONFIG["training"]))
    training["sweep"]["seeds"].append(9)
    study.configure(training=training)
    printed = study.run("results/training/leaderboard.csv").stdout
    assert re.search(r"^train_sweep +1$", printed, re.MULTILINE)
