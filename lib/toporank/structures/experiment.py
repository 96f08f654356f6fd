"""What a structure file says of an experiment, and mmCIF files that hold no structure."""

from __future__ import annotations

import re
from typing import NamedTuple

import gemmi

THEORY = re.compile(r"THEOR|MODEL|PREDICT|COMPUT", re.IGNORECASE)
"""Words of methods that measure nothing."""
METHOD = re.compile(r"^EXPDTA.{4}(.*)", re.MULTILINE)
RESOLUTION = re.compile(
    r"^REMARK   (?:2 RESOLUTION\.|3   RESOLUTION RANGE HIGH \(ANGSTROMS\) :) +(\d+\.\d+)",
    re.MULTILINE,
)
HEADER = re.compile(r"^HEADER.{56}(\w{4})", re.MULTILINE)
FIRST_ATOM = re.compile(r"^(ATOM  |HETATM)", re.MULTILINE)
RESOLUTIONS = (
    "_refine.ls_d_res_high",
    "_em_3d_reconstruction.resolution",
    "_reflns.d_resolution_high",
)
RELEASED = "_pdbx_audit_revision_history.revision_date"
"""Of an entry of a database, and of a template, which AlphaFold 3 asks for its date."""
OF_PREDICTION = ("_ma_qa_metric.id", "_ma_model_list.ordinal_id")
"""Columns that files of predictions alone have."""
OF_ANY = ("_entry.", "_audit", "_struct.", "_citation", "_database_", "_software.")
"""Tables that tell nothing of the content of a file."""
OF_CHAINS = (
    "_entity.",
    "_struct_asym.",
    "_entity_poly.",
    "_entity_poly_seq.",
    "_pdbx_poly_seq_scheme.",
)
"""Tables that say which chains a structure has: without its atoms, the file is cut off."""


class Experiment(NamedTuple):
    """method : of a measurement; empty without one. entry : its name in a database."""

    method: str = ""
    entry: str = ""


def of_pdb(text: str) -> Experiment:
    """Return what the lines before the atoms of a PDB file say."""
    atom = FIRST_ATOM.search(text)
    head = text[: atom.start()] if atom else text
    entry = HEADER.search(head)
    return _experiment(
        METHOD.findall(head), RESOLUTION.findall(head), entry[1] if entry else ""
    )


def of_mmcif(block: gemmi.cif.Block) -> Experiment:
    """Return what the tables of an mmCIF file say."""
    if any(block.find_values(column) for column in OF_PREDICTION):
        return Experiment()
    methods = _texts(block, "_exptl.method")
    resolutions = []
    for column in RESOLUTIONS:
        resolutions += _texts(block, column)
    if not methods and not resolutions and block.find_values(RELEASED):
        methods = ["an entry of a database"]
    entries = _texts(block, "_entry.id")
    return _experiment(methods, resolutions, entries[0] if entries else "")


def _texts(block: gemmi.cif.Block, column: str) -> list[str]:
    """The values of a column that say something."""
    values = map(gemmi.cif.as_string, block.find_values(column))
    return list(filter(None, values))


def _experiment(methods: list[str], resolutions: list[str], entry: str) -> Experiment:
    """The first method that measures; where none is named, a resolution says that one did."""
    methods = list(filter(None, map(str.strip, methods)))
    if not methods and resolutions:
        methods = [f"a resolution of {resolutions[0]} Å"]
    for method in methods:
        if not THEORY.search(method):
            return Experiment(method, entry)
    return Experiment()


def is_other(document: gemmi.cif.Document) -> bool:
    """Whether a file without atoms of a structure is whole: a dictionary, data or scores.

    It is not where the tables of chains are there: then a structure is cut off.
    """
    tags = []
    for block in document:
        for item in block:
            if item.loop:
                tags.append(item.loop.tags[0])
            elif item.pair:
                tags.append(item.pair[0])  # type: ignore[index]  # gemmi: object
    telling = [tag.lower() for tag in tags if not tag.lower().startswith(OF_ANY)]
    return bool(telling) and not any(tag.startswith(OF_CHAINS) for tag in telling)
