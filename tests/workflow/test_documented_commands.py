"""Every command of the documentation works, as it is written, in a fresh clone.

The clone is installed as the README says, and its example built. What installing compiled here is
not compiled again. `HOW` and `WRITTEN` say what is done with each command; one that no row knows
fails. Whatever can be run in seconds is run. Snakemake commands that would take long run with `-n`
behind them; of the few others that would change the machine or take hours, the parts are checked.
"""

from __future__ import annotations

import importlib.metadata
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
import yaml
from _documented import Command, commands
from filelock import FileLock

from conftest import REPOSITORY
from made_once import made_once
from processes import copy_compiled
from published_checkpoint import published_state, write_published_checkpoint
from quick_python import quick_python, quickly
from scored_folders import write_answer
from shown_scores import BLOCK, FOLDER, as_shown

pytestmark = pytest.mark.slow

COMMANDS = commands(REPOSITORY)
INSTALLED = REPOSITORY / ".venv/installed"
"""`make .venv/installed` compiles, then touches this."""
CONDA = """#!/bin/sh
case "$*" in
    "info --json") echo '{"conda_prefix": "/opt/conda", "platform": "linux-64"}' ;;
    --version) echo conda 25.3.0 ;;
    *) echo '{"get": {"channel_priority": "strict"}}' ;;
esac
"""
"""Says of itself what Snakemake asks before a dry run."""
STARTERS = {"python": "", "snakemake": "-m snakemake"}
"""Of the clone's environment: what they give a quick Python, which imports nothing again."""
DECOYS = re.compile(r"((near|mid|far|wrong|apart)1|mid2)\.")
"""Files of the example that the clone keeps."""
COMPILE = "python -m toporank compile"
PLACEHOLDERS = {"<dataset>": "example", "<target>": "1AVZ", "<decoy>": "near1"}


def environment_of(clone: Path) -> dict[str, str]:
    """That of a user who has typed `source .venv/bin/activate`."""
    path = os.pathsep.join(
        [str(clone / ".venv/bin"), str(clone.parent / "bin"), os.environ["PATH"]]
    )
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(clone / "lib")}
    environment["QUICK_PYTHON"] = quick_python()
    environment.pop("NUMBA_CACHE_DIR", None)
    return environment


def run(text: str, clone: Path) -> str:
    """Run a command as a user would; what it printed."""
    if text.startswith("toporank "):  # of this clone, not one that is installed
        text = f"python -m {text}"
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
    assert re.search(r" (--cores \d|--profile )", text), (
        "neither --cores nor a profile that has it"
    )
    printing = "snakemake() { printf '%s\\0' \"$@\"; }"
    words = run(f"{printing}; {text} -n --quiet rules", clone).split("\0")[:-1]
    done = quickly(["-m", "snakemake", *words], clone, **environment_of(clone))
    assert done.returncode == 0, f"{text}\n{done.stdout}"
    return done.stdout


def in_another_place(text: str, clone: Path) -> None:
    """Where the folder that an image or jobs share is another one."""
    inside = text[text.index("snakemake ") :]
    shared = inside.replace("/data/run", f"{clone.parent}/run").replace(
        "/data", str(clone)
    )
    dry(shared, clone)


def shown(text: str, clone: Path) -> None:
    """make says what it would do, and the scripts in it exist. They are run by other tests, or take
    long.
    """
    would = run(f"{text} -n", clone)
    assert would.strip()
    # what a user's folder has is not here
    for script in re.findall(r"(?<!\S)(?!FOLDER/)\S+\.py\b", would):
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


def known_to_python(text: str, clone: Path) -> None:
    """It would replace the environment that the tests run with."""
    run(text.replace("-m venv .venv", "-m venv --help"), clone)


def command_without_jobs(text: str, clone: Path) -> None:
    """With -n for Snakemake; of the example nothing has natives."""
    as_it_is(
        f"{text} -n" if "--snakemake-args" in text else f"{text} --snakemake-args -n",
        clone,
    )


def with_the_networks_alone(text: str, clone: Path) -> None:
    """With those of the example's sweep; test_make_scorer.py scores with a complete scorer."""
    assert text.endswith(" --scorer results/scorer")
    of_sweep = text.replace("results/scorer", "results/final")
    run(f"{of_sweep} -o {clone.parent / 'scored_by_networks'}", clone)


