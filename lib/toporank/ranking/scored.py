"""What scoring a folder found out, as tables; page, terminal, figures and Python take it."""

from __future__ import annotations

import functools
import os
import shutil
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from toporank import layout
from toporank.building.built import Built
from toporank.building.chunks.plan import PlannedDecoy
from toporank.building.chunks.store import Store
from toporank.building.compared import stored_complexes
from toporank.chains.partners import Partners, chains_of
from toporank.comparing.homology.chain_tables import (
    ChainRow,
    compared,
    sequences_of_chains,
    write_chains,
)
from toporank.comparing.native.label import Native, label
from toporank.confidence.table import Confidence, rows_to_show
from toporank.errors import LabelError, NativeError
from toporank.files.atomic import write_text
from toporank.lookup import by_decoy
from toporank.ranking.agreement import with_predictor
from toporank.ranking.leakage import LeakageRow, describe, leakage
from toporank.ranking.model_table import model_table
from toporank.ranking.models import write_models
from toporank.ranking.partner_hints import hints
from toporank.ranking.residues import why_no_quality
from toporank.ranking.target_result import TargetResult
from toporank.ranking.target_table import TargetNotes, target_notes, target_table
from toporank.scorer.embeddings import vector_table, write_embeddings
from toporank.scorer.prediction import KEY
from toporank.scorer.scorer import ScoredWith, Scorer, write_record
from toporank.structures.identity import DecoyKey
from toporank.tables.columns import (
    CONFIDENCE,
    CONTACTS,
    DETAILS,
    INTERFACES,
    MODELS,
    RESIDUES,
    TABLES,
    TARGETS,
    Table,
)
from toporank.tables.frames import of_records, to_markdown, with_values, write
from toporank.workers import mapped

if TYPE_CHECKING:
    from toporank.ranking.score import ScoringOptions

README = "README.md"
"""Beside the tables: what their columns mean."""


class Scored:
    """The tables of a scored folder, each made when somebody needs it.

    Attributes
    ----------
    name : of the results
    scorer : that gave the scores; None where it is not known
    facts : all models with all that is known of them: the columns of models.csv and details.csv
    targets, interfaces, residues, contacts, confidence, vectors : the tables of these names
    chains : the sequences of the targets
    record : which scorer gave the scores, and how
    notes : what a user should know, in sentences
    folder : where the tables lie; None where they are in memory alone
    """

    name: str
    scorer: Scorer | None = None
    folder: Path | None = None
    facts: pd.DataFrame
    targets: pd.DataFrame
    interfaces: pd.DataFrame
    residues: pd.DataFrame
    contacts: pd.DataFrame
    confidence: pd.DataFrame
    vectors: pd.DataFrame
    chains: list[ChainRow]
    record: ScoredWith | None
    notes: list[str]

    @property
    def models(self) -> pd.DataFrame:
        """The columns of models.csv."""
        return self.facts[MODELS.names]

    @property
    def details(self) -> pd.DataFrame:
        """The columns of details.csv in which something is known."""
        return self.facts[[column.name for column in with_values(DETAILS, self.facts)]]

    @functools.cached_property
    def stated(self) -> dict[DecoyKey, Confidence]:
        """(target, decoy) → the confidence of its predictor."""
        cells = self.confidence.astype(object)
        cells = cells.where(cells.notna(), None)[CONFIDENCE.names]
        return by_decoy(map(Confidence._make, cells.itertuples(index=False, name=None)))

    @functools.cached_property
    def partners(self) -> dict[DecoyKey, Partners]:
        """(target, decoy) → its partners by the chains of its file.

        They are in the same order in all decoys of a target.

        Left out, so that each chain is one partner, where a chain has no name.
        """
        names: dict[DecoyKey, dict[str, str]] = {}
        rows = self.interfaces[self.interfaces["n_ca_pairs"].notna()]
        columns = (rows[name] for name in (*KEY, "interface", "chains"))
        for target, decoy, interface, chains in zip(*columns, strict=True):
            of_file = (chains or interface).split(":")
            of_decoy = names.setdefault((target, decoy), {})
            of_decoy.update(zip(interface.split(":"), of_file, strict=True))
        partners = {}
        for key, of_decoy in names.items():
            bodies = tuple(chains_of(chains) for _, chains in sorted(of_decoy.items()))
            if all(map(all, bodies)):
                partners[key] = bodies
        return partners


