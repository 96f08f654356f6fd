"""Fixtures shared by all tests, their order, and what changes from day to day."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from toporank.structures.complex import Complex

REPOSITORY = Path(__file__).resolve().parent.parent
os.environ.setdefault(
    "CONDOR_CONFIG", os.devnull
)  # else the plug-in of HTCondor warns in every Snakemake
os.environ["PYTHONPATH"] = os.pathsep.join(
    [str(REPOSITORY / "lib"), *filter(None, [os.environ.get("PYTHONPATH")])]
)  # processes that tests start import the checkout
os.environ["TRITON_INTERPRET"] = "1"  # kernels of a GPU run on the CPU


@pytest.fixture(scope="session")
def repository() -> Path:
    """The clone under test."""
    return REPOSITORY


@pytest.fixture(scope="session")
def example() -> Path:
    """The embedded example."""
    return REPOSITORY / "resources" / "example"


@pytest.fixture
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory of a test: an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def read(tmp_path: Path) -> Callable:
    """Read text through a file of the given name."""
    from structures_text import write
    from toporank.structures.read import read_complex

    return lambda text, name="d.pdb": read_complex(write(tmp_path / name, text))


@pytest.fixture(scope="session")
def decoy() -> Complex:
    """A decoy of the example, with hydrogens."""
    from structures_text import EXAMPLES
    from toporank.structures.read import read_complex

    return read_complex(EXAMPLES / "1GCQ/mid1.pdb")


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Path]]:
    """A pack, and three checkpoints of which the last does not predict local quality."""
    from _synthetic import local_pack, small_run, training_graphs

    from made_once import made_once
    from toporank.learning.train import TrainingGraphs, train_run

    seeds = range(3)

    def make(folder: Path) -> None:
        folder.mkdir()
        pack = local_pack(folder / "local", training_graphs(train=1, val=1, decoys=3))
        for seed in seeds:
            run = small_run(
                f"s{seed}", seed, max_epochs=1, local_weight=float(seed < 2)
            )
            graphs = TrainingGraphs([pack])
            train_run(run, graphs, 1, folder / f"s{seed}", folder / "store")

    folder = made_once(tmp_path_factory, "trained", make)
    checkpoints = [folder / f"s{seed}/last.ckpt" for seed in seeds]
    return folder / "local", checkpoints


@pytest.fixture(scope="session")
def submitting_python(tmp_path_factory) -> str:
    """The Python that runs the tests, by a path that Snakemake can write into jobs: one without a
    space.
    """
    if " " not in sys.executable:
        return sys.executable
    link = tmp_path_factory.mktemp("environment") / "venv"
    link.symlink_to(sys.prefix)
    return str(link / Path(sys.executable).relative_to(sys.prefix))


def shared(variable: str, folder: str, what: str) -> Path:
    """A folder that cannot be part of this project: that of an environment variable, or in
    `shared` beside the clone; tests skip where it is absent.
    """
    path = Path(os.environ.get(variable, REPOSITORY.parent / "shared" / folder))
    if not path.is_dir():
        pytest.skip(f"{what} are not at hand (set {variable} to their folder)")
    return path


@pytest.fixture(scope="session")
def reference_dir() -> Path:
    """Results of the published implementation, which has no licence."""
    return shared("TOPORANK_REFERENCE", "reference", "the reference results")


@pytest.fixture(scope="session")
def predictor_outputs() -> Path:
    """Untouched output files of structure predictors, which are too large."""
    return shared("TOPORANK_INPUTS", "inputs", "the predictor outputs")


settings.register_profile("toporank", deadline=None, derandomize=False)
settings.load_profile(
    "toporank"
)  # also where hypothesis sees continuous integration, and would not change its examples


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Examples of hypothesis are those of the day, unless --hypothesis-seed names others."""
    if config.option.hypothesis_seed is None:
        config.option.hypothesis_seed = datetime.now(UTC).toordinal()


def pytest_report_header(config: pytest.Config) -> str:
    return f"random examples: repeat these with --hypothesis-seed={config.option.hypothesis_seed}"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whole runs of the workflow, which take longest, come first: at the end all processes have
    something to do.
    """
    items.sort(key=lambda item: item.path.parent.name not in ("workflow", "slurm"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What could not be run here and how to get it, in one line."""
    reasons = Counter(
        skipped_because(report) for report in terminalreporter.stats.get("skipped", [])
    )
    if reasons:
        parts = [f"{n} tests ({reason})" for reason, n in reasons.most_common()]
        terminalreporter.write_line(f"NOT RUN HERE: {'; '.join(parts)}", yellow=True)


def skipped_because(report: pytest.TestReport) -> str:
    """Why a test was skipped."""
    reason = (
        report.longrepr[2]
        if isinstance(report.longrepr, tuple)
        else str(report.longrepr)
    )
    return reason.removeprefix("Skipped: ")
