"""Figures for a paper, by matplotlib: models, screens, structures, PAE and contacts."""

from __future__ import annotations

import contextlib
import functools
import textwrap
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby, pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from toporank.chains.chain import ResidueId
from toporank.chains.partners import partner_name
from toporank.errors import ConfigError
from toporank.metrics import ACCEPTABLE, CAPRI_NAMES, HIGH, MEDIUM
from toporank.ranking.verdict import VERDICTS
from toporank.report import cartoon
from toporank.report.colours import (
    PAE_COLOURS,
    PARTNER_COLOURS,
    PLDDT_COLOURS,
    QUALITY_COLOURS,
    VERDICT_COLOURS,
)
from toporank.report.names import shortened
from toporank.report.packed import WORST
from toporank.structures.complex import Complex

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INSTALL = "pip install 'toporank[figures]'"
WIDTHS, TALLEST = {1: 3.5, 2: 7.2}, 6.7
"""Inches of one column of a journal and of two, and of its page with room for a caption."""
POINTS = 7.0
"""Of letters."""
ROW = 0.15
"""Inches of a row of a list."""
MOST_ROWS = 60
"""Rows of a list that are drawn, the best ones."""
LETTERS_OF_NAME = {1: 22, 2: 46}
"""Most letters of a name, by columns."""
MOST_LABELS = 60
"""Residues of a contact map up to which each is named."""
LABELS = 30
"""Residues that are named of a larger one."""
FILLED = {"believe": "full", "check": "left", "do not believe": "none"}
"""How the mark of a verdict is filled, so that it can be seen without colours."""
SETTINGS: dict[Any, Any] = {
    "font.size": POINTS,
    "axes.titlesize": POINTS + 1,
    "axes.labelsize": POINTS,
    "xtick.labelsize": POINTS - 1,
    "ytick.labelsize": POINTS - 1,
    "legend.fontsize": POINTS,
    "axes.linewidth": 0.6,
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
}

BEHIND = 1.5
"""Å by which the dark line around the backbone lies behind it."""
UNKNOWN = "#c3ccd2"


@contextlib.contextmanager
def new_figure(width: float, height: float) -> Iterator[tuple[Figure, Axes]]:
    """Give a figure of so many inches and its axes, drawn without a screen.

    Raises
    ------
    ConfigError : matplotlib is missing
    """
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ConfigError("figures need matplotlib", remedy=INSTALL) from error
    with matplotlib.rc_context(SETTINGS):
        figure = Figure(figsize=(width, height), layout="constrained")
        figure.savefig = functools.partial(_saved, figure.savefig)  # type: ignore[method-assign]
        yield figure, figure.subplots()


def _saved(savefig: Callable[..., None], *args: Any, **options: Any) -> None:
    """Save a figure with our settings, so that letters of an SVG and a PDF stay letters."""
    from matplotlib import rc_context

    with rc_context(SETTINGS):
        savefig(*args, **options)


def ranking_figure(models: pd.DataFrame, columns: int = 1) -> Figure:
    """Return DockQ with intervals of the models of a target, coloured by verdict.

    Parameters
    ----------
    models : of `model_table`, of one target
    columns : of a journal, 1 or 2, that the figure is wide
    """
    target = models["target"].iloc[0]
    scored = models[models["dockq"].notna() & (models["duplicate_of"] == "")]
    if scored.empty:
        raise ConfigError(
            "no model of this target has a score",
            where=target,
            remedy="models.csv has the reasons",
        )
    return _intervals(scored, "decoy", target, columns)


def screen_figure(targets: pd.DataFrame, name: str, columns: int = 1) -> Figure:
    """Return DockQ with intervals of the best model of each target, coloured by verdict.

    Parameters
    ----------
    targets : of `target_table`
    name : of the screen
    columns : as for `ranking_figure`
    """
    counts = targets["verdict"].value_counts()
    parts = [f"{counts[word]} {word}" for word in VERDICTS if word in counts]
    scored = targets[targets["dockq"].notna()]
    if scored.empty:
        raise ConfigError(
            "no target has a score", where=name, remedy="models.csv has the reasons"
        )
    if len(scored) < len(targets):
        parts.append(f"{len(targets) - len(scored)} not scored")
    title = f"{name}: {len(targets)} complexes, {', '.join(parts)}"
    return _intervals(scored, "target", title, columns)


