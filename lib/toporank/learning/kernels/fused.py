"""The GATv2 layer, the edge update and means over graphs on a GPU, by the kernels of Triton.

As in `attention`, nothing of the size edges × heads × width is kept but one bit each. Sums over the
edges into a node or out of it need no atomic operations: `SortedEdges` has the edges in both
orders, so the same input gives the same bits.
"""

from __future__ import annotations

import functools
import importlib.util
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

WIDEST = 128
"""Largest width of nodes or edges whose tiles fit into the memory of a multiprocessor."""
MOST_NUMBERS = 2**31 - 1
"""Numbers in an array, whose places are of 32 bits."""
TILE = 64
"""Edges whose product is computed at once."""
PROGRAMS = 132 * 8
"""Programs that share a loop: several for each multiprocessor of a large GPU."""


IN_REGISTERS = 8192
"""Numbers of a product that a program keeps in registers."""


class SortedEdges(NamedTuple):
    """The edges of a batch of n nodes, sorted by destination, with their order by source.

    source, destination : (E,) int32. start : (n + 1,), the edges into node i are
    start[i]:start[i + 1]. order : (E,), the edges sorted by source. source_start : (n + 1,), those
    out of node j are order[source_start[j]:source_start[j + 1]]. n_edges : (1,), the edges; what
    comes after them is padding.
    """

    source: Tensor
    destination: Tensor
    start: Tensor
    order: Tensor
    source_start: Tensor
    n_edges: Tensor


@functools.cache
def has_triton() -> bool:
    """Return whether Triton, which comes with builds of PyTorch for CUDA, is installed."""
    return importlib.util.find_spec("triton") is not None


def can_fuse(x: Tensor) -> bool:
    """Return whether the kernels can compute with `x`: on a GPU, not inside `torch.compile`."""
    if torch.compiler.is_compiling() or not x.is_cuda:
        return False
    return x.dtype != torch.float64 and has_triton()


def fits(heads: int, hidden: int, edge_attr: Tensor) -> bool:
    """Return whether a layer with edges (E, k) is small enough for the kernels."""
    n_edges, width = edge_attr.shape
    is_narrow = max(hidden, width) <= WIDEST and heads * hidden <= 8 * WIDEST
    return is_narrow and n_edges * max(width, heads * hidden) <= MOST_NUMBERS


def sorted_edges(edge_index: Tensor, n_nodes: int) -> SortedEdges:
    """Return the edges of a batch, (2, E) and sorted by destination, in both orders."""
    source, destination = edge_index
    nodes = torch.arange(n_nodes + 1, device=source.device)
    order = torch.argsort(source, stable=True)
    starts = [
        torch.searchsorted(destination.contiguous(), nodes),
        torch.searchsorted(source[order], nodes),
    ]
    n_edges = torch.full((1,), len(source), device=source.device)
    columns = (source, destination, starts[0], order, starts[1], n_edges)
    return SortedEdges(*[column.int().contiguous() for column in columns])


def attend(
    layer: Any,
    x: Tensor,
    edges: SortedEdges,
    edge_attr: Tensor,
    embedding: nn.Linear | None = None,
) -> Tensor:
    """Return what each node gathers, as `attention.attend` does."""
    weight, bias = layer.lin_edge.weight, layer.lin_r.bias
    if embedding is not None:
        bias = bias + weight @ embedding.bias
        weight = weight @ embedding.weight
    keep = None
    if layer.training and layer.dropout > 0:
        ones = edge_attr.new_ones(len(edge_attr), layer.att.shape[1])
        keep = F.dropout(ones, layer.dropout).float()
    return _Attention.apply(
        F.linear(x, layer.lin_l.weight, layer.lin_l.bias).float(),
        F.linear(x, layer.lin_r.weight, bias).float(),
        edge_attr.float(),
        weight.float(),
        layer.att[0],
        layer.bias,
        keep,
        edges,
        _precision(x),
    )


def update_edges(
    update: nn.Linear,
    x: Tensor,
    edges: SortedEdges,
    edge_attr: Tensor,
    embedding: nn.Linear | None = None,
) -> Tensor:
    """Return the new vector of each edge, as `attention.update_edges` does."""
    of_source, of_destination, of_edge = update.weight.chunk(3, dim=1)
    bias: Tensor = update.bias
    if embedding is not None:
        bias = bias + of_edge @ embedding.bias
        of_edge = of_edge @ embedding.weight
    return _EdgeUpdate.apply(
        F.linear(x, of_source).float(),
        F.linear(x, of_destination, bias).float(),
        edge_attr.float(),
        of_edge.float(),
        edges,
        _precision(x),
    )


def ends(x: Tensor, edges: SortedEdges) -> tuple[Tensor, Tensor]:
    """Return the vectors of the source and of the destination of each edge, (E, k) each."""
    return _Ends.apply(x, edges)


