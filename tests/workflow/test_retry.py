"""Decoys that fail in a late stage: recorded with a reason, judged by the coverage policy, tried
again on request.
"""

from __future__ import annotations

import os
import shutil
from collections import Counter

import pytest

from conftest import FEW, FEW_SETTINGS, make_study
from dssp_agreement import needs_mkdssp

pytestmark = pytest.mark.slow

MKDSSP = """#!/bin/sh
[ "$1" = --version ] || echo x >> "{calls}"
if [ "$1" != --version ] && [ -e "{broken}" ]; then echo "out of luck" >&2; exit 1; fi
exec "{real}" "$@"
"""


@needs_mkdssp
def test_failed_decoys_are_recorded_and_tried_again_on_request(tmp_path):
    study = make_study(tmp_path / "fresh", FEW)
    study.configure(**FEW_SETTINGS, features={"nodes": {"dssp": "mkdssp"}})
    broken, calls, program = (
        tmp_path / "broken",
        tmp_path / "calls",
        tmp_path / "bin/mkdssp",
    )
    program.parent.mkdir()
    program.write_text(
        MKDSSP.format(broken=broken, calls=calls, real=shutil.which("mkdssp"))
    )
    program.chmod(0o755)
    path = f"{program.parent}:{os.environ['PATH']}"

    broken.touch()
    study.run("build_graphs", PATH=path)
    rows = study.text("mini/coverage.tsv").splitlines()
    assert sum("\tfailed\tnodes\tmkdssp" in row for row in rows) == 4
    assert sum("\tno_interface\tinterface\t" in row for row in rows) == 1

    broken.unlink()
    calls.unlink()
    study.forget_logs()
    printed = study.run("build_graphs", PATH=path).stdout
    assert "  nodes, graphs: 5 failed before (4 failed, 1 no_interface)\n" in printed
    assert "  failed before, 4 of 5: mkdssp" in printed
    assert "  failed before, 1 of 5: no CA" in printed
    assert study.computed() == Counter()
    study.run("build_graphs", "--forcerun", "build_chunk", PATH=path)
    assert study.computed() == Counter(nodes=4, edges=4, graphs=4)
    assert calls.read_text() == "x\n" * 4, "mkdssp runs once for each decoy"
    statuses = [
        row.split("\t")[2] for row in study.text("mini/coverage.tsv").splitlines()[1:]
    ]
    assert Counter(statuses) == Counter(ok=4, no_interface=1, label_without_decoy=1)
