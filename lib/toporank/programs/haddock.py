"""HADDOCK: its score and its terms, and the steps of its runs.

The terms come from the header that CNS writes into a model, and from the tables of HADDOCK3.
"""

from __future__ import annotations

import functools
import math
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from toporank.errors import ConfidenceError
from toporank.files.compressed import without_compression
from toporank.programs.file_names import file_called, folders_in
from toporank.programs.program import DockingOutput, Program, Terms
from toporank.programs.values import ContentState, read_bytes, state_of
from toporank.structures.identity import split_suffix

TERMS = ("vdw", "elec", "desolv", "air", "bsa")
"""Terms of the score: kcal/mol, and the buried surface in Å²."""
WEIGHTS = {
    "rigidbody": (0.01, 1.0, 1.0, 0.01, -0.01),
    "flexref": (1.0, 1.0, 1.0, 0.1, -0.01),
    "emref": (1.0, 0.2, 1.0, 0.1, 0.0),
    "mdref": (1.0, 0.2, 1.0, 0.1, 0.0),
}
"""Default weights of the terms in the modules of HADDOCK3, which a model's `FILENAME` begins with.
"""
TABLE = "capri_ss.tsv"
"""Of HADDOCK3, beside the models or in the folder of a `caprieval` step beside theirs."""
CAPRIEVAL = re.compile(r"\d+_caprieval")
AGAIN = "run caprieval again"
NUMBER = r"[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?"
STEP = re.compile(r"(\d+)_([a-z][a-z0-9]*)")
"""What HADDOCK3 calls the folder of a step of a run: number and module."""
MODULE = re.compile(
    r"topoaa|rigidbody|(em|md)(ref|scoring)|flexref|seletop(clusts)?|clust(fcc|rmsd)|caprieval"
    r"|(il)?rmsdmatrix|contactmap|alascan|openmm|filter"
)
"""Modules of HADDOCK3 by which a run is known, even if nothing but models is left of it."""
OF_STEP = "io.json"
"""What HADDOCK3 leaves in the folder of a step."""
OLD_STEPS = {"structures/it1": -2, "structures/it1/water": -1}
"""Where HADDOCK 2 leaves its models, in their order."""


def _columns(values: Mapping[str, float | None]) -> Terms:
    """Score and terms, None where not known, as confidence.csv calls them."""
    return {f"haddock_{name}": values.get(name) for name in ("score", *TERMS)}


def of_header(text: str) -> Terms | None:
    """Return what the REMARK lines of a model say; None if HADDOCK did not write it.

    The score is there where the module is known whose default weights make it.
    """
    header = re.match(r"(?:REMARK[^\n]*\n)*", text)
    if not header or "HADDOCK" not in header[0]:
        return None
    remarks = header[0]
    terms: dict[str, float] = {}
    names = re.search(r"^REMARK +(total,\S+)\s*$", remarks, re.MULTILINE)
    energies = re.search(r"^REMARK energies: (.+)$", remarks, re.MULTILINE)
    if names and energies:
        for name, text in zip(
            names[1].split(","), energies[1].split(","), strict=False
        ):
            if name in TERMS and re.fullmatch(NUMBER, text.strip()):
                terms[name] = float(text)
    for name, title in (
        ("desolv", "Desolvation energy"),
        ("bsa", "buried surface area"),
    ):
        match = re.search(rf"^REMARK {title}: +({NUMBER})\s*$", remarks, re.MULTILINE)
        if match:
            terms[name] = float(match[1])
    terms = {name: value for name, value in terms.items() if math.isfinite(value)}
    module = re.search(r'FILENAME="(?:[^"\n]*/)?([a-z]+)_\d+', remarks)
    weights = WEIGHTS.get(module[1]) if module else None
    if weights is not None and len(terms) == len(TERMS):
        terms["score"] = sum(
            weight * terms[name] for weight, name in zip(weights, TERMS, strict=True)
        )
    return _columns(terms)


def is_docked(text: str) -> bool:
    """Return whether a line of a PDB file says that HADDOCK wrote it."""
    return re.search(r"^REMARK.*HADDOCK", text, re.MULTILINE) is not None


def completed(header: Terms, model: Path) -> tuple[Terms, str]:
    """Return the terms of a header with those of tables, and a problem or nothing.

    Where a table cannot be used, the score of the header may have other weights than those of the
    other models.
    """
    try:
        of_model = _of_tables(model)
    except ConfidenceError as error:
        return {**header, "haddock_score": None}, error.reason
    of_table = {name: value for name, value in of_model.items() if value is not None}
    return header | of_table, ""


