"""A folder that `toporank score` wrote: its tables, each read when somebody needs it."""

from __future__ import annotations

import functools
import json
from collections.abc import Collection
from pathlib import Path

import pandas as pd

from toporank import layout
from toporank.comparing.homology.chain_tables import ChainRow, read_chains
from toporank.errors import ConfigError, RecordError
from toporank.inputs.confidence.table import Confidence, read_confidence
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
    folder : `results/scores/<name>`
    scorer : that gave the scores; None where a page does not name it
    """

    def __init__(self, folder: Path, scorer: Scorer | None = None):
        self.folder = folder
        self.name = folder.name
        self.root = folder.absolute().parents[2]
        self.scorer = scorer

    def path(self, pattern: str) -> Path:
        """Return where a file of `layout` lies."""
        return self.root / pattern.format(dataset=self.name)

    @functools.cached_property
    def models(self) -> pd.DataFrame:
        """All models with all facts about them, as from `model_table`."""
        return read_models(self.path(layout.MODEL_TABLE), self.path(layout.DETAILS))

    @functools.cached_property
    def targets(self) -> pd.DataFrame:
        """All targets, the most promising first."""
        return read_targets(self.path(layout.TARGETS))

    @functools.cached_property
    def interfaces(self) -> list[InterfaceRow]:
        """The interfaces of all models."""
        return read_interfaces(self.path(layout.SCORED_INTERFACES))

    @functools.cached_property
    def confidence(self) -> dict[DecoyKey, Confidence]:
        """(target, decoy) → the confidence of its predictor."""
        rows = read_confidence(self.path(layout.CONFIDENCE))
        return {(row.target, row.decoy): row for row in rows}

    @functools.cached_property
    def chains(self) -> list[ChainRow]:
        """The sequences of all targets."""
        return read_chains(self.path(layout.CHAINS))

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
        return rows_of(self.path(layout.RESIDUES), keys)

    def contacts(self, keys: Collection[DecoyKey]) -> dict[DecoyKey, pd.DataFrame]:
        """Return (target, decoy) → its contacts, for some decoys."""
        return rows_of(self.path(layout.CONTACTS), keys)

    @functools.cached_property
    def partners(self) -> dict[DecoyKey, Partners]:
        """(target, decoy) → its partners by the chains of its file.

        They are in the same order in all decoys of a target.

        Left out, so that each chain is one partner, where a chain has no name.
        """
        names: dict[DecoyKey, dict[str, str]] = {}
        for row in self.interfaces:
            if row.n_contacts is not None:
                of_decoy = names.setdefault((row.target, row.decoy), {})
                of_file = (row.chains or row.interface).split(":")
                of_decoy.update(zip(row.interface.split(":"), of_file, strict=True))
        partners = {}
        for key, of_decoy in names.items():
            bodies = tuple(chains_of(chains) for _, chains in sorted(of_decoy.items()))
            if all(map(all, bodies)):
                partners[key] = bodies
        return partners


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
        last = json.loads(settings.read_text(encoding="utf-8")).get("score_name")
        if last in folders:
            return ScoredFolder(folders[last].resolve())
    if len(folders) > 1:
        remedy = f"give one of {', '.join(map(str, folders.values()))}"
        raise ConfigError(
            "several folders were scored here", where=answer, remedy=remedy
        )
    (folder,) = folders.values()
    return ScoredFolder(folder.resolve())
