"""A `Complex` as bytes.

A decoy is read once, and what computes its features takes it from the reuse store.

The bytes are safetensors: the arrays, and as JSON what is text. Coordinates are whole numbers of
0.001 Å where that is exact, as in every PDB file, else float64.
"""

from __future__ import annotations

import json

import numpy as np
import safetensors.numpy

from toporank.chains.chain import ResidueId
from toporank.structures.complex import Complex

PER_ANGSTROM = 1000.0


def to_bytes(complex_: Complex) -> bytes:
    """The same complex gives the same bytes."""
    thousandths = np.rint(complex_.xyz * PER_ANGSTROM)
    is_exact = (thousandths / PER_ANGSTROM == complex_.xyz).all() and (
        np.abs(thousandths) < 2**31
    ).all()
    names, name = np.unique(complex_.atom_names, return_inverse=True)
    texts = {
        "residues": complex_.residues,
        "names": complex_.names,
        "parents": complex_.parents,
        "hetero": sorted(complex_.hetero),
        "notes": complex_.notes,
        "labels": complex_.labels,
        "molecules": complex_.molecules,
        "side_chains": complex_.side_chains,
        "on_molecules": complex_.on_molecules,
        "written": complex_.written,
        "atom_names": [name.decode("latin-1") for name in names.tolist()],
    }
    arrays = {
        "texts": np.frombuffer(
            json.dumps(texts, separators=(",", ":")).encode(), np.uint8
        ),
        "xyz": thousandths.astype(np.int32) if is_exact else complex_.xyz,
        "atom_name": name.astype(np.uint16),
        "residue_of": complex_.residue_of.astype(np.int32),
        "ca": complex_.ca.astype(np.int32),
    }
    return safetensors.numpy.save(arrays)


def from_bytes(content: bytes) -> Complex:
    """The inverse of `to_bytes`."""
    arrays = safetensors.numpy.load(content)
    texts = json.loads(arrays["texts"].tobytes())
    atom_names = np.array(
        [name.encode("latin-1") for name in texts["atom_names"]], dtype="S8"
    )
    xyz = arrays["xyz"]
    return Complex(
        residues=tuple(ResidueId(*residue) for residue in texts["residues"]),
        names=tuple(texts["names"]),
        parents=tuple(texts["parents"]),
        xyz=xyz / PER_ANGSTROM if xyz.dtype == np.int32 else xyz,
        atom_names=atom_names[arrays["atom_name"]],
        residue_of=arrays["residue_of"].astype(np.intp),
        ca=arrays["ca"].astype(np.intp),
        hetero=frozenset(texts["hetero"]),
        notes=tuple(texts["notes"]),
        labels=tuple((chain, number) for chain, number in texts["labels"]),
        molecules=tuple((name, of_file) for name, of_file in texts["molecules"]),
        side_chains=texts["side_chains"],
        on_molecules=tuple(texts["on_molecules"]),
        written=tuple((name, letters) for name, letters in texts["written"]),
    )
