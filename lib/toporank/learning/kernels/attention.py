"""The GATv2 layer and the edge update as loops over sorted edges: the fast path on a CPU.

The edges of a batch are sorted by the node they point to, so that all edges into a node are
neighbours. The loops keep nothing of the size edges × heads × width but one bit each. The large
products, those with edge vectors, are computed in tiles that fit into the cache. Gradients are
written out: with z the sum before the leaky ReLU, the score s = att · leaky(z), and the share α the
softmax of s over the edges of a node (Brody, Alon & Yahav 2022, equation 7),

    ds = α (dα − Σ α dα)    u = ds · leaky'(z)    dz = u · att    d att = Σ u · z

The backward pass needs only the sign of z: z is a sum of three linear maps, and Σ u · z that of
their parts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from toporank.learning.kernels.loops import (
    TILE,
    Attended,
    AttentionWeights,
    attended,
    scatter,
    spread_ends,
    tiles,
    write_edges,
    write_score_gradient,
)


def can_loop(x: Tensor) -> bool:
    """Return whether the loops can compute with `x`.

    They can on a CPU, but not in fewer bits and not inside `torch.compile`.
    """
    if torch.compiler.is_compiling() or torch.is_autocast_enabled("cpu"):
        return False
    return x.device.type == "cpu" and x.dtype in (torch.float32, torch.float64)


def attend(
    layer: Any,
    x: Tensor,
    edge_index: Tensor,
    edge_attr: Tensor,
    embedding: nn.Linear | None = None,
) -> Tensor:
    """Return what each node gathers from its incoming edges, the mean over heads.

    Parameters
    ----------
    layer : nn.Module
        Has the weights `lin_l`, `lin_r`, `lin_edge`, `att` and `bias`, and `dropout`, as PyG's
        `GATv2Conv` has.
    x : Tensor
        Node vectors, shape (n, hidden).
    edge_index : Tensor
        Source and destination of each edge, shape (2, E), sorted by destination.
    edge_attr : Tensor
        Edge vectors, shape (E, k).
    embedding : nn.Linear, optional
        Takes edge vectors to the width of the layer first. Two linear maps are one, so this costs
        nothing.

    Returns
    -------
    Tensor
        Shape (n, hidden); the bias alone for a node without incoming edges.
    """
    weight, bias = layer.lin_edge.weight, layer.lin_r.bias
    if embedding is not None:
        bias = bias + weight @ embedding.bias
        weight = weight @ embedding.weight
    keep = None
    if layer.training and layer.dropout > 0:
        keep = F.dropout(
            edge_attr.new_ones(len(edge_attr), layer.att.shape[1]), layer.dropout
        )
    gathered = _Attention.apply(
        x,
        layer.lin_l.weight,
        layer.lin_l.bias,
        layer.lin_r.weight,
        bias,
        edge_attr,
        weight,
        layer.att[0],
        keep,
        edge_index,
    )
    return gathered + layer.bias


def update_edges(
    update: nn.Linear,
    x: Tensor,
    edge_index: Tensor,
    edge_attr: Tensor,
    embedding: nn.Linear | None = None,
) -> Tensor:
    """Return the new vector of each edge: ELU of a linear map of source, destination and edge.

    Parameters
    ----------
    update : nn.Linear
        From 3 · hidden to hidden.
    x, edge_index, edge_attr, embedding
        As in `attend`.

    Returns
    -------
    Tensor
        Shape (E, hidden).
    """
    of_source, of_destination, of_edge = update.weight.chunk(3, dim=1)
    bias: Tensor = update.bias
    if embedding is not None:
        bias = bias + of_edge @ embedding.bias
        of_edge = of_edge @ embedding.weight
    return _EdgeUpdate.apply(
        x @ of_source.T,
        F.linear(x, of_destination, bias),
        edge_attr,
        of_edge,
        edge_index,
    )


class _Attention(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *operands: Any) -> Tensor:
        *tensors, keep, edge_index = operands
        x, w_source, b_source, w_destination, b_destination, edge, weight, att = (
            _arrays(*tensors)
        )
        (ends,) = _arrays(edge_index)
        kept = x[:0, :1] if keep is None else keep.numpy()
        weights = AttentionWeights(
            w_source, b_source, w_destination, b_destination, weight, att
        )

        found = attended(x, ends, edge, weights, kept)
        ctx.save_for_backward(*tensors, *_tensors(kept, *found[1:]))
        ctx.edge_index = edge_index
        return torch.from_numpy(found.out)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        x, w_source, _, w_destination, _, edge, weight, att, keep, *kept = _arrays(
            *ctx.saved_tensors
        )
        d_out, ends = _arrays(gradient, ctx.edge_index)
        d_edge = np.empty_like(edge) if ctx.needs_input_grad[5] else None
        found = Attended(d_out, *kept)
        d_source, d_destination, d_weight, d_att = _attention_gradient(
            ends, edge, weight, att, keep, found, d_edge
        )
        d_x = d_source @ w_source + d_destination @ w_destination
        gradients = _tensors(
            d_x,
            (x.T @ d_source).T,
            d_source.sum(0),
            (x.T @ d_destination).T,
            d_destination.sum(0),
            d_edge,
            d_weight,
            d_att,
        )
        return *gradients, None, None


def _attention_gradient(
    ends: np.ndarray,
    edge: np.ndarray,
    weight: np.ndarray,
    att: np.ndarray,
    keep: np.ndarray,
    found: Attended,
    d_edge: np.ndarray | None,
) -> tuple[np.ndarray, ...]:
    """Return the gradients of both maps of nodes, of the map of edges and of `att`.

    found : of the forward pass, with the gradient in the place of `out`. d_edge : is written.
    """
    gradient, source, destination, positive, alpha, start = found
    source_of, destination_of = ends
    d_score = np.empty_like(alpha)
    d_source = np.zeros_like(source)
    d_destination = np.zeros_like(destination)
    d_att = np.zeros_like(att)
    d_weight = np.zeros_like(weight)
    u = np.empty((TILE, att.size), edge.dtype)
    weight_by_att = weight * att.reshape(-1)[:, None]
    write_score_gradient(source_of, start, source, alpha, keep, gradient, d_score)
    for tile in tiles(len(edge)):
        rows = u[: tile.stop - tile.start]
        scatter(
            source_of[tile],
            destination_of[tile],
            source,
            positive[tile],
            att,
            alpha[tile],
            keep[tile],
            gradient,
            d_score[tile],
            d_source,
            d_destination,
            d_att,
            rows.reshape(-1, *att.shape),
        )
        d_weight += rows.T @ edge[tile]
        if d_edge is not None:
            np.matmul(rows, weight_by_att, out=d_edge[tile])
    d_att += np.einsum("nhc,nhc->hc", d_destination, destination)
    d_att += np.einsum("ck,ck->c", d_weight, weight).reshape(att.shape)
    d_weight *= att.reshape(-1)[:, None]
    d_destination *= att
    n_nodes = len(source)
    return (
        d_source.reshape(n_nodes, att.size),
        d_destination.reshape(n_nodes, att.size),
        d_weight,
        d_att,
    )


class _EdgeUpdate(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *operands: Any) -> Tensor:
        *tensors, edge_index = operands
        source, destination, edge, weight = _arrays(*tensors)
        (ends,) = _arrays(edge_index)
        out = torch.empty(len(edge), len(weight), dtype=tensors[2].dtype)
        write_edges(
            source,
            destination,
            ends,
            edge,
            weight,
            lambda rows: F.elu_(torch.from_numpy(rows)),
            out.numpy(),
        )
        ctx.save_for_backward(tensors[2], tensors[3], out)
        ctx.edge_index = edge_index
        ctx.n_nodes = len(source)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        edge, weight, out, of_out = _arrays(*ctx.saved_tensors, gradient)
        source_of, destination_of = _arrays(*ctx.edge_index)
        d_source = np.zeros((ctx.n_nodes, len(weight)), edge.dtype)
        d_destination = np.zeros_like(d_source)
        d_edge = np.empty_like(edge) if ctx.needs_input_grad[2] else None

        d_weight = np.zeros_like(weight)
        d_out = np.empty((TILE, len(weight)), edge.dtype)
        for tile in tiles(len(edge)):
            rows = d_out[: tile.stop - tile.start]
            spread_ends(
                source_of[tile],
                destination_of[tile],
                out[tile],
                of_out[tile],
                d_source,
                d_destination,
                rows,
            )
            d_weight += rows.T @ edge[tile]
            if d_edge is not None:
                np.matmul(rows, weight, out=d_edge[tile])
        return *_tensors(d_source, d_destination, d_edge, d_weight), None


def _arrays(*tensors: Tensor) -> list[np.ndarray]:
    return [tensor.detach().contiguous().numpy() for tensor in tensors]


def _tensors(*arrays: np.ndarray | None) -> list[Tensor | None]:
    return [None if array is None else torch.from_numpy(array) for array in arrays]
