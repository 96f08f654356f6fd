"""The worked example of docs/features.md: what the manual shows is run as it stands."""

from __future__ import annotations

import re
import sys
from types import ModuleType

import numpy as np
import pytest

from conftest import REPOSITORY
from structures_text import EXAMPLES
from toporank.features import registry
from toporank.structures.read import read_complex


@pytest.fixture
def example_module(monkeypatch):
    """The module of the manual, registered for as long as a test runs."""
    (code,) = re.findall(r"```python\n(.*?)```", (REPOSITORY / "docs/features.md").read_text(), flags=re.DOTALL)
    monkeypatch.setattr(registry, "_MODULES", dict(registry.modules()))
    module = ModuleType("distance")
    monkeypatch.setitem(sys.modules, "distance", module)
    exec(compile(code, "distance.py", "exec"), module.__dict__)
    registry.modules.cache_clear()
    monkeypatch.setattr(registry, "modules", lambda: dict(registry._MODULES))


def test_a_module_in_one_file_is_listed_chosen_and_computed(example_module):
    choice = registry.choose("edges", {"module": "distance", "cutoff": 9})
    assert choice.columns == ["ca_distance"]
    complex_ = read_complex(EXAMPLES / "1GCQ/mid1.pdb")
    interface = registry.choose("interface", {})(complex_).index
    edges = choice(complex_, interface)
    assert edges.index.shape[1] == len(edges.attributes) > 0
    ends = complex_.xyz[complex_.ca[interface]][edges.index]
    np.testing.assert_allclose(edges.attributes[:, 0], np.linalg.norm(ends[0] - ends[1], axis=1), rtol=1e-6)
    assert edges.attributes.max() < 9
