"""Scores into a ranking that accounts for every decoy."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from toporank.building.compared import ComparedDecoy
from toporank.building.coverage import CoverageRow
from toporank.files.spreadsheets import read_rows, write_rows
from toporank.metrics import CAPRI_NAMES, capri_class, class_of
from toporank.ranking.interfaces import InterfaceRow, Interfaces, of_each_decoy
from toporank.scorer.prediction import LEVEL, Estimate, Score
from toporank.structures.identity import Status

BEST_OF_CLUSTER = 4
"""Decoys whose mean ranks a cluster, as HADDOCK has it."""
LISTED, WIDEST = 10, 24
"""Targets whose best decoy is named when decoys have been scored, and letters to which their names are padded."""


class RankedDecoy(NamedTuple):
    """A row of ranking.csv. What is not known is None or, of text, empty.

    pred_sd : disagreement of the ensemble, a standard deviation; no error. pred_low, pred_high, domain, expected_dockq,
    p_acceptable : see `prediction.Estimate`. pred_network, pred_structure, pred_confidence : see `prediction.Score`.
    n_interfaces, min_interface, mean_interface, weakest : see `interfaces.Interfaces`. Of a decoy with a weakest
    interface the estimates are about this interface, and `pred_dockq` is about the whole.
    cluster, consensus, twin_of : see `comparing.decoys.Comparison`. cluster_rank : of the cluster, 1 for the one
    whose best `BEST_OF_CLUSTER` decoys have the highest predicted DockQ on average. ranked_by : a key of `RANKED_BY`
    if another than the score of the complex decided.
    """

    rank: int | None
    target: str
    decoy: str
    pred_dockq: float | None
    pred_sd: float | None
    pred_low: float | None
    pred_high: float | None
    domain: str
    pred_capri: str
    n_interface_residues: int | None
    n_chains: int | None
    n_interfaces: int | None
    min_interface: float | None
    mean_interface: float | None
    status: str
    duplicate_of: str = ""
    cluster: int | None = None
    cluster_rank: int | None = None
    consensus: float | None = None
    twin_of: str = ""
    pred_network: float | None = None
    expected_dockq: float | None = None
    ranked_by: str = ""
    pred_structure: float | None = None
    pred_confidence: float | None = None
    p_acceptable: float | None = None
    weakest: str = ""

    @property
    def shown_dockq(self) -> float | None:
        """The DockQ to expect of it, or its score where that is not known; of its weakest interface, if it has one."""
        if self.expected_dockq is not None:
            return self.expected_dockq
        if self.weakest and self.pred_dockq is not None:
            return min(self.pred_dockq, self.min_interface)
        return self.pred_dockq


COLUMNS = RankedDecoy._fields
WHOLE_NUMBERS = ("rank", "n_interface_residues", "n_chains", "n_interfaces", "cluster", "cluster_rank")
TEXTS = ("target", "decoy", "domain", "pred_capri", "status", "duplicate_of", "twin_of", "ranked_by", "weakest")
"""Columns of these kinds; all others are floating-point numbers."""
OF_CALIBRATION = ("pred_low", "pred_high", "domain", "expected_dockq", "p_acceptable")
"""Columns that are there only if the scorer has a calibration."""
APART = ("pred_structure", "pred_confidence")
"""What the structure and the predictor's confidence say apart from each other."""
IF_KNOWN = ("expected_dockq", "p_acceptable", "pred_network", "ranked_by", "weakest", *APART)
"""And those that are there only if some decoy has a value: of the calibration, of trees, of `RANKED_BY`, and these."""
UNKNOWN = Estimate(None, None, "")
"""Stands for an `Estimate`."""
_PLACE = {Status.OK: 0, Status.PARTNER_APART: 1, Status.CHAIN_MISSING: 1, Status.NO_INTERFACE: 2}
COMPLEX = "complex"
RANKED_BY = {COMPLEX: "pred_dockq", "min_interface": "min_interface", "mean_interface": "mean_interface"}
"""The column that decides, by the names that the configuration has for it."""


