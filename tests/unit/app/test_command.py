"""`toporank score` and its like, but for the run itself, which test_documented_commands.py does."""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from archived import archived
from conftest import REPOSITORY
from given_models import look_at
from messages import messages
from processes import copy_compiled
from structures_text import Atom, alanine, mmcif, pair, pdb, put, shifted
from toporank.__main__ import main
from toporank.app.commands import doctor, score, train_and_label
from toporank.app.commands.running import (
    SETTINGS,
    is_dry_run,
    lock_folder,
    out_folder,
    running_arguments,
    snakemake_arguments,
)
from toporank.app.config import load_config
from toporank.app.request import name_of
from toporank.building.label_tables import write_tables
from toporank.building.native_labels import LabelledDecoy
from toporank.errors import ConfigError
from toporank.layout import repository

# ---- what was given ------------------------------------------------------------------------------

SERVER = {
    "fold_x_model_0.cif": "data_a", "fold_x_model_1.cif": "data_b", "fold_x_summary_confidences_0.json": "{}",
    "templates/fold_x_template_hit_0_chains_a.cif": "data_c",
}  # fmt: skip
"""A job of the AlphaFold Server."""


def test_the_zip_of_a_server_is_unpacked_into_out_and_recognised(tmp_path):
    given = look_at(archived(tmp_path / "fold_x.zip", SERVER), tmp_path / "out")
    assert given.name == "fold_x"
    assert given.folder == tmp_path / "out/input/fold_x"
    first, templates = given.said.splitlines()
    assert first == f"AlphaFold Server: 2 models of 1 target in {given.folder}"
    assert templates.startswith("  1 file is not read, such as templates/")
    assert (given.folder / "fold_x_summary_confidences_0.json").read_text() == "{}"


MULTIMER = "model_{}_multimer_v3_pred_0"


def apart(x: float) -> list[Atom]:
    """Two alanines, so many Å apart."""
    return alanine("A", 1, 0.0) + alanine("B", 1, x)


@pytest.mark.parametrize(
    ("relaxed", "others", "line"),
    [
        ((), (), "5 models of 1 target and 5 copies of them"),
        (
            (1,),
            (),
            "6 models of 1 target (1 of them relaxed from another) and 6 copies of them",
        ),
        (
            (),
            (f"unrelaxed_{MULTIMER.format(2)}_recycle_1.pdb",),
            "5 models of 1 target, 5 copies of them and 1 intermediate state that",
        ),
    ],
    ids=["unrelaxed", "the best relaxed", "with a recycle"],
)
def test_five_models_as_alphafold_writes_them_are_five(tmp_path, relaxed, others, line):
    """Each `ranked_` file is a copy of a relaxed or unrelaxed one."""
    folder = tmp_path / "models/T"
    folder.mkdir(parents=True)
    for n in range(1, 6):
        of_predictor = pdb(apart(6.0 + n))
        (folder / f"unrelaxed_{MULTIMER.format(n)}.pdb").write_text(of_predictor)
        if n in relaxed:
            of_predictor = pdb(apart(6.05 + n))
            (folder / f"relaxed_{MULTIMER.format(n)}.pdb").write_text(of_predictor)
            (folder / f"ranked_{n - 1}.cif").write_text(mmcif(apart(6.05 + n)))
        (folder / f"ranked_{n - 1}.pdb").write_text(of_predictor)
    for name in others:
        (folder / name).write_text(pdb(shifted(pair(), 50.0)))
    assert (
        f": {line}"
        in look_at(tmp_path / "models", tmp_path / "out").said.splitlines()[0]
    )


@pytest.mark.parametrize("name", ["...zip", "..zip", "..tar", "....tgz"])
def test_the_name_of_an_archive_leads_nowhere_else_and_nothing_of_out_is_deleted(
    tmp_path, name
):
    kept = tmp_path / "out" / "results" / "models.csv"
    kept.parent.mkdir(parents=True)
    kept.write_text("all the work")
    given = look_at(
        archived(tmp_path / name, {"a.pdb": "x"}),
        tmp_path / "out",
    )
    assert given.folder == tmp_path / "out" / "input" / "archive"
    assert kept.read_text() == "all the work"


