"""Scripts beside the page, which open the best models in PyMOL and ChimeraX."""

from __future__ import annotations

import itertools
import json
import os
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from toporank import layout
from toporank.chains.partners import Partners
from toporank.ranking.models import model_file
from toporank.ranking.scored import Scored
from toporank.report.colours import PARTNER_COLOURS, QUALITY_COLOURS
from toporank.report.drawings import best_distinct

TOP = 3
"""Decoys of a target that the scripts open."""
MOST_TARGETS = 20
"""Targets that are opened; the others are in the scripts, but not opened."""


LONGEST = 24
"""Letters of a target's name in the names of its decoys, which programs show in a narrow list."""
PLAIN = re.compile(r"[A-Za-z0-9_./-]")
"""The characters that mean nothing else to PyMOL or ChimeraX; names have all others as escapes."""

PYMOL = """\
# Opens the best models of each target, and shows the first: pymol top.pml
# Paths are relative to this file: move it together with the structures.
python
import os
from pymol import cmd, util

OPENED = {opened}  # targets
# each target: its name, and of its models path, name, chains of each partner, whether B factors are
# quality, title
TARGETS = [
{targets}
]
COLOURS = {colours}
QUALITY = "{quality}"


def of_chains(name, chains):
    return name + " and chain " + "+".join(chains) if chains else name


def open_decoy(path, name):
    try:
        cmd.load(path, name)
    except Exception as error:
        print(path, "is not shown:", error)
    return name in cmd.get_names("objects")


def superpose(decoys):
    (_, first, partners, *_), *others = decoys
    chains = partners[0] if partners else []
    for _, name, *_ in others:
        try:
            cmd.align(of_chains(name, chains), of_chains(first, chains))
        except Exception as error:
            print(name, "is not superposed:", error)


def paint(name, partners, graded):
    cmd.hide("everything", name)
    cmd.show("cartoon", name)
    for n, chains in enumerate(partners):
        own = of_chains(name, chains)
        near = "byres (%s) within 5 of (%s and polymer and not (%s))" % (own, name, own)
        cmd.color(COLOURS[n % len(COLOURS)], own)
        cmd.show("sticks", "(%s) and not name N+C+O" % near)
    if graded:
        cmd.spectrum("b", QUALITY, name + " and b > 0", minimum=0, maximum=100)
    util.cnc(name)


os.chdir(os.path.dirname(os.path.abspath(__script__)))
for place, (group, decoys) in enumerate(TARGETS[:OPENED]):
    decoys = [decoy for decoy in decoys if open_decoy(decoy[0], decoy[1])]
    if decoys:
        superpose(decoys)
        for _, name, partners, graded, title in decoys:
            paint(name, partners, graded)
            cmd.set_title(name, 1, title)
        for decoy in decoys[1:]:  # superposed, but only the best is in sight
            cmd.disable(decoy[1])
        cmd.group(group, " ".join(decoy[1] for decoy in decoys))
        if place:
            cmd.disable(group)
cmd.hide("everything", "solvent")
cmd.zoom("visible")
python end
"""


def file_to_show(folder: Path, row: Any) -> Path:
    """Return the file of a model for people to look at.

    It has quality as B factor where there is one, and is its own file otherwise.

    folder : with its models.csv. row : of that table.
    """
    graded = model_file(folder / Path(layout.MODELS).name, row)
    return graded if graded.is_file() else Path(row.path)


class Opened(NamedTuple):
    """A decoy for the scripts.

    It has the path from their folder, its name there, its partners, whether its B-factors are
    quality, and a title with its DockQ and verdict.

    partners : empty where the name of a chain could mean something else in a script.
    """

    path: str
    name: str
    partners: Partners
    graded: bool
    title: str


def opened(scored: Scored, folder: Path) -> Iterator[tuple[str, list[Opened]]]:
    """Return each target with a scored model and its best models.

    The most promising target and the best model come first. folder : of the scripts.

    A model has a short name, `model_1` or, where there are several targets, `1AVZ_1`, after its
    rank.
    """
    names = set[str]()
    best = best_distinct(scored.facts, TOP)
    for target in scored.targets["target"]:
        prefix = target[:LONGEST] if len(best) > 1 else "model"
        models = []
        for _, row in best[target]:
            path = file_to_show(folder, row)
            name = _distinct(f"{prefix}_{row.rank}", names)
            names.add(name)
            partners = scored.partners.get((target, row.decoy), ())
            letters = "".join(itertools.chain.from_iterable(partners))
            model = Opened(
                path=os.path.relpath(path, folder),
                name=name,
                partners=partners if re.fullmatch("[A-Za-z0-9]*", letters) else (),
                graded=path != Path(row.path),
                title=f"DockQ {row.dockq:.2f}, {row.verdict}",
            )
            models.append(model)
        if models:
            yield target, models


