"""Every command of the documentation works, as it is written, in a fresh clone.

The clone is installed as the README says, the compiling included, and its example built. `HOW` says
what is done with each command; one that no row of it knows fails. Whatever can be run in seconds is
run. Snakemake commands that would take long run with `-n` behind them; of the few others that would
change the machine or take hours, the parts are checked.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
import yaml
from _documented import Command, commands
from _forked import snakemake
from filelock import FileLock

from conftest import REPOSITORY, made_once
from published_checkpoint import published_state, write_published_checkpoint
from scored_folders import write_answer
from shown_scores import BLOCK, FOLDER, as_shown

pytestmark = pytest.mark.slow

COMMANDS = commands(REPOSITORY)
CONDA = """#!/bin/sh
case "$*" in
    "info --json") echo '{"conda_prefix": "/opt/conda", "platform": "linux-64"}' ;;
    --version) echo conda 25.3.0 ;;
    *) echo '{"get": {"channel_priority": "strict"}}' ;;
esac
"""
"""Says of itself what Snakemake asks before a dry run."""
COMPILE = "python -m toporank compile"
PLACEHOLDERS = {"<dataset>": "example", "<target>": "1AVZ", "<decoy>": "near1"}


def environment_of(clone: Path) -> dict[str, str]:
    """That of a user who has typed `source .venv/bin/activate`."""
    path = os.pathsep.join(
        [str(clone / ".venv/bin"), str(clone.parent / "bin"), os.environ["PATH"]]
    )
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(clone / "lib")}
    environment.pop("NUMBA_CACHE_DIR", None)
    return environment


def run(text: str, clone: Path) -> str:
    """Run a command as a user would; what it printed."""
    done = subprocess.run(
        ["bash", "-c", text], cwd=clone, env=environment_of(clone), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{text}\n{done.stdout}"
    return done.stdout


# ---- what is done with a command -----------------------------------------------------------------


def as_it_is(text: str, clone: Path) -> None:
    """One at a time, since the commands share a folder."""
    with FileLock(clone.parent / "running.lock"):
        run(text, clone)


def dry(text: str, clone: Path) -> str:
    """With -n, which does not notice that --cores is missing; what it printed. A shell splits it
    into words.
    """
    assert re.search(r" (--cores \d|--profile )", text), "neither --cores nor a profile that has it"
    words = run(f"snakemake() {{ printf '%s\\0' \"$@\"; }}; {text} -n --quiet rules", clone).split(
        "\0"
    )[:-1]
    done = snakemake(words, clone, environment_of(clone), 600)
    assert done.returncode == 0, f"{text}\n{done.stdout}"
    return done.stdout


def shown(text: str, clone: Path) -> None:
    """make says what it would do, and the scripts in it exist. They are run by other tests, or take
    long.
    """
    would = run(f"{text} -n", clone)
    assert would.strip()
    for script in re.findall(
        r"(?<!\S)(?!FOLDER/)\S+\.py\b", would
    ):  # what a user's folder has is not here
        assert (clone / script).is_file(), script


def script_and_options(text: str, clone: Path) -> None:
    """A script that takes minutes to hours: it exists and has the options."""
    words = [word for word in shlex.split(text) if "=" not in word]
    script = (clone / words[1]).read_text()
    for option in (word for word in words if word.startswith("--")):
        assert f'"{option}"' in script, option


def installed_already(text: str, clone: Path) -> None:
    """Everything that would be installed is what the tests run with."""
    lines = (clone / text.split(" -r ")[1].split()[0]).read_text().splitlines()
    assert "-c constraints.txt" in lines or "-r requirements.txt" in lines
    for line in [*lines, *(clone / "constraints.txt").read_text().splitlines()]:
        name, _, version = line.partition("==")
        if version:
            assert importlib.metadata.version(name).partition("+")[0] == version, name


def compiled_already(text: str, clone: Path) -> None:
    """The clone was compiled with it when it was made."""
    assert text.removeprefix(".venv/bin/") == COMPILE
    assert (clone.parent / "compiling.txt").read_text()


def as_in_ci(text: str, clone: Path) -> None:
    """It installs what continuous integration installs."""
    assert text.removeprefix("pip install ") in (clone / ".ci/run").read_text()


def same_packages_as_ci(text: str, clone: Path) -> None:
    """It needs root and changes the machine; continuous integration installs the same."""
    (packages,) = re.findall(r"packages=\((.*)\)", (clone / ".ci/run").read_text())
    assert text.endswith(f" {packages}")


def makes_the_example(text: str, clone: Path) -> None:
    """It takes a network and another Python environment; what can be is checked: the script and its
    tarball.
    """
    assert "example-env" in text
    script = re.search(r"\S+make_example\.py", text)
    assert script is None or (clone / script[0]).is_file()


def known_to_python(text: str, clone: Path) -> None:
    """It would replace the environment that the tests run with."""
    run(text.replace("-m venv .venv", "-m venv --help"), clone)


def as_a_module(text: str) -> str:
    """The command of this clone, not one that is installed."""
    return f"python -m {text}"


def command_itself(text: str, clone: Path) -> None:
    as_it_is(as_a_module(text), clone)


def command_without_jobs(text: str, clone: Path) -> None:
    """With -n for Snakemake; of the example nothing has natives."""
    as_it_is(
        as_a_module(text) + (" -n" if "--snakemake-args" in text else " --snakemake-args -n"), clone
    )


def with_the_networks_alone(text: str, clone: Path) -> None:
    """With those of the example's sweep; test_make_scorer.py scores with a complete scorer."""
    assert text.endswith(" --scorer results/scorer")
    of_sweep = text.replace("results/scorer", "results/final")
    run(as_a_module(f"{of_sweep} -o {clone.parent / 'scored_by_networks'}"), clone)


