"""The targets of a folder, or a part of them, scored in this process or in several."""

from __future__ import annotations

import contextlib
import multiprocessing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toporank.building.chunks.ledger import LedgerRow
from toporank.building.chunks.plan import PlannedDecoy
from toporank.ranking.score import TargetScorer
from toporank.ranking.target_result import TargetResult

WORTH_A_WORKER = 4
"""New models for each worker process: starting one costs less than computing these."""

Show = Callable[[int], None]
"""Takes the number of further models that are done."""


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
    scorer, targets, workers, show : as for `app.score_folder.score_folder`
    fates : (target, decoy) → what became of it in the feature stages, of decoys that were built;
        without, all are built
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
        of_plan = [fates[decoy.key] for decoy in plan if decoy.key in fates]
        tasks.append((plan, of_plan))
    tasks.sort(key=lambda task: -len(task[0]))
    with _mapped(scorer, _score, tasks, max(1, min(workers, len(tasks)))) as scored:
        for result in scored:
            results[result.target] = result
    return [results[plan[0].target] for plan in targets]


def _features(
    scorer: TargetScorer, decoys: Sequence[PlannedDecoy], workers: int, show: Show
) -> dict[tuple[str, str], LedgerRow]:
    """(target, decoy) → what becomes of each decoy in the feature stages."""
    fates = {}
    with _mapped(scorer, _features_of, decoys, workers) as rows:
        if decoys:
            # while the workers are at the features; the next ones have them by their fork
            scorer.open_scorer()
        for row in rows:
            fates[row.key] = row
            show(1)
    return fates


_SCORER: TargetScorer | None = None
"""Of a worker process."""


@contextlib.contextmanager
def _mapped(
    scorer: TargetScorer, step: Callable, items: Sequence, workers: int
) -> Iterator[Iterable]:
    """The results of a step for each item, computed in this process, in order, or by several, in
    any order.
    """
    if workers == 1:
        yield (step(scorer, item) for item in items)
        return
    with multiprocessing.get_context("fork").Pool(workers, _take_scorer, [scorer]) as pool:
        yield pool.imap_unordered(_Step(step), items)


def _take_scorer(scorer: TargetScorer) -> None:
    """Begin the work of a process, which has the scorer by its fork."""
    global _SCORER
    _SCORER = scorer


@dataclass(frozen=True)
class _Step:
    """A step as a worker process takes it: without the scorer, which it has."""

    step: Callable

    def __call__(self, item: Any) -> Any:
        return self.step(_SCORER, item)


def _features_of(scorer: TargetScorer, decoy: PlannedDecoy) -> LedgerRow:
    return scorer.features_of(decoy)


def _score(scorer: TargetScorer, task: tuple[list[PlannedDecoy], list[LedgerRow]]) -> TargetResult:
    return scorer.score(*task)
