"""A cartoon of a complex as pixels: helices as ribbons, strands as arrows, loops as tubes; drawn without a display.

Each chain becomes a surface around a smooth curve through its CA atoms. Its points go into a depth buffer, and light,
creases and outlines come from the depths: no ray is traced, and nothing but NumPy and SciPy is needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy import ndimage
from scipy.spatial import cKDTree

from toporank.structures.complex import Complex
from toporank.structures.dssp import builtin_dssp

NEAR, LOOSE = 12.0, 9
"""Å between CA atoms, and the residues within it, itself included, up to which one is part of a loose end."""
STEPS = 9
"""Points of the curve for each residue."""
AROUND = 14
"""Points of the surface around each point of the curve."""
BREAK = 4.6
"""Å between CA atoms of residues that do not follow one another."""
HELIX, STRAND, LOOP = "helix", "strand", "loop"
KINDS = {b"H": HELIX, b"G": HELIX, b"I": HELIX, b"E": STRAND}
"""Of the states of DSSP; all others are loops."""
HALF_WIDTH = {HELIX: 1.35, STRAND: 1.25, LOOP: 0.36}
HALF_HEIGHT = {HELIX: 0.27, STRAND: 0.3, LOOP: 0.36}
"""Å, of the cross section."""
ARROW = 2.1
"""Å, half the width of the head of an arrow where it begins."""
FINER = 2
"""Times by which the picture is drawn larger, and then made smaller, so that edges are smooth."""
LIGHT = np.array([-0.42, 0.62, 0.66])
"""Where it comes from."""
HALFWAY = LIGHT + np.array([0.0, 0.0, 1.0])
"""Between the light and the viewer: a surface that looks there shines."""
POINTS = (2, 3, 4, 6, 8, 10, 13, 16, 20, 25, 32, 40, 50, 64, 80, 100, 128, 160, 200, 256, 320, 400, 512, 1024, 2048)
"""Along one side of a piece: the first of these that leaves no hole."""
AT_ONCE = 2_000_000
"""Points of the surface that are drawn at a time."""


class Mesh(NamedTuple):
    """Four-sided pieces of a surface. corners : (Q, 4, 3), Å. normals : (Q, 4, 3). residue : int, (Q,).

    framed : whether the picture must have it, bool, (Q,); loose ends may run out of it.
    """

    corners: np.ndarray
    normals: np.ndarray
    residue: np.ndarray
    framed: np.ndarray


def view(complex_: Complex) -> np.ndarray:
    """The axes from which a complex is looked at, rows of a rotation, (3, 3): the first two partners side by side.

    x goes from the largest partner to the others, y is the longest direction across it, z points to the viewer.
    """
    used = np.flatnonzero(packed(complex_))
    xyz, body = complex_.xyz[complex_.ca[used]], complex_.body_of[used]
    left = body == np.bincount(body).argmax()
    centred = xyz - xyz.mean(axis=0)
    across = centred[~left].mean(axis=0) - centred[left].mean(axis=0) if (~left).any() else np.zeros(3)
    length = np.linalg.norm(across)
    x = across / length if length > 1.0 else np.linalg.svd(centred, full_matrices=False)[2][0]
    flat = centred - np.outer(centred @ x, x)
    y = np.linalg.svd(flat, full_matrices=False)[2][0]
    return np.stack([x, y, np.cross(x, y)])


def packed(complex_: Complex) -> np.ndarray:
    """Which residues of partners have others around them, bool, (R,): not those of loose ends. All, if none has."""
    own = np.flatnonzero((complex_.ca >= 0) & (complex_.body_of >= 0))
    ca = complex_.xyz[complex_.ca[own]]
    around = cKDTree(ca).query_ball_point(ca, NEAR, return_length=True)
    found = np.zeros(len(complex_.residues), dtype=bool)
    found[own] = (around > LOOSE) | (not (around > LOOSE).any())
    return found


def mesh(complex_: Complex, axes: np.ndarray) -> Mesh:
    """The surface of all chains of partners, turned to the axes."""
    kinds = [KINDS.get(state, LOOP) for state in builtin_dssp(complex_, np.zeros(0, int)).structure.tolist()]
    parts = [_tube(complex_, run, kinds) for run in _runs(complex_)]
    corners, normals, residue = (np.concatenate([part[k] for part in parts]) for k in range(3))
    return Mesh(corners @ axes.T, normals @ axes.T, residue, packed(complex_)[residue])


def _runs(complex_: Complex) -> Iterator[np.ndarray]:
    """Residues that follow one another in a chain, at least two: int, (n,)."""
    own = np.flatnonzero((complex_.ca >= 0) & (complex_.body_of >= 0))
    chains = np.array([complex_.residues[r].chain for r in own])
    for chain in dict.fromkeys(chains.tolist()):
        residues = own[chains == chain]
        ca = complex_.xyz[complex_.ca[residues]]
        ends = np.flatnonzero(np.linalg.norm(np.diff(ca, axis=0), axis=1) > BREAK) + 1
        yield from (run for run in np.split(residues, ends) if len(run) > 1)


def _tube(complex_: Complex, run: np.ndarray, kinds: list[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Corners, normals and residues of the surface of a run of residues, as in `Mesh`."""
    own = _without_singles([kinds[r] for r in run])
    ca = _smoothed(complex_.xyz[complex_.ca[run]], own)
    across = _across(complex_, run, ca)
    at = np.linspace(0, len(run) - 1, (len(run) - 1) * STEPS + 1)
    centre, sideways = _curve(ca, at), _curve(across, at)
    along = np.gradient(centre, axis=0)
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    sideways -= (sideways * along).sum(axis=1, keepdims=True) * along
    sideways /= np.maximum(np.linalg.norm(sideways, axis=1, keepdims=True), 1e-9)
    up = np.cross(along, sideways)
    width, height = _sizes(own, at)
    angle = np.linspace(0, 2 * np.pi, AROUND, endpoint=False)
    c, s = np.cos(angle)[None, :, None], np.sin(angle)[None, :, None]
    w, h = width[:, None, None], height[:, None, None]
    rings = centre[:, None] + w * c * sideways[:, None] + h * s * up[:, None]
    normals = h * c * sideways[:, None] + w * s * up[:, None]
    normals /= np.maximum(np.linalg.norm(normals, axis=2, keepdims=True), 1e-9)
    nearest = run[np.clip(np.rint((at[:-1] + at[1:]) / 2).astype(int), 0, len(run) - 1)]
    sides = _quads(rings), _quads(normals), np.repeat(nearest, AROUND)
    return tuple(map(np.concatenate, zip(sides, *_caps(rings, along, nearest), strict=True)))


