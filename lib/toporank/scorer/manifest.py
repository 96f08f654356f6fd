"""scorer.json: what a scorer is, and the SHA-256 of its files.

It also says which files a scorer has that does not come with one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from filelock import FileLock
from pydantic import Field, model_validator

from toporank import __version__
from toporank.errors import CheckpointError
from toporank.files.archives import archive_name, unpacked
from toporank.files.atomic import sha256, user_cache, write_text
from toporank.learning.checkpoint import read_description
from toporank.settings import Section, read_section

MANIFEST = "scorer.json"
CHECKPOINT = "best.safetensors"
TRAINED = "best.ckpt"
"""The checkpoint of a study, as training leaves it."""
SUFFIXES = (".safetensors", ".ckpt")
"""Of checkpoints: as a scorer that was made has them, and as training leaves them."""
ENSEMBLE = "ensemble"
"""Folder of the checkpoints whose spread is reported."""
JUDGE = "judge.json"
"""A scorer may lack it."""
NO_JUDGE = "its networks alone give the score, without intervals and domain"
MAKE = "restore the folder from where the scorer came from, or make the scorer again"
UNPACKED = "scorer"
"""The folder of an archive in the user's cache."""
MOST_FILES = 1000
"""Files that scorer.json lists, at most."""

Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
FileName = Annotated[str, Field(pattern=rf"^({ENSEMBLE}/)?[A-Za-z0-9][A-Za-z0-9_.-]*$")]


class LearnedFrom(Section):
    """The training targets of all networks: their number, that of their clusters, and a digest.

    clusters : None where it is not known.
    """

    targets: int
    clusters: int | None
    digest: Digest


class Manifest(Section):
    """The content of scorer.json.

    Attributes
    ----------
    score : that of `checkpoint`, or the mean of the `members`
    files : SHA-256 by name
    features : records of the modules
    made_with : versions of programs
    learned_from : None where a network does not say it
    digest : of all that, which so names the scorer
    """

    format: Literal[1] = 1
    score: Literal["best", "mean"]
    checkpoint: FileName
    members: list[FileName] = Field(max_length=MOST_FILES)
    files: dict[FileName, Digest] = Field(max_length=MOST_FILES)
    features: dict[str, dict[str, Any]]
    made_with: dict[str, str]
    learned_from: LearnedFrom | None
    digest: str = ""

    @model_validator(mode="after")
    def _whole(self) -> Manifest:
        for name in (self.checkpoint, *self.members):
            if name not in self.files:
                raise ValueError(f"{name} is not among its files")
        return self

    @property
    def text(self) -> str:
        """What the file contains."""
        return self.model_dump_json(indent=1) + "\n"

    def signed(self) -> Manifest:
        """The same with its digest."""
        plain = self.model_copy(update={"digest": ""})
        return self.model_copy(
            update={"digest": hashlib.sha256(plain.text.encode()).hexdigest()}
        )


class Parts(NamedTuple):
    """The files of a scorer by their names in its folder.

    Attributes
    ----------
    mean : whether the score is the mean of the members
    files : all of them, the judge only where it exists
    manifest : None without scorer.json
    """

    folder: Path
    checkpoint: str
    members: list[str]
    mean: bool
    files: list[str]
    manifest: Manifest | None = None


def parts_of(path: Path) -> Parts:
    """Return the files of the scorer at a path.

    Parameters
    ----------
    path : its folder, an archive of it, its scorer.json or best checkpoint, which name the folder,
        or another checkpoint, which is a scorer alone

    Raises
    ------
    CheckpointError : there is no scorer
    ConfigError : an archive cannot be unpacked
    """
    if not path.exists():
        raise CheckpointError(
            "there is no such scorer or checkpoint",
            where=path,
            remedy="is it spelled right?",
        )
    if path.is_file() and archive_name(path):
        return parts_of(_from_archive(path))
    if path.is_file() and path.name not in (MANIFEST, CHECKPOINT, TRAINED):
        return Parts(path.parent, path.name, members=[], mean=False, files=[path.name])
    folder = path if path.is_dir() else path.parent
    if (folder / MANIFEST).exists():
        return _listed(folder, read_manifest(folder))
    parts = _unlisted(folder)
    if not (folder / parts.checkpoint).exists():
        raise CheckpointError(
            f"no scorer: it has neither {MANIFEST} nor {CHECKPOINT} nor {TRAINED}",
            where=folder,
            remedy="give the folder of a scorer, such as results/final of a study, or a checkpoint",
        )
    if len(parts.files) > 1:
        alone = (
            f"for the scores of its best network alone, give a copy of {parts.checkpoint} in "
            "another folder"
        )
        raise CheckpointError(
            f"{MANIFEST} is missing, so this scorer is unfinished or not whole",
            where=folder,
            remedy=f"{MAKE}; {alone}",
        )
    return parts


