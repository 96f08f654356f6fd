"""Which graphs a run learns from and is judged by. Needs no torch: a finished run is recognised by them."""

from __future__ import annotations

import dataclasses
import hashlib
from pathlib import Path
from typing import NamedTuple

import numpy as np

from toporank.comparing.homology.chain_tables import read_splits, split_of_targets
from toporank.errors import ConfigError
from toporank.features.registry import canonical
from toporank.files.packfile import PackedGraphs

LEARNED, JUDGED = SPLITS = ("train", "val")


class Sources(NamedTuple):
    """Where the graphs of a run are.

    packs : their `train` splits are learned from. validation : packs whose `val` splits judge. splits : splits.csv,
    which decides for targets that have no split in the packs. fold : of a cross-validation; then it decides for all.
    """

    packs: list[Path]
    validation: list[Path]
    splits: Path | None = None
    fold: int | None = None


def open_graphs(
    packs: list[Path], validation: list[Path], splits: Path | None = None, fold: int | None = None
) -> PackedGraphs:
    """The graphs of all packs with their splits: `train` only in `packs`, `val` only in `validation`.

    The arguments are those of `Sources`. A pack is of the data set that its folder is named after, as `layout` has it.
    """
    paths = list(dict.fromkeys([*packs, *validation]))
    graphs = PackedGraphs.open(paths, verify=True)
    split = graphs.split
    if splits:
        known = split_of_targets(read_splits(splits), fold)
        keys = zip((paths[part].parent.name for part in graphs.part_of), graphs.target, split, strict=True)
        split = np.array([known.get((name, target), given) for name, target, given in keys], dtype=object)
    for name, used in ((LEARNED, packs), (JUDGED, validation)):
        split = np.where((split == name) & ~np.isin(graphs.part_of, [paths.index(path) for path in used]), "", split)
    return dataclasses.replace(graphs, split=split)


def split_indices(graphs: PackedGraphs, split: str) -> np.ndarray:
    """Positions of the labelled graphs of a split, by target and decoy name; raises ConfigError if none."""
    chosen = np.flatnonzero((graphs.split == split) & ~np.isnan(graphs.dockq))
    if not len(chosen):
        raise ConfigError(
            f"no labelled decoy with a graph in split {split!r}", remedy="see the labels and coverage.tsv"
        )
    names = list(zip(graphs.target[chosen], graphs.decoy[chosen], strict=True))
    return chosen[sorted(range(len(chosen)), key=names.__getitem__)]


def check_labels(graphs: PackedGraphs) -> None:
    """Raise ConfigError naming the decoy whose label is not a DockQ, or the split whose labels are all equal."""
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
            raise ConfigError(
                f"all {len(dockq)} labels of split {split!r} are {dockq[0]:g}",
                remedy="nothing can be learned or selected from equal labels; look at the label table",
            )


def check_local(graphs: PackedGraphs) -> None:
    """Raise ConfigError when no pack knows the local quality that is to be learned."""
    if not graphs.knows_local_quality:
        raise ConfigError(
            "local_weight is above 0, but no graph says how good its contacts are",
            remedy="give a data set that is trained on `natives: FOLDER`, or leave local_weight out",
        )


def check_splits(graphs: PackedGraphs) -> None:
    """Raise ConfigError when a target is trained on in one data set and validated on in another."""
    labelled = ~np.isnan(graphs.dockq)
    learned, judged = (set(graphs.target[labelled & (graphs.split == split)]) for split in SPLITS)
    if both := sorted(learned & judged):
        raise ConfigError(
            f"target {both[0]!r} is in split train and in split val of different data sets",
            remedy="give it one split",
        )


def fingerprint(graphs: PackedGraphs) -> str:
    """Digest of what is learned from and judged by, and of nothing else: the labelled graphs of both splits.

    Their numbers, labels, local qualities, targets and order count, and what their features are. Other graphs of the
    packs, in which pack a graph is and where, do not.
    """
    digest = hashlib.sha256(canonical(graphs.metadata).encode())
    for split in SPLITS:
        chosen = split_indices(graphs, split)
        names = "".join(f"{target}\n" for target in graphs.target[chosen])
        digest.update(f"{split} {len(chosen)}\n{names}".encode())
        digest.update(graphs.dockq[chosen].tobytes())
        for part in _digests(graphs, chosen):
            digest.update(part)
    return digest.hexdigest()[:16]


def _digests(graphs: PackedGraphs, chosen: np.ndarray) -> list[bytes]:
    """Digests of the numbers of these graphs in this order; graphs that follow each other in a pack are one piece."""
    place, part = graphs.place_in_part[chosen], graphs.part_of[chosen]
    breaks = np.flatnonzero((np.diff(place) != 1) | (np.diff(part) != 0)) + 1
    sizes, x, origin, end, attributes, qualities = (hashlib.sha256() for _ in range(6))
    known = False
    for run in np.split(np.arange(len(chosen)), breaks):
        numbers = {name: np.asarray(values) for name, values in graphs.parts[part[run[0]]].items()}
        first, last = place[run[0]], place[run[-1]] + 1
        nodes, edges = (numbers[name][first : last + 1] for name in ("node_start", "edge_start"))
        types = "".join(f" {numbers[name].dtype}" for name in ("x", "edge_index", "edge_attr"))
        for n, e in zip(np.diff(nodes).tolist(), np.diff(edges).tolist(), strict=True):
            sizes.update(f"{n} {e}{types}\n".encode())
        x.update(numbers["x"][nodes[0] : nodes[-1]])
        attributes.update(numbers["edge_attr"][edges[0] : edges[-1]])
        local = numbers["edge_y"] if len(numbers["edge_y"]) else np.full(edges[-1], np.nan, np.float32)
        qualities.update(local[edges[0] : edges[-1]])
        known |= not np.isnan(local[edges[0] : edges[-1]]).all()
        for row, nodes_of_edges in zip((origin, end), numbers["edge_index"], strict=True):
            row.update(nodes_of_edges[edges[0] : edges[-1]])
    return [digest.digest() for digest in (sizes, x, origin, end, attributes, *([qualities] if known else []))]
