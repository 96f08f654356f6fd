"""The structures that the page shows in three dimensions: small, superposed, packed."""

from __future__ import annotations

import base64
import gzip
import string
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import gemmi
import numpy as np
import pandas as pd

from toporank import layout
from toporank.comparing.contacts import residue_contacts
from toporank.comparing.correspondence import Trace, matched, read_chain_map, traces
from toporank.comparing.native.dockq import FEWEST, superposition
from toporank.errors import TopoRankError
from toporank.inputs.confidence.bfactors import b_factors
from toporank.inputs.confidence.table import Confidence
from toporank.inputs.graph_files import SUFFIX
from toporank.ranking.models import model_file
from toporank.ranking.residues import ContactRow, ResidueRow
from toporank.report.results import Key, ScoredFolder
from toporank.structures.complex import Complex
from toporank.structures.partners import Partners
from toporank.structures.read import open_structure, read_complex

MOST = 5
"""Decoys of a target that are embedded."""
MANY_TARGETS = 100
"""With this many targets, only the best model of each is embedded."""
BUDGET = 2_500_000
"""Characters of structures in a page."""
LEVEL = 6
"""Of compression: the highest takes twice the time and saves a hundredth."""
SAME_PLDDT = 5.0
"""Difference of the mean B factor to the mean pLDDT up to which B factors are shown as pLDDT."""
TRIES = 20
"""Decoys in a row for which there is no room, after which the page is full."""
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


@dataclass(frozen=True)
class Shown:
    """A model as the page has it.

    Attributes
    ----------
    place : in the rows of its target
    partners : chains of each
    touching : places of the residues in contact, among the residues of `packed`
    quality : predicted quality of each residue of `packed` in per cent, nan where unknown, shape
        (R,)
    plddt : likewise, pLDDT; None where the predictor says nothing
    packed : its atoms as `cif_text`, compressed
    contacts : of the model, as `contact_maps` gives them
    """

    place: int
    partners: Partners
    touching: list[int]
    quality: np.ndarray
    plddt: np.ndarray | None
    packed: str
    contacts: list[dict[str, Any]]


def file_to_show(folder: Path, row: Any) -> Path:
    """Return the file of a model for people to look at: with quality as B factor where there is
    one, else its own.

    folder : with its models.csv. row : of that table.
    """
    graded = model_file(folder / Path(layout.MODELS).name, row)
    return graded if graded.is_file() else Path(row.path)


def best_distinct(rows: pd.DataFrame, most: int = MOST) -> list[tuple[int, Any]]:
    """Return the models of a target that are looked at, with their places: the best that have a
    score, without copies.

    Graphs of another pipeline have no structure and are left out.
    """
    found = []
    for place, row in enumerate(rows.itertuples()):
        if not np.isnan(row.dockq) and not row.duplicate_of and not row.path.endswith(SUFFIX):
            found.append((place, row))
    return found[:most]


def embedded(
    scored: ScoredFolder, order: Iterable[str], budget: int = BUDGET
) -> dict[str, list[Shown]]:
    """Return target → its models to show; the best of each target first, in the given order, then
    the second …

    The page holds at most `budget` characters of them: a model for which there is no room is left
    out, as is one whose file is gone, or has changed into something that cannot be read.
    """
    groups = dict(list(scored.models.groupby("target", sort=False)))
    most = MOST if len(groups) < MANY_TARGETS else 1
    chosen = {target: best_distinct(groups[target], most) for target in order}
    keys = [(target, row.decoy) for target, rows in chosen.items() for _, row in rows[:most]]
    residues, contacts = scored.residues(keys), scored.contacts(keys)
    drawings = [
        (target, _of_target(scored, rows, residues, contacts)) for target, rows in chosen.items()
    ]
    found: dict[str, list[Shown]] = {}
    in_vain = 0
    for _ in range(most):
        for target, models in drawings:
            shown = next(models, None)
            if shown is None:
                continue
            if len(shown.packed) <= budget:
                found.setdefault(target, []).append(shown)
                budget -= len(shown.packed)
                in_vain = 0
            else:
                in_vain += 1
                if in_vain == TRIES:
                    return found
    return found


