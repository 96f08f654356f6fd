"""Figures as inline SVG: text stays text, colours follow the page's theme, bytes are the same every time.

Without matplotlib a sentence stands in the place of each.
"""

from __future__ import annotations

import functools
import io
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from markupsafe import Markup, escape

with suppress(ImportError):
    import matplotlib

    matplotlib.use("Agg")

    import matplotlib.pyplot as plt
    from matplotlib.ticker import MaxNLocator, MultipleLocator

if TYPE_CHECKING:
    from matplotlib.figure import Figure

from toporank.metrics import ACCEPTABLE, HIGH, MEDIUM
from toporank.report.formatting import SPLITS

THEME = {
    "#1b2530": "--ink",
    "#5b6875": "--muted",
    "#dde3e6": "--line",
    "#1f7fc4": "--val",
    "#d1600a": "--test",
    "#8f7aa0": "--train",
    "#0a8f6c": "--mark",
}
"""Colours the figures are drawn in, and the CSS variables that replace them."""

INK, MUTED, LINE, VAL, TEST, TRAIN, MARK = THEME
SPLIT_COLOURS = {"test": TEST, "val": VAL, "train": TRAIN}
WIDTH = 3.4
"""Of every figure, in inches: shown at 340 px, its 8 point text appears as 11 px."""

MANY_POINTS = 1500
"""From this many points on, they are drawn as one image instead of one element each."""

STYLE = {
    "svg.fonttype": "none", "font.size": 8, "font.family": "DejaVu Sans", "text.color": INK, "axes.labelcolor": INK,
    "axes.edgecolor": MUTED, "axes.linewidth": 0.6, "axes.spines.top": False, "axes.spines.right": False,
    "axes.axisbelow": True, "axes.labelsize": 8, "xtick.color": MUTED, "ytick.color": MUTED, "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5, "xtick.major.width": 0.6, "ytick.major.width": 0.6, "xtick.major.size": 2.5,
    "ytick.major.size": 2.5, "grid.color": LINE, "grid.linewidth": 0.6, "figure.dpi": 72, "path.simplify": False,
    "axes.unicode_minus": True, "text.parse_math": False,
}  # fmt: skip

INSTALL = "This figure needs matplotlib: pip install 'toporank[train]', or -r requirements-train.txt in a clone."


def drawn(draw: Callable[..., Markup]) -> Callable[..., Markup]:
    """Decorator of a function that draws: a sentence in the place of its figure where matplotlib is missing."""

    @functools.wraps(draw)
    def figure(*arguments: object) -> Markup:
        return draw(*arguments) if "matplotlib" in globals() else Markup(f"<p>{escape(INSTALL)}</p>")

    return figure


@contextmanager
def drawing(name: str, height: float, rows: int = 1, **options: object) -> Iterator[tuple[Figure, np.ndarray]]:
    """A styled figure of `WIDTH` x `height` inches and its axes; ids inside its SVG derive from `name`."""
    with plt.rc_context({**STYLE, "svg.hashsalt": name}):
        figure, axes = plt.subplots(rows, 1, figsize=(WIDTH, height), squeeze=False, **options)
        try:
            yield figure, axes[:, 0]
        finally:
            plt.close(figure)


