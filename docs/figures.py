"""The figure of docs/how-it-works.md, from a decoy of the example: PYTHONPATH=lib python docs/figures.py"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np
from gudhi import RipsComplex
from matplotlib import pyplot as plt

from toporank.features.registry import DEFAULT_MODULES, resolve
from toporank.structures.complex import Complex
from toporank.structures.read import read_complex

HERE = Path(__file__).parent
DECOY = HERE.parent / "resources/example/decoys/1PPE/near1.pdb.gz"
COLOURS, GREY = ("#00796b", "#ef6c00"), "#9e9e9e"
RADIUS = 8.0
"""Å around a residue, as `topology/persistence/v1` has it."""


def main() -> None:
    mpl.rcParams.update({"svg.hashsalt": "toporank", "svg.fonttype": "none", "font.size": 8, "axes.titlesize": 9})
    complex_, choices = read_complex(DECOY), resolve({stage: {} for stage in DEFAULT_MODULES})
    residues = choices["interface"](complex_).index
    flat = _flat(complex_)
    edges = choices["edges"](complex_, residues).index
    centre = residues[np.argmax(np.bincount(edges[0], minlength=len(residues)))]
    figure, axes = plt.subplots(1, 4, figsize=(10, 2.9), width_ratios=(1.2, 1, 1, 1.2))
    _show_complex(axes[0], complex_, flat, residues)
    _show_surroundings(axes[1], complex_, flat, centre)
    _show_bars(axes[2], complex_, centre)
    _show_graph(axes[3], complex_, flat, residues, edges)
    figure.tight_layout(w_pad=1.5)
    figure.savefig(HERE / "how-it-works.svg", metadata={"Date": None}, facecolor="white")


def _flat(complex_: Complex) -> np.ndarray:
    """The atoms as seen from the side, one partner left of the other: (n, 2)."""
    body = complex_.body_of[complex_.residue_of]
    apart = complex_.xyz[body == 1].mean(axis=0) - complex_.xyz[body == 0].mean(axis=0)
    across = apart / np.linalg.norm(apart)
    rest = complex_.xyz - complex_.xyz.mean(axis=0)
    rest -= np.outer(rest @ across, across)
    _, axes = np.linalg.eigh(np.cov(rest.T))
    return complex_.xyz @ np.column_stack([across, axes[:, -1]])


def _show_complex(ax: plt.Axes, complex_: Complex, flat: np.ndarray, residues: np.ndarray) -> None:
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


def _show_surroundings(ax: plt.Axes, complex_: Complex, flat: np.ndarray, centre: int) -> None:
    atoms = _around(complex_, centre)
    bodies = complex_.body_of[complex_.residue_of[atoms]]
    for body, colour in enumerate(COLOURS):
        ax.plot(*flat[atoms[bodies == body]].T, "o", color=colour, ms=3, alpha=0.8)
    ax.add_patch(plt.Circle(flat[complex_.ca[centre]], RADIUS, fill=False, color=GREY, lw=0.8))
    _bare(ax, f"the atoms within {RADIUS:.0f} Å\nof each of them")


def _show_bars(ax: plt.Axes, complex_: Complex, centre: int) -> None:
    atoms = _around(complex_, centre)
    carbon = atoms[complex_.elements[atoms] == b"C"]
    tree = RipsComplex(points=complex_.xyz[carbon], max_edge_length=RADIUS).create_simplex_tree(max_dimension=2)
    tree.compute_persistence()
    row = 0
    for dimension, colour in enumerate(("#5e35b1", "#c62828")):
        bars = []
        for birth, death in tree.persistence_intervals_in_dimension(dimension):
            bars += [(birth, row), (min(death, RADIUS), row), (np.nan, row)]
            row += 1
        ax.plot(*np.transpose(bars), color=colour, lw=1, label=("clusters", "rings")[dimension])
    ax.set(xlabel="distance (Å)", yticks=[], title="their shape, as\npersistent homology")
    ax.spines[["left", "top", "right"]].set_visible(False)
    ax.legend(frameon=False, loc="lower right")


def _show_graph(ax: plt.Axes, complex_: Complex, flat: np.ndarray, residues: np.ndarray, edges: np.ndarray) -> None:
    places = flat[complex_.ca[residues]]
    ends = np.insert(places[edges.T], 2, np.nan, axis=1).reshape(-1, 2)  # a gap between edges
    ax.plot(*ends.T, color=GREY, lw=0.3, zorder=0)
    for body, colour in enumerate(COLOURS):
        ax.plot(*places[complex_.body_of[residues] == body].T, "o", color=colour, ms=4)
    _bare(ax, "a graph of the interface,\nfrom which networks predict DockQ")


def _bare(ax: plt.Axes, title: str) -> None:
    ax.set(aspect="equal", title=title)
    ax.set_axis_off()


if __name__ == "__main__":
    main()
