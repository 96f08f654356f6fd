"""The check before any job: everything that is wrong is listed, nothing raises, and the plans are
written.
"""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

import pytest

from described_checkpoint import write_description
from messages import messages
from replacing import copied_there, moved_there, written_over
from structures_text import alanine, mmcif, pair, pdb, put
from toporank import layout
from toporank.app.config import Config, load_config
from toporank.app.data_sets import feature_choices, scorer_of
from toporank.app.workflow.preflight import Preflight, preflight
from toporank.app.workflow.runs import submission_problems
from toporank.building.chunks.ledger import Ledger, LedgerRow, write_ledger
from toporank.building.chunks.plan import read_chunk, read_current
from toporank.building.coverage import n_models
from toporank.building.label_tables import write_tables
from toporank.building.native_labels import LabelledDecoy
from toporank.errors import CheckpointError, ConfigError
from toporank.features.registry import DEFAULT_MODULES, records, resolve
from toporank.finding import look
from toporank.finding.labels import read_split_labels
from toporank.structures.dssp import dssp_version
from toporank.structures.identity import Status

REPOSITORY = Path("repository")
LABELS = "Target,Model,DockQ,split\nA,d1,0.9,train\nA,d2,0.1,train\nB,d1,0.5,val\nB,gone,0.5,val\n"


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch, tmp_path_factory):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(layout, "repository", lambda: REPOSITORY)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
    files = dict.fromkeys(("A/d1.pdb", "A/d2.cif.gz", "B/d1.pdb"), "atoms")
    put(Path("decoys"), files)
    Path("labels.csv").write_text(LABELS)
    dssp_version.cache_clear()
    yield
    dssp_version.cache_clear()


def config(*datasets: dict, **other) -> Config:
    return load_config({"datasets": list(datasets), **other})


GOOD = {"name": "good", "decoys": "decoys", "labels": "labels.csv"}


def check(*datasets: dict, dssp: bool = False, **other) -> Preflight:
    settings = config(*datasets, **other)
    return preflight(settings, choices=settings.choices(), check_dssp=dssp)


def summaries(result: Preflight) -> dict[str, str]:
    return {name: planned.summary for name, planned in result.datasets.items()}


def chunk_of(result: Preflight, dataset: str = "good") -> str:
    (name,) = result.datasets[dataset].chunks
    return name


# ---- everything well -----------------------------------------------------------------------------


def test_a_good_data_set_is_planned_and_summed_up():
    result = check(GOOD)
    assert result.problems == []
    assert summaries(result) == {
        "good": "3 models = 3 not built yet; 4 labels, 1 of them without model"
    }
    plan = result.of("good").plan.values()
    assert {(row.target, row.decoy): row.dockq for row in plan} == {
        ("A", "d1"): "0.9", ("A", "d2"): "0.1", ("B", "d1"): "0.5",
    }  # fmt: skip


def test_what_the_run_builds_is_written_down_for_its_jobs_once_it_holds_the_lock():
    result = check(GOOD)
    assert read_current("good") is None
    assert not Path("results/good/labels.csv").exists()
    result.write(result.datasets)
    assert read_current("good") == result.datasets["good"].current
    assert [label[:4] for label in read_split_labels(Path("results/good/labels.csv"))] == [
        ("A", "d1", 0.9, "train"), ("A", "d2", 0.1, "train"), ("B", "d1", 0.5, "val"), ("B", "gone", 0.5, "val"),
    ]  # fmt: skip


def test_a_check_beside_a_build_changes_nothing_that_the_build_reads():
    """Another chunk size, other targets, other labels, other decoys."""
    build = check(GOOD)
    build.write_plans()
    build.write(["good"])
    before = {
        path: path.read_bytes() for path in Path("results").rglob("*") if path.is_file()
    }
    times = {path: path.stat().st_mtime_ns for path in before}
    Path("labels.csv").write_text(LABELS.replace("0.9", "0.8"))
    Path("decoys/A/d1.pdb").write_text("other atoms")
    Path("decoys/B/d1.pdb").unlink()
    check(GOOD, workflow={"chunk_size": 1})
    check(GOOD, only=["A"])
    del before[Path("results/good/gap.tsv")]  # for people
    assert {path: path.read_bytes() for path in before} == before
    assert {path: path.stat().st_mtime_ns for path in before} == {
        path: times[path] for path in before
    }


