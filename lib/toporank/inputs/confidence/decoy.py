"""What the predictor of one decoy says of it, and what follows from that and the model."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from toporank.errors import ConfidenceError, TopoRankError
from toporank.inputs.confidence import haddock
from toporank.inputs.confidence.bfactors import (
    OF_TOPORANK,
    SAME_IN_RESIDUE,
    BFactors,
    b_factors,
    profiles,
    rise_into_core,
    written_by_toporank,
)
from toporank.inputs.confidence.content import unreadable
from toporank.inputs.confidence.formats import Stated, stated
from toporank.inputs.confidence.missing_residues import MOST_DIFFERING, WHOSE_FILES, described, differing
from toporank.inputs.confidence.of_interfaces import iptm_between_partners, measured
from toporank.inputs.confidence.side_files import files_beside, named_by, place_of
from toporank.inputs.confidence.table import (
    ALWAYS,
    AUTO,
    INCOMPLETE,
    NOTHING,
    NUMBERS,
    OF_B_FACTORS,
    OF_FILE,
    OK,
    Choice,
    Confidence,
)
from toporank.inputs.confidence.tokens import Placed, n_tokens, placed, shifted_b_factors
from toporank.structures.complex import Complex
from toporank.structures.identity import ResidueId
from toporank.structures.partners import Partners
from toporank.structures.read import open_structure, read_complex

DECIMALS = 4
WHOLE = 1e-3
"""Difference to a whole number of one that was rounded to it."""
NOT_OF_THIS_MODEL = "of the residues have another pLDDT in"
NO_FILE_OF_BOLTZ = (
    "Boltz writes the pLDDT of other residues into the B factors behind a modified residue, and its plddt_….npz does"
    " not lie beside this model: TopoRank uses no pLDDT (put that file beside the model)"
)
CHANGED = "the model's file is not the one that was scored: it was changed since (run again)"


class Asked(NamedTuple):
    """A decoy whose confidence is asked for.

    path : None where its file is refused for its name. partners : empty when each chain is one. sha256 : of its file
    when it was built; empty where that is not known. atoms : gives its atoms as they were built, or raises
    TopoRankError; read from the file where there is none. model : of the file, from 1; 0 for its only one.
    """

    target: str
    decoy: str
    path: Path | None
    partners: Partners = ()
    sha256: str = ""
    atoms: Callable[[], Complex] | None = None
    model: int = 0

    def complex(self) -> Complex:
        """Its atoms. Raises TopoRankError."""
        return self.atoms() if self.atoms else read_complex(self.path, self.place)

    @property
    def place(self) -> int | None:
        """Place of its model in the file, from 0; None for the only one."""
        return self.model - 1 if self.model else None


class Examined(NamedTuple):
    """A row and, where its pLDDT comes from B factors, what the other models of its target are compared with.

    rise : their `rise_into_core`; None where the pLDDT is from elsewhere. profiles : of each chain, where nothing but
    the numbers says that they are pLDDT; otherwise empty.
    """

    row: Confidence
    rise: float | None = None
    profiles: tuple[bytes, ...] = ()


def examine(asked: Asked, choice: Choice = AUTO) -> Examined:
    """What the predictor of one decoy says of it.

    A file that cannot be used, and a matrix that does not fit the model, is named in `reason`. choice : whether B
    factors are pLDDT.
    """
    if asked.path is None:
        return Examined(Confidence(asked.target, asked.decoy))
    path = place_of(asked.path)
    row, beside, named = Confidence(asked.target, asked.decoy), files_beside(path), named_by(path)
    complex_: Complex | None = None
    try:
        file = open_structure(path)
        cns = haddock.of_header(file.text) if file.format == "pdb" else None
        again = choice == AUTO and written_by_toporank(file.text, file.format)
        found = None if again else b_factors(file, choice, asked.place)
        if found and not (found.declared or beside or choice == ALWAYS) and found.same_in_residue < SAME_IN_RESIDUE:
            found = None
        if cns is None and not beside and not named and found is None:
            return Examined(row._replace(status=INCOMPLETE, reason=OF_TOPORANK) if again else row)
        if asked.sha256 and file_digest(path) != asked.sha256:
            return Examined(row._replace(status=INCOMPLETE, reason=CHANGED))
        if beside or named or found:
            complex_ = asked.complex()
    except TopoRankError as error:
        return Examined(row._replace(status=INCOMPLETE, reason=error.reason) if beside or named else row)
    known, problems = stated(beside) if beside else Stated(), []
    rise = rise_into_core(found, complex_) if found else None
    by_numbers = found and not (found.declared or beside or named or choice == ALWAYS)
    if by_numbers and rise is None:
        return Examined(row)
    if cns is not None:
        row, problems = _with_haddock(row._replace(predictor="HADDOCK"), cns, path)
    row = row._replace(
        predictor=row.predictor or (beside.predictor if beside else named if found else ""),
        ptm=known.ptm,
        iptm=known.iptm,
        ranking_score=known.ranking_score,
    )
    of_model = _of_model(complex_, asked, known, found, row) if complex_ else NOTHING_MEASURED
    problems = [*known.problems, *problems, *of_model.problems, *[OF_TOPORANK] * again]
    row = row._replace(**of_model.values)
    numbers = {name: round(value, DECIMALS) for name in NUMBERS if (value := getattr(row, name)) is not None}
    status = INCOMPLETE if problems else OK if numbers else NOTHING
    row = row._replace(**numbers, status=status, reason="; ".join([*problems, *of_model.notes]))
    if row.plddt_source != OF_B_FACTORS:
        return Examined(row)
    return Examined(row, rise, profiles(found, complex_) if by_numbers else ())


class Pae(NamedTuple):
    """Predicted aligned error of n residues, those of partners. values : Å, float32, (n, n), aligned on the residue of
    the row. residues : what the file calls them, in its order.
    """

    values: np.ndarray
    residues: tuple[ResidueId, ...]


def pae_of(path: Path, complex_: Complex, model: int | None = None) -> Pae:
    """The PAE that the predictor of a model wrote beside it.

    path : of the model. complex_ : the model, with its partners. model : its place in the file, from 0, if there are
    several. Raises ConfidenceError when there is no PAE, or none that fits the model, and StructureError.
    """
    path = place_of(path)
    beside = files_beside(path)
    known = stated(beside) if beside else Stated()
    if known.pae is None:
        what = "; ".join(known.problems) or "the predictor left no PAE beside this model"
        raise ConfidenceError(what, where=path, remedy="docs/confidence.md says which files have it")
    of_model = b_factors(open_structure(path), AUTO, model)
    try:
        token = placed(complex_, known, of_model.of(complex_) if of_model else None).token
    except ConfidenceError as error:
        raise ConfidenceError(error.what, where=path, remedy=error.remedy) from error
    own = np.flatnonzero((complex_.ca >= 0) & (complex_.body_of >= 0))
    if (token[own] < 0).any():
        what = f"the predictor's PAE is of {len(known.pae)} tokens, but the model has {described(complex_)}"
        raise ConfidenceError(what, where=path, remedy=WHOSE_FILES)
    values = known.pae[np.ix_(token[own], token[own])]
    return Pae(values, tuple(complex_.residues[r] for r in own))


def file_digest(path: Path) -> str:
    """SHA-256 of a file. Raises ConfidenceError when it cannot be read."""
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise unreadable(path, error) from error


def _with_haddock(row: Confidence, cns: haddock.Haddock, path: Path) -> tuple[Confidence, list[str]]:
    """The row with what the header of a model says or, before that, the tables of HADDOCK3."""
    problems, known = [], cns._asdict()
    try:
        table = haddock.of_tables(path)
        known |= {name: value for name, value in (table._asdict() if table else {}).items() if value is not None}
    except ConfidenceError as error:
        problems.append(error.reason)
        known["score"] = None  # that of the header may have other weights than those of the other models
    return row._replace(**{f"haddock_{name}": value for name, value in known.items()}), problems


class _Measured(NamedTuple):
    """What follows from a model and its predictor's files.

    Attributes
    ----------
    values : fields of the row
    notes : what a reader should know though all was used
    problems : what keeps some measures from being computed
    """

    values: dict[str, float | str]
    notes: list[str]
    problems: list[str]


NOTHING_MEASURED = _Measured({}, [], [])


def _of_model(complex_: Complex, asked: Asked, known: Stated, found: BFactors | None, row: Confidence) -> _Measured:
    """What follows from a model and its predictor's files. row : with the predictor and ipTM."""
    place, problems = Placed(token=None, plddt=None), []
    try:
        place = placed(complex_, known, found.of(complex_) if found else None)
    except ConfidenceError as error:
        problems.append(error.reason)
    of_pairs: dict[str, float | str] = {}
    if row.iptm is not None:
        of_pairs, unknown = iptm_between_partners(complex_, asked.partners, known, place, row.predictor)
        problems += unknown
    of_structure = _of_structure(complex_, asked, known, place, found, row.predictor)
    values = of_pairs | of_structure.values
    return of_structure._replace(values=values, problems=[*problems, *of_structure.problems])


