"""Answers of a screen that was scored in parts, joined into one: tables row by row, and a page made from these."""

from __future__ import annotations

import heapq
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from toporank import layout
from toporank.building.chunks.ledger import write_ledger
from toporank.building.coverage import CoverageRow, read_coverage, write_coverage
from toporank.comparing.homology.chain_tables import read_chains, write_chains
from toporank.errors import CheckpointError, ConfigError
from toporank.files.atomic import link_or_copy, write_text
from toporank.inputs.confidence.table import Confidence, read_confidence, write_confidence
from toporank.ranking.interfaces import read_interfaces, write_interfaces
from toporank.ranking.leakage import read_leakage, write_leakage
from toporank.ranking.ranked import RankedDecoy, write_model_pred_dockq, write_ranking
from toporank.ranking.residues import (
    ResidueRow,
    read_contact_lines,
    read_residues,
    write_contact_lines,
    write_residue_rows,
)
from toporank.report.beside import beside
from toporank.report.page import render
from toporank.report.results import read_study
from toporank.report.runs.compare import scored_unlike
from toporank.report.runs.folder import Place, Run
from toporank.scorer.embeddings import read_embeddings, write_embeddings
from toporank.scorer.record import ScoredWith, write_record
from toporank.scorer.scorer import Scorer
from toporank.structures.identity import Status


class Part(NamedTuple):
    """A run, and which of its targets the whole takes from it."""

    run: Run
    targets: frozenset[str]

    @property
    def place(self) -> Place:
        """Where it is."""
        return self.run.place


class Whole(NamedTuple):
    """What can be joined. twice : targets that several runs have with the same rows; the whole has them once."""

    parts: list[Part]
    twice: list[str]


def joinable(places: Sequence[Place]) -> Whole:
    """The runs as parts of a whole. Raises ConfigError, which says what to do instead, when they cannot be joined."""
    if len(places) < 2:
        raise ConfigError("a single run is whole", where=places[0].out, remedy="give two runs or more")
    for (out, _), n in Counter(place.key for place in places).items():
        if n > 1:
            raise ConfigError(f"is given {n} times", where=out, remedy="give each run once")
    first, *others = runs = [Run(place) for place in places]
    for run in others:
        if unlike := scored_unlike(first, run):
            what = f"cannot be joined with {first.place.out} (A): {'; '.join(unlike)}"
            remedy = "score both with the same scorer and options, and merge then"
            raise ConfigError(what, where=f"{run.place.out} (B)", remedy=remedy)
    return _parted(runs)


def _parted(runs: Iterable[Run]) -> Whole:
    """Each target with the first run that has it. Raises ConfigError where another run has other rows of it."""
    owner: dict[str, tuple[Run, list[RankedDecoy]]] = {}
    parts, twice = [], []
    for run in runs:
        rows = _by_target(run.table)
        for target in [target for target in rows if target in owner]:
            before, theirs = owner[target]
            if theirs != rows[target]:
                raise _clash(target, before, run)
            twice.append(target)
        parts.append(Part(run, frozenset(rows).difference(owner)))
        owner |= {target: (run, rows[target]) for target in parts[-1].targets}
    return Whole(parts, sorted(set(twice)))


def _by_target(table: Iterable[RankedDecoy]) -> dict[str, list[RankedDecoy]]:
    found: dict[str, list[RankedDecoy]] = {}
    for row in table:
        found.setdefault(row.target, []).append(row)
    return found


def _clash(target: str, first: Run, second: Run) -> ConfigError:
    """The error of a target that two runs have with other models or scores."""
    models = [{row.decoy for row in run.table if row.target == target} for run in (first, second)]
    only = len(models[0] ^ models[1])
    differs = f"{only:,} of its models only one of them has" if only else "its models have other scores"
    what = f"the target {target} is in {first.place.out}, too, and {differs}"
    remedy = (
        "the score of a model depends on the other models of its target: score all models of this target in one run;"
        " or, if these are two complexes, rename the folder or file of one and score it again"
    )
    return ConfigError(what, where=second.place.out, remedy=remedy)


