"""pLDDT where predictors put it, in the column of B factors.

They are read only where that is what the column holds.

An mmCIF file may declare it, files of the predictor may lie beside the model, or its name may be
one that only a predictor gives. Of any other model the numbers decide, those of all models of its
target together (`job`). A file that names an experiment, a crystal's cell or HADDOCK holds none.
"""

from __future__ import annotations

import hashlib
import re
from typing import NamedTuple

import numpy as np

from toporank.inputs.confidence.table import ALWAYS, NEVER, PlddtChoice
from toporank.structures.complex import Complex
from toporank.structures.identity import ResidueId
from toporank.structures.read import StructureFile
from toporank.structures.write import QUALITY

NO_PREDICTION = re.compile(
    r"^(EXPDTA(?!.*THEORETICAL)|REMARK   2 RESOLUTION\.\s+\d|REMARK.*HADDOCK)",
    re.MULTILINE,
)
"""Lines of a PDB file that no model of a predictor has."""
SAME_IN_RESIDUE = 0.98
"""Smallest share of residues whose atoms have one value: OpenMM may add atoms with 0 at the ends of
chains.
"""
SMOOTH = 0.7
"""Smallest correlation of neighbours in a chain; over 1,220 models of AlphaFold and Boltz it is
0.79 or more.
"""
SURE = 50.0
"""A model is surer than this of some residue; of those models, 85 or more."""
FEWEST = 30
"""Residues by which this can be judged."""
NEAR = 10.0
"""Å between CA atoms of neighbours in space: B factors of crystals fall with their number, pLDDT
rises.
"""
BLOCK = 1024
"""Residues whose neighbours are counted at a time."""
OF_TOPORANK = (
    "TopoRank wrote this file: its B factors are predicted quality, not pLDDT (score the "
    "predictor's own model)"
)
BEFORE_TITLES = """\
data_
_entity.id
_entity.type
_entity_poly.entity_id
_entity_poly.type
_entity_poly.pdbx_strand_id
_entity_poly.pdbx_seq_one_letter_code
_struct_asym.id
_struct_asym.entity_id
"""
"""What TopoRank's own models had before their atoms when they had no title."""


class BFactors(NamedTuple):
    """B factors that may be pLDDT.

    of_residues : mean over the atoms of each amino acid, 0 to 100. declared : whether the file
    calls them pLDDT. measured : whether the file names an experiment or has the cell of a crystal.
    same_in_residue : share of these residues whose atoms all have one value.
    """

    of_residues: dict[ResidueId, float]
    declared: bool
    measured: bool
    same_in_residue: float

    def of(self, complex_: Complex) -> np.ndarray:
        """Return the B factor of each residue of a complex, shape (R,).

        NaN for residues that the file lacks.
        """
        values = [
            self.of_residues.get(residue, np.nan) for residue in complex_.residues
        ]
        return np.array(values, dtype=float)

    def are_plddt(self, choice: PlddtChoice) -> bool:
        """Whether they may be pLDDT: those of an experiment are where `choice` says so."""
        return choice == ALWAYS or (choice != NEVER and not self.measured)


def b_factors(file: StructureFile, model: int | None = None) -> BFactors | None:
    """Return the B factors of a structure file that can be read.

    None if they are not pLDDT whatever else is known.

    These are numbers outside 0 to 100, and a single one. Amino acids decide: ions and ligands may
    have anything.

    Parameters
    ----------
    model : its place in the file, from 0, if there are several
    """
    declared = False
    if file.block is None:
        if _all_alike(file.text):
            return None
        measured = NO_PREDICTION.search(file.text) is not None
    else:
        declared = (
            "plddt" in " ".join(file.block.find_values("_ma_qa_metric.name")).lower()
        )
        methods = "".join(file.block.find_values("_exptl.method"))
        measured = methods.strip(".?") != ""
    parsed = file.parsed(model)
    ids = []
    values = []
    sizes = []
    for residue in parsed.residues:
        of_atoms = [atom.b_iso for atom in residue.residue]
        if residue.parent and of_atoms:
            ids.append(ResidueId(residue.chain, residue.number, residue.code))
            values += of_atoms
            sizes.append(len(of_atoms))
    values = np.array(values)
    if not len(values) or not (
        values.min() >= 0 and values.min() < values.max() <= 100
    ):
        return None
    scale = 100.0 if values.max() <= 1 else 1.0
    starts = np.cumsum(sizes) - sizes
    means = scale * np.add.reduceat(values, starts) / sizes
    same = np.maximum.reduceat(values, starts) == np.minimum.reduceat(values, starts)
    return BFactors(
        of_residues=dict(zip(ids, means.tolist(), strict=True)),
        declared=declared,
        measured=measured or file.is_crystal,
        same_in_residue=float(same.mean()),
    )


