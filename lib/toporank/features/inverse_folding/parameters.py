"""The weights of ProteinMPNN v_48_020, from an installed package that holds them, as arrays for `forward`.

The package is never imported, so that none of its dependencies are needed.
"""

from __future__ import annotations

import functools
import hashlib
from importlib import metadata
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

import numpy as np

from toporank.errors import ConfigError

PACKAGE, VERSION = "teddympnn", "0.1.0"
"""The package on PyPI; it and the weights have the MIT licence."""
FILE = "teddympnn/weights/pretrained/proteinmpnn_v_48_020.pt"
SHA256 = "c9cb4a671d79604111231f8dbfc7c590e06f1197453b7a6854ac6661a642f5bd"
REMEDY = f"pip install --no-deps {PACKAGE}=={VERSION}"

WIDTH = 128
"""Numbers of a node, and of an edge."""
LAYERS = 3
"""Of the encoder, and of the decoder."""
RADIAL = 16
"""Numbers that describe one distance."""
ATOMS = ("N", "CA", "C", "O", "CB")
STORED_PAIRS = (
    "CA-CA", "N-N", "C-C", "O-O", "CB-CB", "CA-N", "CA-C", "CA-O", "CA-CB", "N-C", "N-O", "N-CB", "CB-C", "CB-O",
    "O-C", "N-CA", "C-CA", "O-CA", "CB-CA", "C-N", "O-N", "CB-N", "C-CB", "O-CB", "C-O",
)  # fmt: skip
"""Atoms of a residue and of its neighbour whose distances the file expects, in its order."""


class Linear(NamedTuple):
    """x → x @ weight + bias. weight : (inputs, outputs). bias : (outputs,)."""

    weight: np.ndarray
    bias: np.ndarray

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """x : float32, (n, inputs). Returns (n, outputs)."""
        return x @ self.weight + self.bias


class Norm(NamedTuple):
    """Scale and shift behind a layer normalisation; float32, (`WIDTH`,) each."""

    scale: np.ndarray
    shift: np.ndarray


class Message(NamedTuple):
    """Three layers that make a message of an edge and its two nodes. The first is split into what it does to each.

    own : of the node itself, with the bias. edge, neighbour : (`WIDTH`, `WIDTH`).
    """

    own: Linear
    edge: np.ndarray
    neighbour: np.ndarray
    second: Linear
    third: Linear


class Layer(NamedTuple):
    """One layer of the encoder or the decoder. The latter leaves edges alone: its `edges` are None."""

    nodes: Message
    after_messages: Norm
    wide: Linear
    narrow: Linear
    after_dense: Norm
    edges: Message | None = None
    after_edges: Norm | None = None


class Weights(NamedTuple):
    """All of the network. float32.

    places : (66, `WIDTH`), what each difference of places in a chain adds to an edge; the last one is for two chains.
    distances : (400, `WIDTH`), of the distances between `ATOMS` × `ATOMS`, in that order, `RADIAL` numbers each.
    edges : what follows the normalisation of the two. letters : from a node to 21 amino acids.
    """

    places: np.ndarray
    distances: np.ndarray
    edges: Linear
    encoder: tuple[Layer, ...]
    decoder: tuple[Layer, ...]
    letters: Linear


def weights_file() -> Path:
    """Where the installed package has the weights. Raises ConfigError when it is not installed."""
    try:
        return Path(str(metadata.distribution(PACKAGE).locate_file(FILE)))
    except metadata.PackageNotFoundError as error:
        raise ConfigError(
            f"the package {PACKAGE}, which holds the weights of ProteinMPNN, is missing", remedy=REMEDY
        ) from error


@functools.cache
def read_weights(path: Path | None = None) -> Weights:
    """The weights of ProteinMPNN v_48_020, by default of the installed package.

    Raises ConfigError when the file is missing or has another content than that of `VERSION`.
    """
    path = path or weights_file()
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ConfigError("the weights of ProteinMPNN cannot be read", where=path, remedy=REMEDY) from error
    if hashlib.sha256(content).hexdigest() != SHA256:
        raise ConfigError(f"this is not the file of {PACKAGE} {VERSION}", where=path, remedy=REMEDY)
    from toporank.files import torch_files  # takes seconds, and other features do without

    tensors = torch_files.load(BytesIO(content))["model_state_dict"]
    return _arranged({name: tensor.float().numpy() for name, tensor in tensors.items()})


def _arranged(stored: dict[str, np.ndarray]) -> Weights:
    """The arrays of the file as `forward` takes them. Two linear maps in a row become one."""
    place = _linear(stored, "features.embeddings.linear")
    embedding = stored["features.edge_embedding.weight"].T
    distances = embedding[len(place.bias) :].reshape(len(STORED_PAIRS), RADIAL, WIDTH)
    order = [STORED_PAIRS.index(f"{first}-{second}") for first in ATOMS for second in ATOMS]
    norm, edge = _norm(stored, "features.norm_edges"), _linear(stored, "W_e")
    return Weights(
        places=(place.weight + place.bias) @ embedding[: len(place.bias)],
        distances=np.ascontiguousarray(distances[order].reshape(-1, WIDTH)),
        edges=Linear(norm.scale[:, None] * edge.weight, edge(norm.shift)),
        encoder=tuple(_layer(stored, f"encoder_layers.{i}.", edges=True) for i in range(LAYERS)),
        decoder=tuple(_layer(stored, f"decoder_layers.{i}.", edges=False) for i in range(LAYERS)),
        letters=_linear(stored, "W_out"),
    )


def _layer(stored: dict[str, np.ndarray], name: str, *, edges: bool) -> Layer:
    return Layer(
        nodes=_message(stored, [f"{name}W{i}" for i in (1, 2, 3)]),
        after_messages=_norm(stored, f"{name}norm1"),
        wide=_linear(stored, f"{name}dense.W_in"),
        narrow=_linear(stored, f"{name}dense.W_out"),
        after_dense=_norm(stored, f"{name}norm2"),
        edges=_message(stored, [f"{name}W{i}" for i in (11, 12, 13)]) if edges else None,
        after_edges=_norm(stored, f"{name}norm3") if edges else None,
    )


def _message(stored: dict[str, np.ndarray], names: list[str]) -> Message:
    """The first layer takes node, edge and neighbour in the encoder; in the decoder a sequence, too, left out here."""
    first, second, third = (_linear(stored, name) for name in names)
    own, edge, *_, neighbour = (np.ascontiguousarray(part) for part in first.weight.reshape(-1, WIDTH, WIDTH))
    return Message(Linear(own, first.bias), edge, neighbour, second, third)


def _linear(stored: dict[str, np.ndarray], name: str) -> Linear:
    return Linear(np.ascontiguousarray(stored[f"{name}.weight"].T), stored[f"{name}.bias"])


def _norm(stored: dict[str, np.ndarray], name: str) -> Norm:
    return Norm(stored[f"{name}.weight"], stored[f"{name}.bias"])
