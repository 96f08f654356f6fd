"""Graphs: kept as safetensors, published as plain PyTorch Geometric `Data`, made from a real
decoy.
"""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from _synthetic import METADATA, Evil, file_content, random_graph
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader

from building import build as build_decoys
from building import published_graph
from processes import printed
from toporank.building.chunks.store import Store
from toporank.errors import GraphError
from toporank.features.registry import DEFAULT_MODULES, choose, records, resolve
from toporank.files.graph_file import Graph, graph_bytes, read_graph
from toporank.finding.folders import find_decoys
from toporank.layout import PLAN, SUFFIX
from toporank.learning.pyg_files import as_file, read_pt

MATRICES = ("x", "edge_index", "edge_attr")
SMALLEST = {
    "x": np.zeros((1, 1)),
    "edge_index": np.zeros((2, 0), int),
    "edge_attr": np.zeros((0, 1)),
}


def published(path: Path, graph: Data) -> Path:
    """The graph as `build_graphs` publishes it."""
    path.write_bytes(as_file("graphs", file_content(graph)))
    return path


# ---- in the reuse store --------------------------------------------------------------------------


def test_a_graph_is_kept_in_single_precision_with_its_label_and_metadata():
    values, metadata = (
        np.array([[1 / 3, 2.0], [0.1, -1.0]]),
        {**METADATA, "residues": ["NA:1", "Å:-2B"]},
    )
    graph = read_graph(
        graph_bytes(values, np.array([[0], [1]]), np.array([[1 / 7]]), 0.3, metadata),
        "g",
    )
    assert [getattr(graph, name).dtype for name in MATRICES] == [
        "float32",
        "int64",
        "float32",
    ]
    np.testing.assert_array_equal(graph.x, values.astype(np.float32))
    np.testing.assert_array_equal(graph.edge_attr, np.float32([[1 / 7]]))
    assert graph.edge_index.tolist() == [[0], [1]]
    assert graph.y == np.float32(0.3)
    assert graph.metadata == metadata


@pytest.mark.parametrize(("dockq", "label"), [(None, math.nan), (0.0, 0.0)])
def test_a_decoy_without_label_has_no_y_and_a_label_of_zero_is_one(
    tmp_path, dockq, label
):
    content = graph_bytes(**SMALLEST, y=dockq, metadata=METADATA)
    assert np.array_equal(read_graph(content, "g").y, label, equal_nan=True)
    (tmp_path / "g.pt").write_bytes(as_file("graphs", content))
    assert read_pt(tmp_path / "g.pt").get("y") == dockq


def test_the_same_graph_gives_the_same_bytes_whatever_the_order_of_its_metadata():
    one, other = {"a": "nodes", "b": ["nodes"]}, {"b": ["nodes"], "a": "nodes"}
    contents = [
        graph_bytes(**SMALLEST, y=None, metadata=metadata) for metadata in (one, other)
    ]
    assert contents[0] == contents[1]
    assert as_file("graphs", contents[0]) == as_file("graphs", contents[1])
    with pytest.raises(TypeError, match="PosixPath is not JSON serializable"):
        graph_bytes(**SMALLEST, y=None, metadata={"file": Path("x")})


@pytest.mark.parametrize("size", [0, 1, 10, 100, -100, -1])
def test_a_damaged_graph_is_an_error_that_names_it(size):
    with pytest.raises(
        GraphError,
        match=r"^T/d1: not a readable graph: \S.* \(build the graph again\)$",
    ):
        read_graph(file_content(random_graph(1))[:size], "T/d1")


# ---- as people open it ---------------------------------------------------------------------------

BY_ITSELF = """
import sys, torch, torch_geometric
from torch_geometric.data.data import DataEdgeAttr, DataTensorAttr
from torch_geometric.data.storage import GlobalStorage

torch.serialization.add_safe_globals([DataEdgeAttr, DataTensorAttr, GlobalStorage])
graph = torch.load(sys.argv[1])
assert "toporank" not in sys.modules
print(type(graph).__name__, sorted(graph.keys()), graph.y.item(), graph.metadata["features"]["edges"]["module"])
"""


