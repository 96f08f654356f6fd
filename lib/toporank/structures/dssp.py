"""Secondary structure, accessibility and backbone angles from mkdssp, one call per complex.

mkdssp 4 is particular about its input: it rejects a PDB file that does not begin with HEADER, loses the
residue after a bare TER and knows one-letter chains only. It therefore never sees the user's file but a
normalised one, with chains lettered and residues numbered in file order, and answers are matched back by
position.
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
from toporank.structures.complex import Complex

PROGRAM = "mkdssp"
SUPPORTED = ((4, 0), (5, 0))
"""First supported version and first version beyond."""
INSTALL_HINT = (
    "install it: `apt-get install dssp` on Debian and Ubuntu,"
    " `conda install -c conda-forge -c bioconda dssp` with conda"
)
TIMEOUT_SECONDS = 600
TIMEOUT_RESIDUES = 5000
"""Up to this size a complex has that time; larger ones have more in proportion (20,000 residues take minutes)."""
CHAIN_LETTERS = string.ascii_uppercase
"""mkdssp writes no report of more than 26 chains; where there are more, several share a letter."""
MAX_RESIDUES_IN_CHAIN = 9999
ROOM = (-999.0, 9999.0)
"""Å, the smallest and largest coordinate that fit into the columns."""
LOOK = "look at the structure: overlapping chains or atoms that lie on each other?"
NO_ANGLE = 360.0
"""What DSSP reports for φ or ψ where a neighbour is missing."""

_PDB_ATOM = (
    "ATOM  {serial:5d} {name:<4s} {residue:3s} {chain}{number:4d}    {x:8.3f}{y:8.3f}{z:8.3f}"
    "  1.00  0.00          {element:>2s}\n"
)


@dataclass(frozen=True)
class Dssp:
    """What DSSP says of each residue of a complex, in the order of `Complex.residues`, length R.

    Attributes
    ----------
    found : bool, DSSP reported the residue
    structure : bytes `S1`, the 8-state letter, `-` for none
    accessibility : float64, Å², whole numbers
    phi, psi : float64, degrees to one decimal, 360.0 where undefined
    """

    found: np.ndarray
    structure: np.ndarray
    accessibility: np.ndarray
    phi: np.ndarray
    psi: np.ndarray


class DsspMissingError(TopoRankError):
    """mkdssp is not there, does not run or is not supported: no decoy's fault, so nothing is recorded."""


@functools.cache
def dssp_version() -> str:
    """Version of mkdssp on the PATH, such as `4.2.2`. Raises DsspMissingError with the remedy."""
    if shutil.which(PROGRAM) is None:
        raise DsspMissingError("not found on the PATH", where=PROGRAM, remedy=INSTALL_HINT)
    try:
        answer = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise DsspMissingError(f"does not run: {error}", where=PROGRAM, remedy=INSTALL_HINT) from error
    version = re.search(r"version\s+(\d+)\.(\d+)(\.\d+)*", answer.stdout + answer.stderr)
    if version is None:
        raise DsspMissingError("does not report its version; is it mkdssp 4?", where=PROGRAM, remedy=INSTALL_HINT)
    if not SUPPORTED[0] <= (int(version[1]), int(version[2])) < SUPPORTED[1]:
        raise DsspMissingError(f"{version[0]} is not supported, 4.x is", where=PROGRAM, remedy=INSTALL_HINT)
    return version[0].split()[-1]


def run_dssp(complex_: Complex) -> Dssp:
    """Run mkdssp on the protein residues of a complex.

    Raises FeatureError when the complex has more residues or is wider than the format holds or when mkdssp
    fails on it; DsspMissingError when mkdssp itself is the problem.
    """
    text, position = normalised_pdb(complex_)
    limit = TIMEOUT_SECONDS * max(1.0, len(position) / TIMEOUT_RESIDUES)
    with tempfile.TemporaryDirectory(prefix="toporank-dssp-") as folder:
        source, result = Path(folder, "complex.pdb"), Path(folder, "complex.dssp")
        source.write_text(text)
        command = [PROGRAM, "--output-format=dssp", str(source), str(result)]
        try:
            answer = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
        except FileNotFoundError as error:
            raise DsspMissingError("not found on the PATH", where=PROGRAM, remedy=INSTALL_HINT) from error
        except subprocess.TimeoutExpired as error:
            raise FeatureError(
                f"mkdssp did not finish within {limit:g} s",
                remedy="a very large complex? use a part of it",
            ) from error
        if answer.returncode != 0 or not result.exists():
            said = (answer.stderr or answer.stdout).strip().splitlines() or ["nothing"]
            raise FeatureError(f"mkdssp failed with exit status {answer.returncode} and said: {said[-1]}", remedy=LOOK)
        return parse_dssp(result.read_text(), position, len(complex_.residues))


