"""Parts of a batch that no edge joins, computed side by side by the threads of a run.

How many parts there are depends on the number of threads alone, so that the same number gives the
same bits; one thread computes a batch as a whole. The compiled loops and the products hold no lock
of Python's while they run. Threads of BLAS would only wait beside them for work, and take time from
those that have some.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import NamedTuple, TypeVar

import numpy as np
import torch
from threadpoolctl import ThreadpoolController

from toporank import compilation

LEAST_EDGES = 256
"""Edges of a part at least: handling one takes as long as some dozens of edges."""
PARTS_A_THREAD = 4
"""Parts for each thread, about: they differ in size, and no thread should wait for the last one."""

Work = TypeVar("Work")
Result = TypeVar("Result")


class Graphs(NamedTuple):
    """Nodes and edges of some graphs of a batch."""

    nodes: slice
    edges: slice


def parts_of(ends: np.ndarray, n_nodes: int) -> list[Graphs]:
    """Return a batch in parts that no edge joins, all nodes and edges in their order.

    ends : (2, E), source and destination of each edge, sorted by destination.
    """
    n_edges = ends.shape[1]
    threads = torch.get_num_threads()
    if threads == 1:
        return [Graphs(slice(0, n_nodes), slice(0, n_edges))]
    least = max(LEAST_EDGES, n_edges // (PARTS_A_THREAD * threads))
    cuts = [(0, 0), *cut_between(*ends, least).tolist(), (n_nodes, n_edges)]
    parts = []
    for (node, edge), (next_node, next_edge) in pairwise(cuts):
        parts.append(Graphs(slice(node, next_node), slice(edge, next_edge)))
    return parts


@compilation.compiled
def cut_between(source_of, destination_of, least):
    """Where a batch falls apart, at least some edges apart: (k, 2), the next node and edge."""
    n_edges = len(source_of)
    lowest = np.empty(n_edges, np.int64)
    low = np.iinfo(np.int64).max
    for e in range(n_edges - 1, -1, -1):
        low = min(low, source_of[e], destination_of[e])
        lowest[e] = low
    cuts = np.empty((n_edges // least + 1, 2), np.int64)
    n_cuts, last, high = 0, 0, -1
    for e in range(n_edges):
        if e >= last + least and n_edges - e >= least and lowest[e] > high:
            cuts[n_cuts, 0], cuts[n_cuts, 1] = lowest[e], e
            n_cuts += 1
            last = e
        high = max(high, source_of[e], destination_of[e])
    return cuts[:n_cuts]


def in_parallel(
    function: Callable[[Work], Result], work: Iterable[Work]
) -> list[Result]:
    """Return the results for all work, in its order, by as many threads as torch has."""
    work = list(work)
    threads = min(torch.get_num_threads(), len(work))
    with _controller().limit(limits=1, user_api="blas"):
        if threads <= 1:
            return [function(one) for one in work]
        return list(_pool(torch.get_num_threads()).map(function, work))


@functools.cache
def _controller() -> ThreadpoolController:
    """The libraries of this process, which takes milliseconds to find out."""
    return ThreadpoolController()


@functools.cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="toporank")
