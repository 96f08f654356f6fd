"""Label tables: their forms, how targets are split, and what is said of a wrong row."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import pytest

from toporank.errors import ConfigError
from toporank.inputs.folders import find_decoys
from toporank.inputs.labels import (
    Label,
    label_problems,
    read_labels,
    read_split_labels,
    write_labels,
)
from toporank.structures.identity import Decoy


@pytest.fixture
def read(tmp_path):
    """Read label text, one table or one for each split; result as (target, decoy, DockQ, split)."""

    def read(
        text: str | bytes | dict[str, str],
        percent: float = 20.0,
        seed: int = 0,
        split_by: str = "target",
    ):
        if isinstance(text, dict):
            source = {split: tmp_path / f"{split}.csv" for split in text}
            for split, path in source.items():
                path.write_text(text[split])
        else:
            source = tmp_path / "labels.csv"
            source.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_labels(source, split_by=split_by, validation_percent=percent, split_seed=seed)

    return read


def targets(*names: str, decoys: int = 2) -> str:
    """A table without split."""
    return "Target,Model,DockQ\n" + "".join(
        f"{name},d{k},0.{k}\n" for name in names for k in range(decoys)
    )


SPLIT = "Target,Model,DockQ,CAPRI,split\nT2,b,0.5,2,val\nT1,b,1,3,train\nT1,a,0,0,train\n"
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


def test_a_table_is_read_and_sorted_by_target_and_decoy(read):
    assert read(SPLIT) == PLAIN


@pytest.mark.parametrize(
    "text",
    [
        SPLIT.replace("Target,Model,DockQ,CAPRI,split", "TARGET,MODEL,DOCKQ,CAPRI,SPLIT"),
        SPLIT.replace("Target,Model,DockQ,CAPRI,split", "target , decoy,dockq,capri,Split"),
        SPLIT.replace(",", ", "),
        SPLIT.replace("val", "VAL").replace("train", " Train "),
        SPLIT.replace("\n", "\r\n"),
        SPLIT.replace(",b,", ",b.pdb,"),
        SPLIT.replace(",b,", ",b.cif.gz,").replace(",a,", ",a.ENT,"),
        SPLIT.replace("\n", ",x\n").replace("split,x", "split,notes"),
        "DockQ,split,Decoy,Target\n0.5,val,b,T2\n1,train,b,T1\n0,train,a,T1\n",
        "\ufeff" + SPLIT,
        SPLIT.replace(",", ";"),
        SPLIT.replace(",", ";").replace("0.5", "0,5"),
        "\ufeff" + SPLIT.replace(",", "\t").replace("0.5", "0,5"),
        SPLIT.rstrip("\n"),
    ],
    ids=[
        "upper case",
        "Decoy",
        "blanks",
        "case of split",
        "CRLF",
        "suffix",
        "other suffix",
        "more columns",
        "order",
        "mark",
        "semicolons",
        "decimal commas",
        "tabs",
        "end",
    ],
)
def test_header_case_blanks_suffixes_and_order_make_no_difference(read, text):
    assert read(text) == PLAIN


def test_blanks_after_a_name_make_no_difference(read):
    assert read(SPLIT.replace("T1,", "T1 ,").replace(",b,", ",b ,")) == PLAIN


def test_names_that_look_like_numbers_or_missing_values_stay_as_they_are(read):
    found = read(
        "Target,Model,DockQ,split\n3E12,007,0.5,train\nNA,null,0.5,val\n1.0,nan,0.5,test\n"
    )
    assert [row[:2] for row in found] == [("1.0", "nan"), ("3E12", "007"), ("NA", "null")]


def test_only_a_structure_suffix_is_taken_off_a_name(read):
    assert [
        row[1]
        for row in read("Target,Model,DockQ,split\nT,model.v2,0.5,train\nT,model.1.pdb,0.5,train\n")
    ] == [
        "model.1",
        "model.v2",
    ]


def test_decoys_may_be_of_groups(tmp_path):
    (tmp_path / "labels.csv").write_text(
        "Target,Model,DockQ,split,Group\nT,a,0.5,train,docked\nU,a,0.5,val,\n"
    )
    how = {"split_by": "cluster", "validation_percent": 20.0, "split_seed": 0}
    assert [label.group for label in read_labels(tmp_path / "labels.csv", **how)] == ["docked", ""]


def test_a_file_for_each_split_gives_the_split(read):
    parts = {
        "train": "Target,Model,DockQ\nT1,b,1\nT1,a,0\n",
        "val": "Target,Model,DockQ,CAPRI\nT2,b,0.5,2\n",
    }
    assert read(parts) == PLAIN


def test_the_split_of_the_file_goes_before_a_column_in_it(read):
    assert read({"test": SPLIT}) == [label._replace(split="test") for label in PLAIN]


def test_what_was_written_is_read_back_and_not_written_again(tmp_path):
    labels = [Label("3E12", "007", 0.125, "train", "docked"), Label("NA", "a, b", 1.0, "val")]
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
    labels = [Label("@T", "=HYPERLINK(1)", 0.5, "train", "+g"), Label("'=T", "-1", 1.0, "train")]
    write_labels(tmp_path / "out.csv", labels)
    assert "\n'@T,'=HYPERLINK(1),0.5," in (tmp_path / "out.csv").read_text()
    assert read_split_labels(tmp_path / "out.csv") == labels


def test_a_table_that_was_written_here_labels_the_same_decoys_when_it_is_given(tmp_path):
    (tmp_path / "labels.csv").write_text("Target,Model,DockQ\n'@T,'=a,0.5\n")
    (label,) = read_labels(
        tmp_path / "labels.csv", split_by="cluster", validation_percent=20.0, split_seed=0
    )
    assert label[:2] == ("@T", "=a")


def test_no_labels_are_a_header(tmp_path):
    write_labels(tmp_path / "out.csv", [])
    assert read_split_labels(tmp_path / "out.csv") == []


def test_the_labels_of_the_example_belong_to_its_decoys(example: Path):
    labels = read_labels(
        example / "labels.csv", split_by="target", validation_percent=20.0, split_seed=0
    )
    files = {(p.parent.name, p.name.split(".")[0]) for p in (example / "decoys").glob("*/*")}
    assert {(label.target, label.decoy) for label in labels} == files
    assert {
        split: len({x.target for x in labels if x.split == split}) for split in ("train", "val")
    } == {
        "train": 4,
        "val": 2,
    }


def test_a_name_that_cannot_be_printed_is_that_of_the_file_of_this_name(read, tmp_path):
    """So that its decoy is found, or it has a row that says there is none."""
    (tmp_path / "decoys" / "T").mkdir(parents=True)
    (tmp_path / "decoys" / "T" / "a\tb.pdb").touch()
    (decoy,) = find_decoys("set", tmp_path / "decoys")
    (label,) = read("Target,Model,DockQ,split\nT,a\tb.pdb,0.5,train\n")
    assert label[:2] == decoy.key
    assert label.decoy.isprintable()


def test_pandas_is_not_imported():
    code = (
        "import sys, toporank.inputs.labels, toporank.inputs.folders; sys.exit('pandas' in "
        "sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# ---- split ---------------------------------------------------------------------------------------


def held_out(rows) -> set[str]:
    return {row.target for row in rows if row.split == "val"}


def test_without_split_whole_targets_are_held_out(read):
    rows = read(targets(*"ABCDEFGHIJ"), percent=30.0)
    assert len(held_out(rows)) == 3
    assert held_out(rows).isdisjoint(row.target for row in rows if row.split == "train")
    assert {row.split for row in rows} == {"train", "val"}


def test_the_split_depends_on_the_seed_and_the_targets_but_not_on_order_or_decoys(read):
    rows = held_out(read(targets(*"ABCDEFGHIJ"), percent=40.0))
    assert held_out(read(targets(*"JIHGFEDCBA", decoys=5), percent=40.0)) == rows
    assert any(
        held_out(read(targets(*"ABCDEFGHIJ"), percent=40.0, seed=seed)) != rows
        for seed in range(1, 6)
    )


def test_what_shares_chains_is_decided_later_unless_the_labels_have_a_split(read):
    assert {split for *_, split in read(targets("A", "B"), split_by="cluster")} == {""}
    assert read(SPLIT, split_by="cluster") == PLAIN


@pytest.mark.parametrize(("names", "percent"), [("AB", 1.0), ("AB", 20.0), ("ABC", 50.0)])
def test_there_is_always_a_target_to_validate_on(read, names, percent):
    assert held_out(read(targets(*names), percent=percent))


@pytest.mark.parametrize(("names", "percent"), [("AB", 80.0), ("ABC", 99.0), ("ABCDEFGH", 95.0)])
def test_there_is_always_a_target_to_train_on(read, names, percent):
    assert held_out(read(targets(*names), percent=percent)) < set(names)


# ---- mistakes ------------------------------------------------------------------------------------


def message(read, text) -> str:
    with pytest.raises(ConfigError) as error:
        read(text)
    return str(error.value)


@pytest.mark.parametrize("value", ["1.01", "-0.1", "", "high", "nan", "inf", "1e9"])
def test_a_dockq_that_is_none_is_told_with_file_and_line(read, value):
    text = message(read, f"Target,Model,DockQ\nT,a,0.5\nT,b,{value}\nT,c,0.5\n")
    assert "labels.csv, line 3: DockQ of T/b is " in text
    assert repr(value.strip('"')) in text


def test_zero_and_one_are_dockq(read):
    assert [row[2] for row in read("Target,Model,DockQ\nT,a,0\nT,b,1.0\n")] == [0.0, 1.0]


def test_the_line_of_a_wrong_dockq_is_counted_with_blank_lines(read):
    assert "line 5: DockQ of T/b" in message(read, "Target,Model,DockQ\n\nT,a,0.5\n\nT,b,7\n")


@pytest.mark.parametrize(
    "header",
    [
        "Target,Model",
        "Target,DockQ",
        "Model,DockQ",
        "Target,Model,Decoy,DockQ",
        "Target,Model,DockQ,dockq",
        "Target|Model|DockQ",
        "Target;Model;DockQ;DockQ",
    ],
)
def test_a_header_without_the_columns_or_with_one_twice_is_an_error_that_repeats_it(read, header):
    text = message(read, f"{header}\n" + ",".join(["0.5"] * len(header.split(","))) + "\n")
    assert "the header must have Target, Model and DockQ once each" in text


def test_a_decoy_labelled_twice_is_an_error_even_with_another_suffix(read):
    text = message(read, "Target,Model,DockQ\nT,a.pdb,0.5\nT,b,0.5\nT,a.cif,0.6\n")
    assert "decoy 'a' of target 'T' is labelled twice" in text
    parts = {"train": "Target,Model,DockQ\nT,a,0.5\n", "val": "Target,Model,DockQ\nT,a,0.5\n"}
    assert "labelled twice" in message(read, parts)


def test_a_target_in_two_splits_is_an_error(read):
    text = message(read, "Target,Model,DockQ,split\nT,a,0.5,train\nU,a,0.5,val\nT,b,0.5,val\n")
    assert "target 'T' is in more than one split (split by whole targets)" in text
    parts = {"train": "Target,Model,DockQ\nT,a,0.5\n", "test": "Target,Model,DockQ\nT,b,0.5\n"}
    assert "train.csv" in message(read, parts)


@pytest.mark.parametrize("split", ["validation", "", "1"])
def test_an_unknown_split_is_an_error_with_those_that_are_known(read, split):
    text = message(read, f"Target,Model,DockQ,split\nT,a,0.5,{split}\nU,a,0.5,train\n")
    assert f"unknown split {split!r} (use train, val, test)" in text


@pytest.mark.parametrize(
    "content", ["", b"\xff\xfe\x00", "Target,Model,DockQ\nTé,a,0.5\n".encode("latin1")]
)
def test_a_file_that_is_no_table_is_an_error_that_names_it(read, content):
    assert "labels.csv: the labels cannot be read" in message(read, content)


def test_an_absent_file_is_an_error_that_names_it(tmp_path):
    with pytest.raises(
        ConfigError, match=r"absent\.csv: the labels cannot be read: .*No such file"
    ):
        read_labels(
            tmp_path / "absent.csv", split_by="target", validation_percent=20.0, split_seed=0
        )


def test_a_value_beyond_the_header_is_an_error_and_a_comma_at_the_end_is_none(read):
    assert read("Target,Model,DockQ\nT,a,0.5,\n")[0][:3] == ("T", "a", 0.5)
    assert "labels.csv, line 2: 4 values for 3 columns" in message(
        read, "Target,Model,DockQ\nT,a,0.5,x\n"
    )


def test_a_quoted_decimal_comma_between_commas_is_read(read):
    assert [label.dockq for label in read('Target,Model,DockQ\nT,a,"0,5"\n')] == [0.5]


@pytest.mark.parametrize("row", ["T;a;1,5", "T;a;0.5.1", "T;a;0,5,1", "T;a;1_0"])
def test_what_is_no_number_between_semicolons_is_none_either(read, row):
    assert "not a number from 0 to 1" in message(read, f"Target;Model;DockQ\n{row}\n")


def test_a_quote_that_never_ends_is_an_error_that_names_the_line(read):
    assert "labels.csv, line 2: the labels cannot be read: " in message(
        read, 'Target,Model,DockQ\nT,"a,0.5\nT,b,0.5\n'
    )


def test_a_table_without_rows_is_an_error(read):
    assert "the labels have no rows" in message(read, "Target,Model,DockQ\n\n,,\n")


@pytest.mark.parametrize("row", [",a,0.5", "T,,0.5"])
def test_a_row_without_target_or_decoy_is_an_error(read, row):
    assert "labels.csv" in message(read, f"Target,Model,DockQ\n{row}\n")


# ---- labels and decoys ---------------------------------------------------------------------------


def decoys(*keys: str) -> list[Decoy]:
    return [Decoy("set", *key.split("/"), key) for key in keys]


def labels(*keys: str, split: str = "train") -> list[Label]:
    return [Label(*key.split("/", 1), 0.5 + 0.01 * place, split) for place, key in enumerate(keys)]


THERE = decoys("1AVZ/near1", "1AVZ/far1", "2I25/near1")


def test_labels_of_two_splits_with_decoys_are_no_problem():
    assert label_problems(labels("1AVZ/near1") + labels("2I25/near1", split="val"), THERE) == []
    assert label_problems([], THERE) == label_problems(labels("1AVZ/near1"), []) == []


def test_some_labels_without_decoy_are_no_problem():
    given = labels("1AVZ/near1", "1AVZ/gone") + labels("2I25/near1", split="val")
    assert label_problems(given, THERE) == []


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        ("1avz/near1", "did you mean 1AVZ/near1? (capitals and small letters are different)"),
        (
            "1AVZ/near1.pdb.zst",
            "did you mean 1AVZ/near1? (write names without folders and file endings)",
        ),
        (
            "1AVZ/decoys/1AVZ/far1.pdb",
            "did you mean 1AVZ/far1? (write names without folders and file endings)",
        ),
        (
            "complex7/far1",
            "did you mean 1AVZ/far1? (Target is the name of the folder that holds the file)",
        ),
        (
            "1AVX/faar1",
            "for example 1AVZ/far1 (name targets and decoys in the labels as folders and files "
            "are named)",
        ),
    ],
)
def test_labels_that_match_no_decoy_are_told_with_the_nearest_name(key, hint):
    (problem,) = label_problems(labels("9XYZ/other", key)[::-1], THERE)
    assert problem.startswith("none of the 2 labels belongs to any of the 3 decoys: there is no ")
    assert hint in problem


def test_labels_without_split_are_no_problem():
    assert label_problems(labels("1AVZ/near1", "2I25/near1", split=""), THERE) == []


def test_labels_of_one_target_cannot_be_split():
    for split in ("train", "val"):
        (problem,) = label_problems(
            labels("1AVZ/near1", "1AVZ/far1", "gone/near1", split=split), THERE
        )
        assert problem.startswith("only one target with decoys, '1AVZ', is labelled for training")
        assert problem.endswith("(label decoys of more targets)")


def test_labels_of_one_split_only_lack_the_other():
    (problem,) = label_problems(labels("1AVZ/near1", "2I25/near1"), THERE)
    assert problem.startswith("no label of split 'val' has a decoy")


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([("A", 0.0, ""), ("B", 0.0, "")], "all 2 labels are 0 "),
        (
            [("A", 0.4, "train"), ("B", 0.4, "train"), ("C", 0.1, "val"), ("D", 0.3, "val")],
            "labels of split 'train'",
        ),
        (
            [("A", 0.1, "train"), ("B", 0.4, "train"), ("C", 0.3, "val"), ("D", 0.3, "val")],
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
