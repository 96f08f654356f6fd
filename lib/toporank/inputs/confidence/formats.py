"""What the files of each predictor say of a model, in one form."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from toporank.errors import ConfidenceError
from toporank.inputs.confidence.content import ARRAY, array, number, plddt, read_values, square
from toporank.inputs.confidence.side_files import LIGHT_PICKLES, Beside, file_called, ranked_runs


class Stated(NamedTuple):
    """What a predictor states; None where it says nothing.

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
    tokens : chain and residue number of each token
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
    tokens: list[tuple[str, int]] | None = None
    atom_chains: list[str] | None = None
    problems: tuple[str, ...] = ()


NO_NUMBER = -(10**9)
"""Of a residue whose number a file does not have."""
RANGES = {"ptm": (0.0, 1.0), "iptm": (0.0, 1.0), "ranking_score": (-101.0, 101.0)}
"""What single numbers can be. AlphaFold 3 takes 100 from the ranking score of a model that clashes; AlphaFold 2 ranks
models without ipTM by pLDDT."""
Parts = dict[str, Callable[[], Any]]
"""Field of `Stated` → what gives its value, None where there is none, or raises ConfidenceError."""


def stated(beside: Beside) -> Stated:
    """What the files beside a model state. What cannot be used, a file or a part of one, is among `problems`."""
    found: dict[str, Any] = {}
    problems: list[str] = []

    def tried(step: Callable[[], Any]) -> Any:
        try:
            return step()
        except ConfidenceError as error:
            problems.append(error.reason)

    for read in READERS[beside.predictor]:
        values = {name: tried(part) for name, part in (tried(partial(read, beside)) or {}).items()}
        found |= {name: value for name, value in values.items() if value is not None}
    return Stated(**found, problems=tuple(dict.fromkeys(problems)))


def _of_json(score: str, pairs: str) -> Callable[[Beside], Parts]:
    """A reader of pTM, ipTM and, under these names, of the score that ranks models and ipTM of pairs of chains."""

    def read(beside: Beside) -> Parts:
        values = read_values(beside.scores) if beside.scores else {}
        numbers = _numbers(values, ptm="ptm", iptm="iptm", ranking_score=score)
        matrix, chains = _of_pairs(values.get(pairs))
        return numbers | {"pair_iptm": lambda: matrix, "pair_chains": lambda: chains or _chain_ids(values)}

    return read


def _of_pairs(found: Any) -> tuple[np.ndarray | None, list[str] | None]:
    """ipTM of pairs of chains, (C, C), nan where unknown, and the names of these chains where they are given.

    Predictors write a matrix; a table of tables by the places of chains (Boltz) or by their names; or a table by pairs
    of names (OpenFold3). None of anything else: few models need it.
    """
    if not isinstance(found, dict):
        return _matrix_of_pairs(found), None
    if not any(isinstance(value, dict) for value in found.values()):
        return _of_named_pairs(found)
    names = [*map(str, found)]
    by_place = set(names) == {str(i) for i in range(len(names))}
    order = [str(i) for i in range(len(names))] if by_place else names
    try:
        rows = [[found[first][second] for second in order] for first in order]
    except (LookupError, TypeError):
        return None, None
    return _matrix_of_pairs(rows), None if by_place else names


def _of_named_pairs(found: dict[str, Any]) -> tuple[np.ndarray | None, list[str] | None]:
    """As `_of_pairs`, of a table such as `{"(A, B)": 0.9}`."""
    pairs = [re.fullmatch(r"\(\s*'?([^,']+?)'?\s*,\s*'?([^,']+?)'?\s*\)", str(key)) for key in found]
    if not pairs or not all(pairs):
        return None, None
    names = [*dict.fromkeys(name for pair in pairs for name in pair.groups())]
    rows: list[list[Any]] = [[np.nan] * len(names) for _ in names]
    for pair, value in zip(pairs, found.values(), strict=True):
        first, second = (names.index(name) for name in pair.groups())
        rows[first][second] = rows[second][first] = value
    return _matrix_of_pairs(rows), names


def _matrix_of_pairs(rows: Any) -> np.ndarray | None:
    """ipTM as a square matrix; None where these are other numbers, or none."""
    try:
        values = array({"": rows}, "")
    except ConfidenceError:
        return None
    values = values[0] if values.ndim == 3 and len(values) == 1 else values
    if values.ndim != 2 or len({*values.shape}) != 1 or (values < 0).any() or (values > 1).any():
        return None
    return values


def _chain_ids(values: dict[str, Any]) -> list[str] | None:
    """The names of the chains in the order of the other values of an AlphaFold 3 summary, where it has them."""
    names = values.get("chain_ids")
    return [*map(str, names)] if isinstance(names, list) and names else None


