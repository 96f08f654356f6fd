"""Figures by matplotlib: the ranking, the PAE and the contact maps of a scored folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from toporank.errors import ConfigError
from toporank.metrics import ACCEPTABLE, HIGH, MEDIUM
from toporank.ranking.verdict import VERDICTS
from toporank.report.pae import WORST, chain_ends
from toporank.report.structures import QUALITY_COLOURS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from toporank.inputs.confidence.decoy import Pae

VERDICT_COLOURS = ("#0a7d5f", "#b96a00", "#b3261e")
"""Of the verdicts from good to bad."""
PAE_COLOURS = ("#0b4f5c", "#3f8a80", "#a9cfae", "#f0f1da", "#ffffff")
"""Of PAE from 0 Å up."""
INSTALL = "pip install 'toporank[figures]'"
MOST_ROWS = 40
"""Models of a ranking that are drawn, the best ones."""
LETTER = 0.08
"""Inches of a letter of a name."""
MOST_LABELS = 60
"""Residues of a contact map up to which each is named."""


def new_figure(width: float, height: float) -> tuple[Figure, Any]:
    """Return a figure of so many inches and its axes, drawn without a screen.

    Raises
    ------
    ConfigError : matplotlib is missing
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ConfigError("figures need matplotlib", remedy=INSTALL) from error
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots()


def ranking_figure(models: pd.DataFrame) -> Figure:
    """Return a plot of DockQ with intervals of the models of a target, coloured by verdict.

    models : of `model_table`.
    """
    scored = models[models["dockq"].notna()].head(MOST_ROWS)
    if scored.empty:
        target = models["target"].iloc[0]
        raise ConfigError(
            "no model of this target has a score",
            where=target,
            remedy="models.csv has the reasons",
        )
    width = 5 + LETTER * scored["decoy"].str.len().max()
    figure, axes = new_figure(width, 1.2 + 0.28 * len(scored))
    rows = np.arange(len(scored))
    colour_of = dict(zip(VERDICTS, VERDICT_COLOURS, strict=True))
    colours = scored["verdict"].map(colour_of).tolist()
    for threshold in (ACCEPTABLE, MEDIUM, HIGH):
        axes.axvline(threshold, color="0.88", zorder=0)
    axes.hlines(
        rows,
        scored["dockq_low"],
        scored["dockq_high"],
        color=colours,
        alpha=0.35,
        linewidth=5,
    )
    axes.scatter(scored["dockq"], rows, color=colours, s=28, zorder=3)
    axes.set_yticks(rows, scored["decoy"])
    axes.set(
        xlim=(0, 1),
        ylim=(len(scored) - 0.5, -0.5),
        xlabel="expected DockQ and its 80 % interval",
    )
    axes.set_title(scored["target"].iloc[0])
    for verdict, colour in colour_of.items():
        axes.scatter([], [], color=colour, label=verdict)
    axes.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, -0.9 / figure.get_figheight()),
        ncols=3,
        frameon=False,
    )
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def pae_figure(pae: Pae, title: str) -> Figure:
    """Return the PAE of a model as a picture with lines between its chains."""
    from matplotlib.colors import LinearSegmentedColormap

    figure, axes = new_figure(5.4, 4.6)
    colours = LinearSegmentedColormap.from_list("pae", PAE_COLOURS)
    image = axes.imshow(
        pae.values, cmap=colours, vmin=0, vmax=WORST, interpolation="nearest"
    )
    figure.colorbar(image, ax=axes, label="predicted aligned error, Å")
    start = 0
    middles = []
    ends = chain_ends(pae.residues)
    for _, end in ends:
        middles.append((start + end) / 2)
        start = end
        if end < len(pae.residues):
            axes.axhline(end - 0.5, color="black", linewidth=0.8)
            axes.axvline(end - 0.5, color="black", linewidth=0.8)
    names = [chain for chain, _ in ends]
    axes.set_xticks(middles, names)
    axes.set_yticks(middles, names)
    axes.set(title=title, xlabel="scored residue", ylabel="aligned residue")
    return figure


def contact_figure(contacts: dict[str, Any], title: str) -> Figure:
    """Return a contact map: residues of two partners, contacts coloured by predicted quality.

    contacts : one of the maps of `structures.contact_maps`.
    """
    from matplotlib.colors import LinearSegmentedColormap

    rows, columns, quality = np.array(contacts["k"]).reshape(-1, 3).T
    first, second = contacts["name"].split(":")
    n_rows, n_columns = len(contacts["a"]), len(contacts["b"])
    figure, axes = new_figure(
        2.4 + 0.16 * min(n_columns, MOST_LABELS), 1.8 + 0.16 * min(n_rows, MOST_LABELS)
    )
    colours = LinearSegmentedColormap.from_list("quality", QUALITY_COLOURS)
    image = np.full((n_rows, n_columns), np.nan)
    image[rows, columns] = quality / 100
    drawn = axes.imshow(image, cmap=colours, vmin=0, vmax=1, interpolation="nearest")
    figure.colorbar(drawn, ax=axes, label="predicted quality", shrink=0.8)
    if n_columns <= MOST_LABELS:
        axes.set_xticks(range(n_columns), contacts["b"], rotation=90, fontsize=7)
    if n_rows <= MOST_LABELS:
        axes.set_yticks(range(n_rows), contacts["a"], fontsize=7)
    axes.set(title=title, xlabel=f"partner {second}", ylabel=f"partner {first}")
    return figure
