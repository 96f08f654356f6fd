"""The GATv2 layer and the edge update as loops over sorted edges, in NumPy and compiled code.

Torch is not needed here: training uses the forward passes in `attention`, scoring in `inference`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from toporank_kernels.compilation import compiled

NEGATIVE_SLOPE = 0.2
REORDERING = {"reassoc", "contract", "arcp", "nsz"}
"""What vector instructions need to reorder sums. Infinities and nan keep their meaning."""
TILE = 512
"""Edges whose product is computed at once: 512 × 256 numbers of single precision are half a
megabyte.
"""

vectorised = functools.partial(compiled, fastmath=REORDERING)


class Attended(NamedTuple):
    """What a layer computes for n nodes and E edges.

    out : (n, width), what each node gathers. source, destination : (n, heads, width), linear maps
    of the nodes. positive : (E, heads, width), whether the sum of an edge is above 0. alpha :
    (E, heads), the share of an edge in what its node gathers. start : (n + 1,), the edges into node
    i are start[i]:start[i + 1].
    """

    out: np.ndarray
    source: np.ndarray
    destination: np.ndarray
    positive: np.ndarray
    alpha: np.ndarray
    start: np.ndarray


class AttentionWeights(NamedTuple):
    """Linear maps of the source, the destination and the edge, and `att`, (heads, width)."""

    w_source: np.ndarray
    b_source: np.ndarray
    w_destination: np.ndarray
    b_destination: np.ndarray
    w_edge: np.ndarray
    att: np.ndarray


def attended(
    x: np.ndarray,
    edge_index: np.ndarray,
    edge: np.ndarray,
    weights: AttentionWeights,
    keep: np.ndarray | None = None,
) -> Attended:
    """Return what each node gathers from its incoming edges, the mean over heads, without bias.

    Parameters
    ----------
    x : (n, k), vectors of nodes
    edge_index : int64, (2, E), source and destination of each edge, sorted by destination
    edge : (E, m), vectors of edges
    keep : (E, heads), what dropout leaves of each share; all of it where there is none
    """
    heads, width = weights.att.shape
    source_of, destination_of = edge_index
    start = np.searchsorted(destination_of, np.arange(len(x) + 1))
    source = (x @ weights.w_source.T + weights.b_source).reshape(-1, heads, width)
    destination = x @ weights.w_destination.T + weights.b_destination
    destination = destination.reshape(-1, heads, width)
    alpha = np.empty((len(edge), heads), x.dtype)
    positive = np.empty((len(edge), heads, width), np.bool_)
    product = np.empty((TILE, heads * width), x.dtype)
    transposed = weights.w_edge.T.copy()
    for tile in tiles(len(edge)):
        rows = product[: tile.stop - tile.start]
        np.matmul(edge[tile], transposed, out=rows)
        write_scores(
            source_of[tile],
            destination_of[tile],
            source,
            destination,
            rows.reshape(-1, heads, width),
            weights.att,
            alpha[tile],
            positive[tile],
        )
    subtract_largest(start, alpha)
    np.exp(alpha, out=alpha)
    out = np.empty((len(x), width), x.dtype)
    gather(source_of, start, source, alpha, x[:0, :1] if keep is None else keep, out)
    return Attended(out, source, destination, positive, alpha, start)


def write_edges(
    source: np.ndarray,
    destination: np.ndarray,
    edge_index: np.ndarray,
    edge: np.ndarray,
    weight: np.ndarray,
    activate: Callable[[np.ndarray], object],
    out: np.ndarray,
) -> None:
    """Write the new vector of each edge: a linear map of it and the parts of both ends, activated.

    Parameters
    ----------
    source, destination : (n, width), the parts of the ends
    edge_index, edge : as for `attended`
    weight : (width, m)
    activate : changes the rows that it is given
    out : (E, width), is written
    """
    source_of, destination_of = edge_index
    transposed = weight.T.copy()
    for tile in tiles(len(edge)):
        np.matmul(edge[tile], transposed, out=out[tile])
        add_ends(source_of[tile], destination_of[tile], source, destination, out[tile])
        activate(out[tile])


def tiles(stop: int, start: int = 0) -> list[slice]:
    """Return the edges in parts of `TILE`."""
    return [slice(first, min(first + TILE, stop)) for first in range(start, stop, TILE)]


# The loops. Arrays of edges are of one tile, or of all edges where `start` says which belong to a
# node. Edges: (E,), (E, heads) or (E, heads, width). Nodes: (n, heads, width); what they gather and
# its gradient, (n, width).


@vectorised
def write_scores(
    source_of, destination_of, source, destination, product, att, score, positive
):
    """Write `score`, att · leaky(z), and `positive`, whether z > 0."""
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
def subtract_largest(start, score):
    """Take the largest score of each node off its scores, so that no exponential overflows."""
    for i in range(len(start) - 1):
        for h in range(score.shape[1]):
            largest = score.dtype.type(-np.inf)
            for e in range(start[i], start[i + 1]):
                largest = max(largest, score[e, h])
            for e in range(start[i], start[i + 1]):
                score[e, h] -= largest


@vectorised
def gather(source_of, start, source, alpha, keep, out):
    """Write `out`, what nodes gather.

    alpha : exp of the scores, which become shares of the sum of their node.
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
def write_score_gradient(source_of, start, source, alpha, keep, gradient, d_score):
    """Write `d_score`, the gradient of the scores."""
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
def scatter(
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
def add_ends(source_of, destination_of, source, destination, out):
    """Add the parts of both ends to each edge. Here and below nodes and edges are (…, width)."""
    for e in range(len(source_of)):
        j, i = source_of[e], destination_of[e]
        for c in range(out.shape[1]):
            out[e, c] += source[j, c] + destination[i, c]


@vectorised
def spread_ends(
    source_of, destination_of, out, gradient, d_source, d_destination, d_out
):
    """The backward pass of `add_ends` and an ELU.

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
