"""What labels of several data sets contradict, told by names and files before anything is built."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from toporank.building.chunks.plan import PlannedDecoy
from toporank.building.coverage import SAME_LABEL

SplitOfTarget = Mapping[str, str]


def in_two_splits(
    learned: Mapping[str, SplitOfTarget], judging: Mapping[str, SplitOfTarget]
) -> list[str]:
    """That a target is trained on in one data set and held out in another, in a line; or none.

    Parameters
    ----------
    learned, judging : mapping
        Data set → target → split in its labels. Training targets of the first are held against
        the targets of the second that validate or test.
    """
    trained: dict[str, str] = {}
    for dataset, split_of in learned.items():
        for target, split in split_of.items():
            if split == "train":
                trained.setdefault(target, dataset)
    both = []
    for dataset, split_of in judging.items():
        for target, split in split_of.items():
            if split in ("val", "test") and target in trained:
                both.append((target, trained[target], split, dataset))
    if not both:
        return []
    target, first, split, second = min(both)
    n = len({target for target, *_ in both})
    return [
        f"target {target!r} is in split train of data set {first} and in split {split} of "
        f"{second}{_of_all(n, 'targets')} (give each target one split)"
    ]


def contradicting_labels(plans: Mapping[str, Iterable[PlannedDecoy]]) -> list[str]:
    """That one model, under two names, has two labels: the first such pair in a line, or none.

    Files of the same content with the same partners are one model.

    Parameters
    ----------
    plans : mapping
        Data set → its decoys.
    """
    first: dict[tuple, tuple[str, PlannedDecoy]] = {}
    pairs = []
    for dataset, decoys in plans.items():
        for decoy in sorted(decoys):
            if not decoy.dockq or not decoy.path or not decoy.version:
                continue
            content = decoy.size, decoy.version, decoy.model, decoy.partners
            original = first.setdefault(content, (dataset, decoy))
            difference = float(decoy.dockq) - float(original[1].dockq)
            if abs(difference) > SAME_LABEL:
                pairs.append((*original, dataset, decoy))
    if not pairs:
        return []
    first_set, one, second_set, other = pairs[0]
    return [
        f"{one.target}/{one.decoy} of data set {first_set} has DockQ {float(one.dockq):g}, and "
        f"the same model as {other.target}/{other.decoy} of {second_set} has "
        f"{float(other.dockq):g}{_of_all(len(pairs), 'pairs')} (correct the labels, or leave one "
        "of the models out)"
    ]


def _of_all(n: int, what: str) -> str:
    return f", one of {n} such {what}" if n > 1 else ""
