"""Scores of networks: the mean and the spread are those of the ensemble, and graphs of other
features are refused.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from _scoring import score_pack
from _synthetic import (
    METADATA,
    labelled,
    local_pack,
    members,
    random_graph,
    small_run,
    training_graphs,
    training_pack,
)

from toporank.building.packing import write_pack
from toporank.errors import CheckpointError, GraphError
from toporank.files.packfile import PackedGraphs
from toporank.learning.data import GraphStore
from toporank.learning.inference import open_network, predict_all
from toporank.learning.selection import write_ensemble, write_selection
from toporank.learning.train import TrainingGraphs, train_run
from toporank.learning.weights import load_weights, network_bytes
from toporank.scorer import networks
from toporank.scorer.manifest import seal
from toporank.scorer.networks import Networks
from toporank.scorer.prediction import Score
from toporank.scorer.scorer import Scorer

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*LeafSpec.*"),
    pytest.mark.filterwarnings("ignore:.*weights_only.*"),
]


def one_by_one(checkpoint: Path, pack: Path) -> np.ndarray:
    """Scores of single graphs."""
    network, store = load_weights(checkpoint)[0], GraphStore.open([pack])
    with torch.no_grad():
        return np.array([float(network(store.batch([i]))) for i in range(len(store))])


def test_the_score_is_that_of_the_checkpoint_and_the_spread_that_of_the_ensemble(
    trained,
):
    pack, checkpoints = trained
    table = score_pack(checkpoints[0], checkpoints, pack)
    expected = np.array([one_by_one(checkpoint, pack) for checkpoint in checkpoints])
    decoys = GraphStore.open([pack]).decoys
    assert [row[:2] for row in table] == list(
        zip(decoys["target"], decoys["decoy"], strict=True)
    )
    np.testing.assert_allclose(column(table, "pred_dockq"), expected[0], atol=1.5e-6)
    np.testing.assert_allclose(
        column(table, "pred_sd"), np.std(expected, axis=0, ddof=1), atol=1.5e-6
    )
    assert column(table, "pred_sd").min() > 0


def test_the_numbers_of_a_decoy_do_not_depend_on_which_others_are_scored_with_it(
    tmp_path,
):
    """Not in one bit. Last digits would else move thresholds of trees, and with them the score by
    more than digits.
    """
    run = small_run("wide", 1, max_epochs=1, hidden=32, heads=4, local_weight=1.0)
    pack = local_pack(tmp_path / "train", training_graphs(decoys=4))
    train_run(run, TrainingGraphs([pack]), 1, tmp_path / "wide", tmp_path / "store")
    (tmp_path / "wide.safetensors").write_bytes(
        network_bytes(tmp_path / "wide/last.ckpt")
    )
    network, _ = open_network(tmp_path / "wide.safetensors")
    graphs = {
        ("T", f"d{i}", "val"): random_graph(i, nodes=20 + 7 * i, edges=90 + 31 * i)
        for i in range(40)
    }
    found = {}
    for name, keys in {
        "all": [*graphs],
        "turned": [*graphs][::-1],
        "few": [*graphs][7:10],
    }.items():
        write_pack(
            tmp_path / name,
            members(tmp_path / "graphs", {key: graphs[key] for key in keys}),
        )
        store = GraphStore.open([tmp_path / name])
        ((score, local, residues, _, pooled),) = predict_all([network], store)
        nodes = np.split(residues, np.cumsum(store.n_nodes)[:-1])
        numbers = zip(score.tolist(), local.tolist(), nodes, pooled, strict=True)
        found[name] = {key: (s, m, n.tobytes(), p.tolist()) for key, (s, m, n, p)
                       in zip(zip(store.target, store.decoy, strict=True), numbers, strict=True)}  # fmt: skip
    assert len(found["few"]) == 3
    assert found["turned"] == found["all"]
    assert found["few"].items() <= found["all"].items()


def column(table: list[Score], name: str) -> np.ndarray:
    return np.array([getattr(row, name) for row in table])


@pytest.fixture
def ensemble(trained, tmp_path) -> Callable[[str], Scorer]:
    """A function which makes a scorer of two runs, as selection does."""

    def make(score: str) -> Scorer:
        summaries = [checkpoint.with_name("summary.json") for checkpoint in trained[1]]
        write_selection(
            summaries,
            "val_loss",
            tmp_path / score / "leaderboard.csv",
            tmp_path / score / "best",
        )
        write_ensemble(summaries, "val_loss", tmp_path / score / "ensemble", 2)
        seal(tmp_path / score, mean=score == "mean")
        return Scorer.open(tmp_path / score)

    return make


def test_the_score_of_an_ensemble_is_the_mean_of_its_members(trained, ensemble):
    pack, _ = trained
    scorer = ensemble("mean")
    assert (len(scorer.members), scorer.mean) == (2, True)
    one, two = (one_by_one(member, pack) for member in scorer.members)
    table = Networks(scorer).predict(PackedGraphs.open([pack])).scores
    np.testing.assert_allclose(
        column(table, "pred_dockq"), (one + two) / 2, atol=1.5e-6
    )
    np.testing.assert_allclose(
        column(table, "pred_sd"), abs(one - two) / np.sqrt(2), atol=1.5e-6
    )
    assert abs(one - two).min() > 1e-4


def test_each_checkpoint_is_read_once_and_a_copy_not_at_all(
    ensemble, trained, monkeypatch
):
    scorer, read = ensemble("mean"), []
    monkeypatch.setattr(
        networks, "open_network", lambda path: read.append(path) or open_network(path)
    )
    Networks(scorer).predict(PackedGraphs.open([trained[0]]))
    assert len(scorer.descriptions) == 2
    assert (
        len(scorer.members) == len(read) == len({*map(Path.read_bytes, read)}) == 2
    )  # best.ckpt is one of them


def test_the_given_checkpoint_is_one_of_those_whose_mean_is_the_score(
    trained, ensemble, tmp_path
):
    pack, _ = trained
    members = ensemble("mean").members
    copied = Path(shutil.copy(members[1], tmp_path / "copied.ckpt"))
    first, other = (
        score_pack(path, members, pack, mean=True) for path in (copied, members[0])
    )
    assert [score._replace(pooled=()) for score in first] == [
        score._replace(pooled=()) for score in other
    ]
    kept = members[:1]
    with pytest.raises(
        CheckpointError,
        match=r"copied\.ckpt: the score is the mean .* another \(copy this",
    ):
        score_pack(copied, kept, pack, mean=True)
    assert score_pack(copied, kept, pack)[0].pred_sd is None  # no mean is asked for
    copied.write_bytes(b"garbage")
    with pytest.raises(
        CheckpointError, match=r"copied\.ckpt: not a readable checkpoint"
    ):
        score_pack(copied, members, pack)


def test_all_members_have_the_same_features(trained, tmp_path):
    pack, checkpoints = trained
    graphs = {(target, f"d{i}", split): labelled(i, metadata=OTHER) for i in range(4)
              for target, split in (("A", "train"), ("B", "val"))}  # fmt: skip
    write_pack(tmp_path / "other", members(tmp_path / "graphs", graphs))
    other = TrainingGraphs([tmp_path / "other"])
    train_run(small_run(max_epochs=1), other, 1, tmp_path / "run", tmp_path / "store")
    with pytest.raises(
        CheckpointError,
        match=r"run/last\.ckpt: was trained on other features .* interface differ",
    ):
        score_pack(checkpoints[0], [*checkpoints, tmp_path / "run/last.ckpt"], pack)


def test_written_scores_have_seven_decimals(trained):
    pack, checkpoints = trained
    table = score_pack(checkpoints[0], checkpoints, pack)
    for name in ("pred_dockq", "pred_sd"):
        values = column(table, name)
        np.testing.assert_array_equal(values, values.round(7))
        assert not np.array_equal(values, values.round(4))


@pytest.mark.parametrize("n", [0, 1])
def test_fewer_than_two_checkpoints_have_no_spread(trained, n):
    pack, checkpoints = trained
    assert {
        row.pred_sd for row in score_pack(checkpoints[0], checkpoints[:n], pack)
    } == {None}


def test_an_empty_pack_has_no_scores(trained, tmp_path):
    write_pack(tmp_path / "empty", [])
    assert score_pack(trained[1][0], [], tmp_path / "empty") == []


def test_labels_have_no_influence_on_scores(trained, tmp_path):
    graphs = training_graphs(train=1, val=1, decoys=3)
    for graph in graphs.values():
        del graph.y
    write_pack(tmp_path / "pack", members(tmp_path / "graphs", graphs))
    assert score_pack(trained[1][0], [], tmp_path / "pack") == score_pack(
        trained[1][0], [], trained[0]
    )


def test_a_graph_that_makes_no_number_is_an_error_that_names_the_decoy(
    trained, tmp_path
):
    graph = random_graph(1)
    graph.x[0, 0] = torch.inf
    write_pack(tmp_path / "odd", members(tmp_path / "g", {("A", "d", ""): graph}))
    with pytest.raises(
        GraphError,
        match="predictions for 1 models are not finite numbers, the first is A/d",
    ):
        score_pack(trained[1][0], [], tmp_path / "odd")


def metadata_of(**changes: object) -> dict:
    """That of graphs whose feature modules are partly others."""
    return {**METADATA, "features": {**METADATA["features"], **changes}}


OTHER = metadata_of(interface={"module": "interface/ca_cutoff/v1", "cutoff": 8.0})


@pytest.mark.parametrize(
    ("metadata", "named"),
    [
        (OTHER, "interface differ"),
        (
            metadata_of(edges={"module": "edges/contacts/v1"}, nodes={}),
            "edges, nodes differ",
        ),
        (None, "edges, interface, nodes, topology differ"),
        ({**METADATA, "format": METADATA["format"] + 1}, ""),
    ],
    ids=["interface", "two modules", "no names", "another format"],
)
def test_graphs_of_other_features_are_an_error_that_names_the_checkpoint_and_what_differs(
    trained, tmp_path, metadata, named
):
    graphs = {("A", "d", ""): random_graph(1, metadata=metadata)}
    write_pack(tmp_path / "other", members(tmp_path / "graphs", graphs))
    with pytest.raises(CheckpointError, match=rf"last\.ckpt.*{named}"):
        score_pack(trained[1][0], [], tmp_path / "other")


def test_graphs_of_other_widths_are_an_error_that_names_the_checkpoint(tmp_path):
    narrow = training_pack(tmp_path / "narrow.safetensors", metadata=None)
    source = TrainingGraphs([narrow])
    train_run(small_run(max_epochs=1), source, 1, tmp_path / "run", tmp_path / "store")
    wide = training_pack(tmp_path / "wide.safetensors", metadata=None, widths=(6, 3))
    with pytest.raises(CheckpointError, match=r"last\.ckpt"):
        score_pack(tmp_path / "run" / "last.ckpt", [], wide)
