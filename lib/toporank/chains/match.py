"""Which residue of one chain is which of another.

Labels and consensus ask differently. `same_residues` takes nothing for the same that has another
letter, as DockQ does; of alignments that score the same it takes the one that residue numbers or
coordinates fit best: beside a residue that one chain lacks, its neighbour may be of the same kind,
and in a stretch of unknown residues sequences say nothing at all. `matched` compares models of one
target; some may be mutants.
"""

from __future__ import annotations

import itertools
from itertools import pairwise

import numpy as np
from Bio.Align.substitution_matrices import Array

from toporank.chains.alignment import align, dockq_aligner, residues_of
from toporank.chains.chain import Chain
from toporank.chains.thresholds import FEWEST_ATOMS, NUMBERS_AGREE, SAME_CHAIN

MOST = 200
"""Alignments of equal score whose coordinates are compared."""
LONGEST = 3000
"""Residues of two chains, together, that are aligned by numbers, which takes a table of them."""
BELOW_ONE_MATCH = 0.4
"""What a bonus may add up to: scores of alignments differ by 0.5 at least."""
NEAR = 4.0
"""Å, superposed CA atoms that are about as near as this are of one residue."""


# ---- of two models -------------------------------------------------------------------------------


def matched(reference: Chain, chain: Chain) -> np.ndarray:
    """Find each residue of a chain in the reference.

    Residues that differ are the same where their numbers say so, or where they lie between residues
    that are the same.

    Returns
    -------
    int, shape (L,), places in the reference; -1 where it lacks the residue
    """
    if chain.residues == reference.residues and chain.sequence == reference.sequence:
        return np.arange(len(chain.residues))
    place_of = {residue[1:]: i for i, residue in enumerate(reference.residues)}
    places = np.array(
        [place_of.get(residue[1:], -1) for residue in chain.residues], dtype=int
    )
    n_equal = 0
    for place, letter in zip(places, chain.sequence, strict=True):
        n_equal += place >= 0 and reference.sequence[place] == letter
    if n_equal >= NUMBERS_AGREE * min(len(chain.sequence), len(reference.sequence)):
        return places
    alignment = align(reference.sequence, chain.sequence)
    if alignment.identity < SAME_CHAIN:
        return places
    return _by_alignment(reference, chain, alignment.residue)


def _by_alignment(reference: Chain, chain: Chain, residue: np.ndarray) -> np.ndarray:
    """As `matched`, by an alignment: the residue of each one of the reference, or -1."""
    places = np.full(len(chain.sequence), -1)
    places[residue[residue >= 0]] = np.flatnonzero(residue >= 0)
    for start, end in pairwise(np.flatnonzero(places >= 0)):
        first, last = places[start], places[end]
        numbers = chain.residues[end][1] - chain.residues[start][1]
        numbers_of_reference = (
            reference.residues[last][1] - reference.residues[first][1]
        )
        if end - start == last - first and numbers == numbers_of_reference:
            # residues in between are exchanged, not missing
            places[start:end] = np.arange(first, last)
    return places


# ---- of a model and its native -------------------------------------------------------------------


def same_residues(native: Chain, decoy: Chain) -> np.ndarray:
    """Find the residue of a decoy's chain that each residue of the native's is.

    `alignment.align` decides. Of alignments that score the same the one counts in which most
    residues have equal numbers; where the numbers of both do not agree, the one whose CA atoms
    superpose best.

    Returns
    -------
    int, shape (L,) of the native's chain, -1 where the decoy lacks the residue
    """
    alignment = align(native.sequence, decoy.sequence)
    if alignment.is_only:
        return alignment.residue
    candidates = [alignment.residue]
    shift = native.numbers[:, None] - decoy.numbers
    is_small = sum(shift.shape) <= LONGEST
    if is_small:
        by_number = _realigned(native, decoy, shift == 0)
        if _n_equal(_shifts(shift, by_number)):
            return by_number
        candidates.append(_realigned(native, decoy, _frequency(shift, by_number)))
        candidates.append(_realigned(native, decoy, _frequency(shift, candidates[0])))
    alignments = dockq_aligner().align(decoy.sequence, native.sequence)
    candidates += [
        residues_of(alignment.aligned, native.sequence, decoy.sequence)
        for alignment in itertools.islice(alignments, MOST)
    ]

    def misfit(residue: np.ndarray) -> tuple[int, float, int, float]:
        shifts = _shifts(shift, residue)
        rmsd = _rmsd(native.ca, decoy.ca, residue)
        n_jumps = int(np.count_nonzero(np.diff(shifts)))
        return -_n_equal(shifts), round(rmsd, 1), n_jumps, rmsd

    best = min(candidates, key=misfit)
    superposed = _superposed(native.ca, decoy.ca, best)
    if superposed is None or not is_small:
        return best
    closeness = _closeness(native.ca, superposed)
    return min(best, _realigned(native, decoy, closeness), key=misfit)