def of_small_answers(text: str, clone: Path) -> None:
    """The folders that it names were scored, as far as tables say."""
    for number, folder in enumerate(text.partition(" --")[0].split()[2:]):
        write_answer(clone / folder, {"both": {"m": 0.5 + number / 10}}, name=folder)
    as_it_is(text, clone)


def scored_as_it_ships(text: str, clone: Path) -> None:
    """README.md shows what a person reads, one folder has all that is written, and a second run
    gives the same answer. Every score has an interval, every residue a quality, and the first
    models a structure file that shows it.
    """
    before = {path.name for path in clone.iterdir()}
    out = as_shown(run(text, clone), clone)
    assert [out] == BLOCK.findall((REPOSITORY / "README.md").read_text())
    named = dict(re.findall(r"^(page|models|log): +(.+)$", out, re.MULTILINE))
    assert len(named) == 2
    assert all((clone / path).is_file() for path in named.values())
    # another process may run another documented command in the same clone
    written = {path.name for path in clone.iterdir()} - before - {"toporank_FOLDER"}
    assert written == {"toporank_binder"}
    assert as_shown(run(text, clone), clone) == out
    tables = (clone / named["models"]).parent
    models = pd.read_csv(tables / "models.csv").query("dockq.notna()")
    models = models.merge(pd.read_csv(tables / "details.csv"), on=["target", "decoy"])
    assert len(models) > 1
    assert models["network"].between(0, 1).all()
    assert models["dockq_low"].lt(models["dockq_high"]).all()
    assert models["dockq"].between(models["dockq_low"], models["dockq_high"]).all()
    residues = pd.read_csv(tables / "residues.csv")["decoy"].value_counts()
    assert (
        residues.to_dict()
        == models.set_index("decoy")["n_interface_residues"].to_dict()
    )
    contacts = pd.read_csv(tables / "contacts.csv")
    assert {*contacts["decoy"]} == {*models["decoy"]}
    # a predictor may put two atoms into one another: .89 Å in one of these models
    assert contacts["distance"].between(0.5, 5).all()
    assert (
        contacts[["pred_quality", "pred_network", "agreement"]]
        .stack()
        .between(0, 1)
        .all()
    )
    for row in models.query("rank <= 3").itertuples():
        assert (tables / f"models/{row.target}/{row.rank}_{row.decoy}.cif").is_file()


def draws(text: str, clone: Path) -> None:
    """Of what was scored in a folder of its own, so that no other command sees it."""
    scored = clone.parent / "scored_for_figures"
    with FileLock(clone.parent / "figures.lock"):
        if not scored.exists():
            run(f"toporank score FOLDER -o {scored}", clone)
    words = text.replace("-o slides", "").replace(" OUT", f" {scored}")
    printed = run(f"{words} -o {clone.parent / 'pictures'}", clone)
    drawn = [line for line in printed.splitlines() if not line.startswith("no pae: ")]
    assert all(Path(line).is_file() for line in drawn)


def from_a_folder_of_ones_own(text: str, clone: Path) -> None:
    """With the example, which lies in the repository, and a profile that is linked as told."""
    own = clone.parent / "own"
    profiles = own / "xdg/snakemake"
    profiles.mkdir(parents=True, exist_ok=True)
    if not (profiles / "slurm").exists():
        (profiles / "slurm").symlink_to(clone / "slurm")
    words = shlex.split(text.replace("CLONE", str(clone)))[1:]
    command = ["-m", "snakemake", *words, "-n"]
    here = {"XDG_CONFIG_HOME": str(own / "xdg")}
    done = quickly(command, own, **environment_of(clone) | here)
    assert done.returncode == 0, done.stdout


def refused_for_lack_of(reason: str) -> Callable[[str, Path], None]:
    """The clone lacks what the command needs, which it says; other tests run it."""

    def refused(text: str, clone: Path) -> None:
        if text.startswith("toporank "):
            words = f"python -m {text} --snakemake-args -n"
        else:
            words = f"{text} -n"
        done = subprocess.run(
            ["bash", "-c", words], cwd=clone, env=environment_of(clone), stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, timeout=600, check=False,
        )  # fmt: skip
        assert done.returncode == 1, done.stdout
        assert reason in done.stdout

    return refused


