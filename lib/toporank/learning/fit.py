"""A network trained on packed graphs, from its last epoch if it was interrupted."""

from __future__ import annotations

import logging
import os
import shutil
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytorch_lightning as pl
import torch
from pytorch_lightning.accelerators import CPUAccelerator, CUDAAccelerator
from pytorch_lightning.callbacks import EarlyStopping, ModelCheckpoint
from pytorch_lightning.loggers import CSVLogger
from pytorch_lightning.plugins.environments import LightningEnvironment
from pytorch_lightning.profilers import (
    AdvancedProfiler,
    PyTorchProfiler,
    SimpleProfiler,
)
from pytorch_lightning.utilities.exceptions import MisconfigurationException
from threadpoolctl import threadpool_limits

from toporank.errors import (
    CheckpointError,
    ConfigError,
    TrainingError,
    first_of,
)
from toporank.files.packfile import PackedGraphs
from toporank.learning.checkpoint import KEY, check_fits, read_description
from toporank.learning.data import GraphStore, set_statistics
from toporank.learning.hardware import Hardware
from toporank.learning.lightning import (
    NotFiniteError,
    ScorerTraining,
    validations,
)
from toporank.learning.message_passing import with_message_passing
from toporank.learning.network import DockQNet, Network
from toporank.learning.provenance import provenance
from toporank.learning.run import CHECKPOINT_OF, N_BEST, PROFILE, Run
from toporank.learning.selection import GPU_MEMORY
from toporank.learning.shapes import parts_fault
from toporank.learning.side_by_side import side_by_side
from toporank.learning.splits import split_indices
from toporank.learning.weights import build_network, load_weights
from toporank.plugins import package_of

log = logging.getLogger(__name__)

MOST_NAMED = 10
"""Decoys of a batch that a message names at most."""
NOT_FINITE_REMEDY = (
    "look at the features of these models, lower learning_rate or set trainer: "
    "{gradient_clip_val: 1}"
)
HARMLESS_WARNINGS = (
    "does not have many workers",
    "is not empty",
    "number of training batches",
    "LeafSpec",
    "in manual optimization",
    "`srun`",
    "sync_dist=True",
    "all_gather is deprecated",
)
"""Parts of warnings of Lightning."""
PROFILERS = {
    "simple": SimpleProfiler,
    "advanced": AdvancedProfiler,
    "pytorch": PyTorchProfiler,
}
LOGS = "logs"
"""Folder of the tables that Lightning writes, one each time that a run starts or goes on."""


