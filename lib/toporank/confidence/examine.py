"""What the predictor of one decoy says of it, and what follows from that and the model."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from toporank.chains.partners import Partners
from toporank.confidence.bfactors import (
    OF_TOPORANK,
    BFactors,
    InFile,
    Judged,
    judge,
    profiles,
)
from toporank.confidence.chain_pairs import UNNAMED_PAIRS, iptm_between_partners
from toporank.confidence.measures import measured, residues_of_partners
from toporank.confidence.place import placed, shifted_b_factors
from toporank.confidence.table import (
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
from toporank.confidence.tokens import (
    MOST_DIFFERING,
    Placed,
    differing,
    n_tokens,
    other_atoms,
)
from toporank.errors import ConfidenceError, TopoRankError
from toporank.programs.catalogue import (
    files_of_model,
    output_of_predictor,
    place_of,
    predictor_of,
    program_called,
)
from toporank.programs.program import PredictorOutput
from toporank.structures.complex import Complex
from toporank.structures.read import open_structure, read_complex

DECIMALS = 4
WHOLE = 1e-3
"""Difference to a whole number of one that was rounded to it."""
NOT_OF_THIS_MODEL = "of the residues have another pLDDT in"
DISAGREEMENT = (
    f"{{:.0%}} {NOT_OF_THIS_MODEL} {{}} than in the B factors of the model, so TopoRank uses "
    "neither pLDDT nor that PAE (were the files written for this model, with its chains in this "
    "order? `--plddt none` says that the B factors are something else, `--plddt b_factor` that "
    "they are right)"
)
SHIFTED = (
    "the B factors are not the pLDDT of {} for {:.0%} of the residues: behind a modified residue "
    "or a ligand {} writes that of other residues into them, so TopoRank uses the file"
)
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
        """Return its atoms. Raises TopoRankError."""
        if self.atoms:
            return self.atoms()
        assert self.path
        return read_complex(self.path, self.place)

    def in_file(self) -> InFile:
        """Return what its file says. Raises TopoRankError."""
        if self.stated:
            return self.stated()
        assert self.path
        return InFile.of(open_structure(self.path), self.place)

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
    profiles: Mapping[str, Mapping[int, int]] = MappingProxyType({})


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
    predictor = predictor_of(path)
    try:
        in_file = decoy.in_file()
        by_toporank = choice == AUTO and in_file.by_toporank
        b_factors = None if by_toporank or choice == NEVER else in_file.b_factors
        complex_ = decoy.complex() if predictor or b_factors else None
    except TopoRankError as error:
        if predictor:
            row = row._replace(status=INCOMPLETE, reason=error.reason)
        return Examined(row)
    told = bool(predictor or (b_factors and b_factors.declared))
    judged = judge(b_factors, complex_, told=told, choice=choice)
    if judged.are_plddt is False and not told:
        b_factors = None
    if not (in_file.docked_by or predictor or b_factors):
        if by_toporank:
            row = row._replace(status=INCOMPLETE, reason=OF_TOPORANK)
        return Examined(row, evidence=judged.evidence)
    output = output_of_predictor(path)
    problems = list(output.problems)
    if in_file.docked_by:
        predictor = in_file.docked_by
        docking = program_called(predictor).docking
        if docking:
            terms, problem = docking.completed(in_file.terms, path)
            of_score: dict[str, Any] = {**terms}
            row = row._replace(**of_score)
            problems.append(problem)
    elif judged.are_plddt is False and not files_of_model(path):
        predictor = ""
    row = row._replace(
        predictor=predictor,
        ptm=output.ptm,
        iptm=output.iptm,
        ranking_score=output.ranking_score,
    )
    note = ""
    if complex_:
        stated = _Stated(output, predictor, b_factors, judged, choice)
        values, of_model, note = _of_model(complex_, decoy.partners, stated)
        row = row._replace(**values)
        problems += of_model
    problems.append(OF_TOPORANK if by_toporank else "")
    row = _finished(row, problems, note)
    is_decided = row.plddt_source != OF_B_FACTORS or choice == ALWAYS
    if is_decided or b_factors is None or complex_ is None:
        return Examined(row)
    return Examined(
        row,
        evidence=judged.evidence,
        is_open=judged.are_plddt is None,
        profiles=profiles(b_factors, complex_),
    )


def _finished(row: Confidence, problems: Iterable[str], note: str) -> Confidence:
    """The row with rounded numbers, its status and reason."""
    numbers = {}
    for name in NUMBERS:
        value = getattr(row, name)
        if value is not None:
            numbers[name] = round(value, DECIMALS)
    problems = [problem for problem in problems if problem]
    status = INCOMPLETE if problems else OK if numbers else NOTHING
    reason = "; ".join([*problems, note] if note else problems)
    return row._replace(**numbers, status=status, reason=reason)


class _Stated(NamedTuple):
    """What a predictor left of a model.

    output : of its files. predictor : its name. b_factors : that may be pLDDT. judged : whether
    they are. choice : what the user says.
    """

    output: PredictorOutput
    predictor: str
    b_factors: BFactors | None
    judged: Judged
    choice: PlddtChoice

    def to_compare(self, complex_: Complex) -> np.ndarray | None:
        """B factors of residues that a predictor's file is compared with, shape (R,).

        None where they are those of an experiment or of a docked pose, or no numbers from 0 to 100.
        """
        values = self.b_factors
        if values is None:
            return None
        is_other = values.fault or values.measured or values.in_cell or values.docked
        if self.judged.are_plddt is False and is_other:
            return None
        return values.of(complex_)


def _of_model(
    complex_: Complex, partners: Partners, stated: _Stated
) -> tuple[dict[str, Any], list[str], str]:
    """Fields of the row for which the model is needed.

    With what keeps some from being computed, and what a reader should know though all was used.
    """
    output = stated.output
    problems: list[str] = []
    values: dict[str, Any] = {}
    note = ""
    b_factors = stated.to_compare(complex_)
    place = Placed()
    is_placed = True
    try:
        place = placed(complex_, output, b_factors)
    except ConfidenceError as error:
        is_placed = False
        problems.append(error.reason)
    n = n_tokens(output)
    if output.plddt is not None and len(output.plddt) != n:
        problems.append(
            f"the predictor's files give PAE of {n} tokens, but pLDDT of {len(output.plddt)}"
        )
    reason = stated.judged.reason
    try:
        with_partners = complex_.with_partners(partners)
    except TopoRankError as error:
        problems.append(error.reason)
    else:
        residues = residues_of_partners(with_partners)
        chosen = _chosen(with_partners, residues, place, b_factors, stated)
        note = chosen.note
        problems += [problem for problem in chosen.problems if problem]
        if chosen.disagree:
            is_placed = False
            place = place._replace(chains=None, in_order=False)
            reason = ""
        pae = None
        if chosen.token is not None and output.pae is not None:
            rows = chosen.token[residues]
            pae = output.pae[np.ix_(rows, rows)].astype(float)
        values |= measured(with_partners, residues, chosen.plddt, pae)
        if chosen.plddt is not None:
            values["plddt_source"] = chosen.source
            reason = ""
        elif not problems:
            problems.append(other_atoms(complex_, output))
    if reason:
        problems.append(NOT_PLDDT.format(reason))
    if output.iptm is not None:
        of_pairs, problem = iptm_between_partners(
            complex_, partners, output, place, stated.predictor
        )
        values |= of_pairs
        # one sentence says why no chain is known
        if problem and (is_placed or problem != UNNAMED_PAIRS):
            problems.append(problem)
    return values, problems, note


class _Chosen(NamedTuple):
    """What is used of a model.

    token : of each residue, as in `Placed`. plddt : of residues of partners. source : of pLDDT.
    disagree : whether files and B factors are of other models. note : of what a user should know.
    """

    token: np.ndarray | None
    plddt: np.ndarray | None
    source: str
    problems: tuple[str, ...]
    note: str
    disagree: bool


def _chosen(
    complex_: Complex,
    residues: np.ndarray,
    place: Placed,
    of_model: np.ndarray | None,
    stated: _Stated,
) -> _Chosen:
    """Tokens and pLDDT as far as files and B factors agree.

    | file | B factors | used |
    |---|---|---|
    | lacks residues of partners | | B factors |
    | agrees with B | | the file; B factors where the file has whole numbers |
    | other pLDDT than B | shifted behind a modified residue | the file, with a note |
    | other pLDDT than B | any | nothing; B factors if the user says so |
    | none | may be shifted | nothing |
    | none | judged pLDDT, or open | B factors |

    residues : of partners. of_model : B factors of all residues, that may be pLDDT
    """
    output = stated.output
    program = program_called(stated.predictor)
    token, of_file = place.token, place.plddt
    is_shifted = disagree = False
    lacking = no_file = note = ""
    if token is not None and (token[residues] < 0).any():
        token = of_file = None
        lacking = "the predictor's files do not have all residues of the model"
    share = 0.0
    if of_file is not None and of_model is not None:
        share = differing(of_file[residues], of_model[residues])
        differs = share > MOST_DIFFERING
        if (
            differs
            and program.shifts_plddt
            and output.plddt is not None
            and token is not None
        ):
            is_shifted = shifted_b_factors(complex_, token, output.plddt, of_model)
        disagree = differs and not is_shifted
    if is_shifted:
        note = SHIFTED.format(output.plddt_file, share, program.name)
    elif disagree:
        token = of_file = None
        of_model = of_model if stated.choice == ALWAYS else None
    elif stated.judged.are_plddt is False:
        of_model = None
    elif program.shifts_plddt and output.plddt is None and of_file is None:
        is_behind = of_model is not None and _behind_modified(complex_)
        if is_behind:
            of_model = None
            name = re.sub(r"\{\w+\}", "…", program.files[0].plddt[0])
            no_file = NO_FILE.format(program.name, name)
    if of_file is not None and of_model is not None:
        # such as Protenix, whose file has whole numbers
        coarse = output.atom_plddt is not None and not _has_decimals(output.atom_plddt)
        if coarse and _has_decimals(of_model[residues]):
            of_file = None
    plddt = of_model if of_file is None else of_file
    if plddt is not None:
        plddt = plddt[residues]
        plddt = plddt if len(plddt) and not np.isnan(plddt).any() else None
    other = DISAGREEMENT.format(share, output.plddt_file) if disagree else ""
    return _Chosen(
        token=token,
        plddt=plddt,
        source=OF_B_FACTORS if of_file is None else OF_FILE,
        problems=(lacking, other, no_file),
        note=note,
        disagree=disagree,
    )


def _has_decimals(values: np.ndarray) -> bool:
    """Whether numbers, but for those that are not known, are others than whole ones."""
    values = values[~np.isnan(values)]
    return bool((np.abs(values - np.round(values)) >= WHOLE).any())


def _behind_modified(complex_: Complex) -> bool:
    """Whether a protein residue stands behind a modified one, which has a token for each atom."""
    last = np.flatnonzero(complex_.is_protein).max(initial=0)
    return bool(complex_.is_modified[:last].any())
