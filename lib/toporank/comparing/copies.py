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
    groups: list[list[str]] = []
    alike: dict[tuple, list[int]] = defaultdict(list)
    sizes: dict[tuple, list[np.ndarray]] = defaultdict(list)
    for name, shape in shapes.items():
        kinds = tuple(sorted(_kinds(shape)))
        size = _size(shape)
        near = []
        if sizes[kinds]:
            apart = np.abs(np.array(sizes[kinds]) - size).max(axis=1)
            near = np.flatnonzero(apart <= 2 * SAME).tolist()
        for k in near:
            group = groups[alike[kinds][k]]
            both = partners.get(group[0], ()), partners.get(name, ())
            if same_chains(shapes[group[0]], shape, both) is not None:
                group.append(name)
                break
        else:
            alike[kinds].append(len(groups))
            sizes[kinds].append(size)
            groups.append([name])
    return groups


def _size(shape: ModelShape) -> np.ndarray:
    """Three lengths that are the same for copies, whatever the order of their chains, (3,), Å."""
    points = _points(shape)
    centroids = points[:, 0]
    around_centroids = points[:, 1:] - points[:, :1]
    flat = points.reshape(-1, 3)
    spreads = (
        around_centroids,
        centroids - centroids.mean(axis=0),
        flat - flat.mean(axis=0),
    )
    squares = [np.square(spread).sum(axis=-1).mean() for spread in spreads]
    return np.sqrt(squares)


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
