"""Attention and edge update over sorted edges, in one pass and without keeping anything of size edges × heads × width.

The edges of a batch are sorted by the node they point to, so that all edges into a node are neighbours. On a CPU,
compiled loops run over the edges; the large products, those with edge vectors, are computed in tiles that fit into
the cache. Gradients are written out: with z the sum before the leaky ReLU, the score s = att · leaky(z), and the
share α the softmax of s over the edges of a node,

    ds = α (dα − Σ α dα)    u = ds · leaky'(z)    dz = u · att    d att = Σ u · z

for which the backward pass needs only the sign of z: z is a sum of three linear maps, and Σ u · z that of their parts.
Elsewhere (GPU, torch.compile) the same formula is written in torch operations.
"""

from __future__ import annotations

import contextlib
import functools
from typing import Any, NamedTuple

import numpy as np
import torch
from threadpoolctl import ThreadpoolController
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from toporank import compilation

NEGATIVE_SLOPE = 0.2
REORDERING = {"reassoc", "contract", "arcp", "nsz"}
"""What vector instructions need to reorder sums. Infinities and nan keep their meaning."""
TILE = 512
"""Edges whose product is computed at once: 512 × 256 numbers of single precision are half a megabyte."""

vectorised = functools.partial(compilation.compiled, fastmath=REORDERING)

Linear = tuple[Tensor, Tensor]
"""Weight and bias."""


class Adjacency(NamedTuple):
    """Directed edges sorted by destination.

    source, destination : (E,) int64. start : (n + 1,) int64, the edges to node i are start[i]:start[i + 1].
    """

    source: Tensor
    destination: Tensor
    start: Tensor

    @classmethod
    def of(cls, edge_index: Tensor, n_nodes: int) -> Adjacency:
        """From edges that are sorted by destination already. edge_index : (2, E)."""
        source, destination = edge_index.contiguous()
        nodes = torch.arange(n_nodes + 1, device=edge_index.device)
        return cls(source, destination, torch.searchsorted(destination, nodes))


def attend(
    x: Tensor,
    of_source: Linear,
    of_destination: Linear,
    edge: Tensor,
    weight: Tensor,
    att: Tensor,
    keep: Tensor | None,
    adjacency: Adjacency,
) -> Tensor:
    """What each node gathers from its incoming edges (Brody, Alon & Yahav 2022, equation 7), mean over heads.

    x : (n, k). of_source, of_destination : weight (heads·width, k) and bias (heads·width,) of the two maps of x.
    edge : (E, m), with weight : (heads·width, m). att : (heads, width).
    keep : (E, heads), factor of each attention weight (dropout), or None.
    Returns (n, width); zero for a node without incoming edges.
    """
    if _by_loops(x):
        return _Attention.apply(x, *of_source, *of_destination, edge, weight, att, keep, adjacency)
    heads, width = att.shape
    value = F.linear(x, *of_source)[adjacency.source]
    z = F.leaky_relu(value + F.linear(x, *of_destination)[adjacency.destination] + edge @ weight.T, NEGATIVE_SLOPE)
    alpha = _softmax((z.view(-1, heads, width) * att).sum(-1), adjacency.destination, len(x))
    alpha = alpha if keep is None else alpha * keep
    gathered = (value.view(-1, heads, width) * alpha.unsqueeze(-1)).mean(1)
    return gathered.new_zeros(len(x), width).index_add(0, adjacency.destination, gathered)


def join(source: Tensor, destination: Tensor, edge: Tensor, weight: Tensor, adjacency: Adjacency) -> Tensor:
    """ELU of the edge's own part and the parts of its ends.

    source, destination : (n, width). edge : (E, m), with weight : (width, m). Returns (E, width).
    """
    if _by_loops(edge):
        return _Join.apply(source, destination, edge, weight, adjacency)
    return F.elu(edge @ weight.T + source[adjacency.source] + destination[adjacency.destination])


def _by_loops(tensor: Tensor) -> bool:
    return tensor.device.type == "cpu" and not torch.compiler.is_compiling()


