"""Delaunay triangulation by insertion.

Bowyer 1981, doi:10.1093/comjnl/24.2.162; Watson 1981, doi:10.1093/comjnl/24.2.167.

Tetrahedra live on the sphere: hull faces are joined to a point at infinity. Each one keeps the
coefficients of its circumsphere (or hull plane) as a linear form in (x, y, z, |p|²), so one pass of
multiply-adds over all of them finds every tetrahedron that a new point breaks; no walk is needed.

Every sign is compared with a bound on its rounding error; if it fails, it is worked out with twice
the digits and compared again (the filter of Shewchuk 1997, doi:10.1007/PL00009321, with one more
stage instead of exact arithmetic). A cloud still in doubt (cospherical, coplanar or double points,
say) is given up.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from toporank_kernels.compilation import compiled, inlined
from toporank_kernels.persistence.double import cross2, dot2, from2, sum2, times2

UNIT = 2.0**-53
"""Largest relative error of one float64 operation."""

SIGN_ERROR = 2000 * UNIT
"""Bound on the rounding error of a circumsphere or hull-plane form, for a cloud of extent 1 (see
`_insert`).
"""

BETTER = 1e-14
"""The bound on the same form worked out with twice the digits, as a share of the former."""

Mesh = namedtuple("Mesh", "form vertex across free size")
"""Tetrahedra of one triangulation; slot i of tetrahedron t is entry 4t + i of `vertex` and
`across`.

form : float64 (5, T), its value at p, form · (x, y, z, |p|², 1), is positive if p breaks the
tetrahedron vertex : int32 (4T,), point in each slot, positively oriented; -1 in a freed tetrahedron
across : int32 (4T,), the slot on the other side of the face opposite each slot: across[across[s]]
== s free : int32 (T,), stack of freed tetrahedra size : int64 (2,), tetrahedra in use (freed ones
included), freed ones
"""

Scratch = namedtuple("Scratch", "side dead fresh pair")
"""Buffers of an insertion.

