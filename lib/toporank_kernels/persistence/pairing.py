"""H0 and H1 of an alpha filtration by annotations.

It is persistent cohomology over Z2 (Boissonnat, Dey & Maria 2013,
doi:10.1007/978-3-642-40450-4_59).

Each edge carries one bit for each living loop. A triangle whose edges' bits do not cancel ends the
youngest loop among them. An edge that comes with a triangle has the bits of the triangle's other
two edges. Edges that join two components are the minimum spanning tree, so H0 comes at no cost.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from toporank_kernels.compilation import compiled, inlined

Loops = namedtuple("Loops", "bits slot root living birth bars deaths tally")
"""Work space and result of the pairing.

bits : uint64 (W, E + 1), living loops through each edge, by slot; slot 0 is that of all tree edges
slot : int32 (E,), slot of each edge, -1 until it enters
root : int32 (P,), union-find parents of the points
living : int64 (64 W,), bits of the living loops, oldest first, then the free bits
birth : float64 (64 W,), birth value of the loop that owns each bit
bars : float64 (B, 2), birth and death of H1
deaths : float64 (P,), lengths of the tree edges, rising
tally : int64 (2,), number of bars and of deaths
"""


@inlined
def _root(root, p):
    """Root of p's component, halving the path to it."""
    while root[p] != p:
        root[p] = root[root[p]]
        p = root[p]
    return p


@compiled
def _add_to_holders(bits, slots, bit, sum_):
    """Clear `bit` in all slots that hold it, by adding the word row `sum_`, which holds it too."""
    its_word, shift, one = bit >> 6, np.uint64(bit & 63), np.uint64(1)
    for w in range(bits.shape[0]):
        if w != its_word and sum_[w]:
            for s in range(slots):
                bits[w, s] ^= sum_[w] & -(bits[its_word, s] >> shift & one)
    row, word = bits[its_word], sum_[its_word]
    for s in range(slots):
        row[s] ^= word & -(row[s] >> shift & one)


@compiled
def _begin(filtration, loops):
    """No loops, no bits, every point alone."""
    loops.bits[:, 0] = 0
    loops.slot[: filtration.tally[0]] = -1
    for bit in range(len(loops.living)):
        loops.living[bit] = bit
    for e in range(filtration.tally[0]):
        for end in range(2):
            loops.root[filtration.ends[e, end]] = filtration.ends[e, end]


@compiled
def pair_up(filtration, loops):
    """Sweep the filtration; bars and deaths are left in `loops`.

    False if it is out of order or too rich.
    """
    edges, triangles = filtration.tally
    part, edge_of, value, order = (
        filtration.part,
        filtration.edge_of,
        filtration.key[1],
        filtration.item[0],
    )
    bits, slot, root, living, birth = (
        loops.bits,
        loops.slot,
        loops.root,
        loops.living,
        loops.birth,
    )
    words = bits.shape[0]
    sum_ = np.empty(words, np.uint64)
    _begin(filtration, loops)
    slots, bars, deaths, alive = 1, 0, 0, 0
    for m in range(edges + triangles):
        now = order[m]
        if now >= edges:
            f = now - edges
            a, b, c = slot[edge_of[f, 0]], slot[edge_of[f, 1]], slot[edge_of[f, 2]]
            if a < 0 or b < 0 or c < 0:
                return False
            any_ = np.uint64(0)
            for w in range(words):
                sum_[w] = bits[w, a] ^ bits[w, b] ^ bits[w, c]
                any_ |= sum_[w]
            if any_:  # ends the youngest loop with a bit in the sum
                n = alive - 1
                while not sum_[living[n] >> 6] >> np.uint64(living[n] & 63) & np.uint64(
                    1
                ):
                    n -= 1
                bit = living[n]
                alive -= 1
                for later in range(n, alive):
                    living[later] = living[later + 1]
                loops.bars[bars, 0], loops.bars[bars, 1] = birth[bit], value[m]
                bars += 1
                _add_to_holders(bits, slots, bit, sum_)
                living[alive] = bit  # the free bits follow the living ones
        elif (
            part[now, 0] >= 0
        ):  # comes with a triangle: the sum of that triangle's other edges
            a, b = slot[part[now, 0]], slot[part[now, 1]]
            if a < 0 or b < 0:
                return False
            for w in range(words):
                bits[w, slots] = bits[w, a] ^ bits[w, b]
            slot[now] = slots
            slots += 1
        else:
            u, v = (
                _root(root, filtration.ends[now, 0]),
                _root(root, filtration.ends[now, 1]),
            )
            if u != v:
                root[u] = v
                loops.deaths[deaths] = 2.0 * np.sqrt(value[m])
                deaths += 1
                slot[now] = 0
            else:
                if alive == 64 * words:
                    return False
                bit = living[alive]
                alive += 1
                for w in range(words):
                    bits[w, slots] = 0
                bits[bit >> 6, slots] = np.uint64(1) << np.uint64(bit & 63)
                birth[bit] = value[m]
                slot[now] = slots
                slots += 1
    loops.tally[0], loops.tally[1] = bars, deaths
    return True


@compiled
def spanning_tree(points, chosen, count, deaths):
    """Edge lengths of the minimum spanning tree of the chosen points (Prim 1957), into `deaths`."""
    gap = np.full(count, np.inf)
    at = 0
    for m in range(count - 1):
        gap[at] = -1.0
        x, y, z = points[chosen[at], 0], points[chosen[at], 1], points[chosen[at], 2]
        nearest = np.inf
        for n in range(count):
            if gap[n] < 0:
                continue
            dx, dy, dz = (
                points[chosen[n], 0] - x,
                points[chosen[n], 1] - y,
                points[chosen[n], 2] - z,
            )
            gap[n] = min(gap[n], dx * dx + dy * dy + dz * dz)
            if gap[n] < nearest:
                at, nearest = n, gap[n]
        deaths[m] = np.sqrt(nearest)
