"""What several programs write beside their models: a maker of readers for each way."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

import numpy as np

from toporank.errors import ConfidenceError
from toporank.programs.program import PredictorOutput, Reader, SideFiles
from toporank.programs.values import ARRAY, WRONG_FILE, Values, array, read_values

NO_NUMBER = -(10**9)
"""Of a residue whose number a file does not have."""
IptmOfPairs = tuple[np.ndarray | None, list[str] | None]
"""ipTM of pairs of chains, (C, C), and the names of these chains; None where not known."""
PAIR_OF_NAMES = re.compile(r"\(\s*'?([^,']+?)'?\s*,\s*'?([^,']+?)'?\s*\)")
"""Such as `(A, B)`, by which a table names a pair of chains."""


def values_of(path: Path | None) -> Values:
    """Return what a file holds, by name; nothing without a file. Raises ConfidenceError."""
    return read_values(path) if path else {}


def table_in(values: Values, key: str) -> Values:
    """Return a table in a file; an empty one where there is none of this name."""
    table = values.get(key)
    return table if isinstance(table, dict) else {}


def scores_of_json(
    score: str, pairs: str, ptm: str = "ptm", iptm: str = "iptm"
) -> Reader:
    """Make a reader of ranking score, ipTM of pairs of chains, pTM and ipTM under these keys."""

    def read(files: SideFiles, output: PredictorOutput) -> None:
        values = values_of(files.scores)
        output.put_numbers(values, ptm=ptm, iptm=iptm, ranking_score=score)
        output.pair_iptm, output.pair_chains = _pair_iptm(values.get(pairs))
        output.pair_chains = output.pair_chains or _names(values, "chain_ids")

    return read


def pae_matrix(name: str) -> Reader:
    """Make a reader of PAE of this name, and of the tokens that it is of if they are named."""

    def read(files: SideFiles, output: PredictorOutput) -> None:
        read_pae(files.pae, name, output)

    return read


def read_pae(path: Path | None, name: str, output: PredictorOutput) -> None:
    """Read PAE of this name, and the tokens that it is of. Raises ConfidenceError."""
    values = values_of(path)
    name = ARRAY if ARRAY in values else name
    if path and name not in values:
        raise ConfidenceError(f"{path.name} has no {name}", remedy=WRONG_FILE)
    output.atom_chains = _names(values, "atom_chain_ids")
    # without the tokens that the file names it is not known whose rows these are
    output.token_chains = _names(values, "token_chain_ids")
    output.token_numbers = _numbers_of_tokens(values)
    output.put_pae(values, name)
    probabilities = values.get("contact_probs")
    if isinstance(probabilities, list | np.ndarray):
        output.contact_probs = _matrix_of_pairs(probabilities)


def atom_plddt(name: str) -> Reader:
    """Make a reader of the pLDDT of atoms of this name, in the file of the PAE."""

    def read(files: SideFiles, output: PredictorOutput) -> None:
        values = values_of(files.pae)
        of_atoms = values.get(name)
        if isinstance(of_atoms, list | np.ndarray) and np.shape(of_atoms[:1]) != (0,):
            output.put_plddt(values, files.pae, name, field_name="atom_plddt")

    return read


def token_plddt(files: SideFiles, output: PredictorOutput) -> None:
    """Read pLDDT of tokens from a file of its own, rounded as Boltz does it in mmCIF.

    Both files give one score.
    """
    values = values_of(files.plddt)
    output.put_plddt(values, files.plddt, ARRAY if ARRAY in values else "plddt")
    if output.plddt is not None:
        output.plddt = output.plddt.astype(float).round(3)


def _pair_iptm(table: Any) -> IptmOfPairs:
    """ipTM of pairs of chains, (C, C), nan where unknown, and their names where they are given.

    Predictors write a matrix; a table of tables by the places of chains (Boltz) or by their names;
    or a table by pairs of names (OpenFold3). None of anything else: few models need it.
    """
    if not isinstance(table, dict):
        return _matrix_of_pairs(table), None
    if not any(isinstance(value, dict) for value in table.values()):
        return _iptm_by_pair_names(table)
    names = list(map(str, table))
    places = list(map(str, range(len(names))))
    by_place = set(names) == set(places)
    order = places if by_place else names
    rows = []
    try:
        for first in order:
            row = [table[first][second] for second in order]
            rows.append(row)
    except (LookupError, TypeError):
        return None, None
    return _matrix_of_pairs(rows), None if by_place else names


def _iptm_by_pair_names(table: Values) -> IptmOfPairs:
    """As `_pair_iptm`, of a table such as `{"(A, B)": 0.9}`."""
    values: dict[tuple[str, str], Any] = {}
    for key, value in table.items():
        pair = PAIR_OF_NAMES.fullmatch(str(key))
        if not pair:
            return None, None
        first, second = pair.groups()
        values[first, second] = values[second, first] = value
    names = list(dict.fromkeys(itertools.chain.from_iterable(values)))
    rows = []
    for first in names:
        row = [values.get((first, second), np.nan) for second in names]
        rows.append(row)
    return (_matrix_of_pairs(rows), names) if names else (None, None)


def _matrix_of_pairs(rows: Any) -> np.ndarray | None:
    """ipTM as a square matrix; None where these are other numbers, or none."""
    try:
        matrix = array({"": rows}, "")
    except ConfidenceError:
        return None
    if matrix.ndim == 3 and len(matrix) == 1:
        matrix = matrix[0]
    is_square = matrix.ndim == 2 and matrix.shape[0] == matrix.shape[1]
    return None if not is_square or (matrix < 0).any() or (matrix > 1).any() else matrix


def _names(values: Values, key: str) -> list[str] | None:
    """The names of chains in the order of the values of a file of AlphaFold 3, if any."""
    names = values.get(key)
    return list(map(str, names)) if isinstance(names, list) and names else None


def _numbers_of_tokens(values: Values) -> list[int] | None:
    """The residue number of each token, as AlphaFold 3 writes it.

    `NO_NUMBER` where it writes chains alone.
    """
    if "token_chain_ids" not in values:
        return None
    chains = _names(values, "token_chain_ids") or []
    try:
        numbers = list(
            map(int, values.get("token_res_ids") or [NO_NUMBER] * len(chains))
        )
    except (TypeError, ValueError, OverflowError):
        numbers = []
    if not chains or len(numbers) != len(chains):
        raise ConfidenceError(
            "token_chain_ids and token_res_ids do not belong together"
        )
    return numbers
