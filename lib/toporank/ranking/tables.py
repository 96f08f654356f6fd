"""What scoring a folder found out: the tables as DataFrames, and as files."""

from __future__ import annotations

import functools
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from toporank import layout
from toporank.building.built import Built
from toporank.building.chunks.plan import PlannedDecoy
from toporank.building.chunks.store import Store
from toporank.building.compared import stored_complexes
from toporank.comparing.homology.chain_tables import (
    compared,
    sequences_of_chains,
    write_chains,
)
from toporank.inputs.confidence.table import (
    NUMBERS,
    Confidence,
    rows_to_show,
    write_confidence,
)
from toporank.ranking.frames import typed, write_frame
from toporank.ranking.interfaces import KINDS as INTERFACE_KINDS
from toporank.ranking.interfaces import InterfaceRow, write_interfaces
from toporank.ranking.leakage import LeakageRow, describe, leakage
from toporank.ranking.model_table import (
    DETAIL_COLUMNS,
    MODEL_COLUMNS,
    model_table,
    with_known_columns,
    write_models_and_details,
)
from toporank.ranking.models import write_models
from toporank.ranking.partner_hints import hints
from toporank.ranking.residues import (
    CONTACT_COLUMNS,
    RESIDUE_COLUMNS,
    table_of_lines,
    why_no_quality,
    write_lines,
)
from toporank.ranking.score import ScoringOptions
from toporank.ranking.target_result import TargetResult
from toporank.ranking.target_table import target_table
from toporank.scorer.embeddings import vector_table, write_embeddings
from toporank.scorer.scorer import ScoredWith, Scorer, write_record
from toporank.structures.identity import DecoyKey