def ranking(
    coverage: Iterable[CoverageRow],
    scores: Iterable[Score],
    interfaces: Iterable[InterfaceRow] = (),
    rank_by: str = COMPLEX,
    comparison: Iterable[ComparedDecoy] = (),
    estimates: Mapping[tuple[str, str], Estimate] | None = None,
) -> list[RankedDecoy]:
    """The ranking of every decoy, best first within each target, targets in order of name.

    A decoy that lacks a chain, or has a partner that touches no other, is ranked below every scored decoy of its
    target, one without any interface below these: they are certainly wrong. One that could not be read or computed
    comes last and has no rank. Copies share the rank of their original, which stands first. Ties go by decoy name.
    interfaces : of the decoys, scored. rank_by : a key of `RANKED_BY`. comparison : of decoys with a graph.
    estimates : by target and decoy, of those that are scored, if the scorer has a calibration. Raises ValueError when a
    decoy has two scores.
    """
    of_interfaces = of_each_decoy(interfaces)
    known: dict[tuple[str, str], Score] = {}
    for score in scores:
        if score.interface:
            continue
        if (score.target, score.decoy) in known:
            raise ValueError(f"{score.target}/{score.decoy} has two scores")
        known[score.target, score.decoy] = score
    classes = dict(zip(known, capri_class([score.pred_dockq for score in known.values()]).tolist(), strict=True))
    compared = {row[:2]: row for row in comparison}
    decoys = []
    for row in coverage:
        score = known.get((row.target, row.decoy))
        trust = (estimates or {}).get((row.target, row.decoy), UNKNOWN) if score else UNKNOWN
        found = (None, None, *trust[:3], "")
        if score:
            found = score.pred_dockq, score.pred_sd, *trust[:3], CAPRI_NAMES[classes[row.target, row.decoy]]
        if row.status != Status.NO_DECOY:
            sizes = row.n_interface_residues, row.n_chains
            meeting = of_interfaces.get((row.target, row.decoy), Interfaces())
            decoy = RankedDecoy(None, row.target, row.decoy, *found, *sizes, *meeting[:3], row.status, row.duplicate_of)
            said = {name: getattr(score, name, None) for name in ("pred_network", "pred_confidence")}
            if said["pred_confidence"] is not None:
                said["pred_structure"] = said["pred_network"]
            decoy = decoy._replace(**said, expected_dockq=trust.dockq, p_acceptable=trust.p_acceptable)
            decoy = decoy._replace(ranked_by="" if rank_by == COMPLEX else rank_by)
            decoy = decoy._replace(weakest=meeting.weakest if score else "")
            if among := compared.get((row.target, row.decoy)):
                decoy = decoy._replace(cluster=among.cluster, consensus=among.consensus, twin_of=among.twin_of)
            decoys.append(decoy)
    decoys.sort(key=partial(_order, attrgetter(RANKED_BY[rank_by])))
    of_targets = (list(rows) for _, rows in groupby(decoys, key=attrgetter("target")))
    return [row for rows in of_targets for row in _ranked(rows)]


def _ranked(rows: list[RankedDecoy]) -> list[RankedDecoy]:
    """The decoys of a target with their ranks and those of their clusters. rows : best first."""
    clusters = _cluster_ranks(rows)
    ranks: dict[str, int] = {}
    found = []
    for row in rows:
        first = row.duplicate_of or row.decoy
        rank = ranks.setdefault(first, len(ranks) + 1) if row.status in _PLACE else None
        found.append(row._replace(rank=rank, cluster_rank=clusters.get(row.cluster)))
    return sorted(found, key=lambda row: row.rank or math.inf)


def _cluster_ranks(rows: list[RankedDecoy]) -> dict[int, int]:
    """Cluster → its rank among those of a target."""
    members: dict[int, list[float]] = {}
    for row in rows:
        if row.cluster and not row.duplicate_of and row.pred_dockq is not None:
            members.setdefault(row.cluster, []).append(row.pred_dockq)
    mean = {cluster: statistics.fmean(sorted(found)[-BEST_OF_CLUSTER:]) for cluster, found in members.items()}
    return {cluster: rank for rank, cluster in enumerate(sorted(mean, key=lambda c: (-mean[c], c)), 1)}


