"""The figures of README.md and docs/how-it-works.md, from the example: PYTHONPATH=lib python
docs/figures.py
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
from gudhi import RipsComplex
from matplotlib import pyplot as plt
from scipy.interpolate import make_smoothing_spline

from toporank.features.registry import DEFAULT_MODULES, resolve
from toporank.structures.complex import Complex
from toporank.structures.read import read_complex

HERE = Path(__file__).parent
EXAMPLE = HERE.parent / "resources/example"
DECOY = EXAMPLE / "decoys/1PPE/near1.pdb.gz"
TARGET, RIGHT, WRONG = "2I25", "near2", "wrong1"
"""A complex without a relative in the training, a model that is right and one that is wrong, each
the best of its kind in the order of TopoRank."""
COLOURS, GREY = ("#00796b", "#ef6c00"), "#9e9e9e"
VERDICT_COLOURS = {
    "believe": "#00796b",
    "check": "#b26a00",
    "do not believe": "#b71c1c",
}
RADIUS = 8.0
"""Å around a residue, as `topology/persistence/v1` has it."""
CONTACT = 8.0
"""Å between CA atoms that a line joins."""
STEPS = (
    ("1 find models", "find_models", "sequences say which\nmodels are one complex"),
    ("2 features", "run_decoy", "interface, topology,\nnodes, edges (above)"),
    ("3 networks", "predict_graphs", "DockQ and quality\nof each contact"),
    ("4 judge", "TargetScorer", "networks, other models,\nconfidence: one score"),
    ("5 answer", "Results.write", "DockQ, interval,\nprobability, verdict"),
)
"""Title, function and content of each step."""


def main() -> None:
    """Draw both figures."""
    mpl.rcParams.update(
        {
            "svg.hashsalt": "toporank",
            "svg.fonttype": "none",
            "font.size": 8,
            "axes.titlesize": 9,
        }
    )
    draw_right_and_wrong()
    draw_way_of_a_model()


def draw_right_and_wrong() -> None:
    """Draw two models of one complex side by side, with what TopoRank says of each and the true
    DockQ.
    """
    import toporank

    labels = pd.read_csv(EXAMPLE / "labels.csv").set_index(["Target", "Model"])["DockQ"]
    models = toporank.score(EXAMPLE / "decoys" / TARGET).models.set_index("decoy")
    (right,) = (EXAMPLE / "decoys" / TARGET).glob(f"{RIGHT}.*")
    view = _view(read_complex(right))
    figure, axes = plt.subplots(1, 2, figsize=(8.4, 4.4), sharex=True, sharey=True)
    for ax, name in zip(axes, (RIGHT, WRONG), strict=True):
        (path,) = (EXAMPLE / "decoys" / TARGET).glob(f"{name}.*")
        complex_ = read_complex(path)
        _show_trace(ax, complex_, complex_.xyz @ view)
        row = models.loc[name]
        ax.text(
            0.5, 1.02, f"model {name}", transform=ax.transAxes, ha="center", fontsize=11
        )
        ax.text(0.5, -0.04, "TopoRank: "
f"{row['verdict']}", transform=ax.transAxes, ha="center", va="top",
                fontsize=13, weight="bold", color=VERDICT_COLOURS[row["verdict"]])  # fmt: skip
        predicted = (
            f"DockQ {row['dockq']:.2f}, acceptable with a probability "
            f"of {row['p_acceptable']:.0%}"
        )
        details = f"{predicted}\ntrue DockQ {labels[TARGET, name]:.2f}"
        ax.text(
            0.5,
            -0.22,
            details,
            transform=ax.transAxes,
            ha="center",
            va="top",
            fontsize=10,
        )
    figure.savefig(
        HERE / "right-and-wrong.png",
        dpi=130,
        bbox_inches="tight",
        facecolor="white",
        metadata={"Software": None},
    )


def _show_trace(ax: plt.Axes, complex_: Complex, flat: np.ndarray) -> None:
    """Draw the CA trace of both partners, and lines between residues in contact."""
    for body, colour in enumerate(COLOURS):
        residues = np.flatnonzero((complex_.body_of == body) & (complex_.ca >= 0))
        ax.plot(
            *_smooth(flat[complex_.ca[residues]]).T,
            color="white",
            lw=5,
            solid_capstyle="round",
        )
        ax.plot(
            *_smooth(flat[complex_.ca[residues]]).T,
            color=colour,
            lw=3,
            solid_capstyle="round",
        )
    first = complex_.ca[(complex_.body_of == 0) & (complex_.ca >= 0)]
    second = complex_.ca[(complex_.body_of == 1) & (complex_.ca >= 0)]
    distance = np.linalg.norm(
        complex_.xyz[first][:, None] - complex_.xyz[second], axis=2
    )
    for i, j in np.argwhere(distance < CONTACT):
        ends = flat[[first[i], second[j]]]
        ax.plot(*ends.T, color="black", lw=0.8, alpha=0.7)
    ax.set(aspect="equal")
    ax.set_axis_off()


def _smooth(points: np.ndarray) -> np.ndarray:
    """Return a curve near n points, with ten points for each."""
    places = np.arange(len(points))
    return make_smoothing_spline(places, points, lam=0.3)(
        np.linspace(0, len(points) - 1, 10 * len(points))
    )


def draw_way_of_a_model() -> None:
    """Draw step 2 of the way of a model as pictures, and all steps as boxes below them."""
    complex_, choices = (
        read_complex(DECOY),
        resolve({stage: {} for stage in DEFAULT_MODULES}),
    )
    residues = choices["interface"](complex_).index
    flat = _flat(complex_)
    edges = choices["edges"](complex_, residues).index
    centre = residues[np.argmax(np.bincount(edges[0], minlength=len(residues)))]
    figure, grid = plt.subplots(
        2, 4, figsize=(10, 4.4), width_ratios=(1.2, 1, 1, 1.2), height_ratios=(2.9, 1.2)
    )
    axes = grid[0]
    _show_complex(axes[0], complex_, flat, residues)
    _show_surroundings(axes[1], complex_, flat, centre)
    _show_bars(axes[2], complex_, centre)
    _show_graph(axes[3], complex_, flat, residues, edges)
    for ax in grid[1]:
        ax.remove()
    figure.tight_layout(w_pad=1.5)
    _show_steps(figure.add_axes((0.0, 0.0, 1.0, 0.27)))
    figure.savefig(
        HERE / "how-it-works.svg", metadata={"Date": None}, facecolor="white"
    )


def _show_steps(ax: plt.Axes) -> None:
    """Draw the steps of `score_folder` as boxes with arrows between them."""
    ax.set(xlim=(0, 1), ylim=(0, 1))
    ax.set_axis_off()
    width = 1 / len(STEPS)
    for place, (title, function, what) in enumerate(STEPS):
        left = place * width
        box = plt.Rectangle(
            (left + 0.012, 0.12),
            width - 0.036,
            0.72,
            fill=False,
            color=COLOURS[0],
            lw=1,
        )
        ax.add_patch(box)
        middle = left + width / 2 - 0.006
        ax.text(middle, 0.68, title, ha="center", va="center", weight="bold")
        ax.text(
            middle,
            0.48,
            function,
            ha="center",
            va="center",
            family="monospace",
            fontsize=7,
            color=GREY,
        )
        ax.text(middle, 0.27, what, ha="center", va="center", fontsize=7)
        if place:
            ax.annotate(
                "",
                (left + 0.011, 0.48),
                (left - 0.023, 0.48),
                arrowprops={"arrowstyle": "->", "color": GREY},
            )


def _view(complex_: Complex) -> np.ndarray:
    """Return the directions right and up of a view from the side, one partner left of the other:
    (3, 2).
    """
    body = complex_.body_of[complex_.residue_of]
    apart = complex_.xyz[body == 1].mean(axis=0) - complex_.xyz[body == 0].mean(axis=0)
    across = apart / np.linalg.norm(apart)
    rest = complex_.xyz - complex_.xyz.mean(axis=0)
    rest -= np.outer(rest @ across, across)
    _, axes = np.linalg.eigh(np.cov(rest.T))
    return np.column_stack([across, axes[:, -1]])


def _flat(complex_: Complex) -> np.ndarray:
    """Return the atoms as seen from the side: (n, 2)."""
    return complex_.xyz @ _view(complex_)


def _show_complex(
    ax: plt.Axes, complex_: Complex, flat: np.ndarray, residues: np.ndarray
) -> None:
    for body, colour in enumerate(COLOURS):
        whole = complex_.ca[(complex_.body_of == body) & (complex_.ca >= 0)]
        ax.plot(*flat[whole].T, color=colour, lw=0.8, alpha=0.6)
        near = complex_.ca[residues[complex_.body_of[residues] == body]]
        ax.plot(*flat[near].T, "o", color=colour, ms=3)
    _bare(ax, "the residues within 10 Å\nof the other partner")


def _around(complex_: Complex, centre: int) -> np.ndarray:
    """Atoms around the CA of a residue."""
    distance = np.linalg.norm(complex_.xyz - complex_.xyz[complex_.ca[centre]], axis=1)
    return np.flatnonzero(distance < RADIUS)


def _show_surroundings(
    ax: plt.Axes, complex_: Complex, flat: np.ndarray, centre: int
) -> None:
    atoms = _around(complex_, centre)
    bodies = complex_.body_of[complex_.residue_of[atoms]]
    for body, colour in enumerate(COLOURS):
        ax.plot(*flat[atoms[bodies == body]].T, "o", color=colour, ms=3, alpha=0.8)
    ax.add_patch(
        plt.Circle(flat[complex_.ca[centre]], RADIUS, fill=False, color=GREY, lw=0.8)
    )
    _bare(ax, f"the atoms within {RADIUS:.0f} Å\nof each of them")


def _show_bars(ax: plt.Axes, complex_: Complex, centre: int) -> None:
    atoms = _around(complex_, centre)
    carbon = atoms[complex_.elements[atoms] == b"C"]
    tree = RipsComplex(
        points=complex_.xyz[carbon], max_edge_length=RADIUS
    ).create_simplex_tree(max_dimension=2)
    tree.compute_persistence()
    row = 0
    for dimension, colour in enumerate(("#5e35b1", "#c62828")):
        bars = []
        for birth, death in tree.persistence_intervals_in_dimension(dimension):
            bars += [(birth, row), (min(death, RADIUS), row), (np.nan, row)]
            row += 1
        ax.plot(
            *np.transpose(bars),
            color=colour,
            lw=1,
            label=("clusters", "rings")[dimension],
        )
    ax.set(
        xlabel="distance (Å)", yticks=[], title="their shape, as\npersistent homology"
    )
    ax.spines[["left", "top", "right"]].set_visible(False)
    ax.legend(frameon=False, loc="lower right")


def _show_graph(
    ax: plt.Axes,
    complex_: Complex,
    flat: np.ndarray,
    residues: np.ndarray,
    edges: np.ndarray,
) -> None:
    places = flat[complex_.ca[residues]]
    # a gap between edges
    ends = np.insert(places[edges.T], 2, np.nan, axis=1).reshape(-1, 2)
    ax.plot(*ends.T, color=GREY, lw=0.3, zorder=0)
    for body, colour in enumerate(COLOURS):
        ax.plot(*places[complex_.body_of[residues] == body].T, "o", color=colour, ms=4)
    _bare(ax, "a graph of the interface,\nfrom which networks predict DockQ")


def _bare(ax: plt.Axes, title: str) -> None:
    ax.set(aspect="equal", title=title)
    ax.set_axis_off()


if __name__ == "__main__":
    main()