def scorer_of(whole: Whole, given: Path | None, shipped: Path) -> Path:
    """The scorer of the runs, whose description the page has. given : by the user, if any; shipped : with TopoRank.

    Raises ConfigError when it is another one than the one that scored them, or is not there any more.
    """
    run = whole.parts[0].run
    path = given or Path(run.place.settings.get("scorer") or shipped)
    remedy = "give the scorer that scored the runs with --scorer"
    try:
        scorer = Scorer.open(path)
    except CheckpointError as error:
        raise ConfigError(
            f"the page needs the scorer of the runs: {error}", where=run.place.out, remedy=remedy
        ) from error
    same = scorer.digest == run.scorer if run.scorer else scorer.digests[scorer.checkpoint] == run.place.checkpoint
    if not same:
        raise ConfigError("another scorer than the one that scored the runs", where=path, remedy=remedy)
    return path


# ---- writing ------------------------------------------------------------------------------------------------------


def check_room(into: Place, places: Iterable[Place]) -> None:
    """Raise ConfigError when the folder for the whole holds anything but an earlier merge, or is one of the runs."""
    if any(into.out == place.out for place in places):
        raise ConfigError("is one of the runs", where=into.out, remedy="choose another folder with --into")
    record = into.record
    if (into.out / layout.SETTINGS).exists() or (into.path(layout.RANKING).exists() and not (record and record.merged)):
        what = "holds results of `toporank score`"
        raise ConfigError(what, where=into.out, remedy="choose another folder with --into")


def write_whole(whole: Whole, into: Place, scorer: Path) -> None:
    """Write all tables of the whole, its structure files and, from these, its page. What an earlier merge left goes."""
    for pattern in (layout.RANKING, layout.COVERAGE):
        shutil.rmtree(into.path(pattern).parent, ignore_errors=True)
    _write_tables(whole.parts, into)
    _write_models(whole.parts, into)
    _write_ledgers(whole.parts, into)
    write_record(into.path(layout.SCORED_WITH), _record(whole.parts))
    _write_page(into, scorer)


def _write_tables(parts: Sequence[Part], into: Place) -> None:
    table = _sorted(parts, lambda run: run.table)
    write_ranking(into.path(layout.RANKING), table)
    write_model_pred_dockq(into.path(layout.MODEL_PRED_DOCKQ), table)
    coverage = _sorted(parts, _coverage)
    write_coverage(into.path(layout.COVERAGE), coverage)
    write_confidence(into.path(layout.CONFIDENCE), _confidence(parts, coverage))
    for pattern, reader, writer in (
        (layout.SCORED_INTERFACES, read_interfaces, write_interfaces),
        (layout.LEAKAGE, read_leakage, write_leakage),
        (layout.CHAINS, read_chains, write_chains),
    ):
        writer(into.path(pattern), _sorted(parts, lambda run, at=pattern, read=reader: run.place.read(at, read)))
    write_residue_rows(into.path(layout.RESIDUES), _residues(parts))
    write_contact_lines(into.path(layout.CONTACTS), _contacts(parts))
    vectors = _sorted(parts, _vectors)
    write_embeddings(into.path(layout.EMBEDDINGS), {row.key: row.vector for row in vectors})


class _Vector(NamedTuple):
    target: str
    key: tuple[str, str]
    vector: Any


def _vectors(run: Run) -> list[_Vector]:
    found = read_embeddings(run.place.path(layout.EMBEDDINGS))
    return [_Vector(key[0], key, vector) for key, vector in found.items()]


def _sorted(parts: Iterable[Part], rows: Callable[[Run], Iterable[Any]]) -> list[Any]:
    """The rows of all parts by target; those of a target stay in their order."""
    kept = [row for part in parts for row in rows(part.run) if row.target in part.targets]
    return sorted(kept, key=attrgetter("target"))


