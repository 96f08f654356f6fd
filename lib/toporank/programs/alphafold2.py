"""AlphaFold-Multimer, and what runs it: AlphaPulldown, MassiveFold."""

from __future__ import annotations

import functools
import re
from pathlib import Path

from toporank.errors import ConfidenceError
from toporank.programs.file_names import file_called, names_in, stem_of
from toporank.programs.formats import read_pae, table_in, values_of
from toporank.programs.program import (
    PredictorOutput,
    Program,
    SideFileNames,
    SideFiles,
)

LIGHT_PICKLES = "light_pkl"
"""Folder beside the models into which MassiveFold puts the small parts of its pickles."""
RANKED = re.compile(r"(?P<prefix>.*_)?ranked_\d+")
"""A model by its rank; people put something before it."""


def ranking(files: SideFiles, output: PredictorOutput) -> None:
    """Read `ranking_debug.json`.

    It has the ranking confidence and, of multimers, ipTM of each model by its name.
    """
    values = values_of(files.scores)
    name = _name_of_model(files)
    scores = table_in(values, "iptm+ptm") or table_in(values, "plddts")
    output.put_numbers(scores, ranking_score=name)
    output.put_numbers(table_in(values, "iptm"), iptm=name)


def _name_of_model(files: SideFiles) -> str:
    """The name of a model.

    It is its own name or, of `ranked_0`, the one that `ranking_debug.json` has in that place.

    Empty where there is no order. Raises ConfidenceError when the order ends before this model, or
    when it may be that of another run: of `a_ranked_0` and `b_ranked_1` only one can be meant.
    """
    name = files.names["name"] or files.names["listed"]
    order = values_of(files.scores).get("order")
    if name or not isinstance(order, list):
        return name
    rank = int(files.names["rank"])
    runs = set(_ranked(names_in(files.folder)).values())
    if files.names["prefix"] and len(runs) > 1:
        several = " and ".join(f"{run}ranked" for run in sorted(runs)[:2])
        raise ConfidenceError(
            f"ranking_debug.json ranks the models of one run, and here are models called {several}",
            remedy="put the models of each run into a folder with its ranking_debug.json",
        )
    if rank >= len(order):
        raise ConfidenceError(
            f"ranking_debug.json orders {len(order)} models, so there is no ranked_{rank}"
        )
    return str(order[rank])


@functools.lru_cache(maxsize=64)
def _ranked(names: frozenset[str]) -> dict[str, str]:
    """Models called `ranked_N` → what stands before that: each of several runs has its own."""
    prefixes = {}
    for name in names:
        match = "ranked_" in name and RANKED.fullmatch(stem_of(name))
        if match:
            prefixes[name] = match["prefix"] or ""
    return prefixes


def result(files: SideFiles, output: PredictorOutput) -> None:
    """Read `result_<name>.pkl`: all there is.

    MassiveFold puts it into a folder, or calls it after the model.
    """
    name = f"result_{_name_of_model(files)}.pkl"
    path = (
        file_called(files.folder, name)
        or file_called(files.folder / LIGHT_PICKLES, name)
        or file_called(files.folder, f"{files.names['stem']}.pkl")
    )
    values = values_of(path)
    output.put_numbers(
        values, ptm="ptm", iptm="iptm", ranking_score="ranking_confidence"
    )
    output.put_plddt(values, path, "plddt")
    output.put_pae(values, "predicted_aligned_error")


def plddt(files: SideFiles, output: PredictorOutput) -> None:
    """Read `confidence_<name>.json` of version 2.3.2 and AlphaPulldown: pLDDT of each residue."""
    path = file_called(files.folder, f"confidence_{_name_of_model(files)}.json")
    output.put_plddt(values_of(path), path, "confidenceScore")


def pae(files: SideFiles, output: PredictorOutput) -> None:
    """Read `pae_<name>.json`, of version 2.3.2 and later."""
    path = file_called(files.folder, f"pae_{_name_of_model(files)}.json")
    read_pae(path, "predicted_aligned_error", output)


def further(folder: Path) -> list[Path]:
    """Return what counts for the models of a folder: ranked models, and pickles of MassiveFold."""
    pickles = folder / LIGHT_PICKLES
    return [
        *(folder / name for name in _ranked(names_in(folder))),
        *(pickles / name for name in names_in(pickles)),
    ]


ALPHAFOLD2 = Program(
    name="AlphaFold-Multimer",
    model=re.compile(
        r"(?:.*/)?(?:ranked_\d+|(?:ranked_\d+_)?(?:un)?relaxed_(?:[^/]*_)?model_\d+_[^/]+)"
    ),
    files=(
        # `ranked_0`, `unrelaxed_model_1_…`, and MassiveFold's `ranked_0_unrelaxed_model_1_…`
        SideFileNames(
            model=re.compile(
                r"(?P<prefix>.*_)?ranked_(?P<rank>\d+)"
                r"|(?:.*_)?ranked_\d+_(?:(?:un)?relaxed_)?(?P<listed>(?:.*_)?model_\d+.*)"
                r"|(?:un)?relaxed_(?P<name>(?:.*_)?model_\d+.*)"
            ),
            scores=("ranking_debug.json",),
            pae=(
                "pae_{name}{listed}.json",
                "result_{name}{listed}.pkl",
                "confidence_{name}{listed}.json",
                "{stem}.pkl",
            ),
        ),
    ),
    readers=(ranking, result, plddt, pae),
    called="alphafold|af",
    writes=r"ranked_\d+\..*",
    given="msas?",
    unused=r"(?:.*[_.-])?relax_metrics\.json",
    further=further,
    named_alone=True,
    ranks_by_iptm=True,
    proteins_only=True,
)
