"""From a folder of models to the answer.

The command, Python and the workflow share this one way.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

from toporank.app.config import Config
from toporank.app.data_sets import (
    configured_partners,
    features_of,
    open_scorer,
)
from toporank.building.chunks.chunk import keep_file
from toporank.building.chunks.plan import PlannedDecoy
from toporank.building.chunks.store import Store
from toporank.building.planning import bodies_alone, partners_given, plan_of, recognised
from toporank.chains.resolve import called_otherwise
from toporank.finding.complexes import BY_SEQUENCE, Grouped
from toporank.finding.discovery import decoys_of
from toporank.finding.scan import Scan, describe_passed_over, no_decoys
from toporank.ranking.score import ScoringOptions, TargetScorer
from toporank.ranking.score_targets import Show, score_targets
from toporank.ranking.scored import ScoredTargets
from toporank.scorer.scorer import Scorer

KEEP_TO_FOLDERS = "--targets folder keeps to the folders"
GO_BY_SEQUENCES = "without --targets folder, sequences decide"


@dataclass
class ScoringInput:
    """The models of a folder, as they will be scored.

    Attributes
    ----------
    name : of the results
    grouped : decoys with their targets
    plan : the same with partners and the states of files, in order of target and name
    notes : what TopoRank decided on the user's behalf, and what it passed over, in sentences
    store : the reuse store, which may have atoms of new files in memory
    """

    name: str
    grouped: Grouped
    plan: list[PlannedDecoy]
    notes: list[str]
    store: Store

    def targets(self) -> list[list[PlannedDecoy]]:
        """The decoys of each target, in order of target."""
        return [
            list(decoys) for _, decoys in groupby(self.plan, key=attrgetter("target"))
        ]


def find_models(
    config: Config,
    scan: Scan,
    store: Path,
    of_archives: Iterable[str] = (),
    *,
    scores_here: bool = True,
    workers: int | None = None,
) -> ScoringInput:
    """The models in a folder with their targets and partners.

    Parameters
    ----------
    config : settings of the command; it has one data set
    scan : of the folder where the models lie
    store : the reuse store, which knows files that were looked into before
    of_archives : sentences about archives that lie in the folder
    scores_here : whether this process scores them: then the store keeps the atoms of new files,
        which are not opened again; otherwise the jobs that score them read them
    workers : processes, as many as there are cores by default

    Returns
    -------
    models : with their targets and partners, and what TopoRank decided

    Raises
    ------
    ConfigError : the folder cannot be listed or has no models, or partners contradict each other
    """
    (dataset,) = config.datasets
    folder = scan.folder
    for_all, of_targets = configured_partners(config, dataset, folder)
    opened = Store(store, graphs_only=True)
    keep = functools.partial(keep_file, store=opened) if scores_here else None
    by = config.grouped_by(dataset)
    grouped = decoys_of(dataset.name, scan, by, store, of_targets, keep, workers)
    if not grouped.decoys:
        raise no_decoys(dataset.name, folder, grouped.passed_over)
    given = partners_given(grouped, for_all, of_targets)
    unread = describe_passed_over(folder, grouped.passed_over)
    plan = plan_of(grouped, given)
    advice = KEEP_TO_FOLDERS if by == BY_SEQUENCE else GO_BY_SEQUENCES
    return ScoringInput(
        name=dataset.name,
        grouped=grouped,
        plan=plan,
        notes=[
            *grouped.sentences(f" ({advice})"),
            *of_archives,
            *recognised(plan),
            *bodies_alone(plan, grouped),
            *called_otherwise(given, grouped),
            *unread,
        ],
        store=opened,
    )


def score_folder(
    config: Config,
    models: ScoringInput,
    workers: int = 1,
    show: Show | None = None,
    scorer: Scorer | None = None,
    room: Any = None,
) -> ScoredTargets:
    """Score the models of a folder and rank them.

    Nothing crosses targets but the tables: a target whose files and settings are those of an
    earlier run comes from the store; of the others, the features of each model that is new are
    computed, then each target is scored. After an interruption the same call goes on at the last
    finished model.

    Parameters
    ----------
    config : settings of the command
    models : from `find_models`
    workers : processes
    show : is called with the number of models that are done, in steps that add up to all
    scorer : an open one; by default that of the settings
    room : a temporary folder that lasts as long as the results

    Returns
    -------
    results : the tables

    Raises
    ------
    CheckpointError, GraphError, RecordError, StructureError : the scorer or the store is damaged or
        does not fit
    """
    scorer = scorer or open_scorer(config)
    options = ScoringOptions(
        plddt=config.plddt_of(models.name),
        rank_by=config.rank_by,
        use_confidence=config.confidence,
    )
    contents = {}
    for path, sketch in models.grouped.sketches.items():
        if sketch:
            contents[path] = sketch.content
    target_scorer = TargetScorer(
        scorer, features_of(scorer), models.store, options, contents
    )
    results = score_targets(
        target_scorer, models.targets(), workers, show or (lambda n: None)
    )
    return ScoredTargets(
        name=models.name,
        target_results=results,
        plan=models.plan,
        scorer=scorer,
        options=options,
        store=models.store,
        decisions=models.notes,
        room=room,
        workers=workers,
    )
