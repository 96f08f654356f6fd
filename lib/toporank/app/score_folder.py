"""From a folder of models to the answer: the one way that the command, Python and the workflow share."""

from __future__ import annotations

import contextlib
import multiprocessing
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from pathlib import Path

from toporank.app.config import Config
from toporank.app.results import Results
from toporank.app.workflow.preflight import feature_choices, said_partners, scorer_of
from toporank.building.chunks.ledger import LedgerRow
from toporank.building.chunks.plan import PlannedDecoy
from toporank.building.chunks.store import Store
from toporank.building.planning import partners_given, plan_of
from toporank.inputs.complexes import Grouped, called_otherwise
from toporank.inputs.discovery import decoys_of
from toporank.inputs.folders import EXPECTED, describe_passed_over, passed_over
from toporank.layout import repository
from toporank.ranking.score import ScoringOptions, TargetScorer, one_thread
from toporank.ranking.target_result import TargetResult
from toporank.scorer.scorer import Scorer

OVERRULE = "--targets folder keeps to the folders"
WORTH_A_WORKER = 4
"""New models for each worker process: starting one costs less than computing these."""

Show = Callable[[int], None]
"""Is told how many more models are done."""


@dataclass
class ScoringInput:
    """The models of a folder, as they will be scored.

    Attributes
    ----------
    name : of the results
    grouped : decoys with their targets
    plan : the same with partners and the states of files, in order of target and name
    notes : what TopoRank decided on the user's behalf, and what it passed over, in sentences
    """

    name: str
    grouped: Grouped
    plan: list[PlannedDecoy]
    notes: list[str]

    def targets(self) -> list[list[PlannedDecoy]]:
        """The decoys of each target, in order of target."""
        return [list(decoys) for _, decoys in groupby(self.plan, key=attrgetter("target"))]


def find_models(config: Config, folder: Path, store: Path) -> ScoringInput:
    """The models in a folder with their targets and partners.

    Parameters
    ----------
    config : settings of the command; it has one data set
    folder : where the models lie
    store : the reuse store, which knows files that were looked into before

    Raises
    ------
    ConfigError : the folder cannot be listed, or partners contradict each other
    """
    (dataset,) = config.datasets
    for_all, of_targets = said_partners(config, dataset, folder, repository())
    grouped = decoys_of(dataset.name, folder, config.grouped_by(dataset), store, of_targets)
    renamed = called_otherwise(partners_given(grouped, for_all, of_targets), grouped)
    unread = describe_passed_over(folder, passed_over(folder, grouped.decoys))
    return ScoringInput(
        name=dataset.name,
        grouped=grouped,
        plan=plan_of(grouped, for_all, of_targets),
        notes=[
            *(f"{note} ({OVERRULE})" for note in grouped.notes),
            *grouped.mutants,
            *renamed,
            *(f"{line} ({EXPECTED})" for line in unread),
        ],
    )


def score_folder(config: Config, models: ScoringInput, store: Path, workers: int = 1, show: Show | None = None) -> Results:
    """Score the models of a folder and rank them.

    Nothing crosses targets but the tables: a target whose files and settings are those of an earlier run comes from
    the store; of the others, the features of each model that is new are computed, then each target is scored. After an
    interruption the same call goes on at the last finished model.

    Parameters
    ----------
    config : settings of the command
    models : from `find_models`
    store : the reuse store
    workers : processes
    show : is called with the number of models that are done, in steps that add up to all

    Raises
    ------
    CheckpointError, GraphError, RecordError, StructureError : the scorer or the store is damaged or does not fit
    """
    scorer = Scorer.open(scorer_of(config, repository()))
    options = ScoringOptions(
        plddt=config.plddt_of(models.name),
        rank_by=config.rank_by,
        fold_twins=config.fold_twins,
        use_confidence=config.use_confidence,
    )
    kept = Store(store, thin=True)
    target_scorer = TargetScorer(scorer, feature_choices(config, repository()), kept, options)
    results = score_targets(target_scorer, models.targets(), workers, show or (lambda n: None))
    return Results(
        name=models.name,
        target_results=results,
        plan=models.plan,
        scorer=scorer,
        options=options,
        store=kept,
        notes=models.notes,
    )


def part_of(plan: Iterable[PlannedDecoy], part: str) -> list[list[PlannedDecoy]]:
    """The targets of one of several parts, each with its decoys.

    Parameters
    ----------
    plan : all decoys
    part : number of the part, from 1, and of all parts, such as "3-of-7"
    """
    number, n_parts = map(int, part.split("-of-"))
    targets = [list(decoys) for _, decoys in groupby(sorted(plan), key=attrgetter("target"))]
    return [decoys for decoys in targets if zlib.crc32(decoys[0].target.encode()) % n_parts == number - 1]


def score_targets(
    scorer: TargetScorer,
    targets: Sequence[list[PlannedDecoy]],
    workers: int,
    show: Show,
    fates: Mapping[tuple[str, str], LedgerRow] | None = None,
) -> list[TargetResult]:
    """The results of some targets, in their order.

    Parameters
    ----------
    scorer, targets, workers, show : as for `score_folder`
    fates : (target, decoy) → what became of it in the feature stages, of decoys that were built; without, all are built
    """
    results: dict[str, TargetResult] = {}
    new = []
    for plan in targets:
        cached = scorer.cache.find(plan)
        if cached is None:
            new.append(plan)
        else:
            results[cached.target] = cached
            show(len(plan))
    decoys = [decoy for plan in new for decoy in plan]
    workers = max(1, min(workers, len(decoys) // WORTH_A_WORKER))
    if fates is None:
        fates = _features(scorer, decoys, workers, show)
    else:
        show(len(decoys))
    tasks = []
    for plan in new:
        tasks.append((plan, [fates[decoy.key] for decoy in plan if decoy.key in fates]))
    tasks.sort(key=lambda task: -len(task[0]))
    with _pool(scorer, min(workers, max(1, len(tasks)))) as run:
        for result in run(_score, tasks):
            results[result.target] = result
    return [results[plan[0].target] for plan in targets]


def _features(
    scorer: TargetScorer, decoys: Sequence[PlannedDecoy], workers: int, show: Show
) -> dict[tuple[str, str], LedgerRow]:
    """(target, decoy) → what becomes of each decoy in the feature stages."""
    fates = {}
    with _pool(scorer, workers) as run:
        rows = run(_features_of, decoys)
        if decoys:
            scorer.open_networks()  # while the workers are at the features; the next ones have them by their fork
        for row in rows:
            fates[row.key] = row
            show(1)
    return fates


_SCORER: TargetScorer | None = None
"""Of a worker process: a fork has it from its parent."""


@contextlib.contextmanager
def _pool(scorer: TargetScorer, workers: int) -> Iterator[Callable]:
    """A function that applies another one to many items, in this process or in several."""
    global _SCORER
    _SCORER = scorer
    if workers == 1:
        yield map
        return
    with multiprocessing.get_context("fork").Pool(workers) as pool:
        yield lambda function, items: pool.imap_unordered(function, items)


def _features_of(decoy: PlannedDecoy) -> LedgerRow:
    return _SCORER.features_of(decoy)


def _score(task: tuple[list[PlannedDecoy], list[LedgerRow]]) -> TargetResult:
    with one_thread():
        return _SCORER.score(*task)