def test_a_data_set_without_labels_is_planned_too():
    result = check({"name": "bare", "decoys": "decoys"})
    assert result.problems == []
    assert result.datasets["bare"].summary.endswith(
        "; 0 labels, 0 of them without model"
    )
    result.write(result.datasets)
    kept = Path("results/bare/labels.csv").read_text()
    assert kept == "target,decoy,dockq,split,group,partners,interface\n"


def test_what_is_built_is_told_from_what_is_not():
    result = check(GOOD)
    chunk, members = chunk_of(result), result.of("good").plan
    fates = {
        ("A", "d1"): Status.OK,
        ("A", "d2"): Status.FAILED,
        ("B", "d1"): Status.NO_INTERFACE,
    }
    rows = [LedgerRow(*key, fates[key], "graphs") for key in members]
    write_ledger(Path(f"results/good/ledger/{chunk}.tsv"), Ledger({}, rows))
    told = summaries(check(GOOD))["good"]
    assert told.startswith("3 models = 1 failed + 1 no_interface + 1 ok;")


def test_paths_are_looked_up_in_the_repository_where_the_working_directory_has_none():
    REPOSITORY.mkdir()
    Path("decoys").rename(REPOSITORY / "decoys")
    assert check(GOOD).problems == []
    Path("decoys/C").mkdir(parents=True)
    Path("decoys/C/own.pdb").write_text("atoms")
    assert summaries(check(GOOD))["good"].startswith("1 model ")


def test_of_some_targets_these_are_built_and_all_decoys_are_known():
    result = check(GOOD, only=["A"], workflow={"chunk_size": 1})
    result.write_plans()
    built = [
        row.target
        for chunk in result.datasets["good"].current.chunks
        for row in read_chunk("good", chunk)
    ]
    known = [
        row.target
        for chunk in result.datasets["good"].current.of_all
        for row in read_chunk("good", chunk)
    ]
    assert (built, sorted(known)) == (["A", "A"], ["A", "A", "B"])


def test_looking_writes_the_list_alone_and_a_run_keeps_what_was_seen(monkeypatch):
    structure = pdb(pair())
    for path in Path("decoys").glob("*/*.pdb"):
        path.write_text(structure)
    Path("decoys/A/d2.cif.gz").unlink()
    before = {*Path().rglob("*")}
    assert check(GOOD).problems == []
    new = {*Path().rglob("*")} - before
    assert {str(path) for path in new if path.is_file()} == {"results/good/gap.tsv"}
    monkeypatch.setattr(look, "look", None)  # each file was looked into
    result = check(GOOD)
    result.write_plans()
    assert read_chunk("good", chunk_of(result)) == [*result.of("good").plan.values()]
    assert Path(".toporank/store/sketches.json").exists()
    assert check(GOOD).draft is None


def test_what_was_seen_may_be_moved_or_removed_by_another_run_at_the_same_time():
    drafts = Path(os.environ["XDG_CACHE_HOME"], "toporank/drafts")
    drafts.mkdir(parents=True)
    (drafts / "removed_meanwhile").symlink_to("nothing")
    first, second = check(GOOD), check(GOOD)
    assert first.draft == second.draft
    first.write_plans()
    second.write_plans()
    assert Path(".toporank/store/sketches.json").exists()


def test_files_of_one_name_are_two_decoys():
    for name in ("d.pdb", "d.cif.gz"):
        Path("decoys/A", name).write_text("atoms")
    result = check(GOOD)
    assert not result.problems
    assert {
        row.decoy for rows in result.datasets["good"].chunks.values() for row in rows
    } >= {
        "d",
        "d_cif_gz",
    }


def test_a_label_that_may_mean_two_files_is_a_problem_unless_they_are_copies():
    for name in ("near1.cif", "near1.pdb"):
        Path("decoys/A", name).unlink(missing_ok=True)
    Path("decoys/A/near1.pdb").write_text(pdb(pair()))
    Path("decoys/A/near1.cif").write_text(mmcif(pair()))
    Path("near.csv").write_text("Target,Model,DockQ\nA,near1,0.5\n")
    assert not check({**GOOD, "labels": "near.csv"}).problems
    other = alanine("A", 1, 0.0) + alanine("B", 1, 7.0)
    Path("decoys/A/near1.cif").write_text(mmcif(other))
    (problem,) = check({**GOOD, "labels": "near.csv"}).problems
    assert "the label of A/near1 may mean several files of this name" in problem


