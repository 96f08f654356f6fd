#!/usr/bin/env python3
"""Write five models of the example as ColabFold writes its output, for docs/notebook.ipynb.

    PYTHONPATH=lib python resources/example/make_colabfold.py

No predictor ran: the models are docked poses of `decoys/1GCQ`, and pLDDT, PAE and ipTM are made up.
pLDDT and PAE follow from how far each distance of two CA atoms is from that in the pose nearest to
the native, and ipTM from the PAE. The last model has the confidence of the first, so that the
notebook has a case where structure and confidence disagree.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np

from toporank.confidence.measures import tm_length, tm_term
from toporank.structures.read import read_complex

HERE = Path(__file__).resolve().parent
MODELS = ("near1.pdb.gz", "mid2.pdb.gz", "mid3.pdb.gz", "far1.pdb.gz", "wrong1.pdb.gz")
OVERSURE = "wrong1.pdb.gz"
"""The model whose confidence is that of the first."""
TAG = "rank_{:03d}_alphafold2_multimer_v3_model_{}_seed_000"
NEAR = 15.0
"""Å between CA atoms whose distance counts in the pLDDT, as in lDDT."""


def main() -> None:
    """Write the folder `made_up_colabfold`."""
    folder = HERE / "made_up_colabfold"
    folder.mkdir(exist_ok=True)
    sources = [HERE / "decoys/1GCQ" / name for name in MODELS]
    native_like, chain = _distances(sources[0])
    for place, source in enumerate(sources, 1):
        seen = sources[0] if source.name == OVERSURE else source
        error = np.abs(_distances(seen)[0] - native_like)
        plddt, pae = (
            _plddt(error, native_like),
            np.clip(np.rint(1.0 + 3.0 * error), 0, 31),
        )
        tag = TAG.format(place, place)
        values = {
            "plddt": plddt.tolist(),
            "max_pae": 31.75,
            "pae": pae.astype(int).tolist(),
        }
        values |= {"ptm": _tm(pae, chain), "iptm": _tm(pae, chain, between=True)}
        _write(folder / f"pair_scores_{tag}.json.gz", json.dumps(values))
        _write(
            folder / f"pair_unrelaxed_{tag}.pdb.gz",
            _with_b(gzip.decompress(source.read_bytes()).decode(), plddt),
        )


def _distances(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Distances of CA atoms in Å, (R, R), and the chain of each."""
    complex_ = read_complex(path)
    xyz = complex_.xyz[complex_.ca]
    return np.linalg.norm(xyz[:, None] - xyz, axis=2), np.array(
        [residue.chain for residue in complex_.residues]
    )


def _plddt(error: np.ndarray, distance: np.ndarray) -> np.ndarray:
    """Share of the near distances that are kept within 0.5, 1, 2 and 4 Å, from 0 to 95, (R,)."""
    near = (distance < NEAR) & (distance > 0)
    kept = np.mean([(error < limit) & near for limit in (0.5, 1, 2, 4)], axis=0).sum(
        axis=1
    ) / near.sum(axis=1)
    return np.round(95 * kept, 2)


def _tm(pae: np.ndarray, chain: np.ndarray, *, between: bool = False) -> float:
    """pTM, or ipTM with `between`, of the made-up PAE."""
    term = np.where(chain[:, None] != chain, True, not between) * tm_term(
        pae, tm_length(np.array(len(chain)))
    )
    count = (chain[:, None] != chain).sum(axis=1) if between else len(chain)
    return round(float((term.sum(axis=1) / count).max()), 2)


def _with_b(text: str, plddt: np.ndarray) -> str:
    """PDB text with these B factors of its residues."""
    lines, place, last = [], -1, ""
    for line in text.splitlines():
        if line.startswith("ATOM"):
            place, last = place + (line[21:27] != last), line[21:27]
            line = f"{line[:60]}{plddt[place]:6.2f}{line[66:]}"
        lines.append(line)
    return "\n".join([*lines, ""])


def _write(path: Path, text: str) -> None:
    path.write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    main()
