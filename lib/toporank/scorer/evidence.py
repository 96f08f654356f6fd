"""What a cross-validation says of every labelled decoy, as `scorer.make` takes it."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from toporank import layout
from toporank.building.built import read_built
from toporank.building.chunks.plan import read_current
from toporank.building.chunks.store import Store
from toporank.building.compared import stored_contacts
from toporank.building.coverage import read_coverage
from toporank.building.local_quality import LocalQualities
from toporank.comparing.decoys import read_decoys
from toporank.comparing.homology.chain_tables import read_splits
from toporank.comparing.votes import similarities
from toporank.files.packfile import PackedGraphs
from toporank.inputs.confidence.table import Confidence, read_confidence
from toporank.inputs.labels import read_split_labels
from toporank.inputs.natives import find_natives
from toporank.learning.data import GraphStore
from toporank.learning.folds import out_of_fold
from toporank.learning.selection import CHECKPOINT_OF
from toporank.learning.weights import load_weights, network_bytes, predict_all
from toporank.scorer.judge import OF_RESIDUES
from toporank.scorer.make import Evidence
from toporank.scorer.networks import Networks
from toporank.scorer.prediction import Score
from toporank.scorer.residue_quality import Truth, Witness
from toporank.scorer.scorer import Scorer

SAMPLE = 600
"""Decoys whose vectors a scorer brings along."""
KEYS = ["dataset", "target", "decoy"]
STATED = list(Confidence._fields)


class CrossValidation:
    """The folder in which networks were trained without each fold: its labelled decoys with a
    graph, but copies.

    Attributes
    ----------
    decoys : labels with cluster and fold, what predictors say and the sizes of coverage.tsv
    similarity : of data set and target, (n, n), in the order of its decoys
    datasets : that are learned from
    store : the reuse store
    natives : the folders of those of data sets
    """

    def __init__(
        self,
        folder: Path,
        datasets: Iterable[str],
        store: Path | None = None,
        natives: Mapping[str, Path] | None = None,
    ):
        self.folder, self.datasets, self.natives = folder, sorted(datasets), natives or {}
        self.store = Store(store or folder / ".toporank/store")
        self.splits = read_splits(folder / layout.SPLITS)
        self.labels = {
            d: read_split_labels(folder / layout.LABELS.format(dataset=d)) for d in self.datasets
        }
        parts = []
        self.similarity: dict[tuple[str, str], np.ndarray] = {}
        for dataset in self.datasets:
            graphs = PackedGraphs.open([folder / layout.PACK.format(dataset=dataset)])
            if len(graphs):
                parts.append(self._read(dataset, graphs))
        self.decoys = pd.concat(parts, ignore_index=True)

    def _read(self, dataset: str, graphs: PackedGraphs) -> pd.DataFrame:
        """The decoys of a data set; their similarities are kept."""
        coverage = read_coverage(self.folder / layout.COVERAGE.format(dataset=dataset))
        copies = {(row.target, row.decoy) for row in coverage if row.duplicate_of}
        built = {*zip(graphs.target, graphs.decoy, strict=True)} - copies
        rows = self._labelled(dataset)
        keys = zip(rows["target"], rows["decoy"], strict=True)
        rows = rows[[key in built for key in keys]].sort_values(
            ["target", "decoy"], ignore_index=True
        )
        contacts = stored_contacts(read_built(dataset), coverage, self.store)
        for target, of_target in rows.groupby("target"):
            read = read_decoys(contacts((target, decoy)) for decoy in of_target["decoy"])
            self.similarity[dataset, target] = np.array([*similarities(read.contacts)])
        stated = pd.DataFrame(
            read_confidence(self.folder / layout.CONFIDENCE.format(dataset=dataset)), columns=STATED
        )
        rows = rows.merge(
            stated[["target", "decoy", *OF_RESIDUES]], on=["target", "decoy"], how="left"
        )
        sizes = pd.DataFrame(coverage)[["target", "decoy", "n_interface_residues", "n_chains"]]
        return rows.merge(sizes, on=["target", "decoy"], how="left")

    def _labelled(self, dataset: str) -> pd.DataFrame:
        """The labels of a data set with the group, cluster and fold of each decoy."""
        where = {row.target: row for row in self.splits if row.dataset == dataset}
        rows = []
        for label in self.labels[dataset]:
            split = where[label.target]
            group = label.group or dataset
            rows.append(
                (dataset, label.target, label.decoy, group, split.cluster, split.fold, label.dockq)
            )
        return pd.DataFrame(rows, columns=[*KEYS, "group", "cluster", "fold", "dockq"])

    def runs(self, config: str) -> list[str]:
        """The names of the runs of a configuration, one for each seed."""
        paths = self.folder.glob(layout.FOLD_RUN.format(fold=0, run=f"{config}_seed*"))
        return sorted(
            (path.name for path in paths), key=lambda name: int(name.removeprefix(f"{config}_seed"))
        )

    def summaries(self, run: str) -> list[Path]:
        """The summary of a run in every fold of the splits; those of an earlier number of folds may
        lie beside them.
        """
        folds = sorted({row.fold for row in self.splits if row.fold is not None})
        paths = (
            self.folder / layout.FOLD_RUN.format(fold=fold, run=run) / "summary.json"
            for fold in folds
        )
        return [path for path in paths if path.exists()]

    def with_networks(self, run: str, rule: str = "val_loss") -> pd.DataFrame:
        """The decoys with what the networks of a run say of them, each the one trained without its
        fold.
        """
        packs = [self.folder / layout.PACK.format(dataset=d) for d in self.datasets]
        said = pd.DataFrame(out_of_fold(self.summaries(run), rule, packs, self.splits, self.labels))
        by_networks = said[[*KEYS, "pred_dockq", "pred_sd", "pred_local"]]
        return self.decoys.merge(by_networks, on=KEYS, how="left", validate="1:1")

    def evidence(
        self, run: str, rule: str = "val_loss", quality_of: Collection[str] = ()
    ) -> Evidence:
        """What a scorer of the networks of a run is made from.

        Parameters
        ----------
        run : a configuration with a seed
        rule : that chooses the checkpoint of each fold
        quality_of : groups from which the quality of residues and contacts is learned, as far as
            natives label them
        """
        networks, losses, by_fold = {}, {}, {}
        for path in self.summaries(run):
            fold = path.parent.parent.name
            name = f"{fold}_{path.parent.name}"
            networks[name] = by_fold[int(fold.removeprefix("fold"))] = path.with_name(
                f"{CHECKPOINT_OF[rule]}.ckpt"
            )
            losses[name] = json.loads(path.read_text(encoding="utf-8"))[CHECKPOINT_OF[rule]][rule]
        best = min(losses, key=losses.get)
        return Evidence(
            decoys=self.with_networks(run, rule),
            similarity=self.similarity,
            networks={name: network_bytes(path) for name, path in networks.items()},
            best=best,
            pooled=self._pooled(networks[best]),
            sample=self._sample(networks[best]),
            witnesses={
                dataset: self.witnesses(dataset, by_fold, quality_of) for dataset in self.natives
            },
        )

    def witnesses(
        self, dataset: str, networks: Mapping[int, Path], groups: Collection[str]
    ) -> list[Witness]:
        """The decoys of groups of a data set that natives label, with what the network of their
        fold says of them.

        networks : the checkpoint of each fold.
        """
        pack, built = self.folder / layout.PACK.format(dataset=dataset), read_built(dataset)
        coverage = read_coverage(self.folder / layout.COVERAGE.format(dataset=dataset))
        contacts = stored_contacts(built, coverage, self.store)
        chunks = read_current(dataset).of_all
        truth = LocalQualities(
            dataset, chunks, built.fates, find_natives(self.natives[dataset]), self.store
        )
        rows = self.decoys[(self.decoys["dataset"] == dataset) & self.decoys["group"].isin(groups)]
        fold = dict(zip(zip(rows["target"], rows["decoy"], strict=True), rows["fold"], strict=True))
        found = []
        for k in sorted({*fold.values()} & {*networks}):
            for score in Networks(Scorer.of(networks[k])).score(pack):
                key = score.target, score.decoy
                if fold.get(key) == k and (said := truth.truth(key)):
                    found.append(Witness(score, contacts(key), Truth(*said)))
        return sorted(found, key=lambda one: (one.score.target, one.score.decoy))

    def _pooled(self, checkpoint: Path) -> np.ndarray:
        """What a network sees of each decoy, (n, d)."""
        network, _ = load_weights(checkpoint)
        seen = {}
        for dataset in self.datasets:
            store = GraphStore.open([self.folder / layout.PACK.format(dataset=dataset)])
            vectors = predict_all([network], store)[0].pooled.double().numpy()
            seen |= {
                (dataset, *key): v
                for *key, v in zip(store.target, store.decoy, vectors, strict=True)
            }
        return np.array([seen[key] for key in self.decoys[KEYS].itertuples(index=False, name=None)])

    def _sample(self, checkpoint: Path) -> list[Score]:
        """Labelled decoys drawn at random, of each data set as many as its share, with what a
        network sees of them.
        """
        store = GraphStore.open(
            [self.folder / layout.PACK.format(dataset=d) for d in self.datasets]
        )
        labelled = np.flatnonzero(np.isfinite(store.dockq))
        chosen = store.some(np.sort(np.random.default_rng(0).permutation(labelled)[:SAMPLE]))
        network, _ = load_weights(checkpoint)
        ((*_, pooled),) = predict_all([network], chosen)
        names = zip(chosen.target.tolist(), chosen.decoy.tolist(), strict=True)
        vectors = map(tuple, pooled.double().tolist())
        return [
            Score(*name, 0.0, None, pooled=vector)
            for name, vector in zip(names, vectors, strict=True)
        ]
