"""Compatibility with the published implementation: its features by name, and its checkpoints."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from _scoring import score_pack
from _synthetic import decoy_graph, members, predict, random_graph
from torch.nn import functional as F

from dssp_agreement import needs_mkdssp
from published_checkpoint import published_state, write_published_checkpoint
from structures_text import alanine, changed, complex_of, pdb, random_complex, write
from toporank.app.config import load_config
from toporank.building.packing import write_pack
from toporank.errors import CheckpointError, ConfigError
from toporank.features.dssp_nodes import MAX_ACCESSIBILITY, without_modified
from toporank.features.presets import PRESETS
from toporank.features.registry import choose, records, resolve
from toporank.features.steps import graph_metadata
from toporank.learning.checkpoint import read_description
from toporank.learning.data import GraphStore
from toporank.learning.weights import load_weights
from toporank.structures.dssp import run_dssp
from toporank.structures.read import read_complex

COMPAT = resolve(PRESETS["topoqa_compat"])
DECOYS = [
    "1A2K_trimer_model", "1AHW_bound", "1AY7_bound", "1BUH_bound", "1DFJ_bound", "1E6E_unbound", "1GLA_unbound",
    "1NW9_cluspro", "1PPE_bound", "1VFB_bound", "2SIC_bound", "2SIC_patchdock", "6AL0_af2_0", "dips_2aqp_attract",
    "dockq_model", pytest.param("1N2C_bound", marks=pytest.mark.slow),
]  # fmt: skip


@pytest.fixture
def checkpoint(tmp_path) -> Path:
    return write_published_checkpoint(tmp_path / "older.ckpt", published_state())


# ---- the preset ----------------------------------------------------------------------------------


def test_a_name_in_place_of_the_mapping_is_a_preset():
    assert records(load_config({"features": "topoqa_compat"}).choices()) == records(
        COMPAT
    )
    scoring = load_config({"features": "topoqa_compat", "score_decoys": "/data/decoys"})
    assert records(scoring.choices()) == records(COMPAT)


def test_a_misspelt_preset_is_an_error_with_the_nearest_spelling():
    message = r"features: no preset of that name, did you mean 'topoqa_compat'\? \(got 'topoqa_compt'"
    with pytest.raises(ConfigError, match=message):
        load_config({"features": "topoqa_compt"})


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_leaves_nothing_to_defaults(name):
    """A default may change, and a new parameter needs a decision here."""
    assert records(resolve(PRESETS[name])) == PRESETS[name]


def test_the_preset_differs_from_the_defaults_of_its_modules_in_what_the_manual_says(
    repository,
):
    modules = {
        stage: {"module": record["module"]} for stage, record in records(COMPAT).items()
    }
    default = records(load_config({"features": modules}).choices())
    differing = {
        f"`{stage}: {{{key}: {value}}}`"
        for stage, record in records(COMPAT).items()
        for key, value in record.items()
        if value != default[stage][key]
    }
    manual = (repository / "docs" / "features.md").read_text()
    (section,) = (
        text
        for text in manual.split("\n## ")
        if text.startswith("As published: `topoqa_compat`\n")
    )
    of_parameters = [
        row.rstrip(" |").rpartition(" | ")[2]
        for row in section.splitlines()
        if row.startswith("| ")
    ]
    assert {parameter for parameter in of_parameters if "`" in parameter} == differing


# ---- its options ---------------------------------------------------------------------------------


def test_the_published_histogram_reads_y_as_z():
    """It is the true one of the atoms at (x, y, y); the CA distance is the true one of the atoms
    themselves.
    """
    complex_ = random_complex(3)
    nodes = np.flatnonzero(complex_.ca >= 0)
    published = choose(
        "edges",
        {"module": "legacy", "coordinates": "xyy", "scaling": "none", "cutoff": 50.0},
    )
    ours = choose("edges", {"module": "legacy", "scaling": "none", "cutoff": 50.0})
    y_twice = replace(complex_, xyz=complex_.xyz[:, [0, 1, 1]])
    np.testing.assert_array_equal(
        published(complex_, nodes).attributes[:, 1:],
        ours(y_twice, nodes).attributes[:, 1:],
    )
    np.testing.assert_array_equal(
        published(complex_, nodes).attributes[:, 0],
        ours(complex_, nodes).attributes[:, 0],
    )
    assert (
        published(complex_, nodes).attributes != ours(complex_, nodes).attributes
    ).any()


def three_residues(path: Path, *, het: bool, name: str) -> Path:
    """Chains A (two residues) and B (one), of which A:2 is written with this name and record."""
    second = changed(alanine("A", 2, 0.0, 4.0), het=het, residue=name)
    return write(path, pdb(alanine("A", 1, 0.0) + second + alanine("B", 1, 5.0)))


@pytest.mark.parametrize(
    ("het", "name", "ours", "published"),
    [
        (False, "ALA", ["A:1", "A:2", "B:1"], ["A:1", "A:2", "B:1"]),
        (True, "MSE", ["A:1", "A:2", "B:1"], ["A:1", "B:1"]),
        (False, "MSE", ["A:1", "A:2", "B:1"], ["A:1", "A:2", "B:1"]),
        (True, "ALA", ["A:1", "B:1"], ["A:1", "B:1"]),
    ],
)
def test_residues_written_as_hetatm_are_no_interface_residues_as_published(
    tmp_path, het, name, ours, published
):
    complex_ = read_complex(three_residues(tmp_path / "x.pdb", het=het, name=name))
    for record, expected in (({}, ours), ({"residues": "atom_records"}, published)):
        index = choose("interface", record)(complex_).index
        assert [str(complex_.residues[r]) for r in index] == expected


@pytest.mark.parametrize(
    ("name", "lost"), [("ALA", False), ("MSE", True), ("HIE", True), ("UNK", True)]
)
def test_modified_and_renamed_residues_are_hidden_from_dssp_as_published(name, lost):
    complex_ = complex_of(
        alanine("A", 1, 0.0) + changed(alanine("A", 2, 4.0), residue=name)
    )
    assert without_modified(complex_).parents == ("ALA", "" if lost else "ALA")


@needs_mkdssp
@pytest.mark.parametrize("name", ["MSE", "HIE", "UNK"])
def test_hiding_a_residue_from_dssp_is_what_mkdssp_does_with_an_unknown_name(
    example, name
):
    """The control: the same residue under its own name and given to mkdssp as it is."""
    complex_ = read_complex(example / "decoys" / "1AVZ" / "far1.pdb")
    r = int(choose("interface", {})(complex_).index[3])
    names = [name if i == r else n for i, n in enumerate(complex_.names)]
    hidden = without_modified(replace(complex_, names=tuple(names)))
    written = replace(
        complex_,
        parents=tuple(name if i == r else p for i, p in enumerate(complex_.parents)),
    )
    ours, control = run_dssp(hidden), run_dssp(written)
    assert not ours.reported[r]
    for field in ("reported", "structure", "accessibility", "phi", "psi"):
        np.testing.assert_array_equal(getattr(ours, field), getattr(control, field))


# ---- recognising a checkpoint --------------------------------------------------------------------


def test_an_older_checkpoint_is_recognised_and_described(checkpoint):
    description = read_description(checkpoint)
    assert description["origin"] == "TopoQA"
    assert description["features"] == records(COMPAT)
    assert (description["node_width"], description["edge_width"]) == (172, 11)
    assert (len(description["node_columns"]), len(description["edge_columns"])) == (
        172,
        11,
    )
    assert description["hyperparameters"] == {
        "hidden": 32, "heads": 8, "layers": 2, "readout": 64, "attention_dropout": 0.25,
    }  # fmt: skip


def test_the_shape_of_the_network_is_read_from_the_tensors(tmp_path):
    state = published_state(hidden=16, heads=3, readout=300)
    description = read_description(
        write_published_checkpoint(tmp_path / "x.ckpt", state)
    )
    shape = {
        key: description["hyperparameters"][key]
        for key in ("hidden", "heads", "readout")
    }
    assert shape == {"hidden": 16, "heads": 3, "readout": 300}
    assert load_weights(tmp_path / "x.ckpt")[0].embed_nodes.weight.shape == (16, 172)


@pytest.mark.parametrize(
    "missing", ["embed.0.weight", "conv2.0.edge_linear.bias", "out.bias"]
)
def test_a_foreign_checkpoint_is_still_refused(tmp_path, missing):
    state = {
        name: tensor for name, tensor in published_state().items() if name != missing
    }
    path = write_published_checkpoint(tmp_path / "foreign.ckpt", state)
    with pytest.raises(
        CheckpointError,
        match=r"foreign\.ckpt: not a TopoRank checkpoint \(use .*TopoQA\)",
    ):
        read_description(path)


@pytest.mark.parametrize("widths", [{"edges": 24}, {"nodes": 32}])
def test_a_network_for_other_columns_is_refused_with_the_numbers(tmp_path, widths):
    path = write_published_checkpoint(tmp_path / "wide.ckpt", published_state(**widths))
    with pytest.raises(
        CheckpointError,
        match=rf"wide\.ckpt: .*{next(iter(widths.values()))} .* have 172 and 11",
    ):
        read_description(path)


# ---- its weights ---------------------------------------------------------------------------------


def published_prediction(
    state: dict, x: torch.Tensor, ends: torch.Tensor, edge: torch.Tensor
) -> float:
    """The published network, written down edge by edge and head by head (Han et al. 2025)."""

    def linear(name: str, values: torch.Tensor) -> torch.Tensor:
        return values @ state[f"{name}.weight"].T + state.get(f"{name}.bias", 0.0)

    x, edge = linear("embed.0", x), linear("edge_embed.0", edge)
    heads, hidden = state["conv1.0.att"].shape[1:]
    for layer in ("conv1.0", "conv2.0"):
        from_, to = linear(f"{layer}.lin_l", x), linear(f"{layer}.lin_r", x)
        message = (
            from_[ends[0]] + to[ends[1]] + linear(f"{layer}.lin_edge", edge)
        ).reshape(-1, heads, hidden)
        # (E, heads)
        weight = (F.leaky_relu(message, 0.2) * state[f"{layer}.att"]).sum(-1)
        x = state[f"{layer}.bias"].repeat(len(x), 1)
        for node in range(len(x)):
            incoming = (ends[1] == node).nonzero()[:, 0]
            share = weight[incoming].softmax(0)[:, :, None]
            x[node] += (
                (share * from_[ends[0, incoming]].reshape(-1, heads, hidden))
                .sum(0)
                .mean(0)
            )
        update = linear(
            f"{layer}.edge_linear", torch.cat([x[ends[0]], x[ends[1]], edge], 1)
        )
        x, edge = F.elu(x), F.elu(update.reshape(-1, heads, hidden).mean(1))
    pooled = torch.cat([x.mean(0), linear("fc_edge", edge.mean(0))])
    return float(
        torch.sigmoid(
            linear("out", linear("fc1", linear("protein_fc_1.0", pooled).relu()).relu())
        )
    )


def random_pack(folder: Path, metadata: dict) -> GraphStore:
    """Six random graphs of the published widths that carry this metadata."""
    graphs = {
        ("T", f"d{i}", ""): random_graph(
            i, widths=(172, 11), nodes=9, metadata=metadata
        )
        for i in range(6)
    }
    write_pack(folder / "pack.safetensors", members(folder / "graphs", graphs))
    return GraphStore.open([folder / "pack.safetensors"])


def test_the_imported_network_is_the_published_one(tmp_path, checkpoint):
    store = random_pack(tmp_path, graph_metadata(COMPAT))
    state = published_state()
    expected = []
    for i in range(len(store)):
        batch = store.batch([i])
        expected.append(
            published_prediction(state, batch.x, batch.edge_index, batch.edge_attr)
        )
    np.testing.assert_allclose(
        predict(load_weights(checkpoint)[0], store).numpy(), expected, rtol=0, atol=1e-6
    )
    assert np.std(expected) > 0.01


def test_an_imported_checkpoint_scores_graphs_of_its_features_and_no_others(
    tmp_path, checkpoint
):
    random_pack(tmp_path, graph_metadata(COMPAT))
    table = score_pack(checkpoint, [], tmp_path / "pack.safetensors")
    assert all(0 <= row.pred_dockq <= 1 for row in table)
    random_pack(tmp_path, graph_metadata(load_config({}).choices()))
    with pytest.raises(
        CheckpointError,
        match="other features than these graphs have: edges, interface, nodes, topo",
    ):
        score_pack(checkpoint, [], tmp_path / "pack.safetensors")


# ---- the reference -------------------------------------------------------------------------------


def test_all_decoys_of_the_reference_are_compared(reference_dir: Path):
    files = {
        path.name.removesuffix(".pdb.gz")
        for path in (reference_dir / "topoqa" / "pdb").iterdir()
    }
    assert files == {*DECOYS[:-1], "1N2C_bound"}


@needs_mkdssp
@pytest.mark.parametrize("name", DECOYS)
def test_a_decoy_gets_the_published_features_and_the_published_score(
    name: str, reference_dir: Path, tmp_path
):
    """Published: accessibility and states came from mkdssp, of which our own may be 1 Å² and 0.1°
    off; the histogram reads y as z (`edge_attr_z` has that put right).
    """
    folder = reference_dir / "topoqa"
    published = np.load(folder / "npz" / f"{name}.npz")
    complex_ = read_complex(folder / "pdb" / f"{name}.pdb.gz")

    residues = COMPAT["interface"](complex_).index
    np.testing.assert_array_equal(residues, choose("interface", {})(complex_).index)
    np.testing.assert_array_equal(complex_.xyz[complex_.ca[residues]], published["ca"])
    ids = [
        f"c<{complex_.residues[r].chain}>r<{complex_.residues[r].number}>R<{complex_.names[r]}>"
        for r in residues
    ]
    assert ids == list(published["node_id"])
    topology = COMPAT["topology"](complex_, residues)
    np.testing.assert_allclose(topology, published["topo_raw"], rtol=0, atol=1e-9)
    nodes = COMPAT["nodes"](complex_, residues, topology)
    assert not any(nodes.lost)
    np.testing.assert_allclose(nodes.values, published["x"], rtol=0, atol=1e-6)

    ours = choose(
        "nodes",
        {"module": "dssp_topology", "scaling": "per_decoy", "orientation": "file"},
    )(complex_, residues, topology)
    assert ours.lost == nodes.lost
    one_square = 1 / min(MAX_ACCESSIBILITY.values())
    np.testing.assert_allclose(
        ours.values[:, 0], published["x"][:, 0], rtol=0, atol=one_square
    )
    np.testing.assert_allclose(
        ours.values[:, 1:], published["x"][:, 1:], rtol=0, atol=0.1 / 360
    )

    corrected = choose(
        "edges", {**PRESETS["topoqa_compat"]["edges"], "coordinates": "xyz"}
    )
    for compute, key in ((COMPAT["edges"], "edge_attr"), (corrected, "edge_attr_z")):
        edges = compute(complex_, residues)
        np.testing.assert_array_equal(edges.index, published["edge_index"])
        np.testing.assert_allclose(edges.attributes, published[key], rtol=0, atol=1e-7)
        np.testing.assert_array_equal(
            edges.attributes.astype(np.float32), published[key]
        )

    graph = decoy_graph(
        nodes.values, COMPAT["edges"](complex_, residues), graph_metadata(COMPAT), ids
    )
    write_pack(
        tmp_path / "pack.safetensors", members(tmp_path, {("T", name, ""): graph})
    )
    score = score_pack(folder / "topoqa.ckpt", [], tmp_path / "pack.safetensors")[
        0
    ].pred_dockq
    expected = pd.read_csv(folder / "predictions.csv").set_index("name")[
        "pred_official_xyy"
    ][name]
    assert score == pytest.approx(expected, abs=1e-6)
