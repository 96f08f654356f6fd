"""Every kind of file, one by one, from the file to the graph: see the table in `_cases.py`."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import _cases
import numpy as np
import pytest
from _cases import ALL, Case
from _making import PLAIN, make

from building import build as build_decoys
from building import published_graph
from dssp_agreement import compare, needs_mkdssp
from structures_text import sketch, write
from toporank.building.chunks.ledger import LedgerRow
from toporank.building.chunks.store import Store
from toporank.chains.partners import parse_partners, partners_text
from toporank.errors import ConfigError, StructureError
from toporank.features.registry import DEFAULT_MODULES, resolve
from toporank.finding.complexes import BY_FOLDER, group
from toporank.structures.dssp import builtin_dssp, dssp_version, run_dssp
from toporank.structures.identity import Decoy, Status, split_suffix
from toporank.structures.read import read_complex

ROOT = os.geteuid() == 0
NOBODY = 65534


def build(path: Path, folder: Path, partners: str = "") -> tuple[LedgerRow, Path]:
    """Take one decoy through all four stages in `folder`: the last ledger's row and where its graph
    would be.
    """
    found = Decoy("set", "T", split_suffix(path.name)[0], str(path.absolute()))
    with contextlib.suppress(StructureError):
        found = group([found], {found.path: sketch(path)}, BY_FOLDER, "in").decoys[0]
    decoy = found._replace(lacks="", spare="")
    here, choices = Path.cwd(), resolve({stage: {} for stage in DEFAULT_MODULES})
    os.chdir(folder)
    try:
        said = {decoy.key: partners_text(parse_partners(partners))} if partners else {}
        (row,) = build_decoys([decoy], choices, Store(Path("store")), partners=said)
    finally:
        os.chdir(here)
    return row, folder / "results/set/graphs/T" / f"{decoy.name}.pt"


@functools.cache
def plain_graph(folder: Path):
    """The graph of the plain PDB file."""
    folder.mkdir()
    row, path = build(write(folder / "d.pdb", PLAIN), folder)
    assert (row.status, row.reason) == (Status.OK, "")
    return path.read_bytes(), published_graph(path)


@pytest.fixture
def plain(tmp_path_factory):
    return plain_graph(tmp_path_factory.getbasetemp() / "plain")


def numbers(graph) -> list[list]:
    return [graph.x.tolist(), graph.edge_index.tolist(), graph.edge_attr.tolist()]


def test_neither_hash_seed_nor_locale_nor_umask_changes_a_graph(plain, tmp_path):
    """The workflow sets the hash seed; nothing may hang on that. One process differs from this one
    in all three.
    """
    code = (
        "import sys; from pathlib import Path; import test_input_matrix as t; t.build(*map(Path, "
        "sys.argv[1:]))"
    )
    source = write(tmp_path / "d.pdb", PLAIN)
    other_seed = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"
    settings = {
        "PYTHONHASHSEED": other_seed,
        "LC_ALL": "tr_TR.UTF-8",
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    command = [sys.executable, "-c", code, source, tmp_path]
    subprocess.run(command, env={**os.environ, **settings}, check=True, umask=0o77)
    assert (tmp_path / "results/set/graphs/T/d.pt").read_bytes() == plain[0]


@contextlib.contextmanager
def as_an_ordinary_user(folder: Path):
    """Root reads everything; `folder` is given to the user who does not."""
    if not ROOT:
        yield
        return
    for path in (folder, *folder.rglob("*")):
        os.chown(path, NOBODY, NOBODY)
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


def test_a_file_without_permission_to_read_is_refused_with_the_reason():
    (case,) = [case for case in ALL if case.name == "forbidden"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = make(case.name, folder)
        with as_an_ordinary_user(folder):
            row, _ = build(source, folder)
    assert row.status == case.status
    assert re.search(case.says, row.reason), row.reason


AS_ANYONE = [case for case in ALL if case.name != "forbidden"]


@pytest.mark.parametrize("case", AS_ANYONE, ids=[case.name for case in AS_ANYONE])
def test_input(case: Case, plain, tmp_path):
    (tmp_path / "in").mkdir()
    row, path = build(make(case.name, tmp_path / "in"), tmp_path, case.partners)
    assert row.status == case.status, row
    assert "unexpected" not in row.reason
    assert path.exists() == (case.status == Status.OK)
    if case.status != Status.OK:
        assert re.search(case.says, row.reason), row.reason
        return
    assert case.says == "..." or re.fullmatch(case.says, row.reason), row.reason
    graph = published_graph(path)
    assert np.isfinite(graph.x).all()
    assert np.isfinite(graph.edge_attr).all()
    assert graph.edge_attr.size > 0
    if case.same:
        assert numbers(graph) == numbers(plain[1])
    if "byte for byte" in case.happens and "chothia" not in case.name:
        assert path.read_bytes() == plain[0]
    if case.chains:
        assert {residue.split(":")[0] for residue in graph.metadata["residues"]} == set(
            case.chains.split()
        )


LOOKED_AT = [case for case in AS_ANYONE if "bomb" not in case.name]


@pytest.mark.parametrize("case", LOOKED_AT, ids=[case.name for case in LOOKED_AT])
def test_a_quick_look_has_the_chains_and_sequences_of_the_reader(case: Case, tmp_path):
    path = make(case.name, tmp_path)
    try:
        complex_ = read_complex(path)
    except (StructureError, ConfigError):
        with contextlib.suppress(StructureError, ConfigError):
            sketch(path)
        return
    found = sketch(path)
    assert dict(found.first.chains) == complex_.sequences
    assert (len(found.models) > 1) == any(
        "the first is used" in note for note in complex_.notes if "model" in note
    )


def test_no_program_is_needed(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "")
    dssp_version.cache_clear()
    row, _ = build(write(tmp_path / "d.pdb", PLAIN), tmp_path)
    assert row.status == Status.OK


@needs_mkdssp
@pytest.mark.parametrize(
    "case",
    [case for case in ALL if case.status == Status.OK],
    ids=lambda case: case.name,
)
def test_dssp_of_our_own_agrees_with_mkdssp(case: Case, tmp_path):
    complex_ = read_complex(make(case.name, tmp_path))
    differing = compare(
        builtin_dssp(complex_, np.arange(len(complex_.residues))), run_dssp(complex_)
    )
    assert differing["residues"] > 0
    assert differing["accessibility"] <= 1
    assert differing["angle"] == differing["state"] == 0


def test_names_are_unique_and_every_refusal_says_what_to_do():
    assert len({case.name for case in ALL}) == len(ALL)
    refused = [
        case
        for case in ALL
        if case.status in (Status.UNREADABLE, Status.OVERLAPPING, Status.FAILED)
    ]
    assert all(case.remedy != _cases.NOTHING for case in refused)


def test_the_page_for_users_is_the_table(repository):
    assert (
        repository / "docs/research/file-cases.md"
    ).read_text() == _cases.markdown(), (
        "make it again: PYTHONPATH=lib:tests python tests/inputs/_cases.py > "
        "docs/research/file-cases.md"
    )
