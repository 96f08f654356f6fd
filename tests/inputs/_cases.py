"""Every kind of file that people bring, and what TopoRank makes of it: cases.yaml, layouts.yaml and
tables.yaml.

Tests try them one by one, and `docs/research/file-cases.md` is generated from them:

    PYTHONPATH=lib:tests python tests/inputs/_cases.py > docs/research/file-cases.md
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

NOTHING = "nothing"


class Case(NamedTuple):
    """One kind of structure file.

    status, says : status of the decoy and a part of its reason; the whole of it where the decoy is
    `ok`, and `...` for anything. same : the graph has the very numbers of the plain PDB file's.
    chains : names of the chains in the graph, where they matter. happens, remedy : for the user.
    """

    name: str
    input: str
    status: str
    happens: str = "read"
    says: str = ""
    remedy: str = NOTHING
    same: bool = False
    chains: str = ""
    partners: str = ""


class Layout(NamedTuple):
    """Files below the folder that a user gives, the decoys they make by target, and those that
    TopoRank does not read.
    """

    program: str
    folder: str
    happens: str
    files: list[str]
    decoys: dict[str, list[str]]
    passed_over: Sequence[str] = ()


class FileName(NamedTuple):
    """Names of files, and whether TopoRank refuses such a decoy."""

    input: str
    files: list[str]
    refused: bool
    happens: str
    remedy: str = NOTHING
    encoding: str = "utf-8"


class LabelTable(NamedTuple):
    """A label table, and what reading it gives: DockQ of the decoy `a` of target `T`, or an error
    with these words.
    """

    input: str
    text: str
    gives: float | str = 0.5
    happens: str = "read"
    remedy: str = NOTHING
    encoding: str = "utf-8"


def read(name: str) -> dict[str, list[dict[str, Any]]]:
    """The rows of a file by section."""
    text = Path(__file__).with_name(name).read_text(encoding="utf-8")
    return yaml.load(text, yaml.CSafeLoader)


CASES = {
    group: [Case(**row) for row in rows] for group, rows in read("cases.yaml").items()
}
ALL = [case for cases in CASES.values() for case in cases]
OF_PROGRAMS, TABLES = read("layouts.yaml"), read("tables.yaml")
LAYOUTS = [Layout(**row) for row in OF_PROGRAMS["layouts"]]
FILE_NAMES = [FileName(**row) for row in TABLES["file_names"]]
LABEL_TABLES = [LabelTable(**row) for row in TABLES["label_tables"]]

INTRODUCTION = """\
# File by file

Generated from `cases.yaml`, `layouts.yaml` and `tables.yaml` in `tests/inputs/`, where each line is a test
that goes from the file to the graph. `PYTHONPATH=lib:tests python tests/inputs/_cases.py` prints this page.
[Your files](../inputs.md) says what matters for most users.
"""
FURTHER = """\
Folders of what a predictor was given (`templates`, `msas`, `processed`, `…_env`) are not read where they lie beside what
it wrote; with models in them they may be called so. Hidden files and results of TopoRank are not read. Structures of an
experiment, mmCIF files with other tables (structure factors, dictionaries, scores of pairs of residues), and the one
structure of a complex that its predictor did not write are left out where models lie beside, with a message.
Files without an ending, or with one that says nothing (`H1106TS001_1` of CASP, `complex.12` of
ZDOCK, `model.pdb.txt`), are read if their content is PDB or mmCIF.

The command `score` also unpacks zip and tar files that lie beside models, or alone in the folder, and archives in
these; each is read as the folder that is in it. It names one that cannot be unpacked, with the reason, and scores the others. It leaves alone one
whose files lie beside it unpacked. A data set of a configuration names archives and unpacks none.
"""


def section(title: str, header: str, rows: Iterable[tuple[str, ...]]) -> list[str]:
    """Lines of a section with a table. header : of its columns, parted by `|`."""
    rule = " | ".join("---" for _ in header.split("|"))
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return [f"## {title}\n", f"| {header} |", f"| {rule} |", *lines, ""]


def markdown() -> str:
    """The text of docs/research/file-cases.md."""
    of_layouts = [(each.program, each.folder, each.happens) for each in LAYOUTS]
    of_names = [(each.input, each.happens, each.remedy) for each in FILE_NAMES]
    of_labels = [(each.input, each.happens, each.remedy) for each in LABEL_TABLES]
    three = "input | what happens | what to do"
    four = "input | status | what happens | what to do"
    lines = [INTRODUCTION]
    lines += section(
        "Where the files lie", "of | folder to give | what happens", of_layouts
    )
    lines.append(FURTHER)
    for group, cases in CASES.items():
        of_cases = [
            (case.input, f"`{case.status}`", case.happens, case.remedy)
            for case in cases
        ]
        lines += section(group, four, of_cases)
    lines += section("Names of files and folders", three, of_names)
    lines += section("Label tables", three, of_labels)
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.write(markdown())
