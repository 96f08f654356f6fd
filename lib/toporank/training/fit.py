"""One training run: from packed graphs (and parent weights) to the files every run leaves behind."""

from __future__ import annotations

import hashlib
import json
import logging
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytorch_lightning as pl
import torch
import yaml
from filelock import FileLock
from pytorch_lightning.callbacks import Callback, EarlyStopping, ModelCheckpoint
from pytorch_lightning.plugins.environments import LightningEnvironment

from toporank.config.training import Hyperparameters, Selection
from toporank.errors import CheckpointError
from toporank.features.registry import canonical, same
from toporank.files import link_or_copy, sha256, write_text
from toporank.layout import RUN_FILES
from toporank.model.checkpoint import read_description
from toporank.model.network import DockQNet
from toporank.model.scaling import set_statistics
from toporank.model.scorer import SHAPE_KEYS, Scorer, build_network, check_fits, load_weights
from toporank.pack import GraphStore
from toporank.provenance import provenance, training_code
from toporank.training.data import (
    check_splits,
    fingerprint,
    seed_everything,
    split_indices,
    training_batches,
    validation_batches,
)

log = logging.getLogger(__name__)

CHECKSUMS = "checksums.json"
FOLDER = "<folder of the run>"

TRACKED = {"best_loss": "val_loss", "best_selection": "val_selection"}
"""Checkpoints that are kept, and the metric (lower is better) each is the best by."""


class PortableCheckpoint(ModelCheckpoint):
    """Remembers checkpoints without the folder they lie in, so that a run does not tell where it was trained."""

    def __init__(self, folder: Path, name: str, **settings: Any):
        super().__init__(folder, name, save_top_k=1, enable_version_counter=False, **settings)

    def state_dict(self) -> dict[str, Any]:
        return _renamed(super().state_dict(), f"{self.dirpath}", FOLDER)

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        super().load_state_dict(_renamed(state_dict, FOLDER, f"{self.dirpath}"))


def _renamed(value: Any, old: str, new: str) -> Any:
    """A nested value with `old` replaced by `new` in every text, keys of dicts included."""
    if isinstance(value, dict):
        return {_renamed(k, old, new): _renamed(v, old, new) for k, v in value.items()}
    return value.replace(old, new) if isinstance(value, str) else value


class BestCheckpoint(PortableCheckpoint):
    """Keeps the best checkpoint; a later one must be better by more than a minimum delta."""

    def __init__(self, folder: Path, name: str, minimum_delta: float):
        super().__init__(folder, name, monitor=TRACKED[name], save_weights_only=True)
        self.minimum_delta = minimum_delta

    def check_monitor_top_k(self, trainer: pl.Trainer, current: torch.Tensor | None = None) -> bool:
        first = not self.best_k_models
        return super().check_monitor_top_k(
            trainer, current if first or current is None else current + self.minimum_delta
        )


class Patience(EarlyStopping):
    """Early stopping that a run resumed after its last epoch remembers."""

    def on_train_start(self, trainer: pl.Trainer, module: Scorer) -> None:
        trainer.should_stop = trainer.should_stop or self.wait_count >= self.patience or self.stopped_epoch > 0


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


def train_run(run: Run, packs: list[Path], threads: int, output: Path, store: Path) -> dict[str, Any]:
    """Train one network and write best_loss, best_selection and last .ckpt, metrics.csv, summary.json, config.yaml.

    The run is kept in the reuse store under a key of everything its result depends on: a run that was finished
    before is taken from there, an interrupted one goes on from its last epoch. Returns the summary.
    """
    seed_everything(run.seed, threads)
    graphs = GraphStore.open(packs)
    check_splits(graphs)
    sizes = {split: len(split_indices(graphs, split)) for split in ("train", "val")}
    training_set = {"fingerprint": fingerprint(graphs), **sizes}
    kept = store / "runs" / _key(run, training_set)
    kept.mkdir(parents=True, exist_ok=True)
    with FileLock(kept / "lock"):  # the store may be shared
        if _is_finished(kept):
            log.info("finished before, taken from the reuse store")
        else:
            _fit(run, graphs, training_set, kept)
            _finish(run, kept)
    for name in RUN_FILES:
        link_or_copy(kept / name, output / name)
    return json.loads((kept / "summary.json").read_text())


