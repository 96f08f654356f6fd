"""What the files of each predictor say of a model, in one form.

There is a reader for each way of writing it.

A reader takes the files beside a model and puts what they say into a `PredictorOutput`.
`inputs.predictors` says which readers a predictor has.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from toporank.errors import ConfidenceError
from toporank.inputs.confidence.content import (
    ARRAY,
    WRONG_FILE,
    Values,
    array,
    number,
    plddt,
    read_bytes,
    read_values,
    square,
    unreadable,
)
from toporank.inputs.confidence.side_files import (
    LIGHT_PICKLES,
    SideFiles,
    file_called,
    ranked_runs,
)

NO_NUMBER = -(10**9)
"""Of a residue whose number a file does not have."""
RANGES = {"ptm": (0.0, 1.0), "iptm": (0.0, 1.0), "ranking_score": (-101.0, 101.0)}
"""What single numbers can be. AlphaFold 3 takes 100 from the ranking score of a model that clashes;
AlphaFold 2 ranks models without ipTM by pLDDT.
"""
MEASURED = ("ptm", "iptm", "pair_iptm", "ranking_score", "plddt", "atom_plddt", "pae")
"""A file that was read gives at least one of these fields."""
IptmOfPairs = tuple[np.ndarray | None, list[str] | None]
"""ipTM of pairs of chains, (C, C), and the names of these chains; None where not known."""
PAIR_OF_NAMES = re.compile(r"\(\s*'?([^,']+?)'?\s*,\s*'?([^,']+?)'?\s*\)")
"""Such as `(A, B)`, by which OpenFold3 names a pair of chains."""


@dataclass
class PredictorOutput:
    """A predictor's confidence in a model; None where it says nothing.

    Attributes
    ----------
    ptm, iptm : from 0 to 1
    pair_iptm : ipTM of each pair of chains, shape (C, C); nan where unknown
    pair_chains : the names of these chains; without, they are those of the model in its order
    ranking_score : by which the predictor ranks its models, higher is better
    plddt : of each residue or other token, 0 to 100, shape (T,)
    atom_plddt : of each atom, 0 to 100, shape (A,)
    plddt_file : the name of the file that has pLDDT
    pae : Å, shape (T, T)
    contact_probs : probability that two tokens touch, shape (T, T)
    token_chains, token_numbers : the name of the chain and the residue number of each token
    atom_chains : the name of the chain of each atom
    problems : files that could not be used, and why
    """

    ptm: float | None = None
    iptm: float | None = None
    pair_iptm: np.ndarray | None = None
    pair_chains: list[str] | None = None
    ranking_score: float | None = None
    plddt: np.ndarray | None = None
    atom_plddt: np.ndarray | None = None
    plddt_file: str = ""
    pae: np.ndarray | None = None
    contact_probs: np.ndarray | None = None
    token_chains: list[str] | None = None
    token_numbers: list[int] | None = None
    atom_chains: list[str] | None = None
    problems: list[str] = field(default_factory=list)

    def put(self, name: str, read: Callable[..., Any], *arguments: Any) -> None:
        """Set a field to what a function reads, if it is there.

        What cannot be used becomes a problem.
        """
        try:
            value = read(*arguments)
        except ConfidenceError as error:
            self.add_problem(error)
            return
        if value is not None:
            setattr(self, name, value)

    def put_numbers(self, values: Values, **keys: str) -> None:
        """Set pTM, ipTM or ranking score from a file.

        keys : field → key in the file, such as `ptm="ptm_score"`.
        """
        for field_name, key in keys.items():
            self.put(field_name, number, values, key, *RANGES[field_name])

    def put_plddt(
        self, values: Values, path: Path | None, key: str, field_name: str = "plddt"
    ) -> None:
        """Set pLDDT from values of a file, if they have this key.

        A list from 0 to 1 becomes 0 to 100.

        Parameters
        ----------
        field_name : `plddt` or `atom_plddt`
        """
        if path is not None and key in values:
            self.plddt_file = path.name
            self.put(field_name, plddt, values, key)

    def put_pae(self, values: Values, name: str) -> None:
        """Set PAE from values of a file, if they have this name."""
        if name in values:
            self.put("pae", square, values, name)

    def add_problem(self, error: ConfidenceError) -> None:
        """Remember once that something could not be used."""
        if error.reason not in self.problems:
            self.problems.append(error.reason)


Reader = Callable[[SideFiles, PredictorOutput], None]
"""Puts what files say into the output. Raises ConfidenceError for a file that cannot be used at
all.
"""


def read_output(files: SideFiles, readers: tuple[Reader, ...]) -> PredictorOutput:
    """Return what the files beside a model say.

    Where several readers find a value, the last counts.
    """
    output = PredictorOutput()
    for reader in readers:
        try:
            reader(files, output)
        except ConfidenceError as error:
            output.add_problem(error)
    if not output.problems and all(getattr(output, name) is None for name in MEASURED):
        paths = (files.scores, files.pae, files.plddt)
        names = ", ".join(path.name for path in paths if path)
        what = (
            f"{names} has none of the values that TopoRank reads of {files.predictor}"
        )
        output.add_problem(ConfidenceError(what, remedy=WRONG_FILE))
    return output


def _values(path: Path | None) -> Values:
    return read_values(path) if path else {}


# ---- what several predictors write ---------------------------------------------------------------


def scores_of_json(
    score: str, pairs: str, ptm: str = "ptm", iptm: str = "iptm"
) -> Reader:
    """Make a reader of ranking score, ipTM of pairs of chains, pTM and ipTM under these keys."""

    def read(files: SideFiles, output: PredictorOutput) -> None:
        values = _values(files.scores)
        output.put_numbers(values, ptm=ptm, iptm=iptm, ranking_score=score)
        output.pair_iptm, output.pair_chains = _pair_iptm(values.get(pairs))
        output.pair_chains = output.pair_chains or _names(values, "chain_ids")

    return read


def pae_matrix(name: str) -> Reader:
    """Make a reader of PAE of this name, and of the tokens that it is of if they are named."""

    def read(files: SideFiles, output: PredictorOutput) -> None:
        _read_pae(files.pae, name, output)

    return read


def _read_pae(path: Path | None, name: str, output: PredictorOutput) -> None:
    values = _values(path)
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
        values = _values(files.pae)
        of_atoms = values.get(name)
        if isinstance(of_atoms, list | np.ndarray) and np.shape(of_atoms[:1]) != (0,):
            output.put_plddt(values, files.pae, name, field_name="atom_plddt")

    return read


def token_plddt(files: SideFiles, output: PredictorOutput) -> None:
    """Read pLDDT of tokens from a file of its own, rounded as Boltz does it in mmCIF.

    Both files give one score.
    """
    values = _values(files.plddt)
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


# ---- what one predictor writes -------------------------------------------------------------------


def colabfold(files: SideFiles, output: PredictorOutput) -> None:
    """Read the one file that has it all.

    ColabFold ranks models of complexes by 0.8 ipTM + 0.2 pTM.
    """
    values = _values(files.scores)
    output.put_numbers(values, ptm="ptm", iptm="iptm")
    if output.ptm is not None and output.iptm is not None:
        output.ranking_score = 0.8 * output.iptm + 0.2 * output.ptm
    output.put_plddt(values, files.scores, "plddt")
    output.put_pae(values, "pae")


def openfold3_pae(files: SideFiles, output: PredictorOutput) -> None:
    """Read PAE of OpenFold3, which most runs do not write."""
    output.put_pae(_values(files.pae), "pae")


def boltz_service(files: SideFiles, output: PredictorOutput) -> None:
    """Read `metrics.json` of Boltz' service: the numbers of all samples of a job."""
    if not files.scores or "sample" not in files.names:
        return
    values = read_values(files.scores)
    metrics = _metrics_of_sample(values, int(files.names["sample"]))
    if not metrics:
        raise ConfidenceError(
            f"{files.scores.name} has no sample {files.names['sample']}",
            remedy=WRONG_FILE,
        )
    output.put_numbers(
        metrics, ptm="ptm", iptm="iptm", ranking_score="structure_confidence"
    )


