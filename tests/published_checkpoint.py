"""Files that look like checkpoints of the published implementation. Their weights are random: they
predict nothing.
"""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor


def published_state(
    seed: int = 0,
    *,
    nodes: int = 172,
    edges: int = 11,
    hidden: int = 32,
    heads: int = 8,
    readout: int = 64,
) -> dict[str, Tensor]:
    """Random tensors under the published names and in the published shapes."""
    shapes: dict[str, tuple[int, ...]] = {}
    linear = {"edge_embed.0": (hidden, edges), "embed.0": (hidden, nodes)}
    for layer in ("conv1.0", "conv2.0", "conv3.0"):
        shapes |= {f"{layer}.att": (1, heads, hidden), f"{layer}.bias": (hidden,)}
        shapes[f"{layer}.lin_edge.weight"] = (heads * hidden, hidden)
        linear |= {
            f"{layer}.{end}": (heads * hidden, hidden) for end in ("lin_l", "lin_r")
        }
        linear[f"{layer}.edge_linear"] = (heads * hidden, 3 * hidden)
    linear |= {
        "fc_edge": (hidden // 2, hidden),
        "protein_fc_1.0": (readout, hidden + hidden // 2),
    }
    linear |= {"fc1": (readout, readout), "out": (1, readout)}
    for name, (rows, columns) in linear.items():
        shapes |= {f"{name}.weight": (rows, columns), f"{name}.bias": (rows,)}
    generator = torch.Generator().manual_seed(seed)
    return {
        name: 0.3 * torch.randn(shape, generator=generator)
        for name, shape in shapes.items()
    }


def write_published_checkpoint(path: Path, state: dict[str, Tensor]) -> Path:
    """A file with what Lightning puts around the weights: progress, callbacks, optimiser."""
    torch.save(
        {
            "epoch": 199, "global_step": 3400, "pytorch-lightning_version": "2.3.3", "state_dict": state,
            "loops": {"fit_loop": {"epoch_progress": {"total": {"ready": 200}}}},
            "callbacks": {"ModelCheckpoint{'monitor': 'val_loss'}": {"best_model_score": torch.tensor(0.05)}},
            "optimizer_states": [{"state": {0: {"exp_avg": torch.zeros(3)}}, "param_groups": [{"lr": 0.005}]}],
            "lr_schedulers": [],
        },
        path,
    )  # fmt: skip
    return path
