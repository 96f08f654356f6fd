"""mmCIF text into gemmi's structure, with what gemmi would silently guess refused or corrected."""

from __future__ import annotations

import functools

import gemmi

from toporank.errors import OtherFileError, StructureError
from toporank.structures.complex import STANDARD
from toporank.structures.experiment import is_other
from toporank.structures.text import parsing

REQUIRED = (
    ("label_asym_id", "auth_asym_id"),
    ("Cartn_x",),
    ("Cartn_y",),
    ("Cartn_z",),
    ("label_atom_id", "auth_atom_id"),
    ("label_comp_id", "auth_comp_id"),
    ("auth_seq_id", "label_seq_id"),
)
"""Columns of the _atom_site table without which it cannot be read; of two, one is enough."""
LONG_ELEMENTS = ("BR", "CL", "FE", "SE")
"""Elements of two letters in the names of atoms; ions are called after their element."""
LONGEST_NUMBER = 7
"""Characters of a residue number; no chain has ten million residues."""
NO_VALUE = frozenset("?.")
OF_RESIDUE = (
    "label_asym_id",
    "?group_PDB",
    "?label_comp_id",
    "?auth_comp_id",
    "?label_atom_id",
    "?auth_atom_id",
    "?label_seq_id",
    "?auth_seq_id",
)
"""Columns that say which residue an atom is of; those with ? may be missing."""


def parse_mmcif(text: str) -> tuple[gemmi.cif.Block, gemmi.Structure, list[str]]:
    """mmCIF text into the first block with a structure, gemmi's structure of it, and notes.

    Raises StructureError.
    """
    has_table = "_atom_site." in text or "_atom_site." in text.lower()
    with parsing("mmcif"):
        document = gemmi.cif.read_string(text)
    blocks = [block for block in document if block.find_values("_atom_site.Cartn_x")]
    if not blocks:
        if not has_table and is_other(document):
            what = "no structure, but mmCIF tables of another kind"
            raise OtherFileError(what, remedy="leave it out")
        what = "no _atom_site table in this mmcif file"
        raise StructureError(what, remedy="make or fetch it again")
    _check_columns(blocks[0])
    _add_columns(blocks[0])
    _number_ligands(blocks[0])
    with parsing("mmcif"):
        structure = gemmi.make_structure_from_block(blocks[0])
    notes = (
        [f"{len(blocks)} structures in one file, the first is used"]
        if len(blocks) > 1
        else []
    )
    return blocks[0], structure, notes


def _check_columns(block: gemmi.cif.Block) -> None:
    """Check that an _atom_site table has its columns and residue numbers of usual length."""
    for names in REQUIRED:
        if not any(block.find_values(f"_atom_site.{name}") for name in names):
            what = f"the _atom_site table has no column {' or '.join(names)}"
            raise StructureError(what, remedy="write it with all columns")
    for name in ("auth_seq_id", "label_seq_id"):
        longest = max(block.find_values(f"_atom_site.{name}"), key=len, default="")
        if len(longest) > LONGEST_NUMBER:
            what = f"not a residue number in _atom_site.{name}: {longest[:20]}"
            raise StructureError(what, remedy="renumber")


def _add_columns(block: gemmi.cif.Block) -> None:
    """Add the columns that gemmi needs and that follow from others, or that hold nothing."""
    names = _values(block, "label_atom_id", "auth_atom_id")
    components = _values(block, "label_comp_id", "auth_comp_id")
    known = {
        "id": [str(number) for number in range(1, len(names) + 1)],
        "label_alt_id": ["."] * len(names),
        "label_asym_id": _values(block, "auth_asym_id"),
        "type_symbol": [],
    }
    loop = block.find_loop("_atom_site.Cartn_x").get_loop()
    for column, values in known.items():
        tag = f"_atom_site.{column}"
        if loop is None or block.find_values(tag):
            continue
        if column == "type_symbol":
            values = list(map(_element, names, components))
        loop.add_columns([tag], ".")
        cells = block.find_values(tag)
        for row, value in enumerate(values):
            cells[row] = value


def _values(block: gemmi.cif.Block, *columns: str) -> list[str]:
    """The values of the first of these columns that an _atom_site table has."""
    for column in columns:
        values = list(block.find_values(f"_atom_site.{column}"))
        if values:
            return values
    return []


@functools.cache
def _element(atom_name: str, component: str) -> str:
    """The element of an atom, by its name and that of its residue.

    >>> _element("CA", "ALA"), _element("CA", "CA"), _element("1HB", "ALA"), _element("SE", "MSE")
    ('C', 'CA', 'H', 'SE')
    """
    name = gemmi.cif.as_string(atom_name).upper().lstrip("0123456789")
    if name == component.upper() or (
        name[:2] in LONG_ELEMENTS and component not in STANDARD
    ):
        return name[:2]
    return name[:1] or "X"


def _number_ligands(block: gemmi.cif.Block) -> None:
    """Number ligands and waters that have no number of any kind, from 1 in each file.

    Files without `auth_seq_id` number polymers only; all waters of a chain would otherwise be one
    residue. An amino acid of a chain is left as it is.
    """
    table = block.find("_atom_site.", OF_RESIDUE)
    chain, group, component, author_component, atom_name, author_atom_name = range(6)
    if not table.has_column(component):
        component = author_component
    if not table.has_column(atom_name):
        atom_name = author_atom_name
    has_group = table.has_column(group)
    numbers = [k for k in (6, 7) if table.has_column(k)]
    if any(NO_VALUE.isdisjoint(table.column(k)) for k in numbers):
        return
    count = 0
    before = None
    atoms: set[str] = set()
    for row in table:
        has_number = not NO_VALUE.issuperset(row[k] for k in numbers)
        is_hetero = has_group and row[group] == "HETATM"
        if has_number or _in_chain(row.str(component), is_hetero):
            continue
        residue = row.str(chain), row.str(component)
        if residue != before or row.str(atom_name) in atoms:
            count += 1
            before = residue
            atoms = set()
        atoms.add(row.str(atom_name))
        row[numbers[0]] = str(count)


def _in_chain(component: str, hetero: bool) -> bool:
    """A residue that is part of a protein chain, which has a number of its own or none at all."""
    if component in STANDARD:
        return not hetero
    return gemmi.find_tabulated_residue(component).is_amino_acid()
