"""Tables with a row for each residue, as the reuse store keeps them.

A residue is known by its author's numbers; beside them stand mmCIF's own, empty where the file has
none.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from toporank.chains.chain import ResidueId
from toporank.errors import FeatureError
from toporank.files import described
from toporank.structures.complex import Complex

Cells = np.ndarray | list[Any]
"""Numbers; or texts and whole numbers, None where one is unknown."""
ResidueColumns = dict[str, Cells]
"""Columns by name, in their order."""
IDENTITY = (
    "chain",
    "number",
    "insertion_code",
    "residue",
    "label_chain",
    "label_number",
)
"""Columns that say which residue a row is of."""


def table_bytes(
    complex_: Complex,
    index: np.ndarray,
    columns: ResidueColumns,
    metadata: dict[str, Any],
) -> bytes:
    """Return a table of residues as safetensors.

    It has columns that say which residues they are, and further ones.

    Parameters
    ----------
    complex_ : that has the residues
    index : (N,) which residues
    columns : arrays of N numbers, lists of N texts
    metadata : how the further columns were made; what JSON can hold

    Returns
    -------
    content : of a safetensors file
    """
    lists: dict[str, list] = {name: [] for name in IDENTITY}
    for r in index:
        label_chain, label_number = (
            complex_.labels[r] if complex_.labels else ("", None)
        )
        row = (
            *complex_.residues[r],
            complex_.names[r],
            label_chain or None,
            label_number,
        )
        for column, value in zip(lists.values(), row, strict=True):
            column.append(value)
    arrays = {}
    for name, values in columns.items():
        if isinstance(values, np.ndarray):
            arrays[name] = values
        else:
            lists[name] = values
    names = [*IDENTITY, *columns]
    return described.to_bytes(
        arrays, {"columns": names, "lists": lists, "made_by": metadata}
    )


def read_table(content: bytes) -> ResidueColumns:
    """Return the table that `table_bytes` made.

    Raises
    ------
    ValueError : where the bytes are damaged
    """
    arrays, description = described.from_bytes(content)
    columns = {**arrays, **description["lists"]}
    return {name: columns[name] for name in description["columns"]}


def read_residues(
    content: bytes, complex_: Complex
) -> tuple[np.ndarray, ResidueColumns]:
    """Return the table that `table_bytes` made, and where its residues are in the complex.

    Returns
    -------
    index : (N,) positions of the residues
    table : as from `read_table`

    Raises
    ------
    FeatureError : where the complex does not have a residue
    ValueError : where the bytes are damaged
    """
    table = read_table(content)
    position = complex_.index()
    ids = map(ResidueId, table["chain"], table["number"], table["insertion_code"])
    try:
        index = [position[residue] for residue in ids]
    except KeyError as error:
        raise FeatureError(
            f"residue {error.args[0]} is not in the structure"
        ) from error
    return np.array(index, int), table


def matrix(table: ResidueColumns, columns: list[str]) -> np.ndarray:
    """Return the named columns of numbers as float64, (N, len(columns))."""
    empty = np.zeros((len(table["chain"]), 0))
    return np.column_stack([empty, *(table[name] for name in columns)])
