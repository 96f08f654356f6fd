"""All decoys of one target: dock, choose, bend, minimise, label, choose again, write."""

from __future__ import annotations

import gzip
import hashlib
import logging
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import gemmi
import numpy as np
from scipy.spatial import cKDTree

from toporank.decoys.identity import Status
from toporank.decoys.partners import partners_text
from toporank.errors import LabelError, NativeError, RefinementError, StructureError, TopoRankError
from toporank.evaluation.metrics import CAPRI_NAMES, capri_class
from toporank.files import write_bytes
from toporank.labelling.dockq import Scores
from toporank.labelling.label import Native, label
from toporank.sampling import rotations
from toporank.sampling.bending import Modes, bend, softest_modes
from toporank.sampling.choice import balanced, matched, spearman
from toporank.sampling.docking import Docking, Pose, channels, eased
from toporank.sampling.natives import two_partners
from toporank.sampling.partners import exchanged, joined, partner, superposed, with_atoms
from toporank.sampling.quality import Reference
from toporank.sampling.refinement import Refinement, whole
from toporank.sampling.rows import Row
from toporank.structures.complex import Complex
from toporank.structures.read import read_complex

log = logging.getLogger(__name__)

MADE = 2.0
"""Good minimised poses from which each decoy is chosen."""
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
SHRINKING = 1.5
"""Times as many must there be before minimisation, which shrinks interfaces."""
OUTLYING = 10.0
"""Median absolute deviations above the median energy of poses of its kind from which on one is left out."""
FEWEST_ALIKE = 5
"""Poses of which a median says something."""
TELLING = 0.4
"""Rank correlation of DockQ with interface size from which on decoys would teach that large is right."""
COVERED = 0.5
"""Least share of the native's contacts that unbound partners have the residues for."""
AWAY = np.array([1e3, 0.0, 0.0])
"""Å: where partners do not feel one another."""


STATUS_OF = {
    NativeError: Status.NO_NATIVE,
    StructureError: Status.UNREADABLE,
    RefinementError: Status.FAILED,
    LabelError: Status.FAILED,
}


class Form:
    """Bound or unbound partners, ready to be docked, compared with the native, bent and minimised.

    Raises RefinementError when OpenMM cannot handle them, StructureError when they hardly cover the native's interface.

    partners : receptor and ligand, in the frame of the native.
    """

    def __init__(self, name: str, native: Native, partners: tuple[Complex, Complex], seed: int):
        self.name, self.native = name, native
        completed = [whole(side, seed + k) for k, side in enumerate(partners)]
        self.refine = Refinement(*completed)
        self.heavy = [side.heavy for side in completed]
        receptor, ligand, _ = self.refine(completed[0].complex.xyz, completed[1].complex.xyz + AWAY)
        self.all = [replace(s.complex, xyz=xyz) for s, xyz in zip(completed, (receptor, ligand - AWAY), strict=True)]
        self.shown = tuple(with_atoms(side, heavy) for side, heavy in zip(self.all, self.heavy, strict=True))
        self.docking = Docking(*((side.xyz, channels(side)) for side in self.shown))
        names = exchanged(*partners)
        self._references = [Reference(native, self.shown)] + ([Reference(native, self.shown, names)] if names else [])
        covered = self._references[0].covered
        if covered < COVERED:
            raise StructureError(f"the {name} partners have the residues of {covered:.0%} of the native's contacts")
        self._modes: list[Modes] = []

    def dockq(self, pose: Pose) -> float:
        """Of a rigid pose; of partners that are copies of one another, with the better assignment."""
        return max(r.dockq(lambda xyz: pose.place(xyz, self.docking.centre)) for r in self._references)

    def complex_of(self, xyz: list[np.ndarray]) -> Complex:
        """Both partners with other coordinates of their heavy atoms."""
        return joined(replace(side, xyz=new) for side, new in zip(self.shown, xyz, strict=True))

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
    scores: Scores
    energy: float
    properties: tuple[float, ...]  # what must not tell DockQ: interface residues, clashes, CA pairs, form, bent or not

    def is_like(self, other: Refined) -> bool:
        """Whether their energies can be compared."""
        return self.candidate.form is other.candidate.form and (self.bent > 0) == (other.bent > 0)


