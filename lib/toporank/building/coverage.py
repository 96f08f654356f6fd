"""Coverage: one row for every decoy and every label, so that nothing is lost unseen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

import pandas as pd

from toporank import layout
from toporank.building.ledger import LedgerRow
from toporank.building.plan import PlannedDecoy
from toporank.config import Coverage
from toporank.decoys.identity import Status
from toporank.decoys.labels import COLUMNS as LABEL_COLUMNS
from toporank.decoys.labels import Label
from toporank.errors import ConfigError

COLUMNS = ("target", "decoy", "status", "stage", "reason", "dockq", "split", "n_chains", "n_interface_residues", "path")


def coverage_table(plan: Iterable[PlannedDecoy], ledger: Iterable[LedgerRow], labels: pd.DataFrame) -> pd.DataFrame:
    """Join decoys, what became of them, and labels.

    A label without decoy is a row of its own with
    status `label_without_decoy`; a decoy without fate was not asked for. Sorted by target and decoy.
    """
    identity = ["target", "decoy"]
    decoys = pd.DataFrame([(r.target, r.decoy, r.path) for r in plan], columns=[*identity, "path"], dtype=str)
    fates = pd.DataFrame(
        [(r.target, r.decoy, r.status, r.stage, r.reason, r.n_chains, r.n_interface_residues) for r in ledger],
        columns=[*identity, "status", "stage", "reason", "n_chains", "n_interface_residues"],
    )
    labelled = pd.DataFrame(labels, columns=list(LABEL_COLUMNS)).astype({"dockq": float})
    table = decoys.merge(fates, on=identity, how="left", validate="1:1").merge(labelled, on=identity, how="outer")
    absent = table["path"].isna()
    table.loc[absent, ["status", "reason"]] = [Status.NO_DECOY, "the label table names it, but there is no such file"]
    untold = table["status"].isna()
    table.loc[untold, ["status", "reason"]] = [Status.NOT_BUILT, "not of the targets asked for"]
    for count in ("n_chains", "n_interface_residues"):
        table[count] = table[count].astype("Int64").where(table[count] >= 0)
    return table[list(COLUMNS)].sort_values(identity, ignore_index=True)


def read_coverage(path: Path) -> pd.DataFrame:
    """Read coverage.tsv; names stay text, empty text stays empty."""
    text = ["target", "decoy", "status", "stage", "reason", "split", "path"]
    table = pd.read_csv(path, sep="\t", dtype=dict.fromkeys(text, str), keep_default_na=False, na_values={
        column: [""] for column in ("dockq", "n_chains", "n_interface_residues")
    }, quoting=3)  # fmt: skip
    return table.astype({"n_chains": "Int64", "n_interface_residues": "Int64"})


def counts(table: pd.DataFrame) -> str:
    """One line in which the numbers add up."""
    decoys = table[table["status"] != Status.NO_DECOY]
    labelled = table[table["dockq"].notna()]
    with_graph = int((labelled["status"] == Status.OK).sum())
    without = Counter(labelled.loc[labelled["status"] != Status.OK, "status"])
    return (
        f"{len(decoys)} decoys = {in_parts(Counter(decoys['status']))}; "
        f"{len(labelled)} labels = {in_parts(Counter({'with a graph': with_graph}) + without)}; "
        f"{int(decoys['dockq'].isna().sum())} decoys without label"
    )


def check_policy(table: pd.DataFrame, policy: Coverage, dataset: str) -> None:
    """Raise ConfigError when too few labels of a data set have a graph to train on it."""
    labels = table[table["dockq"].notna()]
    labelled = labels[labels["status"] != Status.NOT_BUILT]
    if len(labels) and not len(labelled):
        return  # none of its targets is asked for
    missing = labelled[labelled["status"] != Status.OK]
    percent = 100.0 * (len(labelled) - len(missing)) / len(labelled) if len(labelled) else 0.0
    if percent < policy.minimum_percent or (policy.fail_on_missing and len(missing)):
        limit = "every label" if policy.fail_on_missing else f"at least {policy.minimum_percent:g} %"
        reasons = ", ".join(f"{n} {status}" for status, n in Counter(missing["status"]).most_common())
        raise ConfigError(
            f"{len(labelled) - len(missing)} of {len(labelled)} labels ({percent:.1f} %) have a graph, {limit} must"
            f" (missing: {reasons or 'no labels at all'})",
            where=f"dataset {dataset}",
            remedy=f"see {layout.COVERAGE.format(dataset=dataset)}, or change `coverage` in the configuration",
        )


def in_parts(parts: Mapping[str, int]) -> str:
    """`3 ok + 1 failed`: most frequent first."""
    return " + ".join(f"{n} {what}" for what, n in sorted(parts.items(), key=lambda p: (-p[1], p[0]))) or "0"


def write_coverage(path, table):
    from toporank.files import write_text

    write_text(path, table.to_csv(sep="\t", index=False, quoting=3))
