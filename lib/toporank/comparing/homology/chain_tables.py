"""The tables of chains, of the splits of targets, and of what a network has seen of them."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from toporank.chains.kmers import PROTEIN
from toporank.errors import ConfigError, RecordError
from toporank.files.spreadsheets import read_rows, write_rows

DAMAGED = "delete it and run again"
UNKNOWN = "unknown"
"""Kind of a chain whose sequence is not known: that of a target with graphs and without structures.
"""


class ChainRow(NamedTuple):
    """A row of chains.csv: one of the different sequences of a target.

    decoy : the one it was read from, structure_sha256 : of its file. chains : names of those that
    have this sequence, separated by blanks. kind : one of `kmers.KINDS`, or `UNKNOWN`. sequence :
    one-letter codes, X for what is not one of the 20 amino acids.
    """

    target: str
    decoy: str
    structure_sha256: str
    chains: str
    kind: str
    sequence: str


def write_chains(path: Path | str, rows: Iterable[ChainRow]) -> None:
    """Write chains.csv."""
    write_rows(path, ChainRow._fields, rows)


def read_chains(path: Path | str) -> list[ChainRow]:
    """Read chains.csv. Raises RecordError when it is something else."""
    try:
        return [ChainRow(**row) for row in read_rows(path)]
    except (TypeError, ValueError, csv.Error) as error:
        raise RecordError(
            "not a table of chains", where=path, remedy=DAMAGED
        ) from error


def sequences_of_chains(rows: Iterable[ChainRow]) -> dict[str, dict[str, str]]:
    """Target → the sequence of each of its chains, by name."""
    found: dict[str, dict[str, str]] = {}
    for row in rows:
        found.setdefault(row.target, {}).update(
            dict.fromkeys(row.chains.split(), row.sequence)
        )
    return found


def compared(rows: Iterable[ChainRow]) -> dict[str, list[str]]:
    """Target → its sequences that are compared with others: those of no antibody and no peptide."""
    sequences: dict[str, list[str]] = {}
    for row in rows:
        of_target = sequences.setdefault(row.target, [])
        if row.kind == PROTEIN:
            of_target.append(row.sequence)
    return sequences


class TargetSplit(NamedTuple):
    """A row of splits.csv: where a labelled target of a data set belongs.

    fold : from 0, None when there are fewer clusters than folds, or for a target that is only
    fine-tuned on. nearest_training_target and containment: of a target that is held out, the
    training target with the chain most like one of its own; `""` and None when none is compared.
    """

    dataset: str
    target: str
    cluster: str
    split: str
    fold: int | None
    nearest_training_target: str
    containment: float | None


def write_splits(path: Path | str, rows: Iterable[TargetSplit]) -> None:
    """Write splits.csv."""
    write_rows(path, TargetSplit._fields, rows)


def read_splits(path: Path | str) -> list[TargetSplit]:
    """Read splits.csv. Raises RecordError when it is something else."""
    rows = []
    try:
        for row in read_rows(path):
            fold, containment = row.pop("fold"), row.pop("containment")
            split = TargetSplit(
                **row,
                fold=int(fold) if fold else None,
                containment=float(containment) if containment else None,
            )
            rows.append(split)
    except (KeyError, TypeError, ValueError) as error:
        raise RecordError(
            "not a table of splits", where=path, remedy=DAMAGED
        ) from error
    return rows


def split_of_targets(
    rows: Iterable[TargetSplit], fold: int | None = None
) -> Mapping[tuple[str, str], str]:
    """The split of each target, by data set and target.

    fold : of a cross-validation, its targets are `test`; those of the next fold are `val`, all
    others `train`. Raises ConfigError when there are no folds. Targets that are in none are left
    out.
    """
    rows = list(rows)
    if fold is None:
        return {row[:2]: row.split for row in rows}
    rows = [row for row in rows if row.fold is not None]
    folds = {row.fold for row in rows}
    if not folds:
        raise ConfigError(
            "there are fewer clusters of training targets than folds",
            where="training.folds",
            remedy="ask for fewer, or label more targets",
        )
    roles: dict[int | None, str] = {fold: "test", (fold + 1) % len(folds): "val"}
    return {row[:2]: roles.get(row.fold, "train") for row in rows}