def _of_structure(
    complex_: Complex, asked: Asked, known: Stated, place: Placed, found: BFactors | None, predictor: str
) -> _Measured:
    """Measures for which the model is needed, and what keeps some from being computed."""
    notes: list[str] = []
    problems: list[str] = []
    n = n_tokens(known)
    if known.plddt is not None and len(known.plddt) != n:
        problems.append(f"the predictor's files give PAE of {n} tokens, but pLDDT of {len(known.plddt)}")
    try:
        complex_ = complex_.with_partners(asked.partners)
    except TopoRankError as error:
        return _Measured({}, notes, [*problems, error.reason])
    own = np.flatnonzero((complex_.ca >= 0) & (complex_.body_of >= 0))
    of_model = found.of(complex_) if found else None
    token, of_file = place.token, place.plddt
    if token is not None and (token[own] < 0).any():
        token = of_file = None
        problems.append("the predictor's files do not have all residues of the model")
    share = differing(of_file[own], of_model[own]) if of_file is not None and found else 0.0
    boltz = predictor == "Boltz" and known.plddt is not None and token is not None
    if share > MOST_DIFFERING and boltz and shifted_b_factors(complex_, token, known.plddt, of_model):
        notes.append(_shifted(share, known.plddt_file))
    elif share > MOST_DIFFERING:
        token = of_file = None
        problems.append(_of_another(share, known.plddt_file))
        believed = found.declared or (rise_into_core(found, complex_) or 0) > 0
        of_model = of_model if believed else None
    elif predictor == "Boltz" and found and of_file is None and known.plddt is None and _behind_modified(complex_):
        of_model = None
        problems.append(NO_FILE_OF_BOLTZ)
    plddt = source = None
    if of_file is not None and not (of_model is not None and _is_coarse(known, of_model[own])):
        plddt, source = of_file[own], OF_FILE
    elif of_model is not None:
        plddt, source = of_model[own], OF_B_FACTORS
    plddt = None if plddt is None or not len(plddt) or np.isnan(plddt).any() else plddt
    pae = None
    if token is not None and known.pae is not None:
        pae = known.pae[np.ix_(token[own], token[own])].astype(float)
    values: dict[str, float | str] = measured(complex_, own, plddt, pae)
    if plddt is not None:
        values["plddt_source"] = source
    return _Measured(values, notes, problems)