def _intervals(rows: pd.DataFrame, name: str, title: str, columns: int) -> Figure:
    n_all = len(rows)
    rows = rows.head(MOST_ROWS)
    names = shortened(rows[name].tolist(), LETTERS_OF_NAME[columns])
    if n_all > len(rows):
        title += f"; the first {len(rows)}"
    colour_of = dict(zip(VERDICTS, VERDICT_COLOURS, strict=True))
    with new_figure(WIDTHS[columns], 1.0 + ROW * len(rows)) as (figure, axes):
        _name_classes(axes)
        for verdict, colour in colour_of.items():
            at = np.flatnonzero((rows["verdict"] == verdict).to_numpy())
            of_verdict = rows.iloc[at]
            bounds = of_verdict["dockq_low"], of_verdict["dockq_high"]
            axes.hlines(at, *bounds, color=colour, alpha=0.3, linewidth=3.5)
            axes.plot(
                of_verdict["dockq"],
                at,
                "o",
                color=colour,
                markersize=4,
                markeredgewidth=0.8,
                fillstyle=FILLED[verdict],
                markerfacecoloralt="white",
                label=verdict,
            )
        axes.set_yticks(range(len(rows)), names)
        axes.tick_params(axis="y", length=0)
        axes.set(
            xlim=(0, 1),
            ylim=(len(rows) - 0.4, -0.6),
            xlabel="expected DockQ and its 80 % interval",
        )
        axes.spines[["top", "right", "left"]].set_visible(False)
        figure.suptitle(_wrapped(title, columns), fontsize=POINTS + 1)
        figure.legend(loc="outside lower center", ncols=3, frameon=False)
    return figure


def _name_classes(axes: Axes) -> None:
    """Lines between the CAPRI classes, and their names above them."""
    ends = (0.0, ACCEPTABLE, MEDIUM, HIGH, 1.0)
    for name, (low, high) in zip(CAPRI_NAMES, pairwise(ends), strict=True):
        if low:
            axes.axvline(low, color="0.88", zorder=0, linewidth=0.8)
        middle = (low + high) / 2
        text = axes.text(middle, 1.0, name, transform=axes.get_xaxis_transform())
        text.set(color="0.45", fontsize=POINTS - 2, ha="center", va="bottom")


def _wrapped(text: str, columns: int) -> str:
    """A title in lines that fit."""
    lines = [
        textwrap.fill(line, 48 * columns, break_long_words=True)
        for line in text.splitlines()
    ]
    return "\n".join(lines)


def pae_figure(
    values: np.ndarray, residues: Sequence[ResidueId], title: str, columns: int = 1
) -> Figure:
    """Return the PAE of a model with lines between its chains and numbers of residues.

    values : Å, (n, n). residues : of its rows.
    """
    side = WIDTHS[columns]
    with new_figure(side, 0.88 * side) as (figure, axes):
        image = axes.imshow(
            values,
            cmap=_ramp(PAE_COLOURS),
            vmin=0,
            vmax=WORST,
            interpolation="nearest",
        )
        figure.colorbar(image, ax=axes, label="predicted aligned error, Å", shrink=0.8)
        start = 0
        ticks = []
        for chain, of_chain in groupby(residues, key=lambda residue: residue.chain):
            numbers = [residue.number for residue in of_chain]
            end = start + len(numbers)
            if start:
                axes.axhline(start - 0.5, color="black", linewidth=0.6)
                axes.axvline(start - 0.5, color="black", linewidth=0.6)
            ticks.append((start, f"{chain} {numbers[0]}"))
            every = _step(len(residues))
            ticks += [
                (start + place, str(number))
                for place, number in enumerate(numbers)
                if number % every == 0 and place >= every // 2
            ]
            start = end
        places, labels = zip(*ticks, strict=True)
        axes.set_xticks(places, labels, rotation=90)
        axes.set_yticks(places, labels)
        axes.set(xlabel="scored residue", ylabel="aligned residue")
        figure.suptitle(_wrapped(title, columns), fontsize=POINTS + 1)
    return figure


def _step(n: int) -> int:
    """A round number with at most eight multiples up to n."""
    steps = (5, 10, 20, 50, 100, 200, 500)
    return next((step for step in steps if n <= 8 * step), 1000)


def _ramp(colours: Sequence[str]) -> Any:
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("ramp", colours)


def contact_figure(contacts: dict[str, Any], title: str, columns: int = 1) -> Figure:
    """Return a contact map: residues of two partners, contacts coloured by predicted quality.

    contacts : one of the maps of `contact_maps`.
    """
    places, others, quality = np.array(contacts["k"]).reshape(-1, 3).T
    first, second = contacts["name"].split(":")
    n_rows, n_columns = len(contacts["a"]), len(contacts["b"])
    image = np.full((n_rows, n_columns), np.nan)
    image[places, others] = quality / 100
    width = WIDTHS[columns]
    shape = np.clip(n_rows / n_columns, 0.3, 2.0)
    height = min(0.9 + (width - 1.2) * shape, TALLEST)
    with new_figure(width, height) as (figure, axes):
        drawn = axes.imshow(
            image,
            cmap=_ramp(QUALITY_COLOURS),
            vmin=0,
            vmax=1,
            interpolation="nearest",
            aspect="auto",
        )
        figure.colorbar(drawn, ax=axes, label="predicted quality", shrink=0.8)
        for side, names, turn in (
            (axes.xaxis, contacts["b"], 90),
            (axes.yaxis, contacts["a"], 0),
        ):
            every = (
                1
                if len(names) <= MOST_LABELS * columns / 2
                else len(names) // LABELS + 1
            )
            ticks = range(0, len(names), every)
            labels = names[::every]
            side.set_ticks(ticks, labels, rotation=turn, fontsize=POINTS - 2)
        axes.set(xlabel=f"partner {second}", ylabel=f"partner {first}")
        figure.suptitle(_wrapped(title, columns), fontsize=POINTS + 1)
    return figure


