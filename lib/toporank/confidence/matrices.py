"""What a predictor says of pairs of residues and of chains, for the residues of a model."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from toporank.chains.chain import ResidueId
from toporank.confidence.bfactors import BFactors, b_factors, judge
from toporank.confidence.chain_pairs import pairs_of_chains
from toporank.confidence.measures import residues_of_partners
from toporank.confidence.place import placed
from toporank.confidence.table import AUTO
from toporank.confidence.tokens import WHOSE_FILES, described
from toporank.errors import ConfidenceError
from toporank.programs.catalogue import output_of_predictor, place_of, predictor_of
from toporank.structures.complex import Complex
from toporank.structures.read import open_structure


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
    judged = judge(values, complex_, told=True, choice=AUTO)
    of_model = values.of(complex_) if values and judged.are_plddt else None
    try:
        place = placed(complex_, output, of_model)
    except ConfidenceError as error:
        raise ConfidenceError(error.what, where=path, remedy=error.remedy) from error
    places = residues_of_partners(complex_)
    residues = tuple(complex_.residues[residue] for residue in places)
    chains, pair_iptm = pairs_of_chains(complex_, output, place, predictor_of(path))
    matrices = Matrices(residues, chains=chains, pair_iptm=pair_iptm)
    if output.pae is None:
        problem = (
            "; ".join(output.problems) or "the predictor left no PAE beside this model"
        )
        return matrices._replace(problem=problem)
    rows = np.full(len(places), -1) if place.token is None else place.token[places]
    if (rows < 0).any():
        what = (
            f"the predictor's PAE is of {len(output.pae)} tokens, but the model has "
            f"{described(complex_)}"
        )
        raise ConfidenceError(what, where=path, remedy=WHOSE_FILES)
    of_rows = np.ix_(rows, rows)
    matrices = matrices._replace(pae=output.pae[of_rows])
    probs = output.contact_probs
    if probs is not None and probs.shape == output.pae.shape:
        matrices = matrices._replace(contact_probs=probs[of_rows])
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
    >>> (path,) = example.glob("made_up_colabfold/pair_unrelaxed_rank_001*.pdb.gz")
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