def test_files_that_look_like_structures_and_are_not_read_are_told():
    put(Path("decoys/A"), {"x.mmtf": "", "y.bcif": ""})
    lines = check(GOOD).datasets["good"].notes
    assert [line for line in lines if "not read" in line] == [
        "2 files are not read, such as A/x.mmtf (expected <target>/<model>.pdb, .ent, "
        ".cif or .mmcif,"
        " compressed or not (.gz, .bz2, .xz, .zst))"
    ]
    with zipfile.ZipFile("decoys/A/z.zip", "w") as archive:
        archive.writestr("far1.pdb", pdb(pair()))
    notes = check(GOOD).datasets["good"].notes
    assert any("A/z.zip: an archive that was not unpacked (unpack" in x for x in notes)


# ---- problems ------------------------------------------------------------------------------------


BAD = {**GOOD, "name": "bad"}


@pytest.mark.parametrize(("dataset", "message"), messages("data_sets"))
def test_a_problem_of_a_data_set_is_told_and_another_is_planned(dataset, message):
    files = ("empty/target/notes.txt", "deep/one/m0.bcif", "results/taken")
    wrong = {"wrong.csv": "Target,Model,DockQ\nA,d1,1.5\n"}
    put(Path(), dict.fromkeys(files, "") | wrong)
    result = check({**BAD, **dataset}, GOOD)
    (problem,) = result.problems
    assert message in problem
    assert list(result.datasets) == ["good"]


def test_all_problems_are_told_at_once(monkeypatch):
    monkeypatch.setenv("PATH", "")
    nowhere = {**BAD, "decoys": "nowhere"}
    unlabelled = {**GOOD, "name": "unlabelled", "labels": "nowhere.csv"}
    problems = check(nowhere, unlabelled, dssp=True).problems
    starts = ("mkdssp: not found on the PATH", "dataset bad", "nowhere.csv")
    assert [
        problem.startswith(start)
        for problem, start in zip(problems, starts, strict=True)
    ] == ([True] * 3)
    result = check()
    assert result.problems[0].startswith("datasets: none configured")
    assert result.mkdssp == "not needed: built-in DSSP"


@pytest.mark.parametrize(
    "folder",
    ["a\tb", "a\nb", os.fsdecode(b"\xff")],
    ids=["tab", "line break", "not UTF-8"],
)
def test_a_folder_whose_name_cannot_be_written_down_is_told_and_does_not_raise(folder):
    Path("decoys").rename(folder)
    result = check({"name": "bad", "decoys": folder})
    assert len(result.problems) == 1
    assert "dataset bad" in result.problems[0]


def test_a_checkpoint_to_start_a_phase_from_has_to_be_there():
    phases = [{"name": "p", "parent": "gone/best_loss.ckpt", "seeds": [1]}]
    result = check(GOOD, training={"finetune": {"phases": phases}})
    (problem,) = result.problems
    assert problem.startswith("training.finetune.phases, p: parent: there is no ")


