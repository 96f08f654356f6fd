"""The decoys of a folder with their targets.

The folder is listed once, and each file is read once.
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from toporank.confidence.b_factor_runs import same_chains
from toporank.errors import printable
from toporank.finding.complexes import BY_SEQUENCE, Grouped, group
from toporank.finding.decoy_names import copies_among
from toporank.finding.folders import find_decoys
from toporank.finding.look import Keep, sketches
from toporank.finding.mutants import mutants
from toporank.finding.not_models import (
    experiments,
    other_files,
    unexplained,
    with_trajectories,
    without_protein,
)
from toporank.finding.scan import Scan
from toporank.finding.sequences import Sketches
from toporank.structures.identity import Decoy, DecoyKey, Status


def decoys_of(  # noqa: PLR0913 -- all of one search
    dataset: str,
    folder: Path | Scan,
    by: str,
    store: Path,
    partners: Mapping[str, str] | None = None,
    keep: Keep | None = None,
    workers: int | None = None,
    targets: Container[str] = (),
    labelled: bool = False,
) -> Grouped:
    """Return the decoys of a folder with their targets.

    Parameters
    ----------
    folder : where they lie, or what is in it
    by, partners : as for `complexes.group`
    store : the reuse store
    keep : takes each file with decoys that is new, while it is open
    workers : processes that look into many files; as many as there are cores by default
    targets : as for `folders.find_decoys`
    labelled : whether labels or natives belong to the decoys: then every structure is one

    Raises
    ------
    ConfigError
        when the folder cannot be listed
    """
    scan = folder if isinstance(folder, Scan) else Scan(folder, f"dataset {dataset}")
    found = find_decoys(dataset, scan, targets)
    paths = [decoy.path for decoy in found if not decoy.refused]
    seen = sketches(paths, store, keep, workers)
    intermediate = [
        decoy.path for decoy in found if decoy.refused_as == Status.INTERMEDIATE
    ]
    if intermediate:
        seen |= sketches(intermediate, store, workers=workers)
    left_out = other_files(found, seen)
    if not labelled:
        left_out |= experiments(found, seen) | without_protein(found, seen)
    decoys = with_trajectories(_without(found, left_out), seen)
    name = scan.folder.resolve().name
    grouped = group(decoys, seen, by, name, partners)
    if by == BY_SEQUENCE and not labelled:
        questions = unexplained(grouped)
        if questions:
            left_out |= questions
            grouped = group(_without(decoys, questions), seen, by, name, partners)
    unread = scan.passed_over(grouped.decoys)
    for path, why in left_out.items():
        unread[Path(path)] = why
        del seen[path]
    b_factors = {}
    for decoy in grouped.decoys:
        sketch = seen.get(decoy.path)
        if sketch:
            b_factors[decoy.key] = sketch.of_model(decoy.model).b_factors
    return grouped._replace(
        mutants=mutants(grouped),
        molecules=_several_molecules(grouped.decoys, seen),
        copies=copies_among(grouped.decoys, seen),
        passed_over=unread,
        of_monomers=_of_monomers(b_factors),
    )


class Profile(NamedTuple):
    """The chains of a decoy by their B factors, in order.

    chains : a number for each, which parts of one chain have in common. whole : of each its length
    and runs
    """

    chains: tuple[int, ...]
    whole: tuple[tuple[int, ...], ...]


def _of_monomers(
    b_factors: Mapping[DecoyKey, tuple[tuple[int, ...], ...]],
) -> frozenset[DecoyKey]:
    """Decoys with a chain that has the same B factors in the complex of another target.

    No prediction of two complexes gives that. One and the same model may lie in two targets, and
    so may complexes that were cut out of it.

    b_factors : length and runs of the chains of each decoy
    """
    every: set[tuple[int, ...]] = set()
    for of_decoy in b_factors.values():
        every.update(chain[1:] for chain in of_decoy)
    chain_of = same_chains(every)
    targets: dict[int, set[str]] = {}
    complexes: dict[int, set[tuple[str, Profile]]] = {}
    larger: dict[int, set[Profile]] = {}
    profiles = {}
    for key, whole in b_factors.items():
        of_chains = tuple(sorted(chain_of[runs[0]] for _, *runs in whole))
        profile = profiles[key] = Profile(of_chains, whole)
        for chain in of_chains:
            complexes.setdefault(chain, set()).add((key[0], profile))
            targets.setdefault(chain, set()).add(key[0])
            if len(whole) > 2:  # two complexes can be cut out of these alone
                larger.setdefault(chain, set()).add(profile)
    found = set()
    for key, profile in profiles.items():
        for chain in profile.chains:
            if len(targets[chain]) < 2:
                continue
            wholes = larger.get(chain, set())
            for target, other in complexes[chain]:
                if target != key[0] and not _are_parts(profile, other, wholes):
                    found.add(key)
                    break
    return frozenset(found)


def _are_parts(first: Profile, second: Profile, wholes: Iterable[Profile]) -> bool:
    """Whether two complexes, of two chains or more, are one of `wholes` or were cut out of it."""
    if first.chains == second.chains:
        return True
    both = {*first.whole, *second.whole}
    if min(len(first.whole), len(second.whole)) < 2:
        return False
    return any(
        len(large.whole) >= len(both) and both.issubset(large.whole) for large in wholes
    )


def _without(decoys: Iterable[Decoy], paths: Container[str]) -> list[Decoy]:
    return [decoy for decoy in decoys if decoy.path not in paths]


def _several_molecules(decoys: Iterable[Decoy], sketches: Sketches) -> list[str]:
    """Which chains are or may be several molecules of one name.

    It is a sentence about the first such file, or nothing.
    """
    notes: dict[str, str] = {}
    refused = {decoy.path for decoy in decoys if decoy.refused}
    for path, sketch in sketches.items():
        if sketch and sketch.notes and path not in refused:
            notes[path] = "; ".join(sketch.notes)
    if not notes:
        return []
    path = min(notes)
    n_others = len(notes) - 1
    others = f" and {n_others:,} other file{'s' * (n_others > 1)}" if n_others else ""
    return [f"in {printable(os.path.basename(path))}{others}: {notes[path]}"]
