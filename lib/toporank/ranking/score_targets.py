"""The targets of a folder, or a part of them, scored in this process or in several."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import as_completed
from typing import Any

from toporank.building.chunks.ledger import LedgerRow
from toporank.building.chunks.plan import PlannedDecoy
from toporank.inputs.confidence.side_files import look_anew
from toporank.ranking.score import TargetScorer
from toporank.ranking.target_result import TargetResult
from toporank.structures.identity import DecoyKey
from toporank.workers import forked

MODELS_PER_WORKER = 4
"""New models for each worker process: starting one costs less than computing these."""

Show = Callable[[int], None]
"""Takes the number of further models that are done."""


def score_targets(
    scorer: TargetScorer,
    targets: Sequence[list[PlannedDecoy]],
    workers: int,
    show: Show,
    fates: Mapping[DecoyKey, LedgerRow] | None = None,
) -> list[TargetResult]:
    """Return the results of some targets, in their order.

    Parameters
    ----------
    scorer, targets, workers, show : as for `app.score_folder.score_folder`
    fates : (target, decoy) → what became of it in the feature stages, of decoys that were built;
        without, all are built
    """
    look_anew()
    results: dict[str, TargetResult] = {}
    decoys = []
    new = []
    for plan in targets:
        cached = scorer.cache.find(plan)
        if cached is None:
            new.append(plan)
            decoys += plan
        else:
            results[cached.target] = cached
            show(len(plan))
    workers = max(1, min(workers, len(decoys) // MODELS_PER_WORKER))
    if fates is None:
        fates = _features(scorer, decoys, workers, show)
    else:
        show(len(decoys))
    tasks = []
    for plan in sorted(new, key=len, reverse=True):
        of_plan = [fates[decoy.key] for decoy in plan if decoy.key in fates]
        tasks.append((plan, of_plan))
    workers = max(1, min(workers, len(tasks)))
    with _mapped(lambda task: scorer.score(*task), tasks, workers) as scored:
        for result in scored:
            results[result.target] = result
    return [results[plan[0].target] for plan in targets]


def _features(
    scorer: TargetScorer, decoys: Sequence[PlannedDecoy], workers: int, show: Show
) -> dict[DecoyKey, LedgerRow]:
    """(target, decoy) → what becomes of each decoy in the feature stages."""
    fates = {}
    with _mapped(scorer.features_of, decoys, workers) as rows:
        if decoys:
            # while the workers are at the features; the next ones have them by their fork
            scorer.open_scorer()
        for row in rows:
            fates[row.key] = row
            show(1)
    return fates


@contextlib.contextmanager
def _mapped(step: Callable, items: Sequence, workers: int) -> Iterator[Iterable]:
    """The results of a step for each item, in order in this process, or in any order by several."""
    if workers == 1:
        yield map(step, items)
        return
    with forked(workers, functools.partial(_take_step, step)) as pool:
        begun = [pool.submit(_run_step, item) for item in items]
        yield (done.result() for done in as_completed(begun))


_STEP: Callable | None = None
"""Of a worker process, which has it by its fork."""


def _take_step(step: Callable) -> None:
    global _STEP
    _STEP = step


def _run_step(item: Any) -> Any:
    return _STEP(item)
