"""One training run: from packed graphs (and parent weights) to the files every run leaves behind."""

from __future__ import annotations

import json
import logging
import os
import warnings
from pathlib import Path
from typing import Any

import pandas as pd
import pytorch_lightning as pl
import torch
import yaml
from pytorch_lightning.callbacks import Callback, EarlyStopping, ModelCheckpoint

from toporank.config import Hyperparameters, Selection
from toporank.errors import CheckpointError
from toporank.files import link_or_copy, write_text
from toporank.model.checkpoint import read_description
from toporank.model.scorer import Scorer, build_network, load_weights
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
        return super().check_monitor_top_k(trainer, current if first or current is None else current + self.minimum_delta)


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
        log.info("epoch %d  train %.5f  val %.5f  spearman %.3f", row["epoch"], row["train_loss"], row["val_loss"], row["val_spearman"])


def train_run(
    name: str, packs: list[Path], hyperparameters: Hyperparameters, selection: Selection, seed: int, threads: int,
    output: Path, parent: Path | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Train one network and write best_loss, best_selection and last .ckpt, metrics.csv, summary.json, config.yaml.

    parent : checkpoint whose weights to start from, with fresh optimiser and schedule. An interrupted run
    leaves its state in `<output>/.unfinished` and goes on from there when nothing it depends on has changed.
    """
    seed_everything(seed, threads)
    store = GraphStore.open(packs)
    config = {
        "run": name, "seed": seed, "hyperparameters": hyperparameters.model_dump(include=set(Hyperparameters.model_fields)),
        "selection": selection.model_dump(), "parent": _parent_record(parent),
    }  # fmt: skip
    description = {
        **config, "node_width": store.node_width, "edge_width": store.edge_width, **store.metadata,
        "training_set": {"fingerprint": fingerprint(store), **{s: len(split_indices(store, s)) for s in ("train", "val")}},
        "provenance": provenance(),
    }  # fmt: skip
    scorer = _scorer(store, hyperparameters, selection, seed, description, parent)
    work = _working_folder(output, {"config": config, "training_set": description["training_set"]})
    trainer = _trainer(hyperparameters, selection, work)
    last = work / "last.ckpt"
    loaders = training_batches(store, hyperparameters.batch_size, seed), validation_batches(store, 4 * hyperparameters.batch_size)
    if last.exists():
        log.info("going on from epoch %d", read_description(last)["epoch"] + 1)
    trainer.fit(scorer, *loaders, ckpt_path=last if last.exists() else None, weights_only=False if last.exists() else None)
    return _publish(work, output, config)


def _parent_record(parent: Path | None) -> dict[str, Any] | None:
    """Where the weights come from."""
    if parent is None:
        return None
    description = read_description(parent)
    return {"run": description["run"], "epoch": description["epoch"]}


def _scorer(store: GraphStore, hyperparameters: Hyperparameters, selection: Selection, seed: int, description: dict[str, Any], parent: Path | None) -> Scorer:
    network = build_network(store.node_width, store.edge_width, hyperparameters.model_dump())
    if parent is not None:
        inherited, theirs = load_weights(parent)
        if theirs.get("features") != description.get("features"):
            raise CheckpointError("was trained on other features than these graphs have", where=parent)
        try:
            network.load_state_dict(inherited.state_dict())
        except RuntimeError as error:
            remedy = "keep hidden, heads, layers and readout of the parent"
            raise CheckpointError("has another network shape", where=parent, remedy=remedy) from error
    codes = torch.from_numpy(store.decoys["target"].astype("category").cat.codes.to_numpy().astype("int64"))
    return Scorer(network, hyperparameters, selection, seed, codes, description)


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
