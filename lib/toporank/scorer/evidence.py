"""What the networks of a cross-validation predict for every labelled decoy, for `scorer.make`."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from toporank import layout
from toporank.building.built import read_built
from toporank.building.chunks.plan import what_was_built
from toporank.building.chunks.store import Store
from toporank.building.compared import stored_contacts
from toporank.building.coverage import read_coverage
from toporank.building.local_quality import LocalQualities
from toporank.chains.complex_kinds import kind_of_complex
from toporank.comparing.decoys import read_decoys
from toporank.comparing.homology.chain_tables import (
    read_chains,
    read_splits,
    sequences_of_chains,
)
from toporank.comparing.votes import similarities
from toporank.confidence.table import Confidence, read_confidence
from toporank.files.packfile import PackedGraphs
from toporank.finding.labels import read_split_labels
from toporank.finding.natives import find_natives
from toporank.learning.folds import out_of_fold
from toporank.learning.inference import open_network, predict_all
from toporank.learning.selection import CHECKPOINT_OF
from toporank.learning.weights import network_bytes
from toporank.scorer.judge import OF_RESIDUES
from toporank.scorer.make import Evidence
from toporank.scorer.networks import Networks
from toporank.scorer.prediction import CONTACTS, KEY, RESIDUES, table_of
from toporank.scorer.residue_quality import LabelledContacts
from toporank.scorer.scorer import Scorer

KEYS = ["dataset", *KEY]


class CrossValidation:
    """The folder in which networks were trained without each fold.

    It has its labelled decoys with a graph, without copies.

    Attributes
    ----------
    decoys : labels with cluster and fold, the kind of complex, what predictors say and the sizes of
        coverage.tsv
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
        self.folder = folder
        self.datasets = sorted(datasets)
        self.natives = natives or {}
        self.store = Store(store or folder / ".toporank/store")
        self.splits = read_splits(folder / layout.SPLITS)
        self.labels = {}
        self.similarity: dict[tuple[str, str], np.ndarray] = {}
        parts = []
        for dataset in self.datasets:
            self.labels[dataset] = read_split_labels(self._path(layout.LABELS, dataset))
            graphs = PackedGraphs.open([self._path(layout.PACK, dataset)])
            if len(graphs):
                parts.append(self._read(dataset, graphs))
        self.decoys = pd.concat(parts, ignore_index=True)

    def _path(self, pattern: str, dataset: str) -> Path:
        return self.folder / pattern.format(dataset=dataset)

    def _read(self, dataset: str, graphs: PackedGraphs) -> pd.DataFrame:
        """The decoys of a data set; their similarities are kept."""
        coverage = read_coverage(self._path(layout.COVERAGE, dataset))
        about = pd.DataFrame(coverage)
        about = about[about["duplicate_of"] == ""]
        built = pd.DataFrame({"target": graphs.target, "decoy": graphs.decoy})
        rows = self._labelled(dataset).merge(built, on=KEY)
        rows = rows.merge(about[[*KEY, "n_interface_residues", "n_chains"]], on=KEY)
        rows["kind"] = rows["target"].map(self._kinds(dataset))
        confidence = read_confidence(self._path(layout.CONFIDENCE, dataset))
        stated = pd.DataFrame(confidence, columns=Confidence._fields)
        rows = rows.merge(stated[[*KEY, *OF_RESIDUES]], on=KEY, how="left")
        rows = rows.sort_values(KEY, ignore_index=True)
        contacts = stored_contacts(read_built(dataset), coverage, self.store)
        for target, of_target in rows.groupby("target"):
            read = read_decoys(
                contacts((target, decoy)) for decoy in of_target["decoy"]
            )
            self.similarity[dataset, target] = np.array(
                list(similarities(read.contacts))
            )
        return rows

    def _kinds(self, dataset: str) -> dict[str, str]:
        """Target → which kind of complex it is."""
        sequences = sequences_of_chains(read_chains(self._path(layout.CHAINS, dataset)))
        kinds = {}
        for target, of_chains in sequences.items():
            kinds[target] = kind_of_complex(of_chains.values())
        return kinds

    def _labelled(self, dataset: str) -> pd.DataFrame:
        """The labels of a data set with the group, cluster and fold of each decoy."""
        labels = pd.DataFrame(self.labels[dataset])[[*KEY, "group", "dockq"]]
        labels.insert(0, "dataset", dataset)
        labels["group"] = labels["group"].where(labels["group"] != "", dataset)
        splits = pd.DataFrame(self.splits)[["dataset", "target", "cluster", "fold"]]
        return labels.merge(
            splits, on=["dataset", "target"], how="left", validate="m:1"
        )

    def runs(self, config: str) -> list[str]:
        """Return the names of the runs of a configuration, one for each seed."""
        paths = self.folder.glob(layout.FOLD_RUN.format(fold=0, run=f"{config}_seed*"))
        seeds = sorted(int(path.name.removeprefix(f"{config}_seed")) for path in paths)
        return [f"{config}_seed{seed}" for seed in seeds]

    def summaries(self, run: str) -> dict[int, Path]:
        """Return the summary of a run in every fold of the splits.

        Those of an earlier number of folds may lie beside them.
        """
        paths = {}
        for fold in sorted({row.fold for row in self.splits if row.fold is not None}):
            path = (
                self.folder
                / layout.FOLD_RUN.format(fold=fold, run=run)
                / "summary.json"
            )
            if path.exists():
                paths[fold] = path
        return paths

    def with_networks(
        self, runs: Iterable[str], rule: str = "val_loss"
    ) -> pd.DataFrame:
        """Return the decoys with the mean over networks that were trained without their fold."""
        packs = [self._path(layout.PACK, dataset) for dataset in self.datasets]
        parts = []
        for run in runs:
            summaries = list(self.summaries(run).values())
            predictions = out_of_fold(summaries, rule, packs, self.splits, self.labels)
            parts.append(pd.DataFrame(predictions))
        of_runs = pd.concat(parts).groupby(KEYS)[["pred_dockq", "pred_local"]]
        by_networks = of_runs.mean().reset_index()
        return self.decoys.merge(by_networks, on=KEYS, how="left", validate="1:1")

    def evidence(
        self,
        runs: Sequence[str],
        rule: str = "val_loss",
        quality_of: Collection[str] = (),
    ) -> Evidence:
        """Return what a scorer of the networks of some runs is made from.

        Parameters
        ----------
        runs : configurations with a seed; the best network is one of the first
        rule : that chooses the checkpoint of each fold
        quality_of : groups from which the quality of residues and contacts is learned, as far as
            natives label them
        """
        chosen = CHECKPOINT_OF[rule]
        of_folds: dict[int, list[Path]] = {}
        networks = {}
        losses = {}
        for run in runs:
            for fold, summary in self.summaries(run).items():
                checkpoint = summary.with_name(f"{chosen}.ckpt")
                of_folds.setdefault(fold, []).append(checkpoint)
                networks[f"fold{fold}_{run}"] = network_bytes(checkpoint)
                if run == runs[0]:
                    record = json.loads(summary.read_text(encoding="utf-8"))
                    losses[fold] = record[chosen][rule]
        best = min(losses, key=losses.__getitem__)
        labelled = {}
        for dataset in self.natives:
            labelled[dataset] = self.labelled_contacts(dataset, of_folds, quality_of)
        return Evidence(
            decoys=self.with_networks(runs, rule),
            similarity=self.similarity,
            networks=networks,
            best=f"fold{best}_{runs[0]}",
            pooled=self._pooled(of_folds[best][0]),
            labelled=labelled,
        )

    def labelled_contacts(
        self,
        dataset: str,
        networks: Mapping[int, Sequence[Path]],
        groups: Collection[str],
    ) -> LabelledContacts:
        """Return labelled decoys of groups with what the networks of their fold predict.

        Parameters
        ----------
        dataset : with natives
        networks : the checkpoints of each fold
        groups : of decoys
        """
        built = read_built(dataset)
        coverage = read_coverage(self._path(layout.COVERAGE, dataset))
        stored = stored_contacts(built, coverage, self.store)
        natives = find_natives(self.natives[dataset])
        chunks = what_was_built(dataset).of_all
        truth = LocalQualities(dataset, chunks, built.fates, natives, self.store)
        rows = self.decoys[
            (self.decoys["dataset"] == dataset) & self.decoys["group"].isin(groups)
        ]
        compared = {}
        in_native = []
        of_natives = []
        for key in rows[KEY].itertuples(index=False, name=None):
            labelled = truth.truth(key)
            if labelled:
                compared[key] = stored(key)
                in_native += [(*key, *residue) for residue in labelled[0].items()]
                of_natives += [(*key, *pair) for pair in labelled[1]]
        residues = [table_of(RESIDUES)]
        contacts = [table_of(CONTACTS)]
        for fold, of_fold in rows.groupby("fold"):
            if fold in networks:
                labelled = of_fold.loc[
                    pd.MultiIndex.from_frame(of_fold[KEY]).isin(compared), KEY
                ]
                first, *_ = members = networks[fold]
                network = Networks(Scorer.of(first, members, mean=True))
                pack = self._path(layout.PACK, dataset)
                predicted = network.predict(PackedGraphs.open([pack]))
                residues.append(predicted.residues.merge(labelled, on=KEY))
                contacts.append(predicted.contacts.merge(labelled, on=KEY))
        return LabelledContacts(
            residues=pd.concat(residues).sort_values(KEY, kind="stable"),
            contacts=pd.concat(contacts).sort_values(KEY, kind="stable"),
            compared=compared,
            in_native=pd.DataFrame(in_native, columns=[*KEY, "residue", "right"]),
            native_contacts=pd.DataFrame(of_natives, columns=[*KEY, "first", "second"]),
        )

    def _pooled(self, checkpoint: Path) -> np.ndarray:
        """What a network sees of each decoy, (n, d)."""
        network, _ = open_network(checkpoint)
        parts = []
        for dataset in self.datasets:
            store = PackedGraphs.open([self._path(layout.PACK, dataset)])
            vectors = predict_all([network], store)[0].pooled.astype(np.float64)
            table = pd.DataFrame(vectors)
            parts.append(
                table.assign(dataset=dataset, target=store.target, decoy=store.decoy)
            )
        seen = pd.concat(parts).set_index(KEYS)
        return seen.loc[pd.MultiIndex.from_frame(self.decoys[KEYS])].to_numpy()
