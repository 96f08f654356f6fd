"""The page of a study: leaderboard, learning curves, metrics of rankings, and maps of models."""

from __future__ import annotations

import base64
import io
import itertools
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup, escape

from toporank import layout
from toporank.errors import ConfigError, RecordError
from toporank.finding.labels import read_split_labels
from toporank.learning.out_of_fold import read_metrics
from toporank.learning.selection import (
    GPU_MEMORY,
    by_config,
    read_leaderboard,
    verdict,
    winners,
)
from toporank.metrics import TOP_N
from toporank.report.figures import new_figure
from toporank.report.page import compact, environment
from toporank.scorer.embeddings import principal_places, read_embeddings
from toporank.structures.identity import DecoyKey

METRICS = {
    "ranking_loss": "ranking loss",
    "random_pick_loss": "ranking loss of a random pick",
    **{f"success_at_{n}": f"success@{n}" for n in TOP_N},
    **{f"hits_at_{n}": f"hits@{n}" for n in TOP_N},
    "spearman": "Spearman per target",
    "pearson": "Pearson per target",
    "auroc": "AUROC per target",
}
POOLED = {
    "spearman": "Spearman pooled",
    "pearson": "Pearson pooled",
    "auroc": "AUROC pooled",
    "mae": "mean error",
}
BOARD = {
    "run": "run",
    "chosen": "chosen",
    "epochs": "epochs",
    "best_loss.val_loss": "validation loss",
    "best_selection.val_spearman_per_target": "Spearman per target",
    "best_selection.val_spearman": "Spearman pooled",
    "best_ranking.val_ranking_loss": "ranking loss",
    GPU_MEMORY: "GPU memory, MiB",
    "stopped": "ended early",
}
"""Columns of the leaderboard, each metric of the checkpoint that is best under its rule."""
VALIDATION = {
    "val_loss": "validation loss",
    "val_spearman_per_target": "Spearman per target",
    "val_spearman": "Spearman pooled",
    "val_ranking_loss": "ranking loss",
}
"""Metrics of the tables below the leaderboard."""
OF_FOLDS = (
    "ranking_loss",
    "random_pick_loss",
    "success_at_1",
    "spearman",
    "pooled spearman",
    "pooled mae",
)
"""Metrics of a cross-validation."""
MOST_CURVES = 24
"""Runs whose learning curves are drawn, the best ones."""
MOST_ON_MAP = 5000
MARKERS = "os^Dv"
"""Of the data sets on a map."""
PERPLEXITY = 30
"""Of t-SNE, or a third of the models where there are few."""


def render(
    leaderboard: Path,
    evaluations: Iterable[Path],
    embeddings: Iterable[Path],
    folds: Path | None,
    title: str,
) -> str:
    """Return the page of a study as HTML that loads nothing.

    Parameters
    ----------
    leaderboard : leaderboard.csv, whose column `folder` says where the learning curves are
    evaluations : summary.json of each labelled data set, in a folder of its name
    embeddings : embeddings.csv of each data set, in a folder of its name
    folds : metrics.csv of a cross-validation, if there is one
    title : of the page
    """
    board = read_leaderboard(leaderboard)
    sections = [
        ("Leaderboard", leaderboard_html(board)),
        ("Learning curves", learning_curves(board)),
        ("Metrics", metrics_html(evaluations)),
        ("Cross-validation", folds_html(folds) if folds else ""),
        ("Maps of models", maps(embeddings)),
    ]
    shown = [(name, html) for name, html in sections if html]
    return compact(
        environment().get_template("study.html.j2").render(title=title, sections=shown)
    )


def leaderboard_html(board: pd.DataFrame) -> Markup:
    """Return all runs, best first.

    It also shows the winner under each rule, means over seeds, and what fine-tuning gained.
    """
    if board.empty:
        return Markup("")
    columns = [name for name in BOARD if name != GPU_MEMORY or name in board]
    runs = board.reindex(columns=columns).rename(columns=BOARD)
    runs["chosen"] = runs["chosen"].map({True: "yes", False: ""})
    best = winners(board)[["run", "rule", "epoch", *VALIDATION]]
    best["rule"] = best["rule"].str.removeprefix("val_").str.replace("_", " ")
    parts = [
        table_html(runs, "All runs, best first"),
        table_html(
            best.rename(columns=VALIDATION), "The best run by each rule of selection"
        ),
    ]
    by_seed = by_config(board, "val_loss")
    if (by_seed["seeds"] > 1).any():
        parts.append(table_html(_over_seeds(by_seed), "Mean and deviation over seeds"))
    fine_tuning = verdict(board)
    if fine_tuning:
        parts.append(Markup("<p>{}</p>").format(fine_tuning))
    return Markup("").join(parts)


