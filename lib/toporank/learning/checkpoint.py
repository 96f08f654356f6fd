"""Checkpoints that describe themselves: everything needed to score is inside.

Training writes Lightning's files (`.ckpt`). A scorer has its networks as safetensors, whose
description is read without torch. In both it is one JSON text under the key `toporank`: feature
modules and parameters, column names, widths, hyper-parameters, training-set fingerprint and chains,
versions, git state, epoch and validation metrics. Since checkpoints come from elsewhere, a
description is checked like a configuration, and the sizes that it names are bounded before anything
of that size is made.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from toporank import plugins
from toporank.comparing.homology import remembered
from toporank.errors import CheckpointError
from toporank.files import described
from toporank.files.packfile import COLUMNS, PackedGraphs
from toporank.learning import published_checkpoint
from toporank.learning.shapes import BUILT_IN, OWN
from toporank.settings import LARGEST_NETWORK, faults_of

KEY = described.KEY
ZIP = b"PK"
"""Begins the files of torch, which are zip archives."""
NAMED_FAULTS, LONGEST = 3, 200
"""Faults of a description that an error names, and characters of each."""
OF_SUCH_GRAPHS = (
    "give a checkpoint of graphs with these columns; several may be listed, for a fine-tune phase "
    "`parent: [A.ckpt, B.ckpt]`, for `graphs` to score `scorer: [A.ckpt, B.ckpt]`"
)
MOST_KNOWN = 100_000
"""Training targets, and chains of them, that a description lists at most."""
FEWEST_TARGETS, FEWEST_DECOYS = 20, 500
"""A scorer trained on fewer targets is a toy or, where it does not list them, one trained on fewer
decoys.
"""

Text = Annotated[str, Field(max_length=300, pattern=r"^[^\x00-\x1f\x7f]*$")]
Width = Annotated[int, Field(ge=1, le=100_000)]
Count = Annotated[int, Field(ge=0)]


class _Part(BaseModel):
    """A part of a description.

    Keys that this version does not know are kept: newer ones may write them.
    """

    model_config = ConfigDict(extra="allow", strict=True, allow_inf_nan=True)


class Shape(_Part):
    """The hyper-parameters that determine the network."""

    hidden: Annotated[int, Field(ge=1, le=LARGEST_NETWORK["hidden"])]
    heads: Annotated[int, Field(ge=1, le=LARGEST_NETWORK["heads"])]
    layers: Annotated[int, Field(ge=1, le=LARGEST_NETWORK["layers"])]
    readout: Annotated[int, Field(ge=1, le=LARGEST_NETWORK["readout"])]
    attention_dropout: Annotated[float, Field(ge=0, lt=1)]
    dropout: Annotated[float, Field(ge=0, lt=1)] = 0.0
    local: bool = False
    network: Text = BUILT_IN


class FeatureRecord(_Part):
    """The module of a feature stage; its parameters are checked by the module."""

    module: Text
    package: Text = ""


class SelectionRecord(_Part):
    """How the epochs of the run were judged. rule : of older checkpoints alone."""

    spearman_weight: float
    rule: Text = ""


class Origin(_Part):
    """The run that a fine-tune started from."""

    run: Text
    epoch: Count


class KnownChain(_Part):
    """A chain of training targets, as `comparing.homology.remembered` keeps it."""

    of: Annotated[list[Count], Field(min_length=1, max_length=MOST_KNOWN)]
    kmers: Annotated[int, Field(ge=1, le=1_000_000)]
    smallest: Annotated[str, Field(min_length=8, max_length=remembered.LONGEST)]

    @model_validator(mode="after")
    def _some_of_its_kmers(self) -> KnownChain:
        if not 1 <= len(remembered.hashes(self.smallest)) <= self.kmers:
            raise ValueError("more hashes than k-mers")
        return self


class KnownChains(_Part):
    """The names of the training targets, and their chains."""

    targets: Annotated[list[Text], Field(max_length=MOST_KNOWN)]
    chains: Annotated[list[KnownChain], Field(max_length=MOST_KNOWN)]

    @model_validator(mode="after")
    def _of_these_targets(self) -> KnownChains:
        if any(max(chain.of) >= len(self.targets) for chain in self.chains):
            raise ValueError("a chain of a target that is not listed")
        return self


class TrainingSet(_Part):
    """Fingerprint of the training graphs, their chains, and how many decoys were trained on.

    joined : number of graphs in which a partner has several chains; None for a checkpoint that does
        not say.
    clusters : of each training target, if clusters were balanced.
    """

    fingerprint: Text
    train: Count
    val: Count
    joined: Count | None = None
    chains: KnownChains | None = None
    clusters: Annotated[dict[Text, Text], Field(max_length=MOST_KNOWN)] | None = None


class Provenance(_Part):
    """What the checkpoint was made with. git : commit of the clone.

    The networks of a made scorer do not name it.
    """

    git: Text = ""
    versions: dict[Text, Text] = {}


class Description(_Part):
    """What every checkpoint says: the network, and the graphs it takes."""

    node_width: Width
    edge_width: Width
    hyperparameters: Shape
    format: int | None = None
    features: dict[Text, FeatureRecord] | None = None
    node_columns: list[Text] | None = None
    edge_columns: list[Text] | None = None


class OwnDescription(Description):
    """What a checkpoint of this workflow adds: where it comes from."""

    run: Text
    seed: Count
    epoch: Count
    metrics: dict[Text, float]
    selection: SelectionRecord
    network_package: Text = ""
    training_set: TrainingSet
    parent: Origin | None = None
    provenance: Provenance = Provenance()


def describe(content: dict[str, Any]) -> str:
    """The description as stored."""
    return json.dumps({"toporank_checkpoint": 1, **content}, ensure_ascii=False)


def read_description(path: Path | str) -> dict[str, Any]:
    """Return the description of a checkpoint.

    Runs no code from it, and needs torch for a file of torch alone.

    A checkpoint of TopoQA does not describe itself; its description is derived from its tensors and
    says so under `origin`. It has no run, seed, epoch, metrics, selection, training set or
    provenance.

    Raises
    ------
    CheckpointError : of one line, where the file is damaged, comes from neither, or describes an
        impossible network: the error names the keys at fault
    """
    path = Path(path)
    with reading(path):
        if not is_of_torch(path):
            return _checked(OwnDescription, described.read_description(path), path)
        content = read_of_torch(path)
    if isinstance(content.get(KEY), str):
        return _checked(OwnDescription, _from_json(content[KEY], path), path)
    description = published_checkpoint.describe(content.get("state_dict"), path)
    if description is None:
        remedy = (
            "use a best.ckpt that this workflow trained, or a checkpoint of "
            f"{published_checkpoint.ORIGIN}"
        )
        raise CheckpointError("not a TopoRank checkpoint", where=path, remedy=remedy)
    return _checked(Description, description, path)


def is_of_torch(path: Path) -> bool:
    """Return whether torch wrote a file. Raises OSError."""
    with open(path, "rb") as file:
        return file.read(len(ZIP)) == ZIP


def read_of_torch(path: Path) -> dict[Any, Any]:
    """Return what torch wrote into a file, empty where that is not by name.

    Raises OSError and ValueError.
    """
    # takes seconds, and a scorer has no such file
    from toporank.files import torch_files

    content = torch_files.load(path)
    return content if isinstance(content, dict) else {}


@contextlib.contextmanager
def reading(path: Path) -> Iterator[None]:
    """Raise CheckpointError where the file at `path` cannot be read."""
    try:
        yield
    except FileNotFoundError as error:
        raise CheckpointError("no such checkpoint", where=path) from error
    except (OSError, ValueError, RecursionError) as error:
        raise CheckpointError(
            f"not a readable checkpoint: {error}", where=path
        ) from error


def toy(description: dict[str, Any], n_targets: int | None = None) -> str:
    """Why the scores of a checkpoint are not to be trusted, in a sentence.

    The sentence is empty unless it is a toy.

    n_targets : that all networks of a scorer learned from together; otherwise those of the
    checkpoint count. A fine-tuned one has also learned from the targets of its parent. A checkpoint
    of TopoQA is not.
    """
    training_set = description.get("training_set")
    if training_set is None:
        return ""
    if n_targets is None and (chains := training_set.get("chains")):
        n_targets = len(chains["targets"])
    if (
        (training_set["train"] >= FEWEST_DECOYS)
        if n_targets is None
        else (n_targets >= FEWEST_TARGETS)
    ):
        return ""
    learned = (
        f"{training_set['train']:,} models"
        if n_targets is None
        else f"models of {n_targets} targets"
    )
    return (
        f"toy: the scorer was trained on {learned} only, so its scores show that everything works "
        "and no more"
    )


def check_installed(description: dict[str, Any], path: Path | str) -> None:
    """Raise CheckpointError when a network is that of a plug-in that is not installed."""
    network = description["hyperparameters"].get("network", BUILT_IN)
    if network not in OWN and network not in plugins.networks():
        package = description.get("network_package", "")
        raise CheckpointError(
            f"needs the network {network!r} of a plug-in that is not installed",
            where=path,
            remedy=f"install the package {package!r}, if you trust it, wherever jobs run",
        )


def check_fits(
    description: dict[str, Any], graphs: PackedGraphs, path: Path | str
) -> None:
    """Raise CheckpointError when a network was trained on graphs of another format or width.

    Columns are compared by their names, too, where both have names.
    """
    ours = {
        "format": graphs.metadata.get("format"),
        "node_width": graphs.node_width,
        "edge_width": graphs.edge_width,
    }
    theirs = {name: description.get(name) for name in ours}
    if theirs != ours:
        what = f"was trained on other graphs: {theirs}, these have {ours}"
        raise CheckpointError(what, where=path, remedy=OF_SUCH_GRAPHS)
    for key in COLUMNS.values():
        names, of_graphs = description.get(key), graphs.metadata.get(key)
        if names and of_graphs and list(names) != list(of_graphs):
            lacking = sorted({*names} - {*of_graphs}) or ["their order"]
            what = f"was trained on other graphs: these lack {', '.join(lacking)}"
            raise CheckpointError(what, where=path, remedy=OF_SUCH_GRAPHS)


def choose_fitting(paths: Sequence[Path], packs: Sequence[Path]) -> Path:
    """Return the first of several checkpoints whose columns packed graphs have.

    Raises CheckpointError when none fits, with the reason for each.
    """
    if len(paths) == 1:
        return paths[0]
    graphs = PackedGraphs.open(list(packs))
    faults = []
    for path in paths:
        description = read_description(path)
        try:
            check_fits(description, graphs.with_columns(description), path)
        except CheckpointError as error:
            faults.append(str(error))
        else:
            return path
    raise CheckpointError("none of the checkpoints fits: " + "; ".join(faults))


def _from_json(text: str, path: Path) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CheckpointError(
            f"not a readable checkpoint: its description is damaged: {error}",
            where=path,
        ) from error


def _checked(model: type[BaseModel], description: Any, path: Path) -> dict[str, Any]:
    """The description as it was given, if it is valid."""
    faults = [
        ascii(fault)[1:-1][:LONGEST]
        for fault in faults_of(model, description, where="description")
    ]
    if faults:
        more = (
            f"; and {len(faults) - NAMED_FAULTS} more"
            if len(faults) > NAMED_FAULTS
            else ""
        )
        raise CheckpointError(
            f"not a usable checkpoint: {'; '.join(faults[:NAMED_FAULTS])}{more}",
            where=path,
            remedy="the file is damaged, or was made by another version or program",
        )
    return description
