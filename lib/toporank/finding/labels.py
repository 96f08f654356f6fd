"""Label tables: DockQ of decoys whose native is known."""

from __future__ import annotations

import difflib
import math
import random
import re
from collections import Counter
from collections.abc import Container, Iterable
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from toporank.chains.partners import (
    checked_partners,
    mapping_text,
    parse_partners,
    partners_text,
    read_mapping,
)
from toporank.errors import ConfigError, printable
from toporank.files.atomic import write_text_if_changed
from toporank.files.printable_names import table_name
from toporank.files.spreadsheets import read_rows, restored, table_text
from toporank.files.user_tables import read_table
from toporank.lookup import targets_of
from toporank.structures.identity import Decoy, DecoyKey, keys_of, split_suffix


class SplitRules(NamedTuple):
    """How targets are dealt out.

    split_by : `cluster` or `target`, what stays together in folds. percent : share of the targets
    that validate, in percent. seed : of the draws. folds : parts of a cross-validation. align :
    whether MMseqs2 compares the chains, too.
    """

    split_by: str
    percent: float
    seed: int
    folds: int
    align: bool = False


class Label(NamedTuple):
    """DockQ of one decoy, from 0 to 1, with its split and the group of decoys judged apart.

    split : `train`, `val` or `test`, or `""` while nothing is decided.
    partners : those the DockQ is between, as `partners.partners_text` writes them; empty where the
        table says nothing.
    interface : likewise the two partners that meet in the interface that is labelled; empty for the
        whole decoy.
    mapping : which chain of the native is which of the decoy, as `partners.mapping_text`
        writes it, where the partners are named by chains of the native; empty where the table does
        not say it.
    """

    target: str
    decoy: str
    dockq: float
    split: str
    group: str = ""
    partners: str = ""
    interface: str = ""
    mapping: str = ""


SPLITS = ("train", "val", "test")
COLUMNS = Label._fields[: Label._fields.index("mapping")]
"""Of the table that jobs read: partners are in the plan by then."""
_NAMES = dict(zip(Label._fields, Label._fields, strict=True)) | {
    "status": "status",
    "model": "decoy",
}
_EMPTY = dict.fromkeys(_NAMES.values(), "")
_place = attrgetter("target", "decoy", "interface")
"""What is labelled, by which labels are sorted."""
NAMES_OF_FILES = (
    "name targets and models in the labels as folders and files are named, in the same capitals "
    "and without endings"
)
_REQUIRED = {"target": "Target", "decoy": "Model", "dockq": "DockQ"}
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def read_labels(source: Path | dict[str, Path], rules: SplitRules) -> list[Label]:
    """Read a label table, or one per split; sorted by target, decoy and interface.

    Columns (any case): Target, Model (or Decoy; a structure suffix may follow the name), DockQ in
    [0, 1], and optionally split, group, Partners, Mapping and Interface; others are ignored.
    Separated by commas, semicolons or tabs. A row with an interface labels only this; one without
    DockQ whose Status is not ok, as in dockq.csv, labels nothing. Without a split, whole targets
    are set aside for validation where `rules` split by targets; otherwise nothing is decided, since
    chains are not known yet. Names are as `table_name` gives them, like those of decoys.

    Parameters
    ----------
    source : the table, or the table of each split
    rules : how targets are split, if the table has no split

    Returns
    -------
    labels : one for each row with a DockQ

    Raises
    ------
    ConfigError
        naming file and line

    Examples
    --------
    >>> from toporank.layout import repository
    >>> example = repository() / "resources/example"
    >>> by_target = SplitRules(split_by="target", percent=20, seed=0, folds=5)
    >>> labels = read_labels(example / "labels.csv", by_target)
    >>> labels[0].target, labels[0].decoy, labels[0].dockq, labels[0].split
    ('1AVZ', 'far1', 0.3001, 'train')
    """
    files = source if isinstance(source, dict) else {"": source}
    where = ", ".join(map(str, files.values()))
    labels: list[Label] = []
    have_splits = True
    for split, path in files.items():
        table = read_table(path, _NAMES, _REQUIRED, "the labels")
        have_splits = have_splits and (bool(split) or "split" in table.header)
        for line, row in table.rows:
            row = _EMPTY | row
            # our dockq.csv has rows that say why a decoy has no label
            without_label = row["status"].lower() not in ("", "ok")
            if row["dockq"] or not without_label:
                labels.append(_label(row, split, line))
    labels.sort(key=_place)
    for place, n in Counter(map(_place, labels)).items():
        if n > 1:
            target, decoy, interface = place
            what = f"interface {interface} of model" if interface else "model"
            raise ConfigError(
                f"{what} {decoy!r} of target {target!r} is labelled twice", where=where
            )
    if have_splits:
        _check_splits(labels, where)
        return labels
    return split_by_rules(labels, rules)


