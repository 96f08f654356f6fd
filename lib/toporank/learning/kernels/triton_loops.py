"""The GATv2 layer and the edge update as kernels of a GPU, in Triton.

Importing this file imports Triton, which comes with builds of PyTorch for CUDA. `fused` launches
the kernels. Their arrays are those of `loops`, except

    sign : (E, heads, words) int32, one bit for each number of z, whether it is above 0
    log_total : (n, heads), the logarithm of the sum of exp(score) over the edges into a node
    part : what each program adds up, one row a program; their sum is the gradient

Widths are rounded up to powers of two: `CP`, `HP` and `KP` for C channels, H heads and K columns of
edges. Rows of edges beyond `n_edges`, which is read on the GPU, are padding: nothing reads them.
"""

from __future__ import annotations

import triton
import triton.language as tl

from toporank.learning.kernels.loops import NEGATIVE_SLOPE

SLOPE = tl.constexpr(NEGATIVE_SLOPE)


@triton.jit
def _tile(values, rows, columns, here, WIDTH: tl.constexpr):
    """Rows of an array, 0 where there are none."""
    mask = here[:, None] & (columns < WIDTH)[None, :]
    return tl.load(values + rows[:, None] * WIDTH + columns[None, :], mask, other=0.0)


@triton.jit
def _leak(sign, edge_and_head, c, WORDS: tl.constexpr):
    """The slope of the leaky ReLU at each z, from its bits."""
    if WORDS == 1:
        word = tl.load(sign + edge_and_head)[:, None]
    else:
        word = tl.load(sign + edge_and_head[:, None] * WORDS + (c // 32)[None, :])
    return tl.where(((word >> (c % 32)[None, :]) & 1) != 0, 1.0, SLOPE)


@triton.jit
def _gradient_of_z(
    d_score,
    sign,
    e,
    here,
    first,
    H: tl.constexpr,
    CP: tl.constexpr,
    WORDS: tl.constexpr,
    TILE: tl.constexpr,
    GROUP: tl.constexpr,
):
    """The gradient of z before `att`, of a tile of edges and some heads: (TILE, GROUP · CP)."""
    h, c = first + tl.arange(0, GROUP), tl.arange(0, CP)
    at = e[:, None] * H + h[None, :]
    mask = here[:, None] & (h < H)[None, :]
    d = tl.load(d_score + at, mask, other=0.0)
    if WORDS == 1:
        word = tl.load(sign + at, mask, other=0)[:, :, None]
    else:
        places = at[:, :, None] * WORDS + (c // 32)[None, None, :]
        word = tl.load(sign + places, mask[:, :, None], other=0)
    is_above = ((word >> (c % 32)[None, None, :]) & 1) != 0
    u = d[:, :, None] * tl.where(is_above, 1.0, SLOPE)
    return tl.reshape(u, (TILE, GROUP * CP))


@triton.jit
def write_scores(
    source_of,
    destination_of,
    n_edges,
    source,
    destination,
    edge,
    weight,
    att,
    score,
    sign,
    H: tl.constexpr,
    C: tl.constexpr,
    K: tl.constexpr,
    CP: tl.constexpr,
    KP: tl.constexpr,
    WORDS: tl.constexpr,
    TILE: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """Write `score` and `sign` of a tile of edges."""
    last = tl.load(n_edges)
    first = tl.program_id(0) * TILE
    if first < last:
        e = first + tl.arange(0, TILE)
        c, k = tl.arange(0, CP), tl.arange(0, KP)
        here = e < last
        j = tl.load(source_of + e, here, other=0)
        i = tl.load(destination_of + e, here, other=0)
        rows = _tile(edge, e, k, here, K)
        of_channel = here[:, None] & (c < C)[None, :]
        for h in range(H):
            channel = h * C + c
            w = tl.load(
                weight + channel[None, :] * K + k[:, None],
                (c < C)[None, :] & (k < K)[:, None],
                other=0.0,
            )
            z = tl.dot(rows, w, input_precision=PRECISION)
            z += tl.load(
                source + j[:, None] * (H * C) + channel[None, :], of_channel, other=0.0
            )
            z += tl.load(
                destination + i[:, None] * (H * C) + channel[None, :],
                of_channel,
                other=0.0,
            )
            a = tl.load(att + channel, c < C, other=0.0)
            leaky = tl.where(z > 0, z, SLOPE * z)
            tl.store(score + e * H + h, tl.sum(leaky * a[None, :], 1), here)
            bits = (z > 0).to(tl.int32) << (c % 32)[None, :]
            words = tl.sum(tl.reshape(bits, (TILE, WORDS, CP // WORDS)), 2)
            at = (e * H + h)[:, None] * WORDS + tl.arange(0, WORDS)[None, :]
            tl.store(sign + at, words.to(tl.int32), here[:, None])


@triton.jit
def gather(
    start,
    source_of,
    source,
    score,
    keep,
    bias,
    out,
    log_total,
    H: tl.constexpr,
    C: tl.constexpr,
    HP: tl.constexpr,
    CP: tl.constexpr,
    HAS_KEEP: tl.constexpr,
):
    """Write what a node gathers, and `log_total`, in one pass over its edges."""
    i = tl.program_id(0)
    h, c = tl.arange(0, HP), tl.arange(0, CP)
    of_channel = (h < H)[:, None] & (c < C)[None, :]
    channel = h[:, None] * C + c[None, :]
    largest = tl.full((HP,), -float("inf"), tl.float32)
    total = tl.zeros((HP,), tl.float32)
    gathered = tl.zeros((HP, CP), tl.float32)
    for e in range(tl.load(start + i), tl.load(start + i + 1)):
        j = tl.load(source_of + e)
        s = tl.load(score + e * H + h, h < H, other=0.0)
        larger = tl.maximum(largest, s)
        before = tl.exp(largest - larger)
        share = tl.exp(s - larger)
        total = total * before + share
        if HAS_KEEP:
            share *= tl.load(keep + e * H + h, h < H, other=0.0)
        of_source = tl.load(source + j * (H * C) + channel, of_channel, other=0.0)
        gathered = gathered * before[:, None] + share[:, None] * of_source
        largest = larger
    total = tl.where(total == 0, 1.0, total)
    mean = tl.sum(gathered / total[:, None], 0) / H
    b = tl.load(bias + c, c < C, other=0.0)
    tl.store(out + i * C + c, mean + b, c < C)
    tl.store(log_total + i * H + h, largest + tl.log(total), h < H)


@triton.jit
def write_score_gradient(
    start,
    source_of,
    source,
    destination,
    score,
    log_total,
    sign,
    keep,
    att,
    gradient,
    d_score,
    share,
    d_destination,
    part,
    n_nodes,
    H: tl.constexpr,
    C: tl.constexpr,
    HP: tl.constexpr,
    CP: tl.constexpr,
    WORDS: tl.constexpr,
    HAS_KEEP: tl.constexpr,
):
    """Write `d_score`, `share` of the edges into nodes, and `d_destination`.

    share : what an edge adds to the mean over heads. part : of the gradient of `att`.
    """
    h, c = tl.arange(0, HP), tl.arange(0, CP)
    of_head = h < H
    of_channel = of_head[:, None] & (c < C)[None, :]
    channel = h[:, None] * C + c[None, :]
    a = tl.load(att + channel, of_channel, other=0.0)
    d_att = tl.zeros((HP, CP), tl.float32)
    for i in range(tl.program_id(0), n_nodes, tl.num_programs(0)):
        begin, end = tl.load(start + i), tl.load(start + i + 1)
        g = tl.load(gradient + i * C + c, c < C, other=0.0) / H
        total = tl.load(log_total + i * H + h, of_head, other=0.0)
        mean = tl.zeros((HP,), tl.float32)
        for e in range(begin, end):
            j = tl.load(source_of + e)
            of_source = tl.load(source + j * (H * C) + channel, of_channel, other=0.0)
            d = tl.sum(of_source * g[None, :], 1)
            if HAS_KEEP:
                d *= tl.load(keep + e * H + h, of_head, other=0.0)
            s = tl.load(score + e * H + h, of_head, other=0.0)
            mean += tl.exp(s - total) * d
        u = tl.zeros((HP, CP), tl.float32)
        for e in range(begin, end):
            j = tl.load(source_of + e)
            of_source = tl.load(source + j * (H * C) + channel, of_channel, other=0.0)
            d = tl.sum(of_source * g[None, :], 1)
            s = tl.load(score + e * H + h, of_head, other=0.0)
            alpha = tl.exp(s - total)
            left = alpha
            if HAS_KEEP:
                k = tl.load(keep + e * H + h, of_head, other=0.0)
                d *= k
                left *= k
            d = alpha * (d - mean)
            tl.store(d_score + e * H + h, d, of_head)
            tl.store(share + e * H + h, left / H, of_head)
            head = e * H + tl.minimum(h, H - 1)
            u += d[:, None] * _leak(sign, head, c, WORDS)
        tl.store(d_destination + i * (H * C) + channel, u * a, of_channel)
        row = tl.load(destination + i * (H * C) + channel, of_channel, other=0.0)
        d_att += u * row
    tl.store(part + tl.program_id(0) * (H * C) + channel, d_att, of_channel)


@triton.jit
def scatter(
    source_start,
    order,
    destination_of,
    source,
    sign,
    att,
    d_score,
    share,
    gradient,
    d_source,
    part,
    n_nodes,
    H: tl.constexpr,
    C: tl.constexpr,
    HP: tl.constexpr,
    CP: tl.constexpr,
    WORDS: tl.constexpr,
):
    """Write `d_source`, over the edges out of each node. part : of the gradient of `att`."""
    h, c = tl.arange(0, HP), tl.arange(0, CP)
    of_head = h < H
    of_channel = of_head[:, None] & (c < C)[None, :]
    channel = h[:, None] * C + c[None, :]
    a = tl.load(att + channel, of_channel, other=0.0)
    d_att = tl.zeros((HP, CP), tl.float32)
    for j in range(tl.program_id(0), n_nodes, tl.num_programs(0)):
        u = tl.zeros((HP, CP), tl.float32)
        gathered = tl.zeros((HP, CP), tl.float32)
        for k in range(tl.load(source_start + j), tl.load(source_start + j + 1)):
            e = tl.load(order + k)
            i = tl.load(destination_of + e)
            g = tl.load(gradient + i * C + c, c < C, other=0.0)
            d = tl.load(d_score + e * H + h, of_head, other=0.0)
            left = tl.load(share + e * H + h, of_head, other=0.0)
            head = e * H + tl.minimum(h, H - 1)
            u += d[:, None] * _leak(sign, head, c, WORDS)
            gathered += left[:, None] * g[None, :]
        tl.store(d_source + j * (H * C) + channel, u * a + gathered, of_channel)
        row = tl.load(source + j * (H * C) + channel, of_channel, other=0.0)
        d_att += u * row
    tl.store(part + tl.program_id(0) * (H * C) + channel, d_att, of_channel)


@triton.jit
def add_to_weight(
    n_edges,
    edge,
    sign,
    d_score,
    part,
    H: tl.constexpr,
    C: tl.constexpr,
    K: tl.constexpr,
    CP: tl.constexpr,
    KP: tl.constexpr,
    WORDS: tl.constexpr,
    TILE: tl.constexpr,
    GROUP: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """Write `part` of the gradient of some heads' maps of edges, not yet times `att`."""
    last = tl.load(n_edges)
    head = tl.program_id(1) * GROUP
    k = tl.arange(0, KP)
    d_weight = tl.zeros((GROUP * CP, KP), tl.float32)
    for first in range(tl.program_id(0) * TILE, last, tl.num_programs(0) * TILE):
        e = first + tl.arange(0, TILE)
        here = e < last
        u = _gradient_of_z(d_score, sign, e, here, head, H, CP, WORDS, TILE, GROUP)
        rows = _tile(edge, e, k, here, K)
        d_weight += tl.dot(tl.trans(u), rows, input_precision=PRECISION)
    row = tl.arange(0, GROUP * CP)
    h, c = head + row // CP, row % CP
    channel = (tl.program_id(0) * H + h) * C + c
    mask = ((c < C) & (h < H))[:, None] & (k < K)[None, :]
    tl.store(part + channel[:, None] * K + k[None, :], d_weight, mask)


@triton.jit
def write_edge_gradient(
    n_edges,
    weight,
    sign,
    att,
    d_score,
    d_edge,
    H: tl.constexpr,
    C: tl.constexpr,
    K: tl.constexpr,
    CP: tl.constexpr,
    KP: tl.constexpr,
    WORDS: tl.constexpr,
    TILE: tl.constexpr,
    GROUP: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """Write `d_edge`, what the attention adds to the gradient of the edges."""
    last = tl.load(n_edges)
    first = tl.program_id(0) * TILE
    if first < last:
        e = first + tl.arange(0, TILE)
        row, k = tl.arange(0, GROUP * CP), tl.arange(0, KP)
        here = e < last
        found = tl.zeros((TILE, KP), tl.float32)
        for head in range(0, H, GROUP):
            h, c = head + row // CP, row % CP
            is_channel = (c < C) & (h < H)
            channel = h * C + c
            a = tl.load(att + channel, is_channel, other=0.0)
            u = _gradient_of_z(d_score, sign, e, here, head, H, CP, WORDS, TILE, GROUP)
            w = _tile(weight, channel, k, is_channel, K)
            # `att` goes to the smaller of both
            found += tl.dot(u, w * a[:, None], input_precision=PRECISION)
        mask = here[:, None] & (k < K)[None, :]
        tl.store(d_edge + e[:, None] * K + k[None, :], found, mask)


@triton.jit
def write_edges(
    source_of,
    destination_of,
    n_edges,
    source,
    destination,
    edge,
    weight,
    out,
    n_rows,
    C: tl.constexpr,
    K: tl.constexpr,
    CP: tl.constexpr,
    KP: tl.constexpr,
    TILE: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """Write the new vectors of a tile of edges, after the ELU; 0 for padding."""
    e = tl.program_id(0) * TILE + tl.arange(0, TILE)
    c, k = tl.arange(0, CP), tl.arange(0, KP)
    here = e < tl.load(n_edges)
    j = tl.load(source_of + e, here, other=0)
    i = tl.load(destination_of + e, here, other=0)
    w = tl.load(
        weight + c[None, :] * K + k[:, None],
        (c < C)[None, :] & (k < K)[:, None],
        other=0.0,
    )
    z = tl.dot(_tile(edge, e, k, here, K), w, input_precision=PRECISION)
    z += _tile(source, j, c, here, C) + _tile(destination, i, c, here, C)
    # exp(z) − 1 loses the digits of a small z, that of a series does not
    small = z * (1.0 + z * (0.5 + z * (0.16666667 + z * 0.041666668)))
    below = tl.where(z > -0.04, small, tl.exp(tl.minimum(z, 0.0)) - 1.0)
    found = tl.where(z > 0, z, below)
    mask = (e < n_rows)[:, None] & (c < C)[None, :]
    tl.store(out + e[:, None] * C + c[None, :], found, mask)


@triton.jit
def write_edges_gradient(
    n_edges,
    out,
    gradient,
    edge,
    weight,
    d_out,
    d_edge,
    part,
    C: tl.constexpr,
    K: tl.constexpr,
    CP: tl.constexpr,
    KP: tl.constexpr,
    TILE: tl.constexpr,
    NEEDS_EDGE: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """Write `d_out`, before the ELU, and `d_edge`. part : of the gradient of `weight`."""
    last = tl.load(n_edges)
    c, k = tl.arange(0, CP), tl.arange(0, KP)
    d_weight = tl.zeros((CP, KP), tl.float32)
    for first in range(tl.program_id(0) * TILE, last, tl.num_programs(0) * TILE):
        e = first + tl.arange(0, TILE)
        here = e < last
        after = _tile(out, e, c, here, C)
        d = _tile(gradient, e, c, here, C) * tl.where(after > 0, 1.0, after + 1.0)
        mask = here[:, None] & (c < C)[None, :]
        tl.store(d_out + e[:, None] * C + c[None, :], d, mask)
        rows = _tile(edge, e, k, here, K)
        d_weight += tl.dot(tl.trans(d), rows, input_precision=PRECISION)
        if NEEDS_EDGE:
            w = _tile(weight, c, k, c < C, K)
            found = tl.dot(d, w, input_precision=PRECISION)
            mask = here[:, None] & (k < K)[None, :]
            tl.store(d_edge + e[:, None] * K + k[None, :], found, mask)
    at = (tl.program_id(0) * C + c)[:, None] * K + k[None, :]
    tl.store(part + at, d_weight, (c < C)[:, None] & (k < K)[None, :])


@triton.jit
def add_edges(
    start,
    order,
    values,
    out,
    C: tl.constexpr,
    CP: tl.constexpr,
    ROWS: tl.constexpr,
    IN_ORDER: tl.constexpr,
    MEAN: tl.constexpr,
):
    """Write the sum or mean of some rows: start[i]:start[i + 1], or those places of `order`."""
    i = tl.program_id(0)
    begin, end = tl.load(start + i), tl.load(start + i + 1)
    c = tl.arange(0, CP)
    total = tl.zeros((CP,), tl.float32)
    for first in range(begin, end, ROWS):
        row = first + tl.arange(0, ROWS)
        here = row < end
        if not IN_ORDER:
            row = tl.load(order + row, here, other=0)
        total += tl.sum(_tile(values, row, c, here, C), 0)
    if MEAN:
        total /= tl.maximum(end - begin, 1).to(tl.float32)
    tl.store(out + i * C + c, total, c < C)
