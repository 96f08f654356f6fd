"""Measures of the interfaces of a model, from what its predictor states."""

from __future__ import annotations

import numpy as np

from toporank.errors import TopoRankError
from toporank.inputs.confidence import measures
from toporank.inputs.confidence.readers import PredictorOutput
from toporank.inputs.confidence.table import ALL_CHAINS
from toporank.inputs.confidence.tokens import Placed
from toporank.structures.complex import Complex
from toporank.structures.neighbours import pairs_between_groups
from toporank.structures.partners import Partners

INTERFACE = 10.0
"""Å between CA atoms of residues at an interface, as in `features.interface`."""
PROTEINS_ONLY = ("ColabFold", "AlphaFold-Multimer")
"""Predictors whose models have other chains only if these were added since."""


def measured(complex_: Complex, own: np.ndarray, plddt: np.ndarray | None, pae: np.ndarray | None) -> dict[str, float]:
    """Measures of the whole and of its interfaces, the mean over pairs of bodies that touch.

    own : indices of the residues with a CA atom in a body; plddt and pae are theirs.
    """
    found = {} if plddt is None else {"plddt": float(plddt.mean())}
    ca, body = complex_.xyz[complex_.ca[own]], complex_.body_of[own]
    near, _ = pairs_between_groups(ca, body, INTERFACE)
    if not len(near):
        return found
    contacts, _ = pairs_between_groups(_cb(complex_)[own], body, measures.CONTACT)
    if plddt is not None:
        found["interface_plddt"] = float(plddt[np.unique(near)].mean())
        found["low_plddt"] = float((plddt[np.unique(near)] < measures.LOW).mean())
        found["contact_plddt"] = measures.contact_plddt(plddt, contacts, np.unique(near))
    if pae is not None:
        found["interface_pae"] = measures.interface_pae(pae, near)
    several: dict[str, list[float]] = {}
    for first, second in np.unique(np.sort(body[near], axis=1), axis=0):
        touching = contacts[(np.sort(body[contacts], axis=1) == (first, second)).all(axis=1)]
        if plddt is not None:
            several.setdefault("pdockq", []).append(measures.pdockq(plddt, touching))
        if pae is not None:
            of_bodies = np.flatnonzero(body == first), np.flatnonzero(body == second)
            several.setdefault("ipsae", []).append(measures.ipsae(pae, *of_bodies))
            several.setdefault("lis", []).append(measures.lis(pae, *of_bodies))
        if plddt is not None and pae is not None:
            several.setdefault("pdockq2", []).append(measures.pdockq2(plddt, pae, _from_first(touching, body, first)))
    return found | {name: float(np.mean(values)) for name, values in several.items()}


def _from_first(pairs: np.ndarray, body: np.ndarray, first: int) -> np.ndarray:
    """The pairs, each with the residue of the first body in front."""
    return np.where((body[pairs[:, :1]] == first), pairs, pairs[:, ::-1])


def _cb(complex_: Complex) -> np.ndarray:
    """CB of each residue, CA where it has none; shape (R, 3), of no use for residues without CA."""
    xyz = complex_.xyz[complex_.ca]
    atoms = np.flatnonzero(complex_.atom_names == b"CB")
    xyz[complex_.residue_of[atoms]] = complex_.xyz[atoms]
    return xyz


def iptm_between_partners(
    complex_: Complex, partners: Partners, output: PredictorOutput, place: Placed, predictor: str
) -> tuple[dict[str, float | str], list[str]]:
    """`iptm_of` and, where it is known, `interface_iptm`, and why it is not known; empty where each predicted chain is
    one partner.

    Of two partners the best pair of their chains counts; of several, the mean over those that touch.
    """
    try:
        complex_ = complex_.with_partners(partners)
    except TopoRankError:  # the measures of the structure say so
        return {}, []
    chains = [*dict.fromkeys(residue.chain for residue in complex_.residues)]
    predicted = complex_.chains if predictor in PROTEINS_ONLY else chains
    if sorted((chain,) for chain in predicted) == sorted(complex_.bodies):
        return {}, []
    if output.pair_iptm is None:
        return {"iptm_of": ALL_CHAINS}, []
    order = _chains_of_pairs(output, place, chains)
    if len(order) != len(output.pair_iptm) or not {chain for body in complex_.bodies for chain in body} <= {*order}:
        named = ", ".join(output.pair_chains) if output.pair_chains else f"{len(output.pair_iptm)} chains"
        what = f"ipTM of pairs of chains is of {named}, but the model has {', '.join(chains)}: TopoRank does not use it"
        return {"iptm_of": ALL_CHAINS}, [what]
    own = np.flatnonzero((complex_.ca >= 0) & (complex_.body_of >= 0))
    near, _ = pairs_between_groups(complex_.xyz[complex_.ca[own]], complex_.body_of[own], INTERFACE)
    places = [[order.index(chain) for chain in body] for body in complex_.bodies]
    both_ways = np.fmax(output.pair_iptm, output.pair_iptm.T)
    touching = np.unique(np.sort(complex_.body_of[own][near], axis=1), axis=0)
    best = [np.fmax.reduce(both_ways[np.ix_(places[first], places[second])], axis=None) for first, second in touching]
    values = [float(value) for value in best if not np.isnan(value)]
    return {"iptm_of": ALL_CHAINS} | ({"interface_iptm": float(np.mean(values))} if values else {}), []


def _chains_of_pairs(output: PredictorOutput, place: Placed, chains: list[str]) -> list[str]:
    """The names in the model of the chains of `pair_iptm`, in its order. chains : of the model, in that of its file."""
    if output.pair_chains is None:
        return chains if place.chains is None else place.chains
    if {*output.pair_chains} <= {*place.names}:
        return [place.names[name] for name in output.pair_chains]
    return output.pair_chains
