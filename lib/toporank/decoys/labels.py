"""Label tables: DockQ of decoys whose native is known."""

from __future__ import annotations

import csv
import random
import warnings
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from toporank.decoys.identity import split_suffix
from toporank.errors import ConfigError


class Label(NamedTuple):
    """DockQ of one decoy, from 0 to 1, and the split it belongs to: `train`, `val` or `test`."""

    target: str
    decoy: str
    dockq: float
    split: str


SPLITS = ("train", "val", "test")
COLUMNS = ("target", "decoy", "dockq", "split")
_NAMES = {"target": "target", "model": "decoy", "decoy": "decoy", "dockq": "dockq", "capri": "capri", "split": "split"}


def read_labels(source: Path | dict[str, Path], *, validation_percent: float, split_seed: int) -> pd.DataFrame:
    """Read a label table, or one per split.

    Columns (any case): Target, Model (or Decoy; a structure suffix may follow the name), DockQ in [0, 1],
    and optionally CAPRI and split. Without a split, whole targets are set aside for validation.

    Returns target, decoy, dockq, split; sorted by target and decoy. Raises ConfigError naming file and row.
    """
    if isinstance(source, dict):
        table = pd.concat([_read(path).assign(split=split) for split, path in source.items()], ignore_index=True)
    else:
        table = _read(source)
    where = source if isinstance(source, Path) else ", ".join(map(str, source.values()))
    twice = table[table.duplicated(["target", "decoy"], keep=False)]
    if len(twice):
        first = twice.iloc[0]
        raise ConfigError(f"decoy {first.decoy!r} of target {first.target!r} is labelled twice", where=where)
    if "split" not in table:
        table["split"] = _split_by_target(table, validation_percent, split_seed)
    _check_splits(table, where)
    return table[list(COLUMNS)].sort_values(["target", "decoy"], ignore_index=True)


def read_split_labels(path: Path) -> list[Label]:
    """Read labels as the preflight wrote them."""
    with open(path, encoding="utf-8", newline="") as handle:
        return [Label(r["target"], r["decoy"], float(r["dockq"]), r["split"]) for r in csv.DictReader(handle)]


def _read(path: Path) -> pd.DataFrame:
    """One file, columns renamed, values checked."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)  # a row longer than the header
            table = pd.read_csv(
                path, dtype=str, keep_default_na=False, skipinitialspace=True, skip_blank_lines=False, index_col=False
            ).fillna("")
    except (OSError, UnicodeDecodeError, ValueError, pd.errors.ParserWarning) as error:
        raise ConfigError(f"the labels cannot be read: {error}", where=path) from error
    table.columns = [_NAMES.get(column.strip().lower(), column) for column in table.columns]
    missing = [column for column in ("target", "decoy", "dockq") if column not in table]
    if missing or table.columns.duplicated().any():
        raise ConfigError(
            f"the header must have Target, Model and DockQ once each, it is: {', '.join(table.columns)}", where=path
        )
    table = table.apply(lambda column: column.str.strip())
    table = table[(table != "").any(axis=1)]  # blank lines; the index goes on counting them
    if table.empty:
        raise ConfigError("the labels have no rows", where=path)
    nameless = table.index[(table["target"] == "") | (table["decoy"] == "")]
    if len(nameless):
        raise ConfigError("a row without target or decoy", where=f"{path}, line {nameless[0] + 2}")
    dockq = pd.to_numeric(table["dockq"], errors="coerce")
    bad = table[~dockq.between(0.0, 1.0)]
    if len(bad):
        row = bad.index[0]
        raise ConfigError(
            f"DockQ of {bad.target[row]}/{bad.decoy[row]} is {bad.dockq[row]!r}, not a number from 0 to 1",
            where=f"{path}, line {row + 2}",
        )
    decoys = [(split_suffix(name) or (name,))[0] for name in table["decoy"]]
    return table.assign(dockq=dockq, decoy=decoys)


def _split_by_target(table: pd.DataFrame, percent: float, seed: int) -> list[str]:
    """Whole targets into train and val, at least one each."""
    targets = sorted(set(table["target"]))
    random.Random(seed).shuffle(targets)
    held_out = set(targets[: max(1, min(len(targets) - 1, round(len(targets) * percent / 100)))])
    return ["val" if target in held_out else "train" for target in table["target"]]


def _check_splits(table: pd.DataFrame, where: object) -> None:
    """Splits have known names, and no target is in two."""
    table["split"] = table["split"].str.strip().str.lower()
    unknown = sorted(set(table["split"]) - set(SPLITS))
    if unknown:
        raise ConfigError(f"unknown split {unknown[0]!r}", where=where, remedy=f"use {', '.join(SPLITS)}")
    both = table.groupby("target")["split"].nunique()
    if (both > 1).any():
        raise ConfigError(
            f"target {both.index[both > 1][0]!r} is in more than one split",
            where=where,
            remedy="split by whole targets",
        )
