"""Fixtures shared by all tests, their order, and what changes from day to day."""

from __future__ import annotations

import os
import sys
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import settings

REPOSITORY = Path(__file__).resolve().parent.parent
os.environ.setdefault(
    "CONDOR_CONFIG", os.devnull
)  # else the plug-in of HTCondor warns in every Snakemake
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


@pytest.fixture(scope="session")
def reference_dir() -> Path:
    """Results of the published implementation, which cannot be part of this project for want of a
    licence.

    Looked for in $TOPORANK_REFERENCE and in `shared/reference` beside the clone; tests skip where
    it is absent.
    """
    folder = Path(
        os.environ.get("TOPORANK_REFERENCE", REPOSITORY.parent / "shared" / "reference")
    )
    if not folder.is_dir():
        pytest.skip(
            "the reference results are not at hand (set TOPORANK_REFERENCE to their folder)"
        )
    return folder


@pytest.fixture(scope="session")
def predictor_outputs() -> Path:
    """Untouched output files of structure predictors, which are too large to be part of this
    project.

    Looked for in $TOPORANK_INPUTS and in `shared/inputs` beside the clone; tests skip where it is
    absent.
    """
    folder = Path(
        os.environ.get("TOPORANK_INPUTS", REPOSITORY.parent / "shared" / "inputs")
    )
    if not folder.is_dir():
        pytest.skip(
            "the predictor outputs are not at hand (set TOPORANK_INPUTS to their folder)"
        )
    return folder


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
