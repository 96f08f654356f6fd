"""Splits of targets that share chains, what leaks, and the tables that say so."""

from __future__ import annotations

import random
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest
from _chains import chain
from hypothesis import given, settings
from hypothesis import strategies as st

from toporank.comparing.homology.chain_tables import (
    TargetSplit,
    read_splits,
    split_of_targets,
    write_splits,
)
from toporank.errors import ConfigError, RecordError
from toporank.finding.labels import SPLITS, Label
from toporank.learning.assignment import (
    MOST_NAMED,
    SplitRules,
    assign,
    check_leaks,
    decided,
    describe_leaks,
    describe_splits,
    leaks,
)
from toporank.learning.splits import check_trainable

RULES = SplitRules(split_by="cluster", percent=20.0, seed=0, folds=3)
CHAINS = {
    "a": [chain(1)],
    "b": [chain(1), chain(2)],
    "c": [chain(2)],
    "d": [chain(3)],
    "e": [chain(4)],
    "f": [],
}
"""a, b and c are one cluster; f has nothing that can be compared."""


def table(given: dict[str, str], **how) -> dict[str, TargetSplit]:
    """The assignment of the targets of one data set."""
    label_splits = {("set", target): split for target, split in given.items()}
    return {
        row.target: row for row in assign(label_splits, CHAINS, RULES._replace(**how))
    }


def splits(given: dict[str, str], **how) -> dict[str, str]:
    return {target: row.split for target, row in table(given, **how).items()}


@settings(max_examples=40)
@given(
    st.dictionaries(
        st.sampled_from("abcdef"), st.sampled_from(["", "", *SPLITS]), min_size=4
    ),
    st.integers(0, 3),
    st.randoms(),
)
def test_undecided_targets_never_bring_in_a_leak_in_any_order(given, seed, draw):
    try:
        rows = table(given, seed=seed)
    except ConfigError:
        return
    shuffled = draw.sample(sorted(given.items()), len(given))
    assert table(dict(shuffled), seed=seed) == rows
    assert all(rows[target].split == split for target, split in given.items() if split)
    for row in rows.values():
        if not given[row.target] and row.split != "train":
            assert row.nearest_training_target == ""


def test_without_splits_clusters_are_held_out_whole_and_dealt_into_folds():
    for seed in range(5):
        rows = table(dict.fromkeys("abcdef", ""), seed=seed)
        assert (
            len({rows[t].split for t in "abc"})
            == len({rows[t].fold for t in "abc"})
            == 1
        )
        assert {row.split for row in rows.values()} == {"train", "val"}
        assert {row.fold for row in rows.values()} == {0, 1, 2}
        assert [rows[t].cluster for t in "abcdef"] == ["a", "a", "a", "d", "e", "f"]


def test_an_undecided_target_follows_its_cluster():
    given = {"a": "test", "b": "", "d": "train", "e": "val"}
    assert splits(given)["b"] == "test"
    assert splits({**given, "c": "val"})["b"] == "val"
    assert splits({**given, "c": "train"})["b"] == "train"


def test_a_target_without_a_graph_is_not_what_is_validated_on():
    for seed in range(8):
        assert splits({"d": "", "e": "", "gone": ""}, seed=seed)["gone"] == "train"


def test_a_target_without_a_graph_takes_no_place_in_the_folds():
    rows = table(dict.fromkeys(["a", "b", "c", "d", "e", "f", "gone", "lost"], ""))
    assert {rows[t].fold for t in "adef"} == {0, 1, 2}
    assert rows["gone"].fold is rows["lost"].fold is None
    few = table(dict.fromkeys(["a", "d", "gone"], ""))
    assert {row.fold for row in few.values()} == {None}


def test_the_same_name_in_two_data_sets_is_one_target():
    given = {("one", "a"): "", ("two", "a"): "", ("one", "d"): "", ("two", "e"): ""}
    for seed in range(5):
        rows = {
            row[:2]: row.split
            for row in assign(given, CHAINS, RULES._replace(seed=seed))
        }
        assert rows["one", "a"] == rows["two", "a"]


def test_targets_that_all_share_chains_cannot_be_split():
    with pytest.raises(
        ConfigError, match="share chains with each other: none can be set aside"
    ):
        splits({"a": "", "b": "", "c": ""})
    for labels in ({"a": "train", "b": "val"}, {"a": "train", "d": "train"}):
        assert splits(labels) == labels  # what is lacking is said where it is trained


def test_what_is_set_aside_and_dealt_into_folds_is_of_the_study_however_much_is_fine_tuned_on():
    study, more = (
        {("set", t): "" for t in "adef"},
        {("more", t): "" for t in ("b", *(f"m{i}" for i in range(30)))},
    )
    chains = {**CHAINS, **{f"m{i}": [chain(10 + i)] for i in range(30)}}
    for seed in range(6):
        rules = RULES._replace(seed=seed)
        rows = {
            row[:2]: row
            for row in assign(study | more, chains, rules, finetuned=["more"])
        }
        alone = {row[:2]: row[2:5] for row in assign(study, CHAINS, rules)}
        # cluster, split and fold
        assert {key: rows[key][2:5] for key in study} == alone
        with_a, *others = (rows[key] for key in more)
        assert with_a.split == rows["set", "a"].split
        assert {row.split for row in others} == {"train"}
        assert split_of_targets(rows.values(), fold=0).keys() == study.keys()