def _softmax(score: Tensor, group: Tensor, n_groups: int) -> Tensor:
    """Over the rows of a group. score : (E, heads), group : (E,)."""
    index = group.unsqueeze(-1).expand_as(score)
    largest = score.new_zeros(n_groups, score.shape[1]).scatter_reduce(
        0, index, score.detach(), "amax", include_self=False
    )
    raised = (score - largest[group]).exp()
    return raised / raised.new_zeros(largest.shape).index_add(0, group, raised)[group]


class _Attention(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *given: Any) -> Tensor:
        *tensors, keep, adjacency = given
        x, w_source, b_source, w_destination, b_destination, edge, weight, att = _arrays(*tensors)
        heads, width = att.shape
        keep = x[:0, :1] if keep is None else keep.numpy()
        source_of, destination_of, start = _arrays(*adjacency)
        with _threads_of_torch():
            source, destination = (
                (x @ w.T + b).reshape(-1, heads, width)
                for w, b in ((w_source, b_source), (w_destination, b_destination))
            )
            score, positive = np.empty((len(edge), heads), x.dtype), np.empty((len(edge), heads, width), np.bool_)
            product, forth = np.empty((TILE, heads * width), x.dtype), weight.T.copy()
            for e, f in _tiles(len(edge)):
                np.matmul(edge[e:f], forth, out=product[: f - e])
                _score(
                    source_of[e:f],
                    destination_of[e:f],
                    source,
                    destination,
                    product.reshape(-1, heads, width),
                    att,
                    score[e:f],
                    positive[e:f],
                )
        _subtract_largest(start, score)
        torch.from_numpy(score).exp_()
        out = np.empty((len(x), width), x.dtype)
        _gather(source_of, start, source, score, keep, out)
        ctx.save_for_backward(*tensors, *_tensors(source, destination, positive, score, keep))
        ctx.adjacency = adjacency
        return torch.from_numpy(out)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        x, w_source, _, w_destination, _, edge, weight, att, *kept = _arrays(*ctx.saved_tensors)
        (source, destination, positive, alpha, keep), (gradient,) = kept, _arrays(gradient)
        source_of, destination_of, start = _arrays(*ctx.adjacency)
        shape, att_flat = (len(x), att.size), att.reshape(-1)
        d_score = np.empty_like(alpha)
        d_source, d_destination, d_att = np.zeros_like(source), np.zeros_like(destination), np.zeros_like(att)
        d_edge = np.empty_like(edge) if ctx.needs_input_grad[5] else None
        u, back = np.empty((TILE, att.size), x.dtype), weight * att_flat[:, None]
        d_weight = np.zeros_like(weight)
        _score_gradient(source_of, start, source, alpha, keep, gradient, d_score)
        with _threads_of_torch():
            for e, f in _tiles(len(edge)):
                _scatter(
                    source_of[e:f],
                    destination_of[e:f],
                    source,
                    positive[e:f],
                    att,
                    alpha[e:f],
                    keep[e:f],
                    gradient,
                    d_score[e:f],
                    d_source,
                    d_destination,
                    d_att,
                    u.reshape(-1, *att.shape),
                )
                d_weight += u[: f - e].T @ edge[e:f]
                if d_edge is not None:
                    np.matmul(u[: f - e], back, out=d_edge[e:f])
            d_att += np.einsum("nhc,nhc->hc", d_destination, destination)
            d_att += np.einsum("ck,ck->c", d_weight, weight).reshape(att.shape)
            d_weight *= att_flat[:, None]
            d_destination *= att
            d_source, d_destination = d_source.reshape(shape), d_destination.reshape(shape)
            d_x = d_source @ w_source
            d_x += d_destination @ w_destination
            d_maps = (x.T @ d_source).T, d_source.sum(0), (x.T @ d_destination).T, d_destination.sum(0)
        return *_tensors(d_x, *d_maps, d_edge, d_weight, d_att), None, None


