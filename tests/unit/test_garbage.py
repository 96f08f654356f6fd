"""Python's garbage collection is as it was once TopoRank has scored."""

from __future__ import annotations

import gc

import pytest

from processes import printed
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


def test_the_last_of_several_threads_lets_python_search_again():
    was_enabled = gc.isenabled()
    gc.enable()
    first, last = not_searched(), not_searched()
    searched = []
    for step in (first.__enter__, last.__enter__):
        step()
        searched.append(gc.isenabled())
    for block in (first, last):
        block.__exit__(None, None, None)
        searched.append(gc.isenabled())
    (gc.enable if was_enabled else gc.disable)()
    assert searched == [False, False, False, True]


def test_a_file_of_the_user_in_a_cycle_is_written_on_exit(tmp_path):
    program = """
import sys
from toporank.garbage import not_searched

class Log:
    def __init__(self):
        self.file = open(sys.argv[1], "w")
        self.me = self

log = Log()
with not_searched():
    log.file.write("scored")
"""
    path = tmp_path / "log.txt"
    printed(program, path)
    assert path.read_text() == "scored"