side : float64 (T,), values of all forms at the new point
dead : int32 (T,), tetrahedra that the new point breaks
fresh : int32 (T,), slots that the new point takes in the new tetrahedra
pair : int32 (P²,), a table keyed by two points: slots while inserting, edges in the filtration
"""


@compiled
def new_mesh(room):
    """An empty mesh with room for `room` tetrahedra."""
    return Mesh(
        np.empty((5, room)),
        np.empty(4 * room, np.int32),
        np.empty(4 * room, np.int32),
        np.empty(room, np.int32),
        np.zeros(2, np.int64),
    )


@compiled
def copy_mesh(source, target):
    """Make `target` equal to `source`."""
    used, freed = source.size
    for row in range(5):
        target.form[row, :used] = source.form[row, :used]
    target.vertex[: 4 * used] = source.vertex[: 4 * used]
    target.across[: 4 * used] = source.across[: 4 * used]
    target.free[:freed] = source.free[:freed]
    target.size[:] = source.size


@inlined
def cross(ax, ay, az, bx, by, bz):
    """Cross product of two vectors."""
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx


@compiled
def _determinant(points, a, b, c, d):
    """Six times the signed volume of the tetrahedron abcd."""
    ax, ay, az = points[a, 0], points[a, 1], points[a, 2]
    bx, by, bz = points[b, 0] - ax, points[b, 1] - ay, points[b, 2] - az
    nx, ny, nz = cross(
        bx, by, bz, points[c, 0] - ax, points[c, 1] - ay, points[c, 2] - az
    )
    return (
        (points[d, 0] - ax) * nx + (points[d, 1] - ay) * ny + (points[d, 2] - az) * nz
    )


@inlined
def _plane(points, a, b, c, scale):
    """Form of a tetrahedron (a, b, c, infinity): positive beyond the plane abc.

    `scale` (extent²) gives it the unit of a sphere's form, so that one error bound serves both.
    """
    ax, ay, az = points[a, 0], points[a, 1], points[a, 2]
    bx, by, bz = points[b, 0] - ax, points[b, 1] - ay, points[b, 2] - az
    nx, ny, nz = cross(
        bx, by, bz, points[c, 0] - ax, points[c, 1] - ay, points[c, 2] - az
    )
    return (
        scale * nx,
        scale * ny,
        scale * nz,
        0.0,
        -scale * (nx * ax + ny * ay + nz * az),
    )


@inlined
def _sphere(points, a, b, c, d):
    """Form of a finite tetrahedron.

    It is positive inside the circumsphere (the lifted insphere determinant).

    With b, c, d the sides from a, V = b · (c × d) and n = |b|² c × d + |c|² d × b + |d|² b × c, the
    circumcentre is a + n / 2V. A point p is inside where |p − a|² V < n · (p − a).
    """
    ax, ay, az = points[a, 0], points[a, 1], points[a, 2]
    bx, by, bz = points[b, 0] - ax, points[b, 1] - ay, points[b, 2] - az
    cx, cy, cz = points[c, 0] - ax, points[c, 1] - ay, points[c, 2] - az
    dx, dy, dz = points[d, 0] - ax, points[d, 1] - ay, points[d, 2] - az
    px, py, pz = cross(cx, cy, cz, dx, dy, dz)
    qx, qy, qz = cross(dx, dy, dz, bx, by, bz)
    rx, ry, rz = cross(bx, by, bz, cx, cy, cz)
    volume = bx * px + by * py + bz * pz
    b2, c2, d2 = (
        bx * bx + by * by + bz * bz,
        cx * cx + cy * cy + cz * cz,
        dx * dx + dy * dy + dz * dz,
    )
    nx, ny, nz = (
        b2 * px + c2 * qx + d2 * rx,
        b2 * py + c2 * qy + d2 * ry,
        b2 * pz + c2 * qz + d2 * rz,
    )
    constant = -volume * points[a, 3] - (nx * ax + ny * ay + nz * az)
    return (
        nx + 2.0 * volume * ax,
        ny + 2.0 * volume * ay,
        nz + 2.0 * volume * az,
        -volume,
        constant,
    )


@inlined
def _infinity_last(a, b, c, d, infinity):
    """The corners of a tetrahedron in an order of same orientation, infinity at the end."""
    if a == infinity:
        return b, d, c, a
    if b == infinity:
        return a, c, d, b
    if c == infinity:
        return a, d, b, c
    return a, b, c, d


@compiled
def _set_forms(mesh, scratch, points, count, infinity, scale):
    """Forms of the `count` fresh tetrahedra."""
    form, vertex, fresh = mesh.form, mesh.vertex, scratch.fresh
    for f in range(count):
        t = fresh[f] >> 2
        a, b, c, d = (
            vertex[4 * t],
            vertex[4 * t + 1],
            vertex[4 * t + 2],
            vertex[4 * t + 3],
        )
        a, b, c, d = _infinity_last(a, b, c, d, infinity)
        if d == infinity:
            x, y, z, square, constant = _plane(points, a, b, c, scale)
        else:
            x, y, z, square, constant = _sphere(points, a, b, c, d)
        form[0, t], form[1, t], form[2, t], form[3, t], form[4, t] = (
            x,
            y,
            z,
            square,
            constant,
        )


@compiled
def _link(mesh, scratch, count, stride):
    """Join the `count` fresh tetrahedra, which share one point, with each other.

    The three other slots of each, in the order that its orientation gives, are a triangle of a
    closed surface. Each of the triangle's directed edges occurs once, and its reverse in the
    neighbour.
    """
    vertex, across, pair = mesh.vertex, mesh.across, scratch.pair
    for sweep in range(2):
        for f in range(count):
            slot = scratch.fresh[f]
            i, first = slot & 3, slot & ~3
            a, b, c = (
                first + ((i + 1) & 3),
                first + ((i + 2) & 3),
                first + ((i + 3) & 3),
            )
            if i & 1:
                b, c = c, b
            u, v, w = vertex[a], vertex[b], vertex[c]
            if sweep == 0:
                pair[v * stride + w] = a
                pair[w * stride + u] = b
                pair[u * stride + v] = c
            else:
                across[a] = pair[w * stride + v]
                across[b] = pair[u * stride + w]
                across[c] = pair[v * stride + u]


@compiled
def _begin(mesh, scratch, points, chosen, count, infinity, bound, scale):
    """Start with a tetrahedron of the first three points and the one farthest from their plane.

    That point is moved to place 3 of `chosen`. False if no point is provably off the plane.
    """
    best, largest = 3, 0.0
    for m in range(3, count):
        volume = _determinant(points, chosen[0], chosen[1], chosen[2], chosen[m])
        if abs(volume) > abs(largest):
            best, largest = m, volume
    if not abs(largest) * scale > bound:
        return False
    chosen[3], chosen[best] = chosen[best], chosen[3]
    vertex, across = mesh.vertex, mesh.across
    for i in range(4):
        vertex[i] = chosen[i]
    if largest < 0:
        vertex[0], vertex[1] = vertex[1], vertex[0]
    for i in range(
        4
    ):  # the neighbour of the face opposite slot i is its mirror image, with infinity in slot i
        ghost = 4 * (i + 1)
        for j in range(4):
            vertex[ghost + j] = vertex[j]
        vertex[ghost + i] = infinity
        j, k = (i + 1) & 3, (i + 2) & 3
        vertex[ghost + j], vertex[ghost + k] = vertex[ghost + k], vertex[ghost + j]
        across[i], across[ghost + i] = ghost + i, i
        scratch.fresh[i] = ghost + i
    _link(mesh, scratch, 4, infinity + 1)
    scratch.fresh[4] = 0
    _set_forms(mesh, scratch, points, 5, infinity, scale)
    mesh.size[0], mesh.size[1] = 5, 0
    return True


@compiled
def _side2(vertex, raw, t, p, infinity, scale):
    """The form of tetrahedron t at point p once more, with twice the digits."""
    first = 4 * t
    a, b, c, d = _infinity_last(
        vertex[first], vertex[first + 1], vertex[first + 2], vertex[first + 3], infinity
    )
    u, v, x = from2(raw, a, b), from2(raw, a, c), from2(raw, a, p)
    normal = cross2(u, v)
    if d == infinity:
        return scale * dot2(normal, x)[0]
    w = from2(raw, a, d)
    behind, aside = cross2(v, w), cross2(w, u)
    near = dot2(
        (dot2(u, u), dot2(v, v), dot2(w, w)),
        (dot2(behind, x), dot2(aside, x), dot2(normal, x)),
    )
    far = times2(dot2(u, behind), dot2(x, x))
    return sum2(near, (-far[0], -far[1]))[0]


@compiled
def _broken(mesh, scratch, points, raw, p, infinity, bound, scale):
    """Number of tetrahedra that point p breaks, listed in `scratch.dead`.

    -1 if a sign is in doubt.
    """
    used = mesh.size[0]
    side, dead = scratch.side, scratch.dead
    fx, fy, fz, fs, f1 = (
        mesh.form[0],
        mesh.form[1],
        mesh.form[2],
        mesh.form[3],
        mesh.form[4],
    )
    x, y, z, square = points[p, 0], points[p, 1], points[p, 2], points[p, 3]
    for t in range(used):  # no branches: runs several tetrahedra at a time
        side[t] = fx[t] * x + fy[t] * y + fz[t] * z + fs[t] * square + f1[t]
    count = 0
    for t in range(used):
        if side[t] > -bound:
            if side[t] <= bound:
                side[t] = _side2(mesh.vertex, raw, t, p, infinity, scale)
                if not abs(side[t]) > BETTER * bound:
                    return -1
            if side[t] > 0.0:
                dead[count] = t
                count += 1
    return count


@compiled
def _insert(mesh, scratch, points, raw, p, infinity, bound, scale):
    """Add point p.

    False if a sign is in doubt (the mesh is then still as before) or the mesh is full.

    Error bound: let u = 2⁻⁵³ and D the extent of the cloud. Translated coordinates are at most D/2
    with error uD/2, so a difference of two is at most D with error 2uD. The products that make up a
    sphere's form at a point sum to less than 72 D⁵ in magnitude, and each goes through fewer than
    20 roundings (those of its differences included); so its error is below 1440 u D⁵ (1 + tiny). A
    plane's is below 6 D³ · 15 u, times D². With twice the digits (`_side2`) u is 2⁻¹⁰², and 1440 u
    D⁵ is less than `BETTER` of the former bound.
    """
    count = _broken(mesh, scratch, points, raw, p, infinity, bound, scale)
    if count <= 0:  # a point with all signs certain breaks at least one tetrahedron
        return False
    form, vertex, across, free = mesh.form, mesh.vertex, mesh.across, mesh.free
    side, dead = scratch.side, scratch.dead
    used, freed = mesh.size
    fresh = 0
    for m in range(count):
        first = 4 * dead[m]
        for i in range(4):
            other = across[first + i]
            if side[other >> 2] > 0.0:
                continue
            if freed:
                freed -= 1
                t = free[freed]
            elif used < len(free):
                t = np.int32(used)
                used += 1
            else:
                return False
            for j in range(4):
                vertex[4 * t + j] = vertex[first + j]
            vertex[4 * t + i] = p
            across[4 * t + i] = other
            across[other] = 4 * t + i
            scratch.fresh[fresh] = 4 * t + i
            fresh += 1
    _link(mesh, scratch, fresh, infinity + 1)
    _set_forms(mesh, scratch, points, fresh, infinity, scale)
    for m in range(count):
        t = dead[m]
        vertex[4 * t] = -1
        form[0, t] = form[1, t] = form[2, t] = form[3, t] = 0.0
        form[4, t] = -np.inf  # no point breaks it
        free[freed] = t
        freed += 1
    mesh.size[0], mesh.size[1] = used, freed
    return True


@compiled
def triangulate(mesh, scratch, points, raw, chosen, done, count, infinity, extent):
    """Insert points chosen[done:count] into a mesh of the first `done`.

    False if a sign is in doubt.
    """
    scale = extent * extent
    bound = SIGN_ERROR * scale * scale * extent
    if not 1e-250 < bound < 1e250:
        return False
    if done == 0:
        if not _begin(mesh, scratch, points, chosen, count, infinity, bound, scale):
            return False
        done = 4
    for m in range(done, count):
        if not _insert(mesh, scratch, points, raw, chosen[m], infinity, bound, scale):
            return False
    return True
