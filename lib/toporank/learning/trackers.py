"""Metrics for programs that show them: TensorBoard and MLflow, when they are installed and asked for."""

from __future__ import annotations

from pathlib import Path

from pytorch_lightning.loggers import Logger, MLFlowLogger, TensorBoardLogger

from toporank.errors import ConfigError
from toporank.learning.hardware import Tracker, missing_trackers


def loggers(trackers: tuple[Tracker, ...], run: str, folder: Path) -> list[Logger]:
    """One for each tracker, which writes to a folder of its name. Raises ConfigError when one is not installed."""
    missing = missing_trackers(trackers)
    if missing:
        raise ConfigError("training.trackers: " + "\n  training.trackers: ".join(missing))
    made = {
        "tensorboard": lambda: TensorBoardLogger(folder, "tensorboard", version=""),
        "mlflow": lambda: MLFlowLogger("toporank", run, tracking_uri=(folder / "mlflow").resolve().as_uri()),
    }
    return [made[name]() for name in trackers]
