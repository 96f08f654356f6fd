"""Scores and rankings: every decoy is accounted for, the best comes first, the spread is that of the ensemble."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from _scoring import score_pack
from _synthetic import METADATA, labelled, local_pack, members, random_graph, small_run, training_graphs, training_pack
from hypothesis import given, settings
from hypothesis import strategies as st

from toporank.building.chunks.ledger import LedgerRow
from toporank.building.chunks.plan import PlannedDecoy
from toporank.building.coverage import CoverageRow, coverage_table
from toporank.building.packing import write_pack
from toporank.errors import CheckpointError, GraphError
from toporank.inputs.labels import Label
from toporank.learning.data import GraphStore
from toporank.learning.selection import write_ensemble, write_selection
from toporank.learning.train import train_run
from toporank.learning.weights import load_weights, predict_all
from toporank.ranking.ranked import (
    ComparedDecoy,
    RankedDecoy,
    Score,
    best_of_each_target,
    ranking,
    read_ranking,
    write_model_pred_dockq,
    write_ranking,
)
from toporank.scorer import networks
from toporank.scorer.manifest import seal
from toporank.scorer.networks import Networks
from toporank.scorer.prediction import Estimate
from toporank.scorer.scorer import Scorer
from toporank.structures.identity import Status

pytestmark = [pytest.mark.filterwarnings("ignore:.*LeafSpec.*"), pytest.mark.filterwarnings("ignore:.*weights_only.*")]


def coverage(fates: dict[tuple[str, str], str], without: tuple = ()) -> list[CoverageRow]:
    """A coverage table of decoys with a status each, and of labels without decoy."""
    plan = [PlannedDecoy(target, decoy, f"in/{target}/{decoy}.pdb", 1, 0, "") for target, decoy in fates]
    known = {Status.OK: (2, 9), Status.NO_INTERFACE: (2, 0)}
    ledger = [
        LedgerRow(target, decoy, status, "graphs", "", *known.get(status, (-1, -1)), "", 0)
        for (target, decoy), status in fates.items()
    ]
    return coverage_table(plan, ledger, [Label(*key, 0.5, "train") for key in without])


def scores(found: dict[tuple[str, str], float]) -> list[Score]:
    return [Score(*key, value, 0.01) for key, value in found.items()]


@pytest.fixture
def table() -> list[RankedDecoy]:
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


def named(table: list[RankedDecoy], decoy: str) -> RankedDecoy:
    return next(row for row in table if row.decoy == decoy)


def test_within_a_target_the_best_comes_first_and_what_has_no_score_last(table):
    assert [(row.target, row.decoy, row.rank) for row in table] == [
        ("A", "high", 1),
        ("A", "low", 2),
        ("A", "also_apart", 3),
        ("A", "apart", 4),
        ("A", "failed", None),
        ("A", "unreadable", None),
        ("B", "x", 1),
    ]


def test_a_label_without_decoy_is_not_ranked(table):
    assert "gone" not in [row.decoy for row in table]


def test_a_decoy_without_interface_has_a_rank_but_no_score(table):
    unknown, unscored = [None] * 3, (*[None] * 4, "", "")
    assert named(table, "apart") == (
        4, "A", "apart", *unscored, 0, 2, *unknown, "no_interface", "", *unknown, "", None, None, "", *unknown, "",
    )  # fmt: skip


def test_a_decoy_that_failed_has_neither(table):
    unknown, unscored = [None] * 3, (*[None] * 4, "", "")
    assert named(table, "failed") == (
        None, "A", "failed", *unscored, None, None, *unknown, "failed", "", *unknown, "", None, None, "", *unknown, "",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("score", "name"),
    [(0.0, "incorrect"), (0.229999, "incorrect"), (0.23, "acceptable"), (0.489999, "acceptable"), (0.49, "medium"),
     (0.799999, "medium"), (0.8, "high"), (1.0, "high")],
)  # fmt: skip
def test_classes_are_those_of_capri(score, name):
    (row,) = ranking(coverage({("A", "d"): Status.OK}), scores({("A", "d"): score}))
    assert row.pred_capri == name


def test_ties_go_by_name_whatever_the_order_of_the_rows():
    fates = dict.fromkeys([("A", "d10"), ("A", "d1"), ("A", "d2")], Status.OK)
    table = ranking(coverage(fates)[::-1], scores(dict.fromkeys(fates, 0.5)))
    assert [(row.decoy, row.rank) for row in table] == [("d1", 1), ("d10", 2), ("d2", 3)]


def test_a_data_set_without_any_score_is_ranked_too():
    fates = {("A", "apart"): Status.NO_INTERFACE, ("A", "bad"): Status.UNREADABLE}
    assert [row.rank for row in ranking(coverage(fates), [])] == [1, None]
    assert ranking([], []) == []


def test_two_scores_of_one_decoy_are_an_error():
    with pytest.raises(ValueError, match="A/d has two scores"):
        ranking(coverage({("A", "d"): Status.OK}), 2 * scores({("A", "d"): 0.5}))


FATES = st.dictionaries(
    st.tuples(st.sampled_from("AB"), st.sampled_from([f"d{i}" for i in range(6)])),
    st.sampled_from([Status.OK, Status.NO_INTERFACE, Status.UNREADABLE, Status.FAILED]),
    min_size=1,
)


@settings(max_examples=25)
@given(fates=FATES, values=st.lists(st.integers(0, 5), min_size=12, max_size=12))
def test_every_decoy_has_one_row_and_ranks_count_up_from_one(fates, values):
    scored = [key for key, status in fates.items() if status == Status.OK]
    found = {key: value / 5 for key, value in zip(scored, values, strict=False)}
    table = ranking(coverage(fates), scores(found))
    assert sorted((row.target, row.decoy) for row in table) == sorted(fates)
    for target in {target for target, _ in fates}:
        ranked = [row for row in table if row.target == target and row.rank]
        n_ranked = sum(t == target and s in (Status.OK, Status.NO_INTERFACE) for (t, _), s in fates.items())
        assert [row.rank for row in ranked] == list(range(1, n_ranked + 1))
        known = [row.pred_dockq for row in ranked if row.pred_dockq is not None]
        assert known == sorted(known, reverse=True)
        assert [row.pred_dockq is None for row in ranked] == [False] * len(known) + [True] * (n_ranked - len(known))


# ---- the files --------------------------------------------------------------------------------------------


ODD_NAMES = ["NA", "1e5", "007", "nan", '"', "a,b", "Å", "=1+1", "-1", "+x", "@x", "'=1", "''-", "'q'", "\tx", "a\nb"]


@pytest.mark.parametrize("name", ODD_NAMES)
def test_names_and_numbers_survive_the_way_through_the_file(tmp_path, name):
    fates = {(name, name): Status.OK, (name, "other"): Status.FAILED}
    among = [ComparedDecoy(name, name, 1, 0.25, name)]
    table = ranking(coverage(fates), scores({(name, name): 0.123456}), comparison=among)
    write_ranking(tmp_path / "ranking.csv", table)
    assert read_ranking(tmp_path / "ranking.csv") == table


def test_the_ranking_looks_like_this(tmp_path, table):
    write_ranking(tmp_path / "ranking.csv", table)
    assert (tmp_path / "ranking.csv").read_text().splitlines()[:6] == [
        "rank,target,decoy,pred_dockq,pred_sd,pred_capri,n_interface_residues,n_chains,n_interfaces,min_interface,"
        "mean_interface,status,duplicate_of,cluster,cluster_rank,consensus,twin_of",
        "1,A,high,0.85,0.01,high,9,2,,,,ok,,,,,",
        "2,A,low,0.1,0.01,incorrect,9,2,,,,ok,,,,,",
        "3,A,also_apart,,,,0,2,,,,no_interface,,,,,",
        "4,A,apart,,,,0,2,,,,no_interface,,,,,",
        ",A,failed,,,,,,,,,failed,,,,,",
    ]


def test_intervals_and_domain_have_columns_where_the_scorer_is_calibrated(tmp_path):
    fates = {("A", "in"): Status.OK, ("A", "out"): Status.OK, ("A", "apart"): Status.NO_INTERFACE}
    known = {("A", "in"): Estimate(0.6, 1.0, ""), ("A", "out"): Estimate(0.1, 0.5, "9 chains, training had 2")}
    found = scores({("A", "in"): 0.8, ("A", "out"): 0.3})
    table = ranking(coverage(fates), found, estimates=known)
    write_ranking(tmp_path / "ranking.csv", table)
    header, first, *_ = (tmp_path / "ranking.csv").read_text().splitlines()
    assert header.startswith("rank,target,decoy,pred_dockq,pred_sd,pred_low,pred_high,domain,pred_capri,")
    assert first.startswith("1,A,in,0.8,0.01,0.6,1.0,,high,")
    assert read_ranking(tmp_path / "ranking.csv") == table
    assert best_of_each_target(table) == [
        "A  in, predicted DockQ 0.800, 80 % interval 0.600 to 1.000 (high)",
        "1 of 2 models are out of the domain of the scorer, such as A/out: 9 chains, training had 2",
    ]


def test_what_to_expect_has_a_column_and_is_what_the_best_of_each_target_is_told_with(tmp_path):
    fates = {("A", "first"): Status.OK, ("A", "second"): Status.OK}
    known = {("A", "first"): Estimate(0.2, 0.9, "", 0.45), ("A", "second"): Estimate(0.1, 0.8, "", 0.4)}
    found = scores({("A", "first"): 0.85, ("A", "second"): 0.6})
    table = ranking(coverage(fates), found, estimates=known)
    write_ranking(tmp_path / "ranking.csv", table)
    assert (tmp_path / "ranking.csv").read_text().splitlines()[0].endswith(",expected_dockq")
    assert read_ranking(tmp_path / "ranking.csv") == table
    assert best_of_each_target(table)[0] == "A  first, expected DockQ 0.450, 80 % interval 0.200 to 0.900 (acceptable)"


def test_what_decided_has_a_column_where_it_is_not_the_score_of_the_complex(tmp_path):
    fates = {("A", "only"): Status.OK}
    for rank_by, named_by in (("complex", []), ("min_interface", ["min_interface"])):
        table = ranking(coverage(fates), scores({("A", "only"): 0.5}), rank_by=rank_by)
        write_ranking(tmp_path / "ranking.csv", table)
        with open(tmp_path / "ranking.csv", newline="") as handle:
            assert [row["ranked_by"] for row in csv.DictReader(handle) if "ranked_by" in row] == named_by
        assert read_ranking(tmp_path / "ranking.csv") == table


def test_what_networks_said_has_a_column_where_the_judge_has_the_last_word(tmp_path):
    """Ranks go by the judge."""
    fates = {("A", "first"): Status.OK, ("A", "second"): Status.OK, ("A", "apart"): Status.NO_INTERFACE}
    network = {("A", "first"): 0.2, ("A", "second"): 0.6}
    judged = [
        score._replace(pred_network=network[score.target, score.decoy])
        for score in scores({("A", "first"): 0.8, ("A", "second"): 0.3})
    ]
    table = ranking(coverage(fates), judged)
    assert [(row.decoy, row.pred_dockq, row.pred_network) for row in table] == [
        ("first", 0.8, 0.2), ("second", 0.3, 0.6), ("apart", None, None)
    ]  # fmt: skip
    write_ranking(tmp_path / "ranking.csv", table)
    assert (tmp_path / "ranking.csv").read_text().splitlines()[0].endswith(",twin_of,pred_network")
    assert read_ranking(tmp_path / "ranking.csv") == table


def test_the_export_lists_scored_decoys_best_first(tmp_path, table):
    write_model_pred_dockq(tmp_path / "export.csv", table)
    assert (tmp_path / "export.csv").read_text() == ("MODEL,PRED_DOCKQ,TARGET\nhigh,0.85,A\nx,0.3,B\nlow,0.1,A\n")


def test_the_export_tells_decoys_of_one_name_apart(tmp_path):
    fates = {(target, "near1"): Status.OK for target in "BA"}
    write_model_pred_dockq(tmp_path / "export.csv", ranking(coverage(fates), scores(dict.fromkeys(fates, 0.5))))
    assert (tmp_path / "export.csv").read_text() == "MODEL,PRED_DOCKQ,TARGET\nnear1,0.5,A\nnear1,0.5,B\n"


@pytest.mark.parametrize("write", [write_ranking, write_model_pred_dockq])
@pytest.mark.parametrize("name", ["=HYPERLINK(1)", "@SUM(1)", "+1", "-1", "\tx", "\r=x"])
def test_no_name_is_a_formula(tmp_path, write, name):
    write(tmp_path / "table.csv", ranking(coverage({(name, name): Status.OK}), scores({(name, name): 0.5})))
    with open(tmp_path / "table.csv", newline="") as handle:
        cells = [cell for row in csv.reader(handle) for cell in row]
    assert not any(cell.startswith(name) for cell in cells)
    assert cells.count(f"'{name}") == 2


def test_the_best_decoy_of_each_target_is_named(table):
    assert best_of_each_target(table) == [
        "A  high, predicted DockQ 0.850 (high)",
        "B  x, predicted DockQ 0.300 (acceptable)",
    ]
    apart = {("AA", "d"): Status.NO_INTERFACE, **{(f"T{i:02}", "d"): Status.OK for i in range(12)}}
    lines = best_of_each_target(ranking(coverage(apart), scores({key: 0.5 for key in apart if key[0] != "AA"})))
    assert lines[:2] == ["AA   no model was scored", "T00  d, predicted DockQ 0.500 (medium)"]
    assert (len(lines), lines[-1]) == (11, "and 3 more targets")


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
    decoys = GraphStore.open([pack]).decoys
    assert [row[:2] for row in table] == list(zip(decoys["target"], decoys["decoy"], strict=True))
    np.testing.assert_allclose(column(table, "pred_dockq"), expected[0], atol=1.5e-6)
    np.testing.assert_allclose(column(table, "pred_sd"), np.std(expected, axis=0, ddof=1), atol=1.5e-6)
    assert column(table, "pred_sd").min() > 0


def test_the_numbers_of_a_decoy_do_not_depend_on_which_others_are_scored_with_it(tmp_path):
    """Not in one bit. Last digits would else move thresholds of trees, and with them the score by more than digits."""
    run = small_run("wide", 1, max_epochs=1, hidden=32, heads=4, local_weight=1.0)
    pack = local_pack(tmp_path / "train", training_graphs(decoys=4))
    train_run(run, [pack], 1, tmp_path / "wide", tmp_path / "store")
    network = load_weights(tmp_path / "wide/last.ckpt")[0]
    graphs = {("T", f"d{i}", "val"): random_graph(i, nodes=20 + 7 * i, edges=90 + 31 * i) for i in range(40)}
    found = {}
    for name, keys in {"all": [*graphs], "turned": [*graphs][::-1], "few": [*graphs][7:10]}.items():
        write_pack(tmp_path / name, members(tmp_path / "graphs", {key: graphs[key] for key in keys}))
        store = GraphStore.open([tmp_path / name])
        ((score, local, residues, _, pooled),) = predict_all([network], store)
        nodes = residues.split(store.n_nodes.tolist())
        numbers = zip(score.tolist(), local.tolist(), nodes, pooled, strict=True)
        found[name] = {key: (s, m, n.numpy().tobytes(), p.tolist()) for key, (s, m, n, p)
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
        write_selection(summaries, "val_loss", tmp_path / score / "leaderboard.csv", tmp_path / score / "best")
        write_ensemble(summaries, "val_loss", tmp_path / score / "ensemble", 2)
        seal(tmp_path / score, mean=score == "mean")
        return Scorer.open(tmp_path / score)

    return make


def test_the_score_of_an_ensemble_is_the_mean_of_its_members(trained, ensemble):
    pack, _ = trained
    scorer = ensemble("mean")
    assert (len(scorer.members), scorer.mean) == (2, True)
    one, two = (one_by_one(member, pack) for member in scorer.members)
    table = Networks(scorer).score(pack)
    np.testing.assert_allclose(column(table, "pred_dockq"), (one + two) / 2, atol=1.5e-6)
    np.testing.assert_allclose(column(table, "pred_sd"), abs(one - two) / np.sqrt(2), atol=1.5e-6)
    assert abs(one - two).min() > 1e-4


def test_each_checkpoint_is_read_once_and_a_copy_not_at_all(ensemble, trained, monkeypatch):
    scorer, read = ensemble("mean"), []
    monkeypatch.setattr(networks, "load_weights", lambda path: read.append(path) or load_weights(path))
    Networks(scorer).score(trained[0])
    assert len(scorer.descriptions) == 2
    assert len(scorer.members) == len(read) == len({*map(Path.read_bytes, read)}) == 2  # best.ckpt is one of them


def test_the_given_checkpoint_is_one_of_those_whose_mean_is_the_score(trained, ensemble, tmp_path):
    pack, _ = trained
    members = ensemble("mean").members
    copied = Path(shutil.copy(members[1], tmp_path / "copied.ckpt"))
    first, other = (score_pack(path, members, pack, mean=True) for path in (copied, members[0]))
    assert [score._replace(pooled=()) for score in first] == [score._replace(pooled=()) for score in other]
    kept = members[:1]
    with pytest.raises(CheckpointError, match=r"copied\.ckpt: the score is the mean .* another \(copy this"):
        score_pack(copied, kept, pack, mean=True)
    assert score_pack(copied, kept, pack)[0].pred_sd is None  # no mean is asked for
    copied.write_bytes(b"garbage")
    with pytest.raises(CheckpointError, match=r"copied\.ckpt: not a readable checkpoint"):
        score_pack(copied, members, pack)


def test_all_members_have_the_same_features(trained, tmp_path):
    pack, checkpoints = trained
    graphs = {(target, f"d{i}", split): labelled(i, metadata=OTHER) for i in range(4)
              for target, split in (("A", "train"), ("B", "val"))}  # fmt: skip
    write_pack(tmp_path / "other", members(tmp_path / "graphs", graphs))
    train_run(small_run(max_epochs=1), [tmp_path / "other"], 1, tmp_path / "run", tmp_path / "store")
    with pytest.raises(CheckpointError, match=r"run/last\.ckpt: was trained on other features .* interface differ"):
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
    assert {row.pred_sd for row in score_pack(checkpoints[0], checkpoints[:n], pack)} == {None}


def test_the_ensemble_does_not_change_the_score(trained):
    pack, checkpoints = trained
    alone, among = (score_pack(checkpoints[0], ensemble, pack) for ensemble in ([], checkpoints))
    assert [row.pred_dockq for row in alone] == [row.pred_dockq for row in among]


def test_an_empty_pack_has_no_scores(trained, tmp_path):
    write_pack(tmp_path / "empty", [])
    assert score_pack(trained[1][0], [], tmp_path / "empty") == []


def test_labels_have_no_influence_on_scores(trained, tmp_path):
    graphs = training_graphs()
    for graph in graphs.values():
        del graph.y
    write_pack(tmp_path / "pack", members(tmp_path / "graphs", graphs))
    assert score_pack(trained[1][0], [], tmp_path / "pack") == score_pack(trained[1][0], [], trained[0])


def test_a_graph_that_makes_no_number_is_an_error_that_names_the_decoy(trained, tmp_path):
    graph = random_graph(1)
    graph.x[0, 0] = torch.inf
    write_pack(tmp_path / "odd", members(tmp_path / "g", {("A", "d", ""): graph}))
    with pytest.raises(GraphError, match="predictions for 1 decoys are not finite numbers, the first is A/d"):
        score_pack(trained[1][0], [], tmp_path / "odd")


NEARER = {"module": "interface/ca_cutoff/v1", "cutoff": 8.0}
OTHER = {**METADATA, "features": {**METADATA["features"], "interface": NEARER}}


def pack_with(folder: Path, **changes) -> Path:
    """One graph whose feature modules are partly others."""
    metadata = {**METADATA, "features": {**METADATA["features"], **changes}}
    write_pack(folder / "other", members(folder / "graphs", {("A", "d", ""): random_graph(1, metadata=metadata)}))
    return folder / "other"


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"interface": {"module": "interface/ca_cutoff/v1", "cutoff": 8.0}}, "interface differ"),
        ({"edges": {"module": "edges/contacts/v1"}, "nodes": {"module": "x"}}, "edges, nodes differ"),
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


def test_copies_share_the_rank_of_the_first():
    def row(decoy: str, of: str = "") -> CoverageRow:
        return CoverageRow("T", decoy, Status.OK, "graphs", "", None, "", 2, 9, "", of)

    coverage = [row("best"), row("copy", "best"), row("next"), row("worst")]
    scores = [Score("T", d, p, None) for d, p in (("best", 0.9), ("copy", 0.9), ("next", 0.5), ("worst", 0.1))]
    table = ranking(coverage, scores)
    assert [(r.decoy, r.rank, r.duplicate_of) for r in table] == [
        ("best", 1, ""), ("copy", 1, "best"), ("next", 2, ""), ("worst", 3, ""),
    ]  # fmt: skip


def test_twins_are_named_and_keep_their_ranks():
    """b is a twin of d, and a2 a copy of b."""
    predicted = {"a2": 0.5, "b": 0.5, "c": 0.4, "d": 0.3}
    covered = coverage({("T", decoy): Status.OK for decoy in predicted})
    covered = [row._replace(duplicate_of="b" if row.decoy == "a2" else "") for row in covered]
    among = [ComparedDecoy("T", decoy, None, 0.5, "d" if decoy == "b" else "") for decoy in predicted]
    table = ranking(covered, scores({("T", decoy): p for decoy, p in predicted.items()}), comparison=among)
    assert [(row.rank, row.decoy) for row in table][:4] == [(1, "b"), (1, "a2"), (2, "c"), (3, "d")]
    assert named(table, "b").twin_of == "d"


def test_clusters_are_ranked_by_the_mean_of_their_best_four():
    """Cluster 1 has the best decoy, cluster 2 the better four; what is below these does not count, nor does a copy."""
    predicted = {1: [0.9, 0.3, 0.3, 0.3, 0.3], 2: [0.6, 0.6, 0.6, 0.6, 0.0, 0.0, 0.0], None: [1.0]}
    found = {("T", f"{cluster}{i}"): p for cluster, values in predicted.items() for i, p in enumerate(values)}
    among = [ComparedDecoy(*key, int(key[1][0]) if key[1][0] in "12" else None, 0.5, "") for key in found]
    found["T", "copy"] = 0.9
    covered = [row._replace(duplicate_of="10" if row.decoy == "copy" else "")
               for row in coverage(dict.fromkeys(found, Status.OK))]  # fmt: skip
    table = ranking(covered, scores(found), comparison=[*among, ComparedDecoy("T", "copy", 1, 0.5, "")])
    assert {(row.cluster, row.cluster_rank) for row in table} == {(1, 2), (2, 1), (None, None)}
