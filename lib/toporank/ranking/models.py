"""Structure files of the decoys ranked first that show how good each residue is."""

from __future__ import annotations

import io
import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from toporank.files.atomic import write_text
from toporank.ranking.residues import SHOWN, ResidueRow, leading, residue_rows
from toporank.structures.complex import Complex
from toporank.structures.stored import from_bytes
from toporank.structures.write import QUALITY, mmcif

MANY = 50
"""With this many targets, only the first decoy of each becomes a structure file, which takes 10 ms.
"""
LEAST = 0.01
"""B-factor of the worst interface residue; 0 is what all others have."""


def write_models(
    folder: Path,
    table: pd.DataFrame,
    residues: Mapping[tuple[str, str], str],
    atoms: Callable[[tuple[str, str]], bytes],
) -> None:
    """Write the `leading` decoys of each target as `<target>/<rank>_<decoy>.cif` with quality × 100
    as B-factor.

    With `MANY` targets, the first of each. Of a decoy without known residues there is none. table :
    as from `model_table`. residues : (target, decoy) → its lines of residues.csv. atoms : (target,
    decoy) → its atoms, as `structures.stored` keeps them.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    most = SHOWN if table["target"].nunique() < MANY else 1
    for row in leading(table, most).itertuples():
        key = row.target, row.decoy
        lines = residues.get(key)
        if lines:
            text = model(from_bytes(atoms(key)), residue_rows(io.StringIO(lines)))
            write_text(model_file(folder, row), text)


def model_file(folder: Path, row: Any) -> Path:
    """Where `write_models` puts a decoy. row : with its target, rank and decoy."""
    return folder / row.target / f"{row.rank}_{row.decoy}.cif"


def model(complex_: Complex, residues: Iterable[ResidueRow]) -> str:
    """A decoy as mmCIF with quality × 100 as B-factor; what has no quality has 0, and everything
    that has some more.
    """
    index = {str(name): i for name, i in complex_.index().items()}
    b_factors = np.zeros(len(complex_.residues))
    for residue in residues:
        quality = residue.pred_quality
        b_factors[index[f"{residue.chain}:{residue.residue}"]] = (
            0.0 if quality is None else max(100 * quality, LEAST)
        )
    return mmcif(complex_, b_factors, QUALITY)
