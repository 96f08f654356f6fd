"""Without torch a network predicts what the network that was trained predicts."""

from __future__ import annotations

import numpy as np
import pytest
import safetensors
import safetensors.torch
import torch

from conftest import REPOSITORY
from processes import printed
from toporank.errors import CheckpointError
from toporank.files.graph_file import Graph
from toporank.learning.inference import Inference, open_network, sorted_by_destination
from toporank.learning.shapes import CONTACT, shapes_of
from toporank.learning.weights import OfTorch, build_network

SHAPES = {
    "plain": {"hidden": 8, "heads": 2, "layers": 1, "readout": 4},
    "deep": {"hidden": 12, "heads": 3, "layers": 3, "readout": 8},
    "local": {"hidden": 8, "heads": 2, "layers": 2, "readout": 8, "local": True},
}
N_NODES, NODE_WIDTH, EDGE_WIDTH = 30, 6, 4
SCALED = {"nodes": {"scaling": "training_set"}, "edges": {"scaling": "training_set"}}
UNSCALED = {"nodes": {"scaling": "per_decoy"}, "edges": {"scaling": "per_decoy"}}


def description_of(shape: str, columns: list[str], features: dict | None) -> dict:
    return {
        "node_width": NODE_WIDTH,
        "edge_width": EDGE_WIDTH,
        "hyperparameters": {**SHAPES[shape], "attention_dropout": 0.25},
        "features": features,
        "edge_columns": columns,
    }


def random_network(description: dict) -> torch.nn.Module:
    torch.manual_seed(1)
    network = build_network(
        NODE_WIDTH,
        EDGE_WIDTH,
        description["hyperparameters"],
        description["features"],
        description["edge_columns"],
    ).eval()
    for name, values in network.state_dict().items():
        if name.startswith("scale_"):
            values.copy_(torch.rand(values.shape) + 0.5)
    return network


def random_graph(n_edges: int, columns: list[str]) -> Graph:
    draw = np.random.default_rng(n_edges)
    edge_attr = draw.normal(size=(n_edges, EDGE_WIDTH)).astype(np.float32)
    if CONTACT in columns:
        edge_attr[:, columns.index(CONTACT)] = draw.random(n_edges) > 0.7
    return Graph(
        x=draw.normal(size=(N_NODES, NODE_WIDTH)).astype(np.float32),
        edge_index=draw.integers(0, N_NODES - 1, (2, n_edges)).astype(np.int32),
        edge_attr=edge_attr,
        y=0.5,
        metadata={"edge_columns": columns},
    )


@pytest.mark.parametrize("features", [None, SCALED, UNSCALED], ids=str)
@pytest.mark.parametrize("columns", [["a", "b", "c", "d"], ["a", CONTACT, "c", "d"]])
@pytest.mark.parametrize("shape", SHAPES)
def test_both_predict_the_same(shape, columns, features):
    description = description_of(shape, columns, features)
    network = random_network(description)
    weights = {name: values.numpy() for name, values in network.state_dict().items()}
    assert shapes_of(description) == {
        name: values.shape for name, values in weights.items()
    }
    inference = Inference(weights, description)
    for n_edges in (700, 3, 0):
        graph = sorted_by_destination(random_graph(n_edges, columns))
        found, expected = inference.predict(graph), OfTorch(network).predict(graph)
        for name in found._fields:
            ours, theirs = getattr(found, name), getattr(expected, name)
            assert (ours is None) == (theirs is None)
            if ours is not None:
                np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)


def test_the_order_of_edges_does_not_matter():
    graph = random_graph(50, ["a", "b", "c", "d"])
    graph = graph._replace(edge_y=np.arange(50, dtype=np.float32))
    found = sorted_by_destination(graph)
    assert (np.diff(found.edge_index[1]) >= 0).all()
    place = found.edge_y.astype(int)
    np.testing.assert_array_equal(found.edge_index, graph.edge_index[:, place])
    np.testing.assert_array_equal(found.edge_attr, graph.edge_attr[place])


DAMAGED = {
    "a type that NumPy lacks": lambda weight: weight.bfloat16(),
    "numbers of type int32": lambda weight: weight.int(),
    "values that are not finite": lambda weight: weight * torch.nan,
    "has the shape": lambda weight: weight[:, :-1].contiguous(),
}


@pytest.mark.parametrize("complaint", DAMAGED)
def test_weights_of_another_kind_are_an_error_that_names_the_file(tmp_path, complaint):
    shipped = REPOSITORY / "resources/scorer/best.safetensors"
    with safetensors.safe_open(shipped, "pt") as file:
        description = file.metadata()
    weights = safetensors.torch.load_file(shipped)
    name = "embed_nodes.weight"
    weights[name] = DAMAGED[complaint](weights[name])
    safetensors.torch.save_file(weights, tmp_path / "bad.safetensors", description)
    with pytest.raises(CheckpointError, match=rf"bad\.safetensors: .*{complaint}"):
        open_network(tmp_path / "bad.safetensors")


def test_scoring_does_not_import_torch(tmp_path):
    """Which takes as long as the rest of scoring five models."""
    program = (
        "import sys, toporank; toporank.score('resources/example/made_up_colabfold', "
        f"cache={str(tmp_path)!r}).write({str(tmp_path / 'out')!r}); "
        "print('torch' in sys.modules)"
    )
    assert printed(program, cwd=REPOSITORY) == "False"
