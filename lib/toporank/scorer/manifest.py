"""scorer.json: what a scorer is, and the SHA-256 of each of its files.

Here is also which files a scorer has where there is no scorer.json.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

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
VECTORS = "training_vectors.safetensors"
WITHOUT = {
    JUDGE: "its networks alone give the score, without intervals and domain",
    VECTORS: "no training decoys on the map",
}
"""Files that a scorer can do without, and what it lacks then."""
MAKE = "restore the folder from where the scorer came from, or make the scorer again"
MOST_FILES = 1000
"""That scorer.json lists at most."""

Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
FileName = Annotated[str, Field(pattern=rf"^({ENSEMBLE}/)?[A-Za-z0-9][A-Za-z0-9_.-]*$")]
ScoredBy = Literal["best", "mean"]


class LearnedFrom(Section):
    """The training targets of all networks: how many, in how many clusters if that is known, and a
    digest of both.
    """

    targets: int
    clusters: int | None
    digest: Digest


class Manifest(Section):
    """The content of scorer.json.

    score : that of `checkpoint`, or the mean of the `members`. files : SHA-256 by name. features :
    records of the modules. made_with : versions of programs. learned_from : None where a network
    does not say it. digest : of all that, which so names the scorer.
    """

    format: Literal[1] = 1
    score: ScoredBy
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
        return self.model_copy(update={"digest": hashlib.sha256(plain.text.encode()).hexdigest()})


class Parts(NamedTuple):
    """The files of a scorer by their names in its folder. mean : whether the score is the mean of
    the members.

    files : all of them, those of `WITHOUT` only as far as they are there. manifest : None without
    scorer.json.
    """

    folder: Path
    checkpoint: str
    members: list[str]
    mean: bool
    files: list[str]
    manifest: Manifest | None = None


def parts_of(path: Path) -> Parts:
    """The files of the scorer at a path: its folder or an archive of it, its scorer.json or best
    one, or a checkpoint.

    The best one stands for the folder, other checkpoints for themselves. Raises CheckpointError
    when there is no scorer, ConfigError when an archive cannot be unpacked.
    """
    if not path.exists():
        raise CheckpointError(
            "there is no such scorer or checkpoint", where=path, remedy="is it spelled right?"
        )
    if path.is_file() and archive_name(path):
        return parts_of(_from_archive(path))
    if path.is_dir() or path.name in (MANIFEST, CHECKPOINT, TRAINED):
        folder = path if path.is_dir() else path.parent
        if (folder / MANIFEST).exists():
            return _listed(folder, read_manifest(folder))
        parts = _unlisted(folder)
        if not (folder / parts.checkpoint).exists():
            remedy = (
                "give the folder of a scorer, such as results/final of a study, or a checkpoint"
            )
            what = f"no scorer: it has neither {MANIFEST} nor {CHECKPOINT} nor {TRAINED}"
            raise CheckpointError(what, where=folder, remedy=remedy)
        if len(parts.files) > 1:
            what = f"{MANIFEST} is missing, so this scorer is unfinished or not whole"
            more = (
                f"; for the scores of its best network alone, give a copy of {parts.checkpoint} "
                "in another folder"
            )
            raise CheckpointError(what, where=folder, remedy=MAKE + more)
        return parts
    return Parts(path.parent, path.name, [], False, [path.name])


def _from_archive(archive: Path) -> Path:
    """The folder of the scorer in an archive, unpacked once into the user's cache under the
    archive's own digest.
    """
    folder = unpacked(archive, user_cache() / "scorers" / sha256(archive)[:16])
    inner = [folder, *(each for each in sorted(folder.iterdir()) if each.is_dir())]
    return next((each for each in inner if (each / MANIFEST).exists()), folder)


def _listed(folder: Path, manifest: Manifest) -> Parts:
    files = [name for name in manifest.files if name not in WITHOUT or (folder / name).exists()]
    return Parts(
        folder, manifest.checkpoint, manifest.members, manifest.score == "mean", files, manifest
    )


def _unlisted(folder: Path) -> Parts:
    """Nothing says that the mean of the ensemble is the score."""
    checkpoint = CHECKPOINT if (folder / CHECKPOINT).exists() else TRAINED
    members = sorted(
        f"{ENSEMBLE}/{path.name}"
        for path in (folder / ENSEMBLE).glob("*")
        if path.suffix in SUFFIXES
    )
    further = [name for name in WITHOUT if (folder / name).exists()]
    return Parts(folder, checkpoint, members, False, [checkpoint, *members, *further])


def read_manifest(folder: Path) -> Manifest:
    """Read scorer.json. Raises CheckpointError, of one line, when a byte of it is not as it was
    written.
    """
    path = folder / MANIFEST
    try:
        manifest = read_section(Manifest, path)
    except ValueError as error:
        raise CheckpointError(
            f"not a usable {MANIFEST}: {error}", where=path, remedy=MAKE
        ) from error
    if manifest.signed().text != path.read_text(encoding="utf-8"):
        raise CheckpointError("it was changed after the scorer was made", where=path, remedy=MAKE)
    return manifest


def check_files(parts: Parts, digests: Mapping[str, str]) -> None:
    """Raise CheckpointError, naming the file, unless these are the files that scorer.json
    describes, if there is one.

    digests : SHA-256 of the files that are there. Those of `WITHOUT` may be missing, but none may
    come from elsewhere.
    """
    folder, manifest = parts.folder, parts.manifest
    if manifest is None:
        return
    for name, digest in digests.items():
        if manifest.files[name] != digest:
            raise CheckpointError(
                f"it was changed after the scorer was made, or it is damaged: {MANIFEST} names "
                "another SHA-256",
                where=folder / name,
                remedy=MAKE,
            )
    for name in WITHOUT:
        if name not in manifest.files and (folder / name).exists():
            what = f"it is not part of the scorer that {MANIFEST} describes"
            raise CheckpointError(what, where=folder / name, remedy="move it to another folder")


def digests_of(parts: Parts) -> dict[str, str]:
    """SHA-256 of the files by name. Raises CheckpointError when one cannot be read."""
    found = {}
    for name in parts.files:
        try:
            found[name] = sha256(parts.folder / name)
        except OSError as error:
            path = parts.folder / name
            raise CheckpointError(
                f"cannot be read: {error.strerror}", where=path, remedy=MAKE
            ) from error
    return found


def seal(folder: Path, *, mean: bool, made_with: Mapping[str, str] | None = None) -> Manifest:
    """Write the scorer.json of a folder that has the other files of a scorer; all of its ensemble
    are members.

    mean : whether the score is their mean. made_with : versions of further programs. The old
    scorer.json is replaced.
    """
    (folder / MANIFEST).unlink(missing_ok=True)
    parts = _unlisted(folder)._replace(mean=mean)
    descriptions = [
        read_description(folder / name)
        for name in dict.fromkeys((parts.checkpoint, *parts.members))
    ]
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
    sets = [description.get("training_set") or {} for description in descriptions]
    if not all(each.get("chains") for each in sets):
        return None
    targets = sorted({target for each in sets for target in each["chains"]["targets"]})
    clusters = {
        target: name for each in sets for target, name in (each.get("clusters") or {}).items()
    }
    digest = hashlib.sha256(json.dumps([targets, sorted(clusters.items())]).encode()).hexdigest()
    return LearnedFrom(
        targets=len(targets), clusters=len({*clusters.values()}) or None, digest=digest
    )
