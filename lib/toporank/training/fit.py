"""One training run: from packed graphs (and parent weights) to the files every run leaves behind."""

from __future__ import annotations

import hashlib
import json
import logging
import shutil
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytorch_lightning as pl
import torch
import yaml
from filelock import FileLock
from pytorch_lightning.plugins.environments import LightningEnvironment

from toporank.config.hardware import Hardware, Loading, Tracker
from toporank.config.training import Hyperparameters, Selection
from toporank.environment import keep_freed_memory
from toporank.errors import CheckpointError, ConfigError, TrainingError
from toporank.features.registry import canonical, same
from toporank.files import link_or_copy, sha256, write_text
from toporank.layout import RUN_FILES, RUNNERS_UP
from toporank.model.checkpoint import read_description
from toporank.model.network import DockQNet
from toporank.model.scaling import set_statistics
from toporank.model.scorer import SHAPE_KEYS, build_network, check_fits, load_weights
from toporank.pack import GraphStore
from toporank.provenance import provenance, training_code
from toporank.selection import CHECKPOINT_OF
from toporank.training.accelerator import check, device_of, prepare
from toporank.training.callbacks import KEPT, BestEpochs, LastCheckpoint, MetricsTable, Patience
from toporank.training.data import (
    check_labels,
    check_memory,
    check_splits,
    fingerprint,
    loader_options,
    open_graphs,
    seed_everything,
    split_indices,
    training_batches,
    validation_batches,
)
from toporank.training.distributed import SharingScorer, on_devices, this_device
from toporank.training.lightning import NotFiniteError, Scorer
from toporank.training.trackers import loggers

log = logging.getLogger(__name__)

CHECKSUMS = "checksums.json"
Best = dict[str, list[Path]]
"""Checkpoints of the best epochs under each rule, best first."""
NAMED = 10
"""Decoys of a batch that a message names at most."""
NOT_FINITE_REMEDY = "look at the features of these decoys, lower learning_rate or set gradient_clip"


@dataclass(frozen=True)
class Run:
    """What one training run is: everything that decides its result, beside the graphs.

    parent : checkpoint whose network and weights to start from, with fresh optimiser and schedule.
    freeze : parts of the network, as its weights are called, that are not trained.
    loading and trackers decide nothing.
    """

    name: str
    seed: int
    hyperparameters: Hyperparameters
    selection: Selection
    parent: Path | None
    freeze: tuple[str, ...] = ()
    hardware: Hardware = field(default_factory=Hardware)
    loading: Loading = field(default_factory=Loading)
    trackers: tuple[Tracker, ...] = ()

    @classmethod
    def parse(cls, name: str, parameters: dict[str, Any], parent: Path | None) -> Run:
        """From the parameters of a rule. The shape of a fine-tuned network is its parent's."""
        given = parameters["hyperparameters"]
        if parent is not None:
            inherited = read_description(parent)["hyperparameters"]
            given = {**{key: inherited[key] for key in SHAPE_KEYS}, **given}
        selection, freeze = Selection(**parameters["selection"]), tuple(parameters.get("freeze", ()))
        hardware = Hardware(**parameters.get("hardware", {}))
        loading, trackers = Loading(**parameters.get("loading", {})), tuple(parameters.get("trackers", ()))
        hyperparameters = Hyperparameters(**given)
        return cls(name, parameters["seed"], hyperparameters, selection, parent, freeze, hardware, loading, trackers)

    @property
    def clipped(self) -> bool:
        """Whether the norm of its gradient has a limit."""
        return self.hyperparameters.gradient_clip is not None

    def record(self) -> dict[str, Any]:
        """What is written into the checkpoint and config.yaml."""
        origin = read_description(self.parent) if self.parent else None
        return {
            "run": self.name,
            "seed": self.seed,
            "hyperparameters": self.hyperparameters.model_dump(),
            "selection": self.selection.model_dump(),
            "freeze": list(self.freeze),
            "hardware": self.hardware.model_dump(),
            "parent": origin and {"run": origin["run"], "epoch": origin["epoch"]},
        }