def written_by_toporank(text: str, file_format: str) -> bool:
    """Return whether TopoRank wrote the file.

    Then its B factors are the quality of residues that it predicted.
    """
    if file_format == "pdb":
        return (
            re.search(rf"^TITLE.*{QUALITY}", text, re.MULTILINE | re.IGNORECASE)
            is not None
        )
    before = text.partition("_atom_site.")[0].splitlines()
    return (
        QUALITY in text
        or [line for line in before if line.startswith(("_", "data_"))]
        == BEFORE_TITLES.split()
    )


def _all_alike(text: str) -> bool:
    """Whether all atoms of a PDB file have one B factor.

    That is so in most docked poses, and needs no parsing.
    """
    values = set()
    for line in text.splitlines():
        if line.startswith(("ATOM", "HETATM")):
            values.add(line[60:66])
    return len(values) < 2


def rise_into_core(b_factors: BFactors, complex_: Complex) -> float | None:
    """Return Spearman's correlation of numbers with those of a residue's neighbours in space.

    It is above 0 for pLDDT and below for B factors of crystals. None where they are neither one
    value for all atoms of a residue nor alike in residues that follow one another, as pLDDT is.
    """
    residues = np.flatnonzero(complex_.ca >= 0)
    values = b_factors.of(complex_)[residues]
    if b_factors.same_in_residue < SAME_IN_RESIDUE or len(residues) < FEWEST:
        return None
    if not values.max() >= SURE or not np.ptp(values):
        return None
    chain_of = complex_.chain_of[residues]
    steps = np.diff(values)[chain_of[1:] == chain_of[:-1]]
    if not len(steps) or 1 - (steps**2).mean() / (2 * values.var()) < SMOOTH:
        return None
    neighbours = _neighbours(complex_.xyz[complex_.ca[residues]])
    if not np.ptp(neighbours):
        return None
    return float(np.corrcoef(_ranks(values), _ranks(neighbours))[0, 1])


def _neighbours(ca: np.ndarray) -> np.ndarray:
    """The number of CA within `NEAR` of each of N CA, itself included, (N,).

    A block of rows at a time: importing scipy for a tree takes longer than this does for thousands
    of residues.
    """
    ca = ca.astype(float) - ca.mean(axis=0)
    square = (ca**2).sum(axis=1)
    counts = []
    for start in range(0, len(ca), BLOCK):
        rows = slice(start, start + BLOCK)
        squared_distance = square[rows, None] + square - 2 * ca[rows] @ ca.T
        counts.append((squared_distance <= NEAR**2).sum(axis=1))
    return np.concatenate(counts)


def _ranks(values: np.ndarray) -> np.ndarray:
    """Rank of each number, the mean rank where several are equal."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(count) - (count - 1) / 2)[place]


def profiles(b_factors: BFactors, complex_: Complex) -> tuple[bytes, ...]:
    """Return a digest of the numbers of each chain.

    Copies of them are recognised by it in other models.
    """
    values = np.round(b_factors.of(complex_), 2)
    has_ca = complex_.ca >= 0
    digests = []
    for chain in dict.fromkeys(complex_.chain_of[has_ca].tolist()):
        of_chain = values[has_ca & (complex_.chain_of == chain)]
        digests.append(hashlib.sha256(of_chain.tobytes()).digest())
    return tuple(digests)