def test_mmseqs_is_looked_for_only_where_chains_are_to_be_aligned(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert check(GOOD).problems == []
    (problem,) = check(GOOD, training={"similarity": "mmseqs2"}).problems
    assert problem.startswith(
        "training.similarity: mmseqs is not on the PATH (apt-get install mmseqs2"
    )


def test_results_that_cannot_be_made_are_one_problem_for_each_place():
    Path("results").write_text("in the way")
    problems = check(GOOD).problems
    assert all(
        "cannot be written" in problem and "--directory" in problem
        for problem in problems
    )
    assert any(
        problem.startswith(f"{Path('results').resolve()}:") for problem in problems
    )


def test_a_reuse_store_that_cannot_be_made_is_a_problem():
    Path("store").write_text("in the way")
    (problem,) = check(GOOD, workflow={"reuse_store": "store"}).problems
    assert problem.startswith(f"{Path('store').resolve()}: cannot be written")


@pytest.mark.parametrize(
    ("version", "fine"),
    [
        ("3.1.4", False),
        ("4.0.0", True),
        ("4.2.2", True),
        ("4.10", True),
        ("5.0.0", False),
    ],
)
def test_an_unsupported_mkdssp_is_told(monkeypatch, tmp_path, version, fine):
    program = tmp_path / "bin" / "mkdssp"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho mkdssp version {version}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    result = check(GOOD, dssp=True)
    assert (
        (result.mkdssp, result.problems) == (f"checked: version {version}", [])
        if fine
        else f"mkdssp: version {version} is not supported" in result.problems[0]
    )


# ---- features of the checkpoint ------------------------------------------------------------------


def features(cutoff: float) -> dict:
    return records(
        resolve(
            {
                **{s: {} for s in DEFAULT_MODULES},
                "interface": {"module": "ca_cutoff", "cutoff": cutoff},
            }
        )
    )


def test_scoring_uses_the_features_of_the_checkpoint_whatever_is_configured():
    write_description("some.ckpt", features=features(12.0))
    settings = load_config(
        {
            "score_decoys": "decoys",
            "scorer": "some.ckpt",
            "features": {"interface": {"cutoff": 8}},
        }
    )
    assert records(feature_choices(settings)) == features(12.0)


def test_a_checkpoint_that_does_not_say_what_was_computed_is_refused():
    unsaid = features(12.0)
    del unsaid["edges"]["scaling"]
    write_description("some.ckpt", features=unsaid)
    settings = load_config({"score_decoys": "decoys", "scorer": "some.ckpt"})
    with pytest.raises(
        CheckpointError, match=r"some\.ckpt: .*does not say what scaling was"
    ):
        feature_choices(settings)


def test_decoys_alone_are_scored_with_the_scorer_of_the_repository_unless_another_is_named():
    settings = load_config({"score_decoys": "decoys"})
    shipped = REPOSITORY / "resources/scorer"
    assert scorer_of(settings) == str(shipped)
    write_description(
        "results/final/best.ckpt", features=features(8.0)
    )  # a study in the working directory
    with pytest.raises(
        CheckpointError,
        match=r"resources/scorer: .* TopoRank is missing \(.* scorer=results/final of a study",
    ):
        feature_choices(settings)
    write_description(shipped / "best.ckpt", features=features(12.0))
    assert records(feature_choices(settings)) == features(12.0)
    for own in ({"scorer": "results/final"}, {"scorer": "results/final/best.ckpt"}):
        assert records(
            feature_choices(load_config({"score_decoys": "decoys", **own}))
        ) == features(8.0)


def test_a_checkpoint_that_does_not_name_its_features_is_refused():
    write_description("bare.ckpt")
    with pytest.raises(
        CheckpointError, match=r"bare\.ckpt: does not say which features"
    ):
        feature_choices(load_config({"score_decoys": "decoys", "scorer": "bare.ckpt"}))


@pytest.mark.parametrize(
    ("python", "problems"),
    [("/opt/venv/bin/python", 0), ("/my clone/.venv/bin/python", 1)],
)
def test_a_python_that_a_cluster_could_not_start_is_a_problem(python, problems):
    """Snakemake writes its path into jobs without quotes."""
    assert len(submission_problems("cluster-generic", python)) == problems


def test_slurm_without_sbatch_is_a_problem(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    (problem,) = submission_problems("slurm", "/opt/venv/bin/python")
    assert problem.startswith("--profile slurm: sbatch is not on the PATH (")
    (tmp_path / "sbatch").touch(mode=0o755)
    assert submission_problems("slurm", "/opt/venv/bin/python") == []


@pytest.mark.parametrize(
    ("state", "problems"),
    [("UP", []), ("DOWN", ["Slurmctld(primary) at head is DOWN"])],
)
def test_a_cluster_whose_controller_is_down_is_a_problem(
    monkeypatch, tmp_path, state, problems
):
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "sbatch").touch(mode=0o755)
    ping = tmp_path / "scontrol"
    ping.write_text(f"#!/bin/sh\necho 'Slurmctld(primary) at head is {state}'\n")
    ping.chmod(0o755)
    given = submission_problems("slurm", "/opt/venv/bin/python")
    assert [
        problem.split(": ", 2)[2].split(" (start")[0] for problem in given
    ] == problems


# ---- scoring -------------------------------------------------------------------------------------


def scored(folder: str, name: str = "models") -> list[str]:
    settings = load_config({"score_decoys": folder, "score_name": name})
    result = preflight(settings, choices=settings.choices(), check_dssp=False)
    if result.datasets:
        told = result.datasets[name]
        assert (
            told.summary
            == f"{n_models(len(told.decoys))} = {len(told.decoys)} to score"
        )
        assert not Path(f"results/{name}/gap.tsv").exists(), "nothing is built"
    if not result.problems:
        result.write(result.datasets)
    return result.problems


def test_another_folder_under_a_name_that_is_taken_is_refused():
    Path("first/T").mkdir(parents=True)
    Path("first/T/d.pdb").write_text("atoms")
    assert (
        scored("decoys")
        == scored("decoys")
        == scored(str(Path("decoys").resolve()))
        == []
    )
    (problem,) = scored("first")
    for part in (
        "results/models/",
        str(Path("first").resolve()),
        str(Path("decoys").resolve()),
        "toporank -o",
    ):
        assert part in problem
    assert scored("first", "other") == []


# ---- labels --------------------------------------------------------------------------------------


def test_labels_that_match_no_decoy_are_refused_with_the_nearest_name():
    Path("labels.csv").write_text(
        "Target,Model,DockQ,split\na,d1,0.9,train\nb,d1,0.5,val\n"
    )
    (problem,) = check(GOOD).problems
    assert problem.startswith(
        "dataset good: none of the 2 labels belongs to any of the 3 models"
    )
    assert "did you mean A/d1?" in problem


def test_labels_of_several_data_sets_are_seen_together():
    for name, target, split in (("one", "A", "train"), ("two", "B", "val")):
        Path(f"{name}.csv").write_text(
            f"Target,Model,DockQ,split\n{target},d1,0.9,{split}\n"
        )
    assert (
        check(
            *(
                {"name": n, "decoys": "decoys", "labels": f"{n}.csv"}
                for n in ("one", "two")
            )
        ).problems_of["training"]
        == []
    )


def labelled(name: str, *rows: str) -> dict:
    """A data set of the decoys with these labels."""
    Path(f"{name}.csv").write_text("\n".join(["Target,Model,DockQ,split", *rows]))
    return {"name": name, "decoys": "decoys", "labels": f"{name}.csv"}


def test_a_target_that_two_data_sets_put_into_two_splits_is_named():
    mine = labelled("mine", "A,d1,0.9,train", "B,d1,0.5,val")
    theirs = labelled("theirs", "A,d2,0.8,val", "C,d1,0.1,train")
    (problem,) = check(mine, theirs).problems_of["training"]
    assert problem.startswith(
        "training: target 'A' is in split train of data set mine and in split val of theirs (give"
    )
    assert (
        check(mine, theirs, training={"datasets": ["mine"]}).problems_of["training"]
        == []
    )
    tuned = {"datasets": ["mine"], "finetune": {"phases": [{"name": "p", "seeds": [1], "datasets": ["theirs"]}]}}  # fmt: skip
    assert check(mine, theirs, training=tuned).problems_of["training"] == []
    theirs = labelled("theirs", "B,d1,0.5,train")
    (problem,) = check(mine, theirs, training=tuned).problems_of["training"]
    assert "target 'B' is in split train of data set theirs and in split val of mine" in problem  # fmt: skip
    theirs = labelled("theirs", "A,d1,0.9,test", "B,d1,0.5,test")
    assert "of data set mine and in split test of theirs" in check(mine, theirs).problems_of["training"][0]  # fmt: skip


def test_a_network_of_contacts_needs_graphs_with_areas():
    mine = labelled("mine", "A,d1,0.9,train", "B,d1,0.5,val")
    sweep = {"sweep": {"configs": [{"name": "touch", "network": "contacts"}]}}
    legacy = {"edges": {"module": "legacy"}}
    (problem,) = check(mine, training=sweep, features=legacy).problems_of["training"]
    assert problem.startswith("network contacts: the edges have no column area")
    assert "edges: {module: contacts}" in problem
    contacts = {"nodes": {"module": "contacts"}, "edges": {"module": "contacts"}}
    found = check(mine, training=sweep, features=contacts)
    assert found.problems_of["training"] == []


def test_labels_of_one_model_that_contradict_each_other_are_named():
    mine = labelled("mine", "A,d1,0.9,train", "A,d2,0.1,train", "B,d1,0.5,val")
    within_rounding = labelled("theirs", "A,d1,0.905,train", "A,d2,0.1,train")
    assert check(mine, within_rounding).problems_of["training"] == []
    theirs = labelled("theirs", "A,d1,0.1,train", "A,d2,0.9,train")
    (problem,) = check(mine, theirs).problems_of["training"]
    assert problem == (
        "training: A/d1 of data set mine has DockQ 0.9, and the same model as A/d1 of theirs has "
        "0.1, one of 2 such pairs (correct the labels, or leave one of the models out)"
    )
    Path("decoys/A/copy.pdb").hardlink_to("decoys/A/d1.pdb")
    alone = labelled("mine", "A,copy,0.3,train", "A,d1,0.9,train", "B,d1,0.5,val")
    (problem,) = check(alone).problems_of["training"]
    assert "A/copy of data set mine has DockQ 0.3, and the same model as A/d1" in problem  # fmt: skip


def test_a_coverage_that_cannot_be_reached_is_told_with_both_numbers():
    rows = ["A,d1,0.9,train", "A,d2,0.1,train", "B,d1,0.5,val", "B,d2,0.5,val", "B,d3,0.1,val"]  # fmt: skip
    few = labelled("few", *rows)
    (problem,) = check(few).problems_of["check_coverage"]
    assert problem == (
        "dataset few: at most 3 of 5 labels (60.0 %) can have a graph (train 2 of 2, 100.0 %, val "
        "1 of 3, 33.3 %), at least 90 % of each split must (see results/few/gap.tsv, or change "
        "`coverage`)"
    )
    assert check(few).problems == check(few).problems_of["training"] == []
    enough = {"minimum_percent": 30}
    assert check(few, coverage=enough).problems_of["check_coverage"] == []
    assert check(few, only=["A"]).problems_of["check_coverage"] == []
    assert (
        len(check(few, coverage={"minimum_percent": 40}).problems_of["check_coverage"])
        == 1
    )
    (line,) = [
        line
        for line in check(few).datasets["few"].notes
        if line.startswith("labels that")
    ]
    assert line == (
        "labels that can have a graph: train 2 of 2, val 1 of 3; mean DockQ 0.500, of the others "
        "0.300"
    )


def test_what_has_no_decoy_or_no_label_is_in_the_list_by_name():
    result = check(labelled("few", "A,d1,0.9,train", "B,gone,0.5,val"))
    lines = Path("results/few/gap.tsv").read_text().splitlines()[1:]
    told = {tuple(line.split("\t")[:2]): line.split("\t")[6:] for line in lines}
    assert told["B", "gone"][0] == Status.NO_DECOY
    unnamed = ["", "", "none: the label table does not name it"]
    assert told["A", "d2"][2:] == told["B", "d1"][2:] == unnamed
    assert told["A", "d1"] == ["not built yet", "", "0.9", "train", ""]
    assert "labels without model: 1, such as B/gone" in result.datasets["few"].notes
    assert "models without label: 2, such as A/d2" in result.datasets["few"].notes


# ---- partners ------------------------------------------------------------------------------------


def partners_in_plan(result: Preflight) -> dict[str, str]:
    plan = result.of("good").plan.values()
    return {f"{row.target}/{row.decoy}": row.partners for row in plan if row.partners}


def test_a_table_in_the_folder_of_decoys_names_the_partners_of_its_targets():
    Path("decoys/partners.csv").write_text("target,partners\nA,H+L:A\nelsewhere,A:B\n")
    result = check(GOOD)
    assert partners_in_plan(result) == {"A/d1": "A:H+L", "A/d2": "A:H+L"}
    assert (
        "partners are given for targets without models, 1 in all, such as elsewhere"
        in result.datasets["good"].notes
    )
    assert result.problems == []


def test_the_setting_of_a_data_set_goes_before_the_general_one_and_a_table_it_names_before_that_of_the_folder():
    Path("decoys/partners.csv").write_text("target,partners\nA,H+L:A\n")
    Path("other.csv").write_text("target,partners\nB,X:Y\n")
    assert partners_in_plan(check(GOOD, partners="C:D")) == {
        "A/d1": "A:H+L",
        "A/d2": "A:H+L",
        "B/d1": "C:D",
    }
    own = check({**GOOD, "partners": "D:E"}, partners="C:D")
    assert partners_in_plan(own) == {"A/d1": "A:H+L", "A/d2": "A:H+L", "B/d1": "D:E"}
    assert partners_in_plan(
        check({**GOOD, "partners": "other.csv"}, partners="C:D")
    ) == {"B/d1": "X:Y"}


def test_each_chain_is_kept_apart_where_somebody_says_so():
    Path("decoys/partners.csv").write_text("target,partners\nA,chains\n")
    assert partners_in_plan(check(GOOD, partners="C:D")) == {"B/d1": "C:D"}
    assert partners_in_plan(check({**GOOD, "partners": "chains"}, partners="C:D")) == {}


def test_labels_name_partners_and_interfaces_and_only_whole_decoys_are_trained_on():
    rows = "A,d1,0.9,train,H+L:A,\nA,d1,0.8,train,,A:H+L\nA,d2,0.1,train,,\nB,d1,0.5,val,,\n"
    Path("labels.csv").write_text(
        f"Target,Model,DockQ,split,Partners,Interface\n{rows}"
    )
    result = check(GOOD)
    assert partners_in_plan(result) == {"A/d1": "A:H+L"}
    assert [row.dockq for row in result.of("good").plan.values()] == [
        "0.9",
        "0.1",
        "0.5",
    ]
    assert summaries(result) == {
        "good": "3 models = 3 not built yet; 3 labels, 0 of them without model"
    }
    result.write(result.datasets)
    path = Path("results/good/labels.csv")
    assert [label.interface for label in read_split_labels(path, interfaces=True)] == [
        "",
        "A:H+L",
        "",
        "",
    ]
    assert [label.interface for label in read_split_labels(path)] == ["", "", ""]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"target,partners\nA,H+L\n", "'H+L' is one partner, at least two are needed"),
        (b"target\nA\n", "the header must have target and partners once each"),
        (b"", "the partners cannot be read: the file is empty"),
        (b"target,partners\n", "the partners have no rows"),
        (b"\xff\xfe", "the partners cannot be read: "),
    ],
)
def test_a_wrong_table_of_partners_is_a_problem(content, problem):
    Path("decoys/partners.csv").write_bytes(content)
    (found,) = check(GOOD).problems
    assert found.startswith("decoys/partners.csv")
    assert problem in found


