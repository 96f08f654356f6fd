"""What a training run is: everything that decides its result, beside the graphs."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from toporank.errors import ConfigError
from toporank.learning.checkpoint import read_description
from toporank.learning.hardware import Hardware
from toporank.learning.hyperparameters import Hyperparameters, Selection
from toporank.learning.shapes import shape_of

CHECKPOINT_OF = {
    "val_loss": "best_loss",
    "val_selection": "best_selection",
    "val_ranking_loss": "best_ranking",
}
"""For each selection rule the checkpoint that is a run's best under it. For every rule, lower is
better.
"""
PROFILE = "profile"
"""Folder of a run with the report of Lightning's profiler, where there is one."""
N_BEST = 3
"""Epochs kept under each rule: best, second and third."""


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
        """Return the run that the parameters of a rule describe.

        A fine-tuned network has the shape of its parent.
        """
        hyperparameters = parameters["hyperparameters"]
        if parent is not None:
            inherited = shape_of(read_description(parent)["hyperparameters"])
            if hyperparameters.get("local_weight", 0) > 0 and not inherited["local"]:
                raise ConfigError(
                    "local_weight is for a network that predicts local quality, its parent does "
                    "not",
                    where=f"run {name}",
                    remedy="leave it out, or give the parent `local: true`",
                )
            hyperparameters = {**inherited, **hyperparameters}
        return cls(
            name=name,
            seed=parameters["seed"],
            hyperparameters=Hyperparameters(**hyperparameters),
            selection=Selection(**parameters["selection"]),
            parent=parent,
            freeze=tuple(parameters.get("freeze", ())),
            hardware=Hardware(**parameters.get("hardware", {})),
        )

    def record(self) -> dict[str, Any]:
        """Return what the checkpoint and config.yaml say about the run."""
        parent = None
        if self.parent:
            description = read_description(self.parent)
            # a checkpoint of TopoQA has neither
            parent = {
                "run": description.get("run", self.parent.name),
                "epoch": description.get("epoch", 0),
            }
        return {
            "run": self.name,
            "seed": self.seed,
            "hyperparameters": self.hyperparameters.model_dump(),
            # a run keeps its best checkpoint under every rule, whichever chooses
            "selection": self.selection.model_dump(exclude={"rule"}),
            "freeze": list(self.freeze),
            "hardware": self.hardware.model_dump(),
            "parent": parent,
        }
