"""The targets of a folder, or a part of them, scored in this process or in several."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import as_completed

from toporank.building.chunks.ledger import LedgerRow
from toporank.building.chunks.plan import PlannedDecoy
from toporank.programs.file_names import look_anew
from toporank.ranking.score import TargetScorer
from toporank.ranking.target_result import TargetResult
from toporank.structures.identity import DecoyKey
from toporank.workers import forked

MODELS_PER_WORKER = 4
"""New models for each worker process: starting one costs less than computing these."""

Fates = Mapping[DecoyKey, LedgerRow]
"""(target, decoy) → what became of it in the feature stages."""
Show = Callable[[int], None]
"""Takes the number of further models that are done."""


def score_targets(
    scorer: TargetScorer,
    targets: Sequence[list[PlannedDecoy]],
    workers: int,
    show: Show,
    fates: Fates | None = None,
) -> list[TargetResult]:
    """Return the results of some targets, in their order.

    Parameters
    ----------
    scorer, targets, workers, show : as for `app.score_folder.score_folder`
    fates : of decoys that were built; without, all are built
    """
    look_anew()
    results: dict[str, TargetResult] = {}
    new = []
    for plan in targets:
        cached = scorer.cache.find(plan)
        if cached is None:
            new.append(plan)
        else:
            results[cached.target] = cached
            show(len(plan))
    if new:
        # the largest first: it takes longest
        new.sort(key=len, reverse=True)
        n_models = sum(map(len, new))
        n_steps = n_models // MODELS_PER_WORKER if fates is None else len(new)
        # before there are workers, which have it by their fork
        scorer.open_scorer()
        if min(workers, n_steps) <= 1:
            scored = _one_by_one(scorer, new, show, fates)
        else:
            scored = _side_by_side(scorer, new, min(workers, n_steps), show, fates)
        for result in scored:
            results[result.target] = result
    return [results[plan[0].target] for plan in targets]


def _one_by_one(
    scorer: TargetScorer,
    targets: Sequence[list[PlannedDecoy]],
    show: Show,
    fates: Fates | None,
) -> Iterator[TargetResult]:
    """The result of each target, computed in this process."""
    for plan in targets:
        if fates is None:
            of_plan = []
            for decoy in plan:
                of_plan.append(scorer.features_of(decoy))
                show(1)
        else:
            of_plan = _of_plan(plan, fates)
            show(len(plan))
        yield scorer.score(plan, of_plan)


def _side_by_side(
    scorer: TargetScorer,
    targets: Sequence[list[PlannedDecoy]],
    workers: int,
    show: Show,
    fates: Fates | None,
) -> Iterator[TargetResult]:
    """The results in any order: a target is scored as soon as its last decoy has features."""
    with forked(workers, functools.partial(_take_scorer, scorer)) as pool:
        of_features = {}
        scored = []
        for plan in targets:
            if fates is None:
                for decoy in plan:
                    of_features[pool.submit(_features, decoy)] = plan
            else:
                scored.append(pool.submit(_score, plan, _of_plan(plan, fates)))
                show(len(plan))
        built: dict[DecoyKey, LedgerRow] = {}
        n_built: Counter[str] = Counter()
        for done in as_completed(of_features):
            row = done.result()
            built[row.key] = row
            n_built[row.target] += 1
            plan = of_features[done]
            if n_built[row.target] == len(plan):
                scored.append(pool.submit(_score, plan, _of_plan(plan, built)))
            show(1)
        for result in as_completed(scored):
            yield result.result()


def _of_plan(plan: list[PlannedDecoy], fates: Fates) -> list[LedgerRow]:
    return [fates[decoy.key] for decoy in plan if decoy.key in fates]


_SCORER: TargetScorer
"""Of a worker process, which has it by its fork."""


def _take_scorer(scorer: TargetScorer) -> None:
    global _SCORER
    _SCORER = scorer


def _features(decoy: PlannedDecoy) -> LedgerRow:
    return _SCORER.features_of(decoy)


def _score(plan: list[PlannedDecoy], fates: list[LedgerRow]) -> TargetResult:
    return _SCORER.score(plan, fates)
