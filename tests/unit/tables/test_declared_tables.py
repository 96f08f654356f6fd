"""Columns are declared once: files, page, documentation and records have the same."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from toporank.comparing.homology.chain_tables import ChainRow
from toporank.confidence.table import Confidence
from toporank.errors import RecordError
from toporank.ranking.interfaces import InterfaceRow
from toporank.ranking.scored import readme
from toporank.tables.columns import (
    CHAINS,
    CONFIDENCE,
    INTERFACES,
    MODELS,
    RESIDUES,
    TABLES,
    TARGETS,
)
from toporank.tables.declared import MORE, SHOWN, Column, Table
from toporank.tables.frames import packed, read, to_page, typed, unpacked, write


@pytest.mark.parametrize(
    ("table", "record"),
    [(INTERFACES, InterfaceRow), (CONFIDENCE, Confidence), (CHAINS, ChainRow)],
)
def test_records_have_the_columns_of_their_table(table, record):
    assert tuple(table.names) == record._fields


def test_the_file_beside_the_tables_has_every_column_as_it_is_declared():
    for table in TABLES:
        for column in table.columns:
            assert f"| `{column.name}` | {column.meaning} |" in readme()


def targets(**columns: list) -> pd.DataFrame:
    return typed(pd.DataFrame(columns), TARGETS.kinds)


def test_targets_have_three_decimals_and_excel_shows_their_letters(tmp_path):
    path = tmp_path / "targets.csv"
    table = targets(target=["Prüfling"], dockq=[0.83524], n_models=[5])
    write(TARGETS, table, path)
    assert path.read_bytes().startswith("\ufefftarget,new,verdict,dockq".encode())
    assert ",0.835," in path.read_text(encoding="utf-8")
    pd.testing.assert_frame_equal(read(TARGETS, path), table.round(3))
    write(TARGETS, targets(target=["1AVZ"]), path)
    assert path.read_bytes().startswith(b"target,"), "plain letters need no mark"


@pytest.mark.parametrize("name", ["001", "1E10", "NA", "=1+1", "-5", "'=x", ""])
def test_texts_stay_texts_in_files_and_in_the_store(tmp_path, name):
    table = typed(
        pd.DataFrame(
            {"target": [name, "b"], "chain": ["1", "2"], "agreement": [0.5, np.nan]}
        ),
        RESIDUES.kinds,
    )
    write(RESIDUES, table, tmp_path / "residues.csv")
    pd.testing.assert_frame_equal(read(RESIDUES, tmp_path / "residues.csv"), table)
    pd.testing.assert_frame_equal(unpacked(packed(table)), table)


def test_a_column_without_a_value_is_left_out_where_the_table_says_so(tmp_path):
    sparse = Table("t.csv", "row", MODELS.columns[:4], always=("target",))
    table = typed(pd.DataFrame({"target": ["T"], "rank": [1]}), sparse.kinds)
    write(sparse, table, tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == "target,rank\nT,1\n"
    pd.testing.assert_frame_equal(read(sparse, tmp_path / "t.csv"), table)
    (tmp_path / "t.csv").write_text("target,rank\nT,first\n")
    with pytest.raises(RecordError, match="damaged"):
        read(sparse, tmp_path / "t.csv")


def test_the_page_has_the_declared_columns_in_which_something_is_known():
    columns = (
        Column("a", float, "meaning of a", "A", 1, SHOWN),
        Column("b", str, "meaning of b", page=MORE),
        Column("c", str, "not on the page"),
    )
    frame = pd.DataFrame({"a": [0.12345678, np.nan], "b": ["", ""], "c": ["x", "y"]})
    found = to_page(columns, frame)
    assert found["values"] == {"a": [0.1234568, None]}
    assert found["columns"] == [
        {
            "key": "a",
            "head": "A",
            "hint": "meaning of a",
            "shown": 1,
            "page": SHOWN,
            "number": True,
        }
    ]
