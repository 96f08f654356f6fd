"""The models that the page draws: their atoms, contacts and matrices, small and superposed."""

from __future__ import annotations

import functools
import hashlib
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from toporank.building.built import Built
from toporank.building.chunks.store import Store
from toporank.chains.partners import read_chain_map
from toporank.code import GRAPHS, code_of
from toporank.comparing.contacts import residue_contacts
from toporank.confidence.bfactors import BFactors, InFile
from toporank.confidence.matrices import Matrices, matrices_of
from toporank.errors import TopoRankError
from toporank.finding.graph_files import SUFFIX
from toporank.programs.catalogue import files_of_model, looked_for, place_of
from toporank.ranking.interface_words import listed
from toporank.ranking.scored import Scored, ScoredTargets
from toporank.report.contact_maps import contact_maps
from toporank.report.packed import packed_matrices, packed_model
from toporank.report.superposed import superposed, turned
from toporank.structures.complex import Complex
from toporank.structures.identity import DecoyKey
from toporank.structures.read import open_structure, read_complex
from toporank.workers import mapped

ROOM = 2_750_000
"""Characters of structures in a page."""
TYPICAL = 5_000
"""Characters of a structure, by which is decided how many models of each target are drawn."""
OF_BEST, OF_OTHER, OF_ALL = 130_000, 32_000, 1_300_000
"""Characters of the matrices of the best model of a target, of another model, and of a page: five
models of 380 residues have each value, in a page of 0.6 MB.
"""
SAME_PLDDT = 5.0
"""Difference of the mean B factor to the mean pLDDT up to which B factors are shown as pLDDT."""
LARGEST = 40_000_000
"""Bytes of a predictor's file that the page reads; the command `figure` reads any."""
TARGETS_AT_A_TIME = 256
"""Whose models are drawn before it is known whether there is room for more."""
KIND = "drawings"
"""Of the entries in the reuse store, one for each target."""


class Drawn(NamedTuple):
    """A model as the page has it.

    place : in the rows of its target. model : as `packed_model` writes it. matrices : as
    `packed_matrices` does; empty where the predictor has none.
    """

    place: int
    model: str
    matrices: str


class FromFiles:
    """Models from their files, of a folder that was scored before."""

    def model(self, row: Any) -> tuple[Complex, BFactors | None]:
        """Return a model and its B factors.

        Raises
        ------
        TopoRankError, OSError : its file is gone, or is not the one that was scored
        """
        place = row.model - 1 if row.model else None
        in_file = InFile.of(open_structure(Path(row.path)), place)
        return read_complex(Path(row.path), place), in_file.b_factors

    def cached(self, target: str, about: Any, draw: Callable[[], list]) -> list:
        """Return what is drawn."""
        return draw()


class FromStore:
    """Models from the reuse store, which has the atoms of those that were scored now.

    A drawing follows from the result of its target: where the store keeps that, it keeps the
    drawings, too.
    """

    def __init__(self, scored: ScoredTargets, store: Store):
        self.store = store
        self.digests = scored.digests
        self.built = Built.of(scored.plan, scored.rows("fates"))
        self.code = code_of(
            *GRAPHS,
            "comparing",
            "programs",
            "confidence",
            "finding",
            "ranking",
            "report",
        )

    def model(self, row: Any) -> tuple[Complex, BFactors | None]:
        """Return a model and its B factors. Raises as that of `FromFiles`."""
        made = self.built.made((row.target, row.decoy), self.store)
        return made["atoms"], made["in_file"].b_factors

    def cached(self, target: str, about: Any, draw: Callable[[], list]) -> list:
        """Return what is drawn, from the store where it was drawn before.

        about : what it depends on beside the result of the target.
        """
        digest = self.digests[target]
        if not digest:
            return draw()
        key = {"kind": KIND, "code": self.code, "result": digest, "about": about}
        scope = hashlib.sha256(f"{KIND} {target}".encode()).hexdigest()

        def make() -> tuple[bytes, dict[str, Any]]:
            return json.dumps(draw()).encode(), {}

        return json.loads(self.store.cached(scope, key, make).content)


def source_of(scored: Scored) -> FromFiles | FromStore:
    """Return where the atoms of the models are."""
    if isinstance(scored, ScoredTargets) and scored.store:
        return FromStore(scored, scored.store)
    return FromFiles()


