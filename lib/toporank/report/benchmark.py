"""The table and the plot of a comparison of training with its baseline."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import t

COLUMNS = {
    "epoch_s": "CPU s an epoch", "loading_s": "of it loading", "peak_mib": "peak memory, MiB",
    "val_loss": "validation loss", "val_spearman": "validation Spearman",
}  # fmt: skip


def markdown_table(table: pd.DataFrame, ratios: dict[str, float], passed: bool) -> str:
    """Markdown: mean over seeds ± half of the 95 % interval (Student's t), and the verdict."""
    lines = ["| | " + " | ".join(COLUMNS.values()) + " |", "| --- |" + " ---: |" * len(COLUMNS)]
    for arm, rows in table.groupby("arm", sort=True):
        cells = [mean_and_interval(rows[name].to_numpy()) for name in COLUMNS]
        lines.append(f"| {arm} | " + " | ".join(cells) + " |")
    lines += [
        "",
        f"{'Passed' if passed else 'Failed'}: {ratios['speed_up']:.1f} times as fast an epoch,"
        f" {ratios['loading_speed_up']:.0f} times in loading, {ratios['memory']:.2f} times less memory;"
        f" validation loss {100 * ratios['val_loss']:+.2f} %, Spearman {-100 * ratios['val_spearman']:+.2f} %"
        f" (seeds {', '.join(map(str, sorted(table['seed'].unique())))}).",
    ]
    return "\n".join(lines) + "\n"


def mean_and_interval(values: np.ndarray) -> str:
    """Mean ± half-width, both to the second digit of the half-width."""
    if len(values) < 2:
        return f"{values.mean():.4g}"
    half = t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
    places = max(0, 1 - math.floor(math.log10(half))) if half > 0 else 3
    return f"{values.mean():.{places}f} ± {half:.{places}f}"


def write_plot(table: pd.DataFrame, path: Path) -> None:
    """CPU seconds of an epoch and validation loss of each arm, a point for each seed."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 2.6), layout="constrained")
    for axes, name in zip(figure.subplots(1, 2), ("epoch_s", "val_loss"), strict=True):
        for k, (arm, rows) in enumerate(table.groupby("arm", sort=True)):
            axes.bar(k, rows[name].mean(), 0.6, alpha=0.4)
            axes.plot([k] * len(rows), rows[name], "k.", markersize=4)
            axes.text(k, 0, arm, ha="center", va="bottom")
        axes.set(ylabel=COLUMNS[name], xticks=[], ylim=(0, None))
    figure.savefig(path)