def _metrics_of_sample(values: Values, sample: int) -> Values:
    """The metrics of a sample, which the service writes in three ways; empty where it has none."""
    results = values.get("all_sample_results")
    if not isinstance(results, list):
        results = [values.get("best_sample")]
    for result in results:
        if isinstance(result, dict) and result.get("sample") == sample:
            metrics = _table(result, "metrics")
            if metrics:
                return metrics
    return _table(_table(values, "sample_results"), f"sample_{sample}")


def _table(values: Values, key: str) -> Values:
    table = values.get(key)
    return table if isinstance(table, dict) else {}


def alphafold2_ranking(files: SideFiles, output: PredictorOutput) -> None:
    """Read `ranking_debug.json`.

    It has the ranking confidence and, of multimers, ipTM of each model by its name.
    """
    ranking = _values(files.scores)
    name = _model_of_alphafold2(files)
    scores = _table(ranking, "iptm+ptm") or _table(ranking, "plddts")
    output.put_numbers(scores, ranking_score=name)
    output.put_numbers(_table(ranking, "iptm"), iptm=name)


def _model_of_alphafold2(files: SideFiles) -> str:
    """The name of a model of AlphaFold 2.

    It is its own name or, of `ranked_0`, the one that `ranking_debug.json` has in that place.

    Empty where there is no order. Raises ConfidenceError when the order ends before this model, or
    when it may be that of another run: of `a_ranked_0` and `b_ranked_1` only one can be meant.
    """
    name = files.names["name"] or files.names["listed"]
    order = _values(files.scores).get("order")
    if name or not isinstance(order, list):
        return name
    rank = int(files.names["rank"])
    runs = ranked_runs(files.folder)
    if files.names["prefix"] and len(runs) > 1:
        several = " and ".join(f"{run}ranked" for run in sorted(runs)[:2])
        raise ConfidenceError(
            f"ranking_debug.json ranks the models of one run, and here are models called {several}",
            remedy="put the models of each run into a folder with its ranking_debug.json",
        )
    if rank >= len(order):
        raise ConfidenceError(
            f"ranking_debug.json orders {len(order)} models, so there is no ranked_{rank}"
        )
    return str(order[rank])


