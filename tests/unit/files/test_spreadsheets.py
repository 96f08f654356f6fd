"""Tables that people open in spreadsheet programs: no name is a formula, and every name comes
back.
"""

from __future__ import annotations

import csv
import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toporank.code import LIBRARY
from toporank.files.spreadsheets import defused, read_rows, restored, write_rows
from toporank.learning.selection import read_leaderboard

FORMULAS = [
    "=1+1",
    '=HYPERLINK("x")',
    "+1",
    "-1A",
    "-",
    "@SUM(1)",
    "\tx",
    "\rx",
    "\x00",
    "＝1",
    "=",
    "=a,b",
]


@pytest.mark.parametrize("name", FORMULAS)
def test_a_name_that_would_be_a_formula_is_written_as_text(tmp_path, name):
    write_rows(tmp_path / "table.csv", ("name",), [(name,)])
    with open(tmp_path / "table.csv", newline="") as handle:
        assert list(csv.reader(handle))[1] == [f"'{name}"]


@pytest.mark.parametrize(
    "name", ["1AVZ", "near-1", "a=b", "x@y", "'quoted'", "'", " =1", "Å", ""]
)
def test_other_names_stay_as_they_are(name):
    assert defused(name) == restored(name) == name


def test_numbers_are_written_as_numbers_and_what_is_missing_as_nothing(tmp_path):
    write_rows(
        tmp_path / "table.csv", ("a", "b", "c", "d"), [(-0.5, None, math.nan, 3)]
    )
    assert (tmp_path / "table.csv").read_text() == "a,b,c,d\n-0.5,,,3\n"


@given(
    st.lists(
        st.text(st.characters(exclude_categories=["Cs"]))
        | st.sampled_from(["'=", "''-1", *FORMULAS])
    )
)
def test_every_name_comes_back(tmp_path_factory, names):
    path = tmp_path_factory.getbasetemp() / "names.csv"
    names = [name.replace("\x00", "0") for name in names]
    write_rows(path, ("name", "place"), [(name, i) for i, name in enumerate(names)])
    assert [row["name"] for row in read_rows(path)] == names


def test_a_leaderboard_comes_back(tmp_path):
    columns = ("run", "config", "parent", "stopped", "folder", "seed")
    row = ("-run", "=config", "", "@why", "results/x", 1)
    write_rows(tmp_path / "leaderboard.csv", columns, [row])
    assert tuple(read_leaderboard(tmp_path / "leaderboard.csv").iloc[0]) == row


def test_every_table_of_names_is_written_here_or_defused():
    """Other modules write tables with this one, unless these hold numbers alone."""
    numbers = {"toporank/learning/train.py"}
    defusing = {"toporank/scorer/embeddings.py"}
    for name in defusing:
        assert "defused" in (LIBRARY.parent / name).read_text(encoding="utf-8")
    found = set()
    for path in LIBRARY.parent.rglob("*.py"):
        if re.search(
            r"csv\.(writer|DictWriter)\(|\.to_csv\(", path.read_text(encoding="utf-8")
        ):
            found.add(str(path.relative_to(LIBRARY.parent)))
    assert found == numbers | defusing | {"toporank/files/spreadsheets.py"}
