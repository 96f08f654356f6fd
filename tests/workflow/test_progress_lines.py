"""How far a build is, as told in the middle of a real one."""

from __future__ import annotations

import re

import pytest

from conftest import FEW, FEW_SETTINGS, clone_to, make_study

pytestmark = pytest.mark.slow

LINE = re.compile(
    r"^mini, features: (?P<done>[\d,]+)/(?P<all>[\d,]+) models, (?P<failed>\d+) without result, (?P<percent>\d+)% done"
    r"(, \S+/s, [\d:]+ left)?$",
    re.MULTILINE,
)


def test_a_build_tells_how_far_it_is(tmp_path):
    """Plain lines, from nothing to all; the next run has nothing to tell, nor has one that shall be
    quiet.

    The program looks so often here that however fast the jobs are, it looks while they run.
    """
    study = make_study(tmp_path / "study", FEW)
    study.repository = clone_to(tmp_path / "toporank")
    module = study.repository / "lib/toporank/app/workflow/progress.py"
    module.write_text(
        module.read_text().replace(
            "FIRST, LONGEST = 2.0, 30.0", "FIRST, LONGEST = 0.05, 0.2"
        )
    )
    settings = {**FEW_SETTINGS, "workflow": {"chunk_size": 3}}
    study.configure(**settings)
    lines = LINE.finditer(study.run("build_graphs").stdout)
    told = [
        {key: int(number) for key, number in line.groupdict().items()} for line in lines
    ]
    assert told
    assert {line["all"] for line in told} == {5}
    for key in ("done", "percent", "failed"):
        assert [line[key] for line in told] == sorted(line[key] for line in told)
    assert told[-1]["failed"] <= 1
    assert not LINE.search(study.run("build_graphs").stdout)
    study.configure(**settings, features={"nodes": {"scaling": "none"}})
    assert not LINE.search(study.run("build_graphs", "--quiet", "progress").stdout)