def _key(run: Run, training_set: dict[str, Any]) -> str:
    """Names everything the result depends on."""
    parent = sha256(run.parent) if run.parent else None
    identity = {**run.record(), "parent_sha256": parent, "training_set": training_set, "code": training_code()}
    return hashlib.sha256(canonical(identity).encode()).hexdigest()


def _is_finished(kept: Path) -> bool:
    """Whether all files of a run are there with the bytes they were finished with."""
    if not (kept / CHECKSUMS).exists():
        return False
    checksums = json.loads((kept / CHECKSUMS).read_text())
    if all((kept / name).exists() and sha256(kept / name) == checksum for name, checksum in checksums.items()):
        return True
    log.warning("the kept run is damaged and is trained again")
    for file in kept.iterdir():
        if file.name != "lock":
            file.unlink()
    return False


def _fit(run: Run, graphs: GraphStore, training_set: dict[str, Any], kept: Path) -> None:
    """Train in the folder of the run, from its last epoch if it was interrupted."""
    description = {
        **run.record(), "node_width": graphs.node_width, "edge_width": graphs.edge_width, **graphs.metadata,
        "training_set": training_set, "provenance": provenance(),
    }  # fmt: skip
    scorer = Scorer(_network(run, graphs), run.hyperparameters, run.selection, run.seed, _codes(graphs), description)
    batch_size, last = run.hyperparameters.batch_size, kept / "last.ckpt"
    loaders = training_batches(graphs, run.hyperparameters, run.seed), validation_batches(graphs, 4 * batch_size)
    if last.exists():
        log.info("going on after epoch %d", read_description(last)["epoch"])
    trainer = _trainer(run.hyperparameters, run.selection, kept)
    trainer.fit(scorer, *loaders, ckpt_path=last if last.exists() else None, weights_only=True)


def _finish(run: Run, kept: Path) -> None:
    """Write config, summary and, last of all, the checksums that make the run a finished one."""
    summary = {"run": run.name, "seed": run.seed, "epochs": len(pd.read_csv(kept / "metrics.csv"))}
    for name in TRACKED:
        description = read_description(kept / f"{name}.ckpt")
        summary[name] = {"epoch": description["epoch"], **description["metrics"]}
    write_text(kept / "config.yaml", yaml.safe_dump(run.record(), sort_keys=False))
    write_text(kept / "summary.json", json.dumps(summary, indent=1))
    write_text(kept / CHECKSUMS, json.dumps({name: sha256(kept / name) for name in RUN_FILES}))


def _network(run: Run, store: GraphStore) -> DockQNet:
    """A new network, scaling by the training graphs if the features ask for it, or the parent's with its scaling."""
    features = store.metadata.get("features")
    network = build_network(store.node_width, store.edge_width, run.hyperparameters.model_dump(), features)
    if run.parent is None:
        set_statistics(network, store, split_indices(store, "train").tolist())
        return network
    inherited, description = load_weights(run.parent)
    if not same(description.get("features"), features):
        raise CheckpointError("was trained on other features than these graphs have", where=run.parent)
    check_fits(description, store, run.parent)
    network.load_state_dict(inherited.state_dict())
    return network


def _codes(store: GraphStore) -> torch.Tensor:
    """A number for each target: int64, shape (len(store),)."""
    return torch.from_numpy(pd.factorize(store.decoys["target"])[0].astype(np.int64))


def _trainer(hp: Hyperparameters, selection: Selection, folder: Path) -> pl.Trainer:
    logging.getLogger("pytorch_lightning").setLevel(logging.WARNING)
    warnings.filterwarnings("ignore", message=".*does not have many workers.*")
    warnings.filterwarnings("ignore", message=".*(is not empty|number of training batches).*")
    return pl.Trainer(
        accelerator="cpu", devices=1, max_epochs=hp.max_epochs, accumulate_grad_batches=hp.accumulate,
        gradient_clip_val=hp.gradient_clip, deterministic=True, logger=False, enable_progress_bar=False,
        enable_model_summary=False, num_sanity_val_steps=0, default_root_dir=folder,
        plugins=[LightningEnvironment()],  # the tasks of a cluster allocation are not Lightning's
        callbacks=[
            Patience("val_loss", patience=hp.early_stop_patience),
            MetricsTable(folder / "metrics.csv"),
            *(BestCheckpoint(folder, name, selection.minimum_delta) for name in TRACKED),
            PortableCheckpoint(folder, "last", monitor=None),
        ],
    )  # fmt: skip