def of_small_answers(text: str, clone: Path) -> None:
    """The folders that it names were scored, as far as tables say."""
    runs = text.partition(" --")[0].split()[2:]
    for number, run_ in enumerate(runs):
        names = ["both"] if " compare " in text else [f"target{number}"]
        write_answer(
            clone / run_, {target: {"m": 0.5 + number / 10} for target in names}, name=run_
        )
    as_it_is(as_a_module(text), clone)


def on_the_path(text: str, clone: Path) -> None:
    """It would replace the environment that the tests run with; what it makes of the clone is
    there.
    """
    project = tomllib.loads((clone / "pyproject.toml").read_text())["project"]
    module, _, function = project["scripts"]["toporank"].partition(":")
    assert callable(getattr(importlib.import_module(module), function))
    assert text.endswith(" install .")


def scored_as_it_ships(text: str, clone: Path) -> None:
    """The judge has the last word, what the networks said stands beside it, and every score has an
    interval, every residue a quality, which the structure files of the first show.

    A person reads what README.md shows, all that is written is in one folder, and a second run
    gives the same answer.
    """
    before = {path.name for path in clone.iterdir()}
    out = as_shown(run(as_a_module(text), clone), clone)
    assert [out] == BLOCK.findall((REPOSITORY / "README.md").read_text())
    named = {
        name: clone / path
        for name, path in re.findall(r"^(page|models|log): +(.+)$", out, re.MULTILINE)
    }
    assert len(named) == 2
    assert all(path.is_file() for path in named.values())
    assert {path.name for path in clone.iterdir()} - before == {"toporank_colabfold"}
    assert as_shown(run(as_a_module(text), clone), clone) == out
    beside = named["models"].parent
    ranking = pd.read_csv(named["models"]).query("dockq.notna()")
    ranking = ranking.merge(pd.read_csv(beside / "details.csv"), on=["target", "decoy"])
    assert len(ranking) > 1
    assert ranking["network"].between(0, 1).all()
    assert ranking["dockq_low"].lt(ranking["dockq_high"]).all()
    assert ranking["dockq"].between(ranking["dockq_low"], ranking["dockq_high"]).all()
    residues = pd.read_csv(beside / "residues.csv").groupby(["target", "decoy"]).size()
    assert (
        residues.to_dict()
        == ranking.set_index(["target", "decoy"])["n_interface_residues"].to_dict()
    )
    contacts = pd.read_csv(beside / "contacts.csv")
    assert {*contacts["decoy"]} == {*ranking["decoy"]}
    assert contacts["distance"].between(1, 5).all()
    assert contacts[["pred_quality", "pred_network", "agreement"]].stack().between(0, 1).all()
    first = [row for row in ranking.itertuples() if row.rank <= 3]
    assert all((beside / f"models/{r.target}/{r.rank}_{r.decoy}.cif").is_file() for r in first)