@pytest.mark.parametrize(("partners", "problem"), messages("partners_of_a_data_set"))
def test_partners_that_make_no_sense_are_refused_with_the_configuration(
    partners, problem
):
    with pytest.raises(ConfigError, match=problem):
        config(GOOD, partners=partners)


# ---- natives -------------------------------------------------------------------------------------


def with_natives(*names: str, **other) -> Preflight:
    put(Path("natives"), dict.fromkeys(names, "atoms"))
    return check({"name": "good", "decoys": "decoys", "natives": "natives", **other})


def test_decoys_of_targets_with_a_native_will_have_labels_to_train_on():
    result = with_natives("A.pdb", "B/native.cif.gz")
    assert (result.problems, result.problems_of["training"]) == ([], [])
    assert (
        result.datasets["good"].summary
        == "3 models = 3 not built yet; labels from natives"
    )
    assert {
        (label.target, label.split) for label in result.datasets["good"].labels
    } == {
        ("A", ""),
        ("B", ""),
    }
    assert {row.dockq for row in result.of("good").plan.values()} == {""}
    result.write(result.datasets)
    assert not Path("results/good/labels.csv").exists(), "a job writes it"


@pytest.mark.parametrize(
    "way", [written_over, moved_there, copied_there], ids=lambda way: way.__name__
)
def test_a_native_of_the_same_size_and_time_is_another_native(way):
    before = with_natives("A.pdb", "B.pdb").datasets["good"].natives
    way(Path("natives/A.pdb"), b"other")
    after = (
        check({"name": "good", "decoys": "decoys", "natives": "natives"})
        .datasets["good"]
        .natives
    )
    assert after["A"] != before["A"]
    assert after["B"] == before["B"]


