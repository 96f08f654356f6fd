"""Files beside the page for other programs: PyMOL, ChimeraX and MultiQC."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterator
from itertools import chain, count
from pathlib import Path
from typing import Any, NamedTuple

from toporank import layout
from toporank.decoys.partners import Partners
from toporank.report.answer import answers
from toporank.report.formatting import PARTNER_COLOURS, QUALITY_COLOURS, counted
from toporank.report.results import Study, by_target
from toporank.report.structures import best_distinct, file_to_show, partners_of_decoys

TOP = 3
"""Decoys of a target that the scripts open."""
MOST_TARGETS = 20
"""Targets that are opened; the lines of the others are comments."""


class Opened(NamedTuple):
    """A decoy for the scripts: path from their folder, name there, partners, and whether its B-factors are quality.

    partners : empty where the name of a chain could mean something else in a script.
    """

    path: str
    name: str
    partners: Partners
    graded: bool


def opened(study: Study, folder: Path) -> Iterator[tuple[str, list[Opened]]]:
    """Each target with a scored decoy, and the best of its decoys, best first. folder : that of the scripts."""
    partners, names = partners_of_decoys(study), set[str]()
    for (dataset, target), rows in by_target(study.decoys):
        found = []
        for _, row in best_distinct(rows, TOP):
            path = file_to_show(study.folders[dataset], row)
            name = _distinct(f"{target}_{row.rank}_{row.decoy}", names)
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


def pymol_script(study: Study, folder: Path) -> str:
    """top.pml: the best decoys of each target, superposed, coloured by partner, or quality if it is known."""
    lines = [
        "# Opens the best decoys of each target: pymol top.pml",
        "# Paths are relative to this file: move it together with the structures.",
        "python",
        "import os",
        "os.chdir(os.path.dirname(os.path.abspath(__script__)))",
        "python end",
    ]
    groups: list[str] = []
    for place, (target, decoys) in enumerate(opened(study, folder)):
        groups.append(_distinct(f"target_{target}", groups))
        group, first = groups[-1], decoys[0]
        block = [f"/cmd.load({shown.path!r}, {shown.name!r})" for shown in decoys]
        chains = _chains(first.partners[:1])
        for shown in decoys[1:]:
            block.append(f"align {shown.name}{chains}, {first.name}{chains}")
        for shown in decoys:
            block += _pymol_colours(shown)
        block.append(f"group {group}, {' '.join(shown.name for shown in decoys)}")
        block += [f"disable {group}"] if place else []
        lines += ["", f"# {target}", *_commented(block, place >= MOST_TARGETS)]
    return "\n".join([*lines, "", "hide everything, solvent", "zoom visible", ""])


def _pymol_colours(shown: Opened) -> list[str]:
    lines = [f"hide everything, {shown.name}", f"show cartoon, {shown.name}"]
    for colour, chains in zip(_cycled(shown.partners), shown.partners, strict=True):
        mine = f"{shown.name}{_chains([chains])}"
        near = f"byres ({mine}) within 5 of ({shown.name} and polymer and not ({mine}))"
        lines += [f"color 0x{colour[1:]}, {mine}", f"show sticks, ({near}) and not name N+C+O"]
    if shown.graded:
        palette = " ".join(f"0x{colour[1:]}" for colour in QUALITY_COLOURS)
        lines.append(f"spectrum b, {palette}, {shown.name} and b > 0, minimum=0, maximum=100")
    return [*lines, f"util.cnc {shown.name}"]


def chimerax_script(study: Study, folder: Path) -> str:
    """top.cxc: as `pymol_script`, for ChimeraX."""
    lines = [
        "# Opens the best decoys of each target: chimerax top.cxc",
        "# Paths are relative to this file: move it together with the structures.",
    ]
    for place, (target, decoys) in enumerate(opened(study, folder), 1):
        block = []
        for nth, shown in enumerate(decoys, 1):
            block.append(f'open "{_escaped(shown.path)}" id {place}.{nth} name "{shown.name}"')
            if nth > 1:
                chains = "".join(f"/{','.join(part)}" for part in decoys[0].partners[:1])
                block.append(f"matchmaker #{place}.{nth}{chains} to #{place}.1{chains}")
            block += _chimerax_colours(f"#{place}.{nth}", shown)
        block += [f"hide #{place} models"] if place > 1 else []
        lines += ["", f"# {target}", *_commented(block, place > MOST_TARGETS)]
    return "\n".join([*lines, "", "hide solvent", "view", ""])


def _escaped(path: str) -> str:
    """A path between the quotation marks of ChimeraX, which take the escapes of Python."""
    return path.replace("\\", "\\\\").replace('"', "\\x22")


def _chimerax_colours(model: str, shown: Opened) -> list[str]:
    lines = [f"hide {model} atoms", f"cartoon {model}"]
    for colour, chains in zip(_cycled(shown.partners), shown.partners, strict=True):
        mine = f"{model}/{','.join(chains)}"
        lines += [f"color {mine} {colour}", f"show ({mine} & protein) & (({model} & protein & ~{mine}) :<5) atoms"]
    if shown.graded:
        palette = ":".join(QUALITY_COLOURS)
        lines.append(f"color byattribute bfactor {model}@@bfactor>0 palette {palette} range 0,100")
    return [*lines, f"color {model} byhetero"]


def _chains(partners: Partners) -> str:
    names = [chain for chains in partners for chain in chains]
    return f" and chain {'+'.join(names)}" if names else ""


def _cycled(partners: Partners) -> list[str]:
    return [PARTNER_COLOURS[k % len(PARTNER_COLOURS)] for k in range(len(partners))]


def _commented(block: list[str], out: bool) -> list[str]:
    return [f"# {line}" for line in block] if out else block


def multiqc(study: Study, dataset: str) -> dict[str, Any]:
    """toporank_mqc.json: the best decoy of each target as a table that MultiQC shows."""
    rows = [entry for entry in answers(study) if entry["dataset"] == dataset]
    scored = [row for row in study.decoys if row.dataset == dataset and row.pred_dockq is not None]
    data = {
        entry["target"]: {
            "decoy": best.decoy,
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
        "decoy": {"title": "Best decoy"},
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
        "section_name": f"Best decoys of {dataset}",
        "description": f"The decoy ranked first of each target; {counted(len(scored), 'decoy')} scored.",
        "plot_type": "table",
        "pconfig": {"id": f"toporank_{dataset}_table", "title": f"TopoRank: {dataset}", "col1_header": "Target"},
        "headers": {name: header for name, header in headers.items() if name in known},
        "data": {target: {n: v for n, v in row.items() if n in known} for target, row in data.items()},
    }


def beside(study: Study, folder: Path) -> dict[str, str]:
    """Name → content of the files beside the page of one data set in a folder."""
    (dataset,) = study.datasets
    return {
        Path(layout.TOP_PML).name: pymol_script(study, folder),
        Path(layout.TOP_CXC).name: chimerax_script(study, folder),
        Path(layout.MULTIQC).name: json.dumps(multiqc(study, dataset), indent=1, ensure_ascii=False) + "\n",
    }
