"""Building a part: one graph by its path, some targets by name. What is not asked for stays as it
is.
"""

from __future__ import annotations

import os
import re
from collections import Counter

import pytest

from conftest import FEW_SETTINGS
from toporank.learning.data import GraphStore

GRAPH = "results/mini/graphs/1GCQ/mid4.pt"


def coverage(study) -> dict[tuple[str, str], str]:
    """Status of every decoy and label."""
    rows = [
        line.split("\t") for line in study.text("mini/coverage.tsv").splitlines()[1:]
    ]
    return {(row[0], row[1]): row[2] for row in rows}


def graphs(study) -> dict[str, bytes]:
    return {
        name: content for name, content in study.tree().items() if name.endswith(".pt")
    }


def jobs(study, *arguments: str) -> list[str]:
    """The rules that a run would run, in order."""
    printed = study.run("-n", *arguments).stdout
    return re.findall(r"^(?:local)?rule (\w+):", printed, re.MULTILINE)


def test_one_artefact_asked_for_by_its_path_is_made_with_those_before_it_and_no_other(
    fresh, few_built
):
    topology = GRAPH.replace("graphs", "topology").replace(".pt", ".csv")
    fresh.run(topology)
    assert jobs(fresh, GRAPH) == ["node_features", "graph"]
    fresh.run(GRAPH)
    made = {name for name in few_built.tree() if "1GCQ/mid4" in name}
    assert {name for name in fresh.tree() if "/1" in name} == made
    assert len(made) == 4
    of_all = few_built.tree()
    assert all(fresh.tree()[name] == of_all[name] for name in made)
    assert "Nothing to be done" in fresh.run(GRAPH).stdout
    refused = fresh.run(
        GRAPH.replace("mid4", "mid5"), "results/mini/graphs/2I25/apart1.pt", check=False
    )
    assert refused.returncode != 0
    assert "no model 1GCQ/mid5 (did you mean '1GCQ/mid4'?)" in refused.stdout
    failed = fresh.run("results/mini/graphs/2I25/apart1.pt", check=False)
    assert failed.returncode != 0
    assert "2I25/apart1: no_interface: no CA of one chain within 10 Å" in failed.stdout
    fresh.forget_logs()
    fresh.run("build_graphs")
    assert fresh.computed()["topology"] == 3  # of four; the one is taken from the store
    assert fresh.tree() == few_built.tree()
    assert jobs(fresh, GRAPH) == []


STAGES = ["interface", "topology", "node_features", "graph"]
CHANGES = [
    {"interface": {"cutoff": 9}},
    {"topology": {"radius": 9}},
    {"nodes": "dssp_topology"},
    {"edges": {"scaling": "none"}},
]
"""Of the configuration, the first stage first."""


@pytest.mark.parametrize("stage", range(4), ids=STAGES)
def test_an_artefact_is_made_again_where_its_part_of_the_configuration_changes_and_else_not(
    few, stage
):
    """Also an artefact that a chunk of decoys brought."""
    few.configure(**FEW_SETTINGS, features=CHANGES[stage])
    kinds = ["interface", "topology", "nodes"][:stage]
    before = [GRAPH.replace("graphs", k).replace(".pt", ".csv") for k in kinds]
    assert not before or jobs(few, *before) == []
    assert jobs(few, GRAPH) == STAGES[stage:]
    few.run(GRAPH)
    assert jobs(few, GRAPH) == []


def test_an_artefact_is_made_again_where_its_decoy_changes_and_where_it_is_touched_not(
    few,
):
    decoy = few.home / "decoys/1GCQ/mid4.cif"
    os.utime(decoy)
    assert jobs(few, GRAPH) == []
    text = decoy.read_text()
    decoy.write_text(text.replace("ATOM", "ATOM ", 1))
    assert jobs(few, GRAPH) == STAGES
    few.run(GRAPH)
    (few.home / GRAPH).write_bytes(b"damaged")
    assert jobs(few, GRAPH) == ["graph"]


