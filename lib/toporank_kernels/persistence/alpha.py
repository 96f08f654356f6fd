"""Alpha filtration of a triangulated cloud, from the top down.

Source: Edelsbrunner & Mücke 1994, doi:10.1145/174462.156635.

A simplex has its own squared circumradius if no vertex of a coface lies inside its smallest sphere
(it is *Gabriel*), else the least value of the cofaces that break it. Tetrahedra that are almost
flat and angles that are almost right are worked out again with twice the digits. Where a triangle
is within rounding of being Gabriel, it counts as such: its value then changes by the square of the
rounding error only, and it takes no short cut. (An edge has no such margin: the triangle that
breaks it may have a much larger value.)

Two kinds of simplices never make a bar: triangles that come with a tetrahedron, which are not even
sorted, and edges that come with a triangle. Both have the value of what they come with: pairs of
no persistence, as the apparent pairs of Bauer 2021, doi:10.1007/s41468-021-00071-5.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from toporank_kernels.compilation import compiled, inlined
from toporank_kernels.persistence.delaunay import UNIT, cross
from toporank_kernels.persistence.double import cross2, dot2, from2

RADIUS_ERROR = 1e-9
"""Largest relative rounding error tolerated in a squared circumradius."""

BEYOND = 1e-8
"""A circumcentre counts as beyond a face only if it is by more than this share of the circumradius.
"""

BUCKETS = 2048
"""Buckets of the sort; a cloud has a few hundred simplices that can make a bar."""

Filtration = namedtuple(
    "Filtration",
    "radius beyond ends own_value edge_value part edge_of triangle_value key item tally",
)
"""The alpha filtration of one mesh. E edges, F triangles that may make a bar.

