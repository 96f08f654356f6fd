"""A folder that `toporank score` wrote: its tables, each read when somebody needs it."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from toporank import layout
from toporank.comparing.homology.chain_tables import ChainRow, read_chains
from toporank.errors import ConfigError, RecordError, printable
from toporank.ranking.model_table import read_models
from toporank.ranking.scored import Scored
from toporank.scorer.embeddings import read_embeddings, vector_table
from toporank.scorer.scorer import ScoredWith, Scorer, read_record
from toporank.tables.columns import (
    CHAINS,
    CONFIDENCE,
    CONTACTS,
    EMBEDDINGS,
    INTERFACES,
    RESIDUES,
    TARGETS,
    Table,
)
from toporank.tables.frames import BETWEEN, SCORE_AGAIN, read


class ScoredFolder(Scored):
    """The tables of a scored folder, from its files.

    Parameters
    ----------
    folder : `results/scores/<name>`, or a copy of it anywhere
    scorer : that gave the scores; None where a page does not name it
    """

    folder: Path

    def __init__(self, folder: Path, scorer: Scorer | None = None):
        self.folder = folder
        self.name = folder.name
        self.scorer = scorer

    def _read(self, table: Table) -> pd.DataFrame:
        return read(table, self.folder / table.name)

    @property
    def chains_file(self) -> Path:
        """Where the sequences of the targets lie: beside `results/scores`, or in a copy."""
        copied = self.folder / CHAINS.name
        results = self.folder.absolute().parent.parent
        return copied if copied.is_file() else results / self.name / copied.name

    @functools.cached_property
    def facts(self) -> pd.DataFrame:
        """All models with all facts about them, as from `model_table`."""
        folder = self.folder
        return read_models(
            folder / Path(layout.MODEL_TABLE).name, folder / Path(layout.DETAILS).name
        )

    @functools.cached_property
    def targets(self) -> pd.DataFrame:
        """All targets, the most promising first."""
        targets = self._read(TARGETS)
        best = self.facts.drop_duplicates("target").set_index("target")
        for name in targets.columns.intersection(list(best)):
            if targets[name].dtype == float:  # models.csv has more digits
                targets[name] = targets["target"].map(best[name])
        return targets

    @functools.cached_property
    def interfaces(self) -> pd.DataFrame:
        """The interfaces of all models."""
        return self._read(INTERFACES)

    @functools.cached_property
    def confidence(self) -> pd.DataFrame:
        """The confidence of predictors in the models."""
        return self._read(CONFIDENCE)

    @functools.cached_property
    def residues(self) -> pd.DataFrame:
        """The interface residues of all models."""
        return self._read(RESIDUES)

    @functools.cached_property
    def contacts(self) -> pd.DataFrame:
        """The contacts of all models."""
        return self._read(CONTACTS)

    @functools.cached_property
    def vectors(self) -> pd.DataFrame:
        """The pooled vectors of all models."""
        return vector_table(read_embeddings(self.folder / EMBEDDINGS.name))

    @functools.cached_property
    def chains(self) -> list[ChainRow]:
        """The sequences of all targets; none where `chains_file` is missing, as beside a copy."""
        file = self.chains_file
        return read_chains(file) if file.is_file() else []

    @property
    def notes(self) -> list[str]:
        """Caveats and notes of the targets, in sentences."""
        notes = []
        for row in self.targets.itertuples():
            for cell in (row.caveats, row.hint, row.notes):
                texts = cell.split(BETWEEN)
                notes += [f"{row.target}: {text}" for text in texts if text]
        return notes

    @functools.cached_property
    def record(self) -> ScoredWith | None:
        """Which scorer gave the scores, and how."""
        return read_record(self.folder / Path(layout.SCORED_WITH).name)


def open_answer(answer: Path) -> ScoredFolder:
    """Open what `toporank score` wrote.

    answer : its OUT, or the folder `results/scores/<name>` in it.

    Raises
    ------
    ConfigError : there is no answer, or there are several and OUT does not say which was the last
    """
    if (answer / Path(layout.MODEL_TABLE).name).is_file():
        return ScoredFolder(answer.resolve())
    tables = answer.glob(layout.MODEL_TABLE.format(dataset="*"))
    folders = {table.parent.name: table.parent for table in sorted(tables)}
    if not folders:
        name = "models.csv in this folder" if answer.is_dir() else "such folder"
        remedy = "give the folder that `toporank score` wrote"
        raise ConfigError(f"there is no {name}", where=answer, remedy=remedy)
    settings = answer / layout.SETTINGS
    if settings.is_file():
        last = _undamaged(settings, _score_name)
        if last in folders:
            return ScoredFolder(folders[last].resolve())
    if len(folders) > 1:
        remedy = f"give one of {', '.join(map(str, folders.values()))}"
        raise ConfigError(
            "several folders were scored here", where=answer, remedy=remedy
        )
    (folder,) = folders.values()
    return ScoredFolder(folder.resolve())


def _undamaged(path: Path, read: Callable[[Path], Any]) -> Any:
    try:
        return read(path)
    except (ValueError, TypeError, KeyError) as error:
        raise RecordError(
            f"damaged: {printable(str(error))}", where=path, remedy=SCORE_AGAIN
        ) from error


def _score_name(settings: Path) -> Any:
    """The name of the last scores, of `layout.SETTINGS`."""
    return str(json.loads(settings.read_text(encoding="utf-8"))["score_name"])
