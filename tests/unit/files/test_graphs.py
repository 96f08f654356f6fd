"""Graph files: plain PyTorch Geometric `Data`, read without running anything, made from a real decoy."""

from __future__ import annotations

import gzip
import json
import os
import pickletools
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch
from _synthetic import METADATA, Evil, file_content, random_graph
from torch_geometric.data import Batch, Data
from torch_geometric.data.data import DataEdgeAttr, DataTensorAttr
from torch_geometric.data.storage import GlobalStorage
from torch_geometric.loader import DataLoader

from building import build as build_decoys
from toporank.building.chunks.stages import graph_metadata
from toporank.building.chunks.store import Store
from toporank.errors import GraphError
from toporank.features.registry import DEFAULT_MODULES, choose, records, resolve
from toporank.features.residue_tables import table_bytes
from toporank.files.atomic import sha256
from toporank.files.pyg_file import Graph, graph_bytes, read_graph
from toporank.inputs.folders import find_decoys
from toporank.layout import PLAN, SUFFIX
from toporank.structures.read import read_complex

PYG_TYPES = [Data, DataEdgeAttr, DataTensorAttr, GlobalStorage]
MATRICES = ("x", "edge_index", "edge_attr")


def test_a_graph_is_opened_as_the_documentation_says(repository, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("graph.pt").write_bytes(file_content(random_graph(0)))
    page = (repository / "docs" / "results.md").read_text(encoding="utf-8")
    (code,) = [block for block in page.split("```python\n")[1:] if "torch.load" in block]
    names: dict[str, object] = {}
    exec(code.partition("```")[0], names)
    assert isinstance(names["graph"], Data)


@pytest.fixture
def file(tmp_path) -> Path:
    return tmp_path / "graph.pt"


def loaded(path: Path) -> Data:
    """As anyone loads it who trusts it."""
    return torch.load(path, weights_only=False)


def same(graph: Graph, data: Data) -> bool:
    """Whether the numbers and the label are those."""
    label = np.nan if data.get("y") is None else data.y.item()
    arrays = [np.array_equal(getattr(graph, name), data[name].numpy()) for name in MATRICES]
    return all(arrays) and np.array_equal(graph.y, label, equal_nan=True)


# ---- what is written --------------------------------------------------------------------------------------

SMALLEST = {"x": np.zeros((1, 1)), "edge_index": np.zeros((2, 0), int), "edge_attr": np.zeros((0, 1))}


def test_a_graph_file_is_an_ordinary_one_of_single_precision_features_and_a_label(file):
    values = np.array([[1 / 3, 2.0], [0.1, -1.0]])
    file.write_bytes(
        graph_bytes(values, np.array([[0], [1]]), np.array([[1 / 7]]), 0.3, {**METADATA, "residues": ["A:1"]})
    )
    graph = loaded(file)
    assert type(graph) is Data
    assert set(graph.keys()) == {*MATRICES, "y", "metadata"}
    assert graph.x.dtype == graph.edge_attr.dtype == graph.y.dtype == torch.float32
    assert graph.edge_index.dtype == torch.int64
    np.testing.assert_array_equal(graph.x.numpy(), values.astype(np.float32))
    np.testing.assert_array_equal(graph.edge_attr.numpy(), np.float32([[1 / 7]]))
    assert graph.edge_index.tolist() == [[0], [1]]
    assert graph.y.tolist() == [np.float32(0.3)]
    assert graph.metadata == {**METADATA, "residues": ["A:1"]}
    assert graph.validate()
    assert graph.num_nodes == 2
    graph.x += 1  # as tensors of one's own


@pytest.mark.parametrize("dockq", [None, 0.0])
def test_a_decoy_without_label_has_no_y_and_a_label_of_zero_is_one(file, dockq):
    file.write_bytes(graph_bytes(**SMALLEST, y=dockq, metadata=METADATA))
    assert loaded(file).get("y") == dockq
    assert np.array_equal(read_graph(file).y, np.nan if dockq is None else 0.0, equal_nan=True)


@pytest.mark.parametrize("dockq", [None, 0.25])
def test_what_is_written_is_what_is_read(file, dockq):
    graph = random_graph(1, dockq=dockq)
    file.write_bytes(file_content(graph))
    back = read_graph(file)
    assert same(back, graph)
    assert same(back, loaded(file))
    assert [getattr(back, name).dtype for name in MATRICES] == ["float32", "int64", "float32"]
    assert back.metadata == graph.metadata


VALUES = [
    "",
    "Å \n\0",
    True,
    False,
    None,
    0,
    -1,
    255,
    -(2**31),
    2**31,
    2**100,
    -0.5,
    1e300,
    float("inf"),
    [],
    {},
    [[{"a": []}]],
]


def test_metadata_may_hold_any_plain_value(file):
    file.write_bytes(graph_bytes(**SMALLEST, y=None, metadata={"values": VALUES}))
    for metadata in (read_graph(file).metadata, loaded(file).metadata):
        assert metadata == {"values": VALUES}
        assert [type(value) for value in metadata["values"]] == [type(value) for value in VALUES]
    with pytest.raises(TypeError, match="metadata cannot hold a PosixPath"):
        graph_bytes(**SMALLEST, y=None, metadata={"values": [file]})


def test_the_same_graph_gives_the_same_bytes():
    assert file_content(random_graph(1, dockq=0.25)) == file_content(random_graph(1, dockq=0.25))
    assert file_content(random_graph(1)) != file_content(random_graph(2))
    text = "".join(["no", "des"])  # equal, but another object than any
    one, other = ({"a": "nodes", "b": ["nodes"]}, {"b": [text], "a": "nodes"})
    assert graph_bytes(**SMALLEST, y=None, metadata=one) == graph_bytes(**SMALLEST, y=None, metadata=other)


def test_a_graph_file_loads_with_the_types_of_pyg_alone_and_mapped_into_memory(file):
    file.write_bytes(file_content(random_graph(1, dockq=0.25)))
    with torch.serialization.safe_globals(PYG_TYPES):
        for options in ({}, {"mmap": True}):
            graph = torch.load(file, weights_only=True, **options)
            assert same(read_graph(file), graph)
    assert type(graph) is Data
    with zipfile.ZipFile(file) as archive:
        pickled = archive.read(next(name for name in archive.namelist() if name.endswith("/data.pkl")))
    needed = {str(argument).split()[0] for code, argument, _ in pickletools.genops(pickled) if code.name == "GLOBAL"}
    assert {module.split(".")[0] for module in needed} <= {"torch", "torch_geometric", "collections"}


def test_graph_files_batch_in_a_plain_data_loader(tmp_path):
    graphs = [random_graph(seed, dockq=0.1 * seed) for seed in (1, 2, 3)]
    for i, graph in enumerate(graphs):
        (tmp_path / f"{i}.pt").write_bytes(file_content(graph))
    back = [loaded(tmp_path / f"{i}.pt") for i in range(3)]
    (batched,) = DataLoader(back, batch_size=3)
    for batch in (batched, Batch.from_data_list(back)):
        assert batch.num_graphs == 3
        assert torch.equal(batch.x, torch.cat([graph.x for graph in graphs]))
        assert torch.equal(batch.y, torch.cat([graph.y for graph in graphs]))
        assert batch.edge_index.max() < batch.num_nodes
    assert torch.equal(Batch.from_data_list(back)[1].edge_index, graphs[1].edge_index)


# ---- what is not read -------------------------------------------------------------------------------------


def test_code_in_a_graph_file_is_not_run(tmp_path, file):
    mark = tmp_path / "was run"
    torch.save(Evil(mark), file)
    with pytest.raises(GraphError, match=r"graph\.pt: not a graph that TopoRank made"):
        read_graph(file)
    assert not mark.exists()
    torch.load(file, weights_only=False)  # the control: an unguarded load does run it
    assert mark.exists()


@pytest.mark.parametrize("size", [1, 10, 100, 1000, -1000, -100, -10, -1])
def test_a_truncated_file_is_an_error_that_names_it(file, size):
    file.write_bytes(file_content(random_graph(1))[:size])
    with pytest.raises(GraphError, match=r"graph\.pt: not a readable graph file: \S"):
        read_graph(file)


def test_a_file_that_is_not_there_is_an_error_that_names_it(file):
    with pytest.raises(GraphError, match=r"graph\.pt: not a readable graph file: .*No such file"):
        read_graph(file)


@pytest.mark.parametrize("content", [{"x": torch.zeros(1)}, torch.zeros(3), [1, 2], None, Data()])
def test_something_else_than_a_graph_is_an_error_that_names_it(file, content):
    torch.save(content, file)
    with pytest.raises(GraphError, match=r"graph\.pt: not a graph that TopoRank made"):
        read_graph(file)


# ---- a real decoy, from structure to graph ----------------------------------------------------------------


class Build:
    """The four stages over the decoys of `in/`, in one folder; a new `Store` object for every run."""

    def __init__(self, folder: Path, **features: str):
        self.folder = folder
        features = {"edges": "legacy"} | features
        self.choices = resolve({s: {"module": features[s]} if s in features else {} for s in DEFAULT_MODULES})

    def run(self, labels: dict[tuple[str, str], float]) -> Graph:
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(self.folder)
            self.store = Store(Path("store"))
            (self.row,) = build_decoys(find_decoys("ds", Path("in")), self.choices, self.store, labels)
        return read_graph(self.artefact("graphs"))

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


@pytest.fixture(scope="module")
def alpha_carbons(decoy) -> list[tuple[str, np.ndarray]]:
    """(residue, position) of every CA, by the columns of the PDB format and nothing of this library."""
    lines = gzip.decompress(decoy.read_bytes()).decode().splitlines()
    atoms = [line for line in lines if line.startswith("ATOM") and line[12:16] == " CA "]
    return [
        (f"{line[21]}:{int(line[22:26])}", np.array([float(line[i : i + 8]) for i in (30, 38, 46)])) for line in atoms
    ]


@pytest.fixture(scope="module")
def contacts(alpha_carbons) -> set[tuple[str, str]]:
    """Pairs of residues of different chains with CA atoms nearer than 10 Å, both ways round."""
    return {(a, b) for a, p in alpha_carbons for b, q in alpha_carbons if a[0] != b[0] and np.linalg.norm(p - q) < 10.0}


def test_the_nodes_are_the_residues_at_the_interface(graph, contacts):
    expected = sorted({a for a, _ in contacts}, key=lambda name: (name[0], int(name[2:])))
    assert graph.metadata["residues"] == expected
    assert graph.x.shape == (len(expected), 182)


@pytest.mark.parametrize(
    ("left_out", "columns"),
    [({"topology": "none"}, slice(0, 42)), ({"nodes": "topology_only"}, slice(42, None))],
)
def test_features_can_be_left_out_to_learn_what_they_are_worth(tmp_path, build, graph, left_out, columns):
    (tmp_path / "in").symlink_to(build.folder / "in")
    part = Build(tmp_path, **left_out).run({("1AVZ", "near1"): 0.9464})
    assert part.metadata["node_columns"] == graph.metadata["node_columns"][columns]
    assert np.array_equal(part.x, graph.x[:, columns])
    assert np.array_equal(part.edge_attr, graph.edge_attr)


def test_the_edges_are_the_contacts_in_both_directions(graph, contacts):
    names = graph.metadata["residues"]
    joined = [(names[i], names[j]) for i, j in graph.edge_index.T.tolist()]
    assert len(joined) == len(set(joined))
    assert set(joined) == contacts
    assert graph.edge_attr.shape == (len(contacts), 11)


def test_every_feature_is_named_and_finite(graph):
    assert len(graph.metadata["node_columns"]) == len(set(graph.metadata["node_columns"])) == 182
    assert len(graph.metadata["edge_columns"]) == 11
    for values in (graph.x, graph.edge_attr):
        assert np.isfinite(values).all()
    types = [i for i, name in enumerate(graph.metadata["node_columns"]) if name.startswith("aa_")]
    assert graph.x[:, types].sum(axis=1).tolist() == [1.0] * len(graph.x)


def test_the_graph_knows_its_label_and_how_it_was_made(graph, build):
    assert graph.y == np.float32(0.9464)
    assert graph.metadata["features"] == records(build.choices)
    interface = {"module": "interface/ca_cutoff/v1", "cutoff": 10.0, "residues": "protein"}
    assert graph.metadata["features"]["interface"] == interface


def test_the_ledger_counts_chains_and_residues(graph, build):
    assert (build.row.n_chains, build.row.n_interface_residues) == (2, len(graph.x))
    assert build.row.graphs == sha256(build.artefact("graphs"))


def test_the_tables_before_the_graph_list_the_same_residues(graph, build):
    for stage in ("interface", "topology", "nodes"):
        table = pq.read_table(build.artefact(stage)).to_pylist()
        assert [f"{row['chain']}:{row['number']}" for row in table] == graph.metadata["residues"]


def test_tables_of_a_pdb_file_have_empty_labels_and_those_of_an_mmcif_file_its_own(graph, build, example, tmp_path):
    """The decoy of this file is a PDB file."""
    for stage in ("interface", "topology", "nodes"):
        table = pq.read_table(build.artefact(stage))
        assert table["label_chain"].null_count == table["label_number"].null_count == len(table)
    complex_ = read_complex(example / "decoys" / "1AVZ" / "mid1.cif.gz")
    (tmp_path / "t.parquet").write_bytes(table_bytes(complex_, np.array([3, 1]), {}, {}))
    rows = pq.read_table(tmp_path / "t.parquet").to_pylist()
    assert [(row["label_chain"], row["label_number"]) for row in rows] == [complex_.labels[3], complex_.labels[1]]
    assert all(row["label_chain"] and row["label_number"] for row in rows)


def test_another_label_makes_another_graph_and_computes_no_feature(graph, build):
    changed = build.run({("1AVZ", "near1"): 0.5})
    assert build.store.computed == {"graphs": 1}
    assert changed.y == 0.5
    assert all(np.array_equal(getattr(changed, name), getattr(graph, name)) for name in MATRICES)
    unlabelled = build.run({})
    assert build.store.computed == {"graphs": 1}
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
        assert other.artefact(stage).read_bytes() == build.artefact(stage).read_bytes(), stage


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
    answer = subprocess.run(
        [sys.executable, "-c", JOB, "ds", plan.stem], cwd=build.folder, capture_output=True, text=True,
        check=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert answer.stdout.strip() == "[] True"


def test_metadata_names_modules_parameters_and_columns():
    choices = resolve({stage: {} for stage in DEFAULT_MODULES} | {"edges": {"module": "legacy"}})
    metadata = graph_metadata(choices)
    assert set(metadata) == {"format", "features", "node_columns", "edge_columns"}
    assert metadata["features"]["edges"]["module"] == "edges/legacy_v11"
    assert len(metadata["edge_columns"]) == 11
    assert json.loads(json.dumps(metadata)) == metadata