def alphafold2_result(files: SideFiles, output: PredictorOutput) -> None:
    """Read `result_<name>.pkl`: all there is.

    MassiveFold puts it into a folder, or calls it after the model.
    """
    name = f"result_{_model_of_alphafold2(files)}.pkl"
    path = (
        file_called(files.folder, name)
        or file_called(files.folder / LIGHT_PICKLES, name)
        or file_called(files.folder, f"{files.names['stem']}.pkl")
    )
    values = _values(path)
    output.put_numbers(
        values, ptm="ptm", iptm="iptm", ranking_score="ranking_confidence"
    )
    output.put_plddt(values, path, "plddt")
    output.put_pae(values, "predicted_aligned_error")


def alphafold2_pae(files: SideFiles, output: PredictorOutput) -> None:
    """Read `pae_<name>.json`, of AlphaFold 2.3.2 and later."""
    path = file_called(files.folder, f"pae_{_model_of_alphafold2(files)}.json")
    _read_pae(path, "predicted_aligned_error", output)


def alphafold2_plddt(files: SideFiles, output: PredictorOutput) -> None:
    """Read `confidence_<name>.json`, as AlphaFold 2.3.2 and AlphaPulldown write it.

    It has the pLDDT of each residue.
    """
    path = file_called(files.folder, f"confidence_{_model_of_alphafold2(files)}.json")
    output.put_plddt(_values(path), path, "confidenceScore")


def alphafold_database(files: SideFiles, output: PredictorOutput) -> None:
    """Read PAE and pLDDT of a complex of the AlphaFold Database, and ipTM of its mmCIF file."""
    output.put_pae(_values(files.pae), "predicted_aligned_error")
    output.put_plddt(_values(files.plddt), files.plddt, "confidenceScore")
    model = file_called(files.folder, f"{files.names['stem']}.cif")
    output.put_numbers(_global_metrics(model), ptm="ptm", iptm="iptm")


def _global_metrics(model: Path | None) -> Values:
    """The measures of a whole model in its mmCIF file, by name in small letters."""
    if model is None:
        return {}
    import gemmi  # takes a while, and few models need it

    try:
        block = gemmi.cif.read_string(read_bytes(model)).sole_block()
    except (RuntimeError, ValueError) as error:
        raise unreadable(model, error) from error
    names = dict(block.find("_ma_qa_metric.", ["id", "name"]))
    values: Values = {}
    for metric, value in block.find(
        "_ma_qa_metric_global.", ["metric_id", "metric_value"]
    ):
        name = gemmi.cif.as_string(names.get(metric, "")).lower()
        if not gemmi.cif.is_null(value):
            values[name] = gemmi.cif.as_number(value)
    return values
