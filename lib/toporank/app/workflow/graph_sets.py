"""Data sets that are graphs of another pipeline: what the rules need to know of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from toporank.app.config import Config, Dataset, check_is_there, locate
from toporank.building.chunks.plan import Current
from toporank.features.registry import canonical
from toporank.inputs.graph_files import find_graph_files, state_of_files

NO_FEATURES = "does not say which features it was trained on, so it cannot score structures"
ONLY_GRAPHS = (
    "one that was trained on `graphs` of another pipeline scores such graphs, as a further data set of its study"
)
NO_SCORER = "make_scorer: it needs structures (score `graphs` with results/final of their study)"


def graphs_of(config: Config, dataset: str, repository: Path) -> Path:
    """Return the folder of the graphs of a data set."""
    return locate(config.dataset(dataset).graphs, repository)


def label_tables(config: Config, dataset: str, repository: Path) -> str:
    """Return the label table of each split of a data set, or of all splits under an empty name, as JSON."""
    tables = config.dataset(dataset).labels or {}
    of_splits = tables if isinstance(tables, dict) else {"": tables}
    return canonical({split: str(locate(path, repository)) for split, path in of_splits.items()})


def plan_graphs(dataset: Dataset, repository: Path) -> dict[str, Any]:
    """Return what a run builds of graphs of another pipeline: no chunks, since a single job reads the files.

    Parameters
    ----------
    dataset : Dataset
        With `graphs`.
    repository : Path
        Where relative paths may begin, too.

    Returns
    -------
    dict
        `current`, `graph_files` (the state of the files) and `summary` (a line for the user).

    Raises
    ------
    ConfigError
        When there is no such folder, or no file in it.
    """
    folder = locate(dataset.graphs, repository)
    check_is_there(dataset.graphs, repository, f"dataset {dataset.name}, graphs")
    paths = find_graph_files(folder, dataset.name)
    return {
        "current": Current((dataset.graphs, str(folder.resolve())), [], []),
        "graph_files": state_of_files(paths),
        "summary": f"{len(paths)} graphs of another pipeline",
    }