def _caps(rings: np.ndarray, along: np.ndarray, nearest: np.ndarray) -> Iterator[tuple[np.ndarray, ...]]:
    """What closes both ends of a tube."""
    for end, way in ((0, -1.0), (-1, 1.0)):
        ring, centre = rings[end], rings[end].mean(axis=0)
        middle = np.broadcast_to(centre, ring.shape)
        corners = np.stack([ring, np.roll(ring, -1, axis=0), middle, middle], axis=1)
        yield corners, np.broadcast_to(way * along[end], corners.shape), np.full(len(ring), nearest[end])


def _quads(rings: np.ndarray) -> np.ndarray:
    """Four corners of each piece between neighbouring rings: (m, k, 3) → ((m − 1) k, 4, 3)."""
    turned = np.roll(rings, -1, axis=1)
    return np.stack([rings[:-1], turned[:-1], turned[1:], rings[1:]], axis=2).reshape(-1, 4, 3)


def _without_singles(kinds: list[str]) -> list[str]:
    """The kinds, with helices of less than a turn and strands of one residue as loops: they would be mere bumps."""
    found, start = [*kinds], 0
    for end in range(1, len(kinds) + 1):
        if end == len(kinds) or kinds[end] != kinds[start]:
            if end - start < {HELIX: 4, STRAND: 2}.get(kinds[start], 0):
                found[start:end] = [LOOP] * (end - start)
            start = end
    return found


def _smoothed(ca: np.ndarray, kinds: list[str]) -> np.ndarray:
    """CA atoms, with strands straight and loops a little smoother; helices stay as they are."""
    found = ca.copy()
    share = np.array([{STRAND: 0.5, LOOP: 0.25, HELIX: 0.0}[kind] for kind in kinds])[1:-1, None]
    for _ in range(2):
        middle = (found[:-2] + found[2:]) / 2
        found[1:-1] = (1 - share) * found[1:-1] + share * middle
    return found


def _across(complex_: Complex, run: np.ndarray, ca: np.ndarray) -> np.ndarray:
    """The direction in which a ribbon is wide at each residue, that of its C=O, without sudden turns: (n, 3)."""
    place = np.full((2, len(complex_.residues)), -1)
    for row, name in enumerate((b"C", b"O")):
        atoms = np.flatnonzero(complex_.atom_names == name)
        place[row, complex_.residue_of[atoms]] = atoms
    known = (place[:, run] >= 0).all(axis=0)
    bent = np.gradient(np.gradient(ca, axis=0), axis=0)
    found = np.where(known[:, None], complex_.xyz[place[1, run]] - complex_.xyz[place[0, run]], bent)
    along = np.gradient(ca, axis=0)
    along /= np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-9)
    found -= (found * along).sum(axis=1, keepdims=True) * along
    found /= np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-9)
    for i in range(1, len(found)):
        found[i] *= 1.0 if found[i] @ found[i - 1] >= 0 else -1.0
    for _ in range(2):
        found[1:-1] = (found[:-2] + 2 * found[1:-1] + found[2:]) / 4
    return found


