"""A folder that `toporank score` wrote: where its tables are, and what they say of the run."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from toporank import layout
from toporank.building.chunks.ledger import Ledger, read_ledger
from toporank.building.chunks.plan import chunk_names, read_current
from toporank.comparing.homology.chain_tables import read_chains
from toporank.errors import ConfigError, RecordError
from toporank.ranking.interfaces import read_interfaces
from toporank.ranking.ranked import COMPLEX, RankedDecoy, read_ranking
from toporank.report.targets import TargetRow, read_targets
from toporank.scorer.record import ScoredWith, read_record
from toporank.structures.partners import chains_of

AGAIN = "run `toporank score` there again: it goes on where it was"
TABLES = (
    *(layout.RANKING, layout.TARGETS, layout.SCORED_INTERFACES, layout.LEAKAGE, layout.CONFIDENCE, layout.RESIDUES),
    *(layout.EMBEDDINGS, layout.COVERAGE, layout.CHAINS),
)
"""What every answer has, whatever was scored."""
T = TypeVar("T")

Key = tuple[str, str]
"""Target and decoy."""


class Place(NamedTuple):
    """Where an answer is. out : the folder that the command wrote to. dataset : its results. name : for people."""

    out: Path
    dataset: str
    name: str

    @property
    def key(self) -> tuple[Path, str]:
        """Equal for the same answer, by whatever name it was given."""
        return self.out, self.dataset

    def path(self, pattern: str) -> Path:
        """A file of `layout` there."""
        return self.out / pattern.format(dataset=self.dataset)

    @classmethod
    def find(cls, given: Path) -> Place:
        """The answer in a folder: the one that `-o` named, or `results/scores/<name>` in it.

        Raises ConfigError when there is none, or there are several and nothing says which.
        """
        if not given.exists():
            raise ConfigError("there is no such folder", where=given, remedy="is it spelled right?")
        folder = given.resolve()
        of_scores = Path(layout.RANKING).parts[:-2]
        if folder.parts[-len(of_scores) - 1 : -1] == of_scores:
            return cls(folder.parents[len(of_scores)], folder.name, given.name)._checked()
        names = sorted(path.parent.name for path in folder.glob(layout.RANKING.format(dataset="*")))
        meant = _settings(folder).get("score_name")
        if meant:
            return cls(folder, meant, folder.name)._checked()
        if not names:
            what = f"`toporank score` did not write this folder: it has no {layout.RANKING.format(dataset='<name>')}"
            raise ConfigError(what, where=given, remedy="give the folder that `-o` named, such as toporank_<name>")
        if len(names) > 1:
            remedy = f"give one of them, such as {given / Path(layout.RANKING.format(dataset=names[0])).parent}"
            raise ConfigError(f"has {len(names)} answers: {', '.join(names)}", where=given, remedy=remedy)
        return cls(folder, names[0], folder.name)._checked()

    def _checked(self) -> Place:
        """Raise ConfigError where a table is missing that every answer has."""
        for pattern in TABLES:
            if not self.path(pattern).is_file():
                where = self.path(pattern).relative_to(self.out)
                raise ConfigError(f"the answer is not complete: {where} is missing", where=self.out, remedy=AGAIN)
        return self

    def whole(self, file: str) -> str:
        """The path of a file of a model as a whole one: one that is relative begins here. Empty if it is not known."""
        return os.path.join(self.out, file) if file else ""

    def read(self, pattern: str, reader: Callable[[Path], T]) -> T:
        """What a reader makes of a table. Raises RecordError when it is damaged or of another version."""
        path = self.path(pattern)
        try:
            return reader(path)
        except (KeyError, ValueError, TypeError) as error:
            what = f"is damaged, or another version wrote it: {type(error).__name__} {error}"
            raise RecordError(what, where=path, remedy=AGAIN) from error

    @property
    def settings(self) -> dict[str, Any]:
        """The configuration of the command; empty in a folder that no command made."""
        return _settings(self.out)

    @property
    def record(self) -> ScoredWith | None:
        """What gave the scores, None in a folder of a version that did not record it."""
        return read_record(self.path(layout.SCORED_WITH))

    @property
    def checkpoint(self) -> str:
        """SHA-256 of the checkpoint that gave the pooled vectors; empty where it is not known."""
        return self.record.checkpoint if self.record else ""

    @property
    def ledgers(self) -> dict[str, Ledger]:
        """What became of every model, chunk by chunk. Raises RecordError when one is damaged."""
        folder = (self.out / layout.LEDGER.format(dataset=self.dataset, chunk="x")).parent
        current = read_current(self.dataset, self.out)
        names = current.of_all if current else chunk_names(folder)
        paths = {name: folder / f"{name}.tsv" for name in names}
        return {name: read_ledger(path) for name, path in paths.items() if path.is_file()}


class Run:
    """What is compared of a run; each table is read when it is first asked for."""

    def __init__(self, place: Place):
        self.place = place

    @cached_property
    def targets(self) -> dict[str, TargetRow]:
        """The rows of targets.csv by target, the most promising first; paths of files are whole."""
        rows = self.place.read(layout.TARGETS, read_targets)
        return {row.target: row._replace(file=self.place.whole(row.file)) for row in rows}

    @cached_property
    def table(self) -> list[RankedDecoy]:
        """The rows of ranking.csv."""
        return self.place.read(layout.RANKING, read_ranking)

    @cached_property
    def record(self) -> ScoredWith | None:
        """As `Place.record`."""
        return self.place.record

    @property
    def scorer(self) -> str:
        """`Scorer.digest` of what gave the scores; empty where it is not recorded."""
        return self.record.scorer if self.record else ""

    @property
    def rank_by(self) -> str:
        """What decided on the ranking, a key of `RANKED_BY`."""
        return next((row.ranked_by for row in self.table if row.ranked_by), COMPLEX)

    @property
    def folds_twins(self) -> bool:
        """Whether twins share a rank; where it is not recorded, they do not by default."""
        return bool(self.record and self.record.fold_twins)

    @property
    def uses_confidence(self) -> bool:
        """Whether the predictor's own confidence counts."""
        return self.record.use_confidence if self.record else self.place.settings.get("use_confidence", True)

    @property
    def masks_disorder(self) -> bool:
        """Whether disordered residues are left out of the models."""
        return bool(self.record and self.record.mask_disorder)

    @cached_property
    def ledgers(self) -> list[Ledger]:
        """As `Place.ledgers`."""
        return [*self.place.ledgers.values()]

    @cached_property
    def contents(self) -> dict[Key, str]:
        """Target and decoy → digest of its atoms, of those that were read and have an interface."""
        rows = (row for ledger in self.ledgers for row in ledger.rows)
        return {row.key: row.atoms_sha256 for row in rows if row.atoms_sha256}

    @cached_property
    def partners(self) -> dict[str, tuple[int, ...]]:
        """Target → how many chains each of its partners of several chains has, sorted."""
        names: dict[str, set[str]] = {}
        for row in self.place.read(layout.SCORED_INTERFACES, read_interfaces):
            names.setdefault(row.target, set()).update(row.interface.split(":"))
        sizes = {target: (len(chains_of(name)) for name in found) for target, found in names.items()}
        return {target: tuple(sorted(n for n in of if n > 1)) for target, of in sizes.items()}

    @cached_property
    def chains(self) -> dict[str, dict[str, int]]:
        """Target → its sequences, and how many chains have each."""
        found: dict[str, Counter[str]] = {}
        for row in self.place.read(layout.CHAINS, read_chains):
            found.setdefault(row.target, Counter())[row.sequence] += max(len(row.chains.split()), 1)
        return dict(found)


def _settings(out: Path) -> dict[str, Any]:
    """What a command wrote into toporank.json; empty without one. Raises RecordError when it is something else."""
    try:
        found = json.loads((out / layout.SETTINGS).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise RecordError("not the settings of a run", where=out / layout.SETTINGS, remedy=AGAIN) from error
    return found if isinstance(found, dict) else {}
