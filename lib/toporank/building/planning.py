"""The decoys that were found into the plan of what to build, and sentences about their partners."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from toporank.building.chunks.plan import PlannedDecoy, planned
from toporank.building.coverage import CoverageRow
from toporank.chains.body_names import lines_of_targets, sentence_of_a_body_alone
from toporank.chains.partners import EACH_CHAIN
from toporank.chains.resolve import LABEL, Given, Natives, given_for, resolve
from toporank.errors import printable
from toporank.files.state import known_state
from toporank.finding.complexes import Grouped
from toporank.finding.labels import Label, check_unambiguous, of_decoys
from toporank.structures.identity import DecoyKey

if TYPE_CHECKING:
    from toporank.building.native_labels import LabelledDecoy


def plan_of(
    grouped: Grouped,
    given: Mapping[DecoyKey, Given],
    labels: Iterable[Label] = (),
    natives: Natives | None = None,
) -> list[PlannedDecoy]:
    """The plan of all decoys, with the partners that `chains.resolve` decides.

    Parameters
    ----------
    grouped : Grouped
        The decoys by their targets.
    given : mapping
        Target and decoy → partners, as from `partners_given`.
    labels : iterable of Label
        The rows of the label table.
    natives : Natives, optional
        By whose chains the partners of their targets are named; where there is none, they are
        chains of the target.

    Raises
    ------
    ConfigError
        When a label may mean several files.
    """
    labels = list(labels)
    check_unambiguous(labels, grouped.ambiguous)
    chosen = resolve(grouped, given, natives)
    dockq = {label[:2]: label.dockq for label in of_decoys(labels)}
    states = {}
    for path, sketch in grouped.sketches.items():
        if sketch and sketch.content:
            states[path] = known_state(sketch.size, sketch.content)
    rows = planned(grouped.decoys, dockq, chosen, states)
    for i, row in enumerate(rows if grouped.of_monomers else ()):
        if row.key in grouped.of_monomers:
            rows[i] = row._replace(of_monomers="yes")
    return rows


def partners_given(
    grouped: Grouped,
    for_all: str,
    of_targets: Mapping[str, str],
    labels: Iterable[Label] = (),
) -> dict[DecoyKey, Given]:
    """The partners that somebody gave for each decoy.

    Parameters
    ----------
    grouped : Grouped
        The decoys by their targets.
    for_all : str
        Partners of every target that no table names, or empty.
    of_targets : mapping
        Target, or folder of a target, → partners.
    labels : iterable of Label
        The rows of the label table.

    Raises
    ------
    ConfigError
        When two tables contradict each other.
    """
    of_labels = {}
    for label in labels:
        if label.partners:
            of_labels[label[:2]] = Given(label.partners, LABEL, label.mapping)
    by_target = {}
    for decoy in grouped.decoys:
        if decoy.folder in of_targets:
            by_target[decoy.target] = of_targets[decoy.folder]
    keys = [decoy.key for decoy in grouped.decoys]
    return given_for(keys, for_all, by_target | dict(of_targets), of_labels)


# ---- in sentences --------------------------------------------------------------------------------


def recognised(rows: Iterable[PlannedDecoy | CoverageRow | LabelledDecoy]) -> list[str]:
    """Return which chains TopoRank takes for one partner.

    A sentence for each way names the targets that it is about.
    """
    sentence_of_target: dict[str, str] = {}
    for row in rows:
        if row.joined:
            sentence_of_target.setdefault(row.target, row.joined)
    targets: dict[str, list[str]] = {}
    for target, sentence in sentence_of_target.items():
        targets.setdefault(sentence, []).append(target)
    return lines_of_targets(targets)


def bodies_alone(plan: Iterable[PlannedDecoy], grouped: Grouped) -> list[str]:
    """Which targets are one body by nature, such as an antibody that has no antigen in any model.

    There is a sentence for each kind of them.
    """
    targets: dict[str, list[str]] = {}
    for decoy in plan:
        pairs = grouped.pairs.get(decoy.key)
        if pairs is None or decoy.partners or decoy.lacks:
            continue
        sentence = sentence_of_a_body_alone(grouped.kinds[decoy.key], pairs)
        if sentence and decoy.target not in targets.setdefault(sentence, []):
            targets[sentence].append(decoy.target)
    return lines_of_targets(targets)


def stray_partners(of_targets: Iterable[str], grouped: Grouped) -> list[str]:
    """That partners are given for targets without models, with an example; or nothing."""
    names: set[str] = set()
    for decoy in grouped.decoys:
        names |= {decoy.target, decoy.folder}
    stray = sorted(set(of_targets) - names)
    if not stray:
        return []
    what = "partners are given for targets without models"
    return [f"{what}, {len(stray)} in all, such as {stray[0]}"]


def called_in_models(rows: Iterable[PlannedDecoy]) -> list[str]:
    """That models call the partners of their native otherwise, with an example.

    The text is empty where no model does.
    """
    renamed = [row for row in rows if row.partners_given not in ("", EACH_CHAIN)]
    if not renamed:
        return []
    first = renamed[0]
    number = "1 model calls" if len(renamed) == 1 else f"{len(renamed)} models call"
    return [
        f"partners {first.partners_given} are chains of the native: {number} them otherwise, such "
        f"as {printable(first.target)}/{printable(first.decoy)}, where they are {first.partners}"
    ]
