"""What the pages of the predictors show of real models is what `toporank score` prints today.

All models are scored in one run, each a target by itself; the command finds the tables of its own made.
test_documented_commands.py runs it as a whole, for what README.md shows.
"""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd
import pytest

from conftest import Study, made_once
from shown_scores import PREDICTORS, as_shown, block_of, lay_out
from toporank import layout
from toporank.__main__ import main
from toporank.app import score_folder
from toporank.inputs.folders import find_decoys, part_to_score

pytestmark = pytest.mark.slow

TABLES = (
    *(layout.RANKING, layout.SCORED_INTERFACES, layout.LEAKAGE, layout.COVERAGE, layout.CONFIDENCE),
    layout.CHAINS,
)


@pytest.fixture(scope="module")
def scored(predictor_outputs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A working directory for each page, called after it, with its models and the tables of their scores."""

    def make(home: Path) -> None:
        for page in PREDICTORS:
            lay_out(page, home / page / "FOLDER", predictor_outputs)
            for decoy in find_decoys("FOLDER", part_to_score(home / page / "FOLDER")):
                link = home / "all" / f"{Path(page).stem}-{decoy.target}" / Path(decoy.path).name
                link.parent.mkdir(parents=True)
                link.symlink_to(decoy.path)
        tables = [table.format(dataset="all") for table in TABLES]
        Study(home).run(*tables, "--config", f"score_decoys={home / 'all'}", "targets=folder")
        for page in PREDICTORS:
            for table in TABLES:
                rows_of(page, home / table.format(dataset="all"), home / page / "toporank_FOLDER" / table)

    return made_once(tmp_path_factory, "predictor-pages", make)


def rows_of(page: str, table: Path, to: Path) -> None:
    """Write the rows of a page's targets, under the names that they have there."""
    separator = "\t" if table.suffix == ".tsv" else ","
    rows = pd.read_csv(table, sep=separator, dtype=str, keep_default_na=False)
    ours = f"{Path(page).stem}-"
    rows = rows[rows["target"].str.startswith(ours)].assign(target=lambda row: row["target"].str.removeprefix(ours))
    if "path" in rows:
        rows["path"] = rows["path"].map(os.path.realpath)
    to = Path(str(to).format(dataset="FOLDER"))
    to.parent.mkdir(parents=True, exist_ok=True)
    rows.to_csv(to, sep=separator, index=False)


class Written:
    """Results whose tables are there already."""

    def write(self, out: Path) -> None:
        """Write nothing."""


@pytest.mark.parametrize("page", PREDICTORS)
def test_a_page_shows_what_is_printed_today(page, scored, monkeypatch, capsys):
    monkeypatch.chdir(scored / page)
    monkeypatch.setattr(score_folder, "score_folder", lambda *_: Written())
    assert main(["score", "FOLDER"]) == 0
    assert as_shown(capsys.readouterr().out, scored / page) == block_of(page)
