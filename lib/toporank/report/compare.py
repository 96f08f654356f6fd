"""Two folders that `toporank score` wrote, as one table of targets; docs/screens.md explains each column."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from toporank import layout
from toporank.comparing.homology.chain_tables import Chain, read_chains
from toporank.errors import RecordError
from toporank.inputs.kinds import kinds_of
from toporank.report.answer import CLOSE
from toporank.report.targets import TargetRow, read_targets
from toporank.scorer.record import ScoredWith, read_record

OF_EACH_RUN = ("chains", "n_models", "best", "dockq", "pred_low", "pred_high", "p_acceptable", "verdict", "file")
FIRST = ("target", "name_in_b", "status", "trust", "difference", "why")
COLUMNS = [*FIRST, *(f"{column}_{run}" for column in OF_EACH_RUN for run in "ab")]


def compare(a: Path, b: Path) -> pd.DataFrame:
    """All targets of two runs, the largest differences first. a, b : folders `results/scores/<name>`.

    Targets belong together by name; those whose name only one run has, by the sequences of their chains.
    """
    chains_a, chains_b = read_chains(_file(a, layout.CHAINS)), read_chains(_file(b, layout.CHAINS))
    kinds = kinds_of(chain.sequence for chain in (*chains_a, *chains_b))
    rows_a, rows_b = _targets(a, chains_a, kinds), _targets(b, chains_b, kinds)
    names = _names_in_a(rows_a, rows_b)
    rows_b["name_in_b"] = rows_b["target"].where(rows_b["target"].isin(names), "")
    rows_b["target"] = rows_b["target"].replace(names)
    table = rows_a.merge(rows_b, how="outer", on="target", suffixes=("_a", "_b"))
    table["difference"] = (table["dockq_b"].astype(float) - table["dockq_a"].astype(float)).round(7)
    doubt = "; ".join(unlike(a, b))
    table[["status", "trust", "why"]] = [_judged(row, doubt) for row in table.itertuples()]
    table["size"] = table["difference"].abs()
    return table.sort_values(["size", "status", "target"], ascending=[False, True, True])[COLUMNS]


def unlike(a: Path, b: Path) -> list[str]:
    """Why the scores of two runs do not mean the same: the scorer and the options that differ."""
    record_a, record_b = read_record(_file(a, layout.SCORED_WITH)), read_record(_file(b, layout.SCORED_WITH))
    if record_a is None or record_b is None:
        return [f"run {'A' if record_a is None else 'B'} does not record its scorer (score it again)"]
    options = [name for name in ScoredWith._fields if name not in ("version", "checkpoint")]
    values = [(name, str(getattr(record_a, name))[:16], str(getattr(record_b, name))[:16]) for name in options]
    return [f"{name} is {in_a} in A and {in_b} in B" for name, in_a, in_b in values if in_a != in_b]


def _file(folder: Path, pattern: str) -> Path:
    """A file of `layout` of the run with this folder of scores."""
    return folder.parents[2] / pattern.format(dataset=folder.name)


def _targets(folder: Path, chains: list[Chain], kinds: Mapping[str, int]) -> pd.DataFrame:
    """targets.csv, and the column `complex`: kinds of chains with their numbers, equal for the same complex."""
    table = _file(folder, layout.TARGETS)
    try:
        targets = pd.DataFrame(read_targets(table), columns=TargetRow._fields, dtype=object)
    except (KeyError, ValueError) as error:
        what = f"is damaged, or another version wrote it: {error!r}"
        raise RecordError(what, where=table, remedy="run `toporank score` there again") from error
    targets["file"] = [str(folder.parents[2] / file) if file else "" for file in targets["file"]]
    n_chains: dict[str, Counter[int]] = {}
    for chain in chains:
        n_chains.setdefault(chain.target, Counter())[kinds[chain.sequence]] += max(len(chain.chains.split()), 1)
    complexes = {target: str(sorted(numbers.items())) for target, numbers in n_chains.items()}
    return targets.assign(complex=targets["target"].map(complexes))


def _names_in_a(rows_a: pd.DataFrame, rows_b: pd.DataFrame) -> dict[str, str]:
    """Target of B → its name in A, where one target of either run alone has its chains and no namesake."""
    only_a = rows_a[~rows_a["target"].isin(rows_b["target"])].drop_duplicates("complex", keep=False)
    only_b = rows_b[~rows_b["target"].isin(rows_a["target"])].drop_duplicates("complex", keep=False)
    pairs = only_a.dropna(subset="complex").merge(only_b, on="complex", suffixes=("_a", "_b"))
    return dict(zip(pairs["target_b"], pairs["target_a"], strict=True))


def _judged(row: Any, doubt: str) -> tuple[str, str, str]:
    """Status of a target, the run to trust, and why. doubt : why scores of the runs do not mean the same, if so."""
    if pd.isna(row.n_models_a) or pd.isna(row.n_models_b):
        run = "B" if pd.isna(row.n_models_a) else "A"
        return f"only_{run.lower()}", "", f"only run {run} has this target"
    if pd.isna(row.difference):
        return "not_scored", "", "a run has no score of this target"
    if row.difference > 0:
        run, low, high, caveats = "B", row.pred_low_b, row.pred_high_a, row.caveats_b
    else:
        run, low, high, caveats = "A", row.pred_low_a, row.pred_high_b, row.caveats_a
    status, trust, why = (
        f"{run.lower()}_higher",
        "unclear",
        f"{run} is higher, but the intervals overlap or are unknown",
    )
    if abs(row.difference) < CLOSE:
        status, trust, why = "same", "either", "no difference to speak of"
    elif pd.notna(low) and pd.notna(high) and low > high:
        status, trust, why = f"{run.lower()}_better", run, f"{run} is better, and the intervals do not overlap"
    if "out_of_domain" in caveats.split() and trust == run:
        trust, why = "unclear", f"{why}; the model of {run} is out of domain"
    if row.verdict_a == row.verdict_b == "wrong":
        trust, why = "neither", f"{why}; both best models are predicted to be wrong"
    if pd.notna(row.complex_a) and pd.notna(row.complex_b) and row.complex_a != row.complex_b:
        doubt = "the chains differ: is it the same complex?"
    return status, "unclear" if doubt else trust, f"{why}; {doubt}" if doubt else why
