"""What training minimises: the error of each score and, if asked for, the order of decoys within their target and the
error of the local quality of edges.

Throughout: p, y float, shape (B,), predicted and true DockQ; target, int, shape (B,), equal for decoys of one
target. Every loss is a mean, so that it does not grow with the batch.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from toporank.learning.hyperparameters import Schedule

TEMPERATURE = 0.1
"""In DockQ, of `listwise`: the lower, the more the best decoys count."""


def bce(p: Tensor, y: Tensor) -> Tensor:
    """Cross-entropy between DockQ read as a probability and its prediction; least at p = y, but not 0 there.

    Of a certain and wrong score the logarithm is that of the nearest number to 0 or 1: the loss and its gradient are
    finite.
    """
    limits = torch.finfo(p.dtype)
    yes, no = torch.log(p.clamp_min(limits.tiny)), torch.log1p(-p.clamp_max(1 - limits.eps / 2))
    return -(y * yes + (1 - y) * no).mean()


def pointwise(schedule: Schedule) -> Callable[[Tensor, Tensor], Tensor]:
    """The loss of single scores that a schedule names."""
    return {"mse": F.mse_loss, "bce": bce}[schedule.loss]


def listwise(p: Tensor, y: Tensor, target: Tensor) -> Tensor:
    """Kullback-Leibler divergence between softmax(y / 0.1) and softmax(p / 0.1) of each target.

    The chance of being the best decoy, true and predicted (ListNet, Cao et al. 2007, less the entropy, so that
    p = y has no loss). Mean over the targets with two decoys or more; 0 where there is none.
    """
    same = target[:, None] == target[None]

    def log_chance(values: Tensor) -> Tensor:
        scaled = values / TEMPERATURE
        return scaled - torch.logsumexp(scaled[None].masked_fill(~same, -torch.inf), dim=1)

    truth, size = log_chance(y), same.sum(dim=1)
    divergence = truth.exp() * (truth - log_chance(p))  # 0 for a decoy alone
    n_targets = ((size > 1) / size).sum()
    return divergence.sum() / n_targets.clamp_min(1)


def local_errors(edge_logit: Tensor, edge_y: Tensor, edge_graph: Tensor, n_graphs: int) -> Tensor:
    """Mean cross-entropy between true and predicted local quality over the edges of each graph: (B,).

    edge_logit, edge_y : (E,), predicted as a logit, and true; nan where unknown. edge_graph : (E,), of the edges. NaN
    for a graph without known ones.
    """
    known = ~torch.isnan(edge_y)
    each = F.binary_cross_entropy_with_logits(edge_logit, edge_y.nan_to_num(), reduction="none") * known
    total, count = (each.new_zeros(n_graphs).index_add(0, edge_graph, v) for v in (each, known.to(each.dtype)))
    return torch.where(count > 0, total / count.clamp_min(1), torch.nan)


class Objective:
    """The loss of a batch as a schedule asks for it: pointwise + weight · ranking term + weight · mean of the local
    errors."""

    def __init__(self, schedule: Schedule):
        self.schedule, self.error = schedule, pointwise(schedule)

    def __call__(self, p: Tensor, y: Tensor, target: Tensor, local: Tensor | None = None) -> Tensor:
        """local : `local_errors`, if the schedule weights them."""
        chosen, loss = self.schedule, self.error(p, y)
        if local is not None and not local.isnan().all():
            loss = loss + chosen.local_weight * local[~local.isnan()].mean()
        if chosen.ranking_term == "none":
            return loss
        return loss + chosen.ranking_weight * listwise(p, y, target)
