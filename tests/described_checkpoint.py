"""Files with the description of a checkpoint, and nothing else of one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from toporank.files import described

METRICS = {
    "val_loss": 0.07,
    "val_selection": -0.4,
    "val_spearman": 0.5,
    "val_spearman_per_target": 0.6,
    "val_pearson": 0.5,
    "val_pearson_per_target": 0.6,
    "val_ranking_loss": 0.1,
}
DESCRIPTION = {
    "run": "phase1", "seed": 1, "epoch": 0, "metrics": METRICS, "node_width": 172, "edge_width": 11,
    "hyperparameters": {"hidden": 32, "heads": 8, "layers": 2, "readout": 64, "attention_dropout": 0.25,
                        "gradient_clip": None},
    "selection": {"rule": "val_loss", "spearman_weight": 1.0}, "parent": {"run": "small_seed1", "epoch": 1},
    "training_set": {"fingerprint": "0123abcd", "train": 4, "val": 4},
    "provenance": {"versions": {"torch": "2.13.0"}, "git": "abcdef012345"},
}  # fmt: skip


def write_description(path: Path | str, **changes: Any) -> Path:
    """`DESCRIPTION` with some of its parts replaced."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(described.to_bytes({}, {**DESCRIPTION, **changes}))
    return path
