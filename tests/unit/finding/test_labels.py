"""Label tables: their forms, how targets are split, and what is said of a wrong row."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from messages import messages
from toporank.errors import ConfigError
from toporank.finding import natives
from toporank.finding.folders import find_decoys
from toporank.finding.labels import (
    Label,
    SplitRules,
    check_unambiguous,
    label_problems,
    read_labels,
    read_split_labels,
    write_labels,
)
from toporank.structures.identity import Decoy

HOW = SplitRules(split_by="target", percent=20.0, seed=0, folds=5)


@pytest.fixture
def read(tmp_path):
    """Read label text, one table or one for each split."""

    def read(text: str | bytes | dict[str, str], **how: object) -> list[Label]:
        if isinstance(text, dict):
            source = {split: tmp_path / f"{split}.csv" for split in text}
            for split, path in source.items():
                path.write_text(text[split])
        else:
            source = tmp_path / "labels.csv"
            source.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_labels(source, HOW._replace(**how))

    return read


def targets(*names: str, decoys: int = 2) -> str:
    """A table without split."""
    return "Target,Model,DockQ\n" + "".join(
        f"{name},d{k},0.{k}\n" for name in names for k in range(decoys)
    )


SPLIT = (
    "Target,Model,DockQ,CAPRI,split\nT2,b,0.5,2,val\nT1,b,1,3,train\nT1,a,0,0,train\n"
)
PLAIN = [
    Label("T1", "a", 0.0, "train"),
    Label("T1", "b", 1.0, "train"),
    Label("T2", "b", 0.5, "val"),
]


def test_rows_of_our_own_table_that_say_why_there_is_no_label_are_none(read):
    table = (
        "Target,Model,DockQ,Status,Reason\nT1,a,0,ok,\nT1,b,1,ok,\nT1,c,,unreadable,cut "
        "off\nT2,b,0.5,ok,\n"
    )
    assert [label[:3] for label in read(table)] == [label[:3] for label in PLAIN]
    with pytest.raises(ConfigError, match="line 4: DockQ of T1/c is ''"):
        read(table.replace("unreadable", "ok"))


# ---- forms ---------------------------------------------------------------------------------------


HEADER = "Target,Model,DockQ,CAPRI,split"
FORMS = {
    "split": SPLIT,
    "upper case": SPLIT.replace(HEADER, HEADER.upper()),
    "blanks": SPLIT.replace(",", ", "),
    "blanks behind a name": SPLIT.replace("T1,", "T1 ,").replace(",b,", ",b ,"),
    "case of split": SPLIT.replace("val", "VAL").replace("train", " Train "),
    "other suffix": SPLIT.replace(",b,", ",b.cif.gz,").replace(",a,", ",a.ENT,"),
    "end": SPLIT.rstrip("\n"),
    "comma at the end": SPLIT.replace("train\n", "train,\n"),
    "a file for each split": {
        "train": "Target,Model,DockQ\nT1,b,1\nT1,a,0\n",
        "val": "Target,Model,DockQ,CAPRI\nT2,b,0.5,2\n",
    },
}


@pytest.mark.parametrize("form", FORMS)
def test_the_form_of_a_table_makes_no_difference(read, form):
    assert read(FORMS[form]) == PLAIN


@pytest.mark.parametrize(
    ("rows", "names"),
    [
        (
            "3E12,007,0.5,train\nNA,null,0.5,val\n1.0,nan,0.5,test",
            [("1.0", "nan"), ("3E12", "007"), ("NA", "null")],
        ),
        (
            "T,model.v2,0,train\nT,model.1.pdb,1.0,train",
            [("T", "model.1"), ("T", "model.v2")],
        ),
        ("'@T,'=a,0.5,train", [("@T", "=a")]),
    ],
    ids=["like numbers or missing values", "structure suffix", "as TopoRank wrote it"],
)
def test_a_name_stays_as_it_is_but_for_the_suffix_of_a_structure(read, rows, names):
    assert [label[:2] for label in read(f"Target,Model,DockQ,split\n{rows}\n")] == names


def test_decoys_may_be_of_groups(read):
    table = "Target,Model,DockQ,split,Group\nT,a,0.5,train,docked\nU,a,0.5,val,\n"
    assert [label.group for label in read(table)] == ["docked", ""]


def test_the_split_of_the_file_goes_before_a_column_in_it(read):
    assert read({"test": SPLIT}) == [label._replace(split="test") for label in PLAIN]


def test_what_was_written_is_read_back_and_not_written_again(tmp_path):
    labels = [
        Label("3E12", "007", 0.125, "train", "docked"),
        Label("NA", "a, b", 1.0, "val"),
    ]
    assert write_labels(tmp_path / "out.csv", labels)
    lines = [
        "target,decoy,dockq,split,group,partners,interface",
        "3E12,007,0.125,train,docked,,",
        'NA,"a, b",1.0,val,,,',
    ]
    assert (tmp_path / "out.csv").read_text().splitlines() == lines
    assert read_split_labels(tmp_path / "out.csv") == labels
    assert not write_labels(tmp_path / "out.csv", labels)


def test_no_name_of_a_label_is_a_formula_and_every_name_comes_back(tmp_path):
    labels = [
        Label("@T", "=HYPERLINK(1)", 0.5, "train", "+g"),
        Label("'=T", "-1", 1.0, "train"),
    ]
    write_labels(tmp_path / "out.csv", labels)
    assert "\n'@T,'=HYPERLINK(1),0.5," in (tmp_path / "out.csv").read_text()
    assert read_split_labels(tmp_path / "out.csv") == labels


def test_no_labels_are_a_header(tmp_path):
    write_labels(tmp_path / "out.csv", [])
    assert read_split_labels(tmp_path / "out.csv") == []


def test_the_labels_of_the_example_belong_to_its_decoys(example: Path):
    labels = read_labels(example / "labels.csv", HOW)
    files = {
        (p.parent.name, p.name.split(".")[0]) for p in (example / "decoys").glob("*/*")
    }
    assert {(label.target, label.decoy) for label in labels} == files
    assert len({label.target for label in labels}) == 6
    assert len(held_out(labels)) == 2


def test_a_name_that_cannot_be_printed_is_that_of_the_file_of_this_name(read, tmp_path):
    """So that its decoy is found, or it has a row that says there is none."""
    (tmp_path / "decoys" / "T").mkdir(parents=True)
    (tmp_path / "decoys" / "T" / "a\tb.pdb").touch()
    (decoy,) = find_decoys("set", tmp_path / "decoys")
    (label,) = read("Target,Model,DockQ,split\nT,a\tb.pdb,0.5,train\n")
    assert label[:2] == decoy.key
    assert label.decoy.isprintable()


# ---- split ---------------------------------------------------------------------------------------


def held_out(labels: list[Label]) -> set[str]:
    return {label.target for label in labels if label.split == "val"}


def test_without_split_whole_targets_are_held_out(read):
    rows = read(targets(*"ABCDEFGHIJ"), percent=30.0)
    trained_on = {row.target for row in rows if row.split == "train"}
    assert len(held_out(rows)) == 3
    assert trained_on == set("ABCDEFGHIJ") - held_out(rows)


def test_the_split_depends_on_the_seed_and_the_targets_but_not_on_order_or_decoys(read):
    table = targets(*"ABCDEFGHIJ")
    splits = [held_out(read(table, percent=40.0, seed=k)) for k in range(6)]
    assert held_out(read(targets(*"JIHGFEDCBA", decoys=5), percent=40.0)) == splits[0]
    assert any(split != splits[0] for split in splits)


def test_what_shares_chains_is_decided_later_unless_the_labels_have_a_split(read):
    assert {label.split for label in read(targets("A", "B"), split_by="cluster")} == {
        ""
    }
    assert read(SPLIT, split_by="cluster") == PLAIN


@pytest.mark.parametrize(
    ("names", "percent"), [("AB", 1.0), ("AB", 80.0), ("ABC", 50.0), ("ABC", 99.0)]
)
def test_there_is_always_a_target_to_train_and_to_validate_on(read, names, percent):
    assert set() < held_out(read(targets(*names), percent=percent)) < set(names)


# ---- mistakes ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [*messages("labels"), (b"\xff\xfe\x00", "labels.csv: the labels")],
)
def test_a_mistake_is_told_with_its_file(read, text, message):
    with pytest.raises(ConfigError, match=re.escape(message)):
        read(text)


def test_an_absent_file_is_an_error_that_names_it(tmp_path):
    message = r"absent\.csv: the labels cannot be read: .*No such file"
    with pytest.raises(ConfigError, match=message):
        read_labels(tmp_path / "absent.csv", HOW)


# ---- labels and decoys ---------------------------------------------------------------------------


def decoys(*keys: str) -> list[Decoy]:
    return [Decoy("set", *key.split("/"), key) for key in keys]


def labels(*keys: str, split: str = "train") -> list[Label]:
    return [
        Label(*key.split("/", 1), 0.5 + 0.01 * place, split)
        for place, key in enumerate(keys)
    ]


THERE = decoys("1AVZ/near1", "1AVZ/far1", "2I25/near1")


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        (labels("1AVZ/near1", "1AVZ/gone") + labels("2I25/near1", split="val"), ""),
        ([], ""),
        (labels("1AVZ/near1", "2I25/near1", split=""), ""),
        (
            labels("1AVZ/near1", "1AVZ/far1", "gone/near1"),
            "only one target with models, '1AVZ', ",
        ),
        (
            labels("1AVZ/near1", split="val"),
            "only one target with models, '1AVZ', is labelled",
        ),
        (labels("1AVZ/near1", "2I25/near1"), "no label of split 'val' has a model"),
    ],
)
def test_what_nothing_can_be_trained_with_is_said(rows, problem):
    problems = label_problems(rows, THERE)
    assert len(problems) == bool(problem)
    assert problem in "".join(problems)
    assert label_problems(rows, []) == []


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        ("1avz/near1", "did you mean 1AVZ/near1?"),
        ("1AVZ/near1.pdb.zst", "did you mean 1AVZ/near1?"),
        ("1AVZ/decoys/1AVZ/far1.pdb", "did you mean 1AVZ/far1?"),
        ("complex7/far1", "did you mean 1AVZ/far1?"),
        (
            "1AVX/faar1",
            "but for example 1AVZ/far1 (name targets and models in the labels as ",
        ),
    ],
)
def test_labels_that_match_no_decoy_are_told_with_the_nearest_name(key, hint):
    (problem,) = label_problems(labels("9XYZ/other", key)[::-1], THERE)
    assert problem.startswith(
        "none of the 2 labels belongs to any of the 3 models: there is no "
    )
    assert hint in problem


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([("A", 0.0, ""), ("B", 0.0, "")], "all 2 labels are 0 "),
        (
            [
                ("A", 0.4, "train"),
                ("B", 0.4, "train"),
                ("C", 0.1, "val"),
                ("D", 0.3, "val"),
            ],
            "labels of split 'train'",
        ),
        (
            [
                ("A", 0.1, "train"),
                ("B", 0.4, "train"),
                ("C", 0.3, "val"),
                ("D", 0.3, "val"),
            ],
            "labels of split 'val'",
        ),
        ([("A", 0.1, ""), ("B", 0.4, "")], ""),
        ([("A", math.nan, ""), ("B", math.nan, "")], ""),
        ([("A", 0.1, ""), ("B", 0.4, ""), ("C", 0.2, "test")], ""),
    ],
)
def test_equal_labels_are_said_before_anything_is_built(rows, said):
    labels = [Label(target, "d", dockq, split) for target, dockq, split in rows]
    decoys = [Decoy("set", target, "d", "d.pdb") for target, _, _ in rows]
    problems = label_problems(labels, decoys)
    assert bool(said) == bool(problems)
    assert said in "".join(problems)


def test_the_target_like_a_native_is_looked_for_until_there_is_one(monkeypatch):
    compared = []
    monkeypatch.setattr(
        natives, "_nearest", lambda name, _: compared.append(name) or "model_b"
    )
    files = {name: Path(f"{name}.pdb") for name in ("other_a", "other_b", "other_c")}
    *_, line = natives.unmatched(files, ["model_a", "model_b"])
    assert line.startswith(
        "other_a.pdb belongs to no target, did you mean model_b? (3 natives"
    )
    assert compared == ["other_a"]  # each takes as long as there are targets


def test_a_label_that_may_mean_several_files_is_refused_and_no_other():
    check_unambiguous(PLAIN, {("T1", "c")})
    with pytest.raises(ConfigError, match="label of T2/b may mean several files"):
        check_unambiguous(PLAIN, {("T2", "b")})
