"""`import toporank`: a notebook gets what the command writes, to the last digit, and nothing else
is touched.
"""

from __future__ import annotations

import base64
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import gemmi
import numpy as np
import pandas as pd
import pytest
import torch

import toporank
from archived import archived
from complexes import (
    ANTIBODY,
    away,
    chains_of,
    renamed,
    turned,
    write_pdb,
)
from conftest import REPOSITORY
from processes import printed
from scored_folders import open_folder, write_answer
from structures_text import Atom, atoms_of, pdb_with, shifted
from toporank import layout
from toporank.app.commands import train_and_label
from toporank.app.results import Results
from toporank.building.chunks.chunk import making
from toporank.building.chunks.plan import planned
from toporank.building.chunks.stages import structure_digest
from toporank.building.chunks.store import Store
from toporank.errors import (
    CheckpointError,
    ConfigError,
    NativeError,
    StructureError,
    TopoRankError,
)
from toporank.features.registry import node_columns, resolve_recorded
from toporank.features.residue_tables import matrix, read_residues
from toporank.files.spreadsheets import read_rows
from toporank.finding.folders import find_decoys
from toporank.ranking.interfaces import MAIN, InterfaceRow

DECOYS = REPOSITORY / "resources/example/decoys"
NEAR, FAR = DECOYS / "1AVZ/near1.pdb.gz", DECOYS / "1AVZ/far1.pdb"


@pytest.fixture(scope="module")
def mixed(tmp_path_factory) -> Path:
    """Models of two complexes, and a file that is no structure, in one folder."""
    folder = tmp_path_factory.mktemp("given") / "mixed"
    folder.mkdir()
    for path in (
        NEAR,
        FAR,
        DECOYS / "1PPE/near1.pdb.gz",
        DECOYS / "1PPE/mid1.cif.gz",
        DECOYS / "1PPE/mid2.pdb.gz",
    ):
        shutil.copy(path, folder / f"{path.parent.name}_{path.name}")
    (folder / "broken.pdb").write_text("ATOM nonsense\n")
    return folder