def test_a_published_graph_is_loaded_by_torch_with_its_defaults_as_the_documentation_says(
    tmp_path,
):
    path = published(tmp_path / "graph.pt", random_graph(1, dockq=0.25))
    documented = (Path(__file__).resolve().parents[3] / "docs/results.md").read_text()
    assert "\n".join(BY_ITSELF.splitlines()[2:6]) in documented, (
        "docs/results.md shows other code"
    )
    assert printed(BY_ITSELF, path).startswith(
        "Data ['edge_attr', 'edge_index', 'metadata', 'x', 'y'] 0.25 edges/legacy_v11"
    )


def test_published_graphs_batch_in_a_plain_data_loader(tmp_path):
    graphs = [random_graph(seed, dockq=0.1 * seed) for seed in (1, 2, 3)]
    back = [
        read_pt(published(tmp_path / f"{i}.pt", graph))
        for i, graph in enumerate(graphs)
    ]
    for graph, loaded in zip(graphs, back, strict=True):
        assert all(torch.equal(loaded[name], graph[name]) for name in (*MATRICES, "y"))
        assert loaded.metadata == graph.metadata
        assert loaded.validate()
    (batch,) = DataLoader(back, batch_size=3)
    assert torch.equal(batch.x, torch.cat([graph.x for graph in graphs]))
    assert torch.equal(batch.y, torch.cat([graph.y for graph in graphs]))


def test_code_in_a_graph_file_is_not_run(tmp_path):
    mark, file = tmp_path / "was run", tmp_path / "graph.pt"
    torch.save(Evil(mark), file)
    with pytest.raises(
        GraphError,
        match=r"graph\.pt: not a readable graph file: it asks for \S*mkdir, which is not run",
    ):
        read_pt(file)
    assert not mark.exists()
    torch.load(file, weights_only=False)  # the control: an unguarded load does run it
    assert mark.exists()


@pytest.mark.parametrize("size", [0, 1, 100, 1000, -100, -1])
def test_a_damaged_graph_file_is_an_error_that_names_it(tmp_path, size):
    path = published(tmp_path / "graph.pt", random_graph(1))
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(GraphError, match=r"graph\.pt: not a readable graph file: \S"):
        read_pt(path)


def test_what_is_no_graph_is_an_error_that_names_it(tmp_path):
    with pytest.raises(GraphError, match=r"graph\.pt: cannot be read: No such file"):
        read_pt(tmp_path / "graph.pt")
    torch.save({"x": torch.zeros(1)}, tmp_path / "graph.pt")
    with pytest.raises(GraphError, match=r"graph\.pt: holds a dict, not a Data"):
        read_pt(tmp_path / "graph.pt")


# ---- a real decoy, from structure to graph -------------------------------------------------------


class Build:
    """The four stages over the decoys of `in/`, in one folder; a new `Store` object for every
    run.
    """

    def __init__(self, folder: Path, **features: str):
        self.folder = folder
        features = {"edges": "legacy"} | features
        self.choices = resolve(
            {
                s: {"module": features[s]} if s in features else {}
                for s in DEFAULT_MODULES
            }
        )

    def run(self, labels: dict[tuple[str, str], float]) -> Graph:
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(self.folder)
            self.store = Store(Path("store"))
            (self.row,) = build_decoys(
                find_decoys("ds", Path("in")), self.choices, self.store, labels
            )
        return published_graph(self.artefact("graphs"))

    def artefact(self, stage: str) -> Path:
        return self.folder / "results/ds" / stage / "1AVZ" / f"near1{SUFFIX[stage]}"


@pytest.fixture(scope="module")
def decoy(example) -> Path:
    return example / "decoys" / "1AVZ" / "near1.pdb.gz"


@pytest.fixture(scope="module")
def build(tmp_path_factory, decoy) -> Build:
    folder = tmp_path_factory.mktemp("build")
    (folder / "in/1AVZ").mkdir(parents=True)
    shutil.copy(decoy, folder / "in/1AVZ")
    return Build(folder)


@pytest.fixture(scope="module")
def graph(build) -> Graph:
    return build.run({("1AVZ", "near1"): 0.9464})