def write_labels(path: Path | str, labels: Iterable[Label]) -> bool:
    """Write labels for `read_split_labels`, if they differ from what is there.

    It returns whether they did.
    """
    rows = map(attrgetter(*COLUMNS), labels)
    return write_text_if_changed(path, table_text(COLUMNS, rows))


def read_split_labels(path: Path, *, interfaces: bool = False) -> list[Label]:
    """Read labels as `write_labels` wrote them.

    Parameters
    ----------
    interfaces : also those of single interfaces
    """
    labels = []
    for row in read_rows(path):
        dockq = float(row.pop("dockq"))
        labels.append(Label(**row, dockq=dockq))
    return labels if interfaces else of_decoys(labels)


def of_decoys(labels: Iterable[Label]) -> list[Label]:
    """Return the labels of whole decoys."""
    return [label for label in labels if not label.interface]


def _label(row: dict[str, str], split: str, where: str) -> Label:
    """The label in a row."""
    target, decoy = row["target"], row["decoy"]
    if not (target and decoy):
        raise ConfigError("a row without target or model", where=where)
    number = row["dockq"].replace(",", ".")  # half of Europe writes `T;model;0,5`
    dockq = float(number) if _NUMBER.fullmatch(number) else math.nan
    if not 0.0 <= dockq <= 1.0:
        name = f"{table_name(target)}/{table_name(decoy)}"
        what = f"DockQ of {name} is {row['dockq']!r}, not a number from 0 to 1"
        raise ConfigError(what, where=where)
    stem, _ = split_suffix(decoy) or (decoy, "")
    label = Label(
        target=table_name(restored(target)),
        decoy=table_name(restored(stem)),
        dockq=dockq,
        split=split or row["split"].lower(),
        group=row["group"] and printable(row["group"]),
    )
    if row["partners"]:
        partners = checked_partners(row["partners"], where)
        mapping = mapping_text(read_mapping(row["mapping"], where))
        label = label._replace(partners=partners, mapping=mapping)
    if row["interface"]:
        interface = parse_partners(row["interface"], where)
        label = label._replace(interface=partners_text(interface))
    return label


def check_unambiguous(labels: Iterable[Label], ambiguous: Container[DecoyKey]) -> None:
    """Raise ConfigError for a label that may mean several files.

    Parameters
    ----------
    ambiguous : targets and names of such files
    """
    for label in labels:
        if label[:2] in ambiguous:
            raise ConfigError(
                f"the label of {label.target}/{label.decoy} may mean several files of this name "
                "with other atoms",
                remedy="rename the files, and name the one that is meant in the labels",
            )


def split_by_rules(labels: list[Label], rules: SplitRules) -> list[Label]:
    """Labels with their split, or as they are where that is decided when chains are known."""
    if rules.split_by != "target":
        return labels
    return split_by_target(labels, rules.percent, rules.seed)


def split_by_target(labels: list[Label], percent: float, seed: int) -> list[Label]:
    """Split whole targets into train and val, at least one each."""
    targets = sorted(targets_of(labels))
    random.Random(seed).shuffle(targets)
    n_held_out = max(1, min(len(targets) - 1, round(len(targets) * percent / 100)))
    split_of = dict.fromkeys(targets, "train") | dict.fromkeys(
        targets[:n_held_out], "val"
    )
    return [label._replace(split=split_of[label.target]) for label in labels]


