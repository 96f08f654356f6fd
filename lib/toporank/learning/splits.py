"""The graphs that a run learns from and that judge it.

Needs no torch: a finished run is recognised by them.
"""

from __future__ import annotations

import dataclasses
import hashlib
from pathlib import Path

import numpy as np

from toporank.comparing.homology.chain_tables import read_splits, split_of_targets
from toporank.errors import ConfigError
from toporank.features.registry import canonical
from toporank.files.packfile import PackedGraphs, PackedRows

SPLITS = ("train", "val")


def open_graphs(
    packs: list[Path],
    validation: list[Path],
    splits: Path | None = None,
    fold: int | None = None,
) -> PackedGraphs:
    """Return the graphs of all packs with their splits.

    `train` only in `packs`, `val` only in `validation`.

    A pack belongs to the data set that its folder is named after, as `layout` has it.

    Parameters
    ----------
    packs, validation : list of Path
        Packs to learn from, and packs that judge.
    splits : Path, optional
        splits.csv, which decides for targets that have no split in the packs.
    fold : int, optional
        Of a cross-validation; then `splits` decides for all targets.

    Returns
    -------
    graphs : of all packs, open
    """
    paths = list(dict.fromkeys([*packs, *validation]))
    graphs = PackedGraphs.open(paths, verify=True)
    split = graphs.split
    if splits:
        split_of = split_of_targets(read_splits(splits), fold)
        of_pack = np.array([path.parent.name for path in paths], dtype=object)
        rows = zip(of_pack[graphs.part_of], graphs.target, split, strict=True)
        decided = [
            split_of.get((dataset, target), in_pack)
            for dataset, target, in_pack in rows
        ]
        split = np.array(decided, dtype=object)
    for name, used in (("train", packs), ("val", validation)):
        is_used = np.isin(graphs.part_of, [paths.index(path) for path in used])
        split = np.where((split == name) & ~is_used, "", split)
    return dataclasses.replace(graphs, split=split)


def split_indices(graphs: PackedGraphs, split: str) -> np.ndarray:
    """Return the positions of the labelled graphs of a split, by target and decoy name.

    Raises ConfigError if none.
    """
    chosen = np.flatnonzero((graphs.split == split) & ~np.isnan(graphs.dockq))
    if not len(chosen):
        remedy = "see the labels and coverage.tsv"
        raise ConfigError(
            f"no labelled model with a graph in split {split!r}", remedy=remedy
        )
    return chosen[np.lexsort([graphs.decoy[chosen], graphs.target[chosen]])]


def check_trainable(graphs: PackedGraphs, *, learns_local: bool) -> None:
    """Raise ConfigError where nothing can be learned from the labels and splits of graphs.

    learns_local : whether the run also learns the local quality of edges.
    """
    labelled = ~np.isnan(graphs.dockq)
    training = set(graphs.target[labelled & (graphs.split == "train")])
    validation = set(graphs.target[labelled & (graphs.split == "val")])
    both = sorted(training & validation)
    if both:
        what = f"target {both[0]!r} is in split train and in split val of different data sets"
        raise ConfigError(what, remedy="give it one split")
    wrong = np.flatnonzero((graphs.dockq < 0) | (graphs.dockq > 1))
    if len(wrong):
        first = wrong[0]
        raise ConfigError(
            f"{len(wrong)} labels are not in 0 to 1, the first is {graphs.dockq[first]:g}",
            where=f"{graphs.target[first]}/{graphs.decoy[first]}",
            remedy="labels are DockQ; correct the label table",
        )
    for split in SPLITS:
        dockq = graphs.dockq[split_indices(graphs, split)]
        if len(dockq) > 1 and np.ptp(dockq) == 0:
            what = f"all {len(dockq)} labels of split {split!r} are {dockq[0]:g}"
            remedy = "nothing can be learned or selected from equal labels; look at the label table"
            raise ConfigError(what, remedy=remedy)
    if learns_local and not graphs.knows_local_quality:
        what = "local_weight is above 0, but no graph says how good its contacts are"
        remedy = "give a data set that is trained on `natives: FOLDER`, or leave local_weight out"
        raise ConfigError(what, remedy=remedy)


def fingerprint(graphs: PackedGraphs) -> str:
    """Return a digest of what is learned from and what judges it.

    It covers the labelled graphs of both splits.

    Their numbers, labels, local qualities, targets and order count, and what their features are.
    Other graphs of the packs, in which pack a graph is and where, do not.
    """
    digest = hashlib.sha256(canonical(graphs.metadata).encode())
    for split in SPLITS:
        chosen = split_indices(graphs, split)
        names = "".join(f"{target}\n" for target in graphs.target[chosen])
        digest.update(f"{split} {len(chosen)}\n{names}".encode())
        digest.update(graphs.dockq[chosen].tobytes())
        for i in chosen:
            _add_graph(digest, graphs.rows(i))
    return digest.hexdigest()[:16]


def _add_graph(digest: hashlib._Hash, rows: PackedRows) -> None:
    """Add the numbers of a graph of a pack to a digest, without a copy of them."""
    part, nodes, edges = rows
    n_nodes, n_edges = nodes.stop - nodes.start, edges.stop - edges.start
    digest.update(f"{n_nodes} {n_edges}".encode())
    digest.update(np.asarray(part["x"][nodes]).data)
    digest.update(np.asarray(part["edge_index"][0, edges]).data)
    digest.update(np.asarray(part["edge_index"][1, edges]).data)
    digest.update(np.asarray(part["edge_attr"][edges]).data)
    # empty where no native says how good the edges are
    quality = np.asarray(part["edge_y"][edges])
    if not np.isnan(quality).all():
        digest.update(b"local quality")
        digest.update(quality.data)
