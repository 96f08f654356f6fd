"""A network trained on packed graphs, on one device or several, from its last epoch if it was interrupted."""

from __future__ import annotations

import logging
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytorch_lightning as pl
import torch
from pytorch_lightning.plugins.environments import LightningEnvironment

from toporank.errors import CheckpointError, ConfigError, TrainingError
from toporank.files.packfile import PackedGraphs
from toporank.learning.accelerator import check, device_of, prepare
from toporank.learning.callbacks import BestEpochs, LastCheckpoint, MetricsTable, Patience
from toporank.learning.checkpoint import read_description
from toporank.learning.data import loader_options, seed_everything, training_batches, validation_batches
from toporank.learning.distributed import SharingScorer, on_devices, this_device
from toporank.learning.graphs import GraphStore
from toporank.learning.hyperparameters import Hyperparameters, Selection
from toporank.learning.lightning import NotFiniteError, Scorer
from toporank.learning.memory import keep_freed_memory
from toporank.learning.network import Network
from toporank.learning.provenance import provenance
from toporank.learning.run import Best, Run
from toporank.learning.selection import CHECKPOINT_OF
from toporank.learning.splits import Sources, open_graphs, split_indices
from toporank.learning.standardising import set_statistics
from toporank.learning.weights import build_network, check_fits, load_weights

log = logging.getLogger(__name__)

NAMED = 10
"""Decoys of a batch that a message names at most."""
NOT_FINITE_REMEDY = "look at the features of these decoys, lower learning_rate or set gradient_clip"


def fit_on_devices(run: Run, graphs: PackedGraphs, sources: Sources, threads: int, *rest: Any) -> tuple[Best, str]:
    """`_fit` here, or in a process for each device, which opens the packs itself."""
    if run.hardware.devices == 1:
        return _fit_alone(run, graphs, threads, *rest)
    check(run.hardware, clipped=run.clipped)  # refused once, not by every process
    return on_devices(run.hardware.devices, _fit_share, run, sources, threads, *rest)


def _fit_share(run: Run, sources: Sources, threads: int, *rest: Any) -> Any:
    return _fit_alone(run, open_graphs(*sources), threads, *rest)


def _fit_alone(run: Run, graphs: PackedGraphs, threads: int, *rest: Any) -> Any:
    keep_freed_memory()
    seed_everything(run.seed, threads)
    return _fit(run, GraphStore.of(graphs), *rest)


def _fit(run: Run, graphs: GraphStore, training_set: dict[str, Any], kept: Path, output: Path) -> tuple[Best, str]:
    """Train in the folder of the run, from its last epoch if it was interrupted.

    Returns the best epochs under each rule, and why training stopped early, if it did.
    """
    description = {
        **run.record(),
        "node_width": graphs.node_width,
        "edge_width": graphs.edge_width,
        **graphs.metadata,
        "training_set": training_set,
        "provenance": provenance(),
    }
    network = _network(run, graphs)
    freeze(network, run.freeze)
    settings = prepare(run.hardware, network, clipped=run.clipped)
    kind = Scorer if run.hardware.devices == 1 else SharingScorer
    scorer = kind(
        network,
        run.hyperparameters,
        run.selection,
        run.seed,
        _codes(graphs),
        description,
        fused=run.hardware.fused_optimizer,
        offload=run.hardware.offload_optimizer,
    )
    batch_size, last = run.hyperparameters.batch_size, kept / "last.ckpt"
    share = (this_device() if run.hardware.devices > 1 else 0, run.hardware.devices)
    options = loader_options(graphs, device_of(run.hardware))
    loaders = (
        training_batches(graphs, run.hyperparameters, run.seed, share, training_set.get("clusters"), **options),
        validation_batches(graphs, 4 * batch_size, share, **options),
    )
    if last.exists():
        log.info("going on after epoch %d", read_description(last)["epoch"])
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


def _network(run: Run, store: GraphStore) -> Network:
    """A new network, scaling by the training graphs if the features ask for it, or the parent's with its scaling."""
    features = store.metadata.get("features")
    widths, columns = (store.node_width, store.edge_width), store.metadata.get("edge_columns")
    network = build_network(*widths, run.hyperparameters.model_dump(), features, columns)
    if run.parent is None:
        set_statistics(network, store, split_indices(store, "train").tolist())
        return network
    inherited, description = load_weights(run.parent)
    if description.get("features") != features:
        raise CheckpointError("was trained on other features than these graphs have", where=run.parent)
    check_fits(description, store, run.parent)
    network.load_state_dict(inherited.state_dict())
    return network


def freeze(network: Network, parts: tuple[str, ...]) -> None:
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
    """A number for each target, by name, so that other targets change no order: int64, shape (len(store),)."""
    return torch.from_numpy(np.unique(store.target, return_inverse=True)[1].astype(np.int64))


def _trainer(hp: Hyperparameters, selection: Selection, folder: Path, settings: dict[str, Any]) -> pl.Trainer:
    logging.getLogger("pytorch_lightning").setLevel(logging.WARNING)
    warnings.filterwarnings("ignore", message=".*does not have many workers.*")
    warnings.filterwarnings("ignore", message=".*sync_dist=True.*")  # all devices know all of validation
    warnings.filterwarnings("ignore", message=".*(is not empty|number of training batches).*")
    return pl.Trainer(
        **settings,
        logger=False,
        max_epochs=hp.max_epochs,
        accumulate_grad_batches=hp.accumulate,
        gradient_clip_val=hp.gradient_clip,
        enable_progress_bar=False,
        use_distributed_sampler=False,
        log_every_n_steps=1,
        enable_model_summary=False,
        num_sanity_val_steps=0,
        default_root_dir=folder,
        plugins=[LightningEnvironment()],  # the tasks of a cluster allocation are not Lightning's
        callbacks=[
            Patience("val_loss", patience=hp.early_stop_patience),
            MetricsTable(folder / "metrics.csv"),
            *(BestEpochs(folder, name, metric, selection.minimum_delta) for metric, name in CHECKPOINT_OF.items()),
            LastCheckpoint(folder),
        ],
    )
