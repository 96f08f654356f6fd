"""The examples in docstrings are true."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

import toporank

LIBRARY = Path(toporank.__file__).parents[1]
MODULES = sorted(LIBRARY.glob("toporank*/**/*.py"))
WITH_EXAMPLES = [
    path.relative_to(LIBRARY) for path in MODULES if ">>> " in path.read_text()
]


@pytest.mark.parametrize("path", WITH_EXAMPLES, ids=str)
def test_examples_give_what_they_say(path):
    module = importlib.import_module(".".join(path.with_suffix("").parts))
    failed, tried = doctest.testmod(module)
    assert tried
    assert not failed
