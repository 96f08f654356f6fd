"""Measures of the interfaces of a model, from what its predictor states."""

from __future__ import annotations

import numpy as np

from toporank.chains.partners import Partners
from toporank.errors import TopoRankError
from toporank.inputs.confidence import measures
from toporank.inputs.confidence.table import ALL_CHAINS
from toporank.inputs.confidence.tokens import LETTERS, Placed
from toporank.programs.catalogue import program_called
from toporank.programs.program import PredictorOutput
from toporank.structures.complex import Complex
from toporank.structures.neighbours import pairs_between_groups

UNNAMED_PAIRS = (
    "ipTM of pairs of chains has no names of chains, and neither PAE nor pLDDT says that it is in "
    "the order of the model: TopoRank does not use it"
)
INTERFACE = 10.0
"""Å between CA atoms of residues at an interface, as in `features.interface`."""


def measured(
    complex_: Complex,
    residues: np.ndarray,
    plddt: np.ndarray | None,
    pae: np.ndarray | None,
) -> dict[str, float]:
    """Return measures of the whole and of its interfaces, the mean over pairs of bodies that touch.

    Parameters
    ----------
    complex_ : the model
    residues : those with a CA atom in a body, N of them; int
    plddt : theirs, shape (N,)
    pae : theirs, shape (N, N)

    Returns
    -------
    measures : by the names of columns in confidence.csv; pLDDT from 0 to 100, PAE in Å
    """
    values: dict[str, float] = {}
    if plddt is not None:
        values["plddt"] = float(plddt.mean())
    body, near = _touching(complex_, residues)
    if not len(near):
        return values
    contacts, _ = pairs_between_groups(_cb(complex_)[residues], body, measures.CONTACT)
    interface = np.unique(near)
    if plddt is not None:
        values["interface_plddt"] = float(plddt[interface].mean())
        values["low_plddt"] = float((plddt[interface] < measures.LOW).mean())
        values["contact_plddt"] = measures.contact_plddt(plddt, contacts, interface)
    if pae is not None:
        values["interface_pae"] = measures.interface_pae(pae, near)
    of_pairs: dict[str, list[float]] = {
        "pdockq": [],
        "pdockq2": [],
        "ipsae": [],
        "lis": [],
    }
    for first, second in _pairs_of_bodies(body, near):
        touching = contacts[
            (np.sort(body[contacts], axis=1) == (first, second)).all(axis=1)
        ]
        if plddt is not None:
            of_pairs["pdockq"].append(measures.pdockq(plddt, touching))
        if pae is not None:
            of_first = np.flatnonzero(body == first)
            of_second = np.flatnonzero(body == second)
            of_pairs["ipsae"].append(measures.ipsae(pae, of_first, of_second))
            of_pairs["lis"].append(measures.lis(pae, of_first, of_second))
        if plddt is not None and pae is not None:
            is_first = body[touching[:, :1]] == first
            from_first = np.where(is_first, touching, touching[:, ::-1])
            of_pairs["pdockq2"].append(measures.pdockq2(plddt, pae, from_first))
    for name, of_interfaces in of_pairs.items():
        if of_interfaces:
            values[name] = float(np.mean(of_interfaces))
    return values


def residues_of_partners(complex_: Complex) -> np.ndarray:
    """Return the residues of partners that have a CA atom; int."""
    return np.flatnonzero((complex_.ca >= 0) & (complex_.body_of >= 0))


def _touching(complex_: Complex, residues: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The body of each of these residues, and the pairs of them at an interface, (P, 2)."""
    body = complex_.body_of[residues]
    near, _ = pairs_between_groups(complex_.xyz[complex_.ca[residues]], body, INTERFACE)
    return body, near


def _pairs_of_bodies(body: np.ndarray, near: np.ndarray) -> np.ndarray:
    """The bodies that touch, each pair once; int, (P, 2)."""
    return np.unique(np.sort(body[near], axis=1), axis=0)


def _cb(complex_: Complex) -> np.ndarray:
    """CB of each residue, CA where it has none; shape (R, 3), of no use for residues without CA."""
    xyz = complex_.xyz[complex_.ca]
    atoms = np.flatnonzero(complex_.atom_names == b"CB")
    xyz[complex_.residue_of[atoms]] = complex_.xyz[atoms]
    return xyz


def iptm_between_partners(
    complex_: Complex,
    partners: Partners,
    output: PredictorOutput,
    place: Placed,
    predictor: str,
) -> tuple[dict[str, float | str], list[str]]:
    """`iptm_of` and, where it is known, `interface_iptm`, and why it is not known.

    The reason is empty where each predicted chain is one partner.

    Of two partners the best pair of their chains counts; of several, the mean over those that
    touch.
    """
    try:
        complex_ = complex_.with_partners(partners)
    except TopoRankError:  # the measures of the structure say so
        return {}, []
    chains = list(dict.fromkeys(complex_.chain_of.tolist()))
    predicted = complex_.chains if program_called(predictor).proteins_only else chains
    # each chain alone
    if sorted(zip(predicted, strict=True)) == sorted(complex_.bodies):
        return {}, []
    values: dict[str, float | str] = {"iptm_of": ALL_CHAINS}
    if output.pair_iptm is None:
        return values, []
    order, known = _order_of_pairs(complex_, output, place, predictor)
    n_chains = len(output.pair_iptm)
    if len(order) != n_chains or not set().union(*complex_.bodies) <= set(order):
        names = ", ".join(output.pair_chains or []) or f"{n_chains} chains"
        what = (
            f"ipTM of pairs of chains is of {names}, but the model has {', '.join(chains)}: "
            "TopoRank does not use it"
        )
        return values, [what]
    if not known:
        return values, [UNNAMED_PAIRS]
    body, near = _touching(complex_, residues_of_partners(complex_))
    both_ways = np.fmax(output.pair_iptm, output.pair_iptm.T)
    places = [
        list(map(order.index, chains_of_body)) for chains_of_body in complex_.bodies
    ]
    best_of_pairs = []
    for first, second in _pairs_of_bodies(body, near):
        best = np.fmax.reduce(
            both_ways[np.ix_(places[first], places[second])], axis=None
        )
        if not np.isnan(best):
            best_of_pairs.append(float(best))
    if best_of_pairs:
        values["interface_iptm"] = float(np.mean(best_of_pairs))
    return values, []


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
    order = _chains_of_pairs(output, place, chains)
    if output.pair_chains or place.in_order or place.chains:
        return order, True
    lettered = sorted(chains) == list(LETTERS[: len(chains)])
    if lettered and program_called(predictor).letters:
        return sorted(chains), True
    return order, False


def _chains_of_pairs(
    output: PredictorOutput, place: Placed, chains: list[str]
) -> list[str]:
    """The names in the model of the chains of `pair_iptm`, in its order.

    chains : of the model, in that of its file.
    """
    if output.pair_chains is None:
        return chains if place.chains is None else place.chains
    if {*output.pair_chains} <= {*place.names}:
        return list(map(place.names.get, output.pair_chains))
    return output.pair_chains