def graph_means(values: Tensor, graph: Tensor, n_graphs: int) -> Tensor:
    """Return the mean of the rows of each graph, zero without rows.

    values : (m, k). graph : (m,), rising; rows of graph `n_graphs` are padding.
    """
    graphs = torch.arange(n_graphs + 1, device=graph.device)
    start = torch.searchsorted(graph, graphs, out_int32=True)
    return _GraphMeans.apply(values, graph, start)


def _precision(x: Tensor) -> str:
    """Return how tiles are multiplied: as single precision is, or in fewer bits where allowed."""
    may_be_short = torch.is_autocast_enabled(x.device.type)
    may_be_short |= torch.get_float32_matmul_precision() != "highest"
    return "tf32" if may_be_short else "tf32x3"


class _Attention(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *operands: Any) -> Tensor:
        source, destination, edge, weight, att, bias, keep, edges, precision = operands
        from toporank.learning.kernels import triton_loops as kernels

        tensors = (source, destination, edge, weight, att, bias)
        source, destination, edge, weight, att, bias = _contiguous(*tensors)
        heads, width = att.shape
        shape, sizes = _shape(edge, width)
        score = edge.new_empty(len(edge), heads)
        sign = torch.empty(
            len(edge), heads, shape["WORDS"], dtype=torch.int32, device=edge.device
        )
        out = edge.new_empty(len(source), width)
        log_total = edge.new_empty(len(source), heads)
        kernels.write_scores[(_n_tiles(edge),)](
            edges.source,
            edges.destination,
            edges.n_edges,
            source,
            destination,
            edge,
            weight,
            att,
            score,
            sign,
            H=heads,
            PRECISION=precision,
            **shape,
            **sizes,
        )
        of_heads = {
            "H": heads,
            "C": width,
            "HP": _power(heads),
            "CP": shape["CP"],
        }
        kernels.gather[(len(source),)](
            edges.start,
            edges.source,
            source,
            score,
            score if keep is None else keep,
            bias,
            out,
            log_total,
            **of_heads,
            HAS_KEEP=keep is not None,
            num_warps=1,
        )
        ctx.save_for_backward(
            source, destination, edge, weight, att, keep, score, sign, log_total
        )
        ctx.edges, ctx.precision = edges, precision
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        source, destination, edge, weight, att, keep, score, sign, log_total = (
            ctx.saved_tensors
        )
        from toporank.learning.kernels import triton_loops as kernels

        edges, gradient = ctx.edges, gradient.contiguous()
        heads, width = att.shape
        n_nodes = len(source)
        shape, _ = _shape(edge, width)
        of_heads = {
            "H": heads,
            "C": width,
            "HP": _power(heads),
            "CP": shape["CP"],
            "WORDS": shape["WORDS"],
            "num_warps": 1,
        }
        d_score, share = torch.empty_like(score), torch.empty_like(score)
        d_source, d_destination = torch.empty_like(source), torch.empty_like(source)
        programs = min(n_nodes, 4 * PROGRAMS)
        parts = att.new_empty(2, programs, heads, width)
        kernels.write_score_gradient[(programs,)](
            edges.start,
            edges.source,
            source,
            destination,
            score,
            log_total,
            sign,
            score if keep is None else keep,
            att,
            gradient,
            d_score,
            share,
            d_destination,
            parts[0],
            n_nodes,
            HAS_KEEP=keep is not None,
            **of_heads,
        )
        kernels.scatter[(programs,)](
            edges.source_start,
            edges.order,
            edges.destination,
            source,
            sign,
            att,
            d_score,
            share,
            gradient,
            d_source,
            parts[1],
            n_nodes,
            **of_heads,
        )
        d_weight, d_edge = _edge_gradients(ctx, d_score)
        d_att = parts.sum((0, 1)) + (d_weight * weight).sum(1).view_as(att)
        return (
            d_source,
            d_destination,
            d_edge,
            d_weight * att.reshape(-1, 1),
            d_att,
            gradient.sum(0),
            None,
            None,
            None,
        )


