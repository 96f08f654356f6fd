"""Structure files of the decoys ranked first that show how good each residue is."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from toporank.code import code_of
from toporank.files.atomic import write_text
from toporank.ranking.residues import SHOWN, leading
from toporank.structures.complex import Complex
from toporank.structures.identity import DecoyKey
from toporank.structures.write import QUALITY, mmcif
from toporank.workers import mapped

MANY = 50
"""With this many targets, only the first decoy of each becomes a structure file, which takes 10 ms.
"""
LEAST = 0.01
"""B-factor of the worst interface residue; 0 is what all others have."""


def write_models(
    folder: Path,
    table: pd.DataFrame,
    residues: Mapping[str, pd.DataFrame],
    atoms: Callable[[DecoyKey], Complex],
    digests: Mapping[str, str] | None = None,
    workers: int = 1,
) -> None:
    """Write the `leading` decoys of each target with quality × 100 as B-factor.

    Each becomes `<target>/<rank>_<decoy>.cif`.

    With `MANY` targets, the first of each. A decoy without known residues has no file. A file that
    was made of the same result stays.

    Parameters
    ----------
    folder : for the files; it has no others afterwards
    table : as from `model_table`
    residues : target → its table of residues
    atoms : (target, decoy) → its atoms
    digests : target → digest of its result; the files of others are written anew
    workers : processes
    """
    folder.mkdir(parents=True, exist_ok=True)
    code = code_of("chains", "structures", "ranking")
    most = SHOWN if table["target"].nunique() < MANY else 1

    def write_target(item: tuple[str, pd.DataFrame]) -> list[Path]:
        target, rows = item
        digest = (digests or {}).get(target)
        made_of = f"# {code} {digest}\n" if digest else ""
        written = []
        for row in rows.itertuples():
            path = model_file(folder, row)
            of_target = residues[target]
            of_decoy = of_target[of_target["decoy"] == row.decoy]
            if made_of and _last_line(path, len(made_of)) == made_of:
                written.append(path)
            elif len(of_decoy):
                text = model(atoms((target, row.decoy)), of_decoy)
                write_text(path, text + made_of)
                written.append(path)
        return written

    of_targets = list(leading(table, most).groupby("target", sort=False))
    files = set(chain.from_iterable(mapped(write_target, of_targets, workers)))
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_dir() and not any(path.iterdir()):
            path.rmdir()
        elif not path.is_dir() and path not in files:
            path.unlink()


def _last_line(path: Path, length: int) -> str:
    """The last characters of a file, or nothing where it has fewer."""
    try:
        with path.open("rb") as file:
            file.seek(-length, os.SEEK_END)
            return file.read().decode("latin-1")
    except OSError:
        return ""


def model_file(folder: Path, row: Any) -> Path:
    """Where `write_models` puts a decoy. row : with its target, rank and decoy."""
    return folder / row.target / f"{row.rank}_{row.decoy}.cif"


def model(complex_: Complex, residues: pd.DataFrame) -> str:
    """Return a decoy as mmCIF with quality × 100 as B-factor.

    A residue without quality has 0, and every one with a quality has more.
    """
    names = residues["chain"] + ":" + residues["residue"]
    places = names.map(complex_.index_of_names())
    b_factors = np.zeros(len(complex_.residues))
    b_factors[places] = (100 * residues["pred_quality"]).clip(lower=LEAST).fillna(0.0)
    return mmcif(complex_, b_factors, QUALITY)
