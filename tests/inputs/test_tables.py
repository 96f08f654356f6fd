"""Odd names of files and odd label tables, one by one: see `_tables.py`."""

from __future__ import annotations

import os

import pytest
from _cases import FILE_NAMES, LABEL_TABLES, FileName, LabelTable

from structures_text import lay, write
from toporank.errors import ConfigError
from toporank.finding.folders import find_decoys
from toporank.finding.labels import SplitRules, read_labels

RULES = SplitRules(split_by="target", percent=20.0, seed=0, folds=5)


@pytest.mark.parametrize("names", FILE_NAMES, ids=lambda names: names.input)
def test_names_of_files(tmp_path, names: FileName):
    lay(tmp_path, *[os.fsdecode(name.encode(names.encoding)) for name in names.files])
    if len([path for path in tmp_path.glob("*/*") if path.is_file()]) < len(
        names.files
    ):
        pytest.skip("this file system does not tell capitals")
    decoys = find_decoys("set", tmp_path)
    assert len(decoys) == len(names.files)
    assert all(bool(decoy.refused) == names.refused for decoy in decoys)
    assert all(names.remedy in decoy.refused for decoy in decoys if names.refused)
    assert all((decoy.target + decoy.name).isprintable() for decoy in decoys)


@pytest.mark.parametrize("table", LABEL_TABLES, ids=lambda table: table.input)
def test_label_tables(tmp_path, table: LabelTable):
    path = write(tmp_path / "labels.csv", table.text.encode(table.encoding))
    if isinstance(table.gives, float):
        (label,) = read_labels(path, RULES)
        assert label[:3] == ("T", "a", table.gives)
        return
    with pytest.raises(ConfigError) as error:
        read_labels(path, RULES)
    assert table.gives in str(error.value)
