"""What a training run is: everything that decides its result, beside the graphs."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from toporank.errors import ConfigError
from toporank.learning.checkpoint import read_description
from toporank.learning.hardware import Hardware
from toporank.learning.hyperparameters import Hyperparameters, Selection, shape_of

KEPT = 3
"""Epochs kept under each rule: best, second and third."""

Best = dict[str, list[Path]]
"""Checkpoints of the best epochs under each rule, best first."""


@dataclass(frozen=True)
class Run:
    """What one training run is: everything that decides its result, beside the graphs.

    parent : checkpoint whose network and weights to start from, with fresh optimiser and schedule.
    freeze : parts of the network, as its weights are called, that are not trained.
    """

    name: str
    seed: int
    hyperparameters: Hyperparameters
    selection: Selection
    parent: Path | None
    freeze: tuple[str, ...] = ()
    hardware: Hardware = field(default_factory=Hardware)

    @classmethod
    def parse(cls, name: str, parameters: dict[str, Any], parent: Path | None) -> Run:
        """From the parameters of a rule. The shape of a fine-tuned network is its parent's."""
        given = parameters["hyperparameters"]
        if parent is not None:
            inherited = shape_of(read_description(parent)["hyperparameters"])
            if given.get("local_weight", 0) > 0 and not inherited["local"]:
                raise ConfigError(
                    "local_weight is for a network that predicts local quality, its parent does not",
                    where=f"run {name}",
                    remedy="leave it out, or give the parent `local: true`",
                )
            given = {**inherited, **given}
        selection, freeze = Selection(**parameters["selection"]), tuple(parameters.get("freeze", ()))
        hardware = Hardware(**parameters.get("hardware", {}))
        hyperparameters = Hyperparameters(**given)
        return cls(name, parameters["seed"], hyperparameters, selection, parent, freeze, hardware)

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
