"""What the predictor of one decoy says of it, and what follows from that and the model."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from toporank.confidence import haddock, measures
from toporank.confidence.bfactors import plddt_of_residues
from toporank.confidence.files import files_beside, named_by
from toporank.confidence.predictors import Stated, stated
from toporank.confidence.table import INCOMPLETE, NOTHING, NUMBERS, OK, Confidence
from toporank.decoys.identity import structure_format
from toporank.decoys.partners import Partners
from toporank.errors import ConfidenceError, TopoRankError
from toporank.features.neighbours import pairs_between_groups
from toporank.structures.complex import STANDARD, Complex
from toporank.structures.read import read_complex, read_text

INTERFACE = 10.0
"""Å between CA atoms of residues at an interface, as in `features.interface`."""
NUCLEOTIDES = {"A", "C", "G", "U", "DA", "DC", "DG", "DT"}
DECIMALS = 4


def confidence_of(target: str, decoy: str, path: Path, partners: Partners = ()) -> Confidence:
    """What the predictor of a decoy says of it. partners : empty when each chain is one.

    A file that cannot be used, and a matrix that does not fit the model, is named in `reason`.
    """
    row, beside, named = Confidence(target, decoy), files_beside(path), named_by(path)
    try:
        file_format, _ = structure_format(path)
        text = read_text(path)
        cns = haddock.of_header(text) if file_format == "pdb" else None
        if cns is None and not beside and not named and not (file_format == "mmcif" and "_ma_qa_metric" in text):
            return row
        complex_ = read_complex(path)
    except TopoRankError as error:
        return row._replace(status=INCOMPLETE, reason=error.reason) if beside or named else row
    known, problems = stated(beside) if beside else Stated(), []
    if cns is not None:
        row, problems = _with_haddock(row._replace(predictor="HADDOCK"), cns, path)
    by_residue = plddt_of_residues(text, file_format, of_predictor=bool(beside), named=bool(named))
    row = row._replace(
        predictor=row.predictor or (beside.predictor if beside else named if by_residue else ""),
        ptm=known.ptm,
        iptm=known.iptm,
        ranking_score=known.ranking_score,
    )
    found, more = _of_structure(complex_, partners, known, by_residue)
    row, problems = row._replace(**found), [*known.problems, *problems, *more]
    numbers = {name: round(value, DECIMALS) for name in NUMBERS if (value := getattr(row, name)) is not None}
    status = INCOMPLETE if problems else OK if numbers else NOTHING
    return row._replace(**numbers, status=status, reason="; ".join(problems))


def _with_haddock(row: Confidence, cns: haddock.Haddock, path: Path) -> tuple[Confidence, list[str]]:
    """The row with what the header of a model says or, before that, the tables of HADDOCK3."""
    problems, known = [], cns._asdict()
    try:
        table = haddock.of_tables(path)
        known |= {name: value for name, value in (table._asdict() if table else {}).items() if value is not None}
    except ConfidenceError as error:
        problems.append(error.reason)
    return row._replace(**{f"haddock_{name}": value for name, value in known.items()}), problems


def _of_structure(
    complex_: Complex, partners: Partners, known: Stated, by_residue: dict
) -> tuple[dict[str, float], list[str]]:
    """Measures for which the model is needed, and what keeps some of them from being computed."""
    problems: list[str] = []
    n_tokens = next((len(each) for each in (known.pae, known.plddt) if each is not None), 0)
    token = _token_of_residues(complex_, known.tokens, n_tokens) if n_tokens else None
    if n_tokens and token is None:
        problems.append(f"the predictor's files have {n_tokens} residues or atoms, the model {_described(complex_)}")
    try:
        complex_ = complex_.with_partners(partners)
    except TopoRankError as error:
        return {}, [*problems, error.reason]
    own = np.flatnonzero((complex_.ca >= 0) & (complex_.body_of >= 0))
    if token is not None and (token[own] < 0).any():
        token = None
        problems.append("the predictor's files do not have all residues of the model")
    plddt = np.array([by_residue.get(complex_.residues[i], np.nan) for i in own])
    if token is not None and known.plddt is not None and len(known.plddt) == n_tokens:
        plddt = known.plddt[token[own]].astype(float)
    plddt = None if np.isnan(plddt).any() else plddt
    pae = None
    if token is not None and known.pae is not None:
        pae = known.pae[np.ix_(token[own], token[own])].astype(float)
    return _measured(complex_, own, plddt, pae), problems


def _described(complex_: Complex) -> str:
    return f"{np.count_nonzero(complex_.is_protein)} of protein and {np.count_nonzero(~complex_.is_protein)} others"


def _token_of_residues(complex_: Complex, tokens: list[tuple[str, int]] | None, n: int) -> np.ndarray | None:
    """For each residue its first of n tokens, -1 for none; int, shape (R,). None if the tokens are not of this model.

    tokens : chain and residue number of each; without, residues in the order of the file: one token for each standard
    amino acid and nucleotide, and one for each residue or each heavy atom of what else there is.
    """
    if tokens is not None and len(tokens) == n:
        place: dict[tuple[str, int], int] = {}
        for i, key in enumerate(tokens):
            place.setdefault(key, i)
        return np.array([place.get((residue.chain, residue.number), -1) for residue in complex_.residues])
    heavy = complex_.without_hydrogens()
    atoms = np.diff(heavy.atom_slices)
    standard = np.isin(complex_.names, [*STANDARD, *NUCLEOTIDES])
    for sizes in (np.ones_like(atoms), np.where(standard, 1, atoms), np.where(complex_.is_protein, 1, 0)):
        if sizes.sum() == n:
            return np.where(sizes > 0, np.cumsum(sizes) - sizes, -1)
    return None


def _measured(complex_: Complex, own: np.ndarray, plddt: np.ndarray | None, pae: np.ndarray | None) -> dict[str, float]:
    """Measures of the whole and of its interfaces, the mean over pairs of bodies that touch.

    own : indices of the residues with a CA atom in a body; plddt and pae are theirs.
    """
    found = {} if plddt is None else {"plddt": float(plddt.mean())}
    ca, body = complex_.xyz[complex_.ca[own]], complex_.body_of[own]
    near, _ = pairs_between_groups(ca, body, INTERFACE)
    if not len(near):
        return found
    if plddt is not None:
        found["interface_plddt"] = float(plddt[np.unique(near)].mean())
    if pae is not None:
        found["interface_pae"] = measures.interface_pae(pae, near)
    contacts, _ = pairs_between_groups(_cb(complex_)[own], body, measures.CONTACT)
    several: dict[str, list[float]] = {}
    for first, second in np.unique(np.sort(body[near], axis=1), axis=0):
        touching = contacts[(np.sort(body[contacts], axis=1) == (first, second)).all(axis=1)]
        if plddt is not None:
            several.setdefault("pdockq", []).append(measures.pdockq(plddt, touching))
        if pae is not None:
            of_bodies = np.flatnonzero(body == first), np.flatnonzero(body == second)
            several.setdefault("ipsae", []).append(measures.ipsae(pae, *of_bodies))
            several.setdefault("lis", []).append(measures.lis(pae, *of_bodies))
        if plddt is not None and pae is not None:
            several.setdefault("pdockq2", []).append(measures.pdockq2(plddt, pae, _from_first(touching, body, first)))
    return found | {name: float(np.mean(values)) for name, values in several.items()}


def _from_first(pairs: np.ndarray, body: np.ndarray, first: int) -> np.ndarray:
    """The pairs, each with the residue of the first body in front."""
    return np.where((body[pairs[:, :1]] == first), pairs, pairs[:, ::-1])


def _cb(complex_: Complex) -> np.ndarray:
    """CB of each residue, CA where it has none; shape (R, 3), of no use for residues without CA."""
    xyz = complex_.xyz[complex_.ca]
    atoms = np.flatnonzero(complex_.atom_names == b"CB")
    xyz[complex_.residue_of[atoms]] = complex_.xyz[atoms]
    return xyz
