"""Graphs of another pipeline: what is read, what is refused, and how files find their targets and
labels.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from _synthetic import METADATA, Evil, small_run
from torch_geometric.data import Data

from toporank.building.imported import ImportedGraphs, import_graphs
from toporank.building.packing import write_pack
from toporank.errors import CheckpointError, ConfigError, GraphError
from toporank.files.packfile import PackedGraphs
from toporank.finding.graph_files import find_graph_files
from toporank.finding.labels import Label
from toporank.learning.checkpoint import read_description
from toporank.learning.pyg_files import examine_graph_files, read_pyg_graph
from toporank.learning.train import TrainingGraphs, train_run
from toporank.ranking.packed_scores import score_pack
from toporank.scorer.scorer import Scorer

NODE_WIDTH, EDGE_WIDTH = 5, 3


def graph(
    seed: int = 0, *, widths: tuple[int, int] = (NODE_WIDTH, EDGE_WIDTH), **attributes
) -> Data:
    """A random graph of four nodes and six edges."""
    draw = torch.Generator().manual_seed(seed)
    return Data(
        x=torch.rand(4, widths[0], generator=draw),
        edge_index=torch.randint(0, 4, (2, 6), generator=draw),
        edge_attr=torch.rand(6, widths[1], generator=draw),
        **attributes,
    )


def saved(path: Path, data: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.save(data, path)
    return path


def imported(folder: Path, table: list[Label] = ()) -> ImportedGraphs:
    files = examine_graph_files(folder, find_graph_files(folder, "theirs"))
    return import_graphs("theirs", files, table, read_pyg_graph)


# ---- reading -------------------------------------------------------------------------------------


def test_a_graph_is_read_as_it_was_saved(tmp_path):
    data = graph(y=torch.tensor([[0.25]]))
    data.x = data.x.double()
    read = read_pyg_graph(saved(tmp_path / "a.pt", data))
    np.testing.assert_allclose(read.x, data.x, rtol=1e-6)
    np.testing.assert_array_equal(read.edge_index, data.edge_index)
    np.testing.assert_array_equal(read.edge_attr, data.edge_attr)
    assert read.x.dtype == read.edge_attr.dtype == np.float32
    assert read.y == 0.25
    assert read.metadata == {}
    assert math.isnan(read_pyg_graph(saved(tmp_path / "b.pt", graph())).y)


def of_older_release(**tensors: torch.Tensor) -> Data:
    """As PyTorch Geometric had it before 2.0: the tensors are attributes."""
    data = Data.__new__(Data)
    empty = dict.fromkeys(("x", "edge_index", "edge_attr", "y", "pos", "norm", "face"))
    vars(data).update(empty | tensors)
    return data


@pytest.mark.parametrize(
    "others", [{}, {"y": torch.tensor([0.5])}, {"__num_nodes__": 2}]
)
def test_a_graph_of_an_older_release_is_the_same_graph(tmp_path, others):
    tensors = {
        "x": torch.rand(2, 3),
        "edge_index": torch.tensor([[0, 1], [1, 0]]),
        "edge_attr": torch.ones(2, 4),
    }
    path = tmp_path / "old.pt"
    torch.save(of_older_release(**tensors, **others), path)
    graph = read_pyg_graph(path)
    assert (graph.x == tensors["x"].numpy()).all()
    assert math.isnan(graph.y) == ("y" not in others)
    torch.save(of_older_release(x=tensors["x"]), path)
    with pytest.raises(GraphError, match=r"old\.pt: has no tensor edge_index and no"):
        read_pyg_graph(path)


def test_one_number_an_edge_is_one_column(tmp_path):
    data = graph()
    data.edge_attr = data.edge_attr[:, 0]
    assert read_pyg_graph(saved(tmp_path / "a.pt", data)).edge_attr.shape == (6, 1)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        (
            {"edge_attr": None},
            r"bad\.pt: has no tensor edge_attr \(every graph needs x, edge_index, edge_attr",
        ),
        (
            {"x": None, "edge_index": None},
            r"bad\.pt: has no tensor x and no tensor edge_index",
        ),
        ({"x": torch.rand(4)}, r"bad\.pt: x has the shape \(4,\)"),
        (
            {"x": torch.full((4, 5), torch.nan)},
            r"bad\.pt: x has values that are not finite numbers",
        ),
        (
            {"edge_attr": torch.zeros(0, 3)},
            r"bad\.pt: edge_attr has the shape \(0, 3\)",
        ),
        (
            {"edge_index": torch.rand(2, 6)},
            r"bad\.pt: edge_index has .* whole numbers of shape \(2, 6\)",
        ),
        (
            {"edge_index": torch.zeros(2, 5, dtype=torch.int64)},
            r"bad\.pt: edge_index has the shape \(2, 5\)",
        ),
        (
            {"edge_index": torch.full((2, 6), 4)},
            r"bad\.pt: edge_index names node 4 \(x has 4 rows",
        ),
        ({"edge_index": torch.full((2, 6), -1)}, r"bad\.pt: edge_index names node -1"),
        ({"y": torch.tensor([0.1, 0.2])}, r"bad\.pt: y is not one number"),
        ({"y": 3.5}, r"bad\.pt: y is 3\.5 \(y is the DockQ"),
    ],
)
def test_what_cannot_be_a_graph_is_an_error_with_the_name_of_the_file(
    tmp_path, changes, says
):
    data = graph()
    for name, value in changes.items():
        data[name] = value
    with pytest.raises(GraphError, match=says):
        read_pyg_graph(saved(tmp_path / "bad.pt", data))


def test_a_file_that_could_run_code_is_refused_and_runs_none(tmp_path):
    with pytest.raises(
        GraphError,
        match=r"bad\.pt: not a readable graph file: it asks for \S+, .*\(save a Data",
    ):
        read_pyg_graph(saved(tmp_path / "bad.pt", graph(extra=Evil(tmp_path / "ran"))))
    with pytest.raises(GraphError, match=r"asks for numpy\."):
        read_pyg_graph(saved(tmp_path / "bad.pt", graph(extra=np.zeros(2))))
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "other", [{"x": 1}, [graph()], torch.zeros(2)], ids=["dict", "list", "tensor"]
)
def test_another_object_is_refused_by_its_name(tmp_path, other):
    with pytest.raises(
        GraphError, match=rf"a\.pt: holds a {type(other).__name__}, not a Data"
    ):
        read_pyg_graph(saved(tmp_path / "a.pt", other))


@pytest.mark.parametrize("content", [b"", b"not a graph", b"PK\x03\x04" + bytes(50)])
def test_a_damaged_file_is_an_error_with_its_name(tmp_path, content):
    (tmp_path / "a.pt").write_bytes(content)
    with pytest.raises(GraphError, match=r"a\.pt: not a readable graph"):
        read_pyg_graph(tmp_path / "a.pt")


@pytest.mark.parametrize(("tensor", "widths"), [("x", (6, 3)), ("edge_attr", (5, 2))])
def test_mixed_widths_are_an_error_with_both_files(tmp_path, tensor, widths):
    saved(tmp_path / "T1/a.pt", graph())
    saved(tmp_path / "T1/b.pt", graph(widths=widths))
    expected = dict(
        zip(("x", "edge_attr"), zip(widths, (5, 3), strict=True), strict=True)
    )[tensor]
    says = rf"b\.pt: {tensor} has {expected[0]} columns, in \S+a\.pt it has {expected[1]} \(all graphs"
    with pytest.raises(GraphError, match=says):
        imported(tmp_path)


def test_a_folder_without_graphs_is_an_error(tmp_path):
    with pytest.raises(
        ConfigError,
        match=r"dataset theirs, graphs: no \.pt file in .*<target>/<model>\.pt",
    ):
        find_graph_files(tmp_path, "theirs")


# ---- targets and labels --------------------------------------------------------------------------


def test_the_target_is_that_of_the_metadata_or_the_folder_or_the_labels(tmp_path):
    saved(tmp_path / "one.pt", graph(metadata={"target": "T1", "name": "best.pdb"}))
    saved(tmp_path / "two.pt", graph(target="T2"))
    saved(tmp_path / "T3/three.pt", graph())
    saved(tmp_path / "four.pt", graph())
    data = imported(
        tmp_path, [Label("T4", "four", 0.4, ""), Label("T1", "one", 0.1, "")]
    )
    assert [(row.target, row.decoy, row.dockq) for row in data.coverage] == [
        ("T1", "one", 0.1), ("T2", "two", None), ("T3", "three", None), ("T4", "four", 0.4),
    ]  # fmt: skip
    assert [(chain.target, chain.sequence) for chain in data.chains] == [
        (f"T{i}", "") for i in range(1, 5)
    ]


def test_a_file_without_target_or_with_several_is_an_error_that_says_what_to_do(
    tmp_path,
):
    saved(tmp_path / "one.pt", graph())
    with pytest.raises(
        ConfigError, match=r"one\.pt: its target is not known \(put it into a folder"
    ):
        imported(tmp_path)
    with pytest.raises(
        ConfigError,
        match=r"one\.pt: its target is not known \(the labels name this file for several",
    ):
        imported(tmp_path, [Label("T1", "one", 0.1, ""), Label("T2", "one", 0.1, "")])


def test_two_files_of_one_decoy_are_an_error_with_both(tmp_path):
    saved(tmp_path / "T1/one.pt", graph())
    saved(tmp_path / "more/T1/one.pt", graph())
    with pytest.raises(
        ConfigError, match=r"one\.pt and \S+one\.pt are both graph 'one' of target 'T1'"
    ):
        imported(tmp_path)


def test_y_is_the_label_and_the_table_labels_and_splits_the_others(tmp_path):
    saved(tmp_path / "T1/a.pt", graph(y=0.5))
    saved(tmp_path / "T1/b.pt", graph())
    table = [
        Label("T1", "a", 0.9, "val"),
        Label("T1", "b", 0.3, "val"),
        Label("T1", "lost", 0.2, "val"),
    ]
    data = imported(tmp_path, table)
    assert [(label.decoy, label.dockq, label.split) for label in data.labels] == [
        ("a", 0.5, "val"), ("b", 0.3, "val"), ("lost", 0.2, "val"),
    ]  # fmt: skip
    assert [row.status for row in data.coverage] == ["ok", "ok", "label_without_decoy"]
    assert any(
        "differ for 1 graphs, such as T1/a (0.5 and 0.9): `y` counts" in note
        for note in data.notes
    )
    with pytest.raises(
        ConfigError, match="none of the 1 labels belongs to any of the 2 models"
    ):
        imported(tmp_path, [Label("T9", "z", 0.9, "val")])


def test_a_changed_label_is_packed_anew_and_the_other_graphs_are_copied(tmp_path):
    for name in ("a", "b"):
        saved(tmp_path / f"graphs/T1/{name}.pt", graph())
    pack, folder = tmp_path / "graphs.safetensors", tmp_path / "graphs"
    first = [Label("T1", "a", 0.1, ""), Label("T1", "b", 0.2, "")]
    assert write_pack(pack, imported(folder, first).members) == 2
    changed = [first[0], first[1]._replace(dockq=0.8)]
    assert write_pack(pack, imported(folder, changed).members) == 1
    np.testing.assert_allclose(PackedGraphs.open([pack]).dockq, [0.1, 0.8], rtol=1e-6)


# ---- features that are named, and a network ------------------------------------------------------


def test_notes_say_whether_features_can_be_named_and_that_there_are_no_clusters(
    tmp_path,
):
    saved(tmp_path / "T1/a.pt", graph(y=0.5))
    plain, clusters = imported(tmp_path).notes
    assert "which feature modules made the graphs, so TopoRank cannot name" in plain
    assert "no sequences, so there are no clusters" in clusters
    saved(tmp_path / "T1/a.pt", graph(y=0.5, metadata=METADATA))
    assert imported(tmp_path).notes == [clusters]
    graph_ = read_pyg_graph(tmp_path / "T1/a.pt")
    assert graph_.metadata == METADATA
    saved(
        tmp_path / "T1/a.pt",
        graph(metadata={"features": "theirs", "node_columns": ["too few"]}),
    )
    assert read_pyg_graph(tmp_path / "T1/a.pt").metadata == {}
    in_part = {key: {"module": "theirs"} for key in ("nodes", "edges")}
    saved(tmp_path / "T1/a.pt", graph(y=0.5, metadata={"features": in_part}))
    assert (
        "which feature modules made interface, topology, so"
        in imported(tmp_path).notes[0]
    )


def test_a_network_of_their_widths_scores_such_graphs_and_no_others(tmp_path):
    labels = []
    for t in range(4):
        for d in range(4):
            data = graph(10 * t + d, widths=(7, 4))
            data.x *= 1000  # nobody has scaled them
            saved(tmp_path / f"graphs/T{t}/d{d}.pt", data)
            labels.append(
                Label(
                    f"T{t}",
                    f"d{d}",
                    round(0.1 + 0.2 * d, 3),
                    "val" if t == 3 else "train",
                )
            )
    data, pack = (
        imported(tmp_path / "graphs", labels),
        tmp_path / "theirs/graphs.safetensors",
    )
    pack.parent.mkdir()
    write_pack(pack, data.members)
    source = TrainingGraphs([pack])
    train_run(small_run(max_epochs=2), source, 1, tmp_path / "run", tmp_path / "store")
    checkpoint = tmp_path / "run/best_loss.ckpt"
    description = read_description(checkpoint)
    assert (description["node_width"], description["edge_width"]) == (7, 4)
    assert description.get("features") is None
    scored = score_pack(Scorer.of(checkpoint), pack, data.coverage)
    assert len(scored.facts) == len(scored.vectors) == 16
    # standardised: large values saturate nothing
    assert scored.facts["score"].nunique() > 10
    # nobody wrote down the chains of its training targets
    assert {row.seen_in_training for row in scored.leakage} == {"unknown"}

    saved(tmp_path / "others/T1/a.pt", graph())
    others, other_pack = imported(tmp_path / "others"), tmp_path / "others.safetensors"
    write_pack(other_pack, others.members)
    with pytest.raises(
        CheckpointError, match=r"was trained on other graphs: .*'node_width': 7"
    ):
        score_pack(Scorer.of(checkpoint), other_pack, others.coverage)
