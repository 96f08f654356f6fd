"""What the files of each predictor say of a model, in one form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from toporank.confidence.content import array, number, read_values, square
from toporank.confidence.files import Beside, file_called
from toporank.errors import ConfidenceError


class Stated(NamedTuple):
    """What a predictor states; None where it says nothing.

    ranking_score : by which it ranks its models, higher is better. plddt : of each residue or other token, 0 to 100,
    shape (T,). pae : Å, shape (T, T). tokens : chain and residue number of each token. problems : files that could
    not be used, and why.
    """

    ptm: float | None = None
    iptm: float | None = None
    ranking_score: float | None = None
    plddt: np.ndarray | None = None
    pae: np.ndarray | None = None
    tokens: list[tuple[str, int]] | None = None
    problems: tuple[str, ...] = ()


def stated(beside: Beside) -> Stated:
    """What the files beside a model state. A file that cannot be used is among `problems`."""
    found, problems = Stated(), []
    for read in READERS[beside.predictor]:
        try:
            known = {name: value for name, value in read(beside)._asdict().items() if value is not None}
        except ConfidenceError as error:
            problems.append(error.reason)
        else:
            found = found._replace(**known)
    return found._replace(problems=tuple(problems))


def _of_json(score: str) -> Callable[[Beside], Stated]:
    """A reader of pTM, ipTM and the score by which models are ranked, under this name."""

    def read(beside: Beside) -> Stated:
        if beside.scores is None:
            return Stated()
        values = read_values(beside.scores)
        return Stated(number(values, "ptm"), number(values, "iptm"), number(values, score))

    return read


def _of_pae(name: str) -> Callable[[Beside], Stated]:
    """A reader of a matrix of this name."""

    def read(beside: Beside) -> Stated:
        if beside.pae is None:
            return Stated()
        values = read_values(beside.pae)
        return Stated(pae=_matrix(values, name), tokens=_tokens(values)) if name in values else Stated()

    return read


def _matrix(values: dict[str, Any], name: str) -> np.ndarray | None:
    return square(values, name) if name in values else None


def _tokens(values: dict[str, Any]) -> list[tuple[str, int]] | None:
    """Chain and residue number of each token, as AlphaFold 3 writes them."""
    if "token_chain_ids" not in values or "token_res_ids" not in values:
        return None
    try:
        return [(str(c), int(n)) for c, n in zip(values["token_chain_ids"], values["token_res_ids"], strict=True)]
    except (TypeError, ValueError) as error:
        raise ConfidenceError("token_chain_ids and token_res_ids do not belong together") from error


def _colabfold(beside: Beside) -> Stated:
    """One file has it all. ColabFold ranks models of complexes by 0.8 ipTM + 0.2 pTM."""
    if beside.scores is None:
        return Stated()
    values = read_values(beside.scores)
    ptm, iptm = number(values, "ptm"), number(values, "iptm")
    score = None if ptm is None or iptm is None else 0.8 * iptm + 0.2 * ptm
    plddt = array(values, "plddt") if "plddt" in values else None
    return Stated(ptm, iptm, score, plddt, _matrix(values, "pae"))


def _alphafold2_ranking(beside: Beside) -> Stated:
    """`ranking_debug.json`: the ranking confidence of each model by its name, and their order."""
    ranking = _ranking(beside)
    scores = next((ranking[name] for name in ("iptm+ptm", "plddts") if isinstance(ranking.get(name), dict)), {})
    return Stated(ranking_score=number(scores, _name(beside)))


def _ranking(beside: Beside) -> dict[str, Any]:
    return read_values(beside.scores) if beside.scores else {}


def _name(beside: Beside) -> str:
    """The name of a model of AlphaFold 2: its own or, of `ranked_0`, by the order in `ranking_debug.json`."""
    order = _ranking(beside).get("order")
    if beside.names["name"] or not isinstance(order, list):
        return beside.names["name"]
    place = int(beside.names["rank"])
    return str(order[place]) if place < len(order) else ""


def _alphafold2_result(beside: Beside) -> Stated:
    """`result_<name>.pkl`: all there is."""
    path = file_called(beside.folder, f"result_{_name(beside)}.pkl")
    if path is None:
        return Stated()
    values = read_values(path)
    plddt = array(values, "plddt") if "plddt" in values else None
    scores = (number(values, key) for key in ("ptm", "iptm", "ranking_confidence"))
    return Stated(*scores, plddt, _matrix(values, "predicted_aligned_error"))


def _alphafold2_pae(beside: Beside) -> Stated:
    """`pae_<name>.json`, of AlphaFold 2.3.2 and later."""
    path = file_called(beside.folder, f"pae_{_name(beside)}.json")
    return Stated(pae=_matrix(read_values(path), "predicted_aligned_error")) if path else Stated()


READERS: dict[str, tuple[Callable[[Beside], Stated], ...]] = {
    "ColabFold": (_colabfold,),
    "AlphaFold-Multimer": (_alphafold2_ranking, _alphafold2_result, _alphafold2_pae),
    "AlphaFold 3": (_of_json("ranking_score"), _of_pae("pae")),
    "Boltz": (_of_json("confidence_score"), _of_pae("pae")),
    "Chai-1": (_of_json("aggregate_score"), _of_pae("pae")),
    "Protenix": (_of_json("ranking_score"), _of_pae("token_pair_pae")),
}
"""How the files of each predictor are read; where several know something, the last counts."""