def test_a_single_file_is_linked(tmp_path):
    (tmp_path / "model.cif.gz").touch()
    given = look_at(tmp_path / "model.cif.gz", tmp_path / "out")
    assert given.said.startswith("Plain structure files: 1 model of 1 target in ")
    assert (given.folder / "model.cif.gz").resolve() == tmp_path / "model.cif.gz"
    (tmp_path / "model.cif").touch()
    assert [
        path.name
        for path in look_at(tmp_path / "model.cif", tmp_path / "out").folder.iterdir()
    ] == ["model.cif"]


def test_the_results_of_another_folder_of_the_same_name_stay(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    for folder in ("a/models", "b/models"):
        Path(folder).mkdir(parents=True)
    assert score.out_of(Path("a/models")) == Path("toporank_models")
    Path("toporank_models/.toporank").mkdir(parents=True)
    settings = Path("toporank_models", SETTINGS)
    settings.write_text(
        json.dumps({"score_decoys": str(tmp_path / "a/models/1_rigidbody")})
    )
    assert score.out_of(Path("a/models")) == Path("toporank_models")
    assert capsys.readouterr().out == ""
    assert score.out_of(Path("b/models")) == Path("toporank_models_2")
    assert "has the results of another folder of this name" in capsys.readouterr().out
    settings.write_text(
        json.dumps({"score_decoys": str(tmp_path / "toporank_models/input/models")})
    )
    assert score.out_of(Path("b/models")) == Path("toporank_models_2")


@pytest.mark.parametrize("name", ["model.pdb", "model.zip"])
def test_a_file_of_the_same_name_from_elsewhere_does_not_take_the_place_of_the_first(
    tmp_path, name
):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        archived(tmp_path / folder / name, {"model.pdb": folder})
    given = look_at(tmp_path / "a" / name, tmp_path / "out")
    before = (given.folder / "model.pdb").read_bytes()
    with pytest.raises(
        ConfigError,
        match=rf"of .*a/{name}, not of .*b/{name} \(choose another folder with -o",
    ):
        look_at(tmp_path / "b" / name, tmp_path / "out")
    assert (given.folder / "model.pdb").read_bytes() == before


@pytest.mark.parametrize(("name", "what_to_do"), messages("files_to_score"))
def test_any_other_file_is_refused_with_what_to_give_and_nothing_is_written(
    tmp_path, name, what_to_do
):
    (tmp_path / name).touch()
    with pytest.raises(ConfigError, match=what_to_do):
        look_at(tmp_path / name, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_of_several_files_the_command_says_what_to_give():
    with pytest.raises(SystemExit, match="give the one folder in which they lie"):
        main(["score", "a.pdb", "b.pdb"])


@pytest.mark.parametrize(
    "name", ["my run", "Größe", "final", "-x", "...", "解析", "1AVZ"]
)
def test_any_folder_has_a_name_that_the_configuration_takes(tmp_path, name):
    (tmp_path / name).mkdir()
    chosen = name_of(tmp_path / name)
    assert (
        load_config({"score_decoys": str(tmp_path), "score_name": chosen})
        .datasets[0]
        .name
        == chosen
    )


A_CONFIG = str(REPOSITORY / "config/config.yaml")


@pytest.mark.parametrize(
    "arguments",
    [
        ["score", "nowhere"],
        ["train", "nowhere.yaml"],
        ["label", "."],
        ["train", "."],
        ["label", A_CONFIG, "--natives", "."],
        ["label", A_CONFIG, "--partners", "A:B"],
    ],
)
def test_what_cannot_be_done_is_one_line_without_a_run(
    tmp_path, monkeypatch, arguments
):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert len(str(caught.value.code).splitlines()) == 1
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize(
    "arguments",
    [
        "score loop", "score bytes", "score empty", "score m -o loop", "score m -o loop/x", "score m -o bytes/x",
        "score m --scorer loop", "score m --partners A:", "train bytes", "label bytes", "label m --natives loop",
        "compare loop m", "compare m empty", "figure loop", "figure m", "figure bytes",
    ],
)  # fmt: skip
def test_no_command_ends_in_a_traceback_whatever_a_path_leads_to(
    tmp_path, monkeypatch, arguments
):
    """A link that leads to itself, bytes, an empty folder; beside models and archives, too."""
    monkeypatch.chdir(tmp_path)
    put(tmp_path, {"bytes": b"\xff\x00", "m/m.pdb": pdb(pair()), "m/n.zip": b""})
    (tmp_path / "empty").mkdir()
    for link in ("loop", "m/x.pdb", "m/y.zip"):
        (tmp_path / link).symlink_to(Path(link).name)
    with pytest.raises(SystemExit) as caught:
        main(arguments.split())
    assert len(str(caught.value.code).splitlines()) == 1


# ---- running -------------------------------------------------------------------------------------


def arguments(*words: str) -> list[str]:
    args = running_arguments().parse_args(words)
    return snakemake_arguments("score", Path("/s/toporank.json"), Path("/out"), args)


def test_the_workflow_is_that_of_the_repository_with_the_cores_and_arguments_that_were_given():
    given = arguments(
        "--cores", "3", "--snakemake-args", "-n", "--config", "rank_by=min_interface"
    )
    assert given[given.index("--snakefile") + 1] == str(repository() / "Snakefile")
    assert given[given.index("--cores") + 1] == "3"
    assert given[-3:] == ["-n", "--config", "rank_by=min_interface"]
    assert given.index("score") < given.index("--configfile")


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (
            "-n -np -nq -pn --dry-run --dryrun --touch -t --rulegraph --dag=dot --filegraph -S -D "
            "-l --list-rules",
            True,
        ),
        (
            "--list-changes --list-untracked --unlock --lint --cleanup-metadata "
            "--delete-all-output --report",
            True,
        ),
        (
            "-p -k -F -q -j4 -T2 --cores=4 --nolock --notemp --keep-incomplete --report-after-run "
            "--config a=-n",
            False,
        ),
    ],
)
def test_what_snakemake_only_shows_is_no_run(given, shown):
    assert {
        argument: is_dry_run([argument]) for argument in given.split()
    } == dict.fromkeys(given.split(), shown)


