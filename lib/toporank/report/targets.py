"""targets.csv: one row for each target, most promising first; a screen at a glance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from toporank.files.spreadsheets import read_rows, table_text
from toporank.inputs.confidence.table import Confidence
from toporank.ranking.leakage import LeakageRow
from toporank.report.answer import answers, verdict
from toporank.report.results import Result, Study, models_among
from toporank.scorer.interaction import p_interact

Key = tuple[str, str, str]
"""Data set, target and decoy."""


class TargetRow(NamedTuple):
    """A target and its best model. What is not known is None or, of text, empty; docs/screens.md explains each column.

    chains : partners of the best model, as its file names them. n_models, n_scored : without copies of other models and
    without intermediate states. predictors_agree : share of the models of the other
    predictors that are in the cluster of the best model. verdict : as from `answer.verdict`. dockq : to expect of the
    best model, or its score. caveats, why : what speaks against it, as codes and in words. joined : which chains are
    one partner by nature, in a sentence. weakest : of several interfaces of the best model the one that verdict, dockq,
    bounds and p_acceptable are about. p_interact : from the highest ipTM of its models, of more than one target.
    """

    target: str
    chains: str
    n_chains: int | None
    n_models: int
    n_scored: int
    predictors: str
    verdict: str
    best: str
    file: str
    dockq: float | None
    pred_low: float | None
    pred_high: float | None
    p_acceptable: float | None
    p_interact: float | None
    pred_dockq: float | None
    pred_structure: float | None
    pred_confidence: float | None
    consensus: float | None
    predictors_agree: float | None
    iptm: float | None
    ipsae: float | None
    pdockq2: float | None
    interface_plddt: float | None
    low_plddt: float | None
    n_interface_residues: int | None
    seen_in_training: str
    caveats: str
    why: str
    joined: str
    weakest: str


NEWER = ("chains", "p_interact", "predictors_agree", "joined", "weakest")
"""Columns that tables of earlier versions lack."""
SHOWN = ("target", "verdict", "p_acceptable", "dockq", "best", "n_scored", "consensus", "iptm", "interface_plddt",
         "n_interface_residues", "caveats")  # fmt: skip
"""Columns of the table on the page."""
OF_CONFIDENCE = ("iptm", "ipsae", "pdockq2", "interface_plddt", "low_plddt")


def target_rows(study: Study) -> list[TargetRow]:
    """The rows of all targets: by probability of an acceptable model, then by DockQ; those without a score last."""
    said = {(name, row.target, row.decoy): row for name, rows in study.confidence.items() for row in rows}
    seen = {(name, row.target): row for name, rows in study.leakage.items() for row in rows}
    partners: dict[Key, set[str]] = {}
    for name, interfaces in study.interfaces.items():
        for row in (row for row in interfaces if row.n_contacts is not None):
            partners.setdefault((name, row.target, row.decoy), set()).update((row.chains or row.interface).split(":"))
    rows = [_row(entry, said, seen.get((entry["dataset"], entry["target"])), partners) for entry in answers(study)]
    if len(rows) == 1:
        rows = [rows[0]._replace(p_interact=None)]
    return sorted(rows, key=promise)


def promise(row: TargetRow) -> tuple:
    """Sorts targets, the most promising first."""
    order = ("likely", "doubtful", "wrong", "").index(row.verdict)
    return order, -(row.p_acceptable or 0.0), -(row.dockq or 0.0), row.target


def _row(
    entry: dict[str, Any],
    said: Mapping[Key, Confidence],
    seen: LeakageRow | None,
    partners: Mapping[Key, Iterable[str]],
) -> TargetRow:
    decoys: list[Result] = entry["decoys"]
    best: Result | None = entry["best"]
    keys = [(row.dataset, row.target, row.decoy) for row in decoys]
    key = (best.dataset, best.target, best.decoy) if best else None
    of_best = said.get(key)
    own = ("pred_low", "pred_high", "p_acceptable", "pred_dockq", "pred_structure", "pred_confidence", "consensus")
    return TargetRow(
        target=entry["target"],
        chains=":".join(sorted(partners.get(key, ()))),
        n_chains=best.n_chains if best else None,
        n_models=len(models_among(decoys)),
        n_scored=sum(row.pred_dockq is not None for row in models_among(decoys)),
        predictors=", ".join(_distinct(said[key].predictor for key in keys if key in said)),
        verdict=verdict(best),
        best=best.decoy if best else "",
        file=best.path if best else "",
        dockq=best.shown_dockq if best else None,
        p_interact=_p_interact([said[key] for key in keys if key in said]),
        **{name: getattr(best, name, None) for name in (*own, "n_interface_residues")},
        **{name: getattr(of_best, name, None) for name in OF_CONFIDENCE},
        predictors_agree=_agreement(best, decoys, said) if best else None,
        seen_in_training=seen.seen_in_training if seen else "",
        caveats=" ".join(entry["caveats"]),
        why="; ".join(filter(None, [*entry["caveats"].values(), entry["lost"]])),
        joined=entry["joined"],
        weakest=(best.weakest or "") if best else "",
    )


def _p_interact(rows: Iterable[Confidence]) -> float | None:
    """`TargetRow.p_interact`; None where no model has an ipTM between the partners."""
    between = [row.interface_iptm if row.iptm_of else row.iptm for row in rows]
    known = [value for value in between if value is not None]
    return round(float(p_interact(max(known))), 4) if known else None


def _agreement(best: Result, decoys: Iterable[Result], said: Mapping[Key, Confidence]) -> float | None:
    """`TargetRow.predictors_agree`; None where no model of another predictor is known."""
    predictor = {
        row.decoy: said[key].predictor for row in decoys if (key := (row.dataset, row.target, row.decoy)) in said
    }
    own = predictor.get(best.decoy)
    ranked = [row for row in models_among(decoys) if row.rank is not None]
    others = [row for row in ranked if own and predictor.get(row.decoy, "") not in ("", own)]
    alike = sum(best.cluster is not None and row.cluster == best.cluster for row in others)
    return round(alike / len(others), 4) if others else None


def _distinct(names: Iterable[str]) -> list[str]:
    return sorted({name for name in names if name})


def read_targets(path: Path | str) -> list[TargetRow]:
    """Read targets.csv. Raises KeyError without one of the columns, ValueError where a number is expected."""
    kinds = dict.fromkeys(("n_chains", "n_models", "n_scored", "n_interface_residues"), int)
    texts = (
        "target",
        "chains",
        "predictors",
        "verdict",
        "best",
        "file",
        "seen_in_training",
        "caveats",
        "why",
        "joined",
    )
    kinds |= dict.fromkeys((name for name in TargetRow._fields if name not in texts and name not in kinds), float)
    return [
        TargetRow(*((kinds[c](row[c]) if row[c] else None) if c in kinds else row[c] for c in TargetRow._fields))
        for row in (dict.fromkeys(NEWER, "") | row for row in read_rows(path))
    ]


def targets_text(study: Study) -> str:
    """targets.csv."""
    return table_text(TargetRow._fields, target_rows(study))


def for_script(study: Study, shown: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """The table of all targets for the page's script: `columns`, and rows of these and the place of the answer.

    shown : the answers of the page, in their order.
    """
    place = {entry["target"]: i for i, entry in enumerate(shown)}
    rows = [[_short(getattr(row, column)) for column in SHOWN] + [place[row.target]] for row in target_rows(study)]
    return {"columns": SHOWN, "rows": rows}


def _short(value: Any) -> Any:
    return round(value, 3) if isinstance(value, float) else value