def sample(
    target: str,
    native: Path,
    unbound: list[Path],
    partners: str,
    folder: Path,
    *,
    decoys: int,
    n_rotations: int,
    seed: int,
    note: Callable[[int, int], None],
) -> list[Row]:
    """Write the decoys of a target into a folder; returns a row for each, and for everything that failed.

    The same arguments give the same decoys on one machine. A native that cannot be used is one row with the reason,
    unbound partners that cannot be used are one more, and so is each pose that fails.

    native : structure of the complex. unbound : structures of single partners. partners : see `natives.two_partners`.
    n_rotations : of global docking. note : called with the number of decoys for which there are poses enough, and of
    poses that failed.
    """
    rng = np.random.default_rng([seed, int(hashlib.sha256(target.encode()).hexdigest()[:8], 16)])
    failures: list[Row] = []
    rows: list[Row] = []
    try:
        forms = _forms(target, native, unbound, partners, seed, failures)
        made = math.ceil(MADE * decoys)
        chosen = _chosen(forms, n_rotations, int(TRIED * made), rng)
        rows = _written(target, _refined(chosen, made, rng, target, failures, note), decoys, folder, rng)
    except tuple(STATUS_OF) as error:
        failures.append(_failure(target, error))
    log.info(f"{target}: {len(rows)} decoys, {len(failures)} rows without one; {time.process_time():.1f} CPU s")
    return rows + failures


def _failure(target: str, error: TopoRankError, **known: str) -> Row:
    status = next(status for kind, status in STATUS_OF.items() if isinstance(error, kind))
    return Row(target, Status=status, Reason=error.reason, **known)


def _forms(target: str, path: Path, unbound: list[Path], partners: str, seed: int, failures: list[Row]) -> list[Form]:
    """The bound form and, where there is one, the unbound; or the row that says why there is none."""
    complex_ = read_complex(path)
    chains = two_partners(partners, complex_.chains)
    bound = sorted((partner(complex_, side) for side in chains), key=lambda side: -len(side.residues))
    native = Native(complex_, tuple(tuple(side.chains) for side in bound))
    forms = [Form("bound", native, tuple(bound), seed)]
    if not unbound:
        return forms
    try:
        forms.append(Form("unbound", native, _unbound(unbound, bound), seed))
    except (StructureError, RefinementError) as error:
        failures.append(_failure(target, error, Form="unbound"))
    return forms


def _unbound(files: list[Path], bound: list[Complex]) -> tuple[Complex, Complex]:
    """Both partners, each from a file of its own where there is one, laid on the bound one."""
    free = list(bound)
    for file in files:
        alone = read_complex(file)
        side = int(set(alone.chains) <= set(bound[1].chains))
        own = [chain for chain in alone.chains if chain in bound[side].chains]
        if not own:
            what = f"{file.name} has chains {', '.join(alone.chains)}, none of them of the native's partners"
            raise StructureError(what, remedy="name its chains as in the native")
        free[side] = superposed(partner(alone, own), bound[side])
    return free[0], free[1]