def test_locks_end_with_their_process_so_that_snakemakes_own_is_left_out_but_where_jobs_run_elsewhere():
    assert "--nolock" in arguments()
    assert "--nolock" not in arguments("--slurm")
    assert "--nolock" not in arguments("--snakemake-args", "--unlock")


def test_a_folder_that_cannot_be_written_is_refused(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match=r"cannot be written.*-o"):
        out_folder(tmp_path / "file/out")


@pytest.fixture
def decoys(tmp_path) -> Path:
    """Of one target, two models with chains A and B."""
    (tmp_path / "decoys" / "1AVZ").mkdir(parents=True)
    for name in ("near1.pdb.gz", "far1.pdb"):
        (tmp_path / "decoys" / "1AVZ" / name).symlink_to(
            REPOSITORY / "resources/example/decoys/1AVZ" / name
        )
    return tmp_path / "decoys"


@pytest.fixture
def good_run(tmp_path) -> Path:
    """A folder with the files of an earlier run."""
    names = (
        "toporank.json",
        "run.log",
        "results/scores/decoys/models.csv",
        "input/a.pdb",
    )
    return put(tmp_path / "out", dict.fromkeys(names, "of the first run"))


def contents(folder: Path) -> dict[str, bytes]:
    """What lies in a folder, but for what only programs read."""
    files = (
        path
        for path in folder.rglob("*")
        if path.is_file() and ".toporank" not in path.parts
    )
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def refused(*arguments: object) -> str:
    """What a command says that starts no run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(score, "run_snakemake", None)
        patch.setattr(train_and_label, "run_snakemake", None)
        with pytest.raises(SystemExit) as caught:
            main([str(argument) for argument in arguments])
    assert len(str(caught.value.code).splitlines()) == 1
    return str(caught.value.code)


HOLD = """
import pathlib, sys
from toporank.app.commands.running import lock_folder
lock_folder(pathlib.Path(sys.argv[1]))
print(flush=True)
input()
"""


def test_a_second_run_is_refused_before_it_changes_anything_until_the_first_ends(
    tmp_path, decoys, good_run
):
    before = contents(good_run)
    archive = archived(tmp_path / "a.zip", {"T/a.pdb": "x"})
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(good_run)], **pipes
    ) as first:
        first.stdout.readline()
        for given in (decoys, archive, decoys / "1AVZ" / "far1.pdb"):
            assert "another run is working on this folder (wait for its end" in refused(
                "score", given, "-o", good_run
            )
        assert "another run" in refused(
            "label", decoys, "--natives", decoys, "-o", good_run
        )
        assert contents(good_run) == before
        first.kill()
    lock_folder(good_run)


@pytest.mark.parametrize("partners", ["A:Z", "a:b", "A:B+C", "table.csv"])
@pytest.mark.parametrize("natives", [[], ["--natives", "natives"]])
def test_partners_that_nothing_has_are_refused_before_a_good_run_is_replaced(
    tmp_path, monkeypatch, decoys, good_run, partners, natives
):
    monkeypatch.chdir(tmp_path)
    Path("natives").mkdir()
    shutil.copy(next(decoys.glob("1AVZ/*.pdb")), "natives/1AVZ.pdb")
    Path("table.csv").write_text("target,partners\n1AVZ,A:Y\n")
    before = contents(good_run)
    command = "label" if natives else "score"
    said = refused(command, decoys, "-o", good_run, "--partners", partners, *natives)
    assert re.search(
        f"no {'native' if natives else 'model'}( of 1AVZ)? has the chains", said
    )
    assert ".pdb" in said
    assert "has A, B" in said
    assert contents(good_run) == before


def test_partners_that_a_model_has_are_taken_and_a_table_may_have_targets_that_are_not_there(
    decoys, tmp_path
):
    table = tmp_path / "table.csv"
    table.write_text("target,partners\n1AVZ,A:B\n9XYZ,H+L:A\n")
    for partners in ("A:B", "B:A", "chains", None, str(table)):
        look_at(decoys, tmp_path / "out", partners)


def test_letters_that_are_chains_are_to_be_joined_by_a_plus(decoys, tmp_path):
    with pytest.raises(
        ConfigError, match=r"join chains by \+, such as A\+B:C\. Nothing was changed"
    ):
        look_at(decoys, tmp_path / "out", "AB:C")


# ---- in a wheel ----------------------------------------------------------------------------------


def test_a_wheel_has_the_whole_workflow_and_finds_it(tmp_path):
    pytest.importorskip("setuptools")
    build = [
        "setup.py",
        "-q",
        "egg_info",
        "--egg-base",
        str(tmp_path),
        "build_py",
        "--build-lib",
        str(tmp_path / "lib"),
    ]
    subprocess.run(
        [sys.executable, *build], cwd=REPOSITORY, check=True, capture_output=True
    )
    found = [
        sys.executable,
        "-c",
        "from toporank.layout import repository; print(repository())",
    ]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "lib")}
    answer = subprocess.run(
        found, cwd=tmp_path, check=True, capture_output=True, text=True, env=environment
    )
    inside = tmp_path / "lib/toporank/repository"
    assert answer.stdout.strip() == str(inside)
    used = {
        *re.findall(r'include: "(.+)"', (REPOSITORY / "Snakefile").read_text()),
        "Snakefile",
        "slurm/config.yaml",
    }
    used |= {
        f"workflow_scripts/{path.name}"
        for path in (REPOSITORY / "workflow_scripts").glob("*.*")
    }
    used |= {
        f"envs/{name}"
        for path in REPOSITORY.glob("rules/*.smk")
        for name in re.findall(r"envs/(.+)\"", path.read_text())
    }
    used |= {
        "config/config.yaml",
        "profiles/default/config.yaml",
        "resources/example/labels.csv",
    }
    used |= {
        str(path.relative_to(REPOSITORY))
        for path in REPOSITORY.glob("resources/scorer/**/*.*")
    }
    assert {name for name in used if not (inside / name).is_file()} == set()
    assert os.access(inside / "workflow_scripts/scheduler.sh", os.X_OK)
    library = [
        path
        for package in REPOSITORY.glob("lib/toporank*")
        for path in package.rglob("*")
        if "__pycache__" not in path.parts and package.suffix != ".egg-info"
    ]
    files = [path.relative_to(REPOSITORY / "lib") for path in library if path.is_file()]
    assert [file for file in files if not (tmp_path / "lib" / file).is_file()] == []


@pytest.mark.slow
def test_a_wheel_scores_in_an_empty_folder(tmp_path):
    """With the packages of this environment and what numba compiled of the same code."""
    build = [
        *("setup.py", "-q", "egg_info", "--egg-base", tmp_path),
        *("build", "--build-base", tmp_path / "build"),
        *("bdist_wheel", "--bdist-dir", tmp_path / "wheel", "--dist-dir", tmp_path),
    ]
    subprocess.run([sys.executable, *build], cwd=REPOSITORY, check=True)
    venv.create(tmp_path / "venv")
    (site,) = (tmp_path / "venv").glob("lib/python*/site-packages")
    shared = [path for path in sys.path if path.endswith("site-packages")]
    (site / "shared.pth").write_text("\n".join(shared))
    (wheel,) = tmp_path.glob("*.whl")
    shutil.unpack_archive(wheel, site, "zip")
    copy_compiled(site)
    shutil.copytree(REPOSITORY / "resources/example/binder", tmp_path / "models")
    folder = tmp_path / "empty"
    folder.mkdir()
    command = [tmp_path / "venv/bin/python", "-m", "toporank", "score", "../models"]
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    answer = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True
    )
    assert answer.returncode == 0, answer.stderr
    readme = (REPOSITORY / "README.md").read_text().splitlines()
    (shown,) = (line for line in readme if line.startswith("pdl1_binder: DockQ"))
    assert shown in answer.stdout
    assert (folder / "toporank_models/results/scores/models/report.html").is_file()


# ---- doctor --------------------------------------------------------------------------------------


def examined(capsys, *checks) -> tuple[int, str]:
    doctor.CHECKS, before = checks, doctor.CHECKS
    try:
        return doctor.examine(argparse.Namespace()), capsys.readouterr().out
    finally:
        doctor.CHECKS = before


def test_this_installation_is_whole(capsys):
    code, said = examined(
        capsys,
        doctor._python,
        doctor._packages,
        doctor._workflow,
        doctor._places,
        doctor._optional,
    )
    assert code == 0, said
    assert said.endswith("Everything that is needed is there.\n")


def test_a_package_that_is_missing_or_too_old_is_named_with_the_remedy(
    capsys, monkeypatch
):
    monkeypatch.setattr(
        doctor,
        "_required",
        lambda: ["numpy>=999", "no-such-package-zz>=1", "pandas>=2.2"],
    )
    code, said = examined(capsys, doctor._packages)
    assert code == 1
    assert "pip install 'numpy>=999'" in said
    assert "package no-such-package-zz>=1" in said
    assert "1 of 3 packages in the versions that are needed" in said


def test_a_scorer_that_was_changed_is_not_whole(monkeypatch, tmp_path):
    whole = repository() / "resources/scorer"
    for path in whole.rglob("*"):
        if path.is_file():
            (tmp_path / "resources/scorer" / path.relative_to(whole)).parent.mkdir(
                parents=True, exist_ok=True
            )
            (tmp_path / "resources/scorer" / path.relative_to(whole)).symlink_to(path)
    monkeypatch.setattr(doctor, "repository", lambda: tmp_path)
    assert [finding.state for finding in doctor._scorer()] == [doctor.OK]
    (tmp_path / "resources/scorer/judge.json").unlink()
    (tmp_path / "resources/scorer/judge.json").write_text("others")
    (finding,) = doctor._scorer()
    assert finding.state == doctor.MISSING
    assert "restore the folder" in finding.what


# ---- what label says -----------------------------------------------------------------------------


def labelled_before(out: Path, name: str, target: str, status: str) -> None:
    """What an earlier run wrote of a data set with one decoy."""
    folder = out / "results" / name
    folder.mkdir(parents=True)
    row = LabelledDecoy(
        target, "m", "", 0.5 if status == "ok" else None, "", status, "", []
    )
    write_tables([row], folder / "dockq.csv", folder / "labels_interfaces.csv")


def test_label_speaks_of_the_data_sets_of_its_configuration_alone(tmp_path):
    for name in ("old", "new"):
        labelled_before(tmp_path, name, "1ABC", "ok")
    config = tmp_path / "b.yaml"
    config.write_text("datasets: [{name: new, decoys: decoys, natives: natives}]")
    assert train_and_label.labelled(tmp_path, train_and_label.data_sets(config)) == [
        "new: 1 model = 1 ok"
    ]


def test_label_names_natives_that_belong_to_no_target_where_a_target_has_none(tmp_path):
    labelled_before(tmp_path, "new", "1ABC", "no_native")
    (tmp_path / "natives").mkdir()
    (tmp_path / "natives/my_1abc.pdb").write_text("")
    config = tmp_path / "b.yaml"
    config.write_text("datasets: [{name: new, decoys: decoys, natives: natives}]")
    lines = train_and_label.labelled(tmp_path, train_and_label.data_sets(config))
    assert "new: my_1abc.pdb belongs to no target, did you mean 1ABC?" in lines