def _of_target(
    scored: ScoredFolder,
    rows: list[tuple[int, Any]],
    residues: Mapping[Key, list[ResidueRow]],
    contacts: Mapping[Key, list[ContactRow]],
) -> Iterator[Shown]:
    """The models of a target one by one, all superposed on the first."""
    first: Complex | None = None
    names: dict[str, str] = {}
    for place, row in rows:
        key = row.target, row.decoy
        path = file_to_show(scored.folder, row)
        try:
            in_file = row.model - 1 if path == Path(row.path) and row.model else None
            complex_ = read_complex(path, in_file).without_hydrogens()
            complex_ = complex_.with_partners(scored.partners.get(key, ()))
            plddt = _plddt(row, complex_, scored.confidence.get(key))
        except (TopoRankError, OSError):  # the file is gone, or is not the one that was scored
            continue
        chain_map = read_chain_map(row.chains)
        if first is None:
            first = _turned(complex_)
            names = {chain_map.get(chain, chain): chain for chain in complex_.chains}
        same = {chain: names.get(chain_map.get(chain, chain)) for chain in complex_.chains}
        complex_ = superposed(complex_, first, same)
        touching = np.unique(residue_contacts(complex_))
        protein = complex_.is_protein
        nth = np.cumsum(protein) - 1
        packed = gzip.compress(cif_text(complex_, touching).encode(), LEVEL, mtime=0)
        yield Shown(
            place=place,
            partners=scored.partners.get(key, ()) or complex_.bodies,
            touching=nth[touching].tolist(),
            quality=_quality(complex_, residues.get(key, ()))[protein],
            plddt=None if plddt is None else plddt[protein],
            packed=base64.b64encode(packed).decode(),
            contacts=contact_maps(contacts.get(key, ()), scored.partners.get(key, ())),
        )


def _plddt(row: Any, complex_: Complex, stated: Confidence | None) -> np.ndarray | None:
    """pLDDT of each residue, 0 to 100, shape (R,): the B factors of the file where their mean is
    the stated pLDDT.
    """
    if stated is None or stated.plddt is None:
        return None
    path = Path(row.path)
    values = b_factors(open_structure(path), row.model - 1 if row.model else None)
    if values is None:
        return None
    mean = np.mean(list(values.of_residues.values()))
    return values.of(complex_) if abs(mean - stated.plddt) <= SAME_PLDDT else None


def contact_maps(contacts: Iterable[ContactRow], partners: Partners) -> list[dict[str, Any]]:
    """Return a map for each two partners that touch, those with most contacts first.

    Each has `name`, such as `A:H+L`; `a` and `b`, the residues of either partner, such as `A 52
    LYS`, in order; and `k`: for each contact the places of its residues in both, and its quality in
    per cent, one after the other.
    """
    partner_of = {chain: place for place, chains in enumerate(partners) for chain in chains}
    maps: dict[tuple[str, str], list[ContactRow]] = {}
    for row in contacts:
        pair = [_partner_name(chain, partners, partner_of) for chain in (row.chain_1, row.chain_2)]
        maps.setdefault((pair[0], pair[1]), []).append(row)
    drawn = []
    for (first, second), rows in sorted(maps.items(), key=lambda item: -len(item[1])):
        a = sorted({(row.chain_1, _in_chain(row.residue_1), row.residue_name_1) for row in rows})
        b = sorted({(row.chain_2, _in_chain(row.residue_2), row.residue_name_2) for row in rows})
        cells: list[int] = []
        for row in rows:
            cells.append(a.index((row.chain_1, _in_chain(row.residue_1), row.residue_name_1)))
            cells.append(b.index((row.chain_2, _in_chain(row.residue_2), row.residue_name_2)))
            cells.append(round(100 * (row.pred_quality or 0)))
        drawn.append(
            {
                "name": f"{first}:{second}",
                "a": [*map(_label, a)],
                "b": [*map(_label, b)],
                "k": cells,
            }
        )
    return drawn


def _partner_name(chain: str, partners: Partners, partner_of: Mapping[str, int]) -> str:
    return "+".join(partners[partner_of[chain]]) if chain in partner_of else chain


def _in_chain(residue: str) -> tuple[int, str]:
    """Number and insertion code of a residue, to sort by."""
    digits = residue.rstrip(string.ascii_letters)
    return int(digits), residue[len(digits) :]


def _label(residue: tuple[str, tuple[int, str], str]) -> str:
    chain, (number, insertion), name = residue
    return f"{chain} {number}{insertion} {name}".strip()


def cif_text(complex_: Complex, touching: np.ndarray) -> str:
    """Backbone of all protein residues and side chains of those in contact as mmCIF, coordinates to
    0.1 Å.

    touching : places of residues in contact.
    """
    protein, lines = complex_.is_protein, [HEAD]
    whole = np.zeros(len(complex_.residues), dtype=bool)
    whole[touching] = True
    kept = protein[complex_.residue_of] & (
        whole[complex_.residue_of] | np.isin(complex_.atom_names, BACKBONE)
    )
    of_residues = []
    for parent, (chain, number, insertion) in zip(complex_.parents, complex_.residues, strict=True):
        of_residues.append(
            f"{parent} {gemmi.cif.quote(chain)} {number} {insertion.strip() or '?'} . 1 0 ATOM"
        )
    shown = (
        complex_.atom_names[kept].tolist(),
        complex_.residue_of[kept].tolist(),
        complex_.xyz[kept].tolist(),
    )
    labels = {
        name: f"{gemmi.cif.quote(name.decode())} {name.decode()[0]}" for name in set(shown[0])
    }
    for n, (name, r, (x, y, z)) in enumerate(zip(*shown, strict=True), 1):
        lines.append(f"{n} {labels[name]} {of_residues[r]} {x:.1f} {y:.1f} {z:.1f}\n")
    return "".join(lines)