def _over_seeds(by_seed: pd.DataFrame) -> pd.DataFrame:
    """Each metric as its mean and deviation over the seeds of a configuration."""
    table = by_seed[["config", "parent", "seeds"]].rename(
        columns={"parent": "fine-tuned from"}
    )
    for metric, title in VALIDATION.items():
        means = by_seed[f"{metric}.mean"].map("{:.3f}".format)
        deviations = by_seed[f"{metric}.sd"].map(" ± {:.3f}".format)
        table[title] = means + deviations.where(by_seed["seeds"] > 1, "")
    return table


def learning_curves(board: pd.DataFrame) -> Markup:
    """Return losses and validation Spearman of the best runs, by epoch."""
    figures = []
    for run in board.head(MOST_CURVES).to_dict("records"):
        file = Path(run["folder"], "metrics.csv")
        if file.exists():
            figures.append(_curve(run["run"], pd.read_csv(file)))
    return Markup("").join(figures)


def _curve(run: str, metrics: pd.DataFrame) -> Markup:
    figure, axes = _figure(4, 2.8)
    if figure is None:
        return axes
    validated = metrics[metrics["val_loss"].notna()]
    style = {"color": "#8f7aa0", "linestyle": "--", "label": "training loss"}
    axes.plot("epoch", "train_loss", data=metrics, **style)
    axes.plot(
        "epoch", "val_loss", data=validated, color="#1f7fc4", label="validation loss"
    )
    axes.set(xlabel="epoch", ylabel="loss", title=run)
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set_ylim(bottom=0)
    right = axes.twinx()
    style = {"color": "#0a8f6c", "label": "Spearman per target"}
    right.plot("epoch", "val_spearman_per_target", data=validated, **style)
    right.set_ylim(-1, 1)
    figure.legend(loc="outside lower center", ncols=2, fontsize=7, frameon=False)
    return figure_html(
        figure, f"Loss and validation Spearman of {run} over {len(metrics)} epochs"
    )


def metrics_html(evaluations: Iterable[Path]) -> Markup:
    """Return the metrics of each data set by split, with 95 % intervals."""
    parts = []
    for path in evaluations:
        splits = json.loads(path.read_text(encoding="utf-8"))
        columns = {}
        for split, summary in splits.items():
            if summary.get("per_target"):
                columns[split] = _column(summary)
        if columns:
            table = pd.DataFrame(columns).reset_index(names="metric")
            what = "mean over targets or, where it says pooled or error, one value over all models"
            caption = f"{path.parent.name}: {what}; with 95 % intervals"
            parts.append(table_html(table, caption))
    return Markup("").join(parts)


def _column(summary: Mapping[str, Any]) -> dict[str, str]:
    """The metrics of a split in words, by their names."""
    column = {"targets": str(summary["n_targets"]), "models": str(summary["n_decoys"])}
    for metric, name in METRICS.items():
        column[name] = _with_interval(summary["per_target"].get(metric, {}), "mean")
    for metric, name in POOLED.items():
        column[name] = _with_interval(summary["pooled"].get(metric, {}), "value")
    intervals = summary.get("intervals")
    if intervals:
        name = f"in the {100 * intervals['level']:.0f} % interval"
        column[name] = f"{100 * intervals['inside']:.0f} %"
    return column


def _with_interval(metric: Mapping[str, float | None], key: str) -> str:
    if metric.get(key) is None:
        return "–"
    if metric.get("low") is None:
        return f"{metric[key]:.3f}"
    return f"{metric[key]:.3f} [{metric['low']:.3f}, {metric['high']:.3f}]"


