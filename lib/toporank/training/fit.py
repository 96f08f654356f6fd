"""One training run: from packed graphs (and parent weights) to the files every run leaves behind."""

from __future__ import annotations

import json
import logging
import os
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytorch_lightning as pl
import torch
import yaml
from pytorch_lightning.callbacks import Callback, EarlyStopping, ModelCheckpoint

from toporank.config import Hyperparameters, Selection
from toporank.errors import CheckpointError
from toporank.files import link_or_copy, write_text
from toporank.model.checkpoint import read_description
from toporank.model.network import DockQNet
from toporank.model.scorer import SHAPE_KEYS, Scorer, build_network, load_weights
from toporank.pack import GraphStore
from toporank.provenance import provenance
from toporank.training.data import fingerprint, seed_everything, split_indices, training_batches, validation_batches

log = logging.getLogger(__name__)

TRACKED = {"best_loss": "val_loss", "best_selection": "val_selection"}
"""Checkpoints that are kept, and the metric (lower is better) each is the best by."""


class BestCheckpoint(ModelCheckpoint):
    """Keeps the best checkpoint; a later one must be better by more than a minimum delta."""

    def __init__(self, folder: Path, name: str, minimum_delta: float):
        super().__init__(folder, name, monitor=TRACKED[name], save_weights_only=True, enable_version_counter=False)
        self.minimum_delta = minimum_delta

    def check_monitor_top_k(self, trainer: pl.Trainer, current: torch.Tensor | None = None) -> bool:
        first = not self.best_k_models
        return super().check_monitor_top_k(
            trainer, current if first or current is None else current + self.minimum_delta
        )


class MetricsTable(Callback):
    """Appends one row an epoch to a CSV file; a resumed run goes on where its checkpoint stands."""

    def __init__(self, path: Path):
        self.path = path

    def on_train_epoch_end(self, trainer: pl.Trainer, module: Scorer) -> None:
        rows = pd.read_csv(self.path) if self.path.exists() else pd.DataFrame()
        rows = rows[rows["epoch"] < trainer.current_epoch] if len(rows) else rows
        metrics = {name: float(value) for name, value in trainer.callback_metrics.items()}
        rate = trainer.optimizers[0].param_groups[0]["lr"]
        row = {"epoch": trainer.current_epoch, "learning_rate": rate, **dict(sorted(metrics.items()))}
        table = pd.concat([rows, pd.DataFrame([row])], ignore_index=True)
        write_text(self.path, table.to_csv(index=False))
        log.info(
            "epoch %d  train %.5f  val %.5f  spearman %.3f",
            row["epoch"],
            row["train_loss"],
            row["val_loss"],
            row["val_spearman"],
        )


@dataclass(frozen=True)
class Run:
    """What one training run is: everything that decides its result, beside the graphs.

    parent : checkpoint whose network and weights to start from, with fresh optimiser and schedule.
    """

    name: str
    seed: int
    hyperparameters: Hyperparameters
    selection: Selection
    parent: Path | None

    @classmethod
    def parse(cls, name: str, parameters: dict[str, Any], parent: Path | None) -> Run:
        """From the parameters of a rule. The shape of a fine-tuned network is its parent's."""
        given = parameters["hyperparameters"]
        if parent is not None:
            inherited = read_description(parent)["hyperparameters"]
            given = {**{key: inherited[key] for key in SHAPE_KEYS}, **given}
        return cls(name, parameters["seed"], Hyperparameters(**given), Selection(**parameters["selection"]), parent)

    def record(self) -> dict[str, Any]:
        """What is written into the checkpoint and config.yaml."""
        origin = read_description(self.parent) if self.parent else None
        return {
            "run": self.name,
            "seed": self.seed,
            "hyperparameters": self.hyperparameters.model_dump(),
            "selection": self.selection.model_dump(),
            "parent": origin and {"run": origin["run"], "epoch": origin["epoch"]},
        }


