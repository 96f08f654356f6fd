"""The network as Lightning trains it.

It has the loss, what is measured on the validation decoys, the optimiser and checkpoints.
"""

from __future__ import annotations

import logging
import math
import time
from typing import Any

import numpy as np
import pytorch_lightning as pl
import torch
from torch import Tensor
from torch._dynamo.exc import TorchDynamoException
from torch.nn import functional as F
from torch.utils.data import DataLoader

from toporank.learning.checkpoint import KEY, describe
from toporank.learning.data import (
    GraphBatch,
    GraphStore,
    cluster_levels,
    epoch_order,
    loader,
)
from toporank.learning.hardware import LOADING
from toporank.learning.network import Network, by_destination, trained_weights
from toporank.learning.run import Run
from toporank.learning.selection import GPU_MEMORY
from toporank.learning.splits import split_indices
from toporank.metrics import validation_scores

log = logging.getLogger(__name__)


def validations(epochs: int, run: Run) -> int:
    """Return how many validations there are in so many epochs, at least one."""
    return max(1, math.ceil(epochs / run.hardware.validate_every))


class NotFiniteError(Exception):
    """A loss or a prediction is not a finite number.

    graphs : positions in the store of those at fault.
    """

    def __init__(self, what: str, graphs: Tensor):
        super().__init__(what)
        self.what = what
        self.graphs = graphs.tolist()


