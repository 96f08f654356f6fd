"""The models of a target, and their interfaces, as a judge sees them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np

from toporank.chains.partners import ChainMap, chains_of
from toporank.comparing.decoys import Compared, Contacts, read_decoys
from toporank.comparing.votes import similarities
from toporank.confidence.own_order import first_of_program
from toporank.confidence.table import Confidence, counted
from toporank.lookup import by_decoy
from toporank.metrics import Floats
from toporank.scorer.judge import OF_PAIRS, OF_RESIDUES, Judge
from toporank.scorer.prediction import DECIMALS, Score
from toporank.structures.identity import DecoyKey

ContactsOf = Callable[[DecoyKey], Compared]
"""(target, decoy) → what it is compared by."""


def judged(
    judge: Judge,
    scores: Iterable[Score],
    contacts: ContactsOf,
    copy_of: Mapping[DecoyKey, str],
    stated: Iterable[Confidence],
    kinds: Mapping[str, str],
) -> list[Score]:
    """The scores of networks with the DockQ to expect in their place.

    An interface is judged by the networks and by the same interface of the other decoys. Copies
    vote once, and have the numbers of their originals.

    Parameters
    ----------
    judge : of the scorer
    scores : of the networks, of decoys and their interfaces
    contacts : (target, decoy) → what it is compared by
    copy_of : (target, decoy) → the decoy that it is a copy of
    stated : rows of confidence.csv that count, those of copies alike
    kinds : target → which kind of complex it is
    """
    scores = list(scores)
    confidence_of = by_decoy(stated)
    of_targets: dict[str, tuple[dict[str, Score], list[Score]]] = {}
    for score in scores:
        score = score._replace(kind=kinds.get(score.target, ""))
        wholes, interfaces = of_targets.setdefault(score.target, ({}, []))
        if score.interface:
            interfaces.append(score)
        else:
            wholes[score.decoy] = score
    expected: dict[tuple[str, str, str], Score] = {}
    for target, (wholes, interfaces) in of_targets.items():
        original_of = {}
        originals = {}
        for decoy, score in wholes.items():
            original = copy_of.get((target, decoy), decoy)
            original_of[decoy] = original if original in wholes else decoy
            if original_of[decoy] == decoy:
                originals[decoy] = score
        found = _of_target(judge, [*originals.values()], contacts, confidence_of)
        of_original = dict(zip(originals, found, strict=True))
        for decoy, score in wholes.items():
            original_score = of_original[original_of[decoy]]
            expected[target, decoy, ""] = _as_original(score, original_score)
        if interfaces:
            of_pairs = _of_interfaces(judge, target, interfaces, original_of, contacts)
            for score in of_pairs:
                expected[target, score.decoy, score.interface] = score
    return [expected[one.target, one.decoy, one.interface] for one in scores]


def _as_original(score: Score, original: Score) -> Score:
    """The score of a copy with the numbers of its original."""
    return score._replace(
        pred_dockq=original.pred_dockq,
        pred_network=original.pred_network,
        consensus=original.consensus,
        pred_confidence=original.pred_confidence,
        is_first=original.is_first,
    )


def _of_target(
    judge: Judge,
    scores: list[Score],
    contacts: ContactsOf,
    stated: Mapping[DecoyKey, Confidence],
) -> list[Score]:
    network = np.array([score.pred_dockq for score in scores])
    rows = [stated.get((score.target, score.decoy)) for score in scores]
    confidence = judge.confidence(
        _measures(rows),
        [score.kind for score in scores],
        [row.predictor if row else "" for row in rows],
    )
    # in a small pool the models' own agreement says as much as the program's order
    preferred = first_of_program(rows) if len(rows) >= judge.voters else None
    similarity: Iterable[Floats] = ()
    sizes = np.ones(len(scores))
    if len(scores) > 1:
        read = read_decoys(contacts((score.target, score.decoy)) for score in scores)
        similarity = similarities(read.contacts)
        sizes = read.interface.sum(axis=1)
    standing = judge.standing(
        {"network": network, "confidence": confidence}, similarity, sizes, preferred
    )
    dockq = judge.expected(standing.level, standing.above, confidence)
    is_first = np.zeros(len(scores), bool)
    if preferred is not None:
        is_first = preferred & (standing.above == standing.above.max())
    expected = []
    for i, of_networks in enumerate(scores):
        score = of_networks._replace(
            pred_dockq=round(float(dockq[i]), DECIMALS),
            pred_network=of_networks.pred_dockq,
            consensus=_or_none(float(standing.consensus[i])),
            pred_confidence=_or_none(float(confidence[i])),
            is_first=bool(is_first[i]),
        )
        expected.append(score)
    return expected


PartnerPair = tuple[tuple[str, ...], tuple[str, ...]]
"""Two partners, by the chains of the target."""


def _of_interfaces(
    judge: Judge,
    target: str,
    scores: Iterable[Score],
    original_of: Mapping[str, str],
    contacts: ContactsOf,
) -> list[Score]:
    """Interfaces of the decoys of a target with the DockQ to expect of each.

    Confidence does not count: its curves are those of whole models.

    original_of : decoy → the one that votes for it, itself unless it is a copy
    """
    of_pairs: dict[PartnerPair, list[Score]] = {}
    for score in scores:
        chain_map = contacts((target, score.decoy)).chains
        of_pairs.setdefault(_pair(score.interface, chain_map), []).append(score)
    place_of: dict[str, int] = {}
    compared: list[Compared] = []
    for decoy, original in original_of.items():
        if decoy == original:
            place_of[decoy] = len(compared)
            compared.append(contacts((target, decoy)))
    read = read_decoys(compared)
    found = []
    for pair, of_pair in of_pairs.items():
        votes = {}
        for score in of_pair:
            if score.decoy in place_of:
                votes[score.decoy] = score
        places = [place_of[decoy] for decoy in votes]
        similarity, sizes = _alike(read.between(pair), places)
        dockq = _expected(judge, [*votes.values()], similarity, sizes)
        dockq_of = dict(zip(votes, dockq, strict=True))
        for score in of_pair:
            expected = dockq_of.get(original_of.get(score.decoy, ""))
            if expected is None:  # it has no vote, as its decoy as a whole has no score
                (expected,) = _expected(judge, [score], (), np.ones(1))
            judged_score = score._replace(
                pred_dockq=round(expected, DECIMALS), pred_network=score.pred_dockq
            )
            found.append(judged_score)
    return found


def _alike(contacts: Contacts, places: list[int]) -> tuple[Iterator[Floats], Floats]:
    """Rows of the similarity matrix of decoys at some places, and how many contacts they have."""

    def rows() -> Iterator[Floats]:
        for place in places:
            yield contacts.similarity(place, contacts.common(place))[places]

    return rows(), contacts.sizes[places]


def _expected(
    judge: Judge, scores: Sequence[Score], similarity: Iterable[Floats], sizes: Floats
) -> list[float]:
    """DockQ to expect of one interface in several decoys.

    similarity, sizes : of the interface, as for `Judge.standing`
    """
    network = np.array([score.pred_dockq for score in scores])
    standing = judge.standing({"network": network}, similarity, sizes)
    return judge.structure.expected(standing.level, standing.above).tolist()


def _pair(interface: str, chain_map: ChainMap) -> PartnerPair:
    """The partners of an interface by the chains of the target."""
    partners = []
    for partner in interface.split(":"):
        chains = chains_of(partner)
        partners.append(tuple(sorted(chain_map.get(chain, chain) for chain in chains)))
    first, second = sorted(partners)
    return first, second


def _measures(rows: Sequence[Confidence | None]) -> dict[str, Floats]:
    """Measures of confidence by name, (n,) each, nan where unknown."""
    found: dict[str, Floats] = {}
    for name in (*OF_RESIDUES, *OF_PAIRS):
        values = [None if row is None else counted(row, name) for row in rows]
        found[name] = np.array(values, dtype=np.float64)
    return found


def _or_none(value: float) -> float | None:
    return None if np.isnan(value) else round(value, DECIMALS)