def test_a_side_that_the_study_or_fine_tuning_lacks_is_not_made_up_for_by_the_other():
    more = {("more", "d"): "", ("more", "e"): ""}
    with pytest.raises(
        ConfigError,
        match=r"split_by: the targets .* none can be set aside for validation",
    ):
        assign(
            {("set", "a"): "", ("set", "b"): "", **more},
            CHAINS,
            RULES,
            finetuned=["more"],
        )
    given = {
        ("set", "a"): "val",
        ("set", "d"): "train",
        ("more", "b"): "",
        ("more", "c"): "",
    }
    with pytest.raises(
        ConfigError, match=r"data set 'more': .* none is left to fine-tune on"
    ):
        assign(given, CHAINS, RULES, finetuned=["more"])


def test_few_clusters_have_no_folds():
    rows = table({"a": "train", "b": "train", "d": "val"})
    assert {row.fold for row in rows.values()} == {None}
    with pytest.raises(
        ConfigError,
        match=r"training\.folds: there are fewer clusters of training targets than folds",
    ):
        split_of_targets(rows.values(), fold=0)
    by_target = table({"a": "train", "b": "train", "d": "val"}, split_by="target")
    assert {row.fold for row in by_target.values()} == {0, 1, 2}


def test_splits_that_leak_are_named_with_the_pair():
    given = {
        "a": "train",
        "b": "val",
        "c": "test",
        "d": "train",
        "e": "test",
        "f": "test",
    }
    rows = assign({("set", t): s for t, s in given.items()}, CHAINS, RULES)
    found = leaks(rows)
    assert [
        (row.target, row.nearest_training_target, row.containment) for row in found
    ] == [("b", "a", 1.0)]
    assert describe_leaks(found) == (
        "targets that share a chain with a training target: 1 of split val, such as b (val) and a "
        "(100%)"
    )
    assert {row.target: row.containment for row in rows} == {
        "a": None,
        "b": 1.0,
        "c": 0.0,
        "d": None,
        "e": 0.0,
        "f": None,
    }


def test_of_many_leaks_some_are_named():
    row = TargetSplit("set", "t", "t", "test", 0, "s", 0.5)
    assert describe_leaks([row] * 13).endswith("t (test) and s (50%) and 3 more")
    assert describe_leaks([row] * MOST_NAMED).endswith("t (test) and s (50%)")


def test_the_table_is_read_as_it_was_written(tmp_path):
    rows = [
        TargetSplit("set", "1E5", "=A", "val", 2, "T, 1", 0.25),
        TargetSplit("set", "007", "x", "train", None, "", None),
    ]
    write_splits(tmp_path / "splits.csv", rows)
    assert read_splits(tmp_path / "splits.csv") == rows


@pytest.mark.parametrize(
    "text",
    [
        "target,split\na,train\n",
        "dataset,target,cluster,split,fold,nearest_training_target,containment\na,b,c,val,x,,\n",
    ],
)
def test_another_table_is_refused(tmp_path, text):
    (tmp_path / "splits.csv").write_text(text)
    with pytest.raises(RecordError, match=r"splits\.csv: not a table of splits"):
        read_splits(tmp_path / "splits.csv")


def test_in_a_cross_validation_one_fold_is_judged_and_another_validates():
    rows = [
        TargetSplit("set", str(i), str(i), "train", i % 3, "", None) for i in range(6)
    ]
    random.Random(0).shuffle(rows)
    for fold, val in ((0, 1), (1, 2), (2, 0)):
        found = split_of_targets(rows, fold)
        assert {row.fold for row in rows if found[row[:2]] == "test"} == {fold}
        assert {row.fold for row in rows if found[row[:2]] == "val"} == {val}
        assert set(found.values()) == set(SPLITS)


def test_labels_get_the_split_of_their_target_unless_they_have_one():
    labels = [
        Label("a", "d", 0.5, ""),
        Label("b", "d", 0.5, "test"),
        Label("c", "d", 0.5, ""),
    ]
    split_of = {("set", "a"): "val", ("set", "b"): "train"}
    assert [label.split for label in decided(labels, split_of, "set")] == [
        "val",
        "test",
        "test",
    ]
    assert [label.split for label in decided(labels, split_of, "other")] == [
        "test",
        "test",
        "test",
    ]


def test_a_leak_is_said_or_refused_before_anything_is_trained():
    splits = {("set", "a"): "train", ("set", "b"): "val"}
    table = assign(splits, CHAINS, RULES)
    leak = "the splits leak: targets that share a chain with a training target: 1 of split val"
    assert check_leaks(table, refuse=False).startswith(leak)
    with pytest.raises(ConfigError, match=leak) as refused:
        check_leaks(table, refuse=True)
    assert "training.leakage: warn" in str(refused.value)
    assert check_leaks(table[:1], refuse=True) == ""
    assert describe_splits(table) == "2 targets in 1 clusters: 1 train, 1 val"


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0.2, 0.7, 0.5], ""),
        ([0.2, 0.2, 0.5], "all 2 labels of split 'train' are 0.2"),
        ([0.2, 1.5, 0.5], "b/m: 1 labels are not in 0 to 1, the first is 1.5"),
        ([np.nan, np.nan, 0.5], "no labelled model with a graph in split 'train'"),
    ],
)
def test_what_nothing_can_be_learned_from_is_refused(labels, message):
    graphs = SimpleNamespace(
        target=np.array(["a", "b", "c"], dtype=object),
        decoy=np.array(["m", "m", "m"], dtype=object),
        split=np.array(["train", "train", "val"], dtype=object),
        dockq=np.array(labels),
        knows_local_quality=False,
    )
    with pytest.raises(ConfigError, match=message) if message else nullcontext():
        check_trainable(graphs, learns_local=False)
    if not message:
        with pytest.raises(ConfigError, match="no graph says how good its contacts"):
            check_trainable(graphs, learns_local=True)