def draws(text: str, clone: Path) -> None:
    """Of what was scored in a folder of its own, so that no other command sees it."""
    scored = clone.parent / "scored_for_figures"
    with FileLock(clone.parent / "figures.lock"):
        if not scored.exists():
            run(as_a_module(f"toporank score FOLDER -o {scored}"), clone)
    pictures = clone.parent / "pictures"
    program, command, _, *words = text.replace("-o slides", "").split()
    out = run(
        as_a_module(" ".join([program, command, str(scored), *words, "-o", str(pictures)])), clone
    )
    assert all(Path(line).is_file() for line in out.splitlines() if not line.startswith("no pae: "))


def needs_natives(text: str, clone: Path) -> None:
    """The example has none, and the command says so; test_labels_from_natives.py runs it."""
    assert "no data set has natives" in dry(text, clone)


def is_named(text: str, clone: Path) -> None:
    """No channel of conda is at hand; test_environments.py compares the packages with those of
    pip.
    """
    environment = yaml.safe_load((clone / "environment.yaml").read_text())
    assert text.split()[-1] in ("environment.yaml", environment["name"])


def from_here(text: str, clone: Path) -> None:
    """It needs a daemon and a base image, so nobody builds it here."""
    assert (clone / "Dockerfile").is_file()
    assert "toporank" in text


def scores_in_the_image(text: str, clone: Path) -> None:
    """What is run inside is a command that works here."""
    inside = text[text.index("snakemake ") :]
    dry(inside.replace("/data", str(clone)), clone)


def is_in_the_manual(text: str, clone: Path) -> None:
    """test_plugins.py builds that package from the manual."""
    assert f'name = "{text.split()[-1]}"' in (clone / "docs/extending.md").read_text()


def where_a_folder_is_shared(text: str, clone: Path) -> None:
    """With the folder that jobs share in another place."""
    dry(text.replace("/data/", f"{clone.parent}/data/"), clone)


def with_a_plug_in(text: str, clone: Path) -> None:
    """Where the plug-in is installed; the profile is there anyway."""
    name = re.search(r"profiles/(\w+)", text)[1]
    assert (clone / f"profiles/{name}/config.yaml").is_file()
    if importlib.util.find_spec(f"snakemake_executor_plugin_{name}"):
        dry(text, clone)


def plug_in_of_snakemake(text: str, clone: Path) -> None:
    """Few need it, and the tests run without; it has a version, and a profile that is for it."""
    name = re.fullmatch(r"pip install snakemake-executor-plugin-(\w+)==[\d.]+", text)[1]
    assert f"executor: {name}\n" in (clone / f"profiles/{name}/config.yaml").read_text()


def read_by_the_scheduler(text: str, clone: Path) -> None:
    """The script that submits knows the variables."""
    script = (clone / "workflow_scripts/scheduler.sh").read_text()
    assert all(f"${{{word.partition('=')[0]}:?" in script for word in text.split()[1:])