def _edge_gradients(ctx: Any, d_score: Tensor) -> tuple[Tensor, Tensor | None]:
    """Return the gradient of the map of edges, not yet times `att`, and of the edges."""
    _, _, edge, weight, att, _, _, sign, _ = ctx.saved_tensors
    from toporank.learning.kernels import triton_loops as kernels

    heads, width = att.shape
    shape, sizes = _shape(edge, width)
    group = _heads_at_once(shape, heads)
    programs = min(_n_tiles(edge), PROGRAMS // 4)
    parts = edge.new_empty(programs, *weight.shape)
    how = {"H": heads, "GROUP": group, "PRECISION": ctx.precision, "num_warps": 8}
    kernels.add_to_weight[(programs, -(-heads // group))](
        ctx.edges.n_edges, edge, sign, d_score, parts, **how, **shape, **sizes
    )
    d_edge = None
    if ctx.needs_input_grad[2]:
        d_edge = torch.empty_like(edge)
        kernels.write_edge_gradient[(_n_tiles(edge),)](
            ctx.edges.n_edges,
            weight,
            sign,
            att,
            d_score,
            d_edge,
            **how,
            **shape,
            **sizes,
        )
    return parts.sum(0), d_edge


class _EdgeUpdate(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *operands: Any) -> Tensor:
        *tensors, edges, precision = operands
        from toporank.learning.kernels import triton_loops as kernels

        source, destination, edge, weight = _contiguous(*tensors)
        width = len(weight)
        shape, sizes = _shape(edge, width)
        shape.pop("WORDS")
        out = edge.new_empty(len(edge), width)
        kernels.write_edges[(_n_tiles(edge),)](
            edges.source,
            edges.destination,
            edges.n_edges,
            source,
            destination,
            edge,
            weight,
            out,
            len(edge),
            PRECISION=precision,
            **shape,
            **sizes,
        )
        ctx.save_for_backward(edge, weight, out)
        ctx.edges, ctx.precision, ctx.n_nodes = edges, precision, len(source)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        edge, weight, out = ctx.saved_tensors
        from toporank.learning.kernels import triton_loops as kernels

        edges = ctx.edges
        shape, sizes = _shape(edge, len(weight))
        shape.pop("WORDS")
        needs_edge = ctx.needs_input_grad[2]
        d_edge = torch.empty_like(edge) if needs_edge else None
        d_out = torch.empty_like(out)
        programs = min(_n_tiles(edge), PROGRAMS)
        part = edge.new_empty(programs, *weight.shape)
        kernels.write_edges_gradient[(programs,)](
            edges.n_edges,
            out,
            gradient.contiguous(),
            edge,
            weight,
            d_out,
            d_edge if needs_edge else d_out,
            part,
            NEEDS_EDGE=needs_edge,
            PRECISION=ctx.precision,
            **shape,
            **sizes,
        )
        at_source, at_destination = _sums_of_edges(d_out, edges, ctx.n_nodes)
        return at_source, at_destination, d_edge, part.sum(0), None, None


class _Ends(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, edges: SortedEdges) -> tuple[Tensor, Tensor]:
        ctx.edges, ctx.n_nodes = edges, len(x)
        return x.index_select(0, edges.source), x.index_select(0, edges.destination)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        at_source, at_destination = gradients
        found = _sums_of_edges(at_source.float(), ctx.edges, ctx.n_nodes)[0]
        found += _sums_of_edges(at_destination.float(), ctx.edges, ctx.n_nodes)[1]
        return found.to(at_source.dtype), None


class _GraphMeans(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: Tensor, graph: Tensor, start: Tensor) -> Tensor:
        ctx.save_for_backward(graph, start)
        return _rows_added(values, start, None, mean=True)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        graph, start = ctx.saved_tensors
        shares = gradient / start.diff().clamp_min(1).unsqueeze(1)
        of_padding = gradient.new_zeros(1, gradient.shape[1])
        return torch.cat([shares, of_padding]).index_select(0, graph), None, None


def _sums_of_edges(
    values: Tensor, edges: SortedEdges, n_nodes: int
) -> tuple[Tensor, Tensor]:
    """Return the sums over the edges out of each node and into it, (n, k) each."""
    out_of = _rows_added(values, edges.source_start, edges.order)
    return out_of, _rows_added(values, edges.start, None)


def _rows_added(
    values: Tensor, start: Tensor, order: Tensor | None, mean: bool = False
) -> Tensor:
    from toporank.learning.kernels import triton_loops as kernels

    values = values.contiguous()
    width = values.shape[1]
    out = values.new_empty(len(start) - 1, width)
    kernels.add_edges[(len(out),)](
        start,
        start if order is None else order,
        values,
        out,
        C=width,
        CP=_power(width),
        ROWS=max(1, min(64 if mean else 8, 2048 // _power(width))),
        IN_ORDER=order is None,
        MEAN=mean,
        num_warps=4 if mean else 1,
    )
    return out


def _shape(edge: Tensor, width: int) -> tuple[dict[str, int], dict[str, int]]:
    """Return the widths of a layer and the size of a tile, as the kernels ask for them.

    Products of tiles need 16 rows and columns.
    """
    padded = max(16, _power(width))
    shape = {
        "C": width,
        "K": edge.shape[1],
        "CP": padded,
        "KP": max(16, _power(edge.shape[1])),
        "WORDS": max(1, padded // 32),
    }
    return shape, {"TILE": TILE}


def _heads_at_once(shape: dict[str, int], heads: int) -> int:
    """Return how many heads a program multiplies at once: a power of two."""
    fitting = IN_REGISTERS // (shape["CP"] * shape["KP"])
    return max(1, min(fitting, _power(heads)))


def _n_tiles(edge: Tensor) -> int:
    return -(-len(edge) // TILE)


def _power(number: int) -> int:
    """Return the least power of two that is not smaller."""
    return 1 << max(0, number - 1).bit_length()


def _contiguous(*tensors: Tensor) -> list[Tensor]:
    return [tensor.contiguous() for tensor in tensors]
