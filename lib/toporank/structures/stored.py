"""A `Complex` as bytes: a decoy is read once, and what computes its features takes it from the reuse store.

The bytes: length of a JSON header as 8 bytes, little-endian; the header; the coordinates. These are whole numbers of
0.001 Å where that is exact, as in every PDB file, else float64.
"""

from __future__ import annotations

import hashlib
import json

import numpy as np

from toporank.structures.complex import Complex
from toporank.structures.identity import ResidueId

PER_ANGSTROM = 1000.0


def to_bytes(complex_: Complex) -> bytes:
    """The same complex gives the same bytes."""
    whole = np.rint(complex_.xyz * PER_ANGSTROM)
    exact = bool((whole / PER_ANGSTROM == complex_.xyz).all()) and bool((np.abs(whole) < 2**31).all())
    numbers = whole.astype("<i4") if exact else complex_.xyz.astype("<f8")
    kinds, kind = np.unique(complex_.atom_names, return_inverse=True)
    header = {
        "residues": complex_.residues,
        "names": complex_.names,
        "parents": complex_.parents,
        "hetero": sorted(complex_.hetero),
        "notes": complex_.notes,
        "labels": complex_.labels,
        "kinds": [name.decode("latin-1") for name in kinds.tolist()],
        "atoms_of_residue": np.bincount(complex_.residue_of, minlength=len(complex_.residues)).tolist(),
        "ca": complex_.ca.tolist(),
        "xyz": numbers.dtype.str,
    }
    text = json.dumps(header, separators=(",", ":")).encode()
    return b"".join([len(text).to_bytes(8, "little"), text, kind.astype("<u2").tobytes(), numbers.tobytes()])


def atoms_digest(complex_: Complex) -> str:
    """Equal for complexes of the same atoms in the same places, whatever format and notes they came with.

    Places are the same to 0.001 Å, as PDB files have them: mmCIF may have more decimals of the same model.
    """
    places = np.rint(complex_.xyz * PER_ANGSTROM).astype("<i8")
    digest = hashlib.sha256(json.dumps([complex_.residues, complex_.names]).encode())
    for array in (complex_.residue_of.astype("<i8"), complex_.atom_names.astype("S8"), places):
        digest.update(array.tobytes())
    return digest.hexdigest()


def from_bytes(content: bytes) -> Complex:
    """The inverse of `to_bytes`."""
    start = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:start])
    counts = np.array(header["atoms_of_residue"], dtype=np.intp)
    n_atoms = int(counts.sum())
    kind = np.frombuffer(content, "<u2", n_atoms, start)
    numbers = np.frombuffer(content, header["xyz"], 3 * n_atoms, start + 2 * n_atoms).reshape(-1, 3)
    kinds = np.array([name.encode("latin-1") for name in header["kinds"]], dtype="S8")
    return Complex(
        residues=tuple(ResidueId(*residue) for residue in header["residues"]),
        names=tuple(header["names"]),
        parents=tuple(header["parents"]),
        xyz=numbers / PER_ANGSTROM if numbers.dtype.kind == "i" else numbers.astype(np.float64),
        atom_names=kinds[kind],
        residue_of=np.repeat(np.arange(len(counts)), counts),
        ca=np.array(header["ca"], dtype=np.intp),
        hetero=frozenset(header["hetero"]),
        notes=tuple(header["notes"]),
        labels=tuple((chain, number) for chain, number in header["labels"]),
    )