How = Callable[[str, Path], None]
HOW: dict[str, How] = {
    r"make (demo|help)": as_it_is,
    r"make [a-z-]+( [A-Z]+=\S+)*": shown,
    r"snakemake (-n|--unlock)( .*)?": as_it_is,
    r"(\.venv/bin/)?snakemake --cores \d all": as_it_is,
    r"snakemake --cores \d (coverage|results/\S+)": as_it_is,
    rf"toporank score {FOLDER}": scored_as_it_ships,
    r"toporank figure .*": draws,
    r"toporank (doctor|score FOLDER( --snakemake-args --unlock)?)": command_itself,
    r"toporank score FOLDER --scorer results/\S+": with_the_networks_alone,
    r"toporank (score|train|label) .*": command_without_jobs,
    r"toporank compare .*": of_small_answers,
    r"pipx install \.": on_the_path,
    r"snakemake --cores \d label_decoys": needs_natives,
    r"snakemake --profile profiles/(kubernetes|aws) --directory /data/run all": where_a_folder_is_shared,
    r"snakemake --profile profiles/htcondor all": with_a_plug_in,
    r"snakemake .*": dry,
    r"pip install snakemake-executor-plugin-.*": plug_in_of_snakemake,
    r"export TOPORANK_.*": read_by_the_scheduler,
    r"(\.venv/bin/)?python -m toporank compile": compiled_already,
    r"(\.venv/bin/)?python -m toporank .*": as_it_is,
    r"python -c .*": as_it_is,
    r"source \.venv/bin/activate": as_it_is,
    r"conda (env create -f environment\.yaml|activate toporank)": is_named,
    r"(docker|apptainer) build .*": from_here,
    r"(docker run|apptainer exec) .*": scores_in_the_image,
    r"\.venv/bin/pip install -e toporank-hydropathy": is_in_the_manual,
    r"cp .*": as_it_is,
    r"python3 -m venv \.venv": known_to_python,
    r"(PYTHONPATH=\S+ )?python benchmarks/.*": script_and_options,
    r"pip install --no-deps teddympnn==\S+": as_in_ci,
    r"\.venv/bin/(python -m )?pip install( --no-compile)? -r \S+( --extra-index-url \S+/whl/cpu)?": installed_already,
    r"apt-get install .*slurm.*": same_packages_as_ci,
    r"(python3\.11 -m venv )?example-env.*": makes_the_example,
}
"""Pattern of a command → what is done with it; the first that matches counts."""


# ---- the clone -----------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone, installed and with the example built; what a user puts there is there. One for all
    workers.
    """

    def make(folder: Path) -> None:
        clone = folder / "clone"
        copy_tracked_files(clone)
        install(clone)
        (folder / "compiling.txt").write_text(run(COMPILE, clone))
        (folder / "compiled.txt").write_text("\n".join(compiled_files(clone)))
        (folder / "demo.txt").write_text(run("make demo-training", clone))
        provide(clone)

    return made_once(tmp_path_factory, "documented", make) / "clone"


def copy_tracked_files(clone: Path) -> None:
    """What git knows or would know, as it lies here."""
    listed = subprocess.run(
        ["git", "-C", str(REPOSITORY), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if listed.returncode != 0:
        pytest.skip("not a clone")
    for name in filter(None, listed.stdout.split("\0")):
        if (REPOSITORY / name).is_file():
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(REPOSITORY / name, clone / name)


def install(clone: Path) -> None:
    """The virtual environment of the tests as that of the clone, and a conda that is asked for
    nothing.
    """
    (clone / ".venv").mkdir()
    for entry in Path(sys.executable).parents[1].iterdir():
        if entry.name not in ("installed", "installed-dev"):
            (clone / ".venv" / entry.name).symlink_to(entry)
    for mark in ("installed", "installed-dev"):
        (clone / ".venv" / mark).touch()
    conda = clone.parent / "bin/conda"
    conda.parent.mkdir()
    conda.write_text(CONDA)
    conda.chmod(0o755)


def provide(clone: Path) -> None:
    """Decoys, configurations and checkpoints that the commands name."""
    shutil.copytree(clone / "resources/example/decoys/1PPE", clone / "FOLDER/1PPE")
    shutil.copy(clone / "results/final/best.ckpt", clone / "best.ckpt")
    write_published_checkpoint(clone / "topoqa.ckpt", published_state())
    for name in ("my.yaml", "CONFIG"):
        shutil.copy(clone / "config/config.yaml", clone / name)
    shutil.copy(clone / "config/study.yaml", clone / "study.yaml")
    datasets = yaml.safe_load((clone / "config/config.yaml").read_text())["datasets"]
    (clone / "datasets.yaml").write_text(yaml.safe_dump({"datasets": datasets}))
    manual = (clone / "docs/training-your-own.md").read_text()
    (of_graphs,) = (
        block
        for block in re.findall(r"```yaml\n(.*?)```", manual, re.DOTALL)
        if "graphs: graphs" in block
    )
    (clone / "graphs.yaml").write_text(of_graphs)
    (clone / "labels.csv").write_text("Target,Model,DockQ\n1AVZ,model_1,0.5\n")
    for file in ("graphs/1AVZ/model_1.pt", "new_graphs/1GCQ/model_1.pt"):
        (clone / file).parent.mkdir(parents=True)
        (clone / file).touch()  # dry runs do not look into it


def compiled_files(clone: Path) -> list[str]:
    return sorted(str(path.relative_to(clone)) for path in clone.glob("lib/**/toporank-*/**/*.nb?"))


# ---- the tests -----------------------------------------------------------------------------------


DOCUMENT = """
Type `make lint`, or:

    snakemake -n                 # what would be done
    a-program-no-one-knows --with \\
        an-option

