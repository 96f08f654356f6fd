"""Scores and rankings: every decoy is accounted for, the best comes first, the spread is that of the ensemble."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from _synthetic import METADATA, members, random_graph, small_run, training_graphs, training_pack
from hypothesis import given, settings
from hypothesis import strategies as st

from toporank.building.coverage import coverage_table
from toporank.building.ledger import LedgerRow
from toporank.building.plan import PlanRow
from toporank.decoys.identity import Status
from toporank.errors import CheckpointError
from toporank.evaluation.ranking import RANKING_COLUMNS, model_pred_dockq, ranking, read_ranking
from toporank.evaluation.selection import write_ensemble
from toporank.graphs.pack import GraphStore
from toporank.graphs.packing import write_pack
from toporank.model.scorer import load_weights
from toporank.model.scoring import read_ensemble, score_pack
from toporank.training.train import train_run

pytestmark = [pytest.mark.filterwarnings("ignore:.*LeafSpec.*"), pytest.mark.filterwarnings("ignore:.*weights_only.*")]

COLUMNS = "rank,target,decoy,pred_dockq,pred_sd,pred_capri,n_interface_residues,n_chains,status"


def coverage(fates: dict[tuple[str, str], str], without: tuple = ()) -> pd.DataFrame:
    """A coverage table of decoys with a status each, and of labels without decoy."""
    plan = [PlanRow(target, decoy, f"in/{target}/{decoy}.pdb", 1, 0, "") for target, decoy in fates]
    known = {Status.OK: (2, 9), Status.NO_INTERFACE: (3, 0)}
    ledger = [
        LedgerRow(target, decoy, status, "graphs", "", *known.get(status, (-1, -1)), "", 0)
        for (target, decoy), status in fates.items()
    ]
    labels = pd.DataFrame(
        [(*key, 0.5, "train") for key in without], columns=["target", "decoy", "dockq", "split"]
    ).astype({"target": str, "decoy": str, "dockq": float, "split": str})
    return coverage_table(plan, ledger, labels)


def scores(found: dict[tuple[str, str], float]) -> pd.DataFrame:
    rows = [(*key, value, 0.01) for key, value in found.items()]
    return pd.DataFrame(rows, columns=["target", "decoy", "pred_dockq", "pred_sd"])


@pytest.fixture
def table() -> pd.DataFrame:
    """Two targets with every kind of decoy."""
    fates = {
        ("B", "x"): Status.OK,
        ("A", "unreadable"): Status.UNREADABLE,
        ("A", "apart"): Status.NO_INTERFACE,
        ("A", "low"): Status.OK,
        ("A", "high"): Status.OK,
        ("A", "failed"): Status.FAILED,
        ("A", "also_apart"): Status.NO_INTERFACE,
    }
    found = {("A", "low"): 0.1, ("A", "high"): 0.85, ("B", "x"): 0.3}
    return ranking(coverage(fates, without=(("A", "gone"),)), scores(found))


# ---- the ranking ------------------------------------------------------------------------------------------


def test_the_columns_are_these(table):
    assert ",".join(table.columns) == COLUMNS == ",".join(RANKING_COLUMNS)


def test_within_a_target_the_best_comes_first_and_what_has_no_score_last(table):
    assert table[["target", "decoy", "rank"]].fillna(-1).values.tolist() == [
        ["A", "high", 1],
        ["A", "low", 2],
        ["A", "also_apart", 3],
        ["A", "apart", 4],
        ["A", "failed", -1],
        ["A", "unreadable", -1],
        ["B", "x", 1],
    ]


def test_a_label_without_decoy_is_not_ranked(table):
    assert "gone" not in table["decoy"].tolist()


def test_a_decoy_without_interface_has_a_rank_but_no_score(table):
    row = table[table["decoy"] == "apart"].iloc[0]
    assert (row["status"], row["pred_capri"], row["n_chains"], row["n_interface_residues"]) == (
        "no_interface",
        "",
        3,
        0,
    )
    assert np.isnan(row["pred_dockq"])


def test_a_decoy_that_failed_has_neither(table):
    row = table[table["decoy"] == "failed"].iloc[0]
    assert row[["rank", "pred_dockq", "n_chains", "n_interface_residues"]].isna().all()


@pytest.mark.parametrize(
    ("score", "name"),
    [(0.0, "incorrect"), (0.229999, "incorrect"), (0.23, "acceptable"), (0.489999, "acceptable"), (0.49, "medium"),
     (0.799999, "medium"), (0.8, "high"), (1.0, "high")],
)  # fmt: skip
def test_classes_are_those_of_capri(score, name):
    table = ranking(coverage({("A", "d"): Status.OK}), scores({("A", "d"): score}))
    assert table["pred_capri"].tolist() == [name]


def test_ties_go_by_name_whatever_the_order_of_the_rows():
    fates = dict.fromkeys([("A", "d10"), ("A", "d1"), ("A", "d2")], Status.OK)
    table = ranking(coverage(fates).iloc[::-1], scores(dict.fromkeys(fates, 0.5)))
    assert table["decoy"].tolist() == ["d1", "d10", "d2"]
    assert table["rank"].tolist() == [1, 2, 3]


def test_a_data_set_without_any_score_is_ranked_too():
    fates = {("A", "apart"): Status.NO_INTERFACE, ("A", "bad"): Status.UNREADABLE}
    empty = pd.DataFrame(columns=["target", "decoy", "pred_dockq", "pred_sd"])  # as from an empty pack
    table = ranking(coverage(fates), empty)
    assert table["rank"].fillna(-1).tolist() == [1, -1]
    assert model_pred_dockq(table).empty


def test_a_score_for_two_decoys_of_one_name_is_an_error():
    twice = pd.concat([scores({("A", "d"): 0.5})] * 2)
    with pytest.raises(pd.errors.MergeError):
        ranking(coverage({("A", "d"): Status.OK}), twice)


FATES = st.dictionaries(
    st.tuples(st.sampled_from("AB"), st.sampled_from([f"d{i}" for i in range(6)])),
    st.sampled_from([Status.OK, Status.NO_INTERFACE, Status.UNREADABLE, Status.FAILED]),
    min_size=1,
)


@settings(deadline=None, max_examples=25)
@given(fates=FATES, values=st.lists(st.integers(0, 5), min_size=12, max_size=12))
def test_every_decoy_has_one_row_and_ranks_count_up_from_one(fates, values):
    scored = [key for key, status in fates.items() if status == Status.OK]
    found = {key: value / 5 for key, value in zip(scored, values, strict=False)}
    table = ranking(coverage(fates), scores(found).astype({"pred_dockq": float, "pred_sd": float}))
    assert sorted(zip(table["target"], table["decoy"], strict=True)) == sorted(fates)
    for target, rows in table.groupby("target"):
        ranked = rows[rows["rank"].notna()]
        n_ranked = sum(t == target and s in (Status.OK, Status.NO_INTERFACE) for (t, _), s in fates.items())
        assert ranked["rank"].tolist() == list(range(1, n_ranked + 1))
        known = ranked["pred_dockq"].dropna().tolist()
        assert known == sorted(known, reverse=True)
        assert ranked["pred_dockq"].isna().tolist() == [False] * len(known) + [True] * (n_ranked - len(known))


@pytest.mark.parametrize("name", ["NA", "1e5", "007", "nan", '"', "a,b", "Å"])
def test_names_and_numbers_survive_the_way_through_the_file(tmp_path, name):
    fates = {(name, name): Status.OK, (name, "other"): Status.FAILED}
    table = ranking(coverage(fates), scores({(name, name): 0.123456}))
    path = tmp_path / "ranking.csv"
    path.write_text(table.to_csv(index=False))
    assert path.read_text().splitlines()[0] == COLUMNS
    pd.testing.assert_frame_equal(read_ranking(path), table, check_dtype=False)


# ---- the export -------------------------------------------------------------------------------------------


def test_the_export_lists_scored_decoys_best_first(table):
    export = model_pred_dockq(table)
    assert export.to_csv(index=False, lineterminator="\n") == "MODEL,PRED_DOCKQ\nhigh,0.85\nx,0.3\nlow,0.1\n"


# ---- scoring ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def trained(tmp_path_factory) -> tuple[Path, list[Path]]:
    """A pack and three checkpoints trained on it."""
    folder = tmp_path_factory.mktemp("trained")
    pack = training_pack(folder / "pack.safetensors")
    for seed in (1, 2, 3):
        train_run(small_run(f"s{seed}", seed, max_epochs=1), [pack], 1, folder / f"s{seed}", folder / "store")
    return pack, [folder / f"s{seed}" / "last.ckpt" for seed in (1, 2, 3)]


def one_by_one(checkpoint: Path, pack: Path) -> np.ndarray:
    """Scores of single graphs."""
    network, store = load_weights(checkpoint)[0], GraphStore.open([pack])
    with torch.no_grad():
        return np.array([float(network(store.batch([i]))) for i in range(len(store))])


def test_the_score_is_that_of_the_checkpoint_and_the_spread_that_of_the_ensemble(trained):
    pack, checkpoints = trained
    table = score_pack(checkpoints[0], checkpoints, pack)
    expected = np.array([one_by_one(checkpoint, pack) for checkpoint in checkpoints])
    assert (
        table[["target", "decoy"]].values.tolist()
        == GraphStore.open([pack]).decoys[["target", "decoy"]].values.tolist()
    )
    np.testing.assert_allclose(table["pred_dockq"], expected[0], atol=1.5e-6)
    np.testing.assert_allclose(table["pred_sd"], np.std(expected, axis=0, ddof=1), atol=1.5e-6)
    assert table["pred_sd"].min() > 0


@pytest.fixture
def ensemble(trained, tmp_path) -> Callable[[str], Path]:
    """A function which makes the folder of an ensemble of two runs, as selection does."""

    def make(score: str) -> Path:
        summaries = [checkpoint.with_name("summary.json") for checkpoint in trained[1]]
        write_ensemble(summaries, "val_loss", tmp_path / score, 2, score)
        return tmp_path / score

    return make


def test_the_score_of_an_ensemble_is_the_mean_of_its_members(trained, ensemble):
    pack, (other, *_) = trained
    members, mean = read_ensemble(ensemble("mean"))
    assert (len(members), mean) == (2, True)
    one, two = (one_by_one(member, pack) for member in members)
    table = score_pack(other, members, pack, mean=mean)
    np.testing.assert_allclose(table["pred_dockq"], (one + two) / 2, atol=1.5e-6)
    np.testing.assert_allclose(table["pred_sd"], abs(one - two) / np.sqrt(2), atol=1.5e-6)
    assert abs(one - two).min() > 1e-4


def test_an_ensemble_says_whether_its_mean_is_the_score(trained, ensemble, tmp_path):
    for score in ("best", "mean"):
        members, mean = read_ensemble(ensemble(score))
        runs = json.loads((tmp_path / score / "members.json").read_text())["members"]
        assert [member.stem for member in members] == sorted(runs)
        assert mean is (score == "mean")
    (tmp_path / "mean" / "members.json").unlink()  # a folder of an earlier version
    assert read_ensemble(tmp_path / "mean") == (sorted((tmp_path / "mean").glob("*.ckpt")), False)


def test_written_scores_have_seven_decimals(trained):
    pack, checkpoints = trained
    table = score_pack(checkpoints[0], checkpoints, pack)
    for column in ("pred_dockq", "pred_sd"):
        np.testing.assert_array_equal(table[column], table[column].round(7))
        assert not np.array_equal(table[column], table[column].round(4))


@pytest.mark.parametrize("n", [0, 1])
def test_fewer_than_two_checkpoints_have_no_spread(trained, n):
    pack, checkpoints = trained
    assert score_pack(checkpoints[0], checkpoints[:n], pack)["pred_sd"].isna().all()


def test_the_ensemble_does_not_change_the_score(trained):
    pack, checkpoints = trained
    alone, among = (score_pack(checkpoints[0], ensemble, pack) for ensemble in ([], checkpoints))
    pd.testing.assert_series_equal(alone["pred_dockq"], among["pred_dockq"])


def test_an_empty_pack_has_no_scores(trained, tmp_path):
    write_pack(tmp_path / "empty", [])
    table = score_pack(trained[1][0], [], tmp_path / "empty")
    assert table.empty
    assert list(table.columns) == ["target", "decoy", "pred_dockq", "pred_sd"]


def test_labels_have_no_influence_on_scores(trained, tmp_path):
    graphs = training_graphs()
    for graph in graphs.values():
        del graph.y
    write_pack(tmp_path / "pack", members(tmp_path / "graphs", graphs))
    pd.testing.assert_frame_equal(
        score_pack(trained[1][0], [], tmp_path / "pack"), score_pack(trained[1][0], [], trained[0])
    )


def pack_with(folder: Path, **changes) -> Path:
    """One graph whose feature modules are partly others."""
    metadata = {**METADATA, "features": {**METADATA["features"], **changes}}
    write_pack(folder / "other", members(folder / "graphs", {("A", "d", ""): random_graph(1, metadata=metadata)}))
    return folder / "other"


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"interface": {"module": "interface/ca_cutoff/v1", "cutoff": 8.0}}, "interface differ"),
        ({"edges": {"module": "edges/multiscale_v24"}, "nodes": {"module": "x"}}, "edges, nodes differ"),
    ],
)
def test_graphs_of_other_features_are_an_error_that_names_the_checkpoint_and_what_differs(
    trained, tmp_path, changes, named
):
    with pytest.raises(CheckpointError) as caught:
        score_pack(trained[1][0], [], pack_with(tmp_path, **changes))
    assert str(trained[1][0]) in str(caught.value)
    assert named in str(caught.value)


def test_graphs_that_do_not_name_their_features_are_not_scored_with_a_checkpoint_that_does(trained, tmp_path):
    write_pack(tmp_path / "bare", members(tmp_path / "g", {("A", "d", ""): random_graph(1, metadata=None)}))
    with pytest.raises(CheckpointError, match="edges, interface, nodes, topology differ"):
        score_pack(trained[1][0], [], tmp_path / "bare")


def test_graphs_of_another_format_are_an_error_that_names_the_checkpoint(trained, tmp_path):
    later = random_graph(1, metadata={**METADATA, "format": METADATA["format"] + 1})
    write_pack(tmp_path / "later", members(tmp_path / "g", {("A", "d", ""): later}))
    with pytest.raises(CheckpointError, match=r"last\.ckpt"):
        score_pack(trained[1][0], [], tmp_path / "later")


def test_graphs_of_other_widths_are_an_error_that_names_the_checkpoint(tmp_path):
    narrow = training_pack(tmp_path / "narrow.safetensors", metadata=None)
    train_run(small_run(max_epochs=1), [narrow], 1, tmp_path / "run", tmp_path / "store")
    wide = training_pack(tmp_path / "wide.safetensors", metadata=None, widths=(6, 3))
    with pytest.raises(CheckpointError, match=r"last\.ckpt"):
        score_pack(tmp_path / "run" / "last.ckpt", [], wide)
