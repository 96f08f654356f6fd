"""The structures that the page shows in three dimensions: small, superposed, packed."""

from __future__ import annotations

import base64
import functools
import gzip
import hashlib
import json
import string
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import gemmi
import numpy as np
import pandas as pd

from toporank import layout
from toporank.building.chunks.store import Store
from toporank.code import GRAPHS, code_of
from toporank.comparing.contacts import residue_contacts
from toporank.comparing.correspondence import Trace, matched, read_chain_map, traces
from toporank.comparing.native.dockq import FEWEST, superposition
from toporank.errors import TopoRankError
from toporank.inputs.confidence.bfactors import b_factors
from toporank.inputs.confidence.table import Confidence
from toporank.inputs.graph_files import SUFFIX
from toporank.ranking.models import model_file
from toporank.ranking.scored import Scored, of_models
from toporank.ranking.target_result import TargetResult
from toporank.structures.complex import Complex
from toporank.structures.identity import DecoyKey
from toporank.structures.partners import Partners
from toporank.structures.read import open_structure, read_complex

MOST = 5
"""Decoys of a target that are embedded."""
MANY_TARGETS = 100
"""With this many targets, only the best model of each is embedded."""
BUDGET = 2_500_000
"""Characters of structures in a page."""
SURE = 0.5
"""Quality from which the page counts a contact."""
LEVEL = 6
"""Of compression: the highest takes twice the time and saves a hundredth."""
SAME_PLDDT = 5.0
"""Difference of the mean B factor to the mean pLDDT up to which B factors are shown as pLDDT."""
TRIES = 20
"""Decoys in a row for which there is no room, after which the page is full."""
PARTNER_COLOURS = (
    "#2b7bba",
    "#e08a1e",
    "#8d63b5",
    "#2f9e73",
    "#c4526b",
    "#7d8a24",
    "#4aa3b8",
    "#a0694b",
)
QUALITY_COLOURS = ("#c8501e", "#e8c468", "#7fb8d8", "#1c5fa8")
"""Of quality from 0 to 1, here, in figures and in other programs."""
PLDDT_COLOURS = ((90, "#0053d6"), (70, "#65cbf3"), (50, "#ffdb13"), (0, "#ff7d45"))
"""AlphaFold's: lowest pLDDT of each colour."""
KIND = "drawing"
"""Of the entries in the reuse store."""
BACKBONE = (b"N", b"CA", b"C", b"O")
HEAD = """data_shown
loop_
_atom_site.id
_atom_site.label_atom_id
_atom_site.type_symbol
_atom_site.label_comp_id
_atom_site.label_asym_id
_atom_site.auth_seq_id
_atom_site.pdbx_PDB_ins_code
_atom_site.label_alt_id
_atom_site.occupancy
_atom_site.B_iso_or_equiv
_atom_site.group_PDB
_atom_site.Cartn_x
_atom_site.Cartn_y
_atom_site.Cartn_z
"""


OfModels = tuple[Mapping[DecoyKey, pd.DataFrame], Mapping[DecoyKey, pd.DataFrame]]
"""(target, decoy) → rows of residues.csv, and rows of contacts.csv."""


@dataclass(frozen=True)
class Shown:
    """A model as the page has it.

    Attributes
    ----------
    place : in the rows of its target
    partners : chains of each
    touching : places of the residues in contact, among the residues of `packed`
    quality : predicted quality of each residue of `packed` in per cent, as `_whole` writes them
    plddt : likewise, pLDDT; empty where the predictor says nothing
    packed : its atoms as `cif_text`, compressed
    contacts : of the model, as `contact_maps` gives them
    """

    place: int
    partners: Partners
    touching: list[int]
    quality: str
    plddt: str
    packed: str
    contacts: list[dict[str, Any]]


class Drawings:
    """Scored targets whose models are drawn, and those that were drawn before, in a reuse store.

    A drawing follows from the result of its target: where the store keeps that, it keeps the
    drawings, too.

    Parameters
    ----------
    store : the reuse store
    results : of all targets
    """

    def __init__(self, store: Store, results: Iterable[TargetResult]):
        self.store = store
        self.results = {result.target: result for result in results}
        self.code = code_of(*GRAPHS, "comparing", "inputs", "ranking", "report")

    def find(self, row: Any, first: str) -> Shown | None:
        """Return a model as it was drawn on the first of its target, if it was."""
        if not self.results[row.target].digest:
            return None
        entry = self.store.lookup(self._scope(row.target), self._key(row, first))
        return Shown(**json.loads(entry.content)) if entry else None

    def keep(self, row: Any, first: str, shown: Shown) -> None:
        """Keep a drawn model, if the result of its target is kept."""
        if self.results[row.target].digest:
            content = json.dumps(asdict(shown)).encode()
            key = self._key(row, first)
            self.store.cached(self._scope(row.target), key, lambda: (content, {}))

    def _scope(self, target: str) -> str:
        return hashlib.sha256(f"{KIND} {target}".encode()).hexdigest()

    def _key(self, row: Any, first: str) -> dict[str, str]:
        return {
            "kind": KIND,
            "code": self.code,
            "result": self.results[row.target].digest,
            "decoy": row.decoy,
            "first": first,
        }