def _order(value: Callable[[RankedDecoy], float | None], row: RankedDecoy) -> tuple:
    found = value(row)
    place = _PLACE.get(row.status, len(_PLACE))
    return row.target, place, found is None, -(found or 0.0), bool(row.duplicate_of), row.decoy


def columns_of(table: Sequence[RankedDecoy]) -> list[str]:
    """The columns of ranking.csv: those in which something is known, and those that are always there."""
    left_out = () if any(row.pred_low is not None for row in table) else OF_CALIBRATION
    left_out += tuple(name for name in IF_KNOWN if all(getattr(row, name) in (None, "") for row in table))
    return [name for name in COLUMNS if name not in left_out]


def write_ranking(path: Path | str, table: Iterable[RankedDecoy]) -> None:
    """Write ranking.csv."""
    table = list(table)
    columns = columns_of(table)
    write_rows(path, columns, ([getattr(row, name) for name in columns] for row in table))


def read_ranking(path: Path | str) -> list[RankedDecoy]:
    """Read ranking.csv."""
    kinds = dict.fromkeys(WHOLE_NUMBERS, int)
    kinds |= dict.fromkeys((name for name in COLUMNS if name not in WHOLE_NUMBERS + TEXTS), float)
    missing = dict.fromkeys((*OF_CALIBRATION, *IF_KNOWN), "")
    return [
        RankedDecoy(*((kinds[c](row[c]) if row[c] else None) if c in kinds else row[c] for c in COLUMNS))
        for row in (missing | row for row in read_rows(path))
    ]


def write_model_pred_dockq(path: Path | str, table: Iterable[RankedDecoy]) -> None:
    """Write the export that older tools join on, MODEL and PRED_DOCKQ, and the target: scored decoys, best first."""
    scored = [row for row in table if row.pred_dockq is not None]
    scored.sort(key=lambda row: (-row.pred_dockq, row.target, row.decoy))
    rows = [(row.decoy, row.pred_dockq, row.target) for row in scored]
    write_rows(path, ("MODEL", "PRED_DOCKQ", "TARGET"), rows)


def best_of_each_target(table: list[RankedDecoy]) -> list[str]:
    """A line for each target: the decoy ranked first, the DockQ to expect, interval and class; at most `LISTED`.

    With intervals a last line says how many decoys are out of domain, and why the first of them is.
    table : as from `ranking`.
    """
    first = [next(rows) for _, rows in groupby(table, key=attrgetter("target"))]
    width = min(max((len(row.target) for row in first[:LISTED]), default=0), WIDEST)
    lines = [
        f"{row.target:{width}}  {row.decoy}, {_shown(row)}{_interval(row)} ({class_of(row.shown_dockq)})"
        if row.pred_dockq is not None
        else f"{row.target:{width}}  no model was scored"
        for row in first[:LISTED]
    ]
    more = [f"and {len(first) - LISTED} more targets"] if len(first) > LISTED else []
    return [*lines, *more, *_out_of_domain(table)]


def _shown(row: RankedDecoy) -> str:
    of = " of its weakest interface" if row.weakest else ""
    return f"{'predicted' if row.expected_dockq is None else 'expected'} DockQ{of} {row.shown_dockq:.3f}"


def _interval(row: RankedDecoy) -> str:
    if row.pred_low is None:
        return ""
    place = ", out of domain" if row.domain else ""
    return f", {100 * LEVEL:.0f} % interval {row.pred_low:.3f} to {row.pred_high:.3f}{place}"


def _out_of_domain(table: list[RankedDecoy]) -> list[str]:
    known = [row for row in table if row.pred_low is not None and not row.duplicate_of]
    outside = [row for row in known if row.domain]
    example = f", such as {outside[0].target}/{outside[0].decoy}: {outside[0].domain}" if outside else ""
    return [f"{len(outside)} of {len(known)} models are out of the domain of the scorer{example}"] if known else []