class ScorerTraining(pl.LightningModule):
    """Trains a network to predict DockQ.

    Parameters
    ----------
    network : Network
        What is trained.
    run : Run
        Its hyper-parameters, seed and hardware.
    store : GraphStore
        Graphs of the splits `train` and `val`.
    description : dict
        The description for the checkpoints, beside epoch and metrics.
    cluster_of : dict, optional
        The cluster of each training target, where clusters are drawn equally often.
    """

    def __init__(
        self,
        network: Network,
        run: Run,
        store: GraphStore,
        description: dict[str, Any],
        cluster_of: dict[str, str] | None = None,
    ):
        super().__init__()
        self.network = network
        self.run = run
        self.hp = run.hyperparameters
        self.store = store
        self.description = description
        self.training_graphs = split_indices(store, "train")
        self.validation_graphs = split_indices(store, "val")
        targets = store.target[self.training_graphs]
        self.levels = cluster_levels(targets, cluster_of) if cluster_of else []
        self.target_codes = np.unique(store.target, return_inverse=True)[1]
        self._losses: list[Tensor] = []
        self._validated: list[Tensor] = []
        self.started = 0.0
        self.first_epoch = 0
        self.last_validated = -1

    # ---- data ----

    def train_dataloader(self) -> DataLoader:
        """Return the batches of this epoch."""
        order = epoch_order(
            self.training_graphs, self.levels, self.run.seed, self.current_epoch
        )
        return self._loader(order, self.hp.batch_size, drop_last=self.hp.drop_last)

    def val_dataloader(self) -> DataLoader:
        """Return the batches that judge an epoch, always the same."""
        return self._loader(self.validation_graphs, 4 * self.hp.batch_size)

    def _loader(
        self, order: np.ndarray, batch_size: int, *, drop_last: bool = False
    ) -> DataLoader:
        return loader(
            self.store,
            order,
            batch_size,
            self.global_rank,
            self.trainer.world_size,
            drop_last=drop_last,
            **self.run.hardware.model_dump(include=set(LOADING)),
        )

    # ---- training ----

    def on_train_start(self) -> None:
        """Train no further epoch where a run was killed after its last one."""
        self.started, self.first_epoch = time.monotonic(), self.current_epoch
        if self.run.hardware.compile:
            self._compile(self.run.hardware.compile)
        stopping = self.trainer.early_stopping_callback
        if stopping is not None and stopping.wait_count >= stopping.patience:
            self.trainer.should_stop = True

    def _compile(self, mode: bool | str) -> None:
        """Put compiled code in the place of the network's, where it can be compiled.

        A batch goes through it, forward and backward, before training begins: the backward pass is
        compiled late, and nothing could be done about an error then.
        """
        eager = self.network.predictions
        compiled = torch.compile(
            eager, dynamic=True, mode=mode if isinstance(mode, str) else None
        )
        self.network.predictions = compiled  # type: ignore[method-assign]
        if self.trainer.world_size > 1:
            return  # a part of the weights may be elsewhere, until all go forward
        graphs = self.training_graphs[: self.hp.batch_size].tolist()
        batch = self.transfer_batch_to_device(self.store.batch(graphs), self.device, 0)
        try:
            with self.trainer.precision_plugin.train_step_context():
                loss = dockq_loss("mse", compiled(by_destination(batch)).score, batch.y)
            loss.backward()
        except (TorchDynamoException, RuntimeError) as error:
            self.network.predictions = eager  # type: ignore[method-assign]
            reason = str(error).strip().partition("\n")[0]
            log.warning("torch.compile failed, so training goes on without: %s", reason)
        self.zero_grad(set_to_none=True)

    def on_train_epoch_start(self) -> None:
        """Seed dropout by seed and epoch alone: a resumed run continues as it would have."""
        of_device = self.global_rank * 1_000_003
        torch.manual_seed(self.run.seed * 100_003 + self.current_epoch + of_device)
        self._losses.clear()

    def training_step(self, batch: GraphBatch, number: int) -> Tensor:
        """Return the loss of a batch."""
        batch = by_destination(batch)
        prediction = self.network.predictions(batch)
        loss = dockq_loss(self.hp.loss, prediction.score, batch.y)
        logit, quality = prediction.edge_logit, batch.edge_y
        if self.hp.local_weight and logit is not None and quality is not None:
            local = local_loss(logit, quality, batch.edge_graph, len(batch.index))
            loss = loss if local is None else loss + self.hp.local_weight * local
        if not torch.isfinite(loss):
            raise NotFiniteError("the training loss", batch.index)
        self._losses.append(
            torch.stack([loss.detach(), loss.new_tensor(len(batch.index))])
        )
        return loss

    def configure_optimizers(self) -> Any:
        """Return Adam, and a learning rate that falls where `val_loss` does not."""
        weights = trained_weights(self)
        options: dict[str, Any] = {
            "lr": self.hp.learning_rate,
            "weight_decay": self.hp.weight_decay,
            "fused": self.run.hardware.fused_optimizer,
        }
        if self.run.hardware.offload_optimizer:
            from torchao.optim import CPUOffloadOptimizer

            optimizer = CPUOffloadOptimizer(weights, torch.optim.Adam, **options)
            # Lightning would move what is in it to the GPU; torchao keeps its own elsewhere
            optimizer.state = {}
        else:
            optimizer = torch.optim.Adam(weights, **options)
        epochs_to_fall = self.hp.plateau_patience + 1
        plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(
            optimizer,
            factor=self.hp.plateau_factor,
            patience=validations(epochs_to_fall, self.run) - 1,
        )
        return {
            "optimizer": optimizer,
            "lr_scheduler": {
                "scheduler": plateau,
                "monitor": "val_loss",
                "frequency": self.run.hardware.validate_every,
            },
        }

    def lr_scheduler_step(self, scheduler: Any, metric: Any) -> None:
        """Do nothing.

        Lightning would step after it saved the epoch, and a resumed run would miss it.
        """

    def on_train_epoch_end(self) -> None:
        """Lower the learning rate if `val_loss` stopped falling."""
        if self.last_validated == self.current_epoch:
            plateau: Any = self.lr_schedulers()
            plateau.step(self.trainer.callback_metrics["val_loss"])
        else:
            self.log_dict(self._of_training())

    # ---- validation ----

    def validation_step(self, batch: GraphBatch, number: int) -> None:
        """Predict a batch."""
        columns = (batch.index.double(), batch.y.double(), self.network(batch).double())
        self._validated.append(torch.stack(columns, dim=1))

    def on_validation_epoch_end(self) -> None:
        """Measure the loss and how well decoys are ranked, over the whole validation set."""
        if self.trainer.sanity_checking:
            self._validated.clear()
            return
        self.last_validated = self.current_epoch
        gathered: Any = self.all_gather(torch.cat(self._validated))
        rows = gathered.reshape(-1, 3).cpu()
        self._validated.clear()
        # decoys are repeated so that each device has as many
        if self.trainer.world_size > 1:
            first = np.unique(rows[:, 0].numpy(), return_index=True)[1]
            rows = rows[torch.from_numpy(first)]
        index, dockq, predicted = rows[:, 0].long(), rows[:, 1], rows[:, 2]
        if not torch.isfinite(predicted).all():
            raise NotFiniteError("the prediction", index[~torch.isfinite(predicted)])
        scores = validation_scores(
            self.target_codes[index.numpy()], dockq.numpy(), predicted.numpy()
        )
        loss = F.mse_loss(predicted.float(), dockq.float())
        spearman = scores["spearman_pooled"]
        has_spearman = not np.isnan(spearman)  # constant predictions have none
        values = {
            **self._of_training(),
            "val_loss": loss,
            "val_spearman": spearman,
            "val_pearson": scores["pearson_pooled"],
            "val_spearman_per_target": scores["spearman_per_target"],
            "val_pearson_per_target": scores["pearson_per_target"],
            "val_ranking_loss": scores["ranking_loss"],
            "val_selection": loss
            - self.run.selection.spearman_weight * (spearman if has_spearman else 0.0),
        }
        self.log_dict(values)
        log.info(self._progress(values))

    def _of_training(self) -> dict[str, Any]:
        """What an epoch measures of training."""
        losses: Any = self.all_gather(torch.stack(self._losses))
        train_loss, sizes = losses.reshape(-1, 2).T
        optimizer: Any = self.optimizers()
        values = {
            "learning_rate": optimizer.param_groups[0]["lr"],
            "train_loss": (train_loss * sizes).sum() / sizes.sum(),
        }
        if self.device.type == "cuda":
            most = torch.cuda.max_memory_allocated(self.device)
            values[GPU_MEMORY] = most / 2**20
        return values

    def _progress(self, values: dict[str, Any]) -> str:
        """Return a line about an epoch.

        It says how far the run is, how good, and how long it may still take.
        """
        epochs_done = self.current_epoch + 1
        seconds_an_epoch = (time.monotonic() - self.started) / (
            epochs_done - self.first_epoch
        )
        minutes_left = (self.hp.max_epochs - epochs_done) * seconds_an_epoch / 60
        stopping: Any = self.trainer.early_stopping_callback
        best = min(stopping.best_score, values["val_loss"])
        return (
            f"epoch {epochs_done} of at most {self.hp.max_epochs}, step {self.global_step}: "
            f"train_loss {values['train_loss']:.4f}, val_loss {values['val_loss']:.4f} (best "
            f"{best:.4f}), Spearman {values['val_spearman']:.3f}; at most {minutes_left:.1f} min "
            "left"
        )

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Write the description into a checkpoint."""
        metrics = {}
        is_validated = self.last_validated == self.current_epoch
        for name, value in self.trainer.callback_metrics.items():
            if is_validated and name.startswith("val_"):
                metrics[name] = float(value)
        description = {
            **self.description,
            "epoch": self.current_epoch,
            "metrics": metrics,
        }
        checkpoint[KEY] = describe(description)


# ---- losses --------------------------------------------------------------------------------------


def dockq_loss(
    name: str, predicted: Tensor, dockq: Tensor, reduction: str = "mean"
) -> Tensor:
    """Return the mean error of predicted DockQ: squared (`mse`) or the cross-entropy (`bce`).

    predicted, dockq : (B,). reduction : `none` for the error of each, (B,).

    The cross-entropy reads DockQ as a probability; it is least where the prediction is right, but
    not 0 there. For a certain and wrong prediction the logarithm is that of the nearest number to 0
    or 1, so that the loss and its gradient are finite.
    """
    if name == "mse":
        return F.mse_loss(predicted, dockq, reduction=reduction)
    limits = torch.finfo(predicted.dtype)
    log_yes = torch.log(predicted.clamp_min(limits.tiny))
    log_no = torch.log1p(-predicted.clamp_max(1 - limits.eps / 2))
    error = -(dockq * log_yes + (1 - dockq) * log_no)
    return error.mean() if reduction == "mean" else error


def edge_errors(edge_logit: Tensor, edge_y: Tensor) -> tuple[Tensor, Tensor]:
    """Return the cross-entropy of the local quality of each edge, and whether that is known.

    (E,) each; the error is 0 where the quality is unknown.
    """
    has_quality = ~torch.isnan(edge_y)
    error = F.binary_cross_entropy_with_logits(
        edge_logit, edge_y.nan_to_num(), reduction="none"
    )
    return error * has_quality, has_quality


def local_loss(
    edge_logit: Tensor, edge_y: Tensor, edge_graph: Tensor, n_graphs: int
) -> Tensor | None:
    """Return the mean cross-entropy of the local quality of edges.

    The mean is over the edges of a graph, then over graphs.

    edge_logit, edge_y : (E,), predicted as a logit, and true; nan where unknown. edge_graph : (E,),
    the graph of each edge. Edges and graphs without a native do not count; None where no edge has
    one.
    """
    error, has_quality = edge_errors(edge_logit, edge_y)
    total = error.new_zeros(n_graphs).index_add(0, edge_graph, error)
    count = error.new_zeros(n_graphs).index_add(
        0, edge_graph, has_quality.to(error.dtype)
    )
    has_native = count > 0
    if not has_native.any():
        return None
    return (total[has_native] / count[has_native]).mean()