def file_to_show(folder: Path | None, row: Any) -> Path:
    """Return the file of a model for people to look at.

    It has quality as B factor where there is one, and is its own file otherwise.

    folder : with its models.csv; None where nothing was written. row : of that table.
    """
    if folder is None:
        return Path(row.path)
    graded = model_file(folder / Path(layout.MODELS).name, row)
    return graded if graded.is_file() else Path(row.path)


def best_distinct(
    models: pd.DataFrame, most: int = MOST, named: DecoyKey = ("", "")
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


def embedded(
    scored: Scored,
    order: Iterable[str],
    budget: int = BUDGET,
    drawings: Drawings | None = None,
    named: DecoyKey = ("", ""),
) -> dict[str, list[Shown]]:
    """Return target → its models to show.

    The best of each target comes first, in the given order, then the second and so on. Of its
    target, the model that was named comes before the best.

    The page holds at most `budget` characters of them: a model for which there is no room is left
    out, as is one whose file is gone, or has changed into something that cannot be read.
    """
    most = MOST if scored.facts["target"].nunique() < MANY_TARGETS else 1
    best = best_distinct(scored.facts, most, named)
    keys = []
    for target, rows in best.items():
        keys += [(target, row.decoy) for _, row in rows]

    @functools.cache
    def read_rows() -> OfModels:
        return of_models(scored.residues, keys), of_models(scored.contacts, keys)

    of_targets = {}
    for target in order:
        of_targets[target] = _of_target(scored, best[target], drawings, read_rows)
    shown: dict[str, list[Shown]] = {}
    n_in_vain = 0
    for _ in range(max(map(len, best.values()), default=0)):
        for target, models in of_targets.items():
            model = next(models, None)
            if model is None:
                continue
            if len(model.packed) <= budget:
                shown.setdefault(target, []).append(model)
                budget -= len(model.packed)
                n_in_vain = 0
            else:
                n_in_vain += 1
                if n_in_vain == TRIES:
                    return shown
    return shown


def _of_target(
    scored: Scored,
    rows: list[tuple[int, Any]],
    drawings: Drawings | None,
    read_rows: Callable[[], OfModels],
) -> Iterator[Shown]:
    """The models of a target one by one, all superposed on the first that can be read.

    read_rows : gives residues and contacts of all models
    """
    first: Any = None
    fixed: Complex | None = None
    for place, row in rows:
        superposed_on = first.decoy if first else ""
        shown = drawings.find(row, superposed_on) if drawings else None
        if shown is None:
            try:
                complex_, plddt = _read(scored, row)
                if fixed is None:
                    fixed = _turned(_read(scored, first)[0] if first else complex_)
            except (TopoRankError, OSError):
                continue  # the file is gone, or is not the one that was scored
            chains = _same_chains(complex_, row, fixed, first or row)
            complex_ = superposed(complex_, fixed, chains)
            partners = scored.partners.get((row.target, row.decoy), ())
            shown = _drawn(place, row, complex_, plddt, partners, read_rows())
            if drawings:
                drawings.keep(row, superposed_on, shown)
        first = first or row
        yield shown


def _read(scored: Scored, row: Any) -> tuple[Complex, np.ndarray | None]:
    """A model without hydrogens, and its pLDDT, as `_plddt` gives it."""
    key = row.target, row.decoy
    path = file_to_show(scored.folder, row)
    in_file = row.model - 1 if path == Path(row.path) and row.model else None
    complex_ = read_complex(path, in_file).without_hydrogens()
    complex_ = complex_.with_partners(scored.partners.get(key, ()))
    return complex_, _plddt(row, complex_, scored.stated.get(key))


def _same_chains(
    complex_: Complex, row: Any, other: Complex, other_row: Any
) -> dict[str, str | None]:
    """The chains of a model → those of another model of the target, by the target's names."""
    chain_map, other_map = read_chain_map(row.chains), read_chain_map(other_row.chains)
    names = {other_map.get(chain, chain): chain for chain in other.chains}
    return {chain: names.get(chain_map.get(chain, chain)) for chain in complex_.chains}


def _drawn(
    place: int,
    row: Any,
    complex_: Complex,
    plddt: np.ndarray | None,
    partners: Partners,
    rows_of: OfModels,
) -> Shown:
    """A model, superposed, as the page has it."""
    residues, contacts = rows_of
    key = row.target, row.decoy
    touching = np.unique(residue_contacts(complex_))
    protein = complex_.is_protein
    nth = np.cumsum(protein) - 1
    packed = gzip.compress(cif_text(complex_, touching).encode(), LEVEL, mtime=0)
    quality = _quality(complex_, residues.get(key, pd.DataFrame()))
    return Shown(
        place=place,
        partners=partners or complex_.bodies,
        touching=nth[touching].tolist(),
        quality=_whole(quality[protein]),
        plddt="" if plddt is None else _whole(plddt[protein]),
        packed=base64.b64encode(packed).decode(),
        contacts=contact_maps(contacts.get(key, pd.DataFrame()), partners),
    )


def _plddt(
    row: Any, complex_: Complex, confidence: Confidence | None
) -> np.ndarray | None:
    """pLDDT of each residue, 0 to 100, shape (R,).

    They are the B factors of the file where their mean is the pLDDT of the predictor.
    """
    if confidence is None or confidence.plddt is None:
        return None
    path = Path(row.path)
    values = b_factors(open_structure(path), row.model - 1 if row.model else None)
    if values is None:
        return None
    mean = np.mean(list(values.of_residues.values()))
    return values.of(complex_) if abs(mean - confidence.plddt) <= SAME_PLDDT else None


def contact_maps(contacts: pd.DataFrame, partners: Partners) -> list[dict[str, Any]]:
    """Return a map for each two partners that touch, those with most contacts first.

    Each has `name`, such as `A:H+L`; `a` and `b`, the residues of either partner, such as `A 52
    LYS`, in order; `k`: for each contact the places of its residues in both, and its quality in
    per cent, one after the other; and `s`, the number of contacts with a quality of `SURE` or more.
    """
    partner_of: dict[str, str] = {}
    for chains in partners:
        partner_of |= dict.fromkeys(chains, "+".join(chains))
    of_pairs = defaultdict(list)
    for row in contacts.itertuples():
        first = partner_of.get(row.chain_1, row.chain_1)
        second = partner_of.get(row.chain_2, row.chain_2)
        residue_1 = _residue(row.chain_1, row.residue_1, row.residue_name_1)
        residue_2 = _residue(row.chain_2, row.residue_2, row.residue_name_2)
        quality = float(np.nan_to_num(row.pred_quality))
        of_pairs[f"{first}:{second}"].append((residue_1, residue_2, quality))
    maps = []
    for name, cells in of_pairs.items():
        residues_1, residues_2, _ = map(set, zip(*cells, strict=True))
        places_1 = {residue: place for place, residue in enumerate(sorted(residues_1))}
        places_2 = {residue: place for place, residue in enumerate(sorted(residues_2))}
        flat: list[int] = []
        for residue_1, residue_2, quality in cells:
            flat += places_1[residue_1], places_2[residue_2], round(100 * quality)
        drawn = {"name": name, "a": _labels(places_1), "b": _labels(places_2)}
        n_sure = sum(quality >= SURE for _, _, quality in cells)
        maps.append({**drawn, "k": flat, "s": n_sure})
    return sorted(maps, key=lambda drawn: -len(drawn["k"]))


def _residue(chain: str, residue: str, name: str) -> tuple[str, int, str, str]:
    """A residue such as 52A, to sort by: chain, number, insertion code and name."""
    digits = residue.rstrip(string.ascii_letters)
    return chain, int(digits), residue[len(digits) :], name


def _labels(residues: Iterable[tuple[str, int, str, str]]) -> list[str]:
    labels = []
    for chain, number, insertion, name in residues:
        labels.append(f"{chain} {number}{insertion} {name}".strip())
    return labels


def cif_text(complex_: Complex, touching: np.ndarray) -> str:
    """Return backbone and side chains in contact of the protein as mmCIF, coordinates to 0.1 Å.

    touching : places of residues in contact.
    """
    residue_of = complex_.residue_of
    is_whole = np.isin(residue_of, touching)
    is_backbone = np.isin(complex_.atom_names, BACKBONE)
    atoms = np.flatnonzero(complex_.is_protein[residue_of] & (is_whole | is_backbone))
    of_residues = []
    for parent, (chain, number, insertion) in zip(
        complex_.parents, complex_.residues, strict=True
    ):
        place = f"{gemmi.cif.quote(chain)} {number} {insertion.strip() or '?'}"
        of_residues.append(f"{parent} {place} . 1 0 ATOM")
    names = [name.decode() for name in complex_.atom_names[atoms].tolist()]
    lines = [HEAD]
    labels = {name: f"{gemmi.cif.quote(name)} {name[0]}" for name in set(names)}
    rows = zip(
        names, residue_of[atoms].tolist(), complex_.xyz[atoms].tolist(), strict=True
    )
    for n, (name, r, (x, y, z)) in enumerate(rows, 1):
        lines.append(f"{n} {labels[name]} {of_residues[r]} {x:.1f} {y:.1f} {z:.1f}\n")
    return "".join(lines)


def superposed(
    mobile: Complex, fixed: Complex, chains: Mapping[str, str | None]
) -> Complex:
    """A complex moved on another by the CA atoms of the largest partner they share; else as it is.

    chains : of the first → of the second.
    """
    of_mobile, of_fixed = _traces(mobile), _traces(fixed)
    moved = [np.zeros(0, int)]
    partners = [np.zeros(0, int)]
    for name, trace in of_mobile.items():
        other = of_fixed.get(chains.get(name))
        if other is not None:
            places = np.asarray(matched(other, trace))
            moved.append(trace.index[places >= 0])
            partners.append(other.index[places[places >= 0]])
    residues, others = np.concatenate(moved), np.concatenate(partners)
    bodies = fixed.body_of[others]
    if not (bodies >= 0).any():
        return mobile
    in_largest = bodies == np.bincount(bodies[bodies >= 0]).argmax()
    if in_largest.sum() < FEWEST:
        return mobile
    xyz = mobile.xyz[mobile.ca[residues[in_largest]]]
    turn, shift = superposition(xyz, fixed.xyz[fixed.ca[others[in_largest]]])
    return replace(mobile, xyz=mobile.xyz @ turn + shift)


def _traces(complex_: Complex) -> dict[str, Trace]:
    """The chains of a complex: their residues with a CA."""
    residues = np.flatnonzero(complex_.ca >= 0)
    of_complex = traces(
        [complex_.residues[r] for r in residues],
        "".join(complex_.letters[r] for r in residues),
        complex_.xyz[complex_.ca[residues]],
        np.zeros((0, 2), int),
    )
    chains = {}
    for name, trace in of_complex.chains.items():
        chains[name] = trace._replace(index=residues[trace.index])
    return chains


def _turned(complex_: Complex) -> Complex:
    """With its centre at the origin, and the largest partner to the left of the others."""
    residues = np.flatnonzero((complex_.ca >= 0) & (complex_.body_of >= 0))
    if len(residues) < FEWEST:
        return complex_
    xyz, body = complex_.xyz[complex_.ca[residues]], complex_.body_of[residues]
    centre = xyz.mean(axis=0)
    xyz = xyz - centre
    left = body == np.bincount(body).argmax()
    across = xyz[0]
    if not left.all():
        across = xyz[~left].mean(axis=0) - xyz[left].mean(axis=0)
    x = across / np.linalg.norm(across)
    flat = xyz - np.outer(xyz @ x, x)
    y = np.linalg.svd(flat, full_matrices=False)[2][0]
    axes = np.stack([x, y, np.cross(x, y)], axis=1)
    return replace(complex_, xyz=(complex_.xyz - centre) @ axes)


def _quality(complex_: Complex, rows: pd.DataFrame) -> np.ndarray:
    """Quality of each residue in per cent, nan where it is unknown: (R,)."""
    predicted = {}
    for row in rows.itertuples():
        if not np.isnan(row.pred_quality):
            predicted[f"{row.chain}:{row.residue}"] = 100 * row.pred_quality
    return np.array(
        [predicted.get(str(residue), np.nan) for residue in complex_.residues]
    )


def for_script(shown: Mapping[str, list[Shown]]) -> dict[str, list[dict[str, Any]]]:
    """Return what the page's script reads: for each target its models.

    Its keys are i, the place; p, partners; t, residues in contact; q and b, quality and pLDDT of
    residues; z, atoms; and c, contact maps.
    """
    of_targets: dict[str, list[dict[str, Any]]] = {}
    for target, models in shown.items():
        of_targets[target] = []
        for model in models:
            columns = {
                "i": model.place,
                "p": model.partners,
                "t": model.touching,
                "q": model.quality,
                "b": model.plddt,
                "z": model.packed,
                "c": model.contacts,
            }
            of_targets[target].append(columns)
    return of_targets


def _whole(values: np.ndarray) -> str:
    """Whole numbers with blanks between, `-` where one is unknown; empty if all are."""
    if np.isnan(values).all():
        return ""
    return " ".join("-" if np.isnan(value) else f"{value:.0f}" for value in values)