def fit(
    run: Run,
    graphs: PackedGraphs,
    training_set: dict[str, Any],
    folder: Path,
    threads: int,
) -> tuple[dict[str, list[Path]], str]:
    """Train a network in a folder, from its last epoch if it was interrupted there.

    Parameters
    ----------
    run : Run
        What is trained.
    graphs : PackedGraphs
        The graphs with their splits.
    training_set : dict
        What the checkpoints remember of them.
    folder : Path
        Where checkpoints and tables are written.
    threads : int
        CPU threads of this process.

    Returns
    -------
    best : dict
        The checkpoints of the best epochs, best first, by the name of the best one.
    stopped : str
        Why training could not go on; empty where it ended as planned.

    Raises
    ------
    ConfigError
        Where Lightning or this machine cannot train as configured.
    TrainingError
        Where the first epoch gives no finite numbers.
    """
    seed_everything(run.seed, threads)
    if run.parent:
        graphs = graphs.with_columns(read_description(run.parent))
    store = GraphStore.of(graphs)
    _check_batches(run, store)
    module = _module(run, store, training_set)
    for path in folder.glob("*.ckpt"):
        if (
            path.is_dir()
        ):  # of DeepSpeed, which was interrupted: such a run begins again
            shutil.rmtree(path)
    last = _last_epoch(folder)
    best = {
        name: _keeps_best(folder, name, metric, run.hardware.validate_every)
        for metric, name in CHECKPOINT_OF.items()
    }
    trainer = _trainer(run, folder, [*best.values()], module)
    if isinstance(trainer.accelerator, CUDAAccelerator):
        torch.set_float32_matmul_precision("high" if run.hardware.tf32 else "highest")
    stopped = smoke_test(run)
    if stopped:
        log.warning(stopped)
    processes = _processes(run, trainer, module)
    if processes > 1:
        torch.set_num_threads(1)  # the processes have the cores
    try:
        with side_by_side(module.network, store, processes):
            trainer.fit(module, ckpt_path=last, weights_only=True)
    except NotFiniteError as error:
        stopped = _not_finite(error, store, trainer.current_epoch)
        log.error("stopped: %s (%s)", stopped, NOT_FINITE_REMEDY)
    except (MisconfigurationException, ImportError) as error:
        raise _refused(error) from error
    if trainer.is_global_zero:
        for path in folder.glob("*.ckpt"):
            _in_one_file(path)
    if not best["best_loss"].best_k_models:
        is_finite = stopped == smoke_test(run)
        what = "no epoch was finished" if is_finite else stopped
        remedy = "give training.trainer more time" if is_finite else NOT_FINITE_REMEDY
        raise TrainingError(what, where=f"run {run.name}", remedy=remedy)
    ranked = {}
    for name, callback in best.items():
        losses = callback.best_k_models
        ranked[name] = [Path(path) for path in sorted(losses, key=losses.__getitem__)]
    return ranked, stopped


def _check_batches(run: Run, store: GraphStore) -> None:
    """Raise ConfigError where `drop_last` would leave nothing to learn from."""
    n_graphs = len(split_indices(store, "train")) // run.hardware.devices
    if run.hyperparameters.drop_last and n_graphs < run.hyperparameters.batch_size:
        raise ConfigError(
            f"the {n_graphs} training graphs of a device are less than a batch",
            where=f"run {run.name}: drop_last",
            remedy="leave it out, or lower batch_size",
        )


def _module(
    run: Run, store: GraphStore, training_set: dict[str, Any]
) -> ScorerTraining:
    network = _network(run, store)
    if isinstance(network, DockQNet):
        network = with_message_passing(network)
    freeze(network, run.freeze)
    network.recompute = run.hardware.activation_checkpointing
    # other strategies move the weights of a module when that is called
    network.fuse = run.hardware.trainer.get("strategy", "auto") in ("auto", "ddp")
    description = {
        **run.record(),
        "node_width": store.node_width,
        "edge_width": store.edge_width,
        **store.metadata,
        "training_set": training_set,
        "network_package": package_of(type(network).__module__),
        "provenance": provenance(),
    }
    kind = _kind(run, network, store)
    return kind(network, run, store, description, training_set.get("clusters"))


def _kind(run: Run, network: Network, store: GraphStore) -> type[ScorerTraining]:
    """Return how to train on what this machine has."""
    may_be_gpu = run.hardware.trainer["accelerator"] in ("gpu", "cuda", "auto")
    if not may_be_gpu or not torch.cuda.is_available():
        return ScorerTraining
    from toporank.learning.resident import ResidentTraining, can_reside

    reason = can_reside(run, network, store)
    if reason:
        log.info("batches are made on the CPU, one by one: %s", reason)
        return ScorerTraining
    log.info("all graphs lie on the GPU, where batches are made; steps are recorded")
    return ResidentTraining


def _processes(run: Run, trainer: pl.Trainer, module: ScorerTraining) -> int:
    """Return how many processes compute a batch: as many as torch has threads, where they can."""
    can = (
        isinstance(trainer.accelerator, CPUAccelerator)
        and trainer.precision == "32-true"
        and isinstance(module.network, DockQNet)
        and not run.hardware.compile
        and run.hardware.trainer.get("strategy", "auto") in ("auto", "ddp")
    )
    return torch.get_num_threads() if can else 1


