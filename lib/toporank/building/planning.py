"""The decoys that were found into the plan of what to build.

Each decoy has its partners and its label.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from toporank.building.chunks.plan import PlannedDecoy, planned
from toporank.building.coverage import CoverageRow
from toporank.building.placed_partners import Natives, in_names_of_decoys
from toporank.chains.body_names import sentence_of_a_body_alone, sentence_of_pairs
from toporank.chains.partners import (
    EACH_CHAIN,
    in_decoy,
    parse_partners,
    partners_of,
    read_mapping,
)
from toporank.files.state import known_state
from toporank.inputs.complexes import Grouped
from toporank.inputs.labels import Label, check_unambiguous, of_decoys
from toporank.inputs.natural_partners import (
    lines_of_targets,
    natural_partners,
    partners_of_each,
)
from toporank.structures.identity import DecoyKey

if TYPE_CHECKING:
    from toporank.building.native_labels import LabelledDecoy


def plan_of(
    grouped: Grouped,
    for_all: str,
    of_targets: Mapping[str, str],
    labels: Iterable[Label] = (),
    natives: Natives | None = None,
) -> list[PlannedDecoy]:
    """The plan of all decoys.

    A decoy for which nobody gives partners has those that `natural_partners` recognises.

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
    natives : Natives, optional
        By whose chains the partners of their targets are named; where there is none, they are
        chains of the target.

    Raises
    ------
    ConfigError
        When two tables contradict each other, or a label may mean several files.
    """
    labels = list(labels)
    of_decoys_labels = of_decoys(labels)
    check_unambiguous(labels, grouped.ambiguous)
    partners = partners_given(grouped, for_all, of_targets, labels)
    dockq = {label[:2]: label.dockq for label in of_decoys_labels}
    of_target = {}
    for key, text in partners.items():
        has_native = natives and key[0] in natives.chains
        if text == EACH_CHAIN or not has_native:
            of_target[key] = text
    of_files = partners | partners_of_each(of_target, grouped)
    for label in of_decoys_labels:
        key = label[:2]
        if label.mapping and label.partners != EACH_CHAIN and key in of_target:
            of_files[key] = in_decoy(label.partners, read_mapping(label.mapping))
    natural = {
        key: text
        for key, text in natural_partners(grouped).items()
        if key not in partners
    }
    states = {}
    for path, content in grouped.contents.items():
        if content:
            states[path] = known_state(grouped.sizes[path], content)
    of_files |= natural
    rows = planned(grouped.decoys, dockq, partners, of_files, states, natural)
    if natives:
        rows = in_names_of_decoys(rows, natives, grouped.chains)
    for i, row in enumerate(rows):
        pairs = grouped.pairs.get(row.key)
        if row.recognised and pairs is not None:
            sentence = sentence_of_pairs(parse_partners(row.partners), pairs)
            rows[i] = row._replace(joined=sentence)
        if row.key in grouped.of_monomers:
            rows[i] = rows[i]._replace(of_monomers="yes")
    return rows


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
    """Which targets are one body by nature, such as an antibody without antigen.

    There is a sentence for each kind of them.
    """
    targets: dict[str, list[str]] = {}
    for decoy in plan:
        pairs = grouped.pairs.get(decoy.key)
        if pairs is None or decoy.partners:
            continue
        sentence = sentence_of_a_body_alone(grouped.kinds[decoy.key], pairs)
        if sentence and decoy.target not in targets.setdefault(sentence, []):
            targets[sentence].append(decoy.target)
    return lines_of_targets(targets)


def partners_given(
    grouped: Grouped,
    for_all: str,
    of_targets: Mapping[str, str],
    labels: Iterable[Label] = (),
) -> dict[DecoyKey, str]:
    """The partners of each decoy, target and decoy → text as it was given.

    Arguments and errors : as for `plan_of`.
    """
    of_labels = {label[:2]: label.partners for label in labels if label.partners}
    by_target = {}
    for decoy in grouped.decoys:
        if decoy.folder in of_targets:
            by_target[decoy.target] = of_targets[decoy.folder]
    keys = [decoy.key for decoy in grouped.decoys]
    return partners_of(keys, for_all, by_target | dict(of_targets), of_labels)
