"""Which program wrote a folder of decoys, told by the names in it, and which part of its output holds the decoys."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from toporank.files.compressed import ENDINGS
from toporank.inputs.confidence.side_files import files_beside
from toporank.inputs.folders import COLABFOLD, common_folder, find_decoys, no_decoys, passed_over
from toporank.inputs.listing import last_step
from toporank.structures.identity import Decoy, split_suffix

PLAIN = "Plain structure files"
LOOKED_AT = 500
"""Decoys by whose names a folder is judged."""
PROGRAMS = {
    "AlphaFold Server": re.compile(r"(?:.*/)?fold_[^/]+_model_\d+"),
    "AlphaFold 3": re.compile(r"(?:.*/)?seed-\d+_sample-\d+/[^/]+"),
    "Protenix": re.compile(r"(?:.*/)?seed_\d+/(?:predictions/)?[^/]+_sample_\d+"),
    "OpenFold3": re.compile(r"(?:.*/)?seed_\d+/[^/]+_seed_\d+_sample_\d+_model"),
    "Boltz": re.compile(r"(?:.*/)?(?:predictions/([^/]+)/\1_model_\d+|sample_\d+_predicted_structure)"),
    "Chai-1": re.compile(r"(?:.*/)?pred\.(?:model_idx|rank)_\d+[^/]*"),
    "ColabFold": re.compile(rf"(?:.*/)?{COLABFOLD.pattern}[^/]*"),
    "AlphaFold-Multimer": re.compile(
        r"(?:.*/)?(?:ranked_\d+|(?:ranked_\d+_)?(?:un)?relaxed_(?:[^/]*_)?model_\d+_[^/]+)"
    ),
    "HADDOCK": re.compile(
        r"(?:.*/)?(?:(?:rigidbody|flexref|emref|mdref|emscoring|mdscoring)_\d+|cluster_?\d+_(?:model_)?\d+"
        r"|complex_(?:it[01]_)?\d+w?)"
    ),
}
"""Program → the path of its decoys, without suffix; the first that fits counts."""


def program_of(path: str | os.PathLike) -> str:
    """The program that wrote a decoy, by its path and the files of its confidence; `PLAIN` if none is known.

    >>> program_of("out/pred.model_idx_0.cif"), program_of("mine/model_3.pdb")
    ('Chai-1', 'Plain structure files')
    """
    folder, file = os.path.split(os.fspath(path))
    known = split_suffix(file)
    stem = known[0] if known else file
    if any(os.path.exists(os.path.join(folder, f"confidence_{stem}.json{zipped}")) for zipped in ("", *ENDINGS)):
        return "Boltz"
    for program, pattern in PROGRAMS.items():
        if pattern.fullmatch(os.path.join(folder, stem)):
            return program
    beside = files_beside(Path(path))
    return beside.predictor if beside else PLAIN


def programs(decoys: Iterable[Decoy]) -> str:
    """The programs that wrote these decoys, the most frequent first, as a person would say it.

    `<job>_model.cif`, which AlphaFold 3 copies from its best sample, is called after the samples beside it.
    """
    counts = Counter(program_of(os.path.realpath(decoy.path)) for decoy in [*decoys][:LOOKED_AT])
    if "AlphaFold 3" in counts:
        del counts[PLAIN]
    return " and ".join(name for name, _ in counts.most_common()) or PLAIN


def part_to_score(given: Path) -> Path:
    """The folder with the decoys, in the output folder of a program: its last step, or where they lie deeper down.

    Parameters
    ----------
    given : a folder

    Returns
    -------
    The last step of a run of HADDOCK, the folder below which all targets lie side by side, or the given one.

    Raises
    ------
    ConfigError
        when there is no structure anywhere in it
    """
    if step := last_step(given):
        return step
    decoys = find_decoys(given.name, given)
    if not decoys:
        raise no_decoys(given.name, given, passed_over(given, []))
    return common_folder(given, decoys)
