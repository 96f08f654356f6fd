"""Byte code that pip left out is kept when everything is compiled."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from toporank.app.commands import byte_code


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A module without byte code, which scoring imports."""
    (tmp_path / "imported_by_scoring.py").write_text("VALUE = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(byte_code, "SCORING", ("imported_by_scoring",))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield tmp_path / "imported_by_scoring.py"
    sys.modules.pop("imported_by_scoring", None)


def test_byte_code_is_written_whatever_the_environment_says(module):
    byte_code.write_byte_code()
    assert Path(importlib.util.cache_from_source(module)).is_file()


def test_where_it_cannot_be_written_nothing_fails(module):
    (module.parent / "__pycache__").write_text("not a folder")
    byte_code.write_byte_code()


def test_everything_that_is_named_can_be_imported():
    assert all(importlib.util.find_spec(name) for name in byte_code.SCORING)