@pytest.mark.slow
def test_each_artefact_of_each_decoy_may_have_a_job_which_gives_the_same_files(
    fresh, few_built
):
    settings = {**FEW_SETTINGS["workflow"], "jobs": "artefact"}
    fresh.configure(**{**FEW_SETTINGS, "workflow": settings})
    shown = fresh.run("build_graphs", "--dag").stdout
    assert all(shown.count(f'label = "{rule}') == 5 for rule in STAGES)
    fresh.run("build_graphs")
    empty = {name for name, content in fresh.tree().items() if not content}
    assert empty == {name for name in fresh.tree() if "2I25/apart1" in name}
    made = {name: text for name, text in fresh.tree().items() if name not in empty}
    assert made == few_built.tree()
    assert "Nothing to be done" in fresh.run("build_graphs").stdout
    settings["chunk_size"] = 1
    fresh.configure(
        **{**FEW_SETTINGS, "workflow": settings}, features={"topology": {"radius": 9}}
    )
    assert Counter(jobs(fresh, "build_graphs"))["topology"] == 5
    assert "interface" not in jobs(fresh, "build_graphs")


def test_one_graph_built_with_other_parameters_does_not_pass_for_the_old_one(
    few, few_built
):
    """Same size, other content: the next full build sets it right without computing anything."""
    few.configure(**FEW_SETTINGS, features={"edges": {"scaling": "none"}})
    few.run(GRAPH)
    assert (
        graphs(few)["mini/graphs/1GCQ/mid4.pt"]
        != graphs(few_built)["mini/graphs/1GCQ/mid4.pt"]
    )
    few.configure(**FEW_SETTINGS)
    few.forget_logs()
    few.run("build_graphs")
    assert few.computed() == Counter()
    assert graphs(few) == graphs(few_built)


def test_targets_build_these_alone_and_leave_the_others_as_they_are(fresh, few_built):
    fresh.run("build_graphs", "--config", "only=1GCQ")
    assert {name.split("/")[2] for name in graphs(fresh)} == {"1GCQ"}
    status = coverage(fresh)
    assert status["1GCQ", "near1"] == status["1GCQ", "mid4"] == "ok"
    assert status["1AVZ", "near1"] == status["2I25", "apart1"] == "not_built"
    fresh.forget_logs()
    fresh.run("build_graphs", "--config", "only=1AVZ,2I25")
    assert fresh.computed()["topology"] == 2
    assert coverage(fresh) == coverage(few_built)
    fresh.forget_logs()
    fresh.run("build_graphs")
    assert fresh.computed() == Counter()
    assert graphs(fresh) == graphs(few_built)
    assert fresh.text("mini/coverage.tsv") == few_built.text(
        "mini/coverage.tsv"
    ).replace(str(few_built.home), str(fresh.home))


def test_an_unknown_target_is_an_error_that_names_the_nearest(fresh):
    stopped = fresh.run("build_graphs", "--config", "only=1AVX", check=False)
    assert stopped.returncode != 0
    assert "targets: no target '1AVX' (did you mean '1AVZ'?)" in stopped.stdout


def test_what_a_part_made_anew_is_packed_and_not_what_was_there_before(few):
    """A label is part of the graph, whose size it does not change."""
    pack = "results/mini/graphs.safetensors"
    few.run(pack)
    labels = few.home / "labels.csv"
    lines = [
        line
        for line in labels.read_text().splitlines()
        if not line.startswith("1GCQ,mid4,")
    ]
    labels.write_text("\n".join([*lines, "1GCQ,mid4,0.25,2,train"]) + "\n")
    few.run(pack, "--config", "only=1GCQ")
    store = GraphStore.open([few.home / pack])
    decoys = store.decoys.set_index(["target", "decoy"])["dockq"]
    assert decoys["1GCQ", "mid4"] == 0.25
    assert len(decoys) == 4
