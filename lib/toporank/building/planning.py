"""The decoys that were found into the plan of what to build: each with its partners and its label."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from toporank.building.chunks.plan import PlannedDecoy, planned
from toporank.inputs.complexes import Grouped, partners_of_each
from toporank.inputs.labels import Label, check_unambiguous, of_decoys
from toporank.structures.partners import partners_of


def plan_of(
    grouped: Grouped, for_all: str, of_targets: Mapping[str, str], labels: Iterable[Label] = ()
) -> list[PlannedDecoy]:
    """The plan of all decoys.

    for_all : partners of every target that no table names, or empty. of_targets : target, or folder of a target, →
    partners. Raises ConfigError when two tables contradict each other, or a label may mean several files.
    """
    labels = list(labels)
    check_unambiguous(labels, grouped.ambiguous)
    partners = partners_given(grouped, for_all, of_targets, labels)
    dockq = {label[:2]: label.dockq for label in of_decoys(labels)}
    return planned(grouped.decoys, dockq, partners, partners_of_each(partners, grouped), grouped.contents)


def partners_given(
    grouped: Grouped, for_all: str, of_targets: Mapping[str, str], labels: Iterable[Label] = ()
) -> dict[tuple[str, str], str]:
    """The partners of each decoy, target and decoy → text as it was given. Arguments and errors : as for `plan_of`."""
    of_labels = {label[:2]: label.partners for label in labels if label.partners}
    own = {decoy.target: of_targets[decoy.folder] for decoy in grouped.decoys if decoy.folder in of_targets}
    return partners_of([decoy.key for decoy in grouped.decoys], for_all, {**own, **of_targets}, of_labels)
