"""Tables of residues: exact in the reuse store, and in the CSV that people open."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import safetensors.numpy

from structures_text import alanine, complex_of, pair
from toporank.errors import FeatureError
from toporank.features.residue_tables import (
    matrix,
    read_residues,
    read_table,
    table_bytes,
)
from toporank.layout import repository
from toporank.learning.pyg_files import as_file
from toporank.structures.complex import Complex
from toporank.structures.read import read_complex

AS_DOCUMENTED = """
pandas.read_csv(
    path, keep_default_na=False, na_values="", dtype={"chain": str, "label_chain": str}
)
"""
NUMBERS = np.array([1 / 3, -1e-300])


@pytest.fixture
def named() -> Complex:
    """Two residues with the names of chains that programs for tables take for something else."""
    return complex_of(alanine("NA", -5, 0.0, insertion_code="A") + alanine("1", 7, 5.0))


def table(complex_: Complex) -> bytes:
    columns = {
        "energy": NUMBERS,
        "contacts": np.array([3, 0], np.int32),
        "lost": ["", "no CA"],
    }
    return table_bytes(complex_, np.array([0, 1]), columns, {"module": "x/v1"})


def test_what_is_kept_is_what_is_read(named):
    index, columns = read_residues(table(named), named)
    assert index.tolist() == [0, 1]
    assert [*columns] == [
        "chain", "number", "insertion_code", "residue", "label_chain", "label_number", "energy", "contacts", "lost",
    ]  # fmt: skip
    assert (columns["chain"], columns["number"], columns["insertion_code"]) == (
        ["NA", "1"],
        [-5, 7],
        ["A", ""],
    )
    assert columns["lost"] == ["", "no CA"]
    assert np.array_equal(
        matrix(columns, ["contacts", "energy"]), np.column_stack([[3, 0], NUMBERS])
    )
    assert matrix(columns, []).shape == (2, 0)
    assert table(named) == table(named)


def test_the_numbers_are_open_to_anyone_who_has_safetensors(named):
    arrays = safetensors.numpy.load(table(named))
    assert {*arrays} == {"energy", "contacts"}
    assert np.array_equal(arrays["energy"], NUMBERS)
    assert arrays["contacts"].dtype == np.int32


def test_pandas_reads_the_csv_exactly_as_the_documentation_says(named):
    assert AS_DOCUMENTED in (repository() / "docs/results.md").read_text()
    content, kinds = (
        BytesIO(as_file("nodes", table(named))),
        {"chain": str, "label_chain": str},
    )
    frame = pd.read_csv(content, keep_default_na=False, na_values="", dtype=kinds)
    assert frame["chain"].tolist() == ["NA", "1"]
    assert frame["number"].tolist() == [-5, 7]
    assert frame["energy"].tolist() == NUMBERS.tolist()
    assert frame["contacts"].dtype == np.int64
    assert frame["lost"].isna().tolist() == [True, False]


def test_an_mmcif_file_has_its_own_numbers_beside_those_of_the_author(example: Path):
    complex_ = read_complex(example / "decoys" / "1AVZ" / "mid1.cif.gz")
    columns = read_table(table_bytes(complex_, np.array([3, 1]), {}, {}))
    assert list(zip(columns["label_chain"], columns["label_number"], strict=True)) == [
        complex_.labels[3],
        complex_.labels[1],
    ]
    assert all(columns["label_chain"] + columns["label_number"])


def test_a_damaged_table_and_one_of_another_complex_are_errors(named):
    for size in (0, 7, 100, -1):
        with pytest.raises(ValueError, match=r"header|metadata"):
            read_table(table(named)[:size])
    with pytest.raises(FeatureError, match="residue NA:-5A is not in the structure"):
        read_residues(table(named), complex_of(pair()))