def _chosen(forms: list[Form], n_rotations: int, wanted: int, rng: np.random.Generator) -> list[Candidate]:
    """Docked poses of all forms that are worth minimising."""
    pool = [pose for form in forms for pose in _docked(form, n_rotations // len(forms), rng)]
    if not pool:
        raise RefinementError(
            f"docking found no pose with {SHRINKING * FEWEST_PAIRS:g} pairs of CA atoms within {INTERFACE:g} Å"
        )
    native = len(_ca_pairs(*(side.xyz[side.ca] for side in forms[0].shown)))
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
    tree, ca_tree, candidates = cKDTree(receptor.xyz), cKDTree(receptor.xyz[receptor.ca]), []
    for docked, docking in found:
        xyz = docked.place(ligand.xyz, form.docking.centre)
        shift = eased(tree, xyz)
        pose = replace(docked, translation=docked.translation + shift)
        size = int(ca_tree.count_neighbors(cKDTree(xyz[ligand.ca] + shift), INTERFACE))
        if size >= SHRINKING * FEWEST_PAIRS:
            candidates.append(Candidate(form, pose, docking, form.dockq(pose), size))
    return candidates


def _refined(
    chosen: list[Candidate],
    wanted: int,
    rng: np.random.Generator,
    target: str,
    failures: list[Row],
    note: Callable[[int, int], None],
) -> list[Refined]:
    """The first poses of `chosen`, bent and minimised, until enough are good; those that fail become rows."""
    done: list[Refined] = []
    for candidate in chosen:
        note(int(len(done) / MADE), len(failures))
        if len(done) == wanted:
            break
        try:
            done.append(_minimised(candidate, rng.random() < BENT, rng))
        except (RefinementError, LabelError) as error:
            failures.append(_failure(target, error, Docking=candidate.docking, Form=candidate.form.name))
    strained = [one for one in done if one.energy > _highest_energy([other for other in done if one.is_like(other)])]
    what = f"energy more than {OUTLYING:g} median deviations above the median of poses like it"
    failures += [
        _failure(target, RefinementError(what), Docking=one.candidate.docking, Form=one.candidate.form.name)
        for one in strained
    ]
    note(round(wanted / MADE), len(failures))
    return [one for one in done if one not in strained]


def _highest_energy(alike: list[Refined]) -> float:
    """kJ/mol up to which poses of one form, all bent or none, are kept."""
    energies = np.array([one.energy for one in alike])
    median = np.median(energies)
    return float(median + OUTLYING * np.median(np.abs(energies - median))) if len(alike) >= FEWEST_ALIKE else np.inf


def _minimised(candidate: Candidate, bending: bool, rng: np.random.Generator) -> Refined:
    """A pose bent, if it is to be, eased and minimised. Raises RefinementError when it cannot be used."""
    form = candidate.form
    start = [side.xyz for side in form.all]
    if bending:
        start = [xyz + by for xyz, by in zip(start, form.bends(rng), strict=True)]
    bent = np.concatenate([(a - side.xyz)[side.ca] for a, side in zip(start, form.all, strict=True)])
    start[1] = candidate.pose.place(start[1], form.docking.centre)
    start[1] = start[1] + eased(cKDTree(start[0][form.heavy[0]]), start[1][form.heavy[1]])
    receptor, ligand, energy = form.refine(*start)
    xyz = [side[heavy] for side, heavy in zip((receptor, ligand), form.heavy, strict=True)]
    trees = [cKDTree(side) for side in xyz]
    overlaps = int(trees[0].count_neighbors(trees[1], OVERLAP))
    if overlaps:
        raise RefinementError(f"{overlaps} pairs of heavy atoms of both partners nearer than {OVERLAP:g} Å are left")
    pairs = _ca_pairs(*(x[side.ca] for side, x in zip(form.shown, xyz, strict=True)))
    if len(pairs) < FEWEST_PAIRS:
        raise RefinementError(f"{len(pairs)} pairs of CA atoms within {INTERFACE:g} Å are left, too few")
    residues = sum(len(np.unique(side)) for side in pairs.T)
    clashes = int(trees[0].count_neighbors(trees[1], CLASH))
    properties = (residues, clashes, len(pairs), float(form.name == "bound"), float(bending))
    size = float(np.sqrt(np.square(bent).sum(axis=1).mean()))
    (scores,) = label(form.native, form.complex_of(xyz)).interfaces.values()
    return Refined(candidate, size, xyz, scores, energy, properties)


def _ca_pairs(receptor: np.ndarray, ligand: np.ndarray) -> np.ndarray:
    """Pairs of CA atoms, (n, 3), within `INTERFACE`: int, shape (m, 2)."""
    near = cKDTree(receptor).query_ball_tree(cKDTree(ligand), INTERFACE)
    return np.array([(i, j) for i, found in enumerate(near) for j in found], dtype=np.intp).reshape(-1, 2)


def _written(target: str, refined: list[Refined], decoys: int, folder: Path, rng: np.random.Generator) -> list[Row]:
    """Choose the decoys, turn each at random and write it; their rows."""
    if not refined:
        return []
    dockq = np.array([one.scores.dockq for one in refined])
    properties = np.array([one.properties for one in refined]).T
    chosen, rows = balanced(dockq, properties, decoys, rng), []
    telling = float(spearman(dockq[chosen], properties[:1, chosen])[0])
    if abs(telling) >= TELLING:
        what = f"the size of the interface would tell DockQ, with a rank correlation of {telling:.2f}"
        raise RefinementError(f"{what}, in every choice of poses")
    for number, index in enumerate(rng.permutation(chosen).tolist(), start=1):
        one, name = refined[index], f"{target}_{number:04d}"
        form, turn = one.candidate.form, rotations.uniform(rng)
        model = form.complex_of(one.xyz)
        write_structure(folder / name, replace(model, xyz=(model.xyz - model.xyz.mean(axis=0)) @ turn.T))
        fnat, irmsd, lrmsd = (f"{value:.3f}" for value in (one.scores.fnat, one.scores.irmsd, one.scores.lrmsd))
        rows.append(
            Row(
                target,
                name,
                partners_text(tuple(sorted(form.native.partners))),
                f"{one.scores.dockq:.4f}",
                CAPRI_NAMES[int(capri_class(one.scores.dockq))],
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
