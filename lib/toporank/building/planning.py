"""The decoys that were found into the plan of what to build: each with its partners and its
label.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from toporank.building.chunks.plan import PlannedDecoy, planned
from toporank.building.coverage import CoverageRow
from toporank.building.placed_partners import Natives, in_names_of_decoys
from toporank.comparing.native.mapping_text import in_decoy, read_mapping
from toporank.inputs.complexes import Grouped
from toporank.inputs.labels import Label, check_unambiguous, of_decoys
from toporank.inputs.natural_partners import lines_of_targets, natural_partners, partners_of_each
from toporank.structures.body_names import sentence_of_a_body_alone, sentence_of_pairs
from toporank.structures.partners import EACH_CHAIN, parse_partners, partners_of


def plan_of(
    grouped: Grouped,
    for_all: str,
    of_targets: Mapping[str, str],
    labels: Iterable[Label] = (),
    natives: Natives | None = None,
) -> list[PlannedDecoy]:
    """The plan of all decoys.

    A decoy for which nobody gives partners has those that `natural_partners` recognises.

    for_all : partners of every target that no table names, or empty. of_targets : target, or folder
    of a target, → partners. natives : by whose chains the partners of their targets are named;
    where there is none, they are chains of the target. Raises ConfigError when two tables
    contradict each other, or a label may mean several files.
    """
    labels = list(labels)
    check_unambiguous(labels, grouped.ambiguous)
    partners = partners_given(grouped, for_all, of_targets, labels)
    dockq = {label[:2]: label.dockq for label in of_decoys(labels)}
    of_target = {}
    for key, text in partners.items():
        if text == EACH_CHAIN or not (natives and key[0] in natives.chains):
            of_target[key] = text
    own = partners | partners_of_each(of_target, grouped)
    for label in of_decoys(labels):
        if label.mapping and label.partners != EACH_CHAIN and label[:2] in of_target:
            own[label[:2]] = in_decoy(label.partners, read_mapping(label.mapping))
    natural = {key: text for key, text in natural_partners(grouped).items() if key not in partners}
    rows = planned(grouped.decoys, dockq, partners, own | natural, grouped.contents, natural)
    if natives:
        rows = in_names_of_decoys(rows, natives, grouped.chains)
    return [_with_sentence(row, grouped) for row in rows]


def _with_sentence(decoy: PlannedDecoy, grouped: Grouped) -> PlannedDecoy:
    """A decoy with the sentence on chains that are one partner by nature, where its own chains show
    that.
    """
    if not decoy.recognised or decoy.key not in grouped.pairs:
        return decoy
    sentence = sentence_of_pairs(parse_partners(decoy.partners), grouped.pairs[decoy.key])
    return decoy._replace(joined=sentence)


def recognised(plan: Iterable[PlannedDecoy | CoverageRow]) -> list[str]:
    """Which chains TopoRank takes for one partner, a sentence for each way, with the targets that
    it is about.
    """
    sentence_of_target: dict[str, str] = {}
    for decoy in plan:
        if decoy.joined:
            sentence_of_target.setdefault(decoy.target, decoy.joined)
    targets: dict[str, list[str]] = {}
    for target, sentence in sentence_of_target.items():
        targets.setdefault(sentence, []).append(target)
    return lines_of_targets(targets)


def bodies_alone(plan: Iterable[PlannedDecoy], grouped: Grouped) -> list[str]:
    """Which targets are one body by nature, such as an antibody without antigen: a sentence for
    each kind of them.
    """
    targets: dict[str, dict[str, None]] = {}
    for decoy in plan:
        if decoy.key in grouped.pairs and not decoy.partners:
            sentence = sentence_of_a_body_alone(grouped.kinds[decoy.key], grouped.pairs[decoy.key])
            if sentence:
                targets.setdefault(sentence, {})[decoy.target] = None
    return lines_of_targets({sentence: list(names) for sentence, names in targets.items()})


def partners_given(
    grouped: Grouped, for_all: str, of_targets: Mapping[str, str], labels: Iterable[Label] = ()
) -> dict[tuple[str, str], str]:
    """The partners of each decoy, target and decoy → text as it was given. Arguments and errors :
    as for `plan_of`.
    """
    of_labels = {label[:2]: label.partners for label in labels if label.partners}
    own = {
        decoy.target: of_targets[decoy.folder]
        for decoy in grouped.decoys
        if decoy.folder in of_targets
    }
    return partners_of(
        [decoy.key for decoy in grouped.decoys], for_all, {**own, **of_targets}, of_labels
    )