def rows_of_command(folder: Path, out: Path, *options: str) -> list[dict[str, str]]:
    """models.csv of the command, as text."""
    words = ["-m", "toporank", "score", str(folder), "-o", str(out), "--cores", "2"]
    command = [sys.executable, *words, *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return [*read_rows(out / layout.MODEL_TABLE.format(dataset=folder.name))]


def as_text(frame: pd.DataFrame) -> list[dict[str, str]]:
    """The rows as a CSV file has them."""
    return [
        {name: "" if pd.isna(v) else str(v) for name, v in row.items()}
        for row in frame.to_dict("records")
    ]


@pytest.fixture(scope="module")
def of_command(mixed, tmp_path_factory) -> tuple[list[dict[str, str]], Path]:
    """The ranking of the command, and its folder."""
    out = tmp_path_factory.mktemp("command") / "out"
    return rows_of_command(mixed, out), out


# ---- score ---------------------------------------------------------------------------------------


def test_the_command_and_the_function_say_the_same_of_two_complexes_and_an_unreadable_file(
    mixed, of_command
):
    expected, out = of_command
    results = toporank.score(mixed)
    frame = results.models
    folder = out / f"results/scores/{mixed.name}"
    for row in expected:  # in a file from its folder
        row["path"] = os.path.normpath(folder / row["path"])
    assert list(frame.columns) == list(expected[0])
    assert as_text(frame) == expected
    assert frame["target"].nunique() == 3
    broken = frame[frame["decoy"] == "broken"]
    assert broken["status"].tolist() == ["unreadable"]
    assert broken[["rank", "dockq"]].isna().all(axis=None)
    assert any(
        note.startswith("broken/broken: unreadable: not a readable pdb")
        for note in results.notes
    )


@pytest.mark.parametrize(
    "table", ["details", "targets", "interfaces", "residues", "contacts", "confidence"]
)
def test_every_table_of_the_command_is_a_frame(mixed, of_command, table):
    written = (of_command[1] / layout.MODEL_TABLE.format(dataset=mixed.name)).with_name(
        f"{table}.csv"
    )
    frame = getattr(toporank.score(mixed), table)
    whole = frame.select_dtypes("Int64").columns
    frame = frame.astype(dict.fromkeys(whole, float))
    texts = dict.fromkeys(frame.select_dtypes(exclude="number").columns, str)
    expected = pd.read_csv(written, dtype=texts, keep_default_na=False, na_values=[""])
    assert len(frame) == len(expected)
    names = [name for name in expected.columns if name != "file"]
    pd.testing.assert_frame_equal(
        frame[names].replace("", np.nan),
        expected[names],
        check_dtype=False,
        atol=6e-4 if table == "targets" else 1e-8,  # people read three decimals
    )


def test_names_are_texts_in_every_table(tmp_path):
    """A target 001, a model that looks like a formula, and chains 1 and 2."""
    chains = {"A": "1", "B": "2"}
    atoms = atoms_of(NEAR)
    write_pdb(tmp_path / "001/=cmd.pdb", renamed(atoms, chains))
    results = toporank.score(tmp_path, targets="folder")
    names = ("001", "=cmd")
    for table in (results.models, results.residues, results.contacts):
        assert {*zip(table["target"], table["decoy"], strict=True)} == {names}
    assert {*results.residues["chain"]} == {"1", "2"}
    assert results.residues["residue"].str.isdecimal().all()
    assert {*results.contacts["chain_1"], *results.contacts["chain_2"]} == {"1", "2"}


def test_results_are_written_as_the_command_writes_them(mixed, of_command, tmp_path):
    out = tmp_path / "out"  # as far from the models as the other
    toporank.score(mixed, workers=2).write(str(out))
    for pattern in (layout.MODEL_TABLE, layout.RESIDUES, layout.SCORED_INTERFACES):
        path = pattern.format(dataset=mixed.name)
        assert (out / path).read_bytes() == (of_command[1] / path).read_bytes()
    assert (out / layout.SCORE_REPORT.format(dataset=mixed.name)).exists()


def test_a_notebook_shows_the_model_or_the_target_that_is_named(mixed):
    results = toporank.score(mixed)
    scored = results.models[results.models["dockq"].notna()]
    for target, decoy in scored[["target", "decoy"]].itertuples(index=False):
        for name in (decoy, f"{target}/{decoy}"):
            data = _data_of(results.show(name).html)
            assert data["targets"]["values"]["target"][data["open"]] == target
            of_target = data["models"]["values"][data["open"]]
            assert of_target["decoy"][data["model"]] == decoy
            assert data["drawn"][target][0][0] == data["model"]


@pytest.fixture(scope="module")
def verbs(tmp_path_factory) -> dict[str, object]:
    """What users call, results in memory and opened ones, a model, and a file that is no folder."""
    folder = tmp_path_factory.mktemp("misused")
    file = folder / "file"
    file.touch()
    results = toporank.score(NEAR)
    results.write(folder)
    opened = toporank.Results.open(folder)
    return {"t": toporank, "r": results, "o": opened, "near": NEAR, "file": str(file)}


@pytest.mark.parametrize(
    ("misuse", "words"),
    [
        ("r.show('elsewhere')", "name: no target or model is called 'elsewhere'"),
        ("r.show(height='tall')", "height: 'tall' is not allowed"),
        ("r.figure('rankin')", "there is no kind 'rankin' (did you mean 'ranking'?)"),
        ("r.figure(5)", "kind: there is no kind 5 (known: contacts, pae"),
        ("r.figure(name=5)", "name: no target or model is called 5"),
        ("r.figure('structure', colour='red')", "colour: there is no 'red'"),
        ("r.figure(columns=3)", "columns: there is no 3 (known: 1, 2)"),
        (
            "r.figure('contacts', 'A:C')",
            'partners of a contact map: figure("contacts", i',
        ),
        ("r.figure('contacts', interface=5)", "interface: 5 is not allowed"),
        ("o.write('elsewhere')", "the results were opened from here"),
        ("r.write(file)", "cannot be written: File exists"),
        ("r.write(5)", "out: 5 is no path"),
        ("t.Results.open(5)", "folder: 5 is no path"),
        ("t.Scorer.open(5)", "path: 5 is no path"),
        (
            "t.score(None)",
            "models: NoneType is not a path, a list of files or a structure",
        ),
        ("t.score([near, 5])", "models: 5 is no path"),
        ("t.score(near, workers='two')", "workers: 'two' is not allowed"),
        ("t.score(near, workers=0)", "(give a whole number from 1)"),
        ("t.score(near, partners=5)", "partners: 5 is not allowed (give a text)"),
        ("t.score(near, scorer=5)", "scorer: 5 is no path"),
        ("t.score(near, cache=5)", "cache: 5 is no path"),
        ("t.embed(5)", "models: int is not a path"),
        ("t.graphs(5)", "models: int is not a path"),
        ("t.features(near, partners=['A'])", "partners: ['A'] is not allowed"),
        ("t.train(5)", "config: 5 is no path"),
        ("t.train({'seeds': {1}}, file)", "config: Object of type set"),
        ("t.train('my.yaml', cores='all')", "cores: 'all' is not allowed"),
    ],
)
def test_a_misuse_is_an_error_of_toporank_that_says_where(verbs, misuse, words):
    with pytest.raises(TopoRankError) as error:
        eval(misuse, verbs)
    assert words in str(error.value)


def _data_of(page: str) -> dict:
    (text,) = re.findall(r'<script[^>]*id="data"[^>]*>(.*?)</script>', page, re.DOTALL)
    return json.loads(text)


def test_vectors_are_those_of_the_command(mixed, of_command):
    frame = toporank.embed(mixed)
    written = of_command[1] / layout.EMBEDDINGS.format(dataset=mixed.name)
    kinds = {column: np.float32 if column.startswith("v") else str for column in frame}
    pd.testing.assert_frame_equal(frame, pd.read_csv(written, dtype=kinds))
    assert len(frame) == 5
    assert any("unreadable" in note for note in frame.attrs["notes"])


def test_a_target_of_which_only_interfaces_can_be_scored_has_a_row(tmp_path):
    """No model is whole, so that there is no graph of a model, but one of H and L."""
    write_pdb(tmp_path / "apart.pdb", away(atoms_of(ANTIBODY), "A", 300.0))
    results = toporank.score(tmp_path, partners="chains")
    assert results.models["status"].tolist() == ["partner_apart"]
    assert (
        results.interfaces.loc[results.interfaces["interface"] == "H:L", "dockq"]
        .between(0, 1)
        .all()
    )


def beside(atoms: list[Atom], chains: dict[str, str], shift: float) -> list[Atom]:
    """Some chains under other names, moved along x by some Å."""
    return shifted(renamed(chains_of(atoms, chains), chains), shift)


def test_contacts_are_one_thing(tmp_path):
    """Two pairs far from each other, which both count."""
    other = atoms_of(DECOYS / "1PPE/near1.pdb.gz")
    atoms = [*atoms_of(NEAR), *beside(other, {"A": "C", "B": "D"}, 150.0)]
    path = write_pdb(tmp_path / "four.pdb", atoms)
    results = toporank.score(path)
    table = results.interfaces.set_index("interface")
    touching = table[table["role"] == "main"]
    assert touching.index.tolist() == ["A:B", "C:D"]
    assert results.models.loc[0, "status"] == "ok"
    rows = results.contacts["chain_1"] + ":" + results.contacts["chain_2"]
    assert touching["n_contacts"].to_dict() == rows.value_counts().to_dict()
    by_file = toporank.interfaces(path).set_index("interface")
    for name in ("n_residues", "n_ca_pairs"):
        assert by_file[name][touching.index].tolist() == touching[name].tolist()
    drawn_models = _data_of(results.show().html)["drawn"]
    _, model, _ = drawn_models[results.models["target"][0]][0]
    head, _, _ = gzip.decompress(base64.b64decode(model)).partition(b"\n")
    drawn = {each["name"]: len(each["k"]) // 3 for each in json.loads(head)["maps"]}
    assert drawn == touching["n_contacts"].to_dict()


def test_nothing_is_written_where_the_user_works_and_the_cache_is_used_again(
    mixed, tmp_path, monkeypatch
):
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    before = {path: path.stat().st_mtime_ns for path in mixed.iterdir()}
    first = toporank.score(mixed, cache=tmp_path / "cache").models
    boxes = {path: path.read_bytes() for path in (tmp_path / "cache").rglob("*.zip")}
    again = toporank.score(mixed, cache=tmp_path / "cache").models
    pd.testing.assert_frame_equal(first, again)
    assert boxes
    assert {
        path: path.read_bytes() for path in (tmp_path / "cache").rglob("*.zip")
    } == boxes
    assert [*Path().iterdir()] == []
    assert {path: path.stat().st_mtime_ns for path in mixed.iterdir()} == before


def test_a_list_of_files_an_archive_and_a_relative_path_are_scored_as_the_folder(
    mixed, tmp_path, monkeypatch
):
    monkeypatch.chdir(mixed.parent)
    whole = toporank.score(Path("mixed")).models
    files = [f"mixed/{path.name}" for path in sorted(mixed.iterdir())]
    pd.testing.assert_frame_equal(toporank.score(files).models, whole)
    contents = {path.name: path.read_bytes() for path in mixed.iterdir()}
    unpacked = toporank.score(archived(tmp_path / "mixed.zip", contents)).models
    pd.testing.assert_frame_equal(
        unpacked.drop(columns="path"), whole.drop(columns="path")
    )


def test_threads_get_what_one_gets_and_the_number_of_threads_of_torch_stays():
    import torch

    before = torch.get_num_threads()
    folders = [[NEAR, FAR], [DECOYS / "1PPE/near1.pdb.gz"]]
    with ThreadPoolExecutor(2) as threads:
        together = [*threads.map(toporank.score, folders)]
    for results, folder in zip(together, folders, strict=True):
        pd.testing.assert_frame_equal(results.models, toporank.score(folder).models)
    assert torch.get_num_threads() == before


def test_partners_targets_and_an_open_scorer_are_taken():
    scorer = toporank.Scorer.open(REPOSITORY / "resources/scorer")
    plain = toporank.score([NEAR, FAR]).models
    said = toporank.score(
        [NEAR, FAR], scorer=scorer, partners="B:A", targets="folder", confidence=False
    ).models
    pd.testing.assert_frame_equal(said, plain)


def test_an_open_scorer_is_the_one_that_scores():
    """Not the one that its path names: networks alone, one or the mean of several."""
    first, second = toporank.Scorer.open(REPOSITORY / "resources/scorer").members[:2]
    scorers = [
        toporank.Scorer.of(first),
        toporank.Scorer.of(second, [first, second]),
        toporank.Scorer.of(first, [first, second]),
        toporank.Scorer.of(first, [first, second], mean=True),
    ]
    assert len({scorer.digest for scorer in scorers}) == 4
    details = [toporank.score(NEAR, scorer=scorer).details for scorer in scorers]
    one, other, again, both = (table.loc[0, "score"] for table in details)
    assert one == again != other
    assert both == pytest.approx((one + other) / 2, abs=1e-6)
    assert both != toporank.score(NEAR).details.loc[0, "score"]


def test_the_user_says_whether_b_factors_are_plddt(tmp_path):
    model = tmp_path / "model.pdb"
    model.write_text(pdb_with(NEAR, np.linspace(40.0, 95.0, 300)))
    known, unknown = (
        toporank.score([model], plddt=said).details for said in ("b_factor", "none")
    )
    assert 0 <= known.loc[0, "confidence"] <= 1
    assert known.loc[0, "score"] != unknown.loc[0, "score"]
    assert "confidence" not in unknown


@pytest.mark.parametrize(
    ("models", "options", "kind", "message"),
    [
        ("nowhere", {}, ConfigError, "nowhere: there is no such folder or file"),
        (".", {}, ConfigError, "no structure file found"),
        ([], {}, ConfigError, "the list of models is empty"),
        (["nowhere.pdb"], {}, ConfigError, "nowhere.pdb: there is no such file"),
        (["notes.txt"], {}, ConfigError, "notes.txt: not a structure file"),
        (
            [NEAR],
            {"partners": "A:X"},
            ConfigError,
            "partners A:X: no model has the chains X",
        ),
        ([NEAR], {"partners": "A"}, ConfigError, "one partner, at least two"),
        ([NEAR], {"targets": "name"}, ConfigError, "targets"),
        ([NEAR], {"rank_by": "best_interface"}, ConfigError, "rank_by"),
        (
            [NEAR],
            {"scorer": "nowhere"},
            CheckpointError,
            "nowhere: there is no such scorer",
        ),
        (
            [NEAR],
            {"cache": "notes.txt/cache"},
            ConfigError,
            "cannot be written: .*give another folder as cache",
        ),
    ],
)
def test_what_cannot_be_scored_is_an_error_that_says_why(
    tmp_path, monkeypatch, models, options, kind, message
):
    monkeypatch.chdir(tmp_path)
    Path("notes.txt").write_text("no structure\n")
    with pytest.raises(kind, match=f"(?s){message}"):
        toporank.score(models, **options)
    assert Path.cwd() == tmp_path
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_a_file_of_a_list_that_would_be_passed_over_is_an_error(tmp_path):
    deep = tmp_path / "run/processed/far1.pdb"
    model = tmp_path / "run/predictions/q/q_model_0.pdb"
    for folder in (deep.parent, model.parent):
        folder.mkdir(parents=True)
    shutil.copy(FAR, deep)
    shutil.copy(NEAR, model)
    shutil.copy(NEAR, tmp_path)
    with pytest.raises(ConfigError, match=r"far1\.pdb.*: a predictor was given what"):
        toporank.score([tmp_path / NEAR.name, model, deep])


# ---- one model -----------------------------------------------------------------------------------


def test_features_are_those_of_a_build(tmp_path):
    choices = resolve_recorded(
        toporank.Scorer.open(REPOSITORY / "resources/scorer").features
    )
    (member,) = (
        row
        for row in planned(find_decoys("ds", DECOYS), {})
        if row.key == ("1AVZ", "near1")
    )
    made = making(member, structure_digest(NEAR), choices, Store(tmp_path))
    complex_ = made["atoms"]
    index, table = read_residues(made.entry("nodes").content, complex_)
    frame = toporank.features(NEAR)
    np.testing.assert_array_equal(
        frame[node_columns(choices)], matrix(table, node_columns(choices))
    )
    names = [str(complex_.residues[i]) for i in index]
    assert [
        f"{r.chain}:{r.number}{r.insertion_code}" for r in frame.itertuples()
    ] == names
    assert frame["residue"].str.len().eq(3).all()
    assert frame["lost"].eq("").all()
    assert frame.columns.is_unique


def test_interfaces_name_the_partners_and_their_residues():
    (row,) = toporank.interfaces(NEAR).to_dict("records")
    assert row["interface"] == f"{row['first']}:{row['second']}"
    assert row["n_residues"] == len(toporank.features(NEAR))
    assert 0 < row["closest"] < 10


def test_dockq_is_that_of_the_labels():
    found = toporank.dockq(NEAR, NEAR)
    assert found["fnat"] == 1
    assert found["dockq"] == pytest.approx(1)
    assert found["mapping"] == {"A": "A", "B": "B"}
    worse = toporank.dockq(FAR, NEAR, partners="B:A")
    assert worse["interfaces"].keys() == {"A:B"}
    assert worse["interfaces"]["A:B"] == {
        name: worse[name] for name in ("dockq", "fnat", "irmsd", "lrmsd")
    }
    assert worse["dockq"] < 0.5


def test_an_antibody_is_one_partner_by_default(tmp_path):
    """As with the partners given, which differ from each chain by itself."""
    atoms = atoms_of(ANTIBODY)
    native = write_pdb(tmp_path / "native.pdb", atoms)
    model = write_pdb(tmp_path / "turned.pdb", turned(atoms, "A"))
    assert toporank.dockq(model, native) == toporank.dockq(
        model, native, partners="H+L:A"
    )
    assert (
        toporank.dockq(model, native)["dockq"]
        < 0.1
        < toporank.dockq(model, native, partners="chains")["dockq"]
    )
    assert toporank.interfaces(native)["interface"].tolist() == ["A:H+L"]
    assert len(toporank.interfaces(native, partners="chains")) == 3
    assert set(toporank.features(native)["chain"]) == {"A", "H", "L"}


def test_graphs_of_files_and_of_structures_in_memory_are_those_that_are_scored(
    tmp_path,
):
    given = {"file": NEAR, "memory": gemmi.read_structure(str(NEAR))}
    of_file, of_memory = toporank.graphs(given)
    assert torch.equal(of_file.x, of_memory.x)
    assert torch.equal(of_file.edge_attr, of_memory.edge_attr)
    table = toporank.features(NEAR)
    columns = [*table.columns[4:-1]]
    is_node = table["lost"] == ""
    np.testing.assert_allclose(of_file.x, table.loc[is_node, columns], rtol=1e-6)
    assert len(of_file.metadata["residues"]) == of_file.num_nodes == is_node.sum()
    assert of_file.edge_attr.shape[1] == len(of_file.metadata["edge_columns"])


def test_results_say_what_they_are_in_a_few_lines(mixed):
    results = toporank.score(mixed)
    lines = repr(results).splitlines()
    assert lines[0] == "6 models of 3 targets: check 2"
    assert len(lines) <= 5
    assert len(results._repr_html_()) < 5000
    assert [name for name in dir(results) if name[0] != "_"] == sorted([
        "models", "targets", "details", "interfaces", "residues", "contacts", "confidence",
        "vectors", "notes", "open", "write", "show", "figure",
    ])  # fmt: skip


def test_results_say_how_the_pairs_of_a_model_with_several_partners_look(tmp_path):
    pairs = (("A:B", 0.8), ("A:C", 0.7), ("B:C", 0.1))
    rows = [
        InterfaceRow(target, "m", name, 40, 90, 4.0, dockq, None, "ok", name, role=MAIN)
        for target in ("T", "U")
        for name, dockq in pairs
    ]
    targets = {"T": {"m": 0.9}, "U": {"m": 0.8}, "V": {"m": 0.7}, "W": {"m": 0.6}}
    results = Results(open_folder(write_answer(tmp_path, targets, interfaces=rows)))
    words = "B:C (0.10) looks wrong; every partner has one that looks right"
    lines = repr(results).splitlines()
    assert len(lines) == 5
    assert [line.endswith(f"; {words}") for line in lines[1:3]] == [True, True]
    assert results._repr_html_().count(words) == 2
    single = open_folder(write_answer(tmp_path / "single", {"T": {"m": 0.9}}))
    assert "<th>interfaces</th>" in results._repr_html_()
    assert "<th>interfaces</th>" not in Results(single)._repr_html_()


def test_training_from_python_runs_the_command_and_gives_the_scorer(
    tmp_path, monkeypatch
):
    asked = []

    def made(target, config, out, args):
        asked.append((target, config.read_text(), args.cores))
        shutil.copytree(REPOSITORY / layout.SHIPPED_SCORER, out / layout.MADE_SCORER)
        return True

    monkeypatch.setattr(train_and_label, "run_snakemake", made)
    study = {"datasets": [{"name": "a", "decoys": str(DECOYS), "labels": "labels.csv"}]}
    scorer = toporank.train(study, tmp_path / "out", cores=2)
    assert asked == [("all make_scorer", json.dumps(study, indent=1) + "\n", 2)]
    assert (
        scorer.digest == toporank.Scorer.open(REPOSITORY / layout.SHIPPED_SCORER).digest
    )


def test_errors_of_one_model_are_those_of_the_project(tmp_path):
    (tmp_path / "broken.pdb").write_text("ATOM nonsense\n")
    for function in (toporank.features, toporank.interfaces):
        with pytest.raises(StructureError, match=r"broken\.pdb"):
            function(tmp_path / "broken.pdb")
        with pytest.raises(StructureError, match=r"nowhere\.pdb"):
            function(tmp_path / "nowhere.pdb")
    with pytest.raises(NativeError, match="the native has no chain X"):
        toporank.dockq(NEAR, NEAR, partners="A:X")


# ---- the package ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "first", ["import toporank", "import toporank.features.registry, toporank"]
)
def test_features_is_a_package_and_a_function(first):
    after = (
        f"print(len(toporank.features({str(NEAR)!r})) > 9, "
        "len(toporank.features.registry.modules()) > 3)"
    )
    assert printed(f"{first}; {after}") == "True True"


def test_a_name_that_is_not_there_is_an_error():
    with pytest.raises(AttributeError, match="no attribute 'rank'"):
        toporank.rank  # noqa: B018


def test_what_type_checkers_read_names_what_there_is():
    stub = (REPOSITORY / "lib/toporank/__init__.pyi").read_text()
    assert {line.split(" as ")[1] for line in stub.splitlines() if " as " in line} == {
        *toporank.__all__
    } - {"__version__"}
