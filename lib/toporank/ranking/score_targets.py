"""The targets of a folder, or a part of them, scored in this process or in several."""

from __future__ import annotations

import contextlib
import multiprocessing
from collections.abc import Callable, Iterator, Mapping, Sequence

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
    return _SCORER.score(*task)
