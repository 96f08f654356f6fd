"""Secondary structure, accessibility and backbone angles, as DSSP defines them.

They are our own, or from mkdssp.

mkdssp 4 is particular about its input: it rejects a PDB file that does not begin with HEADER, loses
the residue after a bare TER and knows one-letter chains only. It therefore never sees the user's
file but a normalised one, with chains lettered and residues numbered in file order, and answers are
matched back by position.
"""

from __future__ import annotations

import functools
import re
import shutil
import string
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from toporank.errors import FeatureError, TopoRankError
from toporank.structures.complex import STANDARD, Complex

PROGRAM = "mkdssp"
SUPPORTED = ((4, 0), (5, 0))
"""First supported version and first version beyond."""
INSTALL_HINT = (
    "install it: `apt-get install dssp` on Debian and Ubuntu,"
    " `conda install -c conda-forge -c bioconda dssp` with conda"
)
TIMEOUT_SECONDS = 600
TIMEOUT_RESIDUES = 5000
"""Up to this size a complex has that time; larger ones have more in proportion (20,000 residues
take minutes).
"""
CHAIN_LETTERS = string.ascii_uppercase
"""mkdssp writes no report of more than 26 chains; where there are more, several share a letter."""
MAX_RESIDUES_IN_CHAIN = 9999
ROOM = (-999.0, 9999.0)
"""Å, the smallest and largest coordinate that fit into the columns."""
LOOK = "look at the structure: overlapping chains or atoms that lie on each other?"
BACKBONE = (b"N", b"CA", b"C", b"O")
NO_ANGLE = 360.0
"""What DSSP reports for φ or ψ where a neighbour is missing."""


@dataclass(frozen=True)
class Dssp:
    """DSSP's results for each residue of a complex, in the order of `Complex.residues`, length R.

    Attributes
    ----------
    reported : bool, DSSP reported the residue
    structure : bytes `S1`, the 8-state letter, `-` for none
    accessibility : float64, Å², whole numbers
    phi, psi : float64, degrees to one decimal, 360.0 where undefined
    """

    reported: np.ndarray
    structure: np.ndarray
    accessibility: np.ndarray
    phi: np.ndarray
    psi: np.ndarray


class DsspMissingError(TopoRankError):
    """mkdssp is missing, does not run or is not supported.

    That is no decoy's fault, so nothing is recorded.
    """


@functools.cache
def dssp_version() -> str:
    """Version of mkdssp on the PATH, such as `4.2.2`. Raises DsspMissingError with the remedy."""
    try:
        answer = _run_mkdssp("--version", timeout=60)
    except subprocess.TimeoutExpired as error:
        raise _missing(f"does not run: {error}") from error
    version = re.search(
        r"version\s+((\d+)\.(\d+)(\.\d+)*)", answer.stdout + answer.stderr
    )
    if version is None:
        raise _missing("does not report its version; is it mkdssp 4?")
    number, major, minor, _ = version.groups()
    if not SUPPORTED[0] <= (int(major), int(minor)) < SUPPORTED[1]:
        raise _missing(f"version {number} is not supported, 4.x is")
    return number


def _missing(what: str) -> DsspMissingError:
    return DsspMissingError(what, where=PROGRAM, remedy=INSTALL_HINT)


def _run_mkdssp(*arguments: str, timeout: float) -> subprocess.CompletedProcess[str]:
    if shutil.which(PROGRAM) is None:
        raise _missing("not found on the PATH")
    command = [PROGRAM, *arguments]
    try:
        return subprocess.run(
            command, capture_output=True, text=True, timeout=timeout, check=False
        )
    except OSError as error:
        raise _missing(f"does not run: {error}") from error


def run_dssp(complex_: Complex) -> Dssp:
    """Run mkdssp on the protein residues of a complex.

    Raises FeatureError when the complex has more residues or is wider than the format holds or when
    mkdssp fails on it; DsspMissingError when mkdssp itself is the problem.
    """
    text, position = normalised_pdb(complex_)
    limit = TIMEOUT_SECONDS * max(1.0, len(position) / TIMEOUT_RESIDUES)
    with tempfile.TemporaryDirectory(prefix="toporank-dssp-") as folder:
        source, result = Path(folder, "complex.pdb"), Path(folder, "complex.dssp")
        source.write_text(text)
        try:
            answer = _run_mkdssp(
                "--output-format=dssp", str(source), str(result), timeout=limit
            )
        except subprocess.TimeoutExpired as error:
            what = f"mkdssp did not finish within {limit:g} s"
            raise FeatureError(
                what, remedy="a very large complex? use a part of it"
            ) from error
        if answer.returncode != 0 or not result.exists():
            message = (answer.stderr or answer.stdout).strip() or "nothing"
            what = f"mkdssp failed with exit status {answer.returncode} and said: "
            raise FeatureError(what + message.splitlines()[-1], remedy=LOOK)
        return parse_dssp(result.read_text(), position, len(complex_.residues))


