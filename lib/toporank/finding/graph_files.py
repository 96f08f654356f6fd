"""Graphs of another pipeline: which files of a folder they are, and what a file contains."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from toporank.errors import ConfigError, printable
from toporank.files.state import state_if_there
from toporank.structures.identity import DecoyKey

SUFFIX = ".pt"
EXPECTED = "TopoRank reads files of PyTorch Geometric `Data`, one graph each: <target>/<model>.pt"


class GraphFile(NamedTuple):
    """A graph of another pipeline.

    target : as its metadata or else its folder says, empty where neither does. decoy : as its
        metadata or else the name of the file says, without endings.
    file_name : that of the file, without endings.
    dockq : its `y`, nan without.
    sha256 : of the file.
    unnamed : the stages whose feature module its metadata does not name.
    """

    path: Path
    target: str
    decoy: str
    file_name: str
    dockq: float
    sha256: str
    unnamed: tuple[str, ...]

    @property
    def key(self) -> DecoyKey:
        """Target and decoy."""
        return self.target, self.decoy


def find_graph_files(folder: Path, dataset: str) -> list[Path]:
    """Return the graph files of a folder and of its sub-folders, sorted.

    Parameters
    ----------
    folder : Path
    dataset : str
        Name of the data set, for messages.

    Returns
    -------
    list of Path

    Raises
    ------
    ConfigError
        When there is none.
    """
    paths = sorted(path for path in folder.rglob(f"*{SUFFIX}") if path.is_file())
    if not paths:
        where = f"dataset {dataset}, graphs"
        raise ConfigError(
            f"no {SUFFIX} file in {printable(str(folder))}",
            where=where,
            remedy=EXPECTED,
        )
    return paths


def state_of_files(paths: Iterable[Path]) -> str:
    """Return a digest of names and states of files.

    It is another one where the content of one may have changed.
    """
    states = [(str(path), *state_if_there(path)) for path in paths]
    return hashlib.sha256(repr(states).encode()).hexdigest()[:16]