def best_distinct(
    models: pd.DataFrame, most: int, named: DecoyKey = ("", "")
) -> dict[str, list[tuple[int, Any]]]:
    """Return target → its models that are looked at, with their places among its rows.

    They are the best that have a score, without copies; the one that was named comes first.

    Graphs of another pipeline have no structure and are left out.

    models : as `Scored.facts`. named : target and name of a further one
    """
    places = models.groupby("target", sort=False).cumcount()
    are_shown = models["dockq"].notna() & (models["duplicate_of"] == "")
    are_shown &= ~models["path"].str.endswith(SUFFIX)
    shown = models[are_shown]
    is_first = shown.groupby("target", sort=False).cumcount() < most
    is_named = (shown["target"] == named[0]) & (shown["decoy"] == named[1])
    shown = pd.concat([shown[is_named], shown[is_first & ~is_named]])
    best: dict[str, list[tuple[int, Any]]] = {
        target: [] for target in models["target"].unique()
    }
    for place, row in zip(places[shown.index], shown.itertuples(), strict=True):
        best[row.target].append((place, row))
    return best


def drawn_models(
    scored: Scored,
    order: Sequence[str],
    named: DecoyKey = ("", ""),
    room: int = ROOM,
) -> dict[str, list[Drawn]]:
    """Return target → its models to draw.

    The best of each target comes first, in the given order, then the second and so on. Of its
    target, the model that was named comes before the best. A model for which there is no room is
    left out, as is one whose file is gone, or has changed into something that cannot be read.

    Parameters
    ----------
    scored : the tables
    order : of the targets
    named : target and name of a model
    room : characters of structures in the page
    """
    most = max(1, room // TYPICAL // max(len(order), 1))
    best = best_distinct(scored.facts, most, named)
    keys = []
    for target, rows in best.items():
        keys += [(target, row.decoy) for _, row in rows]
    tables = _Tables(scored)
    source = source_of(scored)
    rooms = rooms_of_matrices(len(order), len(keys))

    def models_of(target: str) -> list[Drawn]:
        rows = best[target]
        about = [row.decoy for _, row in rows], rooms
        draw = functools.partial(_of_target, scored, source, rows, rooms, tables)
        return [Drawn(*model) for model in source.cached(target, about, draw)]

    workers = scored.workers if isinstance(scored, ScoredTargets) else 1
    drawn: dict[str, list[Drawn]] = {}
    size_of_first = 0
    for first in range(0, len(order), TARGETS_AT_A_TIME):
        if size_of_first > room:
            break
        some = order[first : first + TARGETS_AT_A_TIME]
        for target, models in zip(some, mapped(models_of, some, workers), strict=True):
            if models:
                drawn[target] = models
                size_of_first += len(models[0].model)
    return _with_room(drawn, room)


def rooms_of_matrices(n_targets: int, n_models: int) -> tuple[int, int]:
    """Return the characters for the matrices of the best model of a target, and of another one.

    >>> rooms_of_matrices(1, 5), rooms_of_matrices(60, 300)
    ((130000, 32000), (8125, 2000))
    """
    all_of_them = n_targets * OF_BEST + (n_models - n_targets) * OF_OTHER
    # in steps, so that a few more targets leave the drawings of the others as they are
    halvings = max(0, math.ceil(math.log2(max(all_of_them, 1) / OF_ALL)))
    return OF_BEST >> halvings, OF_OTHER >> halvings


def _with_room(drawn: Mapping[str, list[Drawn]], room: int) -> dict[str, list[Drawn]]:
    """The first model of each target, then the second and so on, as long as there is room."""
    shown: dict[str, list[Drawn]] = {}
    for nth in range(max(map(len, drawn.values()), default=0)):
        for target, models in drawn.items():
            if nth < len(models) and len(models[nth].model) <= room:
                shown.setdefault(target, []).append(models[nth])
                room -= len(models[nth].model)
    return shown


class _Tables:
    """Residues and contacts of the models that are drawn."""

    def __init__(self, scored: Scored):
        self._tables = scored.residues, scored.contacts
        self._places = [table.groupby("target").indices for table in self._tables]

    def of(self, target: str) -> list[dict[str, pd.DataFrame]]:
        """Return the rows of each model of a target in either table, by its name."""
        found = []
        for table, places in zip(self._tables, self._places, strict=True):
            rows = table.iloc[places.get(target, [])]
            found.append(dict(list(rows.groupby("decoy"))))
        return found


def _of_target(
    scored: Scored,
    source: FromFiles | FromStore,
    rows: Iterable[tuple[int, Any]],
    rooms: tuple[int, int],
    tables: _Tables,
) -> list[Drawn]:
    """The models of a target, all superposed on the first that can be read."""
    drawn: list[Drawn] = []
    fixed: Complex | None = None
    for place, row in rows:
        if not drawn:
            residues, contacts = tables.of(row.target)
        key = row.target, row.decoy
        partners = scored.partners.get(key, ())
        try:
            complex_, values = source.model(row)
            complex_ = complex_.with_partners(partners).without_hydrogens()
            if fixed is None:
                fixed, first = turned(complex_), row
        except (TopoRankError, OSError):
            continue
        chains = _same_chains(complex_, row, fixed, first)
        of_model = contacts.get(row.decoy, scored.contacts[:0])
        bodies = partners or complex_.bodies
        confidence = scored.stated.get(key)
        room = rooms[bool(drawn)]
        matrices, why = _matrices(row, complex_, values, room)
        maps = contact_maps(of_model, partners)
        head = {"partners": bodies, "maps": maps, "no_pae": why}
        model = packed_model(
            superposed(complex_, fixed, chains),
            np.unique(residue_contacts(complex_)),
            quality_of(complex_, residues.get(row.decoy, pd.DataFrame())),
            plddt_of(complex_, values, confidence.plddt if confidence else None),
            head,
        )
        drawn.append(Drawn(place, model, matrices))
    return drawn


def _same_chains(
    complex_: Complex, row: Any, other: Complex, other_row: Any
) -> dict[str, str | None]:
    """The chains of a model → those of another model of the target, by the target's names."""
    chain_map, other_map = read_chain_map(row.chains), read_chain_map(other_row.chains)
    names = {other_map.get(chain, chain): chain for chain in other.chains}
    return {chain: names.get(chain_map.get(chain, chain)) for chain in complex_.chains}


def plddt_of(
    complex_: Complex, values: BFactors | None, mean: float | None
) -> np.ndarray | None:
    """Return pLDDT of residues, 0 to 100, (R,): B factors whose mean is the predictor's."""
    if values is None or mean is None:
        return None
    mean_of_file = np.mean(list(values.of_residues.values()))
    return values.of(complex_) if abs(mean_of_file - mean) <= SAME_PLDDT else None


def quality_of(complex_: Complex, rows: pd.DataFrame) -> np.ndarray:
    """Return the quality of each residue in per cent, nan where it is unknown: (R,)."""
    predicted = {}
    for row in rows.itertuples():
        if not np.isnan(row.pred_quality):
            predicted[f"{row.chain}:{row.residue}"] = 100 * row.pred_quality
    return np.array(
        [predicted.get(str(residue), np.nan) for residue in complex_.residues]
    )


def _matrices(
    row: Any, complex_: Complex, values: BFactors | None, room: int
) -> tuple[str, str]:
    """The matrices of a model, and why there is no PAE.

    They are empty without files, or where one is too large for the page or does not fit the model.
    """
    try:
        place = place_of(Path(row.path))
        files = files_of_model(place)
        if files is None:
            return "", _nothing_beside(place)
        for file in (files.scores, files.pae, files.plddt):
            if file and file.stat().st_size > LARGEST:
                return "", f"{file.name} is too large for the page"
        matrices = matrices_of(Path(row.path), complex_, values)
    except (TopoRankError, OSError) as error:
        return "", error.reason if isinstance(error, TopoRankError) else str(error)
    return packed_matrices(matrices, complex_, room), matrices.problem


def _nothing_beside(model: Path) -> str:
    names = looked_for(model)
    if not names:
        return "no file of a predictor belongs to it, by its name"
    return (
        f"no confidence file lies beside it (TopoRank looks for {listed(names, 'or')})"
    )


def matrices_of_model(row: Any, scored: Scored) -> Matrices:
    """Return the matrices of a model, at full resolution. row : of `model_table`.

    Raises
    ------
    TopoRankError, OSError : there are none that fit, or the file of the model is gone
    """
    complex_, values = source_of(scored).model(row)
    partners = scored.partners.get((row.target, row.decoy), ())
    return matrices_of(Path(row.path), complex_.with_partners(partners), values)
