"""Which program wrote a folder of decoys, told by the names in it, and which part of its output holds the decoys."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from toporank.files.compressed import ENDINGS
from toporank.inputs.folders import COLABFOLD, find_decoys, folder_to_give, no_decoys, passed_over
from toporank.structures.identity import Decoy, split_suffix

PLAIN = "Plain structure files"
LOOKED_AT = 500
"""Decoys by whose names a folder is judged."""
STEP = re.compile(
    r"(\d+)_(rigidbody|flexref|emref|mdref|emscoring|mdscoring|seletop|seletopclusts|clustfcc|clustrmsd|caprieval"
    r"|rmsdmatrix|ilrmsdmatrix|contactmap|alascan|openmm|filter)"
)
"""What HADDOCK3 calls the folder of a step of a run, but for the first, which has no complexes."""
GIVEN = {"templates", "processed", "msa", "msas", "data"}
"""Folders of what a predictor was given, beside what it wrote."""
OLD_STEPS = ("structures/it1/water", "structures/it1")
"""Where HADDOCK 2 leaves its models, the last step first."""
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
    """The program that wrote a decoy, by its path and, for Boltz, the file of its confidence; `PLAIN` if none is known.

    >>> program_of("out/pred.model_idx_0.cif"), program_of("mine/model_3.pdb")
    ('Chai-1', 'Plain structure files')
    """
    folder, file = os.path.split(os.fspath(path))
    known = split_suffix(file)
    stem = known[0] if known else file
    if any(os.path.exists(os.path.join(folder, f"confidence_{stem}.json{zipped}")) for zipped in ("", *ENDINGS)):
        return "Boltz"
    found = (program for program, pattern in PROGRAMS.items() if pattern.fullmatch(os.path.join(folder, stem)))
    return next(found, PLAIN)


def programs(decoys: Iterable[Decoy]) -> str:
    """The programs that wrote these decoys, the most frequent first, as a person would say it.

    `<job>_model.cif`, which AlphaFold 3 copies from its best sample, is called after the samples beside it.
    """
    counts = Counter(program_of(os.path.realpath(decoy.path)) for decoy in [*decoys][:LOOKED_AT])
    if "AlphaFold 3" in counts:
        del counts[PLAIN]
    return " and ".join(name for name, _ in counts.most_common()) or PLAIN


def all_decoys(dataset: str, folder: Path) -> list[Decoy]:
    """The decoys of a folder; where there are none, those of the several folders below it that hold decoys.

    These may be the runs of a predictor, one for each seed. Targets of the same name get the name of their run, too.
    Raises ConfigError as `find_decoys` does.
    """
    if decoys := find_decoys(dataset, folder):
        return decoys
    found = {run: find_decoys(dataset, part) for run, part in _runs(folder).items()}
    runs = Counter(target for decoys in found.values() for target in {decoy.target for decoy in decoys})
    return sorted(
        decoy._replace(target=decoy.target if runs[decoy.target] == 1 else f"{run}_{decoy.target}")
        for run, decoys in found.items()
        for decoy in decoys
    )


def _runs(folder: Path) -> dict[str, Path]:
    """Name → the part to score of every run in a folder; none where there is one, which is the folder to give.

    Runs lie side by side and hold their decoys in the same place: `seed1/` and `seed2/`, or `a/predictions/` and
    `b/predictions/`.
    """
    files, parts = passed_over(folder, []), []
    while better := folder_to_give(folder, files):
        files = [path for path in files if better not in path.parents]
        parts.append(better.relative_to(folder).parts)
    runs = [first for first, *deeper in parts if deeper == [*parts[0][1:]] and not _is_no_run(first)]
    found = {run: _last_step(folder / run) or folder.joinpath(run, *parts[0][1:]) for run in sorted(runs)}
    return found if len(found) > 1 else {}


def _is_no_run(name: str) -> bool:
    """Whether a folder of this name holds a step of a run, or what a predictor was given."""
    return name in GIVEN or STEP.fullmatch(name) is not None


def part_to_score(given: Path) -> Path:
    """The folder with the decoys, in the output folder of a program: its last step, or where they lie deeper down.

    It is the given folder, if there are decoys in it or in several runs below it. Raises ConfigError when there are
    none anywhere in it, or in several places that are no runs of one program.
    """
    if step := _last_step(given):
        return step
    if all_decoys(given.name, given):
        return given
    deeper = passed_over(given, [])
    better = folder_to_give(given, deeper)
    if better is None or any(better not in path.parents for path in deeper if split_suffix(path.name)):
        raise no_decoys(given.name, given, deeper)
    return better


def _last_step(run: Path) -> Path | None:
    """The last step of a run of HADDOCK that has models; None if the folder is no run of HADDOCK."""
    steps = sorted((int(known[1]), entry) for entry in run.iterdir() if (known := STEP.fullmatch(entry.name)))
    for step in [*(entry for _, entry in reversed(steps)), *(run / name for name in OLD_STEPS)]:
        if step.is_dir() and any(split_suffix(entry.name) for entry in step.iterdir()):
            return step
    return None
