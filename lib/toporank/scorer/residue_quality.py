"""How good each residue and each contact of a model is.

Networks, the other models, and how much touches say it.

Networks judge contacts. A contact is right where the native has it; a residue, where it keeps at
least half of the contacts that it has there. How many residues a residue touches, and how near two
come, says much about that: what holds on to little is soon elsewhere. Logistic curves join these
measures to probabilities.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from toporank.comparing.contacts import TOUCHING
from toporank.comparing.decoys import Compared, Decoys, read_decoys
from toporank.comparing.votes import contact_agreement, residue_agreement, residue_named
from toporank.metrics import Floats
from toporank.scorer.curves import Curve, fit_curve
from toporank.scorer.prediction import KEY, QUALITY_DECIMALS
from toporank.settings import Section
from toporank.structures.complex import STANDARD
from toporank.structures.identity import DecoyKey

UNKNOWN = "UNK"
"""Name of a residue that counts as no standard amino acid."""
_NAMES = {letter: name for name, letter in STANDARD.items()}
LEAST = 0.01
"""Quality that networks give at least, and one less this at most: beyond, they are not that sure.
"""
AGREEMENT = "agreement"
MEASURES = {
    "residues": ("network", "touched", "decoy", AGREEMENT),
    "contacts": ("network", "nearness", "decoy", AGREEMENT),
}
"""What the curves take, see `measures`."""


class Curves(Section):
    """Probability that something is right, in a decoy that is alone and in one among others."""

    alone: Curve
    among: Curve

    def __call__(self, known: Mapping[str, Floats]) -> Floats:
        """(n,), by the measures of n residues or contacts.

        A decoy without an agreement, nan, is alone.
        """
        return np.where(
            np.isnan(known[AGREEMENT]), self.alone(known), self.among(known)
        )


class QualityCurves(Section):
    """Curves of residues and contacts.

    residues : how probable it is that a residue keeps at least half of its contacts in the native.
    contacts : that the native has a contact.
    """

    residues: Curves
    contacts: Curves


def measures(table: pd.DataFrame) -> pd.DataFrame:
    """Return what the curves take.

    Parameters
    ----------
    table : residues with `touched`, or contacts with `distance`, Å; `pred_network`, `agreement`,
        and the score of the decoy, `pred_dockq`

    Returns
    -------
    columns of `MEASURES`: the logarithm of the odds of pred_network; the score; log(1 + touched);
    nearness, what the distance lacks to `TOUCHING`; and the agreement
    """
    sure = table["pred_network"].astype(float).clip(LEAST, 1 - LEAST)
    result = pd.DataFrame(
        {"network": np.log(sure / (1 - sure)), "decoy": table["pred_dockq"]}
    )
    result[AGREEMENT] = table[AGREEMENT].astype(float)
    if "touched" in table:
        result["touched"] = np.log1p(table["touched"])
    else:
        result["nearness"] = (TOUCHING - table["distance"].astype(float)).clip(
            lower=0.0
        )
    return result


# ---- of the decoys of a target -------------------------------------------------------------------


def with_quality(
    residues: pd.DataFrame,
    contacts: pd.DataFrame,
    scores: Mapping[DecoyKey, float],
    compared: Callable[[DecoyKey], Compared],
    copy_of: Mapping[DecoyKey, str],
    quality: QualityCurves | None = None,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the tables of residues and contacts with agreement, names and quality.

    Parameters
    ----------
    residues, contacts : tables of `RESIDUES` and `CONTACTS` of the decoys of one target
    scores : of each decoy; decoys vote by them, copies once
    compared : (target, decoy) → what it is compared by
    copy_of : (target, decoy) → the decoy that it is a copy of, whose agreement it has
    quality : of the scorer; without it, quality is the mean of network and agreement
    """
    residues, contacts = with_agreement(residues, contacts, scores, compared, copy_of)
    return _judged(residues, contacts, quality)


