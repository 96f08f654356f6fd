"""Packs: many graphs in one file, and batches that are what PyTorch Geometric would have made of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from _synthetic import METADATA, members, random_graph
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Batch, Data

from toporank.errors import GraphError
from toporank.graphs import graph_bytes
from toporank.pack import GraphStore, write_pack

SIZES = [(5, 8), (3, 4), (7, 13), (1, 0), (4, 6)]
"""Nodes and edges of the graphs; one has a single node and no edge."""


def graphs_of(target: str, seed: int = 0) -> dict[tuple[str, str, str], Data]:
    """Five graphs of one target, the second of which has no label."""
    return {
        (target, f"d{i}", "train"): random_graph(seed + i, nodes=n, edges=e, dockq=None if i == 1 else i / 10)
        for i, (n, e) in enumerate(SIZES)
    }


def pack_of(folder: Path, name: str, graphs: dict[tuple[str, str, str], Data]) -> Path:
    path = folder / f"{name}.safetensors"
    write_pack(path, members(folder / name, graphs))
    return path


@pytest.fixture(scope="module")
def two(tmp_path_factory) -> tuple[GraphStore, list[Data]]:
    """A store of two packs with five graphs each, and the graphs themselves."""
    folder = tmp_path_factory.mktemp("two")
    one, other = graphs_of("A"), graphs_of("B", seed=50)
    store = GraphStore.open([pack_of(folder, "one", one), pack_of(folder, "other", other)])
    return store, [*one.values(), *other.values()]


# ---- batches ----------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=40)
@given(indices=st.lists(st.integers(0, 9), min_size=1, max_size=12))
def test_a_batch_is_the_batch_of_pytorch_geometric(two, indices):
    """Any graphs, in any order, from both packs, some of them twice."""
    store, graphs = two
    batch, expected = store.batch(indices), Batch.from_data_list([Data(**parts(graphs[i])) for i in indices])
    for name in ("x", "edge_index", "edge_attr"):
        ours, theirs = getattr(batch, name), expected[name]
        assert ours.dtype == theirs.dtype
        assert torch.equal(ours, theirs)
    assert torch.equal(batch.node_graph, expected.batch)
    assert torch.equal(batch.edge_graph, expected.batch[expected.edge_index[0]])
    assert batch.index.tolist() == indices
    assert len(batch.y) == len(indices)


def parts(graph: Data) -> dict[str, torch.Tensor]:
    """x, and the edges sorted by destination, as a pack keeps them."""
    order = torch.argsort(graph.edge_index[1], stable=True)
    return {"x": graph.x, "edge_index": graph.edge_index[:, order], "edge_attr": graph.edge_attr[order]}


def test_labels_keep_single_precision_and_a_missing_one_is_nan(two):
    store, _ = two
    y = store.batch([0, 1, 4]).y
    assert y.dtype == torch.float32
    assert y[[0, 2]].tolist() == [0.0, np.float32(0.4)]
    assert torch.isnan(y[1])


def test_the_table_of_a_store_names_its_graphs_in_order(two):
    store, _ = two
    assert len(store) == 10
    assert store.decoys["target"].tolist() == ["A"] * 5 + ["B"] * 5
    assert store.decoys["decoy"].tolist() == [f"d{i}" for i in range(5)] * 2
    assert store.decoys["dockq"].isna().tolist() == [False, True, False, False, False] * 2
    assert (store.node_width, store.edge_width) == (5, 3)


def test_the_order_of_packs_is_the_order_of_graphs(tmp_path):
    packs = [pack_of(tmp_path, name, graphs_of(name)) for name in ("A", "B")]
    assert GraphStore.open(packs[::-1]).decoys["target"].tolist() == ["B"] * 5 + ["A"] * 5


def test_the_order_of_members_is_the_order_of_graphs(tmp_path):
    table = members(tmp_path / "graphs", graphs_of("A")).iloc[::-1].reset_index(drop=True)
    write_pack(tmp_path / "pack", table)
    store = GraphStore.open([tmp_path / "pack"])
    assert store.decoys["decoy"].tolist() == ["d4", "d3", "d2", "d1", "d0"]
    assert len(store.batch([0]).x) == SIZES[4][0]


def test_a_store_knows_the_features_of_its_graphs_but_not_their_residues(two):
    store, _ = two
    assert store.metadata == METADATA


# ---- files ------------------------------------------------------------------------------------------------


def test_the_same_graphs_give_the_same_bytes(tmp_path):
    one, other = (pack_of(tmp_path, name, graphs_of("A")) for name in ("one", "other"))
    assert one.read_bytes() == other.read_bytes()


@pytest.mark.parametrize("name", ["NA", "1e5", "007", "nan", '"', "a,b", "Å", "true"])
def test_names_come_back_as_they_are(tmp_path, name):
    store = GraphStore.open([pack_of(tmp_path, "pack", {(name, name, "val"): random_graph(1)})])
    assert store.decoys[["target", "decoy", "split"]].values.tolist() == [[name, name, "val"]]


def test_graphs_made_elsewhere_without_metadata_are_packed(tmp_path):
    graphs = {("A", f"d{i}", "train"): random_graph(i, metadata=None, dockq=0.5) for i in range(3)}
    store = GraphStore.open([pack_of(tmp_path, "pack", graphs)])
    assert store.metadata.get("features") is None
    assert torch.equal(store.batch([2]).x, graphs["A", "d2", "train"].x)


def test_a_label_may_have_the_shape_of_a_table(tmp_path):
    graph = random_graph(1)
    graph.y = torch.tensor([[0.25]])
    assert GraphStore.open([pack_of(tmp_path, "pack", {("A", "d", "train"): graph})]).batch([0]).y.tolist() == [0.25]


def test_a_data_set_without_graphs_gives_an_empty_pack(tmp_path):
    write_pack(tmp_path / "pack", pd.DataFrame(columns=["target", "decoy", "split", "graph"]))
    store = GraphStore.open([tmp_path / "pack"])
    assert len(store) == 0
    assert list(store.decoys.columns) == ["target", "decoy", "split", "dockq"]


@pytest.mark.parametrize("first", [True, False])
def test_an_empty_pack_does_not_stand_in_the_way_of_another(tmp_path, first):
    write_pack(tmp_path / "empty", pd.DataFrame(columns=["target", "decoy", "split", "graph"]))
    full = pack_of(tmp_path, "full", graphs_of("A"))
    store = GraphStore.open([tmp_path / "empty", full] if first else [full, tmp_path / "empty"])
    assert (len(store), store.node_width) == (5, 5)
    assert torch.equal(store.batch([2]).x, graphs_of("A")["A", "d2", "train"].x)


# ---- graphs that do not go together -----------------------------------------------------------------------


def other_cutoff() -> dict:
    features = {**METADATA["features"], "interface": {"module": "interface/ca_cutoff/v1", "cutoff": 12.0}}
    return {**METADATA, "features": features}


MISFITS = {
    "node width": random_graph(9, widths=(6, 3)),
    "edge width": random_graph(9, widths=(5, 4)),
    "feature modules": random_graph(9, metadata=other_cutoff()),
    "feature modules of one alone": random_graph(9, metadata=None),
}


@pytest.mark.parametrize("what", MISFITS)
def test_graphs_that_differ_are_an_error_that_names_both_files(tmp_path, what):
    table = members(tmp_path / "graphs", {**graphs_of("A"), ("Z", "misfit", "train"): MISFITS[what]})
    with pytest.raises(GraphError) as caught:
        write_pack(tmp_path / "pack", table)
    assert f"graphs differ in {what.removesuffix(' of one alone')}" in str(caught.value)
    assert "A_d0.pt" in str(caught.value)
    assert "Z_misfit.pt" in str(caught.value)
    assert not (tmp_path / "pack").exists()


@pytest.mark.parametrize("what", MISFITS)
def test_packs_that_differ_are_an_error_that_names_both_files(tmp_path, what):
    good = pack_of(tmp_path, "good", graphs_of("A"))
    misfit = pack_of(tmp_path, "misfit", {("Z", "d", "train"): MISFITS[what]})
    with pytest.raises(GraphError) as caught:
        GraphStore.open([good, misfit])
    assert f"graphs differ in {what.removesuffix(' of one alone')}" in str(caught.value)
    assert str(good) in str(caught.value)
    assert str(misfit) in str(caught.value)


def test_graphs_of_another_format_are_not_packed_together(tmp_path):
    later = random_graph(9, metadata={**METADATA, "format": METADATA["format"] + 1})
    with pytest.raises(GraphError, match=r"graphs differ in graph format: 1 in .*, 2 in "):
        pack_of(tmp_path, "pack", {**graphs_of("A"), ("Z", "later", "train"): later})
    good = pack_of(tmp_path, "good", graphs_of("A"))
    with pytest.raises(GraphError, match=r"graphs differ in graph format: 1 in .*, 2 in "):
        GraphStore.open([good, pack_of(tmp_path, "later", {("Z", "later", "train"): later})])


def test_a_damaged_graph_is_named_and_the_old_pack_stays(tmp_path):
    pack = pack_of(tmp_path, "pack", graphs_of("A"))
    before = pack.read_bytes()
    table = members(tmp_path / "graphs", graphs_of("A"))
    Path(table["graph"][3]).write_bytes(graph_bytes(random_graph(1))[:500])
    with pytest.raises(GraphError, match=r"A_d3\.pt"):
        write_pack(pack, table)
    assert pack.read_bytes() == before
