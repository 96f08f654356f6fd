"""What the predictor of one decoy says of it, and what follows from that and the model."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from toporank.chains.chain import ResidueId
from toporank.chains.partners import Partners
from toporank.errors import ConfidenceError, TopoRankError
from toporank.inputs.confidence.bfactors import (
    OF_TOPORANK,
    BFactors,
    Judged,
    b_factors,
    judge_numbers,
    profiles,
)
from toporank.inputs.confidence.in_file import InFile
from toporank.inputs.confidence.missing_residues import (
    MOST_DIFFERING,
    WHOSE_FILES,
    described,
    differing,
)
from toporank.inputs.confidence.of_interfaces import (
    UNNAMED_PAIRS,
    iptm_between_partners,
    measured,
    pairs_of_chains,
    residues_of_partners,
)
from toporank.inputs.confidence.table import (
    ALWAYS,
    AUTO,
    INCOMPLETE,
    NEVER,
    NOTHING,
    NUMBERS,
    OF_B_FACTORS,
    OF_FILE,
    OK,
    Confidence,
    PlddtChoice,
)
from toporank.inputs.confidence.tokens import (
    Placed,
    n_tokens,
    placed,
    shifted_b_factors,
)
from toporank.programs.catalogue import (
    files_of_model,
    named_by,
    output_of_predictor,
    place_of,
    program_called,
)
from toporank.programs.program import PredictorOutput, Terms
from toporank.structures.complex import Complex
from toporank.structures.read import open_structure, read_complex

DECIMALS = 4
WHOLE = 1e-3
"""Difference to a whole number of one that was rounded to it."""
NOT_OF_THIS_MODEL = "of the residues have another pLDDT in"
NOT_PLDDT = "TopoRank does not use the B factors as pLDDT: {} (`--plddt b_factor` says they are)"
NO_FILE = (
    "{} writes the pLDDT of other residues into the B factors behind a modified residue, and "
    "its {} does not lie beside this model: TopoRank uses no pLDDT (put that file beside "
    "the model)"
)


class DecoyFile(NamedTuple):
    """A decoy whose confidence someone wants to know.

    path : None where its file is refused for its name. partners : empty when each chain is one.
    atoms, stated : give its atoms and what its file says as they were built, or raise
    TopoRankError; read from the file where there are none. model : of the file, from 1; 0 for its
    only one. of_monomers : whether a chain has the B factors that it has in other complexes.
    """

    target: str
    decoy: str
    path: Path | None
    partners: Partners = ()
    atoms: Callable[[], Complex] | None = None
    stated: Callable[[], InFile] | None = None
    model: int = 0
    of_monomers: bool = False

    def complex(self) -> Complex:
        """Return its atoms.

        Raises
        ------
        TopoRankError
        """
        return self.atoms() if self.atoms else read_complex(self.path, self.place)

    def in_file(self) -> InFile:
        """Return what its file says. Raises TopoRankError."""
        return (
            self.stated()
            if self.stated
            else InFile.of(open_structure(self.path), self.place)
        )

    @property
    def place(self) -> int | None:
        """Place of its model in the file, from 0; None for the only one."""
        return self.model - 1 if self.model else None


class Examined(NamedTuple):
    """A row and what the other models of its target are compared with.

    evidence : of its B factors, as `bfactors.evidence` returns it. is_open : whether the other
    models decide. profiles : of each chain by its name, where pLDDT comes from B factors and the
    user did not say so.
    """

    row: Confidence
    evidence: float | None = None
    is_open: bool = False
    profiles: Mapping[str, bytes] = MappingProxyType({})


def examine(decoy: DecoyFile, choice: PlddtChoice = AUTO) -> Examined:
    """Return what the predictor of one decoy says of it.

    A file that cannot be used, and a matrix that does not fit the model, is named in `reason`.

    Parameters
    ----------
    choice : whether B factors are pLDDT
    """
    row = Confidence(decoy.target, decoy.decoy)
    if decoy.path is None:
        return Examined(row)
    path = place_of(decoy.path)
    side_files = files_of_model(path)
    predictor = side_files.predictor if side_files else named_by(path)
    try:
        opened = _opened(decoy, choice, predictor)
    except TopoRankError as error:
        if predictor:
            row = row._replace(status=INCOMPLETE, reason=error.reason)
        return Examined(row)
    by_toporank, values, judged, complex_ = opened[2:]
    is_docked = bool(opened.docked_by)
    if not is_docked and not predictor and values is None:
        if by_toporank:
            row = row._replace(status=INCOMPLETE, reason=OF_TOPORANK)
        return Examined(row, evidence=judged.evidence)
    output = output_of_predictor(path)
    problems = list(output.problems)
    if is_docked:
        predictor = opened.docked_by
        docking = program_called(predictor).docking
        terms, problem = docking.completed(opened.terms, path)
        row = row._replace(**terms)
        problems += [problem] if problem else []
    elif side_files is None and judged.are_plddt is False:
        predictor = ""
    row = row._replace(
        predictor=predictor,
        ptm=output.ptm,
        iptm=output.iptm,
        ranking_score=output.ranking_score,
    )
    notes: list[str] = []
    if complex_:
        of_residues = _to_compare(values, judged, complex_)
        given = _Given(output, of_residues, judged, predictor, choice)
        of_model = _of_model(complex_, decoy, given)
        row = row._replace(**of_model.values)
        problems += of_model.problems
        notes = of_model.notes
    problems += [OF_TOPORANK] if by_toporank else []
    row = _finished(row, problems, notes)
    if row.plddt_source != OF_B_FACTORS or choice == ALWAYS:
        return Examined(row)
    return Examined(
        row,
        evidence=judged.evidence,
        is_open=judged.are_plddt is None,
        profiles=profiles(values, complex_),
    )


class _Opened(NamedTuple):
    """What the file of a model says.

    docked_by, terms : as in `InFile`. by_toporank : whether TopoRank wrote it. values : B factors
    that may be pLDDT, or should be. judged : whether they are. complex_ : None where nothing asks
    for it.
    """

    docked_by: str
    terms: Terms
    by_toporank: bool
    values: BFactors | None
    judged: Judged
    complex_: Complex | None


def _opened(decoy: DecoyFile, choice: PlddtChoice, predictor: str) -> _Opened:
    """The file of a model. predictor : who gives it such a name, or such files beside it.

    Raises TopoRankError.
    """
    in_file = decoy.in_file()
    by_toporank = choice == AUTO and in_file.by_toporank
    values = in_file.b_factors
    if choice == NEVER or by_toporank:
        values = None
    judged = Judged(are_plddt=False)
    complex_ = decoy.complex() if predictor or values else None
    if values:
        told = values.declared or bool(predictor)
        judged = judge_numbers(values, complex_, told=told, choice=choice)
        if judged.are_plddt is False and not told:
            values = None
    return _Opened(
        docked_by=in_file.docked_by,
        terms=in_file.terms,
        by_toporank=by_toporank,
        values=values,
        judged=judged,
        complex_=complex_,
    )


def _to_compare(
    values: BFactors | None, judged: Judged, complex_: Complex
) -> np.ndarray | None:
    """B factors of residues that a predictor's file is compared with, shape (R,).

    None where they are those of an experiment or of a docked pose, or no numbers from 0 to 100.
    """
    if values is None:
        return None
    is_other = values.fault or values.measured or values.in_cell or values.docked
    if judged.are_plddt is False and is_other:
        return None
    return values.of(complex_)


def _finished(row: Confidence, problems: list[str], notes: list[str]) -> Confidence:
    """The row with rounded numbers, its status and reason."""
    numbers = {}
    for name in NUMBERS:
        value = getattr(row, name)
        if value is not None:
            numbers[name] = round(value, DECIMALS)
    status = OK if numbers else NOTHING
    if problems:
        status = INCOMPLETE
    return row._replace(**numbers, status=status, reason="; ".join([*problems, *notes]))


class Pae(NamedTuple):
    """Predicted aligned error of n residues, those of partners.

    values : Å, float32, (n, n), aligned on the residue of the row. residues : what the file calls
    them, in its order.
    """

    values: np.ndarray
    residues: tuple[ResidueId, ...]


class Matrices(NamedTuple):
    """A predictor's numbers for pairs of the n residues and of the c chains of a model.

    Each is None where the predictor says nothing, or nothing that fits the model.

    residues : those of partners, in the order of the file. pae : Å, (n, n), aligned on the residue
    of the row. contact_probs : probability that two residues touch, (n, n). chains : of pair_iptm.
    pair_iptm : (c, c), nan where unknown. problem : why there is no PAE.
    """

    residues: tuple[ResidueId, ...]
    pae: np.ndarray | None = None
    contact_probs: np.ndarray | None = None
    chains: tuple[str, ...] = ()
    pair_iptm: np.ndarray | None = None
    problem: str = ""


def matrices_of(path: Path, complex_: Complex, values: BFactors | None) -> Matrices:
    """Return the matrices that the predictor of a model wrote beside it.

    Parameters
    ----------
    path : of the model
    complex_ : the model, with its partners
    values : its B factors

    Raises
    ------
    ConfidenceError
        when what the predictor wrote does not fit the model
    """
    path = place_of(path)
    output = output_of_predictor(path)
    of_model = None
    if values:
        judged = judge_numbers(values, complex_, told=True, choice=AUTO)
        of_model = values.of(complex_) if judged.are_plddt else None
    try:
        place = placed(complex_, output, of_model)
    except ConfidenceError as error:
        raise ConfidenceError(error.what, where=path, remedy=error.remedy) from error
    places = residues_of_partners(complex_)
    residues = tuple(complex_.residues[residue] for residue in places)
    files = files_of_model(path)
    predictor = files.predictor if files else named_by(path)
    chains, pair_iptm = pairs_of_chains(complex_, output, place, predictor)
    matrices = Matrices(residues, chains=chains, pair_iptm=pair_iptm)
    if output.pae is None:
        problem = (
            "; ".join(output.problems) or "the predictor left no PAE beside this model"
        )
        return matrices._replace(problem=problem)
    rows = place.token[places]
    if (rows < 0).any():
        what = (
            f"the predictor's PAE is of {len(output.pae)} tokens, but the model has "
            f"{described(complex_)}"
        )
        raise ConfidenceError(what, where=path, remedy=WHOSE_FILES)
    matrices = matrices._replace(pae=output.pae[np.ix_(rows, rows)])
    if np.shape(output.contact_probs) == np.shape(output.pae):
        probabilities = output.contact_probs[np.ix_(rows, rows)]
        matrices = matrices._replace(contact_probs=probabilities)
    return matrices


def pae_of(path: Path, complex_: Complex, model: int | None = None) -> Pae:
    """Return the PAE that the predictor of a model wrote beside it.

    Parameters
    ----------
    path : of the model
    complex_ : the model, with its partners
    model : its place in the file, from 0, if there are several

    Returns
    -------
    pae : in Å, shape (R, R) for the R residues of the model

    Raises
    ------
    ConfidenceError
        when there is no PAE, or none that fits the model
    StructureError
        when the file of the model cannot be read

    Examples
    --------
    >>> from toporank.layout import repository
    >>> example = repository() / "resources/example"
    >>> from toporank.structures.read import read_complex
    >>> (path,) = example.glob("colabfold/pair_unrelaxed_rank_001*.pdb.gz")
    >>> pae = pae_of(path, read_complex(path))
    >>> pae.values.shape
    (126, 126)
    """
    values = b_factors(open_structure(place_of(path)), model)
    matrices = matrices_of(path, complex_, values)
    if matrices.pae is None:
        remedy = "docs/inputs.md says which files have it"
        raise ConfidenceError(matrices.problem, where=path, remedy=remedy)
    return Pae(matrices.pae, matrices.residues)


@dataclass
class _Measured:
    """What follows from a model and its predictor's files.

    Attributes
    ----------
    values : fields of the row
    notes : what a reader should know though all was used
    problems : what keeps some measures from being computed
    """

    values: dict[str, float | str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


class _Given(NamedTuple):
    """What a predictor left of a model.

    output : of its files. of_model : B factors of the residues that may be pLDDT, shape (R,).
    judged : whether they are. predictor : its name. choice : what the user says.
    """

    output: PredictorOutput
    of_model: np.ndarray | None
    judged: Judged
    predictor: str
    choice: PlddtChoice


def _of_model(complex_: Complex, decoy: DecoyFile, given: _Given) -> _Measured:
    """Measures for which the model is needed."""
    result = _Measured()
    output = given.output
    place = Placed(token=None, plddt=None)
    known = True
    try:
        place = placed(complex_, output, given.of_model)
    except ConfidenceError as error:
        known = False
        result.problems.append(error.reason)
    n = n_tokens(output)
    if output.plddt is not None and len(output.plddt) != n:
        result.problems.append(
            f"the predictor's files give PAE of {n} tokens, but pLDDT of {len(output.plddt)}"
        )
    try:
        with_partners = complex_.with_partners(decoy.partners)
    except TopoRankError as error:
        result.problems.append(error.reason)
    else:
        _add_structure(result, with_partners, place, given)
    if any(NOT_OF_THIS_MODEL in problem for problem in result.problems):
        known = False
        place = place._replace(chains=None, in_order=False)
    elif given.judged.reason and not result.values.get("plddt_source"):
        result.problems.append(NOT_PLDDT.format(given.judged.reason))
    if output.iptm is not None:
        of_pairs, problems = iptm_between_partners(
            complex_, decoy.partners, output, place, given.predictor
        )
        result.values |= of_pairs
        # one sentence says why no chain is known
        result.problems += [each for each in problems if known or each != UNNAMED_PAIRS]
    return result


def _add_structure(
    result: _Measured, complex_: Complex, place: Placed, given: _Given
) -> None:
    """Add the measures from pLDDT and PAE, where files and B factors agree."""
    output = given.output
    residues = residues_of_partners(complex_)
    token, of_file, of_model = _agreeing(result, complex_, place, given)
    if (
        of_file is not None
        and of_model is not None
        and _is_coarse(output, of_model[residues])
    ):
        of_file = None
    plddt, source = (of_model, OF_B_FACTORS) if of_file is None else (of_file, OF_FILE)
    if plddt is not None:
        plddt = plddt[residues]
        if not len(plddt) or np.isnan(plddt).any():
            plddt = None
        else:
            result.values["plddt_source"] = source
    pae = None
    if token is not None and output.pae is not None:
        pae = output.pae[np.ix_(token[residues], token[residues])].astype(float)
    result.values |= measured(complex_, residues, plddt, pae)


def _agreeing(
    result: _Measured, complex_: Complex, place: Placed, given: _Given
) -> tuple[np.ndarray | None, np.ndarray | None, np.ndarray | None]:
    """Tokens, pLDDT of files and pLDDT in B factors, of all residues, as far as they agree.

    The result gets what does not.
    """
    output, of_model = given.output, given.of_model
    residues = residues_of_partners(complex_)
    token, of_file = place.token, place.plddt
    if token is not None and (token[residues] < 0).any():
        token = of_file = None
        result.problems.append(
            "the predictor's files do not have all residues of the model"
        )
    share = 0.0
    if of_file is not None and of_model is not None:
        share = differing(of_file[residues], of_model[residues])
    program = program_called(given.predictor)
    has_file = output.plddt is not None and token is not None
    lacks_file = output.plddt is None and of_file is None
    if share > MOST_DIFFERING:
        if (
            program.shifts_plddt
            and has_file
            and shifted_b_factors(complex_, token, output.plddt, of_model)
        ):
            result.notes.append(
                f"the B factors are not the pLDDT of {output.plddt_file} for {share:.0%} of the "
                f"residues: behind a modified residue or a ligand {program.name} writes that of "
                "other residues into them, so TopoRank uses the file"
            )
            return token, of_file, of_model
        result.problems.append(
            f"{share:.0%} {NOT_OF_THIS_MODEL} {output.plddt_file} than in the B factors of the "
            "model, so TopoRank uses neither pLDDT nor that PAE (were the files written for this "
            "model, with its chains in this order? `--plddt none` says that the B factors are "
            "something else, `--plddt b_factor` that they are right)"
        )
        return None, None, of_model if given.choice == ALWAYS else None
    if given.judged.are_plddt is False:
        of_model = None
    if (
        program.shifts_plddt
        and lacks_file
        and of_model is not None
        and _behind_modified(complex_)
    ):
        of_model = None
        name = re.sub(r"\{\w+\}", "…", program.files[0].plddt[0])
        result.problems.append(NO_FILE.format(program.name, name))
    return token, of_file, of_model


def _is_coarse(output: PredictorOutput, of_model: np.ndarray) -> bool:
    """Whether the file has pLDDT in whole numbers, as Protenix, and B factors have decimals."""
    if output.atom_plddt is None:
        return False
    values = of_model[~np.isnan(of_model)]
    return _has_decimals(values) and not _has_decimals(output.atom_plddt)


def _has_decimals(values: np.ndarray) -> bool:
    return bool((np.abs(values - np.round(values)) >= WHOLE).any())


def _behind_modified(complex_: Complex) -> bool:
    """Whether a protein residue stands behind a modified one, which has a token for each atom."""
    last = np.flatnonzero(complex_.is_protein).max(initial=0)
    return complex_.is_modified[:last].any()
