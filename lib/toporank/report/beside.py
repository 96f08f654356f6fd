"""Files beside the page: a row for each target, and what PyMOL, ChimeraX and MultiQC open."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterator
from html import escape
from itertools import chain, count
from pathlib import Path
from typing import Any, NamedTuple

from toporank import layout
from toporank.report.answer import answers
from toporank.report.formatting import PARTNER_COLOURS, QUALITY_COLOURS, counted
from toporank.report.results import Study, by_target, models_among
from toporank.report.targets import targets_text
from toporank.report.views import best_distinct, file_to_show, partners_of_decoys
from toporank.structures.partners import Partners

TOP = 3
"""Decoys of a target that the scripts open."""
MOST_TARGETS = 20
"""Targets that are opened; the others are in the scripts, but not opened."""


LONGEST = 24
"""Letters of a target's name in the names of its decoys, which programs show in a narrow list."""
PLAIN = re.compile(r"[A-Za-z0-9_./-]")
"""The characters that mean nothing else to PyMOL or ChimeraX; names have all others as escapes."""

PYMOL = """\
# Opens the best models of each target: pymol top.pml
# Paths are relative to this file: move it together with the structures.
python
import os
from pymol import cmd, util

OPENED = {opened}  # targets
# each target: its name, and [path, name, chains of each partner, whether B factors are quality] of its decoys
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
    (_, first, partners, _), *others = decoys
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
        for _, name, partners, graded in decoys:
            paint(name, partners, graded)
        cmd.group(group, " ".join(decoy[1] for decoy in decoys))
        if place:
            cmd.disable(group)
cmd.hide("everything", "solvent")
cmd.zoom("visible")
python end
"""


class Opened(NamedTuple):
    """A decoy for the scripts: path from their folder, name there, partners, and whether its B-factors are quality.

    partners : empty where the name of a chain could mean something else in a script.
    """

    path: str
    name: str
    partners: Partners
    graded: bool


def opened(study: Study, folder: Path) -> Iterator[tuple[str, list[Opened]]]:
    """Each target with a scored decoy, and the best of its decoys, best first. folder : that of the scripts.

    A decoy has a short name, `model_1` or, where there are several targets, `1AVZ_1`, after its rank.
    """
    partners, names, targets = partners_of_decoys(study), set[str](), by_target(study.decoys)
    several = len(targets) > 1
    for (dataset, target), rows in targets:
        found = []
        for _, row in best_distinct(rows, TOP):
            path = file_to_show(study.folders[dataset], row)
            name = _distinct(f"{target[:LONGEST] if several else 'model'}_{row.rank}", names)
            names.add(name)
            own = partners.get((dataset, target, row.decoy), ())
            plain = all(re.fullmatch("[A-Za-z0-9]+", letter) for letter in chain.from_iterable(own))
            found.append(Opened(os.path.relpath(path, folder), name, own if plain else (), path != Path(row.path)))
        if found:
            yield target, found


def _distinct(text: str, taken: Collection[str]) -> str:
    """The text as a name that PyMOL can give, other than those that are taken."""
    plain = re.sub(r"\W", "_", text, flags=re.ASCII)
    return next(name for name in chain([plain], (f"{plain}_{k}" for k in count(2))) if name not in taken)


def quoted(text: str) -> str:
    r"""A text for Python, and so for PyMOL, and for ChimeraX, which takes the escapes of Python.

    No name can end the quotation marks, its line or its command: all but `PLAIN` characters are escapes.

    >>> print(quoted('a"; b/c.pdb'))
    "a\x22\x3b\x20b/c.pdb"
    """
    return f'"{"".join(letter if PLAIN.match(letter) else _escape(ord(letter)) for letter in text)}"'


def _escape(code: int) -> str:
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _python(value: Any) -> str:
    """Texts, truth values, and lists of them, as Python."""
    if isinstance(value, str):
        return quoted(value)
    return repr(value) if isinstance(value, bool) else f"[{', '.join(map(_python, value))}]"


def pymol_script(study: Study, folder: Path) -> str:
    """top.pml: the best decoys of each target, superposed, coloured by partner, or quality if it is known.

    It is a program in Python, which PyMOL runs without parsing it as commands, with a list of targets in it.
    """
    groups, targets = set[str](), []
    for target, decoys in opened(study, folder):
        group = _distinct(f"target_{target}", groups)
        groups.add(group)
        targets.append(f"    {_python([group, decoys])},")
    return PYMOL.format(
        opened=MOST_TARGETS,
        targets="\n".join(targets),
        colours=json.dumps([f"0x{colour[1:]}" for colour in PARTNER_COLOURS]),
        quality=" ".join(f"0x{colour[1:]}" for colour in QUALITY_COLOURS),
    )