def svg(figure: Figure, label: str) -> Markup:
    """A figure as an SVG element to stand in HTML; `label` describes it in words."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", transparent=True, dpi=220, metadata={"Date": None})
    text = buffer.getvalue()
    text = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>|<defs>\s*</defs>", "", text, flags=re.DOTALL)
    text = re.sub(r'<g id="[^"]*">', "<g>", text)
    text = re.sub(r"font-family: [^;\"]+;? ?", "", text).replace("xlink:href", "href")
    text = re.sub(r' (?:d|x|y|transform)="[^"]*"', lambda found: re.sub(r"(\.\d\d)\d+", r"\1", found[0]), text)
    text = re.sub(r'(?<=;base64,)[^"]*', lambda found: "".join(found[0].split()), text)
    for colour, variable in THEME.items():
        text = text.replace(colour, f"var({variable})")
    box = re.search(r'viewBox="[^"]*"', text)[0]
    body = re.sub(r"\n\s*", " ", text[text.index(">", text.index("<svg")) + 1 :])
    return Markup(f'<svg class="plot" role="img" aria-label="{escape(label)}" {box}>{body}')


@drawn
def learning_curve(run: str, metrics: pd.DataFrame, best: dict[str, int], top: float, lowest: float) -> Markup:
    """Losses above, validation Spearman below, by epoch.

    metrics : a run's metrics.csv. best : epoch of its best checkpoint by selection rule. top : upper end of the
    loss axis; lowest : lower end of the Spearman axis, both shared by all runs so that panels compare.
    """
    epoch, judged = metrics["epoch"], metrics[metrics["val_loss"].notna()]
    with drawing(f"curve {run}", 2.6, 2, sharex=True, height_ratios=(3, 2)) as (figure, (loss, spearman)):
        figure.subplots_adjust(left=0.15, right=0.98, top=0.97, bottom=0.135, hspace=0.14)
        loss.plot(epoch, metrics["train_loss"], color=TRAIN, linewidth=1.2, linestyle=(0, (4, 1.5)))
        loss.plot(judged["epoch"], judged["val_loss"], color=VAL, linewidth=1.5)
        spearman.plot(judged["epoch"], judged["val_spearman"], color=TEST, linewidth=1.2, linestyle=(0, (4, 1.5)))
        spearman.plot(judged["epoch"], judged["val_spearman_per_target"], color=MARK, linewidth=1.5)
        loss.set(ylim=(0, top), ylabel="loss")
        spearman.set(ylim=(lowest, 1.02), ylabel="Spearman", xlabel="epoch")
        spearman.axhline(0, color=MUTED, linewidth=0.6)
        spearman.yaxis.set_major_locator(MultipleLocator(0.5))
        spearman.xaxis.set_major_locator(MaxNLocator(6, integer=True))
        if len(epoch) == 1:
            loss.set_xlim(epoch.iloc[0] - 0.5, epoch.iloc[0] + 0.5)
        for axis in (loss, spearman):
            axis.grid(axis="y")
            for drop in learning_rate_drops(metrics):
                axis.axvline(drop, color=MUTED, linewidth=0.8, linestyle=(0, (1, 2)))
        for rule, marker, size, face in (("val_selection", "D", 6.5, "none"), ("val_loss", "o", 4, INK)):
            row = metrics[epoch == best.get(rule)]
            loss.plot(row["epoch"], row["val_loss"], marker, color=INK, markersize=size, markerfacecolor=face)
        figure.align_ylabels()
        return svg(figure, f"Loss and validation Spearman of run {run} over {len(metrics)} epochs")


def learning_rate_drops(metrics: pd.DataFrame) -> list[float]:
    """Epochs at which the learning rate became smaller, less one half: between the epochs it separates."""
    return [float(e) - 0.5 for e in metrics.loc[metrics["learning_rate"].diff() < 0, "epoch"]]


def curve_limits(curves: dict[str, pd.DataFrame]) -> tuple[float, float]:
    """Common upper end of the loss axis and lower end of the Spearman axis; a rare huge loss is cut off."""
    losses = np.concatenate([curve[["train_loss", "val_loss"]].to_numpy(float).ravel() for curve in curves.values()])
    losses = losses[np.isfinite(losses)]
    correlations = np.concatenate(
        [curve[["val_spearman", "val_spearman_per_target"]].to_numpy(float).ravel() for curve in curves.values()]
    )
    correlations = correlations[np.isfinite(correlations)]
    top = min(losses.max(), 4 * np.median(losses)) if losses.size else 1.0
    return 1.06 * top, min(-0.05, correlations.min() - 0.05) if correlations.size else -0.05


@drawn
def predicted_against_true(dataset: str, split: str, decoys: pd.DataFrame) -> Markup:
    """Predicted over true DockQ of every decoy of a split, with the CAPRI thresholds and the diagonal."""
    colour = SPLIT_COLOURS.get(split, MUTED)
    with drawing(f"scatter {dataset} {split}", WIDTH) as (figure, (axes,)):
        figure.subplots_adjust(left=0.13, right=0.96, top=0.96, bottom=0.13)
        for threshold in (ACCEPTABLE, MEDIUM, HIGH):
            axes.axvline(threshold, color=LINE, linewidth=0.8)
            axes.axhline(threshold, color=LINE, linewidth=0.8)
        axes.plot([0, 1], [0, 1], color=MUTED, linewidth=0.8, linestyle=(0, (4, 2)))
        many = len(decoys) > MANY_POINTS
        axes.scatter(
            decoys["dockq"],
            decoys["pred_dockq"],
            s=5 if many else 14,
            color=colour,
            alpha=0.35 if many else 0.7,
            linewidth=0,
            rasterized=many,
            zorder=3,
            clip_on=False,
        )
        axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="true DockQ", ylabel="predicted DockQ", aspect="equal")
        return svg(
            figure, f"Predicted against true DockQ of {len(decoys)} {SPLITS.get(split, split)} decoys of {dataset}"
        )


@drawn
def loss_against_random(dataset: str, targets: pd.DataFrame) -> Markup:
    """Ranking loss of each target over that of a random pick. targets : as from `metrics.per_target`, and split."""
    with drawing(f"loss {dataset}", 2.6) as (figure, (axes,)):
        figure.subplots_adjust(left=0.15, right=0.98, top=0.96, bottom=0.17)
        end = 1.05 * max(0.1, targets["random_pick_loss"].max(), targets["ranking_loss"].max())
        axes.plot([0, end], [0, end], color=MUTED, linewidth=0.8, linestyle=(0, (4, 2)))
        axes.grid()
        for split in reversed(SPLITS):
            part = targets[targets["split"] == split]
            axes.scatter(
                part["random_pick_loss"],
                part["ranking_loss"],
                s=18,
                color=SPLIT_COLOURS[split],
                alpha=0.75,
                linewidth=0,
                zorder=3,
                clip_on=False,
            )
        axes.set(xlim=(0, end), ylim=(0, end), xlabel="ranking loss of a random pick", ylabel="ranking loss")
        return svg(figure, f"Ranking loss of {len(targets)} targets of {dataset} against that of a random pick")


@drawn
def spearman_by_split(dataset: str, targets: pd.DataFrame, pooled: dict[str, float]) -> Markup:
    """Spearman of each target, their mean (bar) and the pooled one (diamond), split by split."""
    splits = [split for split in SPLITS if (targets["split"] == split).any()]
    with drawing(f"spearman {dataset}", 2.6) as (figure, (axes,)):
        figure.subplots_adjust(left=0.19, right=0.97, top=0.96, bottom=0.17)
        axes.axvline(0, color=MUTED, linewidth=0.8)
        axes.grid(axis="x")
        for row, split in enumerate(splits):
            values = targets.loc[targets["split"] == split, "spearman"].dropna().sort_values()
            lanes = row + 0.28 * (np.arange(len(values)) * 3 % 7 / 3 - 1) * (len(values) > 4)
            axes.scatter(
                values, lanes, s=16, color=SPLIT_COLOURS[split], alpha=0.6, linewidth=0, zorder=3, clip_on=False
            )
            if len(values):
                axes.vlines(values.mean(), row - 0.38, row + 0.38, color=INK, linewidth=1.8, zorder=4)
            if pooled.get(split) is not None:
                axes.plot(
                    pooled[split], row, "D", color=INK, markerfacecolor="none", markersize=6.5, zorder=5, clip_on=False
                )
        axes.set(
            xlim=(min(-0.2, targets["spearman"].min(skipna=True) - 0.05), 1),
            ylim=(len(splits) - 0.45, -0.55),
            xlabel="Spearman",
        )
        axes.set_yticks(range(len(splits)), [SPLITS[split] for split in splits])
        axes.tick_params(axis="y", length=0)
        return svg(figure, f"Spearman of each target of {dataset}, their mean and the pooled value, by split")