def structure_figure(
    complex_: Complex,
    title: str,
    *,
    quality: np.ndarray | None = None,
    plddt: np.ndarray | None = None,
    columns: int = 1,
) -> Figure:
    """Return the backbone of a model as a cartoon, seen from the front, with a key and 10 Å.

    What is behind is paler.

    Parameters
    ----------
    complex_ : as `superposed.turned` gives it
    quality, plddt : of each residue, 0 to 1 and 0 to 100, nan where unknown; colours are those of
        partners where neither is given
    """
    from matplotlib.collections import PolyCollection

    tones = _tones(complex_, quality, plddt)
    xyz = complex_.xyz[complex_.ca[complex_.ca >= 0]]
    low, high = xyz.min(axis=0), xyz.max(axis=0)
    extent = high - low + 8
    width = WIDTHS[columns]
    height = float(np.clip(width * extent[1] / extent[0], 0.45 * width, width))
    with new_figure(width, height + 0.55) as (figure, axes):
        shapes = []
        for piece in cartoon.pieces(complex_):
            depth = (high[2] - piece.depth) / max(high[2] - low[2], 1)
            share = 0.55 * float(np.clip(depth, 0, 1))  # curves pass beyond the atoms
            bright, dark = _shades(tones[piece.residue], piece.light, share)
            shapes.append((piece.depth - BEHIND, piece.outline, dark))
            shapes.append((piece.depth, piece.corners, bright))
        shapes.sort(key=itemgetter(0))
        _, polygons, colours = zip(*shapes, strict=True)
        axes.add_collection(
            PolyCollection(
                polygons, facecolors=colours, edgecolors=colours, linewidths=0.2
            )
        )
        axes.set(
            xlim=(low[0] - 4, high[0] + 4),
            ylim=(low[1] - 5, high[1] + 4),
            aspect="equal",
        )
        axes.plot([low[0], low[0] + 10], [low[1] - 4] * 2, color="black", linewidth=1)
        axes.text(low[0] + 11, low[1] - 4, "10 Å", va="center")
        axes.axis("off")
        figure.suptitle(_wrapped(title, columns), fontsize=POINTS + 1)
        _key(figure, axes, complex_, quality, plddt, columns)
    return figure


def _shades(tone: Any, light: float, share: float) -> tuple[np.ndarray, np.ndarray]:
    """The colour of a piece and of the line around it.

    light : how far it faces the viewer. share : of white, since it is behind.
    """
    from matplotlib.colors import to_rgb

    colour = np.array(to_rgb(tone))
    lit = colour * (0.72 + 0.28 * light)
    bright = lit * (1 - share) + share
    return bright, 0.45 * (colour * (1 - share) + share)


def _tones(
    complex_: Complex, quality: np.ndarray | None, plddt: np.ndarray | None
) -> list[Any]:
    """The colour of each residue."""
    if quality is not None:
        ramp = _ramp(QUALITY_COLOURS)
        return [UNKNOWN if np.isnan(value) else ramp(value)[:3] for value in quality]
    if plddt is not None:
        return [_plddt_colour(value) for value in plddt]
    of_body = [*PARTNER_COLOURS] * (1 + complex_.body_of.max() // len(PARTNER_COLOURS))
    return [of_body[body] if body >= 0 else UNKNOWN for body in complex_.body_of]


def _plddt_colour(value: float) -> str:
    colours = [colour for least, colour in PLDDT_COLOURS if value >= least]
    return colours[0] if colours else UNKNOWN


def _key(
    figure: Figure,
    axes: Axes,
    complex_: Complex,
    quality: np.ndarray | None,
    plddt: np.ndarray | None,
    columns: int,
) -> None:
    """What the colours mean."""
    if quality is not None:
        from matplotlib.cm import ScalarMappable

        colours = ScalarMappable(cmap=_ramp(QUALITY_COLOURS))
        colours.set_clim(0, 1)
        figure.colorbar(
            colours,
            ax=axes,
            label="predicted quality (grey: no interface residue)",
            orientation="horizontal",
            shrink=0.6,
            aspect=40,
            pad=0.01,
        )
        return
    keys = []
    if plddt is not None:
        words = ("> 90", "70 to 90", "50 to 70", "< 50")
        for (_, colour), text in zip(PLDDT_COLOURS, words, strict=True):
            keys.append((colour, f"pLDDT {text}"))
    else:
        for place, chains in enumerate(complex_.bodies):
            colour = PARTNER_COLOURS[place % len(PARTNER_COLOURS)]
            keys.append((colour, f"partner {partner_name(chains)}"))
    n_columns = columns * (2 if plddt is not None else 3)
    # the legend goes down its columns, readers along its rows
    for place in range(n_columns):
        for colour, text in keys[place::n_columns]:
            axes.plot([], [], "s", color=colour, markersize=5, label=text)
    figure.legend(loc="outside lower center", ncols=n_columns, frameon=False)
