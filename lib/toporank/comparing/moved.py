"""Decoys that are one and the same complex, moved as a whole.

Such are poses of a ligand whose receptor is in another file.

Within them nothing differs, so nothing about them can be ranked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np
import safetensors.numpy

from toporank.comparing.superposition import interface_rmsd

RIGID = 0.02
"""Å, largest RMSD of CA atoms after superposition. Rounding to 0.001 Å and rotations of four
decimals leave less; two samples of a predictor differ by ten times as much at least.
"""
MOVED = 0.1
"""Å, RMSD without superposition above which a complex lies somewhere else."""
MOST = 0.6
"""Share of the decoys of a target that are one complex, at least, if that is to mean anything."""
PROBES = 8
"""CA atoms, spread over the complex, whose distances are compared before anything is superposed."""
SAMPLE = 50
"""Decoys of a target that are looked at first."""


def moved_as_whole(contents: Mapping[str, bytes]) -> set[str]:
    """Names of the decoys of a target that are one complex in different places.

    The result is empty if these are not most of them.

    contents : name → `contacts.contact_bytes`, of decoys of one target. Copies count once: leave
    them out.
    """
    names = list(contents)
    if len(names) < 2:
        return set()
    sample = names[:: -(-len(names) // SAMPLE)]
    if len(_alike(contents, sample)) < MOST / 2 * len(sample):
        return set()
    alike = _alike(contents, names)
    if len(alike) < max(2, MOST * len(names)):
        return set()
    first = next(iter(alike.values()))
    every = np.ones(len(first), dtype=bool)
    rigid = set()
    is_moved = False
    for name, xyz in alike.items():
        rmsd = interface_rmsd(first, every, xyz[None], every[None])[0]
        if rmsd <= RIGID:
            rigid.add(name)
            is_moved |= bool(
                np.sqrt(np.nanmean(np.sum((xyz - first) ** 2, axis=1))) > MOVED
            )
    return rigid if is_moved and len(rigid) >= MOST * len(names) else set()


def _alike(contents: Mapping[str, bytes], names: list[str]) -> dict[str, np.ndarray]:
    """Name → CA atoms, float64, (n, 3), of decoys with common residues and probe distances."""
    tensors = {name: safetensors.numpy.load(contents[name]) for name in names}
    residues = {
        name: of_decoy["residues"].tobytes() for name, of_decoy in tensors.items()
    }
    most_frequent = Counter(residues.values()).most_common(1)[0][0]
    xyz = {
        name: tensors[name]["ca"].astype(np.float64)
        for name in names
        if residues[name] == most_frequent
    }
    has_ca = np.flatnonzero(np.isfinite(next(iter(xyz.values()))).all(axis=1))
    if len(has_ca) < PROBES:
        return {}
    probes = has_ca[np.linspace(0, len(has_ca) - 1, PROBES).astype(int)]
    first, second = probes[np.array(np.triu_indices(PROBES, 1))]
    distances = np.array(
        [np.linalg.norm(ca[first] - ca[second], axis=1) for ca in xyz.values()]
    )
    differences = np.abs(distances - np.median(distances, axis=0)).max(axis=1)
    return {
        name: xyz[name]
        for name, difference in zip(xyz, differences, strict=True)
        if difference <= 3 * RIGID
    }