def test_labels_that_natives_gave_are_in_the_list_until_they_give_others():
    rows = [LabelledDecoy("A", "d1", "", 0.25, "", Status.OK, ""),
            LabelledDecoy("A", "d2", "", None, "", Status.OTHER_PROTEIN, "another protein"),
            LabelledDecoy("B", "d1", "", None, "", Status.NO_NATIVE, "no native")]  # fmt: skip
    folder = Path("results/good")
    folder.mkdir(parents=True)
    write_tables(rows, folder / "dockq.csv", folder / "labels_interfaces.csv")
    with_natives("A.pdb", "B.pdb")
    told = [line.split("\t") for line in (folder / "gap.tsv").read_text().splitlines()]
    assert [line[8:] for line in told[1:]] == [
        ["0.25", "", ""], ["", "", "none: another protein"], ["", "", "its native will say"],
    ]  # fmt: skip
    (folder / "dockq.csv").unlink()
    with_natives("A.pdb", "B.pdb")
    assert (folder / "gap.tsv").read_text().count("its native will say") == 3
    Path("natives/B.pdb").unlink()
    with_natives("A.pdb")
    assert "B\td1" in (folder / "gap.tsv").read_text()
    assert "none: its target has no native" in (folder / "gap.tsv").read_text()


@pytest.mark.parametrize(
    "layout", ["{target}/{program}", "{program}/{target}", "{target}/{program}/run_1"]
)
@pytest.mark.parametrize("natives", [["1emv.pdb", "1PPE.pdb"], ["pdb1emv.ent", "1ppe-assembly1.pdb"]])  # fmt: skip
def test_models_in_folders_of_their_programs_are_of_the_targets_that_natives_name(
    layout, natives
):
    for target in ("1EMV", "1PPE"):
        for program in ("haddock", "zdock"):
            folder = Path("poses", layout.format(target=target, program=program))
            folder.mkdir(parents=True)
            (folder / "m0.pdb").write_text("atoms")
    Path("natives").mkdir()
    for name in natives:
        Path("natives", name).write_text("atoms")
    result = check({"name": "good", "decoys": "poses", "natives": "natives"})
    assert result.problems == []
    run = "run_1_" if layout.endswith("run_1") else ""
    names = [f"haddock_{run}m0", f"zdock_{run}m0"]
    keys = [(decoy.target, decoy.name) for decoy in result.of("good").decoys]
    assert keys == [(target, name) for target in ("1EMV", "1PPE") for name in names]


