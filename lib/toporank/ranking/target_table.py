"""targets.csv: one row for each target with its best model, verdict and caveats."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from toporank.comparing.homology.chain_tables import ChainRow, sequences_of_chains
from toporank.confidence.table import INCOMPLETE, OK, Confidence
from toporank.lookup import by_decoy
from toporank.programs.catalogue import program_called
from toporank.ranking.agreement import OtherFirst, other_first
from toporank.ranking.interface_words import (
    LISTED,
    all_have_a_right_one,
    apart,
    clashes,
    is_contradicted,
    listed,
    word_of,
)
from toporank.ranking.interfaces import MAIN, SIDE, InterfaceRow
from toporank.ranking.leakage import LeakageRow
from toporank.ranking.model_table import JOINED, SIDE_CHAINS, distinct_models
from toporank.ranking.partner_hints import all_right, partners_doubt, partners_hint
from toporank.ranking.verdict import REJECT, VERDICTS
from toporank.scorer.interaction import p_interact
from toporank.scorer.prediction import KEY
from toporank.structures.identity import DecoyKey, Status
from toporank.tables.columns import TARGETS
from toporank.tables.frames import in_one_cell, read, typed
from toporank.workers import mapped

CLOSE = 0.02
"""Expected DockQ by which another model may be lower and still be as good."""
DOUBTFUL_IPTM = 0.6
"""ipTM below which a prediction has likely failed (EMBL-EBI Training, AlphaFold: a practical
guide).
"""
OF_CONFIDENCE = ["iptm", "ipsae", "pdockq2", "interface_plddt"]
SEEN_IN_TRAINING = [
    "target",
    "seen_in_training",
    "nearest_training_target",
    "containment",
    "why_seen",
]
"""The columns that say whether a target was learned from."""
OUT_OF_DOMAIN = "The networks may err here"
Between = Callable[[str, str, str], float | None]
"""Takes a target and two of its models; DockQ of the second with the first as its native."""


class TargetNotes(NamedTuple):
    """Sentences on a target.

    Attributes
    ----------
    caveats : what changes what one does with its best model, the most important first
    hint : which two chains may be one partner
    notes : what TopoRank decided, and which models have no score
    other : the model that the predictor ranks first, where that is another one
    """

    caveats: list[str]
    notes: list[str]
    other: OtherFirst | None
    hint: str = ""


def target_table(
    models: pd.DataFrame,
    notes: Mapping[str, TargetNotes],
    interfaces: Iterable[InterfaceRow] = (),
    confidence: Sequence[Confidence] = (),
    leakage: Iterable[LeakageRow] = (),
    new: Collection[str] = (),
) -> pd.DataFrame:
    """Return one row for each target, the most promising first: by verdict, probability and DockQ.

    Parameters
    ----------
    models : as from `agreement.with_predictor`
    notes : target → its sentences
    interfaces, confidence, leakage : rows of the tables of these names
    new : targets that this run computed, where others are of an earlier one

    Returns
    -------
    table : with the columns of `TARGETS`
    """
    stated = models[KEY].merge(
        pd.DataFrame(confidence, columns=Confidence._fields), on=KEY
    )
    best = models.drop_duplicates("target").rename(
        columns={"decoy": "best", "path": "file"}
    )
    best = best[best["dockq"].notna()]
    best = best.merge(_of_best(interfaces), how="left", on=["target", "best"])
    of_best = stated.rename(columns={"decoy": "best"})[
        ["target", "best", *OF_CONFIDENCE]
    ]
    best = best.merge(of_best, how="left", on=["target", "best"])
    seen = pd.DataFrame(leakage, columns=LeakageRow._fields).rename(
        columns={"why": "why_seen"}
    )

    table = models[["target"]].drop_duplicates()
    table = table.merge(
        best[best.columns.intersection(TARGETS.names)], how="left", on="target"
    )
    table = table.merge(seen, how="left", on="target").set_index("target")
    distinct = distinct_models(models).groupby("target")["dockq"]
    table["n_models"] = distinct.size()
    table["n_scored"] = distinct.count()
    table["predictors"] = stated.groupby("target")["predictor"].agg(_listed)
    table["new"] = np.where(table.index.isin(list(new)), "yes", "")
    if len(table) > 1:
        between = stated["iptm"].where(
            stated["iptm_of"] == "", stated["interface_iptm"]
        )
        ranking = stated["ranking_score"].astype(float)
        programs = map(program_called, stated["predictor"])
        by_iptm = np.array([program.ranks_by_iptm for program in programs], bool)
        ranking = ranking.where(by_iptm & (ranking <= 1))
        highest = [
            measure.astype(float).groupby(stated["target"]).max().reindex(table.index)
            for measure in (between, ranking)
        ]
        # the curves were measured for two proteins
        is_pair = table["partners"].fillna("").str.count(":") < 2
        table["p_interact"] = p_interact(*(one.where(is_pair) for one in highest))
        table["p_interact"] = table["p_interact"].round(4)
    table = table.join(_of_notes(notes)).reset_index()
    return _most_promising_first(typed(table, TARGETS.kinds))


def _of_notes(notes: Mapping[str, TargetNotes]) -> pd.DataFrame:
    """The columns of sentences, and what is known of the predictor's first model."""
    rows: dict[str, dict[str, Any]] = {}
    for target, of_target in notes.items():
        rows[target] = {
            "caveats": in_one_cell(of_target.caveats),
            "hint": of_target.hint,
            "notes": in_one_cell(of_target.notes),
        }
        if of_target.other:
            first = of_target.other.first
            rows[target] |= {
                "predictor_first": first["decoy"],
                "predictor_first_dockq": first["dockq"],
                "dockq_between": of_target.other.dockq_between,
            }
    return pd.DataFrame.from_dict(rows, orient="index")


