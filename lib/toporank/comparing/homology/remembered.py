"""What a checkpoint remembers of the chains it was trained on.

A few hundred bytes for each chain are enough to recognise it.

A record is JSON: `targets`, the names of all training targets, and `chains`, for each different
chain the places of its targets in that list (`of`), how many k-mers it has (`kmers`), and the
smallest hashes of these (`smallest`).
"""

from __future__ import annotations

import base64
import functools
from collections.abc import Iterable
from typing import Any

import numpy as np

from toporank.chains.kmers import Sample, sample
from toporank.comparing.homology.clusters import References, TargetSequences
from toporank.lookup import places_of

KEPT = 64
"""K-mers kept of a chain: the containment is then known within 0.06, one standard deviation, near
`ALIKE`.
"""
FEWEST, IN_ALL = 8, 2**20
"""Fewer are kept of each of very many chains, so that a checkpoint stays small: at least these, and
so many in all.
"""
LONGEST = -(-4 * KEPT // 3) * 4
"""Letters that hold the hashes of a chain, at most."""


def remember(chains: TargetSequences) -> dict[str, Any]:
    """The record of training targets. chains : target → the sequences that are compared."""
    samples = []
    for target, sequences in chains.items():
        samples += [(target, sample(sequence, KEPT)) for sequence in sequences]
    return _record(chains, samples)


def merged(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """The record of all targets of two records."""
    samples = []
    for record in (one, other):
        references = recall(record)
        for of_chain, targets in zip(
            references.samples, references.targets, strict=True
        ):
            samples += [(target, of_chain) for target in targets]
    return _record({*one["targets"], *other["targets"]}, samples)


def _record(
    targets: Iterable[str], samples: list[tuple[str, Sample]]
) -> dict[str, Any]:
    names = sorted(targets)
    place = places_of(names)
    n_kept = max(FEWEST, min(KEPT, IN_ALL // max(1, len(samples))))
    where: dict[tuple[str, int], set[int]] = {}
    for name, (smallest, n_kmers) in samples:
        text = base64.b64encode(smallest[:n_kept].astype("<u4").data).decode()
        where.setdefault((text, n_kmers), set()).add(place[name])
    chains = []
    for (text, n_kmers), places in sorted(where.items()):
        chains.append({"of": sorted(places), "kmers": n_kmers, "smallest": text})
    return {"targets": names, "chains": chains}


def recall(record: dict[str, Any]) -> References:
    """The chains of a record."""
    samples = []
    targets = []
    for chain in record["chains"]:
        samples.append(Sample(hashes(chain["smallest"]), chain["kmers"]))
        targets.append([record["targets"][place] for place in chain["of"]])
    return References(samples, targets)


@functools.cache  # networks of several folds remember mostly the same chains
def hashes(text: str) -> np.ndarray:
    """The hashes of a chain, uint32, (n,).

    Raises ValueError when the text does not hold rising numbers.
    """
    values = np.frombuffer(base64.b64decode(text, validate=True), "<u4").astype(
        np.uint32
    )
    if not (values[:-1] < values[1:]).all():
        raise ValueError("the hashes of a chain are not sorted")
    return values
