"""All decoys of one target: dock, choose, bend, minimise, label, choose again, write."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import gemmi
import numpy as np

from toporank.decoys.identity import Status
from toporank.errors import RefinementError, StructureError
from toporank.evaluation.metrics import CAPRI_NAMES, capri_class
from toporank.features.neighbours import kd_tree
from toporank.files import write_bytes, write_text
from toporank.sampling import rotations
from toporank.sampling.bending import Modes, bend, softest_modes
from toporank.sampling.choice import balanced, matched
from toporank.sampling.docking import Docking, Pose, channels, eased
from toporank.sampling.natives import Native, chains_text, sides
from toporank.sampling.partners import exchanged, joined, partner, superposed, with_atoms
from toporank.sampling.quality import Quality, Reference
from toporank.sampling.refinement import Refinement, whole
from toporank.structures.complex import Complex
from toporank.structures.read import read_complex

log = logging.getLogger(__name__)

MADE = 1.4
"""Good minimised poses for each decoy wanted."""
TRIED = 2.0
"""Most poses that are minimised for each good one."""
PEAKS = 3
"""Translations kept of each rotation."""
BEST = 400
"""Poses of global docking that are kept, by score."""
LOCAL = ((45.0, 14.0), (14.0, 5.0))
"""Local docking: largest rotation (degrees) and shift (Å) from the native, wide and narrow."""
LOCAL_SHARE = 0.2
"""Rotations of each, for each of global docking."""
BENT = 0.45
"""Share of the poses that are bent."""
BENDS = (0.4, 1.8)
"""Å by which the CA atoms of each partner are bent, root mean square."""
INTERFACE = 10.0
"""Å between CA atoms of an interface."""
CLASH, OVERLAP = 3.0, 2.5
"""Å between heavy atoms: such clashes are balanced; a pose with a nearer pair is left out."""
FEWEST_PAIRS = 20
"""CA pairs of the smallest interface."""
OUTLYING = 10.0
"""Median absolute deviations above the median energy of its form from which on a pose is left out."""
COVERED = 0.5
"""Least share of the native's contacts that unbound partners have the residues for."""
AWAY = np.array([1e4, 0.0, 0.0])
"""Å: where partners do not feel one another."""


class Row(NamedTuple):
    """One row of a target's `labels.csv`; empty where there is no value. RMSDs in Å."""

    Target: str
    Model: str = ""
    Partners: str = ""
    DockQ: str = ""
    CAPRI: str = ""
    fnat: str = ""
    iRMSD: str = ""
    LRMSD: str = ""
    Status: str = Status.OK
    Reason: str = ""
    Docking: str = ""
    Form: str = ""
    Bent: str = ""


class Form:
    """Bound or unbound partners, ready to be docked, compared with the native, bent and minimised.

    Raises RefinementError when OpenMM cannot handle them, StructureError when they hardly cover the native's interface.
    """

    def __init__(self, name: str, native: tuple[Complex, Complex], partners: tuple[Complex, Complex], seed: int):
        self.name = name
        completed = [whole(side, seed + k) for k, side in enumerate(partners)]
        self.refine = Refinement(*completed)
        self.heavy = [side.heavy for side in completed]
        receptor, ligand, _ = self.refine(completed[0].complex.xyz, completed[1].complex.xyz + AWAY)
        self.all = [
            replace(side.complex, xyz=xyz) for side, xyz in zip(completed, (receptor, ligand - AWAY), strict=True)
        ]
        self.shown = [with_atoms(side, heavy) for side, heavy in zip(self.all, self.heavy, strict=True)]
        self.docking = Docking(*((side.xyz, channels(side)) for side in self.shown))
        self.references = [Reference(native, tuple(self.shown))]
        names = exchanged(*native)
        if names:
            self.references.append(Reference(native[::-1], tuple(self.shown), names))
        if self.references[0].covered < COVERED:
            raise StructureError(f"the {name} partners have {self.references[0].covered:.0%} of the native's contacts")
        self._modes: list[Modes] = []

    def quality(self, xyz: list[np.ndarray]) -> Quality:
        """Of heavy atoms; of partners that are copies of one another, with the better assignment."""
        return max((reference(*xyz) for reference in self.references), key=lambda quality: quality.dockq)

    def bends(self, rng: np.random.Generator) -> list[np.ndarray]:
        """Random displacements of all atoms of both partners, (A, 3) each."""
        self._modes = self._modes or [softest_modes(side.xyz[side.ca]) for side in self.all]
        by = rng.uniform(*BENDS)
        return [bend(modes, by, rng)[side.residue_of] for modes, side in zip(self._modes, self.all, strict=True)]