def _from_archive(archive: Path) -> Path:
    """The folder of the scorer in an archive.

    It is unpacked once into the user's cache under the archive's own digest. Copies of an archive,
    and jobs that begin at the same time, share the folder.
    """
    place = user_cache() / "scorers" / sha256(archive)[:16]
    place.parent.mkdir(parents=True, exist_ok=True)
    folder = place / UNPACKED
    with FileLock(place.with_suffix(".lock")):
        if not folder.is_dir():
            unpacked(archive, place, UNPACKED)
    inner = sorted(each.parent for each in folder.glob(f"*/{MANIFEST}"))
    return folder if (folder / MANIFEST).exists() or not inner else inner[0]


def _listed(folder: Path, manifest: Manifest) -> Parts:
    files = [
        name for name in manifest.files if name != JUDGE or (folder / name).exists()
    ]
    return Parts(
        folder=folder,
        checkpoint=manifest.checkpoint,
        members=manifest.members,
        mean=manifest.score == "mean",
        files=files,
        manifest=manifest,
    )


def _unlisted(folder: Path) -> Parts:
    """The files of a scorer without scorer.json, so the best network alone gives the score."""
    checkpoint = CHECKPOINT if (folder / CHECKPOINT).exists() else TRAINED
    paths = sorted((folder / ENSEMBLE).glob("*"))
    members = [f"{ENSEMBLE}/{path.name}" for path in paths if path.suffix in SUFFIXES]
    further = [JUDGE] if (folder / JUDGE).exists() else []
    files = [checkpoint, *members, *further]
    return Parts(folder, checkpoint, members, mean=False, files=files)


def read_manifest(folder: Path) -> Manifest:
    """Read scorer.json.

    Raises
    ------
    CheckpointError : of one line, when a byte of it is not as it was written
    """
    path = folder / MANIFEST
    try:
        manifest = read_section(Manifest, path)
    except ValueError as error:
        what = f"not a usable {MANIFEST}: {error}"
        raise CheckpointError(what, where=path, remedy=MAKE) from error
    if manifest.signed().text != path.read_text(encoding="utf-8"):
        raise CheckpointError(
            "it was changed after the scorer was made", where=path, remedy=MAKE
        )
    return manifest


def check_files(parts: Parts, digests: Mapping[str, str]) -> None:
    """Check that these are the files that scorer.json describes, if there is one.

    Parameters
    ----------
    parts : the judge may be missing, but it may not come from elsewhere
    digests : SHA-256 of the files

    Raises
    ------
    CheckpointError : a file is another
    """
    if parts.manifest is None:
        return
    listed = parts.manifest.files
    for name, digest in digests.items():
        if listed[name] != digest:
            raise CheckpointError(
                f"it was changed after the scorer was made, or it is damaged: {MANIFEST} names "
                "another SHA-256",
                where=parts.folder / name,
                remedy=MAKE,
            )
    judge = parts.folder / JUDGE
    if JUDGE not in listed and judge.exists():
        raise CheckpointError(
            f"it is not part of the scorer that {MANIFEST} describes",
            where=judge,
            remedy="move it to another folder",
        )


def digests_of(parts: Parts) -> dict[str, str]:
    """Return SHA-256 of the files by name.

    Raises
    ------
    CheckpointError : a file cannot be read
    """
    digests = {}
    for name in parts.files:
        path = parts.folder / name
        try:
            digests[name] = sha256(path)
        except OSError as error:
            what = f"cannot be read: {error.strerror}"
            raise CheckpointError(what, where=path, remedy=MAKE) from error
    return digests


def seal(
    folder: Path, *, mean: bool, made_with: Mapping[str, str] | None = None
) -> Manifest:
    """Write the scorer.json of a folder that has the other files of a scorer.

    The old scorer.json is replaced.

    Parameters
    ----------
    folder : all checkpoints of its ensemble become members
    mean : whether the score is their mean
    made_with : versions of further programs
    """
    (folder / MANIFEST).unlink(missing_ok=True)
    parts = _unlisted(folder)
    names = dict.fromkeys((parts.checkpoint, *parts.members))
    descriptions = [read_description(folder / name) for name in names]
    manifest = Manifest(
        score="mean" if mean else "best",
        checkpoint=parts.checkpoint,
        members=parts.members,
        files=digests_of(parts),
        features=descriptions[0].get("features") or {},
        made_with={"toporank": __version__, **(made_with or {})},
        learned_from=_learned_from(descriptions),
    ).signed()
    write_text(folder / MANIFEST, manifest.text)
    return manifest


def _learned_from(descriptions: Iterable[Mapping[str, Any]]) -> LearnedFrom | None:
    targets: set[str] = set()
    clusters: dict[str, str] = {}
    for description in descriptions:
        training_set = description.get("training_set") or {}
        if not training_set.get("chains"):
            return None
        targets.update(training_set["chains"]["targets"])
        clusters.update(training_set.get("clusters") or {})
    contents = json.dumps([sorted(targets), sorted(clusters.items())])
    return LearnedFrom(
        targets=len(targets),
        clusters=len(set(clusters.values())) or None,
        digest=hashlib.sha256(contents.encode()).hexdigest(),
    )
