"""A scorer as one thing: what it is, whether it is whole, and where its parts are.

No torch is needed to open one; `scorer.networks` predicts with it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from toporank.errors import CheckpointError
from toporank.files.archives import archive_name
from toporank.files.atomic import sha256
from toporank.learning.checkpoint import read_description, toy
from toporank.scorer.embeddings import Vectors, read_training_vectors
from toporank.scorer.manifest import (
    JUDGE,
    MANIFEST,
    VECTORS,
    WITHOUT,
    check_files,
    digests_of,
    parts_of,
)


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
    judge : file of the trees and the calibration, None for a scorer without
    vectors : file of the networks' vectors of the training set, None for a scorer without
    n_targets : number of targets that all networks together learned from, None where scorer.json
        does not say it
    graphs : records of the features that scorer.json names, None without one
    """

    path: Path
    checkpoint: Path
    members: Sequence[Path]
    mean: bool
    digests: Mapping[Path, str]
    judge: Path | None = None
    vectors: Path | None = None
    n_targets: int | None = None
    graphs: Mapping[str, Any] | None = None

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
        parts = parts_of(Path(path))
        digests = digests_of(parts)
        check_files(parts, digests)
        files = {name: parts.folder / name for name in parts.files}
        members = [files[name] for name in parts.members]
        of_files = {files[name]: digest for name, digest in digests.items()}
        known = parts.manifest and parts.manifest.learned_from
        n_targets = known.targets if known and parts.mean else None
        graphs = parts.manifest and parts.manifest.features
        opened = cls(
            path=Path(path),
            checkpoint=files[parts.checkpoint],
            members=members,
            mean=parts.mean,
            digests=of_files,
            judge=files.get(JUDGE),
            vectors=files.get(VECTORS),
            n_targets=n_targets,
            graphs=graphs,
        )
        return opened._checked()

    @classmethod
    def of(cls, checkpoint: Path, members: Sequence[Path] = (), *, mean: bool = False) -> Scorer:
        """A scorer of networks alone, wherever their files lie."""
        digests = {path: sha256(path) for path in dict.fromkeys((checkpoint, *members))}
        return cls(checkpoint, checkpoint, members, mean, digests)._checked()

    def _checked(self) -> Scorer:
        if self.mean and self.digests[self.checkpoint] not in [
            self.digests[path] for path in self.members
        ]:
            raise CheckpointError(
                f"the score is the mean of the {len(self.members)} checkpoints of its ensemble; "
                "this one is another",
                where=self.checkpoint,
                remedy="copy this checkpoint to a folder of its own to score with it alone",
            )
        return self

    @property
    def judges(self) -> list[Path]:
        """The checkpoints that give the score of the networks."""
        return [*self.members] if self.mean else [self.checkpoint]

    @cached_property
    def description(self) -> dict[str, Any]:
        """What its checkpoint says of itself, `checkpoint.read_description`."""
        return read_description(self.checkpoint)

    @cached_property
    def descriptions(self) -> list[dict[str, Any]]:
        """The same of all checkpoints that give the score, its own first."""
        others = [
            path for path in self.judges if self.digests[path] != self.digests[self.checkpoint]
        ]
        return [self.description, *map(read_description, others)]

    @property
    def features(self) -> dict[str, Any]:
        """Records of the feature modules of the graphs that it takes, empty where it does not
        say.
        """
        return dict(self.graphs or self.description.get("features") or {})

    @property
    def toy(self) -> str:
        """Why its scores are not to be trusted, in a sentence; empty unless it is a toy."""
        return toy(self.description, self.n_targets)

    @property
    def missing(self) -> str:
        """Which files it does without, in a sentence; empty where it has them all."""
        there = {path.name for path in self.digests}
        lacks = [f"no {name} ({why})" for name, why in WITHOUT.items() if name not in there]
        return f"the scorer has {', '.join(lacks)}" if lacks else ""

    @property
    def digest(self) -> str:
        """SHA-256 that names it: two scorers with the same one have the same files and score
        alike.
        """
        contents = sorted(f"{path.name} {digest}" for path, digest in self.digests.items())
        return hashlib.sha256("\n".join([str(self.mean), *contents]).encode()).hexdigest()

    def training_vectors(self) -> Vectors:
        """Where its checkpoint sees some of the decoys that it learned from. Raises RecordError
        when damaged.
        """
        return (
            read_training_vectors(self.vectors, self.digests[self.checkpoint])
            if self.vectors
            else {}
        )


def files_of(path: Path | str) -> list[Path]:
    """The files of a scorer, scorer.json first if there is one; they are not looked into, nor need
    they be whole.

    Of an archive it is the archive.
    """
    if archive_name(Path(path)):
        return [Path(path)]
    try:
        parts = parts_of(Path(path))
    except CheckpointError:
        return [Path(path)]
    manifest = [parts.folder / MANIFEST] if parts.manifest else []
    return [*manifest, *(parts.folder / name for name in parts.files)]