def of_models(
    table: pd.DataFrame, keys: Collection[DecoyKey]
) -> dict[DecoyKey, pd.DataFrame]:
    """Return (target, decoy) → its rows of a table, for some models."""
    are_wanted = pd.MultiIndex.from_frame(table[KEY]).isin(list(keys))
    return dict(list(table[are_wanted].groupby(KEY)))


class ScoredTargets(Scored):
    """The tables of targets that were scored by this process or its jobs.

    Parameters
    ----------
    name : of the results
    target_results : one `TargetResult` for each target, in order of name
    plan : all decoys
    scorer, options : what gave the scores, and how
    store : with the artefacts of the decoys; None for graphs of another pipeline
    decisions : what TopoRank decided on the user's behalf, and what it passed over, in sentences
    room : a temporary folder that lasts as long as the results
    workers : processes that write and draw
    """

    scorer: Scorer

    def __init__(  # noqa: PLR0913 -- everything that gives the tables
        self,
        name: str,
        target_results: Sequence[TargetResult],
        plan: Sequence[PlannedDecoy],
        scorer: Scorer,
        options: ScoringOptions,
        store: Store | None,
        decisions: Sequence[str] = (),
        room: Any = None,
        workers: int = 1,
    ):
        self.name = name
        self.target_results = target_results
        self.plan = plan
        self.scorer = scorer
        self.options = options
        self.store = store
        self.decisions = list(decisions)
        self.room = room
        self.workers = workers

    @functools.cached_property
    def facts(self) -> pd.DataFrame:
        """Every model with all that is known of it, as from `model_table`."""
        learned = [row.target for row in self.leakage if row.is_training_target]
        table = model_table(
            coverage=self.rows("coverage"),
            scores={result.target: result.scores for result in self.target_results},
            interfaces=self.rows("interfaces"),
            comparison=self.rows("comparison"),
            rank_by=self.options.rank_by,
            learned=learned,
        )
        if self.room:  # links to the files that the user named
            table["path"] = [
                os.path.realpath(path) if path else "" for path in table["path"]
            ]
        return with_predictor(table, self.confidence)

    @functools.cached_property
    def target_notes(self) -> dict[str, TargetNotes]:
        """Target → sentences on it."""
        return target_notes(
            models=self.facts,
            interfaces=self.rows("interfaces"),
            confidence=rows_to_show(self.rows("confidence")),
            chains=self.chains,
            between=self._between,
            workers=self.workers,
        )

    @functools.cached_property
    def targets(self) -> pd.DataFrame:
        """One row for each target, the most promising first."""
        new = {result.target for result in self.target_results if result.is_new}
        return target_table(
            models=self.facts,
            notes=self.target_notes,
            interfaces=self.rows("interfaces"),
            confidence=rows_to_show(self.rows("confidence")),
            leakage=self.leakage,
            new=new if len(new) < len(self.target_results) else (),
        )

    @functools.cached_property
    def interfaces(self) -> pd.DataFrame:
        """One row for each interface of each model."""
        return of_records(INTERFACES, self.rows("interfaces"))

    @functools.cached_property
    def confidence(self) -> pd.DataFrame:
        """The confidence of predictors in each model."""
        return of_records(CONFIDENCE, rows_to_show(self.rows("confidence")))

    @functools.cached_property
    def residues(self) -> pd.DataFrame:
        """One row for each interface residue of each scored model."""
        return self._all(RESIDUES, [result.residues for result in self.target_results])

    @functools.cached_property
    def contacts(self) -> pd.DataFrame:
        """One row for each contact of each scored model."""
        return self._all(CONTACTS, [result.contacts for result in self.target_results])

    @functools.cached_property
    def vectors(self) -> pd.DataFrame:
        """The pooled vector of each scored model: target, decoy, v0, v1 …."""
        vectors = {}
        for result in self.target_results:
            for decoy, vector in result.vectors.items():
                vectors[result.target, decoy] = vector
        return vector_table(vectors)

    @functools.cached_property
    def chains(self) -> list[ChainRow]:
        """The sequences of the targets."""
        return self.rows("chains")

    @functools.cached_property
    def record(self) -> ScoredWith:
        """Which scorer gives the scores, and how."""
        return ScoredWith.of(
            self.scorer,
            rank_by=self.options.rank_by,
            use_confidence=self.options.use_confidence,
        )

    @functools.cached_property
    def leakage(self) -> list[LeakageRow]:
        """What the networks know of each target from their training."""
        targets = {result.target for result in self.target_results}
        return leakage(targets, compared(self.chains), self.scorer.descriptions)

    @staticmethod
    def _all(table: Table, parts: list[pd.DataFrame]) -> pd.DataFrame:
        known = [part for part in parts if len(part)]
        return pd.concat(known, ignore_index=True) if known else of_records(table, ())

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

    @functools.cached_property
    def _atoms(self) -> Any:
        """(target, decoy) → its atoms."""
        assert self.store
        return stored_complexes(Built.of(self.plan, self.rows("fates")), self.store)

    def _between(self, target: str, native: str, model: str) -> float | None:
        """DockQ between two models of a target; None where they have no common interface."""
        if self.store is None:
            return None
        pair = [self._atoms((target, decoy)) for decoy in (native, model)]
        partners = self.partners.get((target, native), ())
        try:
            return label(Native(pair[0], partners), pair[1]).dockq
        except (LabelError, NativeError):
            return None

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
        remarks += hints(self.rows("interfaces"), sequences_of_chains(self.chains))
        no_quality = why_no_quality(
            n_scored=sum(len(result.scores) for result in self.target_results),
            has_residues=len(self.residues) > 0,
            has_contacts=len(self.contacts) > 0,
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

        models = path(layout.MODELS)
        if of_graphs:
            shutil.rmtree(models, ignore_errors=True)
        else:
            residues = {
                result.target: result.residues for result in self.target_results
            }
            write_models(
                folder=models,
                table=self.facts,
                residues=residues,
                atoms=self._atoms,
                digests=self.digests,
                workers=self.workers,
            )
        if not (scores_alone or of_graphs):
            write_chains(path(layout.CHAINS), self.chains)
        tables = [  # the largest first
            (CONTACTS, self.contacts, layout.CONTACTS),
            (RESIDUES, self.residues, layout.RESIDUES),
            (MODELS, self.facts, layout.MODEL_TABLE),
            (DETAILS, self.facts, layout.DETAILS),
            (TARGETS, self.targets, layout.TARGETS),
            (INTERFACES, self.interfaces, layout.SCORED_INTERFACES),
        ]
        if not scores_alone:
            tables.append((CONFIDENCE, self.confidence, layout.CONFIDENCE))

        def write_table(number: int) -> None:
            table, frame, pattern = tables[number]
            write(table, frame, path(pattern))

        list(mapped(write_table, range(len(tables)), self.workers))
        write_embeddings(path(layout.EMBEDDINGS), self.vectors)
        write_record(path(layout.SCORED_WITH), self.record)
        self.folder = models.parent
        write_text(self.folder / README, readme())


def readme() -> str:
    """Return what the columns of all tables mean, for a file beside them."""
    head = (
        "# The columns of these tables\n\n"
        "Numbers are empty where they are not known. A text that a spreadsheet would compute "
        "has an apostrophe before it.\n\n"
    )
    return head + to_markdown(TABLES)
