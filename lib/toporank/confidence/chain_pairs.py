"""ipTM of pairs of chains: whose it is, and what it says of the partners of a model."""

from __future__ import annotations

import numpy as np

from toporank.chains.partners import Partners
from toporank.confidence.measures import (
    pairs_of_bodies,
    residues_of_partners,
    touching,
)
from toporank.confidence.table import ALL_CHAINS
from toporank.confidence.tokens import LETTERS, Placed
from toporank.errors import TopoRankError
from toporank.programs.catalogue import program_called
from toporank.programs.program import PredictorOutput
from toporank.structures.complex import Complex

UNNAMED_PAIRS = (
    "ipTM of pairs of chains has no names of chains, and neither PAE nor pLDDT says that it is in "
    "the order of the model: TopoRank does not use it"
)


def iptm_between_partners(
    complex_: Complex,
    partners: Partners,
    output: PredictorOutput,
    place: Placed,
    predictor: str,
) -> tuple[dict[str, float | str], str]:
    """`iptm_of` and, where it is known, `interface_iptm`, and why it is not known.

    The reason is empty where each predicted chain is one partner.

    Of two partners the best pair of their chains counts; of several, the mean over those that
    touch.
    """
    try:
        complex_ = complex_.with_partners(partners)
    except TopoRankError:  # the measures of the structure say so
        return {}, ""
    chains = list(dict.fromkeys(complex_.chain_of.tolist()))
    predicted = complex_.chains if program_called(predictor).proteins_only else chains
    each_alone = sorted(zip(predicted, strict=True)) == sorted(complex_.bodies)
    # one of the predicted chains may have been deleted since
    n_predicted = 0 if output.pair_iptm is None else len(output.pair_iptm)
    if each_alone and n_predicted <= len(predicted):
        return {}, ""
    values: dict[str, float | str] = {"iptm_of": ALL_CHAINS}
    if output.pair_iptm is None:
        return values, ""
    order, known = _order_of_pairs(complex_, output, place, predictor)
    n_chains = len(output.pair_iptm)
    if len(order) != n_chains or not set().union(*complex_.bodies) <= set(order):
        names = ", ".join(output.pair_chains or []) or f"{n_chains} chains"
        return values, (
            f"ipTM of pairs of chains is of {names}, but the model has {', '.join(chains)}: "
            "TopoRank does not use it"
        )
    if not known:
        return values, UNNAMED_PAIRS
    both_ways = np.fmax(output.pair_iptm, output.pair_iptm.T)
    places = [list(map(order.index, body)) for body in complex_.bodies]
    best_of_pairs = []
    for first, second in pairs_of_bodies(
        *touching(complex_, residues_of_partners(complex_))
    ):
        of_chains = both_ways[np.ix_(places[first], places[second])]
        best_of_pairs.append(float(np.fmax.reduce(of_chains, axis=None)))
    stated = np.array(best_of_pairs)[~np.isnan(best_of_pairs)]
    if len(stated):
        values["interface_iptm"] = float(stated.mean())
    return values, ""


def pairs_of_chains(
    complex_: Complex, output: PredictorOutput, place: Placed, predictor: str
) -> tuple[tuple[str, ...], np.ndarray | None]:
    """Return the chains of `pair_iptm` by their names in the model, and its values, (C, C).

    Nothing where the predictor has none, or its chains cannot be told.
    """
    if output.pair_iptm is None:
        return (), None
    order, known = _order_of_pairs(complex_, output, place, predictor)
    if not known or len(order) != len(output.pair_iptm):
        return (), None
    return tuple(order), output.pair_iptm


def _order_of_pairs(
    complex_: Complex, output: PredictorOutput, place: Placed, predictor: str
) -> tuple[list[str], bool]:
    """The chains of the model in the order of `pair_iptm`, and whether that order is certain."""
    chains = list(dict.fromkeys(complex_.chain_of.tolist()))
    if output.pair_chains:
        names = output.pair_chains
        if set(names) <= set(place.names):
            names = [place.names[name] for name in names]
        return names, True
    order = place.chains or chains
    if place.in_order or place.chains:
        return order, True
    lettered = sorted(chains) == list(LETTERS[: len(chains)])
    if lettered and program_called(predictor).letters:
        return sorted(chains), True
    return order, False
