"""Graph files: plain PyTorch Geometric `Data`, read without running anything, made from a real decoy."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import pickletools
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch
from _synthetic import METADATA, random_graph
from torch_geometric.data import Batch, Data
from torch_geometric.loader import DataLoader

from toporank.building.chunk import run_chunk
from toporank.building.ledger import read_ledger
from toporank.building.plan import make_plans
from toporank.building.stages import STAGES
from toporank.building.store import Store
from toporank.building.tables import write_residues
from toporank.decoys.folders import find_decoys
from toporank.errors import GraphError
from toporank.features.edges import Edges
from toporank.features.registry import DEFAULT_MODULES, choose, records, resolve
from toporank.graphs.pyg_file import GRAPHS, PYG_TYPES, graph_bytes, graph_metadata, make_graph, read_graph
from toporank.layout import SUFFIX
from toporank.structures.read import read_complex


@pytest.fixture
def file(tmp_path) -> Path:
    return tmp_path / "graph.pt"


def edges_of(graph: Data) -> Edges:
    return Edges(graph.edge_index.numpy(), graph.edge_attr.double().numpy())


# ---- what is written --------------------------------------------------------------------------------------


def test_a_graph_holds_single_precision_features_and_its_label():
    values = np.array([[1 / 3, 2.0], [0.1, -1.0]])
    graph = make_graph(values, Edges(np.array([[0], [1]]), np.array([[1 / 7]])), 0.3, METADATA, ["A:1", "B:2"])
    assert graph.x.dtype == graph.edge_attr.dtype == graph.y.dtype == torch.float32
    assert graph.edge_index.dtype == torch.int64
    np.testing.assert_array_equal(graph.x.numpy(), values.astype(np.float32))
    assert graph.y.tolist() == [np.float32(0.3)]
    assert graph.metadata["residues"] == ["A:1", "B:2"]


def test_a_decoy_without_label_has_no_y():
    graph = make_graph(np.zeros((1, 1)), Edges(np.zeros((2, 0), dtype=int), np.zeros((0, 1))), None, METADATA, ["A:1"])
    assert "y" not in graph


def test_a_label_of_zero_is_a_label():
    graph = make_graph(np.zeros((1, 1)), Edges(np.zeros((2, 0), dtype=int), np.zeros((0, 1))), 0.0, METADATA, ["A:1"])
    assert graph.y.tolist() == [0.0]


def test_what_is_written_is_what_is_read(file):
    graph = random_graph(1, dockq=0.25)
    file.write_bytes(graph_bytes(graph))
    back = read_graph(file)
    assert set(back.keys()) == {"x", "edge_index", "edge_attr", "y", "metadata"}
    assert all(torch.equal(back[name], graph[name]) for name in ("x", "edge_index", "edge_attr", "y"))
    assert back.metadata == graph.metadata


def test_the_same_graph_gives_the_same_bytes():
    assert graph_bytes(random_graph(1, dockq=0.25)) == graph_bytes(random_graph(1, dockq=0.25))
    assert graph_bytes(random_graph(1)) != graph_bytes(random_graph(2))


def test_a_graph_file_loads_with_torch_and_the_types_of_pyg_alone(file):
    file.write_bytes(graph_bytes(random_graph(1, dockq=0.25)))
    with torch.serialization.safe_globals(list(PYG_TYPES)):
        graph = torch.load(file, weights_only=True)
    assert type(graph) is Data
    assert graph.validate()
    with zipfile.ZipFile(file) as archive:
        pickled = archive.read(next(name for name in archive.namelist() if name.endswith("/data.pkl")))
    needed = {str(argument).split()[0] for code, argument, _ in pickletools.genops(pickled) if code.name == "GLOBAL"}
    assert {module.split(".")[0] for module in needed} <= {"torch", "torch_geometric", "collections"}


def test_graph_files_batch_in_a_plain_data_loader(tmp_path):
    graphs = [random_graph(seed, dockq=0.1 * seed) for seed in (1, 2, 3)]
    for i, graph in enumerate(graphs):
        (tmp_path / f"{i}.pt").write_bytes(graph_bytes(graph))
    back = [read_graph(tmp_path / f"{i}.pt") for i in range(3)]
    (loaded,) = DataLoader(back, batch_size=3)
    for batch in (loaded, Batch.from_data_list(back)):
        assert batch.num_graphs == 3
        assert torch.equal(batch.x, torch.cat([graph.x for graph in graphs]))
        assert torch.equal(batch.y, torch.cat([graph.y for graph in graphs]))
        assert batch.edge_index.max() < batch.num_nodes
    assert torch.equal(Batch.from_data_list(back)[1].edge_index, graphs[1].edge_index)


# ---- what is not read -------------------------------------------------------------------------------------


class Evil:
    """Makes a folder when unpickled."""

    def __init__(self, folder: Path):
        self.folder = folder

    def __reduce__(self):
        return os.mkdir, (str(self.folder),)


@pytest.mark.parametrize("hidden_in", ["the file itself", "a graph"])
def test_code_in_a_graph_file_is_refused_and_not_run(tmp_path, file, hidden_in):
    mark = tmp_path / "was run"
    content = Evil(mark)
    if hidden_in == "a graph":
        content = random_graph(1)
        content.extra = Evil(mark)
    torch.save(content, file)
    with pytest.raises(GraphError, match=r"graph\.pt"):
        read_graph(file)
    assert not mark.exists()
    torch.load(file, weights_only=False)  # the control: an unguarded load does run it
    assert mark.exists()


@pytest.mark.parametrize("size", [1, 10, 100, 1000, -1000, -100, -10, -1])
def test_a_truncated_file_is_an_error_that_names_it(file, size):
    file.write_bytes(graph_bytes(random_graph(1))[:size])
    with pytest.raises(GraphError, match=r"graph\.pt: not a readable graph file: \S"):
        read_graph(file)


def test_an_empty_file_is_an_error_that_names_it(file):
    file.write_bytes(b"")
    with pytest.raises(GraphError, match=r"graph\.pt: not a readable graph file"):
        read_graph(file)


@pytest.mark.parametrize("content", [b"not a graph\n", b"\0" * 500, b"PK\x03\x04", gzip.compress(b"graph", mtime=0)])
def test_a_file_of_another_kind_is_an_error_that_names_it(file, content):
    file.write_bytes(content)
    with pytest.raises(GraphError, match=r"graph\.pt: not a readable graph file: \S"):
        read_graph(file)


def test_a_flipped_bit_gives_a_graph_or_a_graph_error(file):
    content, draw = graph_bytes(random_graph(1)), np.random.default_rng(0)
    for _ in range(300):
        bad = bytearray(content)
        bad[draw.integers(1500)] ^= 1 << int(draw.integers(8))
        file.write_bytes(bad)
        with contextlib.suppress(GraphError):
            assert isinstance(read_graph(file), Data)


@pytest.mark.parametrize("content", [{"x": torch.zeros(1)}, torch.zeros(3), [1, 2], None])
def test_something_else_than_a_graph_is_an_error_that_names_it(file, content):
    torch.save(content, file)
    with pytest.raises(GraphError, match=rf"graph\.pt: holds a {type(content).__name__}, not a torch_geometric Data"):
        read_graph(file)


def wrong(**values) -> Data:
    graph = random_graph(1, nodes=4, edges=6)
    for name, value in values.items():
        if value is None:
            del graph[name]
        else:
            graph[name] = value
    return graph


@pytest.mark.parametrize(
    ("graph", "complaint"),
    [
        (wrong(x=None), "`x` is missing"),
        (wrong(edge_index=None), "`edge_index` is missing"),
        (wrong(edge_attr=None), "`edge_attr` is missing"),
        (wrong(edge_attr=torch.zeros(6)), r"`edge_attr` is of shape \(6,\)"),
        (wrong(x=torch.zeros(4, 5, 1)), r"`x` is of shape \(4, 5, 1\)"),
        (wrong(edge_attr=torch.zeros(5, 3)), "6 edges but 5 rows of edge_attr"),
    ],
)
def test_a_graph_that_lacks_something_is_an_error_that_names_file_and_tensor(file, graph, complaint):
    file.write_bytes(graph_bytes(graph))
    with pytest.raises(GraphError, match=r"graph\.pt: .*" + complaint):
        read_graph(file)


@pytest.mark.parametrize("value", [[[1.0, 2.0]], "text", 1.0], ids=["list", "text", "number"])
def test_a_graph_with_something_else_than_tensors_is_an_error_that_names_it(file, value):
    file.write_bytes(graph_bytes(wrong(x=value)))
    with pytest.raises(GraphError, match=r"graph\.pt: .*`x`"):
        read_graph(file)


@pytest.mark.parametrize(
    "index",
    [torch.full((2, 6), 4), torch.full((2, 6), -1), torch.zeros(3, 6, dtype=torch.int64), torch.zeros(2, 6)],
    ids=["beyond the last node", "before the first", "three rows", "not whole numbers"],
)
def test_edges_that_join_no_nodes_are_an_error(file, index):
    file.write_bytes(graph_bytes(wrong(edge_index=index)))
    with pytest.raises(GraphError, match=r"graph\.pt: .*edge_index"):
        read_graph(file)


def test_a_graph_without_edges_is_a_graph(file):
    file.write_bytes(graph_bytes(random_graph(1, edges=0)))
    assert read_graph(file).edge_index.shape == (2, 0)


def test_a_graph_made_elsewhere_needs_no_metadata(file):
    torch.save(random_graph(1, metadata=None), file)
    assert "metadata" not in read_graph(file)


# ---- a real decoy, from structure to graph ----------------------------------------------------------------


class Build:
    """The four stages over the decoys of `in/`, in one folder; a new `Store` object for every run."""

    def __init__(self, folder: Path, **features: str):
        self.folder = folder
        features = {"edges": "legacy"} | features
        self.choices = resolve({s: {"module": features[s]} if s in features else {} for s in DEFAULT_MODULES})

    def run(self, labels: dict[tuple[str, str], float]) -> Data:
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(self.folder)
            self.store = Store(Path("store"))
            (chunk,) = make_plans("ds", find_decoys("ds", Path("in")), labels, 10)
            upstream = None
            for stage in (*STAGES.values(), GRAPHS):
                ledger = Path(f"results/ds/ledger/{stage.name}/{chunk}.tsv")
                plan = Path(f"results/ds/plan/{chunk}.tsv")
                run_chunk(stage, "ds", plan, upstream, ledger, self.choices, self.store)
                upstream = ledger
            (self.row,) = read_ledger(upstream)
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
def graph(build) -> Data:
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
    assert graph.x.shape == (len(expected), 172)


@pytest.mark.parametrize(
    ("left_out", "columns"),
    [({"topology": "none"}, slice(0, 32)), ({"nodes": "topology_only"}, slice(32, None))],
)
def test_features_can_be_left_out_to_learn_what_they_are_worth(tmp_path, build, graph, left_out, columns):
    (tmp_path / "in").symlink_to(build.folder / "in")
    part = Build(tmp_path, **left_out).run({("1AVZ", "near1"): 0.9464})
    assert part.metadata["node_columns"] == graph.metadata["node_columns"][columns]
    assert torch.equal(part.x, graph.x[:, columns])
    assert torch.equal(part.edge_attr, graph.edge_attr)


def test_the_edges_are_the_contacts_in_both_directions(graph, contacts):
    names = graph.metadata["residues"]
    joined = [(names[i], names[j]) for i, j in graph.edge_index.T.tolist()]
    assert len(joined) == len(set(joined))
    assert set(joined) == contacts
    assert graph.edge_attr.shape == (len(contacts), 11)


def test_the_first_edge_feature_is_the_distance(graph, alpha_carbons):
    names, position = graph.metadata["residues"], dict(alpha_carbons)
    pairs = [(names[i], names[j]) for i, j in graph.edge_index.T.tolist()]
    distance = np.array([np.linalg.norm(position[a] - position[b]) for a, b in pairs])
    np.testing.assert_allclose(graph.edge_attr[:, 0].numpy(), distance, atol=1e-5)


def test_every_feature_is_named_and_finite(graph):
    assert len(graph.metadata["node_columns"]) == len(set(graph.metadata["node_columns"])) == 172
    assert len(graph.metadata["edge_columns"]) == 11
    for tensor in (graph.x, graph.edge_attr):
        assert torch.isfinite(tensor).all()
    types = [i for i, name in enumerate(graph.metadata["node_columns"]) if name.startswith("aa_")]
    assert graph.x[:, types].sum(dim=1).tolist() == [1.0] * len(graph.x)


def test_the_graph_knows_its_label_and_how_it_was_made(graph, build):
    assert graph.y.tolist() == [np.float32(0.9464)]
    assert graph.metadata["features"] == records(build.choices)
    interface = {"module": "interface/ca_cutoff/v1", "cutoff": 10.0, "residues": "protein"}
    assert graph.metadata["features"]["interface"] == interface


def test_the_ledger_counts_chains_and_residues(graph, build):
    assert (build.row.n_chains, build.row.n_interface_residues) == (2, len(graph.x))
    assert build.row.size == build.artefact("graphs").stat().st_size


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
    write_residues(tmp_path / "t.parquet", complex_, np.array([3, 1]), {}, {})
    rows = pq.read_table(tmp_path / "t.parquet").to_pylist()
    assert [(row["label_chain"], row["label_number"]) for row in rows] == [complex_.labels[3], complex_.labels[1]]
    assert all(row["label_chain"] and row["label_number"] for row in rows)


def test_another_label_makes_another_graph_and_computes_no_feature(graph, build):
    changed = build.run({("1AVZ", "near1"): 0.5})
    assert build.store.computed == {"graphs": 1}
    assert changed.y.tolist() == [0.5]
    assert all(torch.equal(changed[name], graph[name]) for name in ("x", "edge_index", "edge_attr"))
    unlabelled = build.run({})
    assert build.store.computed == {"graphs": 1}
    assert "y" not in unlabelled
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


def test_metadata_names_modules_parameters_and_columns():
    choices = resolve({stage: {} for stage in DEFAULT_MODULES} | {"edges": {"module": "multiscale"}})
    metadata = graph_metadata(choices)
    assert set(metadata) == {"format", "features", "node_columns", "edge_columns"}
    assert metadata["features"]["edges"]["module"] == "edges/multiscale_v24"
    assert len(metadata["edge_columns"]) == 24
    assert json.loads(json.dumps(metadata)) == metadata
