"""What decoys are compared by, made up."""

from __future__ import annotations

import json
from collections.abc import Iterable

import numpy as np
import safetensors.numpy

LENGTH = 512
"""Residues of each chain."""


def content(
    contacts: Iterable[int],
    xyz: np.ndarray | None = None,
    with_c: Iterable[int] = (),
) -> bytes:
    """A decoy in which residue k of chain A touches residue k of chain B for each of these numbers
    k.

    xyz : CA atoms of the residues that touch, of A before those of B, if these are the only
    residues. with_c : numbers k of chain A that touch residue k of a chain C.
    """
    ks = sorted(contacts)
    numbers = range(LENGTH) if xyz is None else ks
    chains = "ABC" if with_c else "AB"
    ids = [[chain, k, ""] for chain in chains for k in numbers]
    ca = np.random.default_rng(ks).normal(0, 20, (len(ids), 3)) if xyz is None else xyz
    pairs = np.array(
        [(numbers.index(k), numbers.index(k) + len(numbers)) for k in ks]
        + [(numbers.index(k), numbers.index(k) + 2 * len(numbers)) for k in with_c],
        dtype=np.int32,
    ).reshape(-1, 2)
    return safetensors.numpy.save({
        "residues": np.frombuffer(json.dumps(ids).encode(), np.uint8), "letters": np.full(len(ids), ord("A"), np.uint8),
        "ca": ca.astype(np.float32), "interface": np.isin([k for _, k, _ in ids], ks), "contacts": pairs,
    })  # fmt: skip