def _curve(points: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Catmull-Rom curve through points, at places among them: (n, 3) → (m, 3)."""
    i = np.minimum(at.astype(int), len(points) - 2)
    t = (at - i)[:, None]
    padded = np.vstack([2 * points[0] - points[1], points, 2 * points[-1] - points[-2]])
    p0, p1, p2, p3 = (padded[i + k] for k in range(4))
    return 0.5 * (2 * p1 + (p2 - p0) * t + (2 * p0 - 5 * p1 + 4 * p2 - p3) * t**2 + (3 * (p1 - p2) + p3 - p0) * t**3)


def _sizes(kinds: list[str], at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Half width and half height along the curve, Å: (m,) each. Strands end in arrows."""
    widths, heights = (np.array([sizes[kind] for kind in kinds]) for sizes in (HALF_WIDTH, HALF_HEIGHT))
    nearest = np.clip(np.rint(at).astype(int), 0, len(kinds) - 1)
    width = ndimage.uniform_filter1d(widths[nearest], STEPS, mode="nearest")
    height = ndimage.uniform_filter1d(heights[nearest], STEPS, mode="nearest")
    for last in range(1, len(kinds)):
        ends = kinds[last] == STRAND and (last + 1 == len(kinds) or kinds[last + 1] != STRAND)
        if ends:
            begin, end = last - 1.0, last + 0.5
            head = (at >= begin) & (at <= end)
            width[head] = HALF_WIDTH[LOOP] + (ARROW - HALF_WIDTH[LOOP]) * (end - at[head]) / (end - begin)
            height[head] = HALF_HEIGHT[STRAND]
    return width, height


# ---- pixels -----------------------------------------------------------------------------------------------


def painted(surface: Mesh, colours: np.ndarray, width: int, height: int) -> np.ndarray:
    """A surface as a picture with a transparent ground: uint8, (height, width, 4).

    colours : of each residue, (R, 3), from 0 to 1.
    """
    w, h = FINER * width, FINER * height
    framed = surface.corners[surface.framed]
    low, high = framed.min(axis=(0, 1)), framed.max(axis=(0, 1))
    scale = min(0.94 * w / (high[0] - low[0]), 0.94 * h / (high[1] - low[1]))
    shift = np.array([w / 2, h / 2]) - scale * (low[:2] + high[:2]) * (0.5, -0.5)
    corners = surface.corners * (scale, -scale, 1.0) + (*shift, 0.0)
    depth, normal, residue = _buffers(corners, surface, w, h)
    shown = residue >= 0
    light = _lit(depth, normal, shown, scale)
    colour = np.zeros((h, w, 3), np.float32)
    colour[shown] = colours[residue[shown]] * light[shown, None]
    shine = np.clip(normal @ (HALFWAY / np.linalg.norm(HALFWAY)).astype(np.float32), 0, 1) ** 40 * 0.22
    colour = np.clip(colour + (shine * shown)[..., None], 0, 1)
    far = (high[2] - depth) / max(high[2] - low[2], 1e-6)
    colour += (1 - colour) * (0.38 * np.clip(far, 0, 1) ** 1.5 * shown)[..., None]
    lines, alpha = _outlines(depth, shown, scale), shown.astype(np.float32)
    colour = colour * (1 - 0.72 * lines[..., None])
    alpha = np.maximum(alpha, lines)
    return _smaller(colour, alpha * _edge(w, h))


def _buffers(corners: np.ndarray, surface: Mesh, w: int, h: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Depth, normal and residue of what is nearest to the viewer at each pixel; residue -1 where there is nothing."""
    buffers = np.full(w * h, -np.inf, np.float32), np.zeros((w * h, 3), np.float32), np.full(w * h, -1)
    seen = np.flatnonzero((surface.normals[..., 2] > 0).any(axis=1))  # the others look away, and something hides them
    edges = np.linalg.norm(np.diff(corners[seen][:, [0, 1, 2, 3, 0], :2], axis=1), axis=2)
    sizes = np.searchsorted(POINTS, 1.45 * np.stack([edges[:, ::2], edges[:, 1::2]]).max(axis=2) + 2)
    for u, v in np.unique(sizes, axis=1).T.tolist():
        group = seen[(sizes == [[u], [v]]).all(axis=0)]
        n = POINTS[u], POINTS[v]
        for part in np.array_split(group, len(group) * n[0] * n[1] // AT_ONCE + 1):
            _splat(corners, surface, part, n, (w, h), buffers)
    return tuple(buffer.reshape(h, w, *buffer.shape[1:]) for buffer in buffers)


def _splat(corners: np.ndarray, surface: Mesh, chosen: np.ndarray, n: tuple, size: tuple, buffers: tuple) -> None:
    """Put n[0] × n[1] points of each chosen piece into the buffers where they are nearest."""
    w, h = size
    v, u = (axis.ravel() for axis in np.meshgrid(np.linspace(0, 1, n[1]), np.linspace(0, 1, n[0])))
    weights = np.stack([(1 - u) * (1 - v), u * (1 - v), u * v, (1 - u) * v]).astype(np.float32)
    x, y, depth = (corners[chosen, :, k].astype(np.float32) @ weights for k in range(3))
    inside = ((x >= 0) & (x < w) & (y >= 0) & (y < h)).ravel()
    sample = np.flatnonzero(inside)
    pixel, depth = (y.astype(np.int32) * w + x.astype(np.int32)).ravel()[sample], depth.ravel()[sample]
    nearer = depth > buffers[0][pixel]
    sample, pixel, depth = sample[nearer], pixel[nearer], depth[nearer]
    order = np.argsort(depth)  # the nearest of a pixel is written last, and stays
    sample, pixel, depth = sample[order], pixel[order], depth[order]
    last = np.full(w * h, -1, np.int32)
    last[pixel] = np.arange(len(pixel))
    stays = last[pixel] == np.arange(len(pixel))
    sample, pixel, depth = sample[stays], pixel[stays], depth[stays]
    piece, place = np.divmod(sample, weights.shape[1])
    normals = np.einsum("sck,sc->sk", surface.normals[chosen[piece]], weights.T[place])
    buffers[0][pixel], buffers[2][pixel] = depth, surface.residue[chosen[piece]]
    buffers[1][pixel] = normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-9)


def _lit(depth: np.ndarray, normal: np.ndarray, shown: np.ndarray, scale: float) -> np.ndarray:
    """How bright each pixel is: light from the upper left, and darker where something near stands before it."""
    facing = normal @ (LIGHT / np.linalg.norm(LIGHT)).astype(np.float32)
    light = 0.60 + 0.34 * np.clip(facing, 0, 1) + 0.12 * np.clip(normal[..., 2], 0, 1)
    floor = depth[shown].min(initial=0.0) - 10.0
    filled = np.where(shown, depth, floor).astype(np.float32)
    hidden = np.zeros_like(filled)
    for reach, share in ((1.2, 0.5), (4.0, 0.5)):
        hidden += share * np.clip((_blurred(filled, reach * scale) - filled) / (2.2 * reach), 0, 1)
    return light * (1 - 0.62 * hidden)


def _blurred(values: np.ndarray, sigma: float) -> np.ndarray:
    """A wide Gaussian blur, of a smaller picture, which is much quicker and looks the same."""
    step = max(1, int(sigma / 4))
    small = ndimage.gaussian_filter(values[::step, ::step], sigma / step)
    rows, columns = (np.minimum(np.arange(n) / step, m - 1) for n, m in zip(values.shape, small.shape, strict=True))
    i, j = rows.astype(int), columns.astype(int)
    below, right = np.minimum(i + 1, small.shape[0] - 1), np.minimum(j + 1, small.shape[1] - 1)
    s, t = (rows - i).astype(np.float32)[:, None], (columns - j).astype(np.float32)
    across = small[i] * (1 - s) + small[below] * s
    return across[:, j] * (1 - t) + across[:, right] * t


def _outlines(depth: np.ndarray, shown: np.ndarray, scale: float) -> np.ndarray:
    """Where something ends in front of what lies farther behind, or of nothing: from 0 to 1."""
    floor = depth[shown].min(initial=0.0) - 10.0
    filled = np.where(shown, depth, floor)
    size = max(3, 2 * round(0.055 * scale) + 1)
    jump = ndimage.maximum_filter(filled, size) - filled
    return ndimage.gaussian_filter(np.clip((jump - 1.6) / 1.6, 0, 1).astype(np.float32), 0.6)


def _edge(w: int, h: int) -> np.ndarray:
    """1, but near the edges less, where loose ends run out of the picture: (h, w)."""
    x, y = (np.minimum(np.arange(n), np.arange(n)[::-1]) / (0.03 * n) for n in (w, h))
    return np.clip(np.minimum(x[None], y[:, None]), 0, 1).astype(np.float32)


def _smaller(colour: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    """The mean over squares of `FINER` pixels, in which transparent ones have no colour."""
    h, w = alpha.shape
    blocks = (h // FINER, FINER, w // FINER, FINER)
    mean = alpha.reshape(blocks).mean(axis=(1, 3))
    total = (colour * alpha[..., None]).reshape(*blocks, 3).mean(axis=(1, 3))
    pixels = np.concatenate([total / np.maximum(mean, 1e-6)[..., None], mean[..., None]], axis=2)
    return (255 * np.clip(pixels, 0, 1)).round().astype(np.uint8)
