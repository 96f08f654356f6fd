"""The structures that the page shows in three dimensions: small, superposed, packed."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import gemmi
import numpy as np

from toporank import layout
from toporank.comparing.contacts import residue_contacts
from toporank.comparing.correspondence import Trace, matched, read_chain_map, traces
from toporank.comparing.native.dockq import FEWEST, superposition
from toporank.errors import TopoRankError
from toporank.ranking.models import model_file
from toporank.ranking.residues import ResidueRow
from toporank.report.results import Result, Study, by_target
from toporank.structures.complex import Complex
from toporank.structures.partners import Partners, chains_of
from toporank.structures.read import read_complex

MOST = 5
"""Decoys of a target that are embedded."""
BUDGET = 1_000_000
"""Characters of structures in a page."""
LEVEL = 6
"""Of compression: the highest takes twice the time and saves a hundredth."""
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


class Shown(NamedTuple):
    """A decoy as the page has it: its place in its target, its partners, and its atoms as `cif_text`, packed.

    touching : which of the residues that the text has are in contact. graded : whether B-factors are quality.
    """

    decoy: int
    partners: Partners
    touching: list[int]
    graded: bool
    packed: str


def file_to_show(scores: Path, row: Result) -> Path:
    """The file of a decoy for people to look at: with quality as B-factor where there is one, else its own.

    scores : folder of the ranking of its data set.
    """
    graded = model_file(scores / Path(layout.MODELS).name, row)
    return graded if graded.is_file() else Path(row.path)


def best_distinct(rows: Iterable[Result], most: int = MOST) -> list[tuple[int, Result]]:
    """The decoys of a target that are looked at, with their places: the best that have a score, without copies.

    None of those that are graphs of another pipeline.
    """
    scored = [(i, row) for i, row in enumerate(rows) if row.pred_dockq is not None and not row.duplicate_of]
    return [(i, row) for i, row in scored[:most] if not row.is_graph]


def embedded(study: Study, budget: int = BUDGET) -> dict[int, list[Shown]]:
    """Place of a target among `by_target` → its decoys to show; the best of each target first, then the second …

    The page holds at most `budget` characters of them: a decoy for which there is no room is left out, as is one whose
    file is gone, or has changed into something that cannot be read.
    """
    partners = partners_of_decoys(study)
    targets = [
        _of_target(rows, study.folders[dataset], partners, study.residues.get(dataset, {}))
        if dataset in study.folders
        else iter(())
        for (dataset, _), rows in by_target(study.decoys)
    ]
    found: dict[int, list[Shown]] = {}
    in_vain = 0
    for _ in range(MOST):
        for i, decoys in enumerate(targets):
            shown = next(decoys, None)
            if shown is None:
                continue
            if len(shown.packed) <= budget:
                found.setdefault(i, []).append(shown)
                budget, in_vain = budget - len(shown.packed), 0
            elif (in_vain := in_vain + 1) == TRIES:
                return found
    return found


def _of_target(
    rows: list[Result],
    folder: Path,
    partners: dict[tuple[str, str, str], Partners],
    known: Mapping[tuple[str, str], list[ResidueRow]],
) -> Iterator[Shown]:
    """The decoys of a target one by one, all superposed on the first. known : (target, decoy) → its residues."""
    first: Complex | None = None
    names: dict[str, str] = {}
    for place, row in best_distinct(rows):
        path = file_to_show(folder, row)
        try:
            whole_file = path == Path(row.path) and row.model
            complex_ = read_complex(path, row.model - 1 if whole_file else None).without_hydrogens()
            own = partners.get((row.dataset, row.target, row.decoy), ())
            complex_ = complex_.with_partners(own)
        except (TopoRankError, OSError):  # the file is gone, or is not the one that was scored
            continue
        graded = path != Path(row.path)
        chain_map = read_chain_map(row.chains)
        if first is None:
            first, names = _turned(complex_), {chain_map.get(chain, chain): chain for chain in complex_.chains}
        same = {chain: names.get(chain_map.get(chain, chain)) for chain in complex_.chains}
        complex_ = superposed(complex_, first, same)
        contacts = np.unique(residue_contacts(complex_))
        quality = _quality(complex_, known.get((row.target, row.decoy), ()) if graded else ())
        packed = gzip.compress(cif_text(complex_, contacts, quality).encode(), LEVEL, mtime=0)
        nth = np.cumsum(complex_.is_protein) - 1
        text = base64.b64encode(packed).decode()
        yield Shown(place, own or complex_.bodies, nth[contacts].tolist(), graded, text)


def partners_of_decoys(study: Study) -> dict[tuple[str, str, str], Partners]:
    """(data set, target, decoy) → its partners by the chains of its file, in the same order in all decoys of a target.

    As the names of its interfaces say. Left out, so that each chain is one, where a chain has no name.
    """
    names: dict[tuple[str, str, str], dict[str, str]] = {}
    for dataset, rows in study.interfaces.items():
        for row in rows:
            if row.n_contacts is not None:
                own = (row.chains or row.interface).split(":")
                pairs = zip(row.interface.split(":"), own, strict=True)
                names.setdefault((dataset, row.target, row.decoy), {}).update(pairs)
    partners = {key: tuple(chains_of(own) for _, own in sorted(pairs.items())) for key, pairs in names.items()}
    return {key: bodies for key, bodies in partners.items() if all(map(all, bodies))}


def cif_text(complex_: Complex, touching: np.ndarray, quality: np.ndarray) -> str:
    """Backbone of all protein residues and side chains of those in contact as mmCIF, coordinates to 0.1 Å.

    touching : places of residues in contact. quality : B-factor of each residue.
    """
    protein, lines = complex_.is_protein, [HEAD]
    whole = np.zeros(len(complex_.residues), dtype=bool)
    whole[touching] = True
    kept = protein[complex_.residue_of] & (whole[complex_.residue_of] | np.isin(complex_.atom_names, BACKBONE))
    of_residues = [
        f"{parent} {gemmi.cif.quote(chain)} {number} {insertion.strip() or '?'} . 1 {round(b)} ATOM"
        for parent, (chain, number, insertion), b in zip(
            complex_.parents, complex_.residues, quality.tolist(), strict=True
        )
    ]
    shown = complex_.atom_names[kept].tolist(), complex_.residue_of[kept].tolist(), complex_.xyz[kept].tolist()
    labels = {name: f"{gemmi.cif.quote(name.decode())} {name.decode()[0]}" for name in set(shown[0])}
    for n, (name, r, (x, y, z)) in enumerate(zip(*shown, strict=True), 1):
        lines.append(f"{n} {labels[name]} {of_residues[r]} {x:.1f} {y:.1f} {z:.1f}\n")
    return "".join(lines)


def superposed(mobile: Complex, fixed: Complex, chains: Mapping[str, str | None]) -> Complex:
    """A complex moved on another by the CA atoms of the largest partner they share; else as it is.

    chains : of the first → of the second.
    """
    pairs = [(mobile.ca[i], fixed.ca[j], fixed.body_of[j]) for i, j in _in_common(mobile, fixed, chains)]
    if not pairs:
        return mobile
    places = np.array(pairs)
    largest = np.bincount(places[:, 2]).argmax()
    places = places[places[:, 2] == largest]
    if len(places) < FEWEST:
        return mobile
    turn, shift = superposition(mobile.xyz[places[:, 0]], fixed.xyz[places[:, 1]])
    return replace(mobile, xyz=mobile.xyz @ turn + shift)


def _in_common(one: Complex, other: Complex, chains: Mapping[str, str | None]) -> list[tuple[int, int]]:
    """Places of the residues that two complexes share, which have a CA and belong to a partner in the second."""
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
        (complex_.residues[r] for r in kept), letters, complex_.xyz[complex_.ca[kept]], np.zeros((0, 2), int)
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
    across = centred[~left].mean(axis=0) - centred[left].mean(axis=0) if (~left).any() else centred[0]
    x = across / np.linalg.norm(across)
    flat = centred - np.outer(centred @ x, x)
    y = np.linalg.svd(flat, full_matrices=False)[2][0]
    return replace(complex_, xyz=(complex_.xyz - xyz.mean(axis=0)) @ np.stack([x, y, np.cross(x, y)], axis=1))


def _quality(complex_: Complex, rows: Iterable[ResidueRow]) -> np.ndarray:
    """Quality of each residue in per cent, 0 where it is unknown: (R,)."""
    known = {f"{row.chain}:{row.residue}": 100 * (row.pred_quality or 0.0) for row in rows}
    return np.array([known.get(str(residue), 0.0) for residue in complex_.residues])


def for_script(shown: dict[int, list[Shown]]) -> dict[str, list[dict[str, Any]]]:
    """What the page's script reads: by place of the target, of each decoy i place, p partners, t residues in contact, q
    whether it is graded, z atoms."""
    return {
        str(target): [
            {"i": s.decoy, "p": [list(chains) for chains in s.partners], "t": s.touching, "q": s.graded, "z": s.packed}
            for s in decoys
        ]
        for target, decoys in shown.items()
    }


def viewer_packed() -> str:
    """3Dmol.js, packed for the page."""
    program = (Path(__file__).parent / "3dmol" / "3Dmol-min.js").read_bytes()
    return base64.b64encode(gzip.compress(program, 9, mtime=0)).decode()