def folds_html(path: Path) -> Markup:
    """Return the metrics of a cross-validation.

    Networks that never saw the cluster of a model predict it.
    """
    rows = pd.DataFrame(read_metrics(path))
    if rows.empty:
        return Markup("")
    rows["shown"] = [_with_interval(row, "value") for row in rows.to_dict("records")]
    of_folds = rows[rows["metric"].isin(OF_FOLDS)]
    table = of_folds.pivot_table(
        "shown", ["config", "group"], "metric", aggfunc="first"
    )
    caption = "Out of fold, by configuration and group of models, with 95 % intervals over clusters"
    return table_html(table.reset_index(), caption)


def maps(embeddings: Iterable[Path]) -> Markup:
    """Return all models along two principal axes and by t-SNE, coloured by DockQ where known."""
    tables = []
    for path in embeddings:
        try:
            vectors = read_embeddings(path)
        except RecordError:
            continue
        table = pd.DataFrame({"vector": [*vectors.values()]})
        labels = _labels(path)
        table["dockq"] = [labels.get(key, np.nan) for key in vectors]
        tables.append(table.assign(dataset=path.parent.name))
    models = pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()
    if len(models) < 4 or models["vector"].map(len).nunique() != 1:
        return Markup("")
    models = models[:: -(-len(models) // MOST_ON_MAP)]
    matrix = np.array([*models["vector"]], dtype=float)
    places, shares = principal_places(matrix, 2)
    percent = " and ".join(f"{100 * share:.0f}" for share in shares[:2])
    principal = _map(places, models, f"PCA ({percent} % of the variance)")
    try:
        from sklearn.manifold import TSNE
    except ImportError:
        return principal + Markup(
            "<p>t-SNE needs scikit-learn: pip install -r requirements-train.txt</p>"
        )
    perplexity = min(PERPLEXITY, (len(matrix) - 1) / 3)
    places = TSNE(perplexity=perplexity, random_state=0).fit_transform(matrix)
    return principal + _map(places, models, "t-SNE")


def _labels(embeddings: Path) -> dict[DecoyKey, float]:
    """True DockQ of the models of a data set, empty without labels. embeddings : its table."""
    dataset = embeddings.parent.name
    path = embeddings.resolve().parents[3] / layout.LABELS.format(dataset=dataset)
    if not path.is_file():
        return {}
    labels = read_split_labels(path)
    return {(label.target, label.decoy): label.dockq for label in labels}


def _map(places: np.ndarray, models: pd.DataFrame, title: str) -> Markup:
    figure, axes = _figure(5, 4)
    if figure is None:
        return axes
    names = models["dataset"].unique()
    shown = None
    for name, marker in zip(names, itertools.cycle(MARKERS)):
        of_set = (models["dataset"] == name).to_numpy()
        x, y = places[of_set].T
        dockq = models["dockq"][of_set].astype(float)
        style = {"s": 10, "alpha": 0.7, "marker": marker, "linewidths": 0}
        axes.scatter(x, y, color="#c8c8c8", label=name, **style)
        shown = axes.scatter(x, y, c=dockq, vmin=0, vmax=1, cmap="viridis", **style)
    axes.set(title=title, xticks=[], yticks=[])
    n_labelled = int(models["dockq"].notna().sum())
    if n_labelled:
        figure.colorbar(shown, label="DockQ; grey: without label")
    if len(names) > 1:
        axes.legend(fontsize=7, frameon=False)
    what = f"{title} of {len(places)} models of {len(names)} data sets"
    return figure_html(figure, f"{what}, {n_labelled} coloured by DockQ")


def _figure(width: float, height: float) -> tuple[Any, Any]:
    """A figure and its axes, or None and a sentence where matplotlib is missing."""
    try:
        with new_figure(width, height) as drawn:
            return drawn
    except ConfigError as error:
        return None, Markup("<p>{}</p>").format(str(error))


def figure_html(figure: Any, label: str) -> Markup:
    """Return a figure as a picture in HTML. label : the same in words."""
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=110, metadata={"Software": None})
    data = base64.b64encode(content.getvalue()).decode()
    return Markup(f'<img src="data:image/png;base64,{data}" alt="{escape(label)}">')


def table_html(table: pd.DataFrame, caption: str) -> Markup:
    """Return a table as HTML with a caption; numbers have three decimals."""
    html = table.to_html(
        index=False, border=0, na_rep="–", float_format="{:.3f}".format
    )
    head = Markup("<caption>{}</caption>").format(caption)
    return Markup(
        '<div class="scroll">' + html.replace("<thead>", f"{head}<thead>", 1) + "</div>"
    )