HOW: dict[str, Callable[[str, Path], object]] = {
    r"make (demo|help)": as_it_is,
    r"make [a-z-]+( [A-Z]+=('[^']*'|\S+))*": shown,
    r"snakemake (-n|--unlock)( .*)?": as_it_is,
    r"(\.venv/bin/)?snakemake --cores \d all": as_it_is,
    r"snakemake --cores \d (coverage|results/\S+)": as_it_is,
    rf"toporank score {FOLDER}": scored_as_it_ships,
    r"toporank figure .*": draws,
    r"toporank (doctor|runs|score FOLDER( --snakemake-args --unlock)?)": as_it_is,
    r"toporank label FOLDER --natives FOLDER": refused_for_lack_of(
        "no target has a native"
    ),
    r"toporank score FOLDER --scorer results/\S+": with_the_networks_alone,
    r"toporank (score|train|label) .*": command_without_jobs,
    r"toporank compare .*": of_small_answers,
    r"snakemake --cores \d label_decoys": refused_for_lack_of(
        "no data set has natives"
    ),
    r"snakemake .* --configfile (config/)?study\.yaml": refused_for_lack_of(
        "dataset study: there is no "
    ),
    r"snakemake .* sample_decoys .*": refused_for_lack_of(
        "sampling.natives: not given"
    ),
    r"snakemake --snakefile CLONE/Snakefile .*": from_a_folder_of_ones_own,
    r"snakemake --profile profiles/(kubernetes|aws) --directory /data/run all": in_another_place,
    r"snakemake .*": dry,
    r"(\.venv/bin/)?python -m toporank compile": compiled_already,
    r"(\.venv/bin/)?python -m toporank .*": as_it_is,
    r"python -c .*": as_it_is,
    r"source \.venv/bin/activate": as_it_is,
    r"(docker run|apptainer exec) .*": in_another_place,
    r"cp .*": as_it_is,
    r"python3 -m venv \.venv": known_to_python,
    r"(PYTHONPATH=\S+ )?python benchmarks/.*": script_and_options,
    r"\.venv/bin/(python -m )?pip install( --no-compile)? -r \S+( --extra-index-url \S+/whl/cpu)?": installed_already,
}
"""Pattern of a command → what is done with it; the first that matches counts."""
WRITTEN = {
    r"git clone ADDRESS (toporank) && cd toporank": "pyproject.toml",
    r"pipx install \.": "pyproject.toml",
    r"conda env create -f environment\.yaml": "environment.yaml",
    r"conda activate (toporank)": "environment.yaml",
    r"(?:docker|apptainer) build .*": "Dockerfile",
    r"\.venv/bin/pip install -e (toporank-hydropathy)": "docs/extending.md",
    r"pip install snakemake-executor-plugin-(\w+)==[\d.]+": "profiles/{}/config.yaml",
    r"export (TOPORANK_\w+)=\S+ (TOPORANK_\w+)=\S+": "workflow_scripts/scheduler.sh",
    r"pip install (--no-deps teddympnn==\S+)": ".ci/run",
    r"apt-get install --no-install-recommends (.*slurm.*)": ".ci/run",
    r"(?:python3\.11 -m venv )?example-env.*": "resources/example/make_example.py",
}
"""Pattern of a command that would change the machine or needs what tests have not → the file that
has its groups.
"""