def _of_best(interfaces: Iterable[InterfaceRow]) -> pd.DataFrame:
    """The partners of each decoy, as its file names them, such as `A:H+L`, and its interfaces.

    Its name is `best`.
    """
    of_decoys: dict[DecoyKey, list[InterfaceRow]] = {}
    for row in interfaces:
        if row.n_ca_pairs is not None:
            row = row._replace(interface=row.chains or row.interface)
            of_decoys.setdefault(row[:2], []).append(row)
    rows = []
    for key, of_decoy in of_decoys.items():
        partners = set(":".join(row.interface for row in of_decoy).split(":"))
        rows.append((*key, ":".join(sorted(partners)), interfaces_in_words(of_decoy)))
    columns = ["target", "best", "partners", "interfaces"]
    return pd.DataFrame(rows, columns=columns, dtype=object)


def interfaces_in_words(rows: Iterable[InterfaceRow], caution: str = "") -> str:
    """Return which interfaces of a decoy are good and which are doubtful.

    It is empty where the decoy has fewer than two.

    caution : words that name some of them already; these are left out

    Examples
    --------
    >>> rows = [
    ...     InterfaceRow("T", "m", name, n, n, 5.0, dockq, None, "ok", role=role)
    ...     for name, n, dockq, role in (
    ...         ("A:B", 86, 0.48, MAIN), ("A:C", 5, 0.14, SIDE), ("B:C", 140, 0.79, MAIN)
    ...     )
    ... ]
    >>> for part in interfaces_in_words(rows).split("; "):
    ...     print(part)
    B:C (0.79) looks right
    A:B (0.48) is doubtful
    A:C (5 residues) is a side contact and does not count
    """
    rows = list(rows)
    if len(rows) < 2:
        return ""
    named = set(re.split(r"[\s(),;]+", caution))
    touching = [row for row in rows if row.role and row.interface not in named]
    of_word: dict[str, list[str]] = {}
    others = []
    for row in sorted(touching, key=lambda row: (-(row.dockq or 0.0), row.interface)):
        if row.role != MAIN:
            what = "a side contact" if row.role == SIDE else row.role
            n = row.n_residues
            about = f"{row.interface} ({n} residue{'s' * (n != 1)}) is {what}"
            others.append(f"{about} and does not count")
        elif row.dockq is None:
            others.append(f"{row.interface} has no score")
        else:
            number = f"{row.dockq:.2f}"
            if is_contradicted(row):
                number += f", alone {row.dockq_alone:.2f}"
            of_word.setdefault(word_of(row), []).append(f"{row.interface} ({number})")
    parts = []
    for word, names in of_word.items():
        one = len(names) == 1
        verb = {
            "right": "looks" if one else "look",
            "wrong": "looks" if one else "look",
        }
        parts.append(f"{listed(names)} {verb.get(word, 'is' if one else 'are')} {word}")
    if len(of_word) > 1 and all_have_a_right_one(rows):
        parts.append("every partner has one that looks right")
    return "; ".join([*parts, *others[:LISTED]])