def _coverage(run: Run) -> list[CoverageRow]:
    """With whole paths, since relative ones begin in the folder of the run."""
    rows = run.place.read(layout.COVERAGE, read_coverage)
    return [row._replace(path=run.place.whole(row.path)) for row in rows]


def _confidence(parts: Iterable[Part], coverage: Iterable[CoverageRow]) -> list[Confidence]:
    """Of each model, as if one run had asked: a run in which no predictor says anything has no rows of its own."""
    known = {row[:2]: row for row in _sorted(parts, lambda run: run.place.read(layout.CONFIDENCE, read_confidence))}
    there = [row[:2] for row in coverage if row.status not in (Status.NO_DECOY, Status.NOT_BUILT)]
    return [known.get(key, Confidence(*key)) for key in there]


def _residues(parts: Iterable[Part]) -> Iterator[ResidueRow]:
    """The rows of residues.csv, which may be too many to hold, by target; each run has them so already."""
    return heapq.merge(*map(_residues_of, parts), key=attrgetter("target"))


def _contacts(parts: Iterable[Part]) -> Iterator[str]:
    """The lines of contacts.csv, by target; an older run has none."""
    tables = ((part.place.path(layout.CONTACTS), part.targets) for part in parts)
    lines = [read_contact_lines(path, targets) for path, targets in tables if path.exists()]
    return (line for _, line in heapq.merge(*lines, key=itemgetter(0)))


def _residues_of(part: Part) -> Iterator[ResidueRow]:
    return (row for row in read_residues(part.place.path(layout.RESIDUES)) if row.target in part.targets)


def _write_models(parts: Iterable[Part], into: Place) -> None:
    """Structure files of the models ranked first; they take no room where the file system has links."""
    into.path(layout.MODELS).mkdir(parents=True)
    for part in parts:
        for target in sorted(part.targets):
            for file in sorted(part.place.path(layout.MODELS).joinpath(target).glob("*.cif")):
                link_or_copy(file, into.path(layout.MODELS) / target / file.name)


def _write_ledgers(parts: Iterable[Part], into: Place) -> None:
    """What became of each model, chunk by chunk; the whole has no plan, so nothing can be built there."""
    for part in parts:
        for name, ledger in part.place.ledgers.items():
            rows = [row for row in ledger.rows if row.target in part.targets]
            if rows:
                path = into.out / layout.LEDGER.format(dataset=into.dataset, chunk=name)
                write_ledger(path, ledger._replace(rows=rows))


def _record(parts: Sequence[Part]) -> ScoredWith:
    """What gave the scores of all parts, as far as they say it."""
    runs = [part.run for part in parts]
    versions = dict.fromkeys(run.record.version for run in runs if run.record)
    return ScoredWith(
        version=" and ".join(versions),
        scorer=runs[0].scorer if all(run.scorer for run in runs) else "",
        checkpoint=runs[0].place.checkpoint,
        rank_by=runs[0].rank_by,
        fold_twins=runs[0].folds_twins,
        use_confidence=runs[0].uses_confidence,
        mask_disorder=runs[0].masks_disorder,
        merged=tuple(run.place.name for run in runs),
    )


def _write_page(into: Place, scorer: Path) -> None:
    """The page, and the files beside it, from the tables that were written."""
    known = {
        name: [into.path(pattern)]
        for name, pattern in (
            *(("coverage", layout.COVERAGE), ("rankings", layout.RANKING), ("interfaces", layout.SCORED_INTERFACES)),
            *(("leakage", layout.LEAKAGE), ("chains", layout.CHAINS), ("confidence", layout.CONFIDENCE)),
            *(("embeddings", layout.EMBEDDINGS), ("residues", layout.RESIDUES)),
        )
    }
    study = read_study(**known, evaluations=[], leaderboard=None, scorer=scorer)
    page = into.path(layout.SCORE_REPORT)
    text = render(study, page.parent)
    for name, content in beside(study, page.parent).items():
        write_text(page.with_name(name), content)
    write_text(page, text)