@pytest.mark.parametrize(
    ("left_out", "columns"),
    [
        ({"topology": "none"}, slice(0, 42)),
        ({"nodes": "topology_only"}, slice(42, None)),
    ],
)
def test_features_can_be_left_out_to_learn_what_they_are_worth(
    tmp_path, build, graph, left_out, columns
):
    (tmp_path / "in").symlink_to(build.folder / "in")
    part = Build(tmp_path, **left_out).run({("1AVZ", "near1"): 0.9464})
    assert part.metadata["node_columns"] == graph.metadata["node_columns"][columns]
    assert np.array_equal(part.x, graph.x[:, columns])
    assert np.array_equal(part.edge_attr, graph.edge_attr)


def test_every_feature_is_named_and_finite(graph):
    assert (
        len(graph.metadata["node_columns"])
        == len(set(graph.metadata["node_columns"]))
        == 182
    )
    assert len(graph.metadata["edge_columns"]) == 11
    for values in (graph.x, graph.edge_attr):
        assert np.isfinite(values).all()
    types = [
        i
        for i, name in enumerate(graph.metadata["node_columns"])
        if name.startswith("aa_")
    ]
    assert graph.x[:, types].sum(axis=1).tolist() == [1.0] * len(graph.x)


def test_the_graph_knows_its_label_and_how_it_was_made(graph, build):
    assert graph.y == np.float32(0.9464)
    assert graph.metadata["features"] == records(build.choices)
    interface = {
        "module": "interface/ca_cutoff/v1",
        "cutoff": 10.0,
        "residues": "protein",
    }
    assert graph.metadata["features"]["interface"] == interface


def test_the_tables_before_the_graph_list_the_same_residues(graph, build):
    for stage in ("interface", "topology", "nodes"):
        table = pd.read_csv(build.artefact(stage))
        assert [
            f"{row.chain}:{row.number}" for row in table.itertuples()
        ] == graph.metadata["residues"]
        assert (
            table[["label_chain", "label_number"]].isna().all(axis=None)
        )  # the decoy is a PDB file
    table, columns = (
        pd.read_csv(build.artefact("nodes")),
        graph.metadata["node_columns"],
    )
    assert table["lost"].isna().all()
    assert np.array_equal(table[columns].to_numpy(np.float32), graph.x)


def test_another_label_makes_another_graph_and_computes_no_feature(graph, build):
    changed = build.run({("1AVZ", "near1"): 0.5})
    assert build.store.computed == {"graphs": 1, "row": 1}
    assert changed.y == 0.5
    assert all(
        np.array_equal(getattr(changed, name), getattr(graph, name))
        for name in MATRICES
    )
    unlabelled = build.run({})
    assert build.store.computed == {"graphs": 1, "row": 1}
    assert np.isnan(unlabelled.y)
    build.run({("1AVZ", "near1"): 0.9464})
    assert not build.store.computed


def test_a_build_in_another_place_gives_the_same_bytes(graph, build, tmp_path):
    """As a job does it: with feature modules that came as JSON."""
    (tmp_path / "in/1AVZ").mkdir(parents=True)
    shutil.copy(build.folder / "in/1AVZ/near1.pdb.gz", tmp_path / "in/1AVZ")
    other = Build(tmp_path)
    as_json = json.loads(json.dumps(records(other.choices)))
    other.choices = {stage: choose(stage, record) for stage, record in as_json.items()}
    other.run({("1AVZ", "near1"): 0.9464})
    for stage in SUFFIX:
        assert (
            other.artefact(stage).read_bytes() == build.artefact(stage).read_bytes()
        ), stage


JOB = """
import sys
from pathlib import Path
from toporank.building.chunks.chunk import run_chunk
from toporank.building.chunks.store import Store
from toporank.features.registry import DEFAULT_MODULES, resolve
run_chunk(*sys.argv[1:], resolve({stage: {} for stage in DEFAULT_MODULES}), Store(Path("fresh")))
heavy = {"pandas", "scipy.spatial", "scipy.linalg", "gudhi", "torch"}
print(sorted(heavy & set(sys.modules)), "numba" in sys.modules)
"""


def test_a_job_waits_for_no_library_that_it_does_not_need(build, graph):
    """Pandas takes a fifth of a second to import, as does SciPy."""
    plan, *_ = build.folder.glob(PLAN.format(dataset="ds", chunk="*"))
    assert printed(JOB, "ds", plan.stem, cwd=build.folder) == "[] True"