def chimerax_script(study: Study, folder: Path) -> str:
    """top.cxc: as `pymol_script`, for ChimeraX."""
    lines = [
        "# Opens the best models of each target: chimerax top.cxc",
        "# Paths are relative to this file: move it together with the structures.",
    ]
    for place, (target, decoys) in enumerate(opened(study, folder), 1):
        block = []
        for nth, shown in enumerate(decoys, 1):
            block.append(f'open {quoted(shown.path)} id {place}.{nth} name "{shown.name}"')
            if nth > 1:
                chains = "".join(f"/{','.join(part)}" for part in decoys[0].partners[:1])
                block.append(f"matchmaker #{place}.{nth}{chains} to #{place}.1{chains}")
            block += _chimerax_colours(f"#{place}.{nth}", shown)
        block += [f"hide #{place} models"] if place > 1 else []
        lines += ["", f"# {_distinct(target, ())}", *_commented(block, place > MOST_TARGETS)]
    return "\n".join([*lines, "", "hide solvent", "view", ""])


def _chimerax_colours(model: str, shown: Opened) -> list[str]:
    lines = [f"hide {model} atoms", f"cartoon {model}"]
    for colour, chains in zip(_cycled(shown.partners), shown.partners, strict=True):
        mine = f"{model}/{','.join(chains)}"
        lines += [f"color {mine} {colour}", f"show ({mine} & protein) & (({model} & protein & ~{mine}) :<5) atoms"]
    if shown.graded:
        palette = ":".join(QUALITY_COLOURS)
        lines.append(f"color byattribute bfactor {model}@@bfactor>0 palette {palette} range 0,100")
    return [*lines, f"color {model} byhetero"]


def _cycled(partners: Partners) -> list[str]:
    return [PARTNER_COLOURS[k % len(PARTNER_COLOURS)] for k in range(len(partners))]


def _commented(block: list[str], out: bool) -> list[str]:
    return [f"# {line}" for line in block] if out else block


def multiqc(study: Study, dataset: str) -> dict[str, Any]:
    """toporank_mqc.json: the best decoy of each target as a table that MultiQC shows, with names as HTML."""
    rows = [entry for entry in answers(study) if entry["dataset"] == dataset]
    scored = [row for row in study.decoys if row.dataset == dataset and row.pred_dockq is not None]
    data = {
        escape(entry["target"]): {
            "decoy": escape(best.decoy),
            "expected_dockq": best.expected_dockq,
            "pred_dockq": best.pred_dockq,
            "ranked_by": entry["ranked_by"],
            "pred_low": best.pred_low,
            "pred_high": best.pred_high,
            "pred_capri": best.shown_capri,
            "domain": best.domain,
        }
        for entry in rows
        if (best := entry["best"])
    }
    dockq = {"min": 0, "max": 1, "format": "{:,.3f}"}
    headers = {
        "decoy": {"title": "Best model"},
        "expected_dockq": {"title": "Expected DockQ", "scale": "RdYlGn", **dockq},
        "pred_dockq": {"title": "Predicted DockQ", "scale": "RdYlGn", **dockq},
        "ranked_by": {"title": "Ranked by"},
        "pred_low": {"title": "Interval from", **dockq},
        "pred_high": {"title": "to", **dockq},
        "pred_capri": {"title": "CAPRI class"},
        "domain": {"title": "Out of domain"},
    }
    known = {name for row in data.values() for name, value in row.items() if value not in (None, "")}
    return {
        "id": f"toporank_{dataset}",
        "parent_id": "toporank",
        "parent_name": "TopoRank",
        "section_name": f"Best models of {dataset}",
        "description": f"The model ranked first of each target; {counted(len(models_among(scored)), 'model')} scored.",
        "plot_type": "table",
        "pconfig": {"id": f"toporank_{dataset}_table", "title": f"TopoRank: {dataset}", "col1_header": "Target"},
        "headers": {name: header for name, header in headers.items() if name in known},
        "data": {target: {n: v for n, v in row.items() if n in known} for target, row in data.items()},
    }


def beside(study: Study, folder: Path) -> dict[str, str]:
    """Name → content of the files beside the page of one data set in a folder."""
    (dataset,) = study.datasets
    return {
        Path(layout.TARGETS).name: targets_text(study),
        Path(layout.TOP_PML).name: pymol_script(study, folder),
        Path(layout.TOP_CXC).name: chimerax_script(study, folder),
        Path(layout.MULTIQC).name: json.dumps(multiqc(study, dataset), indent=1, ensure_ascii=False) + "\n",
    }
