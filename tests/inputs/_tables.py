"""Odd names of files and odd label tables: sections of docs/research/file-cases.md, tried by
test_tables.py.
"""

from __future__ import annotations

from typing import NamedTuple


class FileName(NamedTuple):
    """Names below the folder that is given, and whether each is a decoy that is refused."""

    input: str
    files: tuple[str, ...]
    refused: bool
    happens: str
    remedy: str = "nothing"


LONG = "x" * 241
FILE_NAMES = [
    FileName(
        "spaces, brackets, letters of any alphabet",
        ("T/Modell №1 (größer).pdb", "T/a[1] {b}.pdb", "Ziel ß/a.pdb"),
        False,
        "kept as they are",
    ),
    FileName(
        "names that begin with `-`, `=`, `@` or `+`",
        ("T/-rf.pdb", "T/=1+1.pdb", "T/@a.pdb", "T/+a.pdb", "-T/a.pdb"),
        False,
        "kept as they are",
    ),
    FileName(
        "names that Windows keeps for itself, such as `CON`, `nul`, `a.`",
        ("T/CON.pdb", "T/nul.cif", "T/a..pdb", "aux/a.pdb"),
        False,
        "kept as they are",
    ),
    FileName("names that differ in capitals only", ("T/a.pdb", "T/A.pdb"), False, "two decoys"),
    FileName(
        "tab, line break or another character that cannot be printed",
        ("T/a\tb.pdb", "T/a\nb.pdb", "T/a\x1b[31m.pdb", "T/a\u202eb.pdb", "T\t/a.pdb"),
        True,
        "`unreadable`; the name in the tables has `_` in its place and ends in a digest",
        "rename it",
    ),
    FileName(
        "bytes that are no UTF-8",
        ("T/\udce9.pdb", "\udcff/a.pdb"),
        True,
        "`unreadable`; the name in the tables has `_` in their place and ends in a digest",
        "rename it",
    ),
    FileName(
        "more than 240 bytes",
        (f"T/{LONG}.pdb", f"T/{'ß' * 121}.pdb", f"{LONG}/a.pdb"),
        True,
        "`unreadable`: its artefacts need room for their endings; the name in the tables is cut "
        "and ends in a digest",
        "shorten it",
    ),
]


class LabelTable(NamedTuple):
    """A label table, and what reading it gives: DockQ of the decoy `a` of target `T`, or an error
    with these words.
    """

    input: str
    text: str | bytes
    gives: float | str
    happens: str
    remedy: str = "nothing"


LABEL_TABLES = [
    LabelTable("commas", "Target,Model,DockQ\nT,a,0.5\n", 0.5, "read"),
    LabelTable("semicolons", "Target;Model;DockQ\nT;a;0.5\n", 0.5, "read"),
    LabelTable("semicolons and decimal commas", "Target;Model;DockQ\nT;a;0,5\n", 0.5, "read"),
    LabelTable("tabs", "Target\tModel\tDockQ\nT\ta\t0.5\n", 0.5, "read"),
    LabelTable("a byte-order mark (Excel)", "\ufeffTarget,Model,DockQ\nT,a,0.5\n", 0.5, "read"),
    LabelTable("line ends of Windows", "Target,Model,DockQ\r\nT,a,0.5\r\n", 0.5, "read"),
    LabelTable(
        "`target`, `decoy`, `dockq`, in any order", "dockq,decoy,target\n0.5,a,T\n", 0.5, "read"
    ),
    LabelTable(
        "structure suffix after the name", "Target,Model,DockQ\nT,a.pdb.gz,0.5\n", 0.5, "taken off"
    ),
    LabelTable("other columns", "Target,Model,DockQ,note\nT,a,0.5,x\n", 0.5, "left alone"),
    LabelTable(
        "`Partners`, such as `H+L:A`",
        "Target,Model,Partners,DockQ\nT,a,H+L:A,0.5\n",
        0.5,
        "of this decoy",
    ),
    LabelTable(
        "partners without `:`",
        "Target,Model,Partners,DockQ\nT,a,H+L,0.5\n",
        "line 2: 'H+L' is one partner, at least two are needed",
        "refused with the line",
        "part partners by `:`",
    ),
    LabelTable("decimal commas in quotes", 'Target,Model,DockQ\nT,a,"0,5"\n', 0.5, "read"),
    LabelTable(
        "quoted header and semicolons", '"Target";"Model";"DockQ"\n"T";"a";0,5\n', 0.5, "read"
    ),
    LabelTable(
        "quoted header and tabs", '"Target"\t"Model"\t"DockQ"\n"T"\t"a"\t0.5\n', 0.5, "read"
    ),
    LabelTable(
        "DockQ above 1, below 0, or no number",
        "Target,Model,DockQ\nT,a,51\n",
        "line 2: DockQ of T/a is '51', not a number from 0 to 1",
        "refused with the line",
        "correct the value or remove the row",
    ),
    LabelTable(
        "two columns of DockQ",
        "Target,Model,DockQ,DockQ\nT,a,0.5,0.6\n",
        "the header must have Target, Model and DockQ once each",
        "refused",
        "remove one",
    ),
    LabelTable(
        "a decoy labelled twice",
        "Target,Model,DockQ\nT,a,0.5\nT,a.pdb,0.5\n",
        "decoy 'a' of target 'T' is labelled twice",
        "refused",
        "remove one row",
    ),
    LabelTable(
        "another encoding than UTF-8",
        "Target,Model,DockQ\nTé,a,0.5\n".encode("latin-1"),
        "save it as CSV in UTF-8",
        "refused",
        "save it as CSV in UTF-8",
    ),
]


def markdown() -> list[str]:
    """Lines of both sections."""
    names = [f"| {each.input} | {each.happens} | {each.remedy} |" for each in FILE_NAMES]
    labels = [f"| {each.input} | {each.happens} | {each.remedy} |" for each in LABEL_TABLES]
    head = ["| input | what happens | what to do |", "| --- | --- | --- |"]
    return [
        "## Names of files and folders\n",
        *head,
        *names,
        "",
        "## Label tables\n",
        *head,
        *labels,
        "",
    ]
