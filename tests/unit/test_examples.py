"""The examples in docstrings are true."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

import toporank

LIBRARY = Path(toporank.__file__).parent
WITH_EXAMPLES = [path.relative_to(LIBRARY) for path in sorted(LIBRARY.rglob("*.py")) if ">>> " in path.read_text()]


@pytest.mark.parametrize("path", WITH_EXAMPLES, ids=str)
def test_examples_give_what_they_say(path):
    module = importlib.import_module(".".join(("toporank", *path.with_suffix("").parts)))
    failed, tried = doctest.testmod(module)
    assert tried
    assert not failed