def train_run(run: Run, packs: list[Path], threads: int, output: Path) -> dict[str, Any]:
    """Train one network and write best_loss, best_selection and last .ckpt, metrics.csv, summary.json, config.yaml.

    An interrupted run leaves its state in `<output>/.unfinished` and goes on from there when nothing it
    depends on has changed. Returns the summary.
    """
    seed_everything(run.seed, threads)
    store = GraphStore.open(packs)
    sizes = {split: len(split_indices(store, split)) for split in ("train", "val")}
    training_set = {"fingerprint": fingerprint(store), **sizes}
    widths = {"node_width": store.node_width, "edge_width": store.edge_width}
    description = {
        **run.record(), **widths, **store.metadata, "training_set": training_set, "provenance": provenance(),
    }  # fmt: skip
    scorer = Scorer(_network(run, store), run.hyperparameters, run.selection, run.seed, _codes(store), description)
    work = _working_folder(output, {**run.record(), "training_set": training_set})
    trainer = _trainer(run.hyperparameters, run.selection, work)
    batch_size = run.hyperparameters.batch_size
    loaders = training_batches(store, batch_size, run.seed), validation_batches(store, 4 * batch_size)
    last = work / "last.ckpt"
    if last.exists():
        log.info("going on after epoch %d", read_description(last)["epoch"])
    trainer.fit(scorer, *loaders, ckpt_path=last if last.exists() else None, weights_only=True)
    return _publish(work, output, run.record())


def _network(run: Run, store: GraphStore) -> DockQNet:
    """A new network, or the parent's."""
    if run.parent is None:
        return build_network(store.node_width, store.edge_width, run.hyperparameters.model_dump())
    inherited, description = load_weights(run.parent)
    if description.get("features") != store.metadata.get("features"):
        raise CheckpointError("was trained on other features than these graphs have", where=run.parent)
    network = build_network(store.node_width, store.edge_width, run.hyperparameters.model_dump())
    network.load_state_dict(inherited.state_dict())
    return network


def _codes(store: GraphStore) -> torch.Tensor:
    """A number for each target: int64, shape (len(store),)."""
    return torch.from_numpy(pd.factorize(store.decoys["target"])[0].astype(np.int64))


def _working_folder(output: Path, identity: dict[str, Any]) -> Path:
    """Folder of the unfinished run, emptied when it belongs to another configuration or training set."""
    work = output / ".unfinished"
    work.mkdir(parents=True, exist_ok=True)
    known, text = work / "identity.json", json.dumps(identity, sort_keys=True)
    if not known.exists() or known.read_text() != text:
        for file in work.iterdir():
            file.unlink()
        write_text(known, text)
    return work


def _trainer(hp: Hyperparameters, selection: Selection, work: Path) -> pl.Trainer:
    logging.getLogger("pytorch_lightning").setLevel(logging.WARNING)
    warnings.filterwarnings("ignore", message=".*does not have many workers.*")
    warnings.filterwarnings("ignore", message=".*(is not empty|number of training batches).*")
    return pl.Trainer(
        accelerator="cpu", devices=1, max_epochs=hp.max_epochs, accumulate_grad_batches=hp.accumulate,
        gradient_clip_val=hp.gradient_clip, deterministic=True, logger=False, enable_progress_bar=False,
        enable_model_summary=False, num_sanity_val_steps=0, default_root_dir=work,
        callbacks=[
            EarlyStopping("val_loss", patience=hp.early_stop_patience),
            MetricsTable(work / "metrics.csv"),
            *(BestCheckpoint(work, name, selection.minimum_delta) for name in TRACKED),
            ModelCheckpoint(work, "last", save_top_k=1, monitor=None, enable_version_counter=False),
        ],
    )  # fmt: skip


def _publish(work: Path, output: Path, config: dict[str, Any]) -> dict[str, Any]:
    """Move a finished run's files into place and write its summary."""
    metrics = pd.read_csv(work / "metrics.csv")
    summary = {"run": config["run"], "seed": config["seed"], "epochs": len(metrics)}
    for name in TRACKED:
        description = read_description(work / f"{name}.ckpt")
        summary[name] = {"epoch": description["epoch"], **description["metrics"]}
    for name in (*(f"{best}.ckpt" for best in TRACKED), "last.ckpt", "metrics.csv"):
        link_or_copy(work / name, output / name)
    write_text(output / "config.yaml", yaml.safe_dump(config, sort_keys=False))
    write_text(output / "summary.json", json.dumps(summary, indent=1))
    for file in work.iterdir():
        file.unlink()
    os.rmdir(work)
    return summary
