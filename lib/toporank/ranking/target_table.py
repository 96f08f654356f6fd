"""targets.csv: one row for each target with its best model, verdict and caveats."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pandas as pd

from toporank.building.coverage import TOUCHES_NO_OTHER
from toporank.comparing.homology.chain_tables import ChainRow, sequences_of_chains
from toporank.inputs.confidence.table import INCOMPLETE, OK, Confidence
from toporank.ranking.agreement import OtherChoice, other_choices
from toporank.ranking.frames import WHOLE, read_frame, typed
from toporank.ranking.interfaces import MAIN, InterfaceRow
from toporank.ranking.leakage import LeakageRow
from toporank.ranking.model_table import JOINED, distinct_models
from toporank.ranking.partner_hints import for_command, partners_hint
from toporank.ranking.verdict import BELIEVE, REJECT, VERDICTS
from toporank.scorer.interaction import p_interact
from toporank.scorer.prediction import KEY
from toporank.structures.identity import DecoyKey, Status
from toporank.structures.side_chains import WITHOUT_SIDE_CHAINS

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
COLUMNS = {
    "target": str,
    "verdict": str,
    "dockq": float,
    "dockq_low": float,
    "dockq_high": float,
    "p_acceptable": float,
    "capri": str,
    "p_interact": float,
    "best": str,
    "n_models": WHOLE,
    "n_scored": WHOLE,
    "partners": str,
    "weakest_interface": str,
    "interfaces": str,
    "consensus": float,
    **dict.fromkeys(OF_CONFIDENCE, float),
    "n_interface_residues": WHOLE,
    "predictors": str,
    "caveats": str,
    "notes": str,
    "seen_in_training": str,
    "nearest_training_target": str,
    "containment": float,
    "why_seen": str,
    "file": str,
}
"""Columns and their kinds."""
LISTED = 6
"""Interfaces that a sentence names."""
OUT_OF_DOMAIN = "Unlike what TopoRank learned from, so DockQ is a guess"
BETWEEN = " | "
"""Between the sentences of a cell. No sentence has it, as some have "; "."""


def target_table(
    models: pd.DataFrame,
    interfaces: Iterable[InterfaceRow] = (),
    confidence: Sequence[Confidence] = (),
    chains: Iterable[ChainRow] = (),
    leakage: Iterable[LeakageRow] = (),
) -> pd.DataFrame:
    """Return one row for each target, the most promising first: by verdict, probability and DockQ.

    Parameters
    ----------
    models : as from `model_table`
    interfaces, confidence, chains, leakage : rows of the tables of these names

    Returns
    -------
    DataFrame with `COLUMNS`. n_models, n_scored : without copies and intermediate states.
    partners : of the best model, as its file names them. interfaces : of it, in words, where it
    has several. p_interact : from the highest ipTM of its models, of more than one target.
    predictors : that made the models. caveats : sentences about what changes what one does.
    notes : sentences about what TopoRank decided, and which models have no score. Further
    columns : see `model_table`, `Confidence`, `LeakageRow` (`why_seen` is its `why`)
    """
    interfaces = list(interfaces)
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
        best[best.columns.intersection(list(COLUMNS))], how="left", on="target"
    )
    table = table.merge(seen, how="left", on="target").set_index("target")
    distinct = distinct_models(models).groupby("target")["dockq"]
    table["n_models"] = distinct.size()
    table["n_scored"] = distinct.count()
    table["predictors"] = stated.groupby("target")["predictor"].agg(_listed)
    if len(table) > 1:
        between = stated["iptm"].where(
            stated["iptm_of"] == "", stated["interface_iptm"]
        )
        highest = between.astype(float).groupby(stated["target"]).max()
        table["p_interact"] = p_interact(highest.reindex(table.index)).round(4)
    sentences = _sentences(models, interfaces, confidence, sequences_of_chains(chains))
    table = table.join(sentences).reset_index()
    return _most_promising_first(typed(table, COLUMNS))


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


def interfaces_in_words(rows: Iterable[InterfaceRow]) -> str:
    """Return the interfaces of a decoy, the weakest first; empty where it has fewer than two.

    An example is `A:B 0.48, B:C 0.79; not counted: A:C (side contact, 5 residues)`.
    """
    touching = [row for row in rows if row.role]
    if len(touching) < 2:
        return ""
    counted = []
    others = []
    for row in sorted(touching, key=lambda row: (row.dockq or 0.0, row.interface)):
        if row.role == MAIN:
            dockq = "not scored" if row.dockq is None else f"{row.dockq:.2f}"
            counted.append(f"{row.interface} {dockq}")
        else:
            others.append(f"{row.interface} ({row.role}, {row.n_residues} residues)")
    words = _few(counted)
    return f"{words}; not counted: {_few(others)}" if others else words


def _few(items: Sequence[str]) -> str:
    n_more = len(items) - LISTED
    more = [f"{n_more} more"] if n_more > 0 else []
    return ", ".join([*items[:LISTED], *more])


def _listed(names: pd.Series) -> str:
    return ", ".join(sorted(set(names).difference([""])))


def _sentences(
    models: pd.DataFrame,
    interfaces: Iterable[InterfaceRow],
    confidence: Sequence[Confidence],
    sequences: Mapping[str, Mapping[str, str]],
) -> pd.DataFrame:
    """The columns `caveats` and `notes` by target."""
    stated = {(row.target, row.decoy): row for row in confidence}
    choices = other_choices(models, confidence)
    of_interfaces: dict[str, list[InterfaceRow]] = {}
    for row in interfaces:
        of_interfaces.setdefault(row.target, []).append(row)
    several = models["target"].nunique() > 1
    cells = {}
    for target, decoys in models.groupby("target", sort=False):
        hint = for_command(
            partners_hint(of_interfaces.get(target, []), sequences.get(target))
        )
        warnings = [
            hint,
            *caveats(decoys, stated, choices.get(target), several=several),
        ]
        notes = [_joined(decoys), lost(decoys)]
        cells[target] = [BETWEEN.join(filter(None, each)) for each in (warnings, notes)]
    return pd.DataFrame.from_dict(
        cells, orient="index", columns=["caveats", "notes"]
    ).rename_axis("target")


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
    choice: OtherChoice | None = None,
    *,
    several: bool = False,
) -> list[str]:
    """Return what changes what one does with the best model of a target, in sentences.

    The most important one comes first.

    Parameters
    ----------
    decoys : rows of the target in `model_table`
    stated : (target, decoy) → what predictors say
    choice : the other model that the predictor would pick
    several : whether there are other targets; then no sentence says that a target has one model
    """
    scored = distinct_models(decoys)
    scored = scored[scored["dockq"].notna()]
    if scored.empty:
        return []
    best = decoys.iloc[0]
    others = scored[scored["decoy"] != (best["duplicate_of"] or best["decoy"])]
    domain = best["out_of_domain"]
    sentences = _apart(best)
    if not best["unknown_kind"]:
        sentences.append(best["verdict_reason"])
    sentences += [f"{OUT_OF_DOMAIN}: {domain}" if domain else "", _side_chains(best)]
    sentences += _of_confidence(best, scored, stated)
    if best["verdict"] != REJECT:
        sentences.append(_rival(best, others))
        sentences.append(_other_pose(best, others, choice))
        sentences.append(_doubt(best, stated.get((best["target"], best["decoy"]))))
    if others.empty and not several:
        sentences.append("Only one model was given: five or more make this surer")
    return [sentence for sentence in sentences if sentence]


def _apart(best: pd.Series) -> list[str]:
    """Which partners touch no other, where the others have a score."""
    if best["status"] != Status.PARTNER_APART:
        return []
    notes = [note for note in best["reason"].split("; ") if TOUCHES_NO_OTHER in note]
    return [f"{note}: DockQ is about the others" for note in notes]


def _side_chains(best: pd.Series) -> str:
    for note in best["reason"].split("; "):
        if WITHOUT_SIDE_CHAINS in note:
            return note
    return ""


def _of_confidence(
    best: pd.Series, scored: pd.DataFrame, stated: Mapping[DecoyKey, Confidence]
) -> list[str]:
    """What is wrong with the predictor's files, and how many models lack them."""
    keys = scored[KEY].itertuples(index=False, name=None)
    rows = [stated[key] for key in keys if key in stated]
    unused = [row for row in rows if row.status == INCOMPLETE]
    of_best = stated.get((best["target"], best["decoy"]))
    n = len(scored)
    sentences = []
    if unused:
        which = (
            f" of {len(unused)} of {n} models, such as {unused[0].decoy}"
            if n > 1
            else ""
        )
        sentences.append(
            f"TopoRank does not use all files of the predictor{which}: {unused[0].reason}"
        )
    elif of_best and of_best.status == OK:
        sentences.append(of_best.reason)
    n_without = scored["confidence"].isna().sum()
    if 0 < n_without < n:
        sentences.append(
            f"{n_without} of {n} models have no confidence of their predictor and are scored by "
            "structure alone (--without-confidence scores all that way)"
        )
    return sentences