def seed_everything(seed: int, threads: int) -> None:
    """One seed for weights, dropout and order.

    The number of threads is fixed, since sums depend on it.
    """
    # what deterministic algorithms need on a GPU
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.manual_seed(seed)
    np.random.seed(seed % 2**32)
    torch.set_num_threads(threads)
    threadpool_limits(1, "blas")  # of NumPy, which threads of a run call side by side


def _network(run: Run, store: GraphStore) -> Network:
    """Return a new network that the training graphs scale, or the parent's with its scaling."""
    features = store.metadata.get("features")
    network = build_network(
        store.node_width,
        store.edge_width,
        run.hyperparameters.model_dump(),
        features,
        store.metadata.get("edge_columns"),
        store.metadata.get("node_columns"),
    )
    if run.parent is None:
        set_statistics(network, store, split_indices(store, "train"))
        return network
    parent, description = load_weights(run.parent)
    if description.get("features") != features:
        what = "was trained on other features than these graphs have"
        raise CheckpointError(what, where=run.parent)
    check_fits(description, store, run.parent)
    network.load_state_dict(parent.state_dict())
    return network


def freeze(network: Network, parts: tuple[str, ...]) -> None:
    """Train nothing of these parts.

    Raises ConfigError when one does not exist or nothing is left to train.
    """
    names = [name for name, _ in network.named_parameters()]
    fault = parts_fault(parts, names)
    if fault:
        raise ConfigError(fault, where="freeze")
    for name, weights in network.named_parameters():
        if name.startswith(tuple(f"{part}." for part in parts)):
            weights.requires_grad_(False)


def _last_epoch(folder: Path) -> Path | None:
    """Return the checkpoint from which the run goes on, if there is one.

    Lightning records the folder of its checkpoints and would forget the best ones where that has
    moved: such a run begins again.
    """
    path = folder / "last.ckpt"
    if not path.exists():
        return None
    states = torch.load(path, weights_only=True)["callbacks"].values()
    folders = {state["dirpath"] for state in states if "dirpath" in state}
    if folders != {os.path.realpath(folder)}:
        return None
    log.info("going on after epoch %d", read_description(path)["epoch"] + 1)
    return path


def _in_one_file(path: Path) -> None:
    """Make a file of weights and description of the folder that DeepSpeed writes instead."""
    if not path.is_dir():
        return
    from pytorch_lightning.utilities.deepspeed import (
        convert_zero_checkpoint_to_fp32_state_dict,
    )

    whole = path.with_suffix(".whole")
    state = convert_zero_checkpoint_to_fp32_state_dict(path, whole)
    torch.save({name: state[name] for name in (KEY, "state_dict")}, whole)
    shutil.rmtree(path)
    whole.rename(path)


def smoke_test(run: Run) -> str:
    """Return what summary.json and leaderboard say of a run of `fast_dev_run`, empty of others."""
    n_batches = run.hardware.smoke_test
    if not n_batches:
        return ""
    return (
        f"fast_dev_run: a smoke test of one epoch of {n_batches} "
        f"batch{'' if n_batches == 1 else 'es'}; everything works, and nothing is learned"
    )


def _keeps_best(
    folder: Path, name: str, metric: str, every_n_epochs: int
) -> ModelCheckpoint:
    return ModelCheckpoint(
        folder,
        name + ".epoch{epoch}",
        monitor=metric,
        every_n_epochs=every_n_epochs,
        save_top_k=N_BEST,
        save_weights_only=True,
        auto_insert_metric_name=False,
        save_on_train_epoch_end=True,
        enable_version_counter=False,
    )


