"""Tables with a row for each residue, as the reuse store keeps them.

A residue is known by its author's numbers; beside them stand mmCIF's own, empty where the file has
none.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from toporank.errors import FeatureError
from toporank.files import described
from toporank.structures.complex import Complex
from toporank.structures.identity import ResidueId

Column = np.ndarray | list[Any]
"""Numbers; or texts and whole numbers, None where one is unknown."""
Table = dict[str, Column]
"""Columns by name, in their order."""


def table_bytes(
    complex_: Complex, index: np.ndarray, columns: Table, metadata: dict[str, Any]
) -> bytes:
    """Return a table of residues with columns that say which they are, and further ones, as
    safetensors.

    Parameters
    ----------
    complex_ : that has the residues
    index : (N,) which residues
    columns : arrays of N numbers, lists of N texts
    metadata : how the further columns were made; what JSON can hold
    """
    ids = [complex_.residues[r] for r in index]
    labels = [complex_.labels[r] if complex_.labels else ("", None) for r in index]
    identity: Table = {
        "chain": [i.chain for i in ids],
        "number": [i.number for i in ids],
        "insertion_code": [i.insertion_code for i in ids],
        "residue": [complex_.names[r] for r in index],
        "label_chain": [chain or None for chain, _ in labels],
        "label_number": [number for _, number in labels],
    }
    table = {**identity, **columns}
    arrays, lists = {}, {}
    for name, column in table.items():
        kind = arrays if isinstance(column, np.ndarray) else lists
        kind[name] = column
    return described.to_bytes(arrays, {"columns": [*table], "lists": lists, "made_by": metadata})


def read_table(content: bytes) -> Table:
    """Return the table that `table_bytes` made.

    Raises
    ------
    ValueError : where the bytes are damaged
    """
    arrays, description = described.from_bytes(content)
    columns = {**arrays, **description["lists"]}
    return {name: columns[name] for name in description["columns"]}


def read_residues(content: bytes, complex_: Complex) -> tuple[np.ndarray, Table]:
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
    table, position = read_table(content), complex_.index()
    ids = zip(table["chain"], table["number"], table["insertion_code"], strict=True)
    try:
        index = [position[ResidueId(*each)] for each in ids]
    except KeyError as error:
        raise FeatureError(f"residue {error.args[0]} is not in the structure") from error
    return np.array(index, int), table


def matrix(table: Table, columns: list[str]) -> np.ndarray:
    """Return the named columns of numbers as float64, (N, len(columns))."""
    return np.column_stack(
        [table[name] for name in columns] or [np.zeros((len(table["chain"]), 0))]
    )
