"""Decoys of a target that are the same model, and those that are one complex, moved as a whole.

A copy has the same protein chains with the same heavy atoms at the same places in its own frame:
files are written again as mmCIF, renamed, renumbered, superposed on something, with hydrogens or
without. But poses of a ligand whose receptor is in another file are one complex in many places.
Nothing about them can be ranked.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from itertools import chain
from typing import NamedTuple

import numpy as np

from toporank.chains.match import superposition
from toporank.chains.partners import Partners
from toporank.structures.complex import Complex
from toporank.structures.model_shape import ChainShape, read_shape, shape_of

SAME = 0.02
"""Å between the points of two shapes, superposed, at most. Rounding to 0.01 Å and rotations of four
decimals leave less; two samples of a predictor differ by ten times as much at least.
"""
SIMILAR = 1.0
"""Å between points of chains that may be the same, when one other chain is superposed."""
IN_PLACE = 0.1
"""Å between points of copies that lie in one place, at most."""
FEWEST_PLACES = 3
"""Places of one complex, at least, that are poses without receptor, not a superposed copy."""
MOST = 0.6
"""Share of the models of a target that are one complex, at least, if that is to mean anything."""

ModelShape = tuple[ChainShape, ...]


class TargetCopies(NamedTuple):
    """Copies among the decoys of a target.

    original : copy → the first decoy that is the same model. moved : decoys that are one complex,
    moved as a whole → in how many places it lies.
    """

    original: dict[str, str]
    moved: dict[str, int]


def copies_of(
    shapes: Mapping[str, str], partners: Mapping[str, Partners] | None = None
) -> TargetCopies:
    """Find the copies among the decoys of a target.

    Parameters
    ----------
    shapes : name → as from `model_shape.shape_of`, in order; those without one are no copies
    partners : of decoys that have any: copies have the same ones

    Returns
    -------
    TargetCopies
    """
    partners = partners or {}
    # files written twice have one text: only different texts are compared
    equal: dict[tuple[str, Partners], list[str]] = {}
    for name, text in shapes.items():
        if text:
            equal.setdefault((text, partners.get(name, ())), []).append(name)
    names_of: dict[str, list[str]] = {}
    read: dict[str, ModelShape] = {}
    for names in equal.values():
        names_of[names[0]] = names
        read[names[0]] = read_shape(shapes[names[0]])
    groups = [_places(read, members) for members in _groups(read, partners)]
    n_places = sum(map(len, groups))
    copies = TargetCopies({}, {})
    for group in groups:
        of_shape = names_of.__getitem__
        places = [list(chain.from_iterable(map(of_shape, place))) for place in group]
        members = list(chain.from_iterable(places))
        if len(places) >= FEWEST_PLACES and len(places) >= MOST * n_places:
            copies.moved.update(dict.fromkeys(members, len(places)))
        else:
            places = [members]
        for first, *others in places:
            copies.original.update(dict.fromkeys(others, first))
    return copies


def are_copies(one: Complex, other: Complex) -> bool:
    """Whether two complexes are the same model."""
    return have_one_shape(shape_of(one), shape_of(other))


def have_one_shape(one: str, other: str) -> bool:
    """Whether two models are the same, by what `structures.model_shape.shape_of` gives."""
    if not one or not other:
        return False
    return same_chains(read_shape(one), read_shape(other)) is not None


def same_chains(
    one: ModelShape,
    other: ModelShape,
    partners: tuple[Partners, Partners] = ((), ()),
) -> dict[str, str] | None:
    """Find which chain of one model each chain of the other is.

    None where they are not the same model, or have other partners.
    """
    kinds, other_kinds = _kinds(one), _kinds(other)
    n_of_kind = Counter(kinds)
    if n_of_kind != Counter(other_kinds):
        return None
    fixed, moving = _points(one), _points(other)
    is_other_kind = np.array(kinds)[:, None] != np.array(other_kinds)
    rarest = min(range(len(one)), key=lambda k: n_of_kind[kinds[k]])
    for start in np.flatnonzero(~is_other_kind[rarest]).tolist():
        turn, shift = superposition(moving[start], fixed[rarest])
        moved = moving @ turn + shift
        apart = np.abs(fixed[:, None] - moved).max(axis=(2, 3))
        apart[is_other_kind] = np.inf
        nearest = apart.argmin(axis=1)
        is_one_to_one = len(set(nearest.tolist())) == len(one)
        if not is_one_to_one or apart.min(axis=1).max() > SIMILAR:
            continue
        if _deviation(fixed, moving[nearest]) > SAME:
            continue
        chains = {other[k].name: one[i].name for i, k in enumerate(nearest.tolist())}
        if _renamed(partners[1], chains) == _renamed(partners[0], {}):
            return chains
    return None


def _points(shape: ModelShape) -> np.ndarray:
    """The points of its chains, (n, N_POINTS, 3), Å."""
    return np.array([chain.points for chain in shape])


def _kinds(shape: ModelShape) -> list[str]:
    return [chain.kind for chain in shape]


def _renamed(partners: Partners, chains: Mapping[str, str]) -> frozenset[frozenset]:
    """Partners under other names, in any order."""
    renamed = set()
    for partner in partners:
        renamed.add(frozenset(chains.get(name, name) for name in partner))
    return frozenset(renamed)


def _deviation(fixed: np.ndarray, moving: np.ndarray) -> float:
    """Å, largest distance of points of chains, (n, N_POINTS, 3), once all are superposed."""
    fixed, moving = fixed.reshape(-1, 3), moving.reshape(-1, 3)
    turn, shift = superposition(moving, fixed)
    return float(np.linalg.norm(moving @ turn + shift - fixed, axis=1).max())


def _groups(
    shapes: Mapping[str, ModelShape], partners: Mapping[str, Partners]
) -> list[list[str]]:
    """The decoys that are the same model, in order."""
    near = _of_like_size(shapes)
    groups: dict[str, list[str]] = {}
    for name, shape in shapes.items():
        for first in near.get(name, ()):
            both = partners.get(first, ()), partners.get(name, ())
            if first not in groups:
                continue
            if same_chains(shapes[first], shape, both) is not None:
                groups[first].append(name)
                break
        else:
            groups[name] = [name]
    return list(groups.values())


def _of_like_size(shapes: Mapping[str, ModelShape]) -> dict[str, list[str]]:
    """Model → the models before it that may be the same: they have its chains and about its size.

    Each is compared with its neighbours by size alone, since a target may have ten thousand models.
    """
    alike: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for name, shape in shapes.items():
        alike[tuple(sorted(_kinds(shape)))].append(name)
    near = {}
    for names in alike.values():
        sizes = _sizes(np.array([_points(shapes[name]) for name in names]))
        order = np.argsort(sizes[:, -1])
        ordered = sizes[order, -1]
        start = np.searchsorted(ordered, ordered - 2 * SAME)
        end = np.searchsorted(ordered, ordered + 2 * SAME, side="right")
        for place in np.flatnonzero(end - start > 1).tolist():
            model = order[place]
            neighbours = np.sort(order[start[place] : end[place]])
            earlier = neighbours[neighbours < model]
            apart = np.abs(sizes[earlier] - sizes[model]).max(axis=1)
            near[names[model]] = [names[k] for k in earlier[apart <= 2 * SAME].tolist()]
    return near


def _sizes(points: np.ndarray) -> np.ndarray:
    """Three lengths that are the same for copies, whatever the order of their chains, Å.

    Parameters
    ----------
    points : (n_models, n_chains, N_POINTS, 3), Å

    Returns
    -------
    (n_models, 3), the spread of all points last
    """
    n_models = len(points)
    centroids = points[:, :, 0]
    around_centroids = points[:, :, 1:] - points[:, :, :1]
    flat = points.reshape(n_models, -1, 3)
    spreads = (
        around_centroids.reshape(n_models, -1, 3),
        centroids - centroids.mean(axis=1, keepdims=True),
        flat - flat.mean(axis=1, keepdims=True),
    )
    squares = [np.square(spread).sum(axis=-1).mean(axis=1) for spread in spreads]
    return np.sqrt(np.stack(squares, axis=1))


def _places(shapes: Mapping[str, ModelShape], members: list[str]) -> list[list[str]]:
    """Copies of a model by the place where they lie."""
    places: list[list[str]] = []
    for name in members:
        for place in places:
            if _lie_together(shapes[place[0]], shapes[name]):
                place.append(name)
                break
        else:
            places.append([name])
    return places


def _lie_together(one: ModelShape, other: ModelShape) -> bool:
    """Whether two copies lie in one place, whatever the order of their chains."""
    apart = np.abs(_points(one)[:, None] - _points(other)).max(axis=(2, 3))
    return bool(apart.min(axis=1).max() <= IN_PLACE)