def superposed(mobile: Complex, fixed: Complex, chains: Mapping[str, str | None]) -> Complex:
    """A complex moved on another by the CA atoms of the largest partner they share; else as it is.

    chains : of the first → of the second.
    """
    pairs = [
        (mobile.ca[i], fixed.ca[j], fixed.body_of[j]) for i, j in _in_common(mobile, fixed, chains)
    ]
    if not pairs:
        return mobile
    places = np.array(pairs)
    largest = np.bincount(places[:, 2]).argmax()
    places = places[places[:, 2] == largest]
    if len(places) < FEWEST:
        return mobile
    turn, shift = superposition(mobile.xyz[places[:, 0]], fixed.xyz[places[:, 1]])
    return replace(mobile, xyz=mobile.xyz @ turn + shift)


def _in_common(
    one: Complex, other: Complex, chains: Mapping[str, str | None]
) -> list[tuple[int, int]]:
    """Places of the residues that two complexes share, which have a CA and belong to a partner in
    the second.
    """
    first, second = (_traces(complex_) for complex_ in (one, other))
    return [
        (int(trace.index[k]), int(second[chain].index[place]))
        for name, trace in first.items()
        if (chain := chains.get(name)) in second
        for k, place in enumerate(matched(second[chain], trace))
        if place >= 0 and other.body_of[second[chain].index[place]] >= 0
    ]


def _traces(complex_: Complex) -> dict[str, Trace]:
    """The chains of a complex: their residues with a CA."""
    kept = np.flatnonzero(complex_.ca >= 0)
    of_residues = complex_.letters
    letters = "".join(of_residues[r] for r in kept)
    found = traces(
        (complex_.residues[r] for r in kept),
        letters,
        complex_.xyz[complex_.ca[kept]],
        np.zeros((0, 2), int),
    )
    return {name: trace._replace(index=kept[trace.index]) for name, trace in found.chains.items()}


def _turned(complex_: Complex) -> Complex:
    """With its centre at the origin, and the largest partner to the left of the others."""
    used = np.flatnonzero((complex_.ca >= 0) & (complex_.body_of >= 0))
    xyz, body = complex_.xyz[complex_.ca[used]], complex_.body_of[used]
    if len(used) < FEWEST:
        return complex_
    left = body == np.bincount(body).argmax()
    centred = xyz - xyz.mean(axis=0)
    across = (
        centred[~left].mean(axis=0) - centred[left].mean(axis=0) if (~left).any() else centred[0]
    )
    x = across / np.linalg.norm(across)
    flat = centred - np.outer(centred @ x, x)
    y = np.linalg.svd(flat, full_matrices=False)[2][0]
    return replace(
        complex_, xyz=(complex_.xyz - xyz.mean(axis=0)) @ np.stack([x, y, np.cross(x, y)], axis=1)
    )


def _quality(complex_: Complex, rows: Iterable[ResidueRow]) -> np.ndarray:
    """Quality of each residue in per cent, nan where it is unknown: (R,)."""
    known = {
        f"{row.chain}:{row.residue}": row.pred_quality
        for row in rows
        if row.pred_quality is not None
    }
    return np.array([100 * known.get(str(residue), np.nan) for residue in complex_.residues])


def for_script(shown: Mapping[str, list[Shown]]) -> dict[str, list[dict[str, Any]]]:
    """Return what the page's script reads: for each target its models.

    i : place, p : partners, t : residues in contact, q and b : quality and pLDDT of residues, z :
    atoms, c : contact maps.
    """
    models = {}
    for target, of_target in shown.items():
        models[target] = [
            {
                "i": each.place,
                "p": [list(chains) for chains in each.partners],
                "t": each.touching,
                "q": _whole(each.quality),
                "b": "" if each.plddt is None else _whole(each.plddt),
                "z": each.packed,
                "c": each.contacts,
            }
            for each in of_target
        ]
    return models


def _whole(values: np.ndarray) -> str:
    """Whole numbers with blanks between, `-` where one is unknown; empty if all are."""
    if np.isnan(values).all():
        return ""
    return " ".join("-" if np.isnan(value) else f"{value:.0f}" for value in values)