def _trainer(
    run: Run, folder: Path, callbacks: list[Any], module: ScorerTraining
) -> pl.Trainer:
    logging.getLogger("pytorch_lightning").setLevel(logging.WARNING)
    for message in HARMLESS_WARNINGS:
        warnings.filterwarnings("ignore", message=f".*{message}.*")
    hp = run.hyperparameters
    of_last_epoch = ModelCheckpoint(
        folder, "last", save_on_train_epoch_end=True, enable_version_counter=False
    )
    patience = validations(hp.early_stop_patience, run)
    stopping = EarlyStopping("val_loss", patience=patience)
    settings = {
        "logger": CSVLogger(folder, LOGS, flush_logs_every_n_steps=1),
        "callbacks": [stopping, *callbacks, of_last_epoch],
        "max_epochs": hp.max_epochs,
        "reload_dataloaders_every_n_epochs": 1,  # each epoch has its own order
        # no GPU has a deterministic version of every operation
        "deterministic": "warn",
        "enable_progress_bar": False,
        "enable_model_summary": False,
        "num_sanity_val_steps": 0,
        "default_root_dir": folder,
        "plugins": [LightningEnvironment()],  # a cluster's tasks are not Lightning's
    }
    entries = _entries(run.hardware, folder)
    if module.automatic_optimization:
        settings["accumulate_grad_batches"] = hp.accumulate
    else:  # the module adds up and clips gradients itself
        for entry in ("gradient_clip_val", "gradient_clip_algorithm"):
            entries.pop(entry, None)
    try:
        return pl.Trainer(**{**settings, **entries})
    except (
        MisconfigurationException,
        ImportError,
        RuntimeError,
        TypeError,
        ValueError,
    ) as error:
        raise _refused(error) from error


def _entries(hardware: Hardware, folder: Path) -> dict[str, Any]:
    """Return what the configuration gives to Lightning."""
    entries = dict(hardware.trainer)
    for entry in ("logger", "callbacks", "fast_dev_run"):  # all ours
        entries.pop(entry, None)
    if hardware.smoke_test:
        # Lightning's own would leave no checkpoint
        limits = ("limit_train_batches", "limit_val_batches")
        entries.update(dict.fromkeys(limits, hardware.smoke_test), max_epochs=1)
    if entries.get("profiler") in PROFILERS:
        profiler = PROFILERS[entries["profiler"]]
        entries["profiler"] = profiler(dirpath=folder / PROFILE, filename="report")
    return entries


def _refused(error: Exception) -> ConfigError:
    what = f"Lightning cannot train so: {error}"
    return ConfigError(
        what, where="training.trainer", remedy="see Hardware in docs/training.md"
    )


def _not_finite(error: NotFiniteError, store: GraphStore, epoch: int) -> str:
    decoys = store.decoys.iloc[error.graphs]
    names = [f"{row.target}/{row.decoy}" for row in decoys.itertuples()]
    return (
        f"{error.what} is not a finite number in epoch {epoch}, models "
        f"{first_of(names, MOST_NAMED)}"
    )


def epoch_table(folder: Path) -> pd.DataFrame:
    """Return one row an epoch.

    It has the learning rate, the training loss and what was measured on the validation decoys.

    A run that was interrupted has several tables; an epoch that was trained again counts as in the
    later one.
    """
    paths = list((folder / LOGS).glob("version_*/metrics.csv"))
    paths.sort(key=lambda path: int(path.parent.name.removeprefix("version_")))
    rows = pd.concat([pd.read_csv(path) for path in paths], ignore_index=True)
    table = rows.drop_duplicates("epoch", keep="last").sort_values(
        "epoch", ignore_index=True
    )
    # Lightning's precision
    rates = [np.float32(rate) for rate in table["learning_rate"]]
    table["learning_rate"] = [float(str(rate)) for rate in rates]
    measured = sorted(name for name in table if name.startswith("val_"))
    of_gpu = [GPU_MEMORY] if GPU_MEMORY in table else []
    return table[["epoch", "learning_rate", "train_loss", *measured, *of_gpu]]