with, in the configuration,

    features: {edges: {module: distance}}

```
mini: 13 decoys = 12 ok
```

```sh
one-more
```

`snakemake` alone is no command.
"""


def test_commands_are_found_in_blocks_and_in_the_text_and_configurations_and_output_are_none(
    tmp_path,
):
    (tmp_path / "README.md").write_text(DOCUMENT)
    (tmp_path / "config").mkdir()
    (tmp_path / "config/a.yaml").write_text(
        "# The study. Run\n#   snakemake --cores 2 all\nkey: 1 # make sense\n"
    )
    assert {command.text for command in commands(tmp_path)} == {
        "snakemake -n", "a-program-no-one-knows --with an-option", "one-more", "make lint", "snakemake --cores 2 all",
    }  # fmt: skip


@pytest.mark.parametrize(
    "command", COMMANDS, ids=lambda command: f"{command.document}: {command.text}"
)
def test_a_documented_command_works(command: Command, clone: Path):
    how = next((way for pattern, way in HOW.items() if re.fullmatch(pattern, command.text)), None)
    assert how, "no row of HOW says how to run it"
    text = command.text
    for placeholder, value in PLACEHOLDERS.items():
        text = text.replace(placeholder, value)
    how(text, clone)


def test_every_row_of_the_table_is_used():
    patterns = {
        next((p for p in HOW if re.fullmatch(p, command.text)), None) for command in COMMANDS
    }
    assert set(HOW) - patterns == set()


def test_installing_compiles_everything_and_says_so(clone):
    said = (clone.parent / "compiling.txt").read_text()
    assert said.startswith("Compiling: about 40 s, once.")
    lines = (clone.parent / "compiled.txt").read_text().splitlines()
    packages = {line.partition("/__pycache__")[0].removeprefix("lib/toporank/") for line in lines}
    assert packages == {
        "features/persistence",
        "structures/kabsch_sander",
        "features/kernels",
        "learning/kernels",
    }


def test_after_installing_nothing_is_compiled_any_more(clone):
    """Neither by the example, from decoys to report, nor by anything that was run since."""
    assert compiled_files(clone) == (clone.parent / "compiled.txt").read_text().splitlines()


def test_the_training_of_the_example_says_where_its_results_are(clone):
    said = (clone.parent / "demo.txt").read_text()
    for path in re.findall(r"results/\S+", said.partition("\nRanked models")[2]):
        assert (clone / path).is_file()


def test_the_manual_of_the_configuration_is_as_the_command_writes_it(clone):
    assert (clone / "config/README.md").read_bytes() == (
        REPOSITORY / "config/README.md"
    ).read_bytes()