def _listed(names: pd.Series) -> str:
    return ", ".join(sorted(set(names).difference([""])))


def target_notes(
    models: pd.DataFrame,
    interfaces: Iterable[InterfaceRow],
    confidence: Sequence[Confidence],
    chains: Iterable[ChainRow],
    between: Between,
    workers: int = 1,
) -> dict[str, TargetNotes]:
    """Return target → sentences on it.

    Parameters
    ----------
    models, interfaces, confidence : as for `target_table`
    chains : the sequences of the targets
    between : gives DockQ between two models
    workers : processes
    """
    sequences = sequences_of_chains(chains)
    stated = by_decoy(confidence)
    several = models["target"].nunique() > 1
    of_interfaces: dict[str, list[InterfaceRow]] = {}
    for row in interfaces:
        of_interfaces.setdefault(row.target, []).append(row)
    of_targets = dict(list(models.groupby("target", sort=False)))
    firsts = {target: other_first(decoys) for target, decoys in of_targets.items()}
    pairs = []
    for target, first in firsts.items():
        if first is not None and pd.notna(first["dockq"]):
            best = of_targets[target].iloc[0]
            pairs.append((target, first["decoy"], best["decoy"]))
    values = mapped(lambda pair: between(*pair), pairs, workers)
    dockq = {pair[0]: value for pair, value in zip(pairs, values, strict=True)}
    notes = {}
    for target, decoys in of_targets.items():
        rows = of_interfaces.get(target, [])
        best = decoys.iloc[0]
        first = firsts[target]
        other = None
        if first is not None:
            other = OtherFirst(best, first, dockq.get(target))
        of_partners = rows, sequences.get(target)
        of_best = [row for row in rows if row.decoy == best["decoy"]]
        hint = "" if all_right(of_best) else partners_hint(*of_partners)
        warnings = [
            partners_doubt(*of_partners),
            *caveats(
                decoys,
                stated,
                of_best,
                other,
                several=several,
            ),
        ]
        remarks = [
            str(other) if other else "",
            _joined(decoys),
            lost(decoys),
        ]
        # one has to look at both, unless neither is believed
        if other and other.binds_elsewhere and best["verdict"] != REJECT:
            warnings.append(remarks.pop(0))
        if decoys["dockq"].isna().all():
            warnings.append(remarks.pop())  # a screen shows caveats alone
        notes[target] = TargetNotes(_known(warnings), _known(remarks), other, hint)
    return notes


def _known(notes: Iterable[str]) -> list[str]:
    return [note for note in notes if note]


def _joined(decoys: pd.DataFrame) -> str:
    """Which chains are one partner by nature, in a sentence.

    It is the sentence of the first decoy by name, as in the terminal.
    """
    sentences = decoys[decoys[JOINED] != ""].sort_values("decoy")[JOINED]
    return next(iter(sentences), "")


def _most_promising_first(table: pd.DataFrame) -> pd.DataFrame:
    table["place"] = table["verdict"].map([*VERDICTS, ""].index)
    order = {"place": True, "p_acceptable": False, "dockq": False, "target": True}
    table = table.sort_values(
        list(order), ascending=list(order.values()), ignore_index=True
    )
    return table.drop(columns="place")


def caveats(
    decoys: pd.DataFrame,
    stated: Mapping[DecoyKey, Confidence],
    interfaces: Iterable[InterfaceRow] = (),
    other: OtherFirst | None = None,
    *,
    several: bool = False,
) -> list[str]:
    """Return what changes what one does with the best model of a target.

    The most important one comes first.

    Parameters
    ----------
    decoys : rows of the target in `model_table`
    stated : (target, decoy) → what predictors say
    interfaces : of the best model
    other : the model that the predictor ranks first, where that is another one
    several : whether there are other targets; then no sentence says that a target has one model
    """
    scored = distinct_models(decoys)
    scored = scored[scored["dockq"].notna()]
    if scored.empty:
        return []
    best = decoys.iloc[0]
    others = scored[scored["decoy"] != (best["duplicate_of"] or best["decoy"])]
    notes = []
    is_apart = best["status"] == Status.PARTNER_APART
    if is_apart:
        about = "DockQ is about the others"
        notes += [f"{text}: {about}" for text in apart(interfaces)]
    if not (best["unknown_kind"] or (is_apart and best["weak_partners"])):
        notes.append(best["verdict_reason"])
    notes += clashes(interfaces)
    if best["out_of_domain"]:
        sentence = f"{OUT_OF_DOMAIN}: {best['out_of_domain']}"
        notes.append(sentence)
    notes.append(best[SIDE_CHAINS])
    notes += _of_confidence(best, scored, stated)
    if best["verdict"] != REJECT:
        notes.append(_rival(best, others, other))
        of_best = stated.get((best["target"], best["decoy"]))
        notes.append(doubt_of(of_best) if of_best and not is_apart else "")
    if others.empty and not several:
        n_models = len(distinct_models(decoys))
        sentence = "Only one model was given: five or more make this surer"
        if n_models > 1:
            sentence = f"Only one of {n_models} models has a score: five or more make this surer"
        notes.append(sentence)
    return _known(notes)