class _Join(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *given: Any) -> Tensor:
        *tensors, adjacency = given
        source, destination, edge, weight = _arrays(*tensors)
        source_of, destination_of, _ = _arrays(*adjacency)
        out, forth = torch.empty(len(edge), len(weight), dtype=tensors[2].dtype), weight.T.copy()
        array = out.numpy()
        with _threads_of_torch():
            for e, f in _tiles(len(edge)):
                np.matmul(edge[e:f], forth, out=array[e:f])
                _add_ends(source_of[e:f], destination_of[e:f], source, destination, array[e:f])
                F.elu_(out[e:f])
        ctx.save_for_backward(tensors[2], tensors[3], out)
        ctx.adjacency, ctx.n_nodes = adjacency, len(source)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        edge, weight, out, gradient = _arrays(*ctx.saved_tensors, gradient)
        source_of, destination_of, _ = _arrays(*ctx.adjacency)
        d_source, d_destination = (np.zeros((ctx.n_nodes, len(weight)), edge.dtype) for _ in range(2))
        d_weight, d_edge = np.zeros_like(weight), np.empty_like(edge) if ctx.needs_input_grad[2] else None
        d_out = np.empty((TILE, len(weight)), edge.dtype)
        with _threads_of_torch():
            for e, f in _tiles(len(edge)):
                _spread_ends(
                    source_of[e:f], destination_of[e:f], out[e:f], gradient[e:f], d_source, d_destination, d_out
                )
                d_weight += d_out[: f - e].T @ edge[e:f]
                if d_edge is not None:
                    np.matmul(d_out[: f - e], weight, out=d_edge[e:f])
        return *_tensors(d_source, d_destination, d_edge, d_weight), None


def _arrays(*tensors: Tensor) -> list[np.ndarray]:
    return [tensor.detach().contiguous().numpy() for tensor in tensors]


def _tensors(*arrays: np.ndarray | None) -> list[Tensor | None]:
    return [None if array is None else torch.from_numpy(array) for array in arrays]


def _tiles(n_edges: int) -> list[tuple[int, int]]:
    return [(e, min(e + TILE, n_edges)) for e in range(0, n_edges, TILE)]


def _threads_of_torch() -> Any:
    """Context in which the products of NumPy use as many threads as those of torch."""
    threads = torch.get_num_threads()
    if all(library.num_threads == threads for library in _blas().lib_controllers):
        return contextlib.nullcontext()  # a tenth of a millisecond cheaper, which a layer pays twice
    return _blas().limit(limits=threads)


@functools.cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")


# The loops. Arrays of edges are of one tile, or of all edges where `start` says which belong to a node.
# Edges: (E,), (E, heads) or (E, heads, width). Nodes: (n, heads, width); what they gather and its gradient, (n, width).


@vectorised
def _score(source_of, destination_of, source, destination, product, att, score, positive):
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
    """alpha, in: exp of scores; out: their share of the sum of a node. out : what nodes gather, is written."""
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
    zero, one, mean_of_heads = source.dtype.type(0), source.dtype.type(1), source.dtype.type(1 / heads)
    for i in range(len(gradient)):
        mean[:] = 0
        for e in range(start[i], start[i + 1]):
            j = source_of[e]
            for h in range(heads):
                inner = zero
                for c in range(width):
                    inner += gradient[i, c] * source[j, h, c]
                d_score[e, h] = inner * (keep[e, h] if len(keep) else one) * mean_of_heads
                mean[h] += alpha[e, h] * d_score[e, h]
        for e in range(start[i], start[i + 1]):
            for h in range(heads):
                d_score[e, h] = alpha[e, h] * (d_score[e, h] - mean[h])


@vectorised
def _scatter(
    source_of, destination_of, source, positive, att, alpha, keep, gradient, d_score, d_source, d_destination, d_att, u
):
    """u is written. Added: to d_source its gradient, to d_destination u, to d_att the part of the sources."""
    heads, width = att.shape
    slope, one, mean_of_heads = att.dtype.type(NEGATIVE_SLOPE), att.dtype.type(1), att.dtype.type(1 / heads)
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
def _spread_ends(source_of, destination_of, out, gradient, d_source, d_destination, d_out):
    """The backward pass of `_add_ends` and an ELU. out : after the ELU. d_out : before it, is written."""
    one = out.dtype.type(1)
    for e in range(len(source_of)):
        j, i = source_of[e], destination_of[e]
        for c in range(out.shape[1]):
            value = out[e, c]
            d = gradient[e, c] * (one if value > 0 else value + one)
            d_out[e, c] = d
            d_source[j, c] += d
            d_destination[i, c] += d