def _bind_differently(best: pd.Series, others: pd.DataFrame) -> pd.DataFrame:
    """Those of the others that are in another cluster than the best model, where both have one."""
    is_different = others["cluster"].notna() & (others["cluster"] != best["cluster"])
    return others[is_different] if pd.notna(best["cluster"]) else others[:0]


def _rival(best: pd.Series, others: pd.DataFrame) -> str:
    """A model that is as good and binds differently: one has to look at both."""
    rivals = _bind_differently(best, others[best["dockq"] - others["dockq"] < CLOSE])
    if rivals.empty:
        return ""
    decoy = rivals["decoy"].iloc[0]
    return f"{decoy} cannot be told apart from it and binds differently: look at both"


def _other_pose(
    best: pd.Series, others: pd.DataFrame, choice: OtherChoice | None
) -> str:
    different = _bind_differently(best, others)["decoy"]
    return (
        f"{choice}: it binds differently"
        if choice and choice.decoy in set(different)
        else ""
    )


def _doubt(best: pd.Series, stated: Confidence | None) -> str:
    if stated is None or best["verdict"] != BELIEVE:
        return ""
    iptm = stated.iptm if stated.interface_iptm is None else stated.interface_iptm
    if iptm is None or iptm >= DOUBTFUL_IPTM:
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
    return read_frame(path, COLUMNS)


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
