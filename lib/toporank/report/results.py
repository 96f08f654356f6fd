"""What a page is made of, read from the files the other rules wrote."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from toporank import layout
from toporank.building.coverage import CoverageRow, read_coverage
from toporank.comparing.homology.chain_tables import read_chains, read_splits, sequences_of_chains, split_of_targets
from toporank.errors import ConfigError, RecordError
from toporank.inputs.confidence.table import Confidence, read_confidence
from toporank.inputs.graph_files import SUFFIX
from toporank.learning.assignment import decided
from toporank.metrics import class_of, random_pick_loss
from toporank.ranking.agreement import Disagreement, disagreements
from toporank.ranking.interfaces import InterfaceRow, read_interfaces
from toporank.ranking.leakage import LeakageRow, read_leakage
from toporank.ranking.ranked import COMPLEX, RANKED_BY, RankedDecoy, read_ranking
from toporank.ranking.residues import ResidueRow, of_leading
from toporank.report.formatting import NOT_SCORED, SCORED
from toporank.scorer.embeddings import Vectors, read_embeddings
from toporank.scorer.scorer import Scorer
from toporank.structures.identity import Status

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from toporank.learning.out_of_fold import GroupMetric


class Result(NamedTuple):
    """A decoy, or a label without decoy. What is not known is None or, of text, empty.

    `fate` is a key of `formatting.FATES` or another status, `capri` the true CAPRI class.
    """

    dataset: str
    target: str
    decoy: str
    status: str
    stage: str
    reason: str
    dockq: float | None
    split: str
    n_chains: int | None
    n_interface_residues: int | None
    path: str
    duplicate_of: str
    chains: str
    model: int
    joined: str
    rank: int | None
    pred_dockq: float | None
    pred_sd: float | None
    pred_low: float | None
    pred_high: float | None
    domain: str | None
    cluster: int | None
    cluster_rank: int | None
    consensus: float | None
    twin_of: str | None
    pred_network: float | None
    expected_dockq: float | None
    min_interface: float | None
    mean_interface: float | None
    ranked_by: str | None
    pred_structure: float | None
    pred_confidence: float | None
    p_acceptable: float | None
    weakest: str | None
    pred_capri: str
    fate: str
    capri: str

    shown_dockq = RankedDecoy.shown_dockq

    @property
    def is_graph(self) -> bool:
        """Whether its file is a graph of another pipeline, and no structure is known."""
        return self.path.endswith(SUFFIX)

    @property
    def shown_capri(self) -> str:
        """The CAPRI class of the shown DockQ, empty without a score."""
        return "" if self.shown_dockq is None else class_of(self.shown_dockq)

    @property
    def deciding(self) -> float | None:
        """The value by which it is ranked."""
        return getattr(self, RANKED_BY[self.ranked_by or COMPLEX])


def models_among(rows: Iterable[Result]) -> list[Result]:
    """The rows that count as models: neither copies of another model nor intermediate states of a program."""
    return [row for row in rows if not row.duplicate_of and row.status != Status.INTERMEDIATE]


OF_RANKING = Result._fields[Result._fields.index("rank") : Result._fields.index("pred_capri")]
"""What a result takes from its row of ranking.csv as it is."""


@dataclass(frozen=True)
class Study:
    """Everything a page shows.

    datasets : names in the given order, also of those without any row.
    results : by data set as given, then target, then rank.
    evaluations : by data set, for each split what `metrics.summarise` gives. leaderboard : as from
        `selection.leaderboard`, or None. curves : metrics.csv by run. checkpoint : its description.
    interfaces : scored, confidence : the predictor's own, disagreements : with it, all by data set.
    folds : metrics of a cross-validation; none where there was none.
    leakage : by data set, what the checkpoint knows of each target.
    folders : where the ranking of each data set lies. vectors : the pooled vector of decoys, by data set.
    training_vectors : those of some decoys that the scorer learned from, if they are known.
    no_map : why vectors are not known, for each file that is damaged.
    sequences : of chains, by data set, as from `chain_tables.sequences_of_chains`.
    residues : by data set, of the decoys ranked first. scorer : None where a page says nothing of it.
    """

    datasets: list[str]
    results: list[Result]
    evaluations: dict[str, dict[str, Any]]
    leaderboard: pd.DataFrame | None
    curves: dict[str, pd.DataFrame]
    checkpoint: dict[str, Any]
    leakage: dict[str, list[LeakageRow]] = field(default_factory=dict)
    interfaces: dict[str, list[InterfaceRow]] = field(default_factory=dict)
    confidence: dict[str, list[Confidence]] = field(default_factory=dict)
    disagreements: dict[str, list[Disagreement]] = field(default_factory=dict)
    folds: list[GroupMetric] = field(default_factory=list)
    sequences: dict[str, dict[str, dict[str, str]]] = field(default_factory=dict)
    folders: dict[str, Path] = field(default_factory=dict)
    vectors: dict[str, Vectors] = field(default_factory=dict)
    training_vectors: list[np.ndarray] = field(default_factory=list)
    residues: dict[str, dict[tuple[str, str], list[ResidueRow]]] = field(default_factory=dict)
    scorer: Scorer | None = None
    no_map: list[str] = field(default_factory=list)

    @property
    def rank_by(self) -> str:
        """What decided on the rankings, a key of `RANKED_BY`."""
        return next((row.ranked_by for row in self.results if row.ranked_by), COMPLEX)

    @property
    def decoys(self) -> list[Result]:
        """The results that are decoys."""
        return [row for row in self.results if row.fate != Status.NO_DECOY]

    @property
    def labelled(self) -> list[Result]:
        """Decoys with both a predicted and a true DockQ."""
        return [row for row in self.results if row.pred_dockq is not None and row.dockq is not None]


def read_study(
    coverage: Iterable[Path],
    rankings: Iterable[Path],
    evaluations: Iterable[Path],
    leaderboard: Path | None,
    scorer: Path,
    interfaces: Iterable[Path] = (),
    leakage: Iterable[Path] = (),
    chains: Iterable[Path] = (),
    splits: Path | None = None,
    folds: Path | None = None,
    confidence: Iterable[Path] = (),
    embeddings: Iterable[Path] = (),
    residues: Iterable[Path] = (),
) -> Study:
    """Read a study. A file belongs to the data set its folder is named after, as `layout` has it.

    splits : splits.csv, for targets whose labels have no split. folds : metrics.csv of a cross-validation.
    scorer : its folder or checkpoint.

    Raises ConfigError when a ranking or an evaluation comes without the coverage of its data set.
    """
    split_of = split_of_targets(read_splits(splits)) if splits else {}
    rankings = list(rankings)
    covered = {path.parent.name: _decided(read_coverage(path), split_of, path.parent.name) for path in coverage}
    ranked = {path.parent.name: read_ranking(path) for path in rankings}
    evaluated = {path.parent.name: json.loads(path.read_text(encoding="utf-8")) for path in evaluations}
    for name in (*ranked, *evaluated):
        if name not in covered:
            raise ConfigError("its coverage was not given", where=f"data set {name}", remedy="add it to --coverage")
    board, curves = read_training(leaderboard) if leaderboard else (None, {})
    results = [row for name, rows in covered.items() for row in joined_results(name, rows, ranked.get(name, []))]
    meetings = {path.parent.name: read_interfaces(path) for path in interfaces}
    known = {path.parent.name: read_leakage(path) for path in leakage}
    crossed = read_folds(folds) if folds else []
    said = {path.parent.name: read_confidence(path) for path in confidence}
    differ = {name: disagreements(ranked.get(name, []), rows) for name, rows in said.items()}
    folders = {path.parent.name: path.parent for path in rankings}
    no_map: list[str] = []
    vectors = {path.parent.name: _vectors(lambda path=path: read_embeddings(path), no_map) for path in embeddings}
    gave = Scorer.open(scorer)
    learned = [*_vectors(gave.training_vectors, no_map).values()]
    qualities = {path.parent.name: of_leading(path, ranked.get(path.parent.name, [])) for path in residues}
    read = (
        gave.description,
        known,
        meetings,
        said,
        differ,
        crossed,
        {path.parent.name: sequences_of_chains(read_chains(path)) for path in chains},
        folders,
        vectors,
        learned,
        qualities,
        gave,
        no_map,
    )
    return Study(list(covered), results, evaluated, board, curves, *read)


def _vectors(read: Callable[[], Vectors], problems: list[str]) -> Vectors:
    """The vectors of a file that a function reads; none if it is damaged, and why, which is added to the problems."""
    try:
        return read()
    except RecordError as error:
        problems.append(str(error))
        return {}


def _decided(rows: list[CoverageRow], split_of: Mapping[tuple[str, str], str], dataset: str) -> list[CoverageRow]:
    """Coverage in which every label has a split."""
    return [row if row.dockq is None else decided([row], split_of, dataset)[0] for row in rows]


def joined_results(dataset: str, coverage: list[CoverageRow], ranking: list[RankedDecoy]) -> list[Result]:
    """The results of a data set; its ranking may be empty."""
    order = {(row.target, row.decoy): place for place, row in enumerate(ranking)}
    rows = [
        joined_row(dataset, row, ranking[order[row.target, row.decoy]] if (row.target, row.decoy) in order else None)
        for row in coverage
    ]
    return sorted(rows, key=lambda row: (row.target, order.get((row.target, row.decoy), len(order)), row.decoy))


def joined_row(dataset: str, row: CoverageRow, ranked: RankedDecoy | None) -> Result:
    """One row of coverage with its rank and score."""
    scored = ranked is not None and ranked.pred_dockq is not None
    known = {name: value for name, value in row._asdict().items() if name in Result._fields}
    known |= {name: getattr(ranked, name, None) for name in OF_RANKING}
    known |= {"duplicate_of": ranked.duplicate_of} if ranked else {}
    fate = SCORED if scored else NOT_SCORED if row.status == Status.OK else row.status
    capri = "" if row.dockq is None else class_of(row.dockq)
    return Result(dataset, **known, pred_capri=ranked.pred_capri if ranked else "", fate=fate, capri=capri)


def by_target(results: Iterable[Result]) -> list[tuple[tuple[str, str], list[Result]]]:
    """((data set, target), its results in order) of each target."""
    return [(key, list(rows)) for key, rows in groupby(results, key=attrgetter("dataset", "target"))]


def read_training(leaderboard: Path) -> tuple[pd.DataFrame, dict[str, pd.DataFrame]]:
    """The leaderboard, and metrics.csv of every run on it that has one, in its order."""
    import pandas as pd

    from toporank.learning.selection import read_leaderboard

    board = read_leaderboard(leaderboard)
    files = {run: Path(folder, "metrics.csv") for run, folder in zip(board["run"], board["folder"], strict=True)}
    return board, {run: pd.read_csv(file) for run, file in files.items() if file.exists()}


def read_folds(metrics: Path) -> list[GroupMetric]:
    """The metrics of a cross-validation."""
    from toporank.learning.out_of_fold import read_metrics

    return read_metrics(metrics)


def is_finetune(folder: str) -> bool:
    """Whether a run of the leaderboard is a fine-tune, by where it lies."""
    return Path(folder).parent.name == Path(layout.FINETUNE_RUN).parent.name


def validation_random_pick(study: Study) -> float | None:
    """Expected ranking loss of a random pick on the validation set the checkpoint was chosen with, in [0, 1].

    None when the data sets of the page are not those of the training, judged by their number of graphs.
    """
    known = [row for row in study.results if row.split == "val" and row.status == Status.OK and row.dockq is not None]
    if not known or len(known) != study.checkpoint.get("training_set", {}).get("val"):
        return None
    targets: dict[str, list[float]] = {}
    for row in known:
        targets.setdefault(row.target, []).append(row.dockq)
    return sum(map(random_pick_loss, targets.values())) / len(targets)