def _check_splits(labels: list[Label], where: object) -> None:
    """Raise ConfigError where a split has another name, or a target is in two."""
    unknown = sorted({label.split for label in labels}.difference(SPLITS))
    if unknown:
        remedy = f"use {', '.join(SPLITS)}"
        raise ConfigError(f"unknown split {unknown[0]!r}", where=where, remedy=remedy)
    split_of: dict[str, str] = {}
    for label in labels:
        if split_of.setdefault(label.target, label.split) != label.split:
            raise ConfigError(
                f"target {label.target!r} is in more than one split",
                where=where,
                remedy="split by whole targets",
            )


def label_problems(labels: list[Label], decoys: list[Decoy]) -> list[str]:
    """Return why nothing can be trained with these labels, seen before anything is built.

    There is a line for each reason, with what to do.

    Parameters
    ----------
    labels, decoys : of one data set that is trained on, or of all of them together
    """
    stray = mismatch(labels, decoys)
    if stray:
        return [stray]
    keys = keys_of(decoys)
    matched = [label for label in labels if label[:2] in keys]
    targets = {label.target for label in matched if label.split != "test"}
    if len(targets) == 1:
        return [
            f"only one target with models, {targets.pop()!r}, is labelled for training: at least "
            "two are needed, one to train on and one to validate on (label models of more targets)"
        ]
    problems = _equal_labels(matched)
    splits = {label.split for label in matched}
    for split in ("train", "val"):
        if matched and "" not in splits and split not in splits:
            problems.append(
                f"no label of split {split!r} has a model (give some target that split, or leave "
                "the column split out)"
            )
    return problems


def _equal_labels(labels: Iterable[Label]) -> list[str]:
    """Where all labels for training have one value.

    This looks at every split that a table gives, or at rows without a split.
    """
    of_split: dict[str, list[float]] = {}
    for label in labels:
        is_known = not math.isnan(label.dockq)  # not yet where natives give them
        if label.split != "test" and is_known:
            of_split.setdefault(label.split, []).append(label.dockq)
    problems = []
    for split, values in sorted(of_split.items()):
        if len(values) > 1 and len(set(values)) == 1:
            of = f" of split {split!r}" if split else ""
            problems.append(
                f"all {len(values)} labels{of} are {values[0]:g} (nothing can be learned or "
                "selected from equal labels; look at the label table)"
            )
    return problems


def mismatch(labels: list[Label], decoys: list[Decoy]) -> str:
    """Say that no label has a decoy, with the likeliest reason.

    The text is empty when one has, or there are none.
    """
    keys = keys_of(decoys)
    if not labels or not decoys or not keys.isdisjoint(label[:2] for label in labels):
        return ""
    what = (
        f"none of the {len(labels)} labels belongs to any of the {len(decoys)} models"
    )
    alike: dict[str, Decoy] = {}
    for decoy in decoys:
        alike[_bare(decoy.name)] = decoy
        alike[f"{_bare(decoy.target)}/{_bare(decoy.name)}"] = decoy
    for label in labels:
        name = _bare(label.decoy)
        similar = alike.get(f"{_bare(label.target)}/{name}") or alike.get(name)
        if similar:
            hint = f"did you mean {similar.target}/{similar.name}?"
            break
    else:
        label = labels[0]
        target = _nearest(label.target, targets_of(decoys))
        name = _nearest(
            label.decoy, {decoy.name for decoy in decoys if decoy.target == target}
        )
        hint = f"but for example {target}/{name}"
    return (
        f"{what}: there is no {label.target}/{label.decoy}, {hint} ({NAMES_OF_FILES})"
    )


def _nearest(name: str, names: set[str]) -> str:
    """The name that is most like another, or the first."""
    near = difflib.get_close_matches(name, sorted(names), n=1)
    return near[0] if near else min(names)


def _bare(name: str) -> str:
    """A name in small letters without folders and without anything from its first full stop on."""
    return re.split(r"[/\\]", name)[-1].partition(".")[0].casefold()
