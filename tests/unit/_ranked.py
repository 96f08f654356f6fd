"""What scoring knows of models, from which the tables are made: a model that went in, its score,
its interfaces and what its predictor says. The target is T.
"""

from __future__ import annotations

from toporank.building.coverage import CoverageRow
from toporank.confidence.table import Confidence
from toporank.ranking.interfaces import InterfaceRow
from toporank.ranking.model_table import score_record
from toporank.scorer.prediction import Score
from toporank.structures.identity import Status


def covered(
    decoy: str, status: str = Status.OK, target: str = "T", **known: object
) -> CoverageRow:
    """A model that went in, of two chains."""
    n_residues = {Status.OK: 60, Status.NO_INTERFACE: 0}.get(status)
    row = {"stage": "graphs", "n_chains": 2, "path": f"in/{decoy}.pdb"}
    row["n_interface_residues"] = n_residues
    return CoverageRow(target, decoy, status, **(row | known))


def record(
    decoy: str,
    score: float,
    dockq: float | None = None,
    target: str = "T",
    **known: object,
) -> dict[str, object]:
    """Its score. dockq : what is expected of it, with a calibration."""
    values = score_record(Score(target, decoy, score, None))
    if dockq is not None:
        bounds = {
            "dockq_low": max(0.0, dockq - 0.2),
            "dockq_high": min(1.0, dockq + 0.2),
        }
        values |= {"dockq": dockq, "confidence": dockq, "p_acceptable": 0.5, **bounds}
    return values | known


def met(
    decoy: str, interface: str, dockq: float | None = 0.5, target: str = "T", **known
) -> InterfaceRow:
    """Two partners of it that touch."""
    row = {"n_residues": 9, "n_ca_pairs": 9, "closest": 5.0, "status": Status.OK}
    row |= {"network_sd": None, "dockq": dockq, **known}
    return InterfaceRow(target, decoy, interface, **row)


def stated(names: str, predictor: str = "Boltz", **measures: list) -> list[Confidence]:
    """What the predictor of models says of them; measures : a list each."""
    rows = []
    for k, name in enumerate(names.split()):
        of_model = {measure: values[k] for measure, values in measures.items()}
        rows.append(Confidence("T", name, predictor, **of_model))
    return rows
