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

import functools
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from toporank import compilation

NEGATIVE_SLOPE = 0.2
REORDERING = {"reassoc", "contract", "arcp", "nsz"}
"""What vector instructions need to reorder sums. Infinities and nan keep their meaning."""
TILE = 512
"""Edges whose product is computed at once: 512 × 256 numbers of single precision are half a
megabyte.
"""

vectorised = functools.partial(compilation.compiled, fastmath=REORDERING)


def can_loop(x: Tensor) -> bool:
    """Return whether the loops can compute with `x`.

    They can on a CPU, but not in fewer bits and not inside `torch.compile`.
    """
    if torch.compiler.is_compiling() or torch.is_autocast_enabled("cpu"):
        return False
    return x.device.type == "cpu" and x.dtype in (torch.float32, torch.float64)


def attend(
    layer: nn.Module,
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
    bias = update.bias
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
        heads, width = att.shape
        keep = x[:0, :1] if keep is None else keep.numpy()
        source_of, destination_of = _arrays(*edge_index)
        start = np.searchsorted(
            destination_of, np.arange(len(x) + 1)
        )  # edges to node i are start[i]:start[i + 1]
        source = (x @ w_source.T + b_source).reshape(-1, heads, width)
        destination = (x @ w_destination.T + b_destination).reshape(-1, heads, width)
        score = np.empty((len(edge), heads), x.dtype)
        positive = np.empty((len(edge), heads, width), np.bool_)
        product = np.empty((TILE, heads * width), x.dtype)
        transposed = weight.T.copy()
        for tile in _tiles(len(edge)):
            rows = product[: tile.stop - tile.start]
            np.matmul(edge[tile], transposed, out=rows)
            _score(
                source_of[tile],
                destination_of[tile],
                source,
                destination,
                rows.reshape(-1, heads, width),
                att,
                score[tile],
                positive[tile],
            )
        _subtract_largest(start, score)
        torch.from_numpy(score).exp_()  # quicker than NumPy's
        out = np.empty((len(x), width), x.dtype)
        _gather(source_of, start, source, score, keep, out)
        ctx.save_for_backward(
            *tensors, *_tensors(source, destination, positive, score, keep, start)
        )
        ctx.edge_index = edge_index
        return torch.from_numpy(out)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        x, w_source, _, w_destination, _, edge, weight, att, *results = _arrays(
            *ctx.saved_tensors
        )
        source, destination, positive, alpha, keep, start = results
        (gradient,) = _arrays(gradient)
        source_of, destination_of = _arrays(*ctx.edge_index)
        att_flat = att.reshape(-1)
        d_score = np.empty_like(alpha)
        d_source = np.zeros_like(source)
        d_destination = np.zeros_like(destination)
        d_att = np.zeros_like(att)
        d_weight = np.zeros_like(weight)
        d_edge = np.empty_like(edge) if ctx.needs_input_grad[5] else None
        u = np.empty((TILE, att.size), x.dtype)
        weight_by_att = weight * att_flat[:, None]
        _score_gradient(source_of, start, source, alpha, keep, gradient, d_score)
        for tile in _tiles(len(edge)):
            rows = u[: tile.stop - tile.start]
            _scatter(
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
        d_weight *= att_flat[:, None]
        d_destination *= att
        d_source = d_source.reshape(len(x), att.size)
        d_destination = d_destination.reshape(len(x), att.size)
        d_x = d_source @ w_source
        d_x += d_destination @ w_destination
        d_w_source = (x.T @ d_source).T
        d_w_destination = (x.T @ d_destination).T
        gradients = _tensors(
            d_x,
            d_w_source,
            d_source.sum(0),
            d_w_destination,
            d_destination.sum(0),
            d_edge,
            d_weight,
            d_att,
        )
        return *gradients, None, None


class _EdgeUpdate(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *operands: Any) -> Tensor:
        *tensors, edge_index = operands
        source, destination, edge, weight = _arrays(*tensors)
        source_of, destination_of = _arrays(*edge_index)
        out = torch.empty(len(edge), len(weight), dtype=tensors[2].dtype)
        array = out.numpy()
        transposed = weight.T.copy()
        for tile in _tiles(len(edge)):
            np.matmul(edge[tile], transposed, out=array[tile])
            _add_ends(
                source_of[tile], destination_of[tile], source, destination, array[tile]
            )
            F.elu_(out[tile])
        ctx.save_for_backward(tensors[2], tensors[3], out)
        ctx.edge_index = edge_index
        ctx.n_nodes = len(source)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        edge, weight, out, gradient = _arrays(*ctx.saved_tensors, gradient)
        source_of, destination_of = _arrays(*ctx.edge_index)
        d_source = np.zeros((ctx.n_nodes, len(weight)), edge.dtype)
        d_destination = np.zeros_like(d_source)
        d_weight = np.zeros_like(weight)
        d_edge = np.empty_like(edge) if ctx.needs_input_grad[2] else None
        d_out = np.empty((TILE, len(weight)), edge.dtype)
        for tile in _tiles(len(edge)):
            rows = d_out[: tile.stop - tile.start]
            _spread_ends(
                source_of[tile],
                destination_of[tile],
                out[tile],
                gradient[tile],
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


def _tiles(n_edges: int) -> list[slice]:
    return [
        slice(first, min(first + TILE, n_edges)) for first in range(0, n_edges, TILE)
    ]


# The loops. Arrays of edges are of one tile, or of all edges where `start` says which belong to a
# node. Edges: (E,), (E, heads) or (E, heads, width). Nodes: (n, heads, width); what they gather and
# its gradient, (n, width).


@vectorised
def _score(
    source_of, destination_of, source, destination, product, att, score, positive
):
    """score and positive are written: att · leaky(z) and whether z > 0."""
    heads, width = att.shape
    slope = att.dtype.type(NEGATIVE_SLOPE)
    zero = slope - slope
    for e in range(len(source_of)):
        j, i = source_of[e], destination_of[e]
        for h in range(heads):
            total = zero
            for c in range(width):
                z = source[j, h, c] + destination[i, h, c] + product[e, h, c]
                positive[e, h, c] = z > zero
                total += att[h, c] * (z if z > zero else slope * z)
            score[e, h] = total


@vectorised
def _subtract_largest(start, score):
    """Of each node, so that no exponential overflows."""
    for i in range(len(start) - 1):
        for h in range(score.shape[1]):
            largest = score.dtype.type(-np.inf)
            for e in range(start[i], start[i + 1]):
                largest = max(largest, score[e, h])
            for e in range(start[i], start[i + 1]):
                score[e, h] -= largest


@vectorised
def _gather(source_of, start, source, alpha, keep, out):
    """alpha, in: exp of scores.

    out : their share of the sum of a node. out : what nodes gather, is written.
    """
    heads, width = source.shape[1:]
    total, gathered = np.empty(heads, source.dtype), np.empty(width, source.dtype)
    one = source.dtype.type(1)
    for i in range(len(out)):
        total[:] = 0
        gathered[:] = 0
        for e in range(start[i], start[i + 1]):
            for h in range(heads):
                total[h] += alpha[e, h]
        for e in range(start[i], start[i + 1]):
            j = source_of[e]
            for h in range(heads):
                alpha[e, h] /= total[h]
                share = alpha[e, h] * (keep[e, h] if len(keep) else one)
                for c in range(width):
                    gathered[c] += share * source[j, h, c]
        for c in range(width):
            out[i, c] = gathered[c] / heads


@vectorised
def _score_gradient(source_of, start, source, alpha, keep, gradient, d_score):
    """d_score is written."""
    heads, width = source.shape[1:]
    mean = np.empty(heads, source.dtype)
    zero, one, mean_of_heads = (
        source.dtype.type(0),
        source.dtype.type(1),
        source.dtype.type(1 / heads),
    )
    for i in range(len(gradient)):
        mean[:] = 0
        for e in range(start[i], start[i + 1]):
            j = source_of[e]
            for h in range(heads):
                inner = zero
                for c in range(width):
                    inner += gradient[i, c] * source[j, h, c]
                d_score[e, h] = (
                    inner * (keep[e, h] if len(keep) else one) * mean_of_heads
                )
                mean[h] += alpha[e, h] * d_score[e, h]
        for e in range(start[i], start[i + 1]):
            for h in range(heads):
                d_score[e, h] = alpha[e, h] * (d_score[e, h] - mean[h])


@vectorised
def _scatter(
    source_of,
    destination_of,
    source,
    positive,
    att,
    alpha,
    keep,
    gradient,
    d_score,
    d_source,
    d_destination,
    d_att,
    u,
):
    """u is written.

    Added: to d_source its gradient, to d_destination u, to d_att the part of the sources.
    """
    heads, width = att.shape
    slope, one, mean_of_heads = (
        att.dtype.type(NEGATIVE_SLOPE),
        att.dtype.type(1),
        att.dtype.type(1 / heads),
    )
    for e in range(len(source_of)):
        j, i = source_of[e], destination_of[e]
        for h in range(heads):
            share = alpha[e, h] * (keep[e, h] if len(keep) else one) * mean_of_heads
            high, low = d_score[e, h], d_score[e, h] * slope
            for c in range(width):
                value = high if positive[e, h, c] else low
                u[e, h, c] = value
                d_destination[i, h, c] += value
                d_att[h, c] += value * source[j, h, c]
                d_source[j, h, c] += value * att[h, c] + share * gradient[i, c]


@vectorised
def _add_ends(source_of, destination_of, source, destination, out):
    """Add the parts of both ends to each edge. Here and below nodes and edges are (…, width)."""
    for e in range(len(source_of)):
        j, i = source_of[e], destination_of[e]
        for c in range(out.shape[1]):
            out[e, c] += source[j, c] + destination[i, c]


@vectorised
def _spread_ends(
    source_of, destination_of, out, gradient, d_source, d_destination, d_out
):
    """The backward pass of `_add_ends` and an ELU.

    out : after the ELU. d_out : before it, is written.
    """
    one = out.dtype.type(1)
    for e in range(len(source_of)):
        j, i = source_of[e], destination_of[e]
        for c in range(out.shape[1]):
            value = out[e, c]
            d = gradient[e, c] * (one if value > 0 else value + one)
            d_out[e, c] = d
            d_source[j, c] += d
            d_destination[i, c] += d