def _distinct(text: str, taken: Collection[str]) -> str:
    """The text as a name that PyMOL can give, other than those that are taken."""
    plain = name = re.sub(r"\W", "_", text, flags=re.ASCII)
    k = 1
    while name in taken:
        k += 1
        name = f"{plain}_{k}"
    return name


def quoted(text: str) -> str:
    r"""A text for Python, and so for PyMOL, and for ChimeraX, which takes the escapes of Python.

    No name can end the quotation marks, its line or its command: all but `PLAIN` characters are
    escapes.

    >>> print(quoted('a"; b/c.pdb'))
    "a\x22\x3b\x20b/c.pdb"
    """
    letters = [
        letter if PLAIN.match(letter) else _escape(ord(letter)) for letter in text
    ]
    return f'"{"".join(letters)}"'


def _escape(code: int) -> str:
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _python(value: Any) -> str:
    """Texts, truth values, and lists of them, as Python."""
    if isinstance(value, str):
        return quoted(value)
    return (
        repr(value)
        if isinstance(value, bool)
        else f"[{', '.join(map(_python, value))}]"
    )


def pymol_script(opened_targets: list[tuple[str, list[Opened]]]) -> str:
    """top.pml: the best decoys of each target, superposed and coloured.

    The colours are those of partners, or of quality if it is known.

    It is a program in Python, which PyMOL runs without parsing it as commands, with a list of
    targets in it.
    """
    groups, targets = set[str](), []
    for target, decoys in opened_targets:
        group = _distinct(f"target_{target}", groups)
        groups.add(group)
        targets.append(f"    {_python([group, decoys])},")
    return PYMOL.format(
        opened=MOST_TARGETS,
        targets="\n".join(targets),
        colours=json.dumps([f"0x{colour[1:]}" for colour in PARTNER_COLOURS]),
        quality=" ".join(f"0x{colour[1:]}" for colour in QUALITY_COLOURS),
    )


def chimerax_script(opened_targets: list[tuple[str, list[Opened]]]) -> str:
    """top.cxc: as `pymol_script`, for ChimeraX."""
    lines = [
        "# Opens the best models of each target, and shows the first: chimerax top.cxc",
        "# Paths are relative to this file: move it together with the structures.",
    ]
    for place, (target, decoys) in enumerate(opened_targets, 1):
        first = decoys[0].partners
        chains = f"/{','.join(first[0])}" if first else ""
        block = []
        hidden = []
        for nth, shown in enumerate(decoys, 1):
            model = f"{place}.{nth}"
            block.append(
                f'open {quoted(shown.path)} id {model} name "{shown.name} ({shown.title})"'
            )
            if nth > 1:
                block.append(f"matchmaker #{model}{chains} to #{place}.1{chains}")
                hidden.append(f"hide #{model} models")
            block += _chimerax_colours(f"#{model}", shown)
        block += hidden
        if place > 1:
            block.append(f"hide #{place} models")
        if place > MOST_TARGETS:
            block = [f"# {line}" for line in block]
        lines += ["", f"# {_distinct(target, ())}", *block]
    return "\n".join([*lines, "", "hide solvent", "view", ""])


def _chimerax_colours(model: str, shown: Opened) -> list[str]:
    lines = [f"hide {model} atoms", f"cartoon {model}"]
    for colour, chains in zip(
        itertools.cycle(PARTNER_COLOURS), shown.partners, strict=False
    ):
        partner = f"{model}/{','.join(chains)}"
        lines.append(f"color {partner} {colour}")
        near = f"(({model} & protein & ~{partner}) :<5)"
        lines.append(f"show ({partner} & protein) & {near} atoms")
    if shown.graded:
        palette = ":".join(QUALITY_COLOURS)
        lines.append(
            f"color byattribute bfactor {model}@@bfactor>0 palette {palette} range 0,100"
        )
    return [*lines, f"color {model} byhetero"]


def scripts(scored: Scored, folder: Path) -> dict[str, str]:
    """Return name → content of the scripts beside the page. folder : of the page."""
    targets = list(opened(scored, folder))
    return {
        Path(layout.TOP_PML).name: pymol_script(targets),
        Path(layout.TOP_CXC).name: chimerax_script(targets),
    }
