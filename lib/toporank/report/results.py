"""A folder that `toporank score` wrote: its tables, each read when somebody needs it."""

from __future__ import annotations

import csv
import functools
import json
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import pandas as pd

from toporank import layout
from toporank.comparing.homology.chain_tables import ChainRow, read_chains
from toporank.errors import ConfigError, RecordError, printable
from toporank.inputs.confidence.table import Confidence, read_confidence
from toporank.ranking.frames import SCORE_AGAIN
from toporank.ranking.interfaces import InterfaceRow, read_interfaces
from toporank.ranking.model_table import read_models
from toporank.ranking.residues import rows_of
from toporank.ranking.target_table import read_targets
from toporank.scorer.embeddings import Vectors, read_embeddings
from toporank.scorer.scorer import ScoredWith, Scorer, read_record
from toporank.structures.identity import DecoyKey
from toporank.structures.partners import Partners, chains_of


class ScoredFolder:
    """The tables of a scored data set.

    Parameters
    ----------
    folder : `results/scores/<name>`, or a copy of it anywhere
    scorer : that gave the scores; None where a page does not name it
    """

    def __init__(self, folder: Path, scorer: Scorer | None = None):
        self.folder = folder
        self.name = folder.name
        self.scorer = scorer

    def path(self, pattern: str) -> Path:
        """Return where a file of `layout` lies that belongs to the scores."""
        return self.folder / Path(pattern).name

    def _read(self, pattern: str, read: Callable[[Path], Any]) -> Any:
        """A table as a function reads it. Raises RecordError when it is damaged."""
        return _undamaged(self.path(pattern), read)

    @property
    def chains_file(self) -> Path:
        """Where the sequences of the targets lie: beside `results/scores`, or in a copy."""
        copied = self.path(layout.CHAINS)
        results = self.folder.absolute().parent.parent
        return copied if copied.is_file() else results / self.name / copied.name

    @functools.cached_property
    def models(self) -> pd.DataFrame:
        """All models with all facts about them, as from `model_table`."""
        details = self.path(layout.DETAILS)
        return self._read(layout.MODEL_TABLE, lambda path: read_models(path, details))

    @functools.cached_property
    def targets(self) -> pd.DataFrame:
        """All targets, the most promising first."""
        return self._read(layout.TARGETS, read_targets)

    @functools.cached_property
    def interfaces(self) -> list[InterfaceRow]:
        """The interfaces of all models."""
        return self._read(layout.SCORED_INTERFACES, read_interfaces)

    @functools.cached_property
    def confidence(self) -> dict[DecoyKey, Confidence]:
        """(target, decoy) → the confidence of its predictor."""
        rows = self._read(layout.CONFIDENCE, read_confidence)
        return {(row.target, row.decoy): row for row in rows}

    @functools.cached_property
    def chains(self) -> list[ChainRow]:
        """The sequences of all targets; none where `chains_file` is missing, as beside a copy."""
        file = self.chains_file
        return _undamaged(file, read_chains) if file.is_file() else []

    @functools.cached_property
    def record(self) -> ScoredWith | None:
        """Which scorer gave the scores, and how."""
        return read_record(self.path(layout.SCORED_WITH))

    def vectors(self) -> Vectors:
        """Return (target, decoy) → its pooled vector; none where the table is damaged or gone."""
        try:
            return read_embeddings(self.path(layout.EMBEDDINGS))
        except RecordError:
            return {}

    def residues(self, keys: Collection[DecoyKey]) -> dict[DecoyKey, pd.DataFrame]:
        """Return (target, decoy) → its interface residues, for some decoys."""
        return self._read(layout.RESIDUES, lambda path: rows_of(path, keys))

    def contacts(self, keys: Collection[DecoyKey]) -> dict[DecoyKey, pd.DataFrame]:
        """Return (target, decoy) → its contacts, for some decoys."""
        return self._read(layout.CONTACTS, lambda path: rows_of(path, keys))

    @functools.cached_property
    def partners(self) -> dict[DecoyKey, Partners]:
        """(target, decoy) → its partners by the chains of its file.

        They are in the same order in all decoys of a target.

        Left out, so that each chain is one partner, where a chain has no name.
        """
        names: dict[DecoyKey, dict[str, str]] = {}
        for row in self.interfaces:
            if row.n_ca_pairs is not None:
                of_decoy = names.setdefault((row.target, row.decoy), {})
                of_file = (row.chains or row.interface).split(":")
                of_decoy.update(zip(row.interface.split(":"), of_file, strict=True))
        partners = {}
        for key, of_decoy in names.items():
            bodies = tuple(chains_of(chains) for _, chains in sorted(of_decoy.items()))
            if all(map(all, bodies)):
                partners[key] = bodies
        return partners


def _undamaged(path: Path, read: Callable[[Path], Any]) -> Any:
    try:
        return read(path)
    except (ValueError, TypeError, KeyError, csv.Error) as error:
        raise RecordError(
            f"damaged: {printable(str(error))}", where=path, remedy=SCORE_AGAIN
        ) from error


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


def _score_name(settings: Path) -> Any:
    """The name of the last scores, of `layout.SETTINGS`."""
    return str(json.loads(settings.read_text(encoding="utf-8"))["score_name"])