@dataclass(frozen=True, eq=False)
class Candidate:
    """A docked pose of a form. docking : `global` or `local`. size : CA pairs of its interface."""

    form: Form
    pose: Pose
    docking: str
    dockq: float
    size: int


@dataclass(frozen=True, eq=False)
class Refined:
    """A minimised pose. bent : Å, root mean square over the CA atoms of both partners; 0 if it was not bent."""

    candidate: Candidate
    bent: float
    xyz: list[np.ndarray]
    quality: Quality
    energy: float
    properties: tuple[float, ...]  # what must not tell DockQ: interface residues, clashes, CA pairs, form, bent or not


def sample(
    native: Native,
    partners: str,
    folder: Path,
    *,
    decoys: int,
    n_rotations: int,
    seed: int,
    note: Callable[[int, int], None],
) -> list[Row]:
    """Write the decoys of a target and their `labels.csv` into a folder; returns its rows.

    The same arguments give the same decoys on one machine. A native that cannot be used is one row with the reason,
    unbound partners that cannot be used are one more, and so is each pose that fails.

    partners : see `natives.sides`. n_rotations : of global docking. note : called with the number of poses that are
    finished and of those that failed.
    """
    rng = np.random.default_rng([seed, int(hashlib.sha256(native.target.encode()).hexdigest()[:8], 16)])
    rows: list[Row] = []
    try:
        forms, failures = _forms(native, partners, seed)
        rows += failures
        made = poses_made(decoys)
        chosen = _chosen(forms, n_rotations, int(TRIED * made), rng)
        refined = _refined(chosen, made, rng, native.target, rows, note)
        rows = [*_written(native.target, refined, decoys, folder, rng), *rows]
    except (StructureError, RefinementError) as error:
        rows.append(_failure(native.target, error))
    write_labels(folder / "labels.csv", rows)
    made = sum(row.Status == Status.OK for row in rows)
    log.info(f"{native.target}: {made} decoys, {len(rows) - made} rows without one; {time.process_time():.1f} CPU s")
    return rows


def poses_made(decoys: int) -> int:
    """How many good poses so many decoys are chosen from."""
    return int(np.ceil(MADE * decoys))


def _failure(target: str, error: StructureError | RefinementError, **known: str) -> Row:
    status = Status.UNREADABLE if isinstance(error, StructureError) else Status.FAILED
    return Row(target, Status=status, Reason=error.reason, **known)


def _forms(native: Native, partners: str, seed: int) -> tuple[list[Form], list[Row]]:
    """The bound form and, where there is one, the unbound; or the row that says why there is none."""
    whole_native = read_complex(native.bound)
    chains = sides(partners, whole_native.chains)
    bound = tuple(partner(whole_native, side) for side in chains)
    forms, failures = [Form("bound", bound, bound, seed)], []
    if not native.unbound:
        return forms, failures
    try:
        unbound = tuple(
            _unbound(native.unbound.get(side), own) for side, own in zip(("receptor", "ligand"), bound, strict=True)
        )
        forms.append(Form("unbound", bound, unbound, seed))
    except (StructureError, RefinementError) as error:
        failures.append(_failure(native.target, error, Form="unbound"))
    return forms, failures


def _unbound(path: Path | None, bound: Complex) -> Complex:
    """A partner from a file of its own, laid on the bound one; the bound one where there is no file."""
    if path is None:
        return bound
    alone = read_complex(path)
    return superposed(partner(alone, [chain for chain in alone.chains if chain in bound.chains]), bound)


