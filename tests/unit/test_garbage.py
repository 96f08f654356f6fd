"""Python's garbage collection is as it was once TopoRank has scored."""

from __future__ import annotations

import gc

import pytest

from toporank.garbage import not_searched


@pytest.mark.parametrize("switch", [gc.enable, gc.disable])
def test_garbage_is_searched_again_only_where_it_was_before(switch):
    was_enabled = gc.isenabled()
    switch()
    before = gc.isenabled()
    with not_searched():
        inside = gc.isenabled()
    after = gc.isenabled()
    (gc.enable if was_enabled else gc.disable)()
    assert (inside, after) == (False, before)
