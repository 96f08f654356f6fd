"""The network as Lightning trains it."""

from __future__ import annotations

from typing import Any

import pytorch_lightning as pl
import torch
from torch import Tensor
from torch.nn import functional as F

from toporank.learning.checkpoint import KEY, describe
from toporank.learning.graphs import GraphBatch
from toporank.learning.hyperparameters import Hyperparameters, Selection
from toporank.learning.losses import Objective, local_errors
from toporank.learning.network import Network, by_destination
from toporank.metrics import validation_scores

SPEARMAN = {"pooled": "spearman_pooled", "per_target": "spearman_per_target"}
"""The score behind each choice of `selection.spearman`."""


class NotFiniteError(Exception):
    """A loss or a prediction is not a finite number. graphs : positions in the store of those at fault."""

    def __init__(self, what: str, graphs: Tensor):
        super().__init__(what)
        self.what, self.graphs = what, graphs.tolist()


class Scorer(pl.LightningModule):
    """Trains a network on the objective of its hyper-parameters; validated on the mean squared error to DockQ.

    description : what the checkpoint says of itself, beside epoch and metrics. fused : a step of Adam is one operation.
    offload : its state is in the memory of the CPU.
    target_codes : int, one for each graph of the store, equal for decoys of one target.
    """

    def __init__(
        self,
        network: Network,
        hyperparameters: Hyperparameters,
        selection: Selection,
        seed: int,
        target_codes: Tensor,
        description: dict[str, Any],
        *,
        fused: bool = False,
        offload: bool = False,
    ):
        super().__init__()
        self.network, self.hp, self.selection, self.seed = network, hyperparameters, selection, seed
        self.description, self.fused, self.offload = description, fused, offload
        self.register_buffer("target_codes", target_codes, persistent=False)  # goes where the batches are
        self.objective = Objective(hyperparameters)
        self._seen: list[tuple[Tensor, Tensor, Tensor]] = []

    def on_train_epoch_start(self) -> None:
        """Dropout depends on seed and epoch alone, so that a resumed run continues as it would have."""
        torch.manual_seed(self.seed * 100_003 + self.current_epoch)

    def training_step(self, batch: GraphBatch, number: int) -> Tensor:
        predicted, local = self._learned(batch)
        loss = self.objective(predicted, batch.y, self.target_codes[batch.index], local)
        if not torch.isfinite(loss):
            raise NotFiniteError("the training loss", batch.index)
        self.log("train_loss", loss, on_step=False, on_epoch=True, batch_size=len(batch.index))
        return loss

    def _learned(self, batch: GraphBatch) -> tuple[Tensor, Tensor | None]:
        """Predicted DockQ of each graph and, if it is learned, the error of its local quality."""
        if not self.hp.local_weight:
            return self.network(batch), None
        batch = by_destination(batch)
        found = self.network.predictions(batch)
        return found.score, local_errors(found.edge_logit, batch.edge_y, batch.edge_graph, len(batch.index))

    def validation_step(self, batch: GraphBatch, _: int) -> None:
        self._seen.append((batch.index, batch.y, self.network(batch)))

    def on_validation_epoch_end(self) -> None:
        """Loss and ranking metrics over the whole validation set."""
        index, dockq, predicted = self._collected()
        if not torch.isfinite(predicted).all():
            raise NotFiniteError("the prediction", index[~torch.isfinite(predicted)])
        scores = validation_scores(
            self.target_codes[index].numpy(force=True),
            dockq.double().numpy(force=True),
            predicted.double().numpy(force=True),
        )
        loss = F.mse_loss(predicted, dockq)
        spearman = scores[SPEARMAN[self.selection.spearman]]
        known = 0.0 if spearman != spearman else spearman  # constant predictions have no correlation
        values = {
            "val_loss": loss,
            "val_spearman": scores["spearman_pooled"],
            "val_pearson": scores["pearson_pooled"],
            "val_spearman_per_target": scores["spearman_per_target"],
            "val_pearson_per_target": scores["pearson_per_target"],
            "val_ranking_loss": scores["ranking_loss"],
            "val_selection": loss - self.selection.spearman_weight * known,
        }
        self.log_dict(values)

    def _collected(self) -> tuple[Tensor, Tensor, Tensor]:
        """Index, DockQ and prediction of all validation decoys."""
        index, dockq, predicted = (torch.cat(parts) for parts in zip(*self._seen, strict=True))
        self._seen.clear()
        return index, dockq, predicted

    def configure_optimizers(self) -> dict[str, Any]:
        trained = [weight for weight in self.parameters() if weight.requires_grad]
        options = {"lr": self.hp.learning_rate, "weight_decay": self.hp.weight_decay, "fused": self.fused}
        if self.offload:
            from torchao.optim import CPUOffloadOptimizer

            optimizer = CPUOffloadOptimizer(trained, torch.optim.Adam, **options)
            optimizer.state = {}  # Lightning would move what is in it to the GPU; torchao keeps its own elsewhere
        else:
            optimizer = torch.optim.Adam(trained, **options)
        plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(
            optimizer, factor=self.hp.plateau_factor, patience=self.hp.plateau_patience
        )
        schedule = {"scheduler": plateau, "monitor": "val_loss"}
        return {"optimizer": optimizer, "lr_scheduler": schedule}

    def lr_scheduler_step(self, scheduler: Any, metric: Any) -> None:
        """Nothing: Lightning would step after the checkpoint of the epoch is written, and a resumed run would miss
        it."""

    def on_train_epoch_end(self) -> None:
        self.lr_schedulers().step(self.trainer.callback_metrics["val_loss"])

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        metrics = {k: float(v) for k, v in self.trainer.callback_metrics.items() if k.startswith("val_")}
        checkpoint[KEY] = describe({**self.description, "epoch": self.current_epoch, "metrics": metrics})