def test_models_in_folders_of_their_programs_are_of_the_targets_that_labels_name():
    Path("decoys/A/d2.cif.gz").unlink()
    Path("decoys/A/zdock").mkdir()
    Path("decoys/A/d1.pdb").rename("decoys/A/zdock/d1.pdb")
    table = labelled("good", "A,zdock_d1,0.9,train", "B,d1,0.5,val")
    assert check(table).problems_of["training"] == []
    table = labelled("good", "zdock,d1,0.9,train", "B,d1,0.5,val")
    assert check(table).problems_of["training"] == []


def test_given_labels_are_used_before_natives():
    result = with_natives("A.pdb", labels="labels.csv")
    assert result.datasets["good"].summary.endswith("4 labels, 1 of them without model")
    result.write(result.datasets)
    assert len(read_split_labels(Path("results/good/labels.csv"))) == 4


def test_targets_without_native_and_natives_without_target_are_told():
    result = with_natives("A.pdb", "C.pdb")
    assert "targets without native: 1 of 2, such as B" in result.datasets["good"].notes
    assert "C.pdb belongs to no target" in result.datasets["good"].notes
    assert "only one target" in result.problems_of["training"][0]


@pytest.mark.parametrize(("names", "message"), messages("names_of_chains"))
def test_a_folder_of_natives_that_cannot_serve_is_a_problem(names, message):
    (problem,) = with_natives(*names).problems
    assert message in problem