# ---- the clone -----------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone, installed and with the example built, of few decoys in few epochs of few runs; what
    a user puts there is there. One for all workers.
    """

    def make(folder: Path) -> None:
        clone = folder / "clone"
        copy_tracked_files(clone)
        leave_few_decoys(clone / "resources/example")
        config = clone / "config/config.yaml"
        text = re.sub(r"max_epochs: \d+", "max_epochs: 2", config.read_text())
        config.write_text(re.sub(r"seeds: \[(\d+),.*?\]", r"seeds: [\1]", text))
        install(clone)
        if INSTALLED.exists():
            copy_compiled(clone / "lib", before=INSTALLED.stat().st_mtime)
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


def leave_few_decoys(example: Path) -> None:
    """Building takes a third of a second each."""
    for decoy in example.glob("decoys/*/*"):
        if not DECOYS.match(decoy.name):
            decoy.unlink()
    labels = pd.read_csv(example / "labels.csv", dtype=str)
    kept = (labels["Model"] + ".").str.match(DECOYS)
    labels[kept].to_csv(example / "labels.csv", index=False)


def install(clone: Path) -> None:
    """The virtual environment of the tests as that of the clone, and a conda that is asked for
    nothing.
    """
    programs = clone / ".venv/bin"
    programs.mkdir(parents=True)
    own = Path(sys.executable).parents[1]
    for entry in own.iterdir():
        if entry.name != "bin" and not entry.name.startswith(("installed", "packages")):
            (clone / ".venv" / entry.name).symlink_to(entry)
    for program in (own / "bin").iterdir():
        if program.name not in STARTERS:
            (programs / program.name).symlink_to(program)
    for mark in ("packages", "packages-dev", "installed", "installed-dev"):
        (clone / ".venv" / mark).touch()
    conda = clone.parent / "bin/conda"
    conda.parent.mkdir()
    scripts = {conda: CONDA}
    for name, words in STARTERS.items():
        scripts[programs / name] = f'#!/bin/sh\nexec "$QUICK_PYTHON" {words} "$@"\n'
    for path, script in scripts.items():
        path.write_text(script)
        path.chmod(0o755)


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
    return sorted(
        str(path.relative_to(clone))
        for path in clone.glob("lib/**/toporank-*/**/*.nb?")
    )


# ---- the tests -----------------------------------------------------------------------------------


DOCUMENT = """
Type `make lint`, or:

    snakemake -n                 # what would be done
    a-program-no-one-knows --with \\
        an-option

with, in the configuration,

    features: {edges: {module: distance}}

```
mini: 13 models = 12 ok
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


def pattern_of(command: Command) -> str | None:
    """The first pattern of both tables that the command matches."""
    return next((p for p in (*HOW, *WRITTEN) if re.fullmatch(p, command.text)), None)


@pytest.mark.parametrize(
    "command", COMMANDS, ids=lambda command: f"{command.document}: {command.text}"
)
def test_a_documented_command_works(command: Command, clone: Path):
    pattern = pattern_of(command)
    assert pattern, "no row of HOW or WRITTEN says how to run it"
    text = command.text
    for placeholder, value in PLACEHOLDERS.items():
        text = text.replace(placeholder, value)
    if pattern in HOW:
        HOW[pattern](text, clone)
    else:
        words = re.fullmatch(pattern, text).groups()
        content = (clone / WRITTEN[pattern].format(*words)).read_text()
        assert all(word in content for word in words)


def test_every_row_of_the_tables_is_used():
    assert {*HOW, *WRITTEN} == {pattern_of(command) for command in COMMANDS}


def test_installing_compiles_everything_and_says_so(clone):
    said = (clone.parent / "compiling.txt").read_text()
    assert said.startswith("Compiling: about 40 s, once.")
    lines = (clone.parent / "compiled.txt").read_text().splitlines()
    packages = {
        line.partition("/__pycache__")[0].removeprefix("lib/") for line in lines
    }
    assert packages == {
        "toporank_kernels",
        "toporank_kernels/persistence",
        "toporank_kernels/kabsch_sander",
        "toporank/learning/kernels",
    }


def test_after_installing_nothing_is_compiled_any_more(clone):
    """Neither by the example, from decoys to report, nor by anything that was run since."""
    assert (
        compiled_files(clone)
        == (clone.parent / "compiled.txt").read_text().splitlines()
    )


def test_the_training_of_the_example_says_where_its_results_are(clone):
    said = (clone.parent / "demo.txt").read_text()
    for path in re.findall(r"results/\S+", said.partition("\nRanked models")[2]):
        assert (clone / path).is_file()


def test_the_manual_of_the_configuration_is_as_the_command_writes_it(clone):
    assert (clone / "config/README.md").read_bytes() == (
        REPOSITORY / "config/README.md"
    ).read_bytes()