def _of_pae(name: str) -> Callable[[Beside], Parts]:
    """A reader of a matrix of this name."""

    return lambda beside: _matrix(beside.pae, name) if beside.pae else {}


def _matrix(path: Path, name: str) -> Parts:
    """PAE, and the tokens it is of if they are named, of a file that is there for it."""
    values = read_values(path)
    name = ARRAY if ARRAY in values else name
    if name not in values:
        raise ConfidenceError(f"{path.name} has no {name}", remedy="is it the right file?")

    def pae() -> np.ndarray:
        _tokens(values)  # without the tokens that the file names it is not known whose rows these are
        return square(values, name)

    return {
        "pae": pae,
        "tokens": partial(_tokens, values),
        "atom_chains": partial(_atom_chains, values),
    }


def _of_atoms(name: str) -> Callable[[Beside], Parts]:
    """A reader of the pLDDT of atoms of this name, in the file of the PAE."""

    def read(beside: Beside) -> Parts:
        values = read_values(beside.pae) if beside.pae else {}
        of_atoms = values.get(name)
        if not isinstance(of_atoms, list | np.ndarray) or np.shape(of_atoms[:1]) == (0,):
            return {}
        return {"atom_plddt": partial(plddt, values, name), "plddt_file": lambda: beside.pae.name}

    return read


def _of_plddt(beside: Beside) -> Parts:
    """pLDDT of tokens in a file of its own, rounded as Boltz does it in mmCIF: a score does not depend on the file."""
    values = read_values(beside.plddt) if beside.plddt else {}
    name = ARRAY if ARRAY in values else "plddt"
    if not beside.plddt or name not in values:
        return {}
    return {"plddt": lambda: plddt(values, name).astype(float).round(3), "plddt_file": lambda: beside.plddt.name}


def _openfold3_pae(beside: Beside) -> Parts:
    """PAE of OpenFold3, which most runs do not write."""
    values = read_values(beside.pae) if beside.pae else {}
    return {"pae": partial(square, values, "pae")} if "pae" in values else {}


def _boltz_service(beside: Beside) -> Parts:
    """`metrics.json` of Boltz' service: the numbers of all samples of a job."""
    if not beside.scores or "sample" not in beside.names:
        return {}
    values = read_values(beside.scores)
    sample = int(beside.names["sample"])
    results = values.get("all_sample_results")
    of_samples = results if isinstance(results, list) else [values.get("best_sample")]
    for each in of_samples:
        if isinstance(each, dict) and each.get("sample") == sample and isinstance(each.get("metrics"), dict):
            return _numbers(each["metrics"], ptm="ptm", iptm="iptm", ranking_score="structure_confidence")
    by_name = values.get("sample_results")
    metrics = by_name.get(f"sample_{sample}") if isinstance(by_name, dict) else None
    if not isinstance(metrics, dict):
        raise ConfidenceError(f"{beside.scores.name} has no sample {sample}", remedy="is it the right file?")
    return _numbers(metrics, ptm="ptm", iptm="iptm", ranking_score="structure_confidence")


def _numbers(values: dict[str, Any], **names: str) -> Parts:
    """Single numbers, each field with its name in the file."""
    return {field: partial(number, values, name, *RANGES[field]) for field, name in names.items()}


def _arrays(values: dict[str, Any], path: Path | None, pae: str) -> Parts:
    """pLDDT and, under this name, PAE of a file, if they are there."""
    return _plddt(values, path, "plddt") | ({"pae": partial(square, values, pae)} if pae in values else {})


def _plddt(values: dict[str, Any], path: Path | None, name: str) -> Parts:
    """pLDDT of this name and its file, if it is there."""
    if path is None or name not in values:
        return {}
    return {"plddt": partial(plddt, values, name), "plddt_file": lambda: path.name}


def _tokens(values: dict[str, Any]) -> list[tuple[str, int]] | None:
    """Chain and residue number of each token, as AlphaFold 3 writes them; `NO_NUMBER` where it writes chains alone."""
    if "token_chain_ids" not in values:
        return None
    try:
        chains = [*map(str, values["token_chain_ids"])]
        numbers = [*map(int, values.get("token_res_ids") or [NO_NUMBER] * len(chains))]
        return [*zip(chains, numbers, strict=True)]
    except (TypeError, ValueError, OverflowError) as error:
        raise ConfidenceError("token_chain_ids and token_res_ids do not belong together") from error


def _atom_chains(values: dict[str, Any]) -> list[str] | None:
    """The chain of each atom, as AlphaFold 3 writes them."""
    names = values.get("atom_chain_ids")
    return [*map(str, names)] if isinstance(names, list) and names else None


