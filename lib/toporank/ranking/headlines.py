"""The number of a decoy with several interfaces: of its whole and of the main ones.

A decoy has the mean of the DockQ of the whole and of the mean over its main interfaces. Where an
antibody meets an antigen, the number is the mean over their interfaces alone (docs/partners.md).
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from operator import itemgetter

import numpy as np
import pandas as pd

from toporank.ranking.interface_words import weak_partners
from toporank.ranking.interfaces import BESIDE, MAIN, InterfaceRow
from toporank.scorer.prediction import DECIMALS, KEY, Score


def summaries(table: Iterable[InterfaceRow]) -> pd.DataFrame:
    """Return the interfaces of each decoy in one row; decoys without known interfaces are left out.

    Returns
    -------
    DataFrame with target, decoy, `n_interfaces` in contact, and the smallest and the mean DockQ to
    expect of its main interfaces, `min_interface` and `mean_interface`; `weakest_interface` is the
    name of the one with the smallest, where there are several; `of_antibody`, whether others were
    left out beside those of an antibody; `weak_partners`, as from that function
    """
    table = list(table)
    weak = {}
    for key, of_decoy in groupby(table, key=itemgetter(0, 1)):
        weak[key] = weak_partners(of_decoy)
    rows = pd.DataFrame(table, columns=InterfaceRow._fields)
    rows = rows.astype({"dockq": float, "dockq_alone": float})
    rows = rows[rows["n_ca_pairs"].notna()].sort_values(
        ["dockq", "dockq_alone", "interface"]
    )
    rows["touches"] = rows["n_ca_pairs"] > 0
    rows["beside"] = rows["role"] == BESIDE
    of_all = rows.groupby(KEY, as_index=False)
    summary = of_all.agg(n_interfaces=("touches", "sum"), of_antibody=("beside", "any"))
    keys = zip(summary["target"], summary["decoy"], strict=True)
    summary["weak_partners"] = [weak[key] for key in keys]
    of_main = rows[rows["role"] == MAIN].groupby(KEY, as_index=False)
    main = of_main.agg(
        min_interface=("dockq", "min"),
        mean_interface=("dockq", "mean"),
        weakest_interface=("interface", "first"),
        n_main=("dockq", "count"),
    )
    main["mean_interface"] = main["mean_interface"].round(DECIMALS)
    has_several = main.pop("n_main") > 1
    main["weakest_interface"] = main["weakest_interface"].where(has_several, "")
    return summary.merge(main, how="left", on=KEY)


def headline(
    whole: float, mean: float, *, of_antibody: bool, has_weak_partner: bool
) -> float:
    """Return the number of a decoy.

    Where a partner is weak the whole is not better than its interfaces on average: a graph of the
    whole sees that partner by few contacts or none (docs/research/scorer.md#several-interfaces).

    Parameters
    ----------
    whole : DockQ to expect of the whole
    mean : of its main interfaces, nan where none is scored
    of_antibody : as in `summaries`
    has_weak_partner : whether `weak_partners` names one

    Examples
    --------
    >>> headline(0.8, 0.6, of_antibody=False, has_weak_partner=False)
    0.7
    >>> headline(0.8, 0.6, of_antibody=False, has_weak_partner=True)
    0.6
    """
    if np.isnan(whole) or np.isnan(mean):
        return whole
    of_both = round((whole + mean) / 2, DECIMALS)
    if of_antibody:
        return mean
    return min(of_both, mean) if has_weak_partner else of_both


def with_headlines(
    scores: Iterable[Score], table: Iterable[InterfaceRow]
) -> list[Score]:
    """Return the scores of decoys with their number in place of that of the whole.

    What its program ranks first has the highest of its target.

    table : as from `with_roles`
    """
    means = {}
    of_antibodies = set()
    weak = set()
    for key, group in groupby(table, key=itemgetter(0, 1)):
        of_decoy = list(group)
        of_main = [row.dockq for row in of_decoy if row.role == MAIN]
        values = [dockq for dockq in of_main if dockq is not None]
        if values:
            means[key] = round(sum(values) / len(values), DECIMALS)
        if any(row.role == BESIDE for row in of_decoy):
            of_antibodies.add(key)
        if weak_partners(of_decoy):
            weak.add(key)
    numbered = []
    highest: dict[str, float] = {}
    for score in scores:
        key = score.target, score.decoy
        number = headline(
            score.pred_dockq,
            means.get(key, np.nan),
            of_antibody=key in of_antibodies,
            has_weak_partner=key in weak,
        )
        highest[score.target] = max(number, highest.get(score.target, number))
        numbered.append(score._replace(pred_dockq=number))
    return [
        score._replace(pred_dockq=highest[score.target]) if score.is_first else score
        for score in numbered
    ]
