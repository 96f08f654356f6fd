"""The figure of the rooms of the library and who imports whom, before a move and after it, in docs/how-it-works.md.

python docs/house.py OLD/lib/toporank lib/toporank"""

from __future__ import annotations

import argparse
import ast
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib import pyplot as plt

DOWN, UP = "#90a4ae", "#d84315"
ENDS = {"__init__", "__main__", "api"}
"""Files that name all others, or that a user starts."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("libraries", type=Path, nargs=2)
    args = parser.parse_args()
    mpl.rcParams.update({"svg.hashsalt": "toporank", "svg.fonttype": "none", "font.size": 8})
    figure, axes = plt.subplots(1, 2, figsize=(10, 6), width_ratios=(1.5, 1))
    for axis, library, when in zip(axes, args.libraries, ("before", "after"), strict=True):
        draw(axis, library, when)
    figure.tight_layout()
    figure.savefig(Path(__file__).with_name("house.svg"), metadata={"Date": None})


def draw(axis: plt.Axes, library: Path, when: str) -> None:
    """One house: rooms on floors, an arrow for each room that imports from another, red where both do."""
    arrows = rooms(library)
    floors = floors_of(arrows)
    by_floor = defaultdict(list)
    for room in sorted(floors):
        by_floor[floors[room]].append(room)
    width = max(map(len, by_floor.values()))
    at = {
        room: ((i + 0.5) * width / len(row), floor)
        for floor, row in by_floor.items()
        for i, room in enumerate(row)
    }  # fmt: skip
    for one, others in arrows.items():
        for other in others:
            both = one in arrows[other]
            style = {
                "color": UP if both else DOWN,
                "lw": 1.2 if both else 0.6,
                "alpha": 0.9 if both else 0.5,
                "zorder": 1,
            }
            axis.plot(*zip(at[one], at[other], strict=True), **style)
    box = {"boxstyle": "round,pad=0.3", "fc": "#e0f2f1", "ec": "#00796b", "lw": 0.8}
    for room, (x, y) in at.items():
        axis.text(x, y, room, ha="center", va="center", bbox=box, zorder=2)
    axis.set_xlim(0, width)
    n_arrows = sum(map(len, arrows.values()))
    axis.set_title(f"{when}: {len(at)} rooms on {len(by_floor)} floors, {n_arrows} arrows")
    axis.axis("off")


def rooms(library: Path) -> dict[str, set[str]]:
    """Room → rooms that its files import from.

    A room is a package, a file beside the packages, or a package beside the library whose name begins with its name.
    """
    arrows: dict[str, set[str]] = defaultdict(set)
    for path in library.parent.glob(f"{library.name}*/**/*.py"):
        room = _room(path.relative_to(library.parent).with_suffix("").parts)
        for node in ast.walk(ast.parse(path.read_text())):
            if room in ENDS or not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith("toporank"):
                continue
            names = [node.module] if "." in node.module else [f"{node.module}.{alias.name}" for alias in node.names]
            for name in (_room(each.split(".")) for each in names):
                if name != room and name not in ENDS and any(library.glob(f"{name}*")):
                    arrows[room].add(name)
                    arrows.setdefault(name, set())
    return arrows


def _room(parts: Sequence[str]) -> str:
    """The room of a module by the parts of its dotted name."""
    return parts[1] if parts[0] == "toporank" else parts[0]


def floors_of(arrows: dict[str, set[str]]) -> dict[str, int]:
    """The floor of each room: above all that it imports from. Rooms that import from each other share one."""
    reach = {room: _reached(room, arrows) for room in arrows}
    floors: dict[str, int] = {}
    for room in sorted(arrows, key=lambda each: len(reach[each])):
        below = [floors[other] for other in reach[room] if room not in reach[other] and other in floors]
        floors[room] = 1 + max(below, default=0)
    return floors


def _reached(room: str, arrows: dict[str, set[str]]) -> set[str]:
    found, left = set(), [*arrows[room]]
    while left:
        if (one := left.pop()) not in found:
            found.add(one)
            left += arrows[one]
    return found


if __name__ == "__main__":
    main()