def normalised_pdb(complex_: Complex) -> tuple[str, dict[tuple[str, int], int]]:
    """PDB text of the protein residues, and for each (chain letter, number) in it the residue's index."""
    chains = complex_.chains
    shared = max(len(chains), len(CHAIN_LETTERS))  # neighbours in the alphabet share a letter where there are too many
    letters = {chain: CHAIN_LETTERS[i * len(CHAIN_LETTERS) // shared] for i, chain in enumerate(chains)}
    lines = ["HEADER    COMPLEX                                 01-JAN-00   XXXX\n"]
    position: dict[tuple[str, int], int] = {}
    count = dict.fromkeys(letters.values(), 0)
    names, slices, serial = np.char.decode(complex_.atom_names, "utf-8", "replace"), complex_.atom_slices, 0
    hydrogen = complex_.is_hydrogen
    origin = _origin(complex_.xyz)
    for r in np.argsort([res.chain for res in complex_.residues], kind="stable"):
        chain, parent = complex_.residues[r].chain, complex_.parents[r]
        if not parent:
            continue
        letter = letters[chain]
        count[letter] += 1
        position[letter, count[letter]] = int(r)
        for atom in range(slices[r], slices[r + 1]):
            if hydrogen[atom]:
                continue  # mkdssp ignores those it knows as hydrogens, which it cannot tell from the name alone
            name, (x, y, z) = names[atom][:4], complex_.xyz[atom] - origin
            serial += 1
            lines.append(
                _PDB_ATOM.format(
                    serial=serial % 100000,
                    name=name if len(name) > 3 else f" {name}",
                    residue=parent,
                    chain=letter,
                    number=count[letter],
                    x=x,
                    y=y,
                    z=z,
                    element=name[0],
                )
            )
    if max(count.values(), default=0) > MAX_RESIDUES_IN_CHAIN:
        raise FeatureError(
            f"more than {MAX_RESIDUES_IN_CHAIN} residues in a chain, the most mkdssp is given",
            remedy="use a part of the complex",
        )
    return "".join([*lines, "END\n"]), position


def _origin(xyz: np.ndarray) -> np.ndarray:
    """Å, shape (3,): what to take off coordinates, shape (A, 3), to fit them into PDB columns; 0 where they fit."""
    if len(xyz) == 0 or (xyz.min() > ROOM[0] and xyz.max() < ROOM[1]):
        return np.zeros(3)
    width = float(np.ptp(xyz, axis=0).max())
    if width > ROOM[1] - ROOM[0] - 2:
        raise FeatureError(f"the complex is {width:.0f} Å wide", remedy="are chains or atoms far from the rest?")
    return np.floor(xyz.min(axis=0) - ROOM[0]) - 1  # whole Å: the decimals stay


def parse_dssp(text: str, position: dict[tuple[str, int], int], n_residues: int) -> Dssp:
    """Classic DSSP text into arrays of length `n_residues`; `position` as from `normalised_pdb`."""
    dssp = Dssp(
        found=np.zeros(n_residues, dtype=bool),
        structure=np.full(n_residues, b"-"),
        accessibility=np.zeros(n_residues),
        phi=np.full(n_residues, NO_ANGLE),
        psi=np.full(n_residues, NO_ANGLE),
    )
    _, _, table = text.partition("\n  #  RESIDUE")
    for line in table.splitlines()[1:]:
        if line[13] == "!":  # a chain break, not a residue
            continue
        r = position[line[11], int(line[5:10])]
        dssp.found[r] = True
        dssp.structure[r] = line[16].strip().encode() or b"-"
        dssp.accessibility[r] = float(line[34:38])
        dssp.phi[r], dssp.psi[r] = float(line[103:109]), float(line[109:115])
    return dssp