def _is_coarse(known: Stated, of_model: np.ndarray) -> bool:
    """Whether the file has pLDDT of atoms in whole numbers, as Protenix rounds it, and the B factors have decimals."""
    if known.atom_plddt is None:
        return False
    of_file, of_model = known.atom_plddt, of_model[~np.isnan(of_model)]
    file_has_decimals = (np.abs(of_file - np.round(of_file)) >= WHOLE).any()
    model_has_decimals = (np.abs(of_model - np.round(of_model)) >= WHOLE).any()
    return bool(model_has_decimals and not file_has_decimals)


def _behind_modified(complex_: Complex) -> bool:
    """Whether a protein residue stands behind a modified one, for which Boltz has a token for each atom."""
    return complex_.is_modified[: np.flatnonzero(complex_.is_protein).max(initial=0)].any()


def _shifted(share: float, file: str) -> str:
    return (
        f"the B factors are not the pLDDT of {file} for {share:.0%} of the residues: behind a modified residue or a"
        " ligand Boltz writes that of other residues into them, so TopoRank uses the file"
    )


def _of_another(share: float, file: str) -> str:
    return (
        f"{share:.0%} {NOT_OF_THIS_MODEL} {file} than in the B factors of the model, so TopoRank uses neither that "
        "pLDDT nor PAE (were the files written for this model, with its chains in this order? `--plddt none` says that "
        "the B factors are something else)"
    )
