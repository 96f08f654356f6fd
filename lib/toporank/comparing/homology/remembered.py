"""What a checkpoint remembers of the chains it was trained on: enough to recognise them, in a few hundred bytes each.

A record is JSON: `targets`, the names of all training targets, and `chains`, for each different chain the places of its
targets in that list (`of`), how many k-mers it has (`kmers`), and the smallest hashes of these (`smallest`).
"""

from __future__ import annotations

import base64
import functools
from collections.abc import Iterable
from typing import Any

import numpy as np

from toporank.comparing.homology.clusters import Chains, References
from toporank.comparing.homology.kmers import Sample, sample

KEPT = 64
"""K-mers kept of a chain: the containment is then known within 0.06, one standard deviation, near `ALIKE`."""
FEWEST, IN_ALL = 8, 2**20
"""Fewer are kept of each of very many chains, so that a checkpoint stays small: at least these, and so many in all."""
LONGEST = -(-4 * KEPT // 3) * 4
"""Letters that hold the hashes of a chain, at most."""


def remember(chains: Chains) -> dict[str, Any]:
    """The record of training targets."""
    return _record(chains, ((target, sample(s, KEPT)) for target in chains for s in chains[target]))


def merged(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """The record of all targets of two records."""
    both = [(name, s) for record in (one, other) for s, of in zip(*recall(record), strict=True) for name in of]
    return _record({*one["targets"], *other["targets"]}, both)


def _record(targets: Iterable[str], samples: Iterable[tuple[str, Sample]]) -> dict[str, Any]:
    names = sorted(targets)
    place, found, samples = {name: i for i, name in enumerate(names)}, {}, list(samples)
    kept = max(FEWEST, min(KEPT, IN_ALL // max(1, len(samples))))
    for name, (smallest, n) in samples:
        found.setdefault((base64.b64encode(smallest[:kept].astype("<u4")).decode(), n), set()).add(place[name])
    chains = [{"of": sorted(of), "kmers": n, "smallest": text} for (text, n), of in sorted(found.items())]
    return {"targets": names, "chains": chains}


def recall(record: dict[str, Any]) -> References:
    """The chains of a record."""
    samples = [Sample(hashes(chain["smallest"]), chain["kmers"]) for chain in record["chains"]]
    return References(samples, [[record["targets"][i] for i in chain["of"]] for chain in record["chains"]])


@functools.cache  # networks of several folds remember mostly the same chains
def hashes(text: str) -> np.ndarray:
    """The hashes of a chain, uint32, (n,). Raises ValueError when the text does not hold rising numbers."""
    found = np.frombuffer(base64.b64decode(text, validate=True), "<u4").astype(np.uint32)
    if not (found[:-1] < found[1:]).all():
        raise ValueError("the hashes of a chain are not sorted")
    return found
