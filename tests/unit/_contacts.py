"""What decoys are compared by, made up."""

from __future__ import annotations

import json
from collections.abc import Iterable

import numpy as np
import safetensors.numpy


def content(contacts: Iterable[int], xyz: np.ndarray | None = None) -> bytes:
    """A decoy in which residue k of chain A touches residue k of chain B for each of these numbers k."""
    ks = sorted(contacts)
    ids = [[chain, k, ""] for chain in "AB" for k in ks]
    ca = np.random.default_rng(ks).normal(0, 20, (2 * len(ks), 3)) if xyz is None else xyz
    touching = np.array([(i, i + len(ks)) for i in range(len(ks))], dtype=np.int32).reshape(-1, 2)
    return safetensors.numpy.save({
        "residues": np.frombuffer(json.dumps(ids).encode(), np.uint8), "ca": ca.astype(np.float32),
        "interface": np.ones(2 * len(ks), dtype=bool), "contacts": touching,
    })  # fmt: skip
