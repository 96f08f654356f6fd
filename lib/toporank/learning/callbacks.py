"""What happens beside training: the table of metrics, the checkpoints that are kept, early stopping."""

from __future__ import annotations

import logging
import math
from math import nan
from pathlib import Path
from typing import Any

import pandas as pd
import pytorch_lightning as pl
from pytorch_lightning.callbacks import Callback, EarlyStopping, ModelCheckpoint

from toporank.files.atomic import write_text
from toporank.learning.lightning import Scorer
from toporank.learning.run import KEPT

log = logging.getLogger(__name__)

FOLDER = "<folder of the run>"
Best = list[tuple[float, int]]
"""The best epochs, as (metric, epoch), best first."""


class LastCheckpoint(ModelCheckpoint):
    """Keeps the state of the last epoch without the folder it lies in: a run does not record where it was trained."""

    def __init__(self, folder: Path):
        super().__init__(
            folder, "last", monitor=None, save_top_k=1, enable_version_counter=False, save_on_train_epoch_end=True
        )

    def state_dict(self) -> dict[str, Any]:
        return _renamed(super().state_dict(), f"{self.dirpath}", FOLDER)

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        super().load_state_dict(_renamed(state_dict, FOLDER, f"{self.dirpath}"))


def _renamed(value: Any, old: str, new: str) -> Any:
    """A nested value with `old` replaced by `new` in every text, keys of dicts included."""
    if isinstance(value, dict):
        return {_renamed(k, old, new): _renamed(v, old, new) for k, v in value.items()}
    return value.replace(old, new) if isinstance(value, str) else value


def best_epochs_with(
    kept: list[tuple[float, int]], value: float, epoch: int, minimum_delta: float
) -> list[tuple[float, int]]:
    """The best epochs, (metric, epoch), best first, after another one; a lower metric is better.

    The first place is taken only by an epoch that is better by more than `minimum_delta`, the others by any that is
    better. A metric that is not finite takes none.
    """
    if not math.isfinite(value):
        return kept
    if not kept or value + minimum_delta < kept[0][0]:
        return [(value, epoch), *kept][:KEPT]
    rest = sorted([*kept[1:], (value, epoch)])  # of equal ones the earlier epoch comes first
    return [kept[0], *rest][:KEPT]


class BestEpochs(Callback):
    """Keeps the weights of the best, second and third epoch under one metric in `<name>.epoch<epoch>.ckpt`.

    A checkpoint that lost its place is deleted when the next epoch begins: an interrupted run may resume from before
    it.
    """

    def __init__(self, folder: Path, name: str, metric: str, minimum_delta: float):
        self.folder, self.name, self.metric, self.minimum_delta = folder, name, metric, minimum_delta
        self.kept: Best = []

    @property
    def state_key(self) -> str:
        """Tells the callbacks of different metrics apart in a checkpoint."""
        return f"{type(self).__name__}[{self.name}]"

    def state_dict(self) -> dict[str, Any]:
        return {"kept": [list(entry) for entry in self.kept]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.kept = [(value, epoch) for value, epoch in state_dict["kept"]]

    def files(self) -> list[Path]:
        """The checkpoints, best first."""
        return [self._file(epoch) for _, epoch in self.kept]

    def on_train_epoch_start(self, trainer: pl.Trainer, module: Scorer) -> None:
        if not trainer.is_global_zero:
            return
        for file in set(self.folder.glob(f"{self.name}.epoch*.ckpt")) - set(self.files()):
            file.unlink(missing_ok=True)

    def on_validation_end(self, trainer: pl.Trainer, module: Scorer) -> None:
        value, epoch = float(trainer.callback_metrics[self.metric]), trainer.current_epoch
        self.kept = best_epochs_with(self.kept, value, epoch, self.minimum_delta)
        if any(epoch == kept for _, kept in self.kept):
            trainer.save_checkpoint(self._file(epoch), weights_only=True)

    def _file(self, epoch: int) -> Path:
        return self.folder / f"{self.name}.epoch{epoch}.ckpt"


class Patience(EarlyStopping):
    """Early stopping that a run resumed after its last epoch remembers."""

    def on_train_start(self, trainer: pl.Trainer, module: Scorer) -> None:
        trainer.should_stop = trainer.should_stop or self.wait_count >= self.patience or self.stopped_epoch > 0


class MetricsTable(Callback):
    """Appends one row an epoch to a CSV file; a resumed run continues after its last checkpoint."""

    def __init__(self, path: Path):
        self.path = path

    def on_train_epoch_end(self, trainer: pl.Trainer, module: Scorer) -> None:
        if not trainer.is_global_zero:
            return
        rows = pd.read_csv(self.path, float_precision="round_trip") if self.path.exists() else pd.DataFrame()
        rows = rows[rows["epoch"] < trainer.current_epoch] if len(rows) else rows
        metrics = {name: float(value) for name, value in trainer.callback_metrics.items()}
        rate = trainer.optimizers[0].param_groups[0]["lr"]
        row = {"epoch": trainer.current_epoch, "learning_rate": rate, **dict(sorted(metrics.items()))}
        table = pd.concat([rows, pd.DataFrame([row])], ignore_index=True)
        write_text(self.path, table.to_csv(index=False))
        shown = [row.get(name, nan) for name in ("epoch", "train_loss", "val_loss", "val_spearman")]
        log.info("epoch %d  train %.5f  val %.5f  spearman %.3f", *shown)