@dataclass
class ScoredModels:
    """Everything that is known of the models of a folder after scoring them, as tables.

    Attributes
    ----------
    name : of the results
    target_results : one `TargetResult` for each target, in order of name
    plan : all decoys
    scorer, options : what gave the scores, and how
    store : with the artefacts of the decoys
    decisions : what TopoRank decided on the user's behalf, and what it passed over, in sentences
    room : a temporary folder that lasts as long as the results
    """

    name: str
    target_results: Sequence[TargetResult]
    plan: Sequence[PlannedDecoy]
    scorer: Scorer
    options: ScoringOptions
    store: Store | None
    decisions: list[str] = field(default_factory=list)
    room: Any = field(default=None, repr=False)

    @functools.cached_property
    def table(self) -> pd.DataFrame:
        """Every model with all that is known of it, as from `model_table`."""
        table = model_table(
            coverage=self.rows("coverage"),
            scores={result.target: result.scores for result in self.target_results},
            interfaces=self.rows("interfaces"),
            comparison=self.rows("comparison"),
            rank_by=self.options.rank_by,
        )
        if self.room:  # links to the files that the user named
            table["path"] = [
                os.path.realpath(path) if path else "" for path in table["path"]
            ]
        return table

    @functools.cached_property
    def models(self) -> pd.DataFrame:
        """One row for each model, best first within each target; the columns of models.csv."""
        return with_known_columns(self.table, MODEL_COLUMNS)

    @functools.cached_property
    def details(self) -> pd.DataFrame:
        """What the numbers of each model are made of; the columns of details.csv."""
        return with_known_columns(self.table, DETAIL_COLUMNS)

    @functools.cached_property
    def targets(self) -> pd.DataFrame:
        """One row for each target, the most promising first; the columns of targets.csv."""
        return target_table(
            models=self.table,
            interfaces=self.rows("interfaces"),
            confidence=rows_to_show(self.rows("confidence")),
            chains=self.rows("chains"),
            leakage=self.leakage,
        )

    @functools.cached_property
    def interfaces(self) -> pd.DataFrame:
        """One row for each interface of each model; the columns of interfaces.csv."""
        rows = self.rows("interfaces")
        return typed(pd.DataFrame(rows, columns=InterfaceRow._fields), INTERFACE_KINDS)

    @functools.cached_property
    def confidence(self) -> pd.DataFrame:
        """What the predictor says of each model; the columns of confidence.csv."""
        kinds = dict.fromkeys(Confidence._fields, str) | dict.fromkeys(NUMBERS, float)
        rows = rows_to_show(self.rows("confidence"))
        return typed(pd.DataFrame(rows, columns=Confidence._fields), kinds)

    @functools.cached_property
    def residues(self) -> pd.DataFrame:
        """One row for each interface residue of each scored model; the columns of residues.csv."""
        lines = [result.residues for result in self.target_results]
        return table_of_lines(RESIDUE_COLUMNS, lines)

    @functools.cached_property
    def contacts(self) -> pd.DataFrame:
        """One row for each contact of each scored model; the columns of contacts.csv."""
        lines = [result.contacts for result in self.target_results]
        return table_of_lines(CONTACT_COLUMNS, lines)

    @functools.cached_property
    def vectors(self) -> pd.DataFrame:
        """The pooled vector of each scored model: target, decoy, v0, v1 …."""
        return vector_table(self.pooled_vectors)

    @property
    def pooled_vectors(self) -> dict[DecoyKey, list[float]]:
        """(target, decoy) → pooled vector of the first network."""
        vectors = {}
        for result in self.target_results:
            for decoy, vector in result.vectors.items():
                vectors[result.target, decoy] = vector
        return vectors

    @functools.cached_property
    def leakage(self) -> list[LeakageRow]:
        """What the networks know of each target from their training."""
        targets = {result.target for result in self.target_results}
        return leakage(targets, compared(self.rows("chains")), self.scorer.descriptions)

    def rows(self, table: str) -> list[Any]:
        """Return the rows of one table of all targets. table : a key of `target_result.ROWS`."""
        rows = []
        for result in self.target_results:
            rows += getattr(result, table)
        return rows

    @property
    def digests(self) -> dict[str, str]:
        """Target → digest of its result; empty where the store does not keep it."""
        return {result.target: result.digest for result in self.target_results}

    @property
    def notes(self) -> list[str]:
        """What was decided, why models have no score, and how far to trust the others."""
        return [*self.decisions, *self.remarks()]

    def remarks(self) -> list[str]:
        """Return why models have no score, what may be one partner, and how far to trust scores."""
        explained = [row for row in self.rows("coverage") if row.reason]
        remarks = [
            f"{row.target}/{row.decoy}: {row.status}: {row.reason}" for row in explained
        ]
        remarks += hints(
            self.rows("interfaces"), sequences_of_chains(self.rows("chains"))
        )
        no_quality = why_no_quality(
            n_scored=sum(len(result.scores) for result in self.target_results),
            has_residues=any(result.residues for result in self.target_results),
            has_contacts=any(result.contacts for result in self.target_results),
        )
        remarks += [
            self.scorer.missing,
            self.scorer.toy,
            no_quality,
            describe(self.leakage),
        ]
        return list(filter(None, remarks))

    def write_tables(
        self, out: Path, *, scores_alone: bool = False, of_graphs: bool = False
    ) -> None:
        """Write all tables and the structure files of the best models.

        Parameters
        ----------
        out : folder below which `layout` says where each table lies
        scores_alone : without chains and confidence, which a study has already
        of_graphs : of another pipeline, so without chains and structures
        """

        def path(pattern: str) -> Path:
            return out / pattern.format(dataset=self.name)

        residues = {result.target: result.residues for result in self.target_results}
        contacts = [result.contacts for result in self.target_results]
        if of_graphs:
            shutil.rmtree(path(layout.MODELS), ignore_errors=True)
        else:
            built = Built.of(self.plan, self.rows("fates"))
            write_models(
                path(layout.MODELS),
                self.table,
                residues,
                stored_complexes(built, self.store),
                self.digests,
            )
        if not (scores_alone or of_graphs):
            write_chains(path(layout.CHAINS), self.rows("chains"))
        if not scores_alone:
            write_confidence(path(layout.CONFIDENCE), self.rows("confidence"))
        write_models_and_details(
            path(layout.MODEL_TABLE), path(layout.DETAILS), self.table
        )
        write_frame(path(layout.TARGETS), self.targets)
        write_interfaces(path(layout.SCORED_INTERFACES), self.rows("interfaces"))
        write_lines(path(layout.RESIDUES), RESIDUE_COLUMNS, residues.values())
        write_lines(path(layout.CONTACTS), CONTACT_COLUMNS, contacts)
        write_embeddings(path(layout.EMBEDDINGS), self.pooled_vectors)
        record = ScoredWith.of(
            self.scorer,
            rank_by=self.options.rank_by,
            use_confidence=self.options.use_confidence,
        )
        write_record(path(layout.SCORED_WITH), record)