def _of_confidence(
    best: pd.Series, scored: pd.DataFrame, stated: Mapping[DecoyKey, Confidence]
) -> list[str]:
    """What is wrong with the predictor's files, and how many models lack them."""
    keys = scored[KEY].itertuples(index=False, name=None)
    rows = [stated[key] for key in keys if key in stated]
    unused = [row for row in rows if row.status == INCOMPLETE]
    of_best = stated.get((best["target"], best["decoy"]))
    n = len(scored)
    notes = []
    if unused:
        which = (
            f" of {len(unused)} of {n} models, such as {unused[0].decoy}"
            if n > 1
            else ""
        )
        sentence = f"TopoRank does not use all files of the predictor{which}: {unused[0].reason}"
        notes.append(sentence)
    elif of_best and of_best.status == OK:
        notes.append(of_best.reason)
    n_without = scored["confidence"].isna().sum()
    if 0 < n_without < n:
        sentence = (
            f"{n_without} of {n} models have no confidence of their predictor and are scored by "
            "structure alone (--without-confidence scores all that way)"
        )
        notes.append(sentence)
    return notes


def _rival(best: pd.Series, others: pd.DataFrame, other: OtherFirst | None) -> str:
    """A model that is as good and binds differently: one has to look at both."""
    rivals = others[best["dockq"] - others["dockq"] < CLOSE]
    if pd.isna(best["cluster"]):
        return ""
    rivals = rivals[rivals["cluster"].notna() & (rivals["cluster"] != best["cluster"])]
    if other is not None:  # a sentence on this model says how alike they are
        rivals = rivals[rivals["decoy"] != other.first["decoy"]]
    if rivals.empty:
        return ""
    decoy = rivals["decoy"].iloc[0]
    return f"{decoy} cannot be told apart from it and binds differently: look at both"


def doubt_of(stated: Any) -> str:
    """Return that the predictor itself doubts a model, in a sentence; nothing where it does not.

    stated : row of the table of confidence
    """
    iptm = stated.iptm if pd.isna(stated.interface_iptm) else stated.interface_iptm
    if pd.isna(iptm) or iptm >= DOUBTFUL_IPTM:
        return ""
    predictor = stated.predictor or "The predictor"
    return f"{predictor} itself doubts it: ipTM {iptm:.2f} is below {DOUBTFUL_IPTM}"


def lost(decoys: pd.DataFrame) -> str:
    """Return `2 of 10 models have no score: 1 chain missing, 1 unreadable`, or nothing.

    Copies do not count.
    """
    distinct = distinct_models(decoys)
    without = distinct[distinct["dockq"].isna()]
    if without.empty:
        return ""
    counts = without["status"].replace(Status.OK, "not scored").value_counts()
    why = ", ".join(f"{n:,} {status.replace('_', ' ')}" for status, n in counts.items())
    models = "model" if len(distinct) == 1 else "models"
    verb = "has" if len(without) == 1 else "have"
    return f"{len(without):,} of {len(distinct):,} {models} {verb} no score: {why}"


def read_targets(path: Path | str) -> pd.DataFrame:
    """Read targets.csv. Raises RecordError when a number is expected and it has something else."""
    return read(TARGETS, path)


def seen_in_training(tables: Iterable[Path]) -> pd.DataFrame:
    """Which targets of data sets were learned from.

    tables : the targets.csv of each data set, in a folder of its name
    """
    of_datasets = []
    for path in tables:
        table = read_targets(path)[SEEN_IN_TRAINING].sort_values("target")
        table.insert(0, "dataset", path.parent.name)
        of_datasets.append(table)
    return pd.concat(of_datasets, ignore_index=True)