def _colabfold(beside: Beside) -> Parts:
    """One file has it all. ColabFold ranks models of complexes by 0.8 ipTM + 0.2 pTM."""
    values = read_values(beside.scores) if beside.scores else {}
    known = _numbers(values, ptm="ptm", iptm="iptm")

    def score() -> float | None:
        ptm, iptm = known["ptm"](), known["iptm"]()
        return None if ptm is None or iptm is None else 0.8 * iptm + 0.2 * ptm

    return {**known, "ranking_score": score, **_arrays(values, beside.scores, "pae")}


def _alphafold2_ranking(beside: Beside) -> Parts:
    """`ranking_debug.json`: ranking confidence and, of multimers, ipTM of each model by its name, and their order."""
    ranking, name = _ranking(beside), _name(beside)
    scores = next((of_models for key in ("iptm+ptm", "plddts") if (of_models := _by_name(ranking, key))), {})
    return _numbers(scores, ranking_score=name) | _numbers(_by_name(ranking, "iptm"), iptm=name)


def _by_name(ranking: dict[str, Any], key: str) -> dict[str, Any]:
    found = ranking.get(key)
    return found if isinstance(found, dict) else {}


def _ranking(beside: Beside) -> dict[str, Any]:
    return read_values(beside.scores) if beside.scores else {}


def _name(beside: Beside) -> str:
    """The name of a model of AlphaFold 2: its own or, of `ranked_0`, by the order in `ranking_debug.json`.

    Empty where there is no order. Raises ConfidenceError when the order ends before this model, or when it may be that
    of another run: of `a_ranked_0` and `b_ranked_1` only one can be meant.
    """
    named = beside.names["name"] or beside.names["listed"]
    order = _ranking(beside).get("order")
    if named or not isinstance(order, list):
        return named
    place = int(beside.names["rank"])
    runs = ranked_runs(beside.folder)
    if beside.names["prefix"] and len(runs) > 1:
        several = " and ".join(f"{run}ranked" for run in sorted(runs)[:2])
        what = f"ranking_debug.json ranks the models of one run, and here are models called {several}"
        raise ConfidenceError(what, remedy="put the models of each run into a folder with its ranking_debug.json")
    if place >= len(order):
        raise ConfidenceError(f"ranking_debug.json orders {len(order)} models, so there is no ranked_{place}")
    return str(order[place])


def _alphafold2_result(beside: Beside) -> Parts:
    """`result_<name>.pkl`: all there is. MassiveFold puts it into a folder, or calls it after the model."""
    name = f"result_{_name(beside)}.pkl"
    places = (
        (beside.folder, name),
        (beside.folder / LIGHT_PICKLES, name),
        (beside.folder, f"{beside.names['stem']}.pkl"),
    )
    path = next(filter(None, (file_called(*place) for place in places)), None)
    values = read_values(path) if path else {}
    scores = _numbers(values, ptm="ptm", iptm="iptm", ranking_score="ranking_confidence")
    return {**scores, **_arrays(values, path, "predicted_aligned_error")}


def _alphafold2_pae(beside: Beside) -> Parts:
    """`pae_<name>.json`, of AlphaFold 2.3.2 and later."""
    path = file_called(beside.folder, f"pae_{_name(beside)}.json")
    return _matrix(path, "predicted_aligned_error") if path else {}


def _alphafold2_plddt(beside: Beside) -> Parts:
    """`confidence_<name>.json`, as AlphaFold 2.3.2 and AlphaPulldown write it: pLDDT of each residue."""
    path = file_called(beside.folder, f"confidence_{_name(beside)}.json")
    values = read_values(path) if path else {}
    return _plddt(values, path, "confidenceScore")


READERS: dict[str, tuple[Callable[[Beside], Parts], ...]] = {
    "ColabFold": (_colabfold,),
    "AlphaFold-Multimer": (_alphafold2_ranking, _alphafold2_result, _alphafold2_plddt, _alphafold2_pae),
    "AlphaFold 3": (_of_json("ranking_score", "chain_pair_iptm"), _of_pae("pae"), _of_atoms("atom_plddts")),
    "OpenFold3": (_of_json("sample_ranking_score", "chain_pair_iptm"), _openfold3_pae, _of_atoms("plddt")),
    "Boltz": (_of_json("confidence_score", "pair_chains_iptm"), _boltz_service, _of_pae("pae"), _of_plddt),
    "Chai-1": (_of_json("aggregate_score", "per_chain_pair_iptm"), _of_pae("pae"), _of_plddt),
    "Protenix": (_of_json("ranking_score", "chain_pair_iptm"), _of_pae("token_pair_pae"), _of_atoms("atom_plddt")),
}
"""How the files of each predictor are read; where several know something, the last counts."""