def tables(folder: Path) -> list[Path]:
    """Return the tables that may have the models of a folder, later steps last."""
    run = folder.parent
    steps = [name for name in folders_in(run) if CAPRIEVAL.fullmatch(name)]
    steps.sort(key=lambda name: (int(name.partition("_")[0]), name))
    places = [*(run / name for name in steps), folder]
    of_places = [file_called(place, TABLE) for place in places]
    return [table for table in of_places if table]


def _of_tables(model: Path) -> Terms:
    """The row of a model in the last table that has it, by its path; empty if none has its folder.

    Raises ConfidenceError when a table cannot be read, the row cannot be used, or tables have rows
    of other models in this folder alone.
    """
    path = _plain(model)
    row, has_folder = None, False
    for table in tables(model.parent):
        rows = _rows(state_of(table))
        if isinstance(rows, ConfidenceError):
            raise rows.with_traceback(None)
        row = rows.get(path, row)
        has_folder = has_folder or os.path.dirname(path) in rows
    if row is None and has_folder:
        what = f"{TABLE} has other models of this folder, but not this one"
        raise ConfidenceError(what, remedy=AGAIN)
    return _of_row(row) if row else {}


@functools.lru_cache(maxsize=64)
def _rows(table: ContentState) -> dict[str, dict[str, str]] | ConfidenceError:
    """The cells of a table by the path of the model, or why it cannot be used.

    The table is parsed once in a process.

    The folder of each model is a key, too, without cells.
    """
    try:
        text = read_bytes(table.path).decode("utf-8", errors="replace")
    except ConfidenceError as error:
        return error
    header, *lines = re.split("\r\n|\r|\n", text)
    names = header.split("\t")
    if "model" not in names:
        return ConfidenceError(f"{table.path.name} has no column `model`", remedy=AGAIN)
    rows: dict[str, dict[str, str]] = {}
    for line in lines:
        row = dict(zip(names, line.split("\t"), strict=False))
        if row.get("model"):
            path = _plain(table.path.parent / row["model"])
            rows[path] = row
            rows.setdefault(os.path.dirname(path), {})
    return rows


def _plain(path: Path) -> str:
    """A path without `..` and compression; HADDOCK3 compresses models that it has tabulated."""
    return without_compression(os.path.abspath(path))


def _of_row(row: dict[str, str]) -> Terms:
    values: dict[str, float] = {}
    wrong = []
    for name in ("score", *TERMS):
        text = row.get(name)
        if text in (None, "", "-"):
            continue
        try:
            values[name] = float(text)
        except ValueError:
            values[name] = math.nan
        if not math.isfinite(values[name]):
            wrong.append(f"{name} is {text[:20]!r}, not a number")
    if wrong:
        raise ConfidenceError(f"{TABLE}: {', '.join(wrong)}", remedy=AGAIN)
    return _columns(values)


def last_step(run: Path, names: Iterable[str]) -> str | None:
    """Return the last step of a run that has models, as a path below the run.

    None in any other folder. names : of what is in it.
    """
    numbers = {}
    steps = list(filter(None, map(STEP.fullmatch, names)))
    if any(_is_step(run, step) for step in steps):
        numbers = {step[0]: int(step[1]) for step in steps if int(step[1])}
    elif "structures" in names:
        numbers = OLD_STEPS
    for name in sorted(numbers, key=lambda name: (numbers[name], name), reverse=True):
        if _has_models(run / name):
            return name
    return None


def _is_step(run: Path, step: re.Match[str]) -> bool:
    """Whether a folder is a step of HADDOCK3, which keeps what each step was given in `data`."""
    name, _, module = step[0], *step.groups()
    return bool(
        MODULE.fullmatch(module)
        or (run / name / OF_STEP).is_file()
        or (run / "data" / name).is_dir()
    )


def _has_models(folder: Path) -> bool:
    return folder.is_dir() and any(
        split_suffix(entry.name) for entry in os.scandir(folder)
    )


HADDOCK = Program(
    name="HADDOCK",
    model=re.compile(
        r"(?:.*/)?(?:(?:rigidbody|flexref|(?:em|md)(?:ref|scoring))_\d+"
        r"|cluster_?\d+_(?:model_)?\d+|complex_(?:it[01]_)?\d+w?)"
    ),
    called="haddock",
    unused=r"(?:.*[_.-])?io\.json|capri_(?:ss|clt)\.tsv",
    further=tables,
    docking=DockingOutput(
        of_header=of_header,
        is_docked=is_docked,
        completed=completed,
        last_step=last_step,
    ),
)