def normalised_pdb(complex_: Complex) -> tuple[str, dict[tuple[str, int], int]]:
    """PDB text of the protein residues, and (chain letter, number) → residue's index."""
    # mkdssp cannot tell all of them from their names
    heavy = complex_.without_hydrogens()
    chains = heavy.chains
    # Neighbours in the alphabet share a letter where chains are more.
    n_letters = max(len(chains), len(CHAIN_LETTERS))
    letters = {}
    for i, chain in enumerate(chains):
        letters[chain] = CHAIN_LETTERS[i * len(CHAIN_LETTERS) // n_letters]
    names = np.char.decode(heavy.atom_names, "utf-8", "replace")
    xyz = heavy.xyz - _origin(complex_.xyz)
    count = dict.fromkeys(letters.values(), 0)
    position: dict[tuple[str, int], int] = {}
    lines = ["HEADER    COMPLEX                                 01-JAN-00   XXXX\n"]
    for r in np.argsort(heavy.chain_of, kind="stable").tolist():
        if not heavy.parents[r]:
            continue
        letter = letters[heavy.residues[r].chain]
        count[letter] += 1
        position[letter, count[letter]] = r
        residue = f"{heavy.parents[r]:3s} {letter}{count[letter]:4d}"
        for atom in range(*heavy.atom_slices[r : r + 2]):
            name = names[atom][:4]
            padded = name if len(name) > 3 else f" {name}"
            x, y, z = xyz[atom]
            lines.append(
                f"ATOM  {len(lines) % 100000:5d} {padded:<4s} {residue}    "
                f"{x:8.3f}{y:8.3f}{z:8.3f}  1.00  0.00          {name[0]:>2s}\n"
            )
    if max(count.values(), default=0) > MAX_RESIDUES_IN_CHAIN:
        raise FeatureError(
            f"more than {MAX_RESIDUES_IN_CHAIN} residues in a chain, the most mkdssp is given",
            remedy="use a part of the complex",
        )
    return "".join([*lines, "END\n"]), position


def _origin(xyz: np.ndarray) -> np.ndarray:
    """Å, shape (3,): what to take off coordinates, shape (A, 3), to fit them into PDB columns.

    0 where they fit.
    """
    if len(xyz) == 0 or (xyz.min() > ROOM[0] and xyz.max() < ROOM[1]):
        return np.zeros(3)
    width = float(np.ptp(xyz, axis=0).max())
    if width > ROOM[1] - ROOM[0] - 2:
        raise FeatureError(
            f"the complex is {width:.0f} Å wide",
            remedy="are chains or atoms far from the rest?",
        )
    return np.floor(xyz.min(axis=0) - ROOM[0]) - 1  # whole Å: the decimals stay


def parse_dssp(
    text: str, position: dict[tuple[str, int], int], n_residues: int
) -> Dssp:
    """Classic DSSP text into arrays of length `n_residues`; `position` as from `normalised_pdb`."""
    dssp = _empty(n_residues)
    _, _, table = text.partition("\n  #  RESIDUE")
    for line in table.splitlines()[1:]:
        if line[13] == "!":  # a chain break, not a residue
            continue
        r = position[line[11], int(line[5:10])]
        dssp.reported[r] = True
        dssp.structure[r] = line[16].strip().encode() or b"-"
        dssp.accessibility[r] = float(line[34:38])
        dssp.phi[r] = float(line[103:109])
        dssp.psi[r] = float(line[109:115])
    return dssp


def _empty(n_residues: int) -> Dssp:
    """No residue found."""
    return Dssp(
        reported=np.zeros(n_residues, dtype=bool),
        structure=np.full(n_residues, b"-"),
        accessibility=np.zeros(n_residues),
        phi=np.full(n_residues, NO_ANGLE),
        psi=np.full(n_residues, NO_ANGLE),
    )


def builtin_dssp(complex_: Complex, accessibility_of: np.ndarray) -> Dssp:
    """DSSP without mkdssp, by `toporank_kernels.kabsch_sander`.

    DSSP finds a residue when its backbone is complete and it is, or counts as, one of the 20.
    Others are ignored: they are no neighbours in a chain and cover no surface.

    Parameters
    ----------
    complex_ : of R residues
    accessibility_of : int, the residues whose accessibility is computed; others have 0

    Returns
    -------
    Dssp, as from `run_dssp`

    Examples
    --------
    >>> from toporank.layout import repository
    >>> example = repository() / "resources/example"
    >>> from toporank.structures.read import read_complex
    >>> complex_ = read_complex(example / "decoys/1PPE/near1.pdb.gz")
    >>> dssp = builtin_dssp(complex_, np.arange(5))
    >>> b"".join(dssp.structure[20:40].tolist()), dssp.accessibility[:3].tolist()
    (b'-B-TTSBB--BS-EE--TTS', [87.0, 11.0, 0.0])
    """
    from toporank_kernels import kabsch_sander  # imports numba, which is slow

    n = len(complex_.residues)
    backbone = complex_.atoms_named(*BACKBONE)
    dssp = _empty(n)
    dssp.reported[:] = np.isin(complex_.parents, list(STANDARD)) & (backbone >= 0).all(
        axis=1
    )
    chain = np.unique(complex_.chain_of, return_inverse=True)[1]
    residues = np.flatnonzero(dssp.reported)
    by_chain = np.argsort(chain[residues], kind="stable")  # as in the file for mkdssp
    residues = residues[by_chain]
    is_proline = np.array(complex_.parents)[residues] == "PRO"
    states, phi, psi = kabsch_sander.secondary_structure(
        complex_.xyz[backbone[residues]], chain[residues], is_proline
    )
    dssp.structure[residues] = states
    dssp.phi[residues] = np.round(phi, 1)
    dssp.psi[residues] = np.round(psi, 1)
    place = np.full(n, -1)
    place[residues] = np.arange(len(residues))
    atoms = np.flatnonzero(dssp.reported[complex_.residue_of] & ~complex_.is_hydrogen)
    atoms = atoms[np.argsort(place[complex_.residue_of[atoms]], kind="stable")]
    start = np.searchsorted(
        place[complex_.residue_of[atoms]], np.arange(len(residues) + 1)
    )
    wanted = np.intersect1d(accessibility_of, residues)
    area = kabsch_sander.accessibility(
        complex_.xyz[atoms], complex_.atom_names[atoms], start, place[wanted]
    )
    dssp.accessibility[wanted] = np.floor(area + 0.5)
    return dssp
