"""Packs: many graphs in one file, and batches that are what PyTorch Geometric would have made of them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from _synthetic import METADATA, members, packed, random_graph
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.torch import save
from torch_geometric.data import Batch, Data

import toporank.building.packing as packing_module
from toporank.building.packing import Member, in_memory, write_pack
from toporank.errors import GraphError
from toporank.files.graph_file import Graph
from toporank.files.packfile import Pack, PackedGraphs
from toporank.learning.data import GraphStore

SIZES = [(5, 8), (3, 4), (7, 13), (1, 0), (4, 6)]
"""Nodes and edges of the graphs; one has a single node and no edge."""


def graphs_of(target: str, seed: int = 0) -> dict[tuple[str, str, str], Data]:
    """Five graphs of one target, the second of which has no label."""
    return {
        (target, f"d{i}", "train"): random_graph(
            seed + i, nodes=n, edges=e, dockq=None if i == 1 else i / 10
        )
        for i, (n, e) in enumerate(SIZES)
    }


def pack_of(folder: Path, name: str, graphs: dict[tuple[str, str, str], Data]) -> Path:
    return packed(folder / f"{name}.safetensors", graphs)


@pytest.fixture(scope="module")
def two(tmp_path_factory) -> tuple[GraphStore, list[Data]]:
    """A store of two packs with five graphs each, and the graphs themselves."""
    folder = tmp_path_factory.mktemp("two")
    one, other = graphs_of("A"), graphs_of("B", seed=50)
    store = GraphStore.open(
        [pack_of(folder, "one", one), pack_of(folder, "other", other)]
    )
    return store, [*one.values(), *other.values()]


# ---- batches ----------------------------------------------------------------------------------------------


@settings(max_examples=40)
@given(indices=st.lists(st.integers(0, 9), min_size=1, max_size=12))
def test_a_batch_is_the_batch_of_pytorch_geometric(two, indices):
    """Any graphs, in any order, from both packs, some of them twice."""
    store, graphs = two
    batch, expected = (
        store.batch(indices),
        Batch.from_data_list([Data(**parts(graphs[i])) for i in indices]),
    )
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
    return {
        "x": graph.x,
        "edge_index": graph.edge_index[:, order],
        "edge_attr": graph.edge_attr[order],
    }


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
    assert (
        store.decoys["dockq"].isna().tolist() == [False, True, False, False, False] * 2
    )
    assert (store.node_width, store.edge_width) == (5, 3)


def test_a_store_knows_the_features_of_its_graphs_but_not_their_residues(two):
    store, _ = two
    assert store.metadata == METADATA


def test_a_pack_in_memory_is_that_of_a_file(tmp_path):
    table = members(tmp_path, graphs_of("A"))
    write_pack(tmp_path / "pack", table, joined=2)
    memory, file = in_memory(table, joined=2), Pack.open(tmp_path / "pack")
    for name, numbers in file.numbers.items():
        assert memory.numbers[name].dtype == numbers.dtype
        np.testing.assert_array_equal(memory.numbers[name], numbers)
        assert not memory.numbers[name].flags.writeable
    for field in ("decoys", "metadata", "residues", "joined"):
        assert getattr(memory, field) == getattr(file, field)
    empty = PackedGraphs.of_packs([in_memory([]), in_memory(table)])
    assert (len(empty), empty.node_width) == (5, 5)
    graph = PackedGraphs.of_packs([memory]).graph(0)
    by_columns = graph._replace(edge_index=np.asfortranarray(graph.edge_index))
    edges = Pack.of([("A", "a", "")], [by_columns], 0).numbers["edge_index"]
    assert edges.flags.c_contiguous  # else loops are compiled a second time


# ---- files ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["NA", "1e5", '"', "Å"])
def test_names_come_back_as_they_are(tmp_path, name):
    store = GraphStore.open(
        [pack_of(tmp_path, "pack", {(name, name, "val"): random_graph(1)})]
    )
    assert store.decoys[["target", "decoy", "split"]].values.tolist() == [
        [name, name, "val"]
    ]


def test_a_data_set_without_graphs_gives_an_empty_pack(tmp_path):
    write_pack(tmp_path / "pack", [])
    store = GraphStore.open([tmp_path / "pack"])
    assert len(store) == 0
    assert list(store.decoys.columns) == ["target", "decoy", "split", "dockq"]


@pytest.mark.parametrize("first", [True, False])
def test_an_empty_pack_does_not_stand_in_the_way_of_another(tmp_path, first):
    write_pack(tmp_path / "empty", [])
    full = pack_of(tmp_path, "full", graphs_of("A"))
    store = GraphStore.open(
        [tmp_path / "empty", full] if first else [full, tmp_path / "empty"]
    )
    assert (len(store), store.node_width) == (5, 5)
    assert torch.equal(store.batch([2]).x, graphs_of("A")["A", "d2", "train"].x)


# ---- graphs that do not go together -----------------------------------------------------------------------


def other_cutoff() -> dict:
    features = {
        **METADATA["features"],
        "interface": {"module": "interface/ca_cutoff/v1", "cutoff": 12.0},
    }
    return {**METADATA, "features": features}


MISFITS = {
    "node width": random_graph(9, widths=(6, 3)),
    "edge width": random_graph(9, widths=(5, 4)),
    "feature modules": random_graph(9, metadata=other_cutoff()),
    "feature modules of one alone": random_graph(9, metadata=None),
}


@pytest.mark.parametrize("what", MISFITS)
def test_graphs_that_differ_are_an_error_that_names_both_files(tmp_path, what):
    table = members(
        tmp_path / "graphs", {**graphs_of("A"), ("Z", "misfit", "train"): MISFITS[what]}
    )
    with pytest.raises(GraphError) as caught:
        write_pack(tmp_path / "pack", table)
    assert f"graphs differ in {what.removesuffix(' of one alone')}" in str(caught.value)
    assert "A_d0.pt" in str(caught.value)
    assert "Z_misfit.pt" in str(caught.value)
    assert not (tmp_path / "pack").exists()


def test_graphs_whose_columns_are_among_those_of_others_have_zeros_in_the_rest(
    tmp_path, caplog
):
    wide = {"edge_columns": ["a", "b", "c"]}
    narrow = {"edge_columns": ["c", "a"]}
    graphs = [
        random_graph(1, metadata=wide),
        random_graph(2, widths=(5, 2), metadata=narrow),
    ]
    packs = [
        pack_of(tmp_path, name, {(name, "d", "train"): graph})
        for name, graph in zip(("W", "N"), graphs, strict=True)
    ]
    store = GraphStore.open(packs[::-1])
    order = torch.argsort(graphs[1].edge_index[1], stable=True)
    c, a = graphs[1].edge_attr[order].T
    expected = torch.stack([a, torch.zeros_like(a), c], dim=1)
    assert torch.equal(store.batch([0]).edge_attr, expected)
    assert store.metadata["edge_columns"] == wide["edge_columns"]
    assert "N.safetensors: b are 0, which other graphs have" in caplog.text


@pytest.mark.parametrize("what", MISFITS)
def test_packs_that_differ_are_an_error_that_names_both_files(tmp_path, what):
    good = pack_of(tmp_path, "good", graphs_of("A"))
    misfit = pack_of(tmp_path, "misfit", {("Z", "d", "train"): MISFITS[what]})
    with pytest.raises(GraphError) as caught:
        GraphStore.open([good, misfit])
    assert f"graphs differ in {what.removesuffix(' of one alone')}" in str(caught.value)
    assert str(good) in str(caught.value)
    assert str(misfit) in str(caught.value)


def test_a_damaged_graph_is_named_and_the_old_pack_stays(tmp_path):
    pack = pack_of(tmp_path, "pack", graphs_of("A"))
    before = pack.read_bytes()
    table = members(tmp_path / "graphs", graphs_of("A", seed=9))
    table[3] = table[3]._replace(content=lambda: table[0].content()[:500])
    with pytest.raises(GraphError, match=r"A_d3\.pt: not a readable graph"):
        write_pack(pack, table)
    assert pack.read_bytes() == before


# ---- packing again ----------------------------------------------------------------------------------------


@pytest.fixture
def reads(monkeypatch) -> list[str]:
    """Names of the graph files that are read, as it happens."""
    names, read = [], packing_module.read_graph
    monkeypatch.setattr(
        packing_module,
        "read_graph",
        lambda content, where: (names.append(where.name), read(content, where))[1],
    )
    return names


def test_only_new_and_changed_graphs_are_read_again_and_the_bytes_are_those_of_a_full_pack(
    tmp_path, reads
):
    graphs = graphs_of("A")
    pack = tmp_path / "pack"
    assert write_pack(pack, members(tmp_path / "graphs", graphs)) == 5
    del graphs["A", "d2", "train"]
    graphs["A", "d3", "train"] = random_graph(77, dockq=0.9)
    graphs["A", "d9", "val"] = random_graph(78)
    table = members(tmp_path / "graphs", graphs)[::-1]
    reads.clear()
    assert write_pack(pack, table) == 2
    assert sorted(reads) == ["A_d3.pt", "A_d9.pt"]
    write_pack(tmp_path / "full", table)
    assert pack.read_bytes() == (tmp_path / "full").read_bytes()


def test_another_split_reads_no_graph(tmp_path, reads):
    pack = pack_of(tmp_path, "pack", graphs_of("A"))
    reads.clear()
    write_pack(
        pack,
        [m._replace(split="val") for m in members(tmp_path / "pack", graphs_of("A"))],
    )
    assert reads == []
    assert GraphStore.open([pack]).decoys["split"].tolist() == ["val"] * 5


def test_all_graphs_are_packed_again_when_the_code_that_packs_them_changed(
    tmp_path, monkeypatch
):
    table = members(tmp_path / "graphs", graphs_of("A"))
    assert write_pack(tmp_path / "pack", table) == len(table)
    assert write_pack(tmp_path / "pack", table) == 0
    monkeypatch.setattr(packing_module, "code_of", lambda *roots: "other code")
    assert write_pack(tmp_path / "pack", table) == len(table)


def test_a_damaged_pack_is_not_copied_from(tmp_path, reads):
    table = members(tmp_path / "graphs", graphs_of("A"))
    whole = tmp_path / "whole"
    write_pack(whole, table)
    for name, spoil in DAMAGES.items():
        pack = tmp_path / name
        write_pack(pack, table)
        spoil(pack)
        reads.clear()
        assert write_pack(pack, table) == len(reads) == 5
        assert pack.read_bytes() == whole.read_bytes()


# ---- local quality of edges ------------------------------------------------------------------------------


def good_by_source(key: tuple[str, str], graph: Graph) -> np.ndarray:
    """A local quality that tells which edges it is of."""
    return graph.edge_attr[:, 0].astype(np.float32)


def known(table: list[Member], of: str = "d2 d4") -> list[Member]:
    return [
        m._replace(quality_sha256=f"of {m.decoy}") if m.decoy in of.split() else m
        for m in table
    ]


def test_local_qualities_follow_the_edges_and_are_nan_where_unknown(tmp_path):
    table = members(tmp_path / "graphs", graphs_of("A"))
    write_pack(tmp_path / "known", known(table), quality=good_by_source)
    write_pack(tmp_path / "unknown", table)
    assert GraphStore.open([tmp_path / "unknown"]).batch([0, 2]).edge_y is None
    batch = GraphStore.open(
        [tmp_path / "unknown", tmp_path / "known"], verify=True
    ).batch([9, 2, 7, 5])
    there = torch.isin(batch.edge_graph, torch.tensor([0, 2]))
    assert torch.equal(batch.edge_y[there], batch.edge_attr[there, 0])
    assert batch.edge_y[~there].isnan().all()


def test_another_native_changes_the_local_quality_of_its_decoys_alone(tmp_path, reads):
    table, pack = members(tmp_path / "graphs", graphs_of("A")), tmp_path / "pack"
    for changed, n_read in (
        (known(table), 5),
        (known(table), 0),
        (known(table, "d2"), 1),
        (table, 1),
    ):
        reads.clear()
        assert write_pack(pack, changed, quality=good_by_source) == len(reads) == n_read
        write_pack(tmp_path / "full", changed, quality=good_by_source)
        assert pack.read_bytes() == (tmp_path / "full").read_bytes()
        (tmp_path / "full").unlink()


def test_local_qualities_that_do_not_fit_the_edges_are_refused(tmp_path):
    table = known(members(tmp_path / "graphs", graphs_of("A")))
    write_pack(
        tmp_path / "pack",
        table,
        quality=lambda key, graph: good_by_source(key, graph)[1:],
    )
    with pytest.raises(GraphError, match="do not fit together"):
        Pack.open(tmp_path / "pack")


# ---- damaged or whole ----------------------------------------------------------------


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-7])


def flip(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[:-9] + bytes([content[-9] ^ 1]) + content[-8:])


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def of_others(path: Path) -> None:
    path.write_bytes(save({"x": torch.zeros(3)}))


def overlapping(path: Path) -> None:
    with safe_open(path, framework="pt") as file:
        tensors, metadata = (
            {name: file.get_tensor(name) for name in file.keys()},  # noqa: SIM118
            file.metadata(),
        )
    path.write_bytes(
        save({**tensors, "node_start": tensors["node_start"] + 1}, metadata)
    )


DAMAGES = {
    "cut": cut,
    "empty": emptied,
    "of others": of_others,
    "overlapping": overlapping,
    "flipped": flip,
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_pack_is_an_error_that_says_what_to_do(tmp_path, name):
    pack = pack_of(tmp_path, "pack", graphs_of("A"))
    DAMAGES[name](pack)
    with pytest.raises(GraphError, match=r"pack.*delete it and run again"):
        GraphStore.open([pack], verify=True)


def changed(
    path: Path, description: dict | None = None, **tensors: torch.Tensor
) -> None:
    """Write a pack with other tensors, or with parts of its description replaced."""
    with safe_open(path, framework="pt") as file:
        kept = {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118
        text = file.metadata()["toporank"]
    text = json.dumps({**json.loads(text), **(description or {})})
    path.write_bytes(save({**kept, **tensors}, {"toporank": text}))


NOT_FITTING, NOT_READABLE = "pack.*do not fit together", "not a readable pack: "
REFUSED = [
    ({"description": {"decoys": [["A", "d", "val"]] * 4}}, NOT_FITTING),
    ({"description": {"sources": ["a"]}}, NOT_FITTING),
    ({"x": torch.zeros(20, 5, dtype=torch.int32)}, NOT_FITTING),
    ({"y": torch.zeros(5, 1)}, NOT_FITTING),
    ({"z": torch.zeros(1)}, NOT_FITTING),
    ({"edge_start": torch.tensor([0, 8, 4, 25, 25, 31])}, NOT_FITTING),
    ({"description": {"decoys": [["A", "d"]] * 5}}, NOT_READABLE),
    ({"description": {"decoys": 5}}, NOT_READABLE),
    ({"y": torch.zeros(5, dtype=torch.bfloat16)}, NOT_READABLE),
]


@pytest.mark.parametrize(("change", "says"), REFUSED, ids=str)
def test_a_pack_of_another_kind_or_whose_tables_do_not_fit_is_refused(
    tmp_path, change, says
):
    pack = pack_of(tmp_path, "pack", graphs_of("A"))
    changed(pack, **change)
    with pytest.raises(GraphError, match=f"{says}.*delete it and run again"):
        Pack.open(pack)


@pytest.mark.parametrize("change", [(0, 5), (7, -1), (8, 3), (-1, 4)], ids=str)
@pytest.mark.parametrize("end", [0, 1])
def test_an_edge_that_leaves_its_graph_is_refused_whatever_the_digest_says(
    tmp_path, change, end
):
    """The second graph has three nodes, the last four: node 3 is there, but not in the second graph."""
    pack = pack_of(tmp_path, "pack", graphs_of("A"))
    whole = Pack.open(pack)
    edge, node = change
    index = whole.numbers["edge_index"].copy()
    index[end, edge] = node
    changed(pack, edge_index=torch.from_numpy(index))
    with pytest.raises(
        GraphError,
        match="an edge of this pack joins nodes that its graph does not have",
    ):
        GraphStore.open([pack])
