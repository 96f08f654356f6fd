"""Two folders that `toporank score` wrote, as one table of targets."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Mapping

import pandas as pd

from toporank.chains.kinds import kinds_of
from toporank.ranking.scored import Scored
from toporank.ranking.target_table import CLOSE
from toporank.ranking.verdict import REJECT
from toporank.scorer.scorer import ScoredWith

OF_EACH_RUN = (
    "n_models",
    "best",
    "dockq",
    "dockq_low",
    "dockq_high",
    "p_acceptable",
    "verdict",
    "file",
)
OF_RUNS = [f"{column}_{run}" for column, run in itertools.product(OF_EACH_RUN, "ab")]
COLUMNS = ["target", "name_in_b", "status", "trust", "difference", "why", *OF_RUNS]


def compare(a: Scored, b: Scored) -> pd.DataFrame:
    """Return all targets of two runs, the largest differences first; columns `COLUMNS`.

    Targets belong together by name; those whose name only one run has, by the sequences of their
    chains. `difference` is DockQ in B minus that in A. `trust` is A, B, either, neither or unclear,
    for the reason in `why`; it is empty for a target that only one run has.
    """
    kinds = kinds_of([chain.sequence for chain in [*a.chains, *b.chains]])
    rows_a, rows_b = _targets(a, kinds), _targets(b, kinds)
    names = _names_in_a(rows_a, rows_b)
    rows_b["name_in_b"] = rows_b["target"].where(rows_b["target"].isin(names), "")
    rows_b["target"] = rows_b["target"].replace(names)
    table = rows_a.merge(rows_b, how="outer", on="target", suffixes=("_a", "_b"))
    table["difference"] = (table["dockq_b"] - table["dockq_a"]).round(7)
    doubt = "; ".join(differences_of_runs(a, b))
    judgements = [_judgement(row, doubt) for _, row in table.iterrows()]
    table[["status", "trust", "why"]] = pd.DataFrame(judgements, index=table.index)
    table["size"] = table["difference"].abs()
    table = table.sort_values(
        ["size", "status", "target"], ascending=[False, True, True], ignore_index=True
    )
    return table[COLUMNS]


def differences_of_runs(a: Scored, b: Scored) -> list[str]:
    """Return why the scores of two runs cannot be compared.

    It names the scorer and the options that differ.
    """
    if a.record is None or b.record is None:
        run = "A" if a.record is None else "B"
        return [f"run {run} does not record its scorer (score it again)"]
    reasons = []
    for name in ScoredWith._fields:
        in_a, in_b = (
            str(getattr(a.record, name))[:16],
            str(getattr(b.record, name))[:16],
        )
        if in_a != in_b and name not in ("version", "checkpoint"):
            reasons.append(f"{name} is {in_a} in A and {in_b} in B")
    return reasons


def _targets(run: Scored, kinds: Mapping[str, int]) -> pd.DataFrame:
    """The targets, and the columns `complex` and `out_of_domain` (of the best model).

    `complex` has kinds of chains with their numbers, equal for the same complex.
    """
    n_chains: dict[str, Counter[int]] = defaultdict(Counter)
    for chain in run.chains:
        kind = kinds[chain.sequence]
        n_chains[chain.target][kind] += max(len(chain.chains.split()), 1)
    complexes = {
        target: str(sorted(numbers.items())) for target, numbers in n_chains.items()
    }
    targets = run.targets["target"]
    best = run.facts.drop_duplicates("target").set_index("target")
    return run.targets.assign(
        complex=targets.map(complexes).astype(object),
        out_of_domain=targets.map(best["out_of_domain"]),
    )


def _names_in_a(rows_a: pd.DataFrame, rows_b: pd.DataFrame) -> dict[str, str]:
    """Target of B → its name in A, where just one of either run has its chains and no namesake."""
    only_a = rows_a[~rows_a["target"].isin(rows_b["target"])].drop_duplicates(
        "complex", keep=False
    )
    only_b = rows_b[~rows_b["target"].isin(rows_a["target"])].drop_duplicates(
        "complex", keep=False
    )
    pairs = only_a.dropna(subset="complex").merge(
        only_b, on="complex", suffixes=("_a", "_b")
    )
    return dict(zip(pairs["target_b"], pairs["target_a"], strict=True))


def _judgement(row: pd.Series, doubt: str) -> tuple[str, str, str]:
    """Status of a target, the run to trust, and why.

    doubt : why the scores of the runs cannot be compared, if so.
    """
    for run, other in ("AB", "BA"):
        if pd.isna(row[f"n_models_{other.lower()}"]):
            return f"only_{run.lower()}", "", f"only run {run} has this target"
    if pd.isna(row["difference"]):
        return "not_scored", "", "a run has no score of this target"
    higher, lower = ("b", "a") if row["difference"] > 0 else ("a", "b")
    run = higher.upper()
    low, high = row[f"dockq_low_{higher}"], row[f"dockq_high_{lower}"]
    if abs(row["difference"]) < CLOSE:
        status, trust = "same", "either"
        why = f"DockQ differs by less than {CLOSE}"
    elif low > high:
        status, trust = f"{higher}_better", run
        why = f"{run} is better, and the intervals do not overlap"
    else:
        status, trust = f"{higher}_higher", "unclear"
        why = f"{run} is higher, but the intervals overlap or are unknown"
    if row[f"out_of_domain_{higher}"] and trust == run:
        trust, why = (
            "unclear",
            f"{why}; the model of {run} is unlike what TopoRank learned from",
        )
    if row["verdict_a"] == row["verdict_b"] == REJECT:
        trust, why = "neither", f"{why}; no run has a model to believe"
    if row[["complex_a", "complex_b"]].nunique() > 1:
        doubt = "the chains differ: is it the same complex?"
    if doubt:
        return status, "unclear", f"{why}; {doubt}"
    return status, trust, why