def train_run(
    run: Run, packs: list[Path], threads: int, output: Path, store: Path, *, validation: list[Path] | None = None
) -> dict[str, Any]:
    """Train one network and write `layout.RUN_FILES` and the second and third best checkpoints.

    The run is kept in the reuse store under a key of everything its result depends on: a run that was finished
    before is taken from there, an interrupted one goes on from its last epoch. Returns the summary.
    packs : their `train` splits are learned from. validation : packs whose `val` splits judge; `packs` by default.
    threads : of all devices of a CPU together.
    """
    threads, sources = max(1, threads // run.hardware.devices), (packs, packs if validation is None else validation)
    keep_freed_memory()
    seed_everything(run.seed, threads)
    if run.loading.in_memory:
        check_memory([*sources[0], *sources[1]], run.hardware.devices)
    graphs = open_graphs(*sources, in_memory=run.loading.in_memory and run.hardware.devices == 1)
    check_splits(graphs)
    check_labels(graphs)
    sizes = {split: len(split_indices(graphs, split)) for split in ("train", "val")}
    training_set = {"fingerprint": fingerprint(graphs), **sizes}
    kept = store / "runs" / _key(run, training_set)
    kept.mkdir(parents=True, exist_ok=True)
    with FileLock(kept / "lock"):  # the store may be shared
        if _is_finished(kept):
            log.info("finished before, taken from the reuse store")
        else:
            best, stopped = _fit_on_devices(run, graphs, sources, threads, training_set, kept, output)
            _finish(run, kept, best, stopped)
    shutil.rmtree(output / RUNNERS_UP, ignore_errors=True)
    (output / RUNNERS_UP).mkdir(parents=True)
    for name in json.loads((kept / CHECKSUMS).read_text()):
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
    for file in [path for path in kept.rglob("*") if path.is_file() and path.name != "lock"]:
        file.unlink()
    return False


def _fit_on_devices(
    run: Run, graphs: GraphStore, sources: tuple[list[Path], list[Path]], threads: int, *rest: Any
) -> tuple[Best, str]:
    """`_fit` here, or in a process for each device, which opens the packs itself."""
    if run.hardware.devices == 1:
        return _fit(run, graphs, *rest)
    check(run.hardware, clipped=run.clipped)  # refused once, not by every process
    return on_devices(run.hardware.devices, _fit_share, run, sources, threads, *rest)


def _fit_share(run: Run, sources: tuple[list[Path], list[Path]], threads: int, *rest: Any) -> Any:
    keep_freed_memory()
    seed_everything(run.seed, threads)
    return _fit(run, open_graphs(*sources, in_memory=run.loading.in_memory), *rest)


def _fit(run: Run, graphs: GraphStore, training_set: dict[str, Any], kept: Path, output: Path) -> tuple[Best, str]:
    """Train in the folder of the run, from its last epoch if it was interrupted.

    Returns the best epochs under each rule, and why training stopped before its time, or nothing.
    """
    description = {
        **run.record(), "node_width": graphs.node_width, "edge_width": graphs.edge_width, **graphs.metadata,
        "training_set": training_set, "provenance": provenance(),
    }  # fmt: skip
    network = _network(run, graphs)
    freeze(network, run.freeze)
    settings = prepare(run.hardware, network, clipped=run.clipped)
    kind = Scorer if run.hardware.devices == 1 else SharingScorer
    scorer = kind(network, run.hyperparameters, run.selection, run.seed, _codes(graphs), description,
                  fused=run.hardware.fused_optimizer, offload=run.hardware.offload_optimizer)  # fmt: skip
    batch_size, last = run.hyperparameters.batch_size, kept / "last.ckpt"
    validation_batch = run.hardware.validation_batch or 4 * batch_size
    share = (this_device() if run.hardware.devices > 1 else 0, run.hardware.devices)
    options = loader_options(run.loading, graphs, device_of(run.hardware))
    loaders = (training_batches(graphs, run.hyperparameters, run.seed, share, **options),
               validation_batches(graphs, validation_batch, share, **options))  # fmt: skip
    if last.exists():
        log.info("going on after epoch %d", read_description(last)["epoch"])
    settings["logger"] = loggers(run.trackers, run.name, output) or False
    trainer = _trainer(run.hyperparameters, run.selection, kept, settings)
    best, stopped = [callback for callback in trainer.callbacks if isinstance(callback, BestEpochs)], ""
    try:
        trainer.fit(scorer, *loaders, ckpt_path=last if last.exists() else None, weights_only=True)
    except NotFiniteError as error:
        decoys = graphs.decoys.iloc[error.graphs]
        names = ", ".join(f"{row.target}/{row.decoy}" for row in decoys[:NAMED].itertuples())
        names += f" and {len(decoys) - NAMED} more" if len(decoys) > NAMED else ""
        stopped = f"{error.what} is not a finite number in epoch {trainer.current_epoch}, decoys {names}"
        if not all(each.kept for each in best):
            raise TrainingError(stopped, where=f"run {run.name}", remedy=NOT_FINITE_REMEDY) from error
        log.error("stopped: %s; the best epochs before are kept (%s)", stopped, NOT_FINITE_REMEDY)
    return {each.name: each.files() for each in best}, stopped


def _finish(run: Run, kept: Path, best: Best, stopped: str) -> None:
    """Write checkpoints, config, summary and, last of all, the checksums that make the run a finished one."""
    summary = {
        "run": run.name, "seed": run.seed, "epochs": len(pd.read_csv(kept / "metrics.csv")), "stopped": stopped,
        "parent": run.record()["parent"],
    }  # fmt: skip
    files = list(RUN_FILES)
    for rule, epochs in best.items():
        names = [f"{rule}.ckpt", *(f"{RUNNERS_UP}/{rule}_{place}.ckpt" for place in range(2, KEPT + 1))]
        for name, epoch in zip(names, epochs, strict=False):
            link_or_copy(epoch, kept / name)
        files += names[1 : len(epochs)]
        description = read_description(kept / names[0])
        summary[rule] = {"epoch": description["epoch"], **description["metrics"]}
    write_text(kept / "config.yaml", yaml.safe_dump(run.record(), sort_keys=False))
    write_text(kept / "summary.json", json.dumps(summary, indent=1))
    write_text(kept / CHECKSUMS, json.dumps({name: sha256(kept / name) for name in files}))
    for file in kept.glob("*.epoch*.ckpt"):
        file.unlink()


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


def freeze(network: DockQNet, parts: tuple[str, ...]) -> None:
    """Train nothing of these parts. Raises ConfigError when one is not there or nothing is left to train."""
    for part in parts:
        inside = [p for name, p in network.named_parameters() if name == part or name.startswith(f"{part}.")]
        if not inside:
            known = ", ".join(dict.fromkeys(name.split(".")[0] for name, _ in network.named_parameters()))
            raise ConfigError(f"the network has no part {part!r}", where="freeze", remedy=f"its parts are {known}")
        for weight in inside:
            weight.requires_grad_(False)
    if not any(weight.requires_grad for weight in network.parameters()):
        raise ConfigError("every part of the network is frozen", where="freeze", remedy="leave one out, such as head")


def _codes(store: GraphStore) -> torch.Tensor:
    """A number for each target: int64, shape (len(store),)."""
    return torch.from_numpy(pd.factorize(store.decoys["target"])[0].astype(np.int64))


def _trainer(hp: Hyperparameters, selection: Selection, folder: Path, settings: dict[str, Any]) -> pl.Trainer:
    logging.getLogger("pytorch_lightning").setLevel(logging.WARNING)
    warnings.filterwarnings("ignore", message=".*does not have many workers.*")
    warnings.filterwarnings("ignore", message=".*sync_dist=True.*")  # all devices know all of validation
    warnings.filterwarnings("ignore", message=".*(is not empty|number of training batches).*")
    return pl.Trainer(
        **settings, max_epochs=hp.max_epochs, accumulate_grad_batches=hp.accumulate,
        gradient_clip_val=hp.gradient_clip, check_val_every_n_epoch=hp.validate_every, enable_progress_bar=False,
        use_distributed_sampler=False, log_every_n_steps=1,
        enable_model_summary=False, num_sanity_val_steps=0, default_root_dir=folder,
        plugins=[LightningEnvironment()],  # the tasks of a cluster allocation are not Lightning's
        callbacks=[
            Patience("val_loss", patience=-(-hp.early_stop_patience // hp.validate_every)),
            MetricsTable(folder / "metrics.csv"),
            *(BestEpochs(folder, name, metric, selection.minimum_delta) for metric, name in CHECKPOINT_OF.items()),
            LastCheckpoint(folder),
        ],
    )  # fmt: skip
