"""Building a part: one graph by its path, some targets by name. What is not asked for stays as it
is.
"""

from __future__ import annotations

from collections import Counter

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


def test_one_graph_asked_for_by_its_path_is_built_and_no_other(fresh, few_built):
    fresh.run(GRAPH)
    assert fresh.computed() == Counter(
        complex=1,
        confidence=1,
        contacts=1,
        interface=1,
        topology=1,
        nodes=1,
        edges=1,
        graphs=1,
    )
    assert graphs(fresh) == {
        "mini/graphs/1GCQ/mid4.pt": graphs(few_built)["mini/graphs/1GCQ/mid4.pt"]
    }
    assert "Nothing to be done" in fresh.run(GRAPH).stdout
    refused = fresh.run(
        GRAPH.replace("mid4", "mid5"), "results/mini/graphs/2I25/apart1.pt", check=False
    )
    assert refused.returncode != 0
    assert "no decoy 1GCQ/mid5 (did you mean '1GCQ/mid4'?)" in refused.stdout
    failed = fresh.run("results/mini/graphs/2I25/apart1.pt", check=False)
    assert failed.returncode != 0
    assert "2I25/apart1: no_interface: no CA of one chain within 10 Å" in failed.stdout
    fresh.forget_logs()
    fresh.run("build_graphs")
    assert fresh.computed()["topology"] == 3  # of four; the one is taken from the store
    assert fresh.tree() == few_built.tree()


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