radius : float64 (T,), squared circumradii; negative where there is no finite tetrahedron beyond :
uint8 (T,), bit i: the circumcentre lies beyond the face opposite slot i ends : int32 (E, 2), points
of each edge own_value : float64 (E,), squared radii of their smallest spheres edge_value : float64
(E,), their values in the filtration part : int32 (E, 2), for an edge that comes with a triangle:
the triangle's other two edges, else -1 edge_of : int32 (F, 3), edges of each triangle
triangle_value : float64 (F,), squared radii key, item : float64 and int32 (2, E + F), work space
and result of sorting; item e is edge e, E + f triangle f tally : int64 (2,), E and F
"""


@inlined
def _normals(b, c, d):
    """Normals of the faces opposite b, c and d of the tetrahedron 0bcd, and six volumes."""
    p, q, r = cross(*c, *d), cross(*d, *b), cross(*b, *c)
    return p, q, r, b[0] * p[0] + b[1] * p[1] + b[2] * p[2]


@inlined
def _beyond(n, x, y, z, square):
    """Whether a point lies provably behind a plane with inward normal n through 0.

    square : see `_solid_of`.
    """
    height = n[0] * x + n[1] * y + n[2] * z
    return (height < 0) & (
        height * height
        > BEYOND * BEYOND * square * (n[0] * n[0] + n[1] * n[1] + n[2] * n[2])
    )


@inlined
def _solid_of(b, p, q, r, x, y, z):
    """Squared circumradius and faces beyond which the circumcentre lies, of a tetrahedron 0bcd.

    p, q, r: inward normals of the faces opposite b, c, d; (x, y, z): the circumcentre.
    """
    square = x * x + y * y + z * z
    s = (-p[0] - q[0] - r[0], -p[1] - q[1] - r[1], -p[2] - q[2] - r[2])
    faces = np.uint8(_beyond(s, x - b[0], y - b[1], z - b[2], square))
    faces |= np.uint8(_beyond(p, x, y, z, square)) << 1
    faces |= np.uint8(_beyond(q, x, y, z, square)) << 2
    faces |= np.uint8(_beyond(r, x, y, z, square)) << 3
    return square, faces


@inlined
def _solid(raw, i, j, k, m):
    """Squared circumradius of a tetrahedron, and a bit for each face beyond which its centre lies.

    With b, c, d the sides from corner i: centre = (|b|² c × d + |c|² d × b + |d|² b × c) / 2 b · (c
    × d).

    The radius is -1 if rounding could matter. Error bound: with K = |b||c||d| / volume (here six
    volumes), the volume is known to 10 u K, the circumcentre's numerator (whose length is at least
    the volume times the longest edge) to 72 u K; twice their sum is below 170 u K.
    """
    ax, ay, az = raw[i, 0], raw[i, 1], raw[i, 2]
    b = (raw[j, 0] - ax, raw[j, 1] - ay, raw[j, 2] - az)
    c = (raw[k, 0] - ax, raw[k, 1] - ay, raw[k, 2] - az)
    d = (raw[m, 0] - ax, raw[m, 1] - ay, raw[m, 2] - az)
    p, q, r, volume = _normals(b, c, d)
    b2 = b[0] * b[0] + b[1] * b[1] + b[2] * b[2]
    c2 = c[0] * c[0] + c[1] * c[1] + c[2] * c[2]
    d2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2]
    if not volume * (RADIUS_ERROR / (170 * UNIT)) > np.sqrt(b2 * c2 * d2):
        return -1.0, np.uint8(0)
    half = 0.5 / volume
    x = half * (b2 * p[0] + c2 * q[0] + d2 * r[0])
    y = half * (b2 * p[1] + c2 * q[1] + d2 * r[1])
    z = half * (b2 * p[2] + c2 * q[2] + d2 * r[2])
    return _solid_of(b, p, q, r, x, y, z)


@compiled
def _flat_solid(raw, i, j, k, m):
    """As `_solid`, with twice the digits: for the rare tetrahedra that are almost flat."""
    b, c, d = from2(raw, i, j), from2(raw, i, k), from2(raw, i, m)
    p, q, r = cross2(c, d), cross2(d, b), cross2(b, c)
    b2, c2, d2 = dot2(b, b), dot2(c, c), dot2(d, d)
    volume, squares = dot2(b, p)[0], (b2, c2, d2)
    if not volume > 1e-18 * np.sqrt(b2[0] * c2[0] * d2[0]):
        return -1.0, np.uint8(0)
    half = 0.5 / volume
    x = half * dot2(squares, (p[0], q[0], r[0]))[0]
    y = half * dot2(squares, (p[1], q[1], r[1]))[0]
    z = half * dot2(squares, (p[2], q[2], r[2]))[0]
    return _solid_of(
        (b[0][0], b[1][0], b[2][0]),
        (p[0][0], p[1][0], p[2][0]),
        (q[0][0], q[1][0], q[2][0]),
        (r[0][0], r[1][0], r[2][0]),
        x,
        y,
        z,
    )


@compiled
def solid_radii(mesh, raw, infinity, filtration):
    """Radii of all finite tetrahedra. False if one is in doubt."""
    vertex, radii, faces = mesh.vertex, filtration.radius, filtration.beyond
    for t in range(mesh.size[0]):
        a, b, c, d = (
            vertex[4 * t],
            vertex[4 * t + 1],
            vertex[4 * t + 2],
            vertex[4 * t + 3],
        )
        radii[t], faces[t] = -1.0, 0
        if a < 0 or a == infinity or b == infinity or c == infinity or d == infinity:
            continue
        radius, beyond = _solid(raw, a, b, c, d)
        if radius < 0:
            radius, beyond = _flat_solid(raw, a, b, c, d)
        if not radius >= 0:
            return False
        radii[t], faces[t] = radius, beyond
    return True


@inlined
def _square_area(raw, i, j, k):
    """Four times the squared area of a triangle."""
    ax, ay, az = raw[i, 0], raw[i, 1], raw[i, 2]
    bx, by, bz = raw[j, 0] - ax, raw[j, 1] - ay, raw[j, 2] - az
    x, y, z = cross(bx, by, bz, raw[k, 0] - ax, raw[k, 1] - ay, raw[k, 2] - az)
    return x * x + y * y + z * z


@compiled
def face_values(mesh, scratch, raw, infinity, filtration):
    """Values of all triangles and edges; `filtration` lists the triangles that may make a bar.

    False if rounding could matter: a triangle's value is known to 40 u K, where K is the square of
    its longest side over twice its area.
    """
    vertex, across, radius, beyond, pair = (
        mesh.vertex,
        mesh.across,
        filtration.radius,
        filtration.beyond,
        scratch.pair,
    )
    ends, own_value, edge_value, part = (
        filtration.ends,
        filtration.own_value,
        filtration.edge_value,
        filtration.part,
    )
    edge_of, triangle_value = filtration.edge_of, filtration.triangle_value
    stride = infinity + 1
    pair[: stride * stride] = -1
    edges = triangles = 0
    for face in range(
        4 * mesh.size[0]
    ):  # one body, no helper with array arguments: numba would count references
        t, i, other = face >> 2, face & 3, across[face]
        o = other >> 2
        if radius[t] < 0 or (radius[o] >= 0 and other < face):
            continue  # not finite, or met from the other side
        corner = (
            vertex[4 * t + ((i + 1) & 3)],
            vertex[4 * t + ((i + 2) & 3)],
            vertex[4 * t + ((i + 3) & 3)],
        )
        for side in range(3):  # between corners side and side + 1
            u, v = corner[side], corner[side - 2]
            e = int(pair[u * stride + v])
            if e < 0:
                e = edges
                edges += 1
                pair[u * stride + v] = pair[v * stride + u] = e
                ends[e, 0], ends[e, 1], part[e, 0] = u, v, -1
                x, y, z = (
                    raw[u, 0] - raw[v, 0],
                    raw[u, 1] - raw[v, 1],
                    raw[u, 2] - raw[v, 2],
                )
                own_value[e] = edge_value[e] = 0.25 * (x * x + y * y + z * z)
            edge_of[triangles, side] = e
        a, b, c = edge_of[triangles, 0], edge_of[triangles, 1], edge_of[triangles, 2]
        a2, b2, c2 = own_value[a], own_value[b], own_value[c]
        with_t, with_o = beyond[t] >> i & 1, beyond[o] >> (other & 3) & 1
        if (
            with_t | with_o
        ):  # comes with a tetrahedron: it makes no bar, and the list does not keep it
            value = min(
                radius[t] if with_t else np.inf, radius[o] if with_o else np.inf
            )
        else:
            area = _square_area(raw, corner[0], corner[1], corner[2])
            if not area * (RADIUS_ERROR / (160 * UNIT)) ** 2 > max(a2, b2, c2) ** 2:
                return False
            value = (
                16.0 * a2 * b2 * c2 / area
            )  # R² = (abc)² / 16 A², where a2 is a²/4 and area is 4 A²
            triangle_value[triangles] = value
            triangles += 1
        if a2 >= b2 and a2 >= c2:
            longest, left, right, u, v, w = a, b, c, corner[0], corner[1], corner[2]
        elif b2 >= c2:
            longest, left, right, u, v, w = b, c, a, corner[1], corner[2], corner[0]
        else:
            longest, left, right, u, v, w = c, a, b, corner[2], corner[0], corner[1]
        # negative if the angle at w is obtuse
        slack = a2 + b2 + c2 - 2.0 * own_value[longest]
        if abs(slack) < 1e-12 * own_value[longest]:
            slack = dot2(from2(raw, w, u), from2(raw, w, v))[0]
            if not abs(slack) > 1e-27 * own_value[longest]:
                return False
        if slack < 0 and (
            part[longest, 0] < 0 or value < edge_value[longest]
        ):  # the longest edge comes with it
            edge_value[longest], part[longest, 0], part[longest, 1] = value, left, right
    filtration.tally[0], filtration.tally[1] = edges, triangles
    return True


@compiled
def sort_by_value(filtration):
    """Sort edges and listed triangles by value, edges first where equal, into `filtration.item[0]`.

    A triangle is never sorted before its edges: rounding apart it cannot be, and its value is
    raised to theirs. Values are dropped into buckets by their leading bits, which gives a
    logarithmic scale, and an insertion pass ends the work.
    """
    edges, triangles = filtration.tally
    count = edges + triangles
    value, key, item = filtration.edge_value, filtration.key, filtration.item
    key[0, :edges] = value[:edges]
    for f in range(triangles):
        a, b, c = (
            filtration.edge_of[f, 0],
            filtration.edge_of[f, 1],
            filtration.edge_of[f, 2],
        )
        key[0, edges + f] = max(
            filtration.triangle_value[f], value[a], value[b], value[c]
        )
    bits = key[0].view(np.int64)  # the bits of positive floats sort as the floats do
    least, most = bits[0], bits[0]
    for m in range(count):
        least, most = min(least, bits[m]), max(most, bits[m])
    shift = 0
    while (most - least) >> shift >= BUCKETS:
        shift += 1
    start = np.zeros(BUCKETS + 1, np.int32)
    for m in range(count):
        start[((bits[m] - least) >> shift) + 1] += 1
    for b in range(BUCKETS):
        start[b + 1] += start[b]
    for m in range(count):
        b = (bits[m] - least) >> shift
        item[1, start[b]] = m
        start[b] += 1
    for m in range(count):
        this = item[1, m]
        v = key[0, this]
        n = m
        while n > 0 and key[1, n - 1] > v:
            key[1, n], item[0, n] = key[1, n - 1], item[0, n - 1]
            n -= 1
        key[1, n], item[0, n] = v, this
