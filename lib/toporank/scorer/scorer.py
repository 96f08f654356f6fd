"""A scorer: which files it has, whether they are whole, and how a run was scored with it.

No torch is needed to open one. The way from graphs to scores is `scorer.networks`, then
`scorer.judge`; `scorer.residue_quality` is for residues and contacts.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import toporank
from toporank.errors import CheckpointError, RecordError
from toporank.files.archives import archive_name
from toporank.files.atomic import sha256, write_text
from toporank.learning.checkpoint import read_description, toy
from toporank.scorer.manifest import (
    JUDGE,
    MANIFEST,
    NO_JUDGE,
    check_files,
    digests_of,
    parts_of,
)
from toporank.settings import path_of


@dataclass(frozen=True)
class Scorer:
    """What gives scores.

    Attributes
    ----------
    path : as the caller named it
    checkpoint : file that gives the pooled vectors, the description and, unless `mean`, the score
        of the networks
    members : checkpoints whose spread is reported
    mean : whether the mean of the members is the score of the networks
    digests : SHA-256 by file
    judge : judge.json, None for a scorer without
    n_targets : number of targets that all networks together learned from, None where scorer.json
        does not say it
    graphs : records of the features that scorer.json names, None without one

    Examples
    --------
    >>> from toporank.layout import repository
    >>> example = repository() / "resources/example"
    >>> scorer = Scorer.open(repository() / "resources/scorer")
    >>> len(scorer.members), scorer.mean
    (10, True)
    """

    path: Path
    checkpoint: Path
    members: Sequence[Path]
    mean: bool
    digests: Mapping[Path, str]
    judge: Path | None = None
    n_targets: int | None = None
    graphs: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        of_members = [self.digests[path] for path in self.members]
        if self.mean and self.digests[self.checkpoint] not in of_members:
            raise CheckpointError(
                f"the score is the mean of the {len(self.members)} checkpoints of its ensemble; "
                "this one is another",
                where=self.checkpoint,
                remedy="copy this checkpoint to a folder of its own to score with it alone",
            )

    @classmethod
    def open(cls, path: Path | str) -> Scorer:
        """Return the scorer of a folder, after comparing every file with scorer.json.

        Parameters
        ----------
        path : folder of a scorer, an archive of one, or a single checkpoint, of this workflow or
            of TopoQA

        Returns
        -------
        scorer : for `toporank.score(models, scorer=scorer)`

        Raises
        ------
        CheckpointError : there is no scorer, one of its files is missing, or a byte has changed;
            the message names the file

        Examples
        --------
        >>> from toporank.layout import SHIPPED_SCORER, repository
        >>> Scorer.open(repository() / SHIPPED_SCORER).mean
        True
        """
        parts = parts_of(path_of(path, "path"))
        digests = digests_of(parts)
        check_files(parts, digests)
        manifest = parts.manifest
        learned_from = manifest.learned_from if manifest and parts.mean else None
        return cls(
            path=Path(path),
            checkpoint=parts.folder / parts.checkpoint,
            members=[parts.folder / name for name in parts.members],
            mean=parts.mean,
            digests={parts.folder / name: digest for name, digest in digests.items()},
            judge=parts.folder / JUDGE if JUDGE in parts.files else None,
            n_targets=learned_from.targets if learned_from else None,
            graphs=manifest.features if manifest else None,
        )

    @classmethod
    def of(
        cls, checkpoint: Path, members: Sequence[Path] = (), *, mean: bool = False
    ) -> Scorer:
        """Return a scorer of networks alone, wherever their files lie."""
        digests = {path: sha256(path) for path in dict.fromkeys((checkpoint, *members))}
        return cls(checkpoint, checkpoint, members, mean, digests)

    @property
    def scoring_checkpoints(self) -> list[Path]:
        """The checkpoints that give the score of the networks."""
        return list(self.members) if self.mean else [self.checkpoint]

    @cached_property
    def description(self) -> dict[str, Any]:
        """What its checkpoint says of itself, `checkpoint.read_description`."""
        return read_description(self.checkpoint)

    @cached_property
    def descriptions(self) -> list[dict[str, Any]]:
        """The same of all checkpoints that give the score, its own first."""
        digest = self.digests[self.checkpoint]
        others = [
            path for path in self.scoring_checkpoints if self.digests[path] != digest
        ]
        return [self.description, *map(read_description, others)]

    @property
    def features(self) -> dict[str, Any]:
        """Records of the feature modules of its graphs, empty where it does not say."""
        return dict(self.graphs or self.description.get("features") or {})

    @property
    def toy(self) -> str:
        """Why its scores are not to be trusted, in a sentence; empty unless it is a toy."""
        return toy(self.description, self.n_targets)

    @property
    def missing(self) -> str:
        """What it lacks without a judge, in a sentence; empty where it has one."""
        return "" if self.judge else f"the scorer has no {JUDGE} ({NO_JUDGE})"

    @property
    def _networks_that_score(self) -> str:
        """Which of its networks give the score: `True` for the mean of all."""
        return str(self.mean or self.digests[self.checkpoint])

    @property
    def digest(self) -> str:
        """SHA-256 that names it.

        Two scorers with the same one have the same files and score alike.
        """
        contents = sorted(
            f"{path.name} {digest}" for path, digest in self.digests.items()
        )
        return hashlib.sha256(
            "\n".join([self._networks_that_score, *contents]).encode()
        ).hexdigest()


def files_of(path: Path | str) -> list[Path]:
    """Return the files of a scorer, scorer.json first if there is one, or the archive that it is.

    They are not read, nor need they be whole.
    """
    if archive_name(Path(path)):
        return [Path(path)]
    try:
        parts = parts_of(Path(path))
    except CheckpointError:
        return [Path(path)]
    names = [MANIFEST, *parts.files] if parts.manifest else parts.files
    return [parts.folder / name for name in names]


# ---- scored_with.json ----------------------------------------------------------------------------


class ScoredWith(NamedTuple):
    """What gave the scores of a data set, which makes two runs comparable.

    Attributes
    ----------
    version : of TopoRank
    scorer : `Scorer.digest`
    checkpoint : SHA-256 of the one that gives pooled vectors
    rank_by, use_confidence : as the configuration has them
    """

    version: str
    scorer: str
    checkpoint: str
    rank_by: str
    use_confidence: bool

    @classmethod
    def of(cls, scorer: Scorer, *, rank_by: str, use_confidence: bool) -> ScoredWith:
        """Return the record for scores that this version gives now."""
        return cls(
            version=toporank.__version__,
            scorer=scorer.digest,
            checkpoint=scorer.digests[scorer.checkpoint],
            rank_by=rank_by,
            use_confidence=use_confidence,
        )


def write_record(path: Path | str, record: ScoredWith) -> None:
    """Write scored_with.json."""
    write_text(path, json.dumps(record._asdict(), indent=1) + "\n")


def read_record(path: Path | str) -> ScoredWith | None:
    """Read scored_with.json; None where there is none, as in a folder of an earlier version.

    Raises
    ------
    RecordError : it is something else
    """
    try:
        entries = json.loads(Path(path).read_text(encoding="utf-8"))
        return ScoredWith(
            **{name: entries[name] for name in entries if name in ScoredWith._fields}
        )
    except FileNotFoundError:
        return None
    except (ValueError, TypeError) as error:
        remedy = "delete it and run `toporank score` again"
        raise RecordError(
            "does not say what gave the scores", where=path, remedy=remedy
        ) from error