def _realigned(native: Chain, decoy: Chain, bonus: np.ndarray) -> np.ndarray:
    """Of the alignments with the best score one with the largest bonus.

    bonus : of each residue of the native and of the decoy that is the same, in [0, 1], (L, L')
    """
    n_native, n_decoy = bonus.shape
    letters = np.frombuffer(native.sequence.encode(), np.uint8)
    letters_of_decoy = np.frombuffer(decoy.sequence.encode(), np.uint8)
    aligner = dockq_aligner()
    per_residue = BELOW_ONE_MATCH / min(n_native, n_decoy)
    scores = np.zeros((n_native + n_decoy, n_native + n_decoy))
    scores[:n_decoy, n_decoy:] = np.where(
        letters_of_decoy[:, None] == letters,
        aligner.match_score + per_residue * bonus.T,
        aligner.mismatch_score,
    )
    places = np.arange(len(scores), dtype=np.int32)
    aligner.substitution_matrix = Array(alphabet=tuple(places.tolist()), data=scores)
    best = aligner.align(places[:n_decoy], places[n_decoy:])[0]
    return residues_of(best.aligned, native.sequence, decoy.sequence)


def _frequency(shift: np.ndarray, residue: np.ndarray) -> np.ndarray:
    """How many of the aligned residues have numbers that differ as those of each pair do."""
    values, counts = np.unique(_shifts(shift, residue), return_counts=True)
    if not len(values):
        return np.zeros(shift.shape)
    place = np.minimum(np.searchsorted(values, shift), len(values) - 1)
    return np.where(values[place] == shift, counts[place], 0) / counts.sum()


def _shifts(shift: np.ndarray, residue: np.ndarray) -> np.ndarray:
    """The difference of the numbers of residues that are the same, in their order, (n,)."""
    natives = np.flatnonzero(residue >= 0)
    return shift[natives, residue[natives]]


def _n_equal(shifts: np.ndarray) -> int:
    """How many numbers are equal; 0 where too few of n are, (n,)."""
    n_equal = int(np.count_nonzero(shifts == 0))
    return n_equal if n_equal >= NUMBERS_AGREE * len(shifts) else 0


def _superposed(
    native: np.ndarray, decoy: np.ndarray, residue: np.ndarray
) -> np.ndarray | None:
    """CA of the decoy on those of the native, (L', 3); None where too few are the same."""
    natives = np.flatnonzero(residue >= 0)
    fixed, moving = native[natives], decoy[residue[natives]]
    has_both = np.isfinite(fixed).all(axis=1) & np.isfinite(moving).all(axis=1)
    if np.count_nonzero(has_both) < FEWEST_ATOMS:
        return None
    turn, shift = superposition(moving[has_both], fixed[has_both])
    return decoy @ turn + shift


def _rmsd(native: np.ndarray, decoy: np.ndarray, residue: np.ndarray) -> float:
    """Å, of the aligned CA atoms; infinite where too few are the same."""
    superposed = _superposed(native, decoy, residue)
    if superposed is None:
        return np.inf
    natives = np.flatnonzero(residue >= 0)
    squares = np.square(native[natives] - superposed[residue[natives]]).sum(axis=1)
    return float(np.sqrt(np.nanmean(squares)))


def _closeness(native: np.ndarray, decoy: np.ndarray) -> np.ndarray:
    """How near each CA of the native is to each of the decoy, in [0, 1], (L, L')."""
    squares = np.square(native[:, None] - decoy).sum(axis=2)
    return 1 / (1 + np.nan_to_num(squares, nan=np.inf) / NEAR**2)


# ---- coordinates ---------------------------------------------------------------------------------


def superposition(
    moving: np.ndarray, fixed: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Superpose points on others.

    The rotation is U diag(1, 1, d) Vᵀ, from the singular value decomposition H = U S Vᵀ of the
    covariance; d = ±1 keeps it from being a mirror (Kabsch 1976,
    doi:10.1107/S0567739476001873).

    Parameters
    ----------
    moving, fixed : float64, shape (n, 3), Å

    Returns
    -------
    rotation : shape (3, 3)
    shift : shape (3,), such that `moving @ rotation + shift` is nearest to `fixed`

    Examples
    --------
    >>> fixed = np.array([[0.0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 3]])
    >>> rotation, shift = superposition(fixed + 5, fixed)
    >>> np.allclose((fixed + 5) @ rotation + shift, fixed)
    True
    """
    centre = moving.mean(axis=0)
    centre_of_fixed = fixed.mean(axis=0)
    left, _, right = np.linalg.svd((moving - centre).T @ (fixed - centre_of_fixed))
    is_mirror = np.linalg.det(left @ right) < 0
    rotation = left @ np.diag([1.0, 1.0, -1.0 if is_mirror else 1.0]) @ right
    return rotation, centre_of_fixed - centre @ rotation