def _chosen(forms: list[Form], n_rotations: int, wanted: int, rng: np.random.Generator) -> list[Candidate]:
    """Docked poses of all forms that are worth minimising."""
    pool = [pose for form in forms for pose in _docked(form, n_rotations // len(forms), rng)]
    if not pool:
        raise RefinementError(f"docking found no pose with {FEWEST_PAIRS} pairs of CA atoms within {INTERFACE:g} Å")
    native = len(_ca_pairs(*forms[0].shown))
    dockq, size = (np.array([getattr(pose, name) for pose in pool]) for name in ("dockq", "size"))
    origin = np.array([2 * forms.index(pose.form) + (pose.docking == "local") for pose in pool])
    chosen = matched(dockq, size, origin, native, wanted, rng)
    return [pool[i] for i in rng.permutation(chosen)]


def _docked(form: Form, n: int, rng: np.random.Generator) -> list[Candidate]:
    """Global and local poses of a form, each with its DockQ before minimisation."""
    receptor, ligand = form.shown
    found = [pose for r in rotations.even(n, rng) for pose in form.docking.poses(r, PEAKS)]
    found = [(pose, "global") for pose in sorted(found, key=lambda pose: -pose.score)[:BEST]]
    for angle, shift in LOCAL:
        near = form.docking.centre, shift
        for rotation in rotations.near(int(np.ceil(LOCAL_SHARE * n)), angle, rng):
            found += [(pose, "local") for pose in form.docking.poses(rotation, PEAKS, near)]
    tree, candidates = kd_tree(receptor.xyz[receptor.ca]), []
    for pose, docking in found:
        xyz = pose.place(ligand.xyz, form.docking.centre)
        size = int(tree.count_neighbors(kd_tree(xyz[ligand.ca]), INTERFACE))
        if size >= FEWEST_PAIRS:
            candidates.append(Candidate(form, pose, docking, form.quality([receptor.xyz, xyz]).dockq, size))
    return candidates


def _refined(
    chosen: list[Candidate],
    wanted: int,
    rng: np.random.Generator,
    target: str,
    rows: list[Row],
    note: Callable[[int, int], None],
) -> list[Refined]:
    """The first poses of `chosen`, bent and minimised, until enough are good; those that fail become rows."""
    done: list[Refined] = []
    failures: list[Row] = []
    for candidate in chosen:
        note(len(done), len(failures))
        if len(done) == wanted:
            break
        try:
            done.append(_minimised(candidate, rng.random() < BENT, rng))
        except RefinementError as error:
            failures.append(_failure(target, error, Docking=candidate.docking, Form=candidate.form.name))
    strained = [one for one in done if one.energy > _highest_energy(one.candidate.form, done)]
    what = f"energy more than {OUTLYING:g} median deviations above the median of its form"
    rows += failures + [
        _failure(target, RefinementError(what), Docking=one.candidate.docking, Form=one.candidate.form.name)
        for one in strained
    ]
    note(wanted, len(failures) + len(strained))
    return [one for one in done if one not in strained]


def _highest_energy(form: Form, done: list[Refined]) -> float:
    """kJ/mol up to which poses of a form are kept."""
    energies = np.array([one.energy for one in done if one.candidate.form is form])
    median = np.median(energies)
    return float(median + OUTLYING * np.median(np.abs(energies - median)))


def _minimised(candidate: Candidate, bending: bool, rng: np.random.Generator) -> Refined:
    """A pose bent, if it is to be, eased and minimised. Raises RefinementError when it cannot be used."""
    form = candidate.form
    start = [side.xyz for side in form.all]
    if bending:
        start = [xyz + by for xyz, by in zip(start, form.bends(rng), strict=True)]
    bent = np.concatenate([(a - side.xyz)[side.ca] for a, side in zip(start, form.all, strict=True)])
    start[1] = candidate.pose.place(start[1], form.docking.centre)
    start[1] = start[1] + eased(*(xyz[heavy] for xyz, heavy in zip(start, form.heavy, strict=True)))
    receptor, ligand, energy = form.refine(*start)
    xyz = [side[heavy] for side, heavy in zip((receptor, ligand), form.heavy, strict=True)]
    trees = [kd_tree(side) for side in xyz]
    overlaps = int(trees[0].count_neighbors(trees[1], OVERLAP))
    if overlaps:
        raise RefinementError(f"{overlaps} pairs of heavy atoms of both partners nearer than {OVERLAP:g} Å are left")
    pairs = _ca_pairs(*(replace(side, xyz=x) for side, x in zip(form.shown, xyz, strict=True)))
    if len(pairs) < FEWEST_PAIRS:
        raise RefinementError(f"{len(pairs)} pairs of CA atoms within {INTERFACE:g} Å are left, too few")
    residues = sum(len(np.unique(side)) for side in pairs.T)
    clashes = int(trees[0].count_neighbors(trees[1], CLASH))
    properties = (residues, clashes, len(pairs), float(form.name == "bound"), float(bending))
    size = float(np.sqrt(np.square(bent).sum(axis=1).mean()))
    return Refined(candidate, size, xyz, form.quality(xyz), energy, properties)


def _ca_pairs(receptor: Complex, ligand: Complex) -> np.ndarray:
    """Pairs of residues with CA atoms within `INTERFACE`: int, shape (n, 2)."""
    near = kd_tree(receptor.xyz[receptor.ca]).query_ball_tree(kd_tree(ligand.xyz[ligand.ca]), INTERFACE)
    return np.array([(i, j) for i, found in enumerate(near) for j in found], dtype=np.intp).reshape(-1, 2)


def _written(target: str, refined: list[Refined], decoys: int, folder: Path, rng: np.random.Generator) -> list[Row]:
    """Choose the decoys, turn each at random and write it; their rows."""
    if not refined:
        return []
    dockq = np.array([one.quality.dockq for one in refined])
    properties = np.array([one.properties for one in refined]).T
    rows = []
    for number, index in enumerate(rng.permutation(balanced(dockq, properties, decoys, rng)).tolist(), start=1):
        one, name = refined[index], f"{target}_{number:04d}"
        form, turn = one.candidate.form, rotations.uniform(rng)
        model = joined(replace(side, xyz=xyz @ turn.T) for side, xyz in zip(form.shown, one.xyz, strict=True))
        write_structure(folder / name, replace(model, xyz=model.xyz - model.xyz.mean(axis=0)))
        fnat, irmsd, lrmsd = (f"{value:.3f}" for value in (one.quality.fnat, one.quality.irmsd, one.quality.lrmsd))
        rows.append(
            Row(
                target,
                name,
                ":".join(chains_text(side.chains) for side in form.shown),
                f"{one.quality.dockq:.4f}",
                CAPRI_NAMES[int(capri_class(one.quality.dockq))],
                fnat,
                irmsd,
                lrmsd,
                Docking=one.candidate.docking,
                Form=form.name,
                Bent=f"{one.bent:.2f}",
            )
        )
    return rows


def write_structure(stem: Path, complex_: Complex) -> Path:
    """Write a complex as `<stem>.pdb.gz` or, if a chain has a longer name than PDB files allow, `<stem>.cif.gz`."""
    model = gemmi.Model(1)
    for (chain, number, insertion_code), name, first, last in zip(
        complex_.residues, complex_.names, complex_.atom_slices[:-1], complex_.atom_slices[1:], strict=True
    ):
        residue = gemmi.Residue()
        residue.name, residue.seqid = name, gemmi.SeqId(number, insertion_code or " ")
        for i in range(first, last):
            atom = gemmi.Atom()
            atom.name = complex_.atom_names[i].decode()
            atom.element, atom.pos = gemmi.Element(atom.name[0]), gemmi.Position(*complex_.xyz[i])
            residue.add_atom(atom)
        if chain not in [known.name for known in model]:
            model.add_chain(gemmi.Chain(chain))
        model[chain].add_residue(residue)
    structure = gemmi.Structure()
    structure.add_model(model)
    structure.setup_entities()
    short = all(len(chain) == 1 for chain in complex_.chains)
    text = structure.make_minimal_pdb() if short else structure.make_mmcif_document().as_string()
    path = stem.with_name(stem.name + (".pdb.gz" if short else ".cif.gz"))
    write_bytes(path, gzip.compress(text.encode(), mtime=0))
    return path


def write_labels(path: Path, rows: list[Row]) -> None:
    """Write rows as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(Row._fields)
    writer.writerows(rows)
    write_text(path, text.getvalue())