def with_interface_quality(
    residues: pd.DataFrame,
    contacts: pd.DataFrame,
    dockq: Mapping[DecoyKey, Mapping[frozenset[str], float]],
    quality: QualityCurves | None = None,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the tables with quality by DockQ of each interface in place of that of its decoy.

    A residue has the mean over its contacts; one that has none, over the interfaces of its
    chain.

    Parameters
    ----------
    residues, contacts : as from `with_quality`, which says what `quality` is
    dockq : of decoys with several interfaces: two chains → DockQ of theirs
    """
    if not dockq or residues.empty:  # networks that give no local quality
        return residues, contacts
    of_contacts = []
    columns = (contacts[name] for name in (*KEY, "first", "second"))
    for target, decoy, *ends in zip(*columns, strict=True):
        chains = frozenset(end.rpartition(":")[0] for end in ends)
        of_contacts.append(dockq.get((target, decoy), {}).get(chains))
    of_interface = pd.Series(of_contacts, contacts.index, dtype=float)
    contacts = contacts.assign(pred_dockq=of_interface.fillna(contacts["pred_dockq"]))
    ends = contacts.melt(
        [*KEY, "pred_dockq"], ["first", "second"], value_name="residue"
    )
    mean = ends.groupby([*KEY, "residue"])["pred_dockq"].mean()
    keys = pd.MultiIndex.from_frame(residues[[*KEY, "residue"]])
    of_residue = mean.reindex(keys).set_axis(residues.index)
    chain = residues["residue"].str.rpartition(":")[0]
    places = pd.MultiIndex.from_arrays([residues["target"], residues["decoy"], chain])
    of_chain = _of_chains(dockq).reindex(places).set_axis(residues.index)
    of_residue = of_residue.fillna(of_chain)
    residues = residues.assign(pred_dockq=of_residue.fillna(residues["pred_dockq"]))
    return _judged(residues, contacts, quality)


def _of_chains(
    dockq: Mapping[DecoyKey, Mapping[frozenset[str], float]],
) -> pd.Series:
    """The mean DockQ of the interfaces of each chain, by target, decoy and chain."""
    rows = []
    for key, of_decoy in dockq.items():
        for chains, value in of_decoy.items():
            rows += [(*key, chain, value) for chain in chains]
    table = pd.DataFrame(rows, columns=[*KEY, "chain", "dockq"])
    return table.groupby([*KEY, "chain"])["dockq"].mean()


def _judged(
    residues: pd.DataFrame, contacts: pd.DataFrame, quality: QualityCurves | None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The tables with `pred_quality`."""
    residues = residues.assign(pred_quality=_mean_of_both(residues))
    contacts = contacts.assign(pred_quality=_mean_of_both(contacts))
    if quality and len(contacts):
        has_contacts = residues["touched"] > 0
        by_curves = quality.residues(measures(residues))
        residues["pred_quality"] = residues["pred_quality"].mask(
            has_contacts, by_curves
        )
        contacts["pred_quality"] = quality.contacts(measures(contacts))
    residues["pred_quality"] = residues["pred_quality"].round(QUALITY_DECIMALS)
    return residues, contacts.astype({"pred_quality": np.float32})


def _mean_of_both(table: pd.DataFrame) -> pd.Series:
    """The mean of network and agreement; without an agreement, what networks predict."""
    network = table["pred_network"].astype(float)
    return ((network + table[AGREEMENT]) / 2).fillna(network)


def with_agreement(
    residues: pd.DataFrame,
    contacts: pd.DataFrame,
    scores: Mapping[DecoyKey, float],
    compared: Callable[[DecoyKey], Compared],
    copy_of: Mapping[DecoyKey, str],
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the tables of one target with the score of the decoy, `pred_dockq`, and `agreement`.

    Residues also get `residue_name` and the number of residues that each has `touched`.

    A residue that touches no other partner has the mean of those of its decoy that do, so that all
    mean the same. One that networks say nothing about has no agreement. Parameters : as for
    `with_quality`.
    """
    residues, contacts = residues.copy(), contacts.copy()
    keys = dict.fromkeys(zip(residues["target"], residues["decoy"], strict=True))
    original = {}
    for target, decoy in keys:
        first = copy_of.get((target, decoy))
        original[decoy] = first if first and (target, first) in keys else decoy
    voters = [key for key in keys if original[key[1]] == key[1]]
    read = read_decoys(map(compared, voters))
    by_contact = contact_agreement(read, np.array([scores[key] for key in voters]))
    by_residue = residue_agreement(by_contact)

    score = {decoy: scores[target, decoy] for target, decoy in keys}
    for table in (residues, contacts):
        table["pred_dockq"] = table["decoy"].map(score).astype(float)
    of_original = residues["decoy"].map(original)
    names = _names_in_originals(keys, original, compared)
    places = pd.MultiIndex.from_arrays(
        [of_original, _translated(residues, "residue", names)]
    )
    residues["residue_name"] = (
        _residue_names(read).reindex(places, fill_value="").to_numpy()
    )
    agreement = by_residue.reindex(places).set_axis(residues.index)
    mean = of_original.map(by_residue.groupby(level="decoy").mean()).astype(float)
    agreement = agreement.fillna(mean).fillna(0.0).round(QUALITY_DECIMALS)
    is_known = residues["pred_network"].notna() & (len(voters) > 1)
    residues[AGREEMENT] = agreement.where(is_known)
    residues["touched"] = touched(residues, contacts)
    in_original = pd.DataFrame(
        {
            "first": _translated(contacts, "first", names),
            "second": _translated(contacts, "second", names),
        }
    )
    first, second = in_order(in_original)
    pairs = pd.MultiIndex.from_arrays([contacts["decoy"].map(original), first, second])
    contacts[AGREEMENT] = by_contact.reindex(pairs).to_numpy(np.float32)
    return residues, contacts


def _names_in_originals(
    keys: Iterable[DecoyKey],
    original: Mapping[str, str],
    compared: Callable[[DecoyKey], Compared],
) -> dict[str, dict[str, str]]:
    """Copy → what it calls each residue → what the original calls it; without those that agree."""
    names: dict[str, dict[str, str]] = {}
    for target, decoy in keys:
        if original[decoy] == decoy:
            continue
        pair = compared((target, original[decoy])), compared((target, decoy))
        read = read_decoys(pair)
        if read.chains[0] is read.chains[1]:
            continue
        of_original, of_copy = read.residues
        names[decoy] = {
            residue_named(residue): residue_named(of_original[place])
            for place, residue in of_copy.items()
            if place in of_original
        }
    return names


def _translated(
    table: pd.DataFrame, column: str, names: Mapping[str, Mapping[str, str]]
) -> np.ndarray:
    """Residues of a table as the originals of copies call them, (n,)."""
    residues = table[column].to_numpy(object).copy()
    for copy, in_original in names.items():
        rows = np.flatnonzero(table["decoy"] == copy)
        residues[rows] = [in_original.get(name, name) for name in residues[rows]]
    return residues


def _residue_names(read: Decoys) -> pd.Series:
    """The three letters of the amino acid of each residue, by decoy and name, such as `A:52A`."""
    names: dict[int, pd.Series] = {}
    parts = {"": pd.Series(dtype=str)}
    for decoy, chains in zip(read.names, read.chains, strict=True):
        if id(chains) not in names:
            of_chains = {}
            for chain in chains.values():
                for residue, letter in zip(chain.residues, chain.sequence, strict=True):
                    of_chains[residue_named(residue)] = _NAMES.get(letter, UNKNOWN)
            names[id(chains)] = pd.Series(of_chains, dtype=str)
        parts[decoy] = names[id(chains)]
    return pd.concat(parts)


def in_order(contacts: pd.DataFrame) -> np.ndarray:
    """The names of both residues of each contact in alphabetical order, (2, C)."""
    return np.sort(contacts[["first", "second"]].to_numpy(object), axis=1).T


def touched(residues: pd.DataFrame, contacts: pd.DataFrame) -> pd.Series:
    """Return how many residues of other partners each residue touches.

    One that touches none has the mean of the others of its decoy.
    """
    ends = contacts.melt("decoy", ["first", "second"], value_name="residue")
    counts = ends[["decoy", "residue"]].value_counts()
    n = counts.reindex(pd.MultiIndex.from_frame(residues[["decoy", "residue"]]))
    n = n.set_axis(residues.index)
    mean = n.groupby(residues["decoy"]).transform("mean")
    return n.fillna(mean).fillna(0.0)


# ---- what it is made from ------------------------------------------------------------------------


class LabelledContacts(NamedTuple):
    """Labelled decoys of a data set.

    Attributes
    ----------
    residues, contacts : tables of `RESIDUES` and `CONTACTS`, by networks that were trained without
        the cluster of the decoy
    compared : (target, decoy) → what it is compared by
    in_native : `target`, `decoy` and `residue` of those that touch another partner and are in the
        native, and whether each is `right`: it keeps at least half of its contacts there
    native_contacts : `target`, `decoy`, `first`, `second` of the contacts of the native, each in
        alphabetical order
    """

    residues: pd.DataFrame
    contacts: pd.DataFrame
    compared: Mapping[DecoyKey, Compared]
    in_native: pd.DataFrame
    native_contacts: pd.DataFrame


def quality_table(
    labelled: LabelledContacts,
    predicted: Mapping[DecoyKey, float],
    alone: Mapping[DecoyKey, float],
) -> pd.DataFrame:
    """Return a row for each residue and each contact that is known to be `right` or wrong.

    Parameters
    ----------
    labelled : the decoys
    predicted, alone : scores of the decoys among all of their target, and of each alone

    Returns
    -------
    columns `target` and `name` of the decoy, `of`, a key of `MEASURES`, these measures, and
    `alone`, the score of the decoy alone
    """
    in_native = pd.MultiIndex.from_frame(labelled.in_native[[*KEY, "residue"]])
    native_contacts = pd.MultiIndex.from_frame(labelled.native_contacts)
    parts = []
    for target, of_target in labelled.residues.groupby("target"):
        contacts = labelled.contacts[labelled.contacts["target"] == target]
        compared = labelled.compared.__getitem__
        residues, contacts = with_agreement(
            of_target, contacts, predicted, compared, {}
        )
        residues = residues.merge(labelled.in_native, on=[*KEY, "residue"])
        for end in ("first", "second"):
            ends = pd.MultiIndex.from_frame(contacts[[*KEY, end]])
            contacts = contacts[ends.isin(in_native)]
        first, second = in_order(contacts)
        pairs = pd.MultiIndex.from_frame(
            contacts[KEY].assign(first=first, second=second)
        )
        contacts = contacts.assign(right=pairs.isin(native_contacts))
        for of, table in (("residues", residues), ("contacts", contacts)):
            part = table[["target", "right"]].assign(
                name=table["decoy"], of=of, **measures(table)
            )
            parts.append(
                part.assign(alone=[alone[target, decoy] for decoy in table["decoy"]])
            )
    return pd.concat(parts, ignore_index=True).dropna(subset=["network"])


def fit_quality(table: pd.DataFrame) -> QualityCurves:
    """Return the curves that come nearest to what was seen, by least squares.

    Parameters
    ----------
    table : as from `quality_table`, with `cluster`; clusters weigh alike
    """
    of_kind = {of: table[table["of"] == of] for of in MEASURES}
    return QualityCurves(
        residues=fit_curves(of_kind["residues"], MEASURES["residues"]),
        contacts=fit_curves(of_kind["contacts"], MEASURES["contacts"]),
    )


def fit_curves(table: pd.DataFrame, names: Sequence[str]) -> Curves:
    """Return curves of these measures.

    Where no decoy has others, that among others is that of one alone.
    """
    seen = table.assign(dockq=table["right"].astype(float))
    by_itself = [name for name in names if name != AGREEMENT]
    alone = fit_curve(seen.assign(decoy=seen["alone"]), by_itself)
    among = seen[seen[AGREEMENT].notna()]
    return Curves(alone=alone, among=fit_curve(among, names) if len(among) else alone)
