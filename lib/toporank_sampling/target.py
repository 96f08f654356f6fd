"""All decoys of one target: dock, choose, label, choose again, write."""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from toporank.chains.partners import partners_text
from toporank.comparing.native.dockq import capri_class
from toporank.comparing.native.label import Native
from toporank.errors import (
    DockingError,
    LabelError,
    NativeError,
    StructureError,
    TopoRankError,
)
from toporank.structures.complex import Complex
from toporank.structures.identity import Status, status_of_error
from toporank.structures.read import read_complex
from toporank.structures.write import write_structure
from toporank_sampling import rotations
from toporank_sampling.choice import balanced, matched, spearman
from toporank_sampling.docking_case import DockingCase
from toporank_sampling.poses import (
    FEWEST_DOCKED_PAIRS,
    INTERFACE,
    DockedPose,
    LabelledPose,
    ca_pairs,
    dock,
    labelled,
)
from toporank_sampling.rows import Row
from toporank_sampling.sides import partner, superposed, two_partners

log = logging.getLogger(__name__)

PER_DECOY = 2
"""Labelled poses from which each decoy is chosen."""
TRIED = 2
"""Most docked poses for each labelled one."""
TELLING = 0.4
"""From this rank correlation of DockQ with interface size, decoys would teach that large is right.
"""
FEWEST_TELLING = 10
"""Fewest decoys whose rank correlation means something."""

STATUS_OF = {
    NativeError: Status.NO_NATIVE,
    StructureError: Status.UNREADABLE,
    DockingError: Status.FAILED,
    LabelError: Status.FAILED,
}
Tell = Callable[[int, int], None]
"""Takes the number of decoys for which there are poses enough, and of poses that failed."""


class Sampled(NamedTuple):
    """What decoys are made of.

    native : structure of the complex. unbound : structures of single partners. partners : see
    `sides.two_partners`.
    """

    target: str
    native: Path
    unbound: list[Path]
    partners: str


class SamplingSettings(NamedTuple):
    """How decoys are made. decoys : how many. n_rotations : of global docking."""

    decoys: int
    n_rotations: int
    seed: int


def sample(
    source: Sampled, folder: Path, settings: SamplingSettings, note: Tell
) -> list[Row]:
    """Write the decoys of a target into a folder.

    The same arguments give the same decoys on one machine.

    Parameters
    ----------
    source : Sampled
        What the decoys are made of.
    folder : Path
        Where they are written.
    settings : SamplingSettings
        How they are made.
    note : callable
        Is called with the progress.

    Returns
    -------
    list of Row
        A row for each decoy, for a native or unbound partners that cannot be used, and for each
        pose that failed.
    """
    target = source.target
    number_of_target = int(hashlib.sha256(target.encode()).hexdigest()[:8], 16)
    rng = np.random.default_rng([settings.seed, number_of_target])
    failures: list[Row] = []
    rows: list[Row] = []
    try:
        cases = _docking_cases(source, failures)
        n_labelled = PER_DECOY * settings.decoys
        docked = _docked_poses(cases, settings.n_rotations, TRIED * n_labelled, rng)
        poses = _labelled_poses(docked, n_labelled, target, failures, note)
        if poses:
            rows = _written(
                target, _last_choice(poses, settings.decoys, rng), folder, rng
            )
    except tuple(STATUS_OF) as error:
        failures.append(_failure(target, error))
    log.info(
        f"{target}: {len(rows)} decoys, {len(failures)} rows without one; "
        f"{time.process_time():.1f} CPU s"
    )
    return rows + failures


def _failure(target: str, error: TopoRankError, **columns: str) -> Row:
    status = status_of_error(error, STATUS_OF)
    return Row(target, Status=status, Reason=error.reason, **columns)


def _docking_cases(source: Sampled, failures: list[Row]) -> list[DockingCase]:
    """The bound partners and any unbound ones, or a row that says why they cannot be used."""
    complex_ = read_complex(source.native)
    one, other = two_partners(source.partners, complex_.chains)
    ligand, receptor = partner(complex_, one), partner(complex_, other)
    if len(ligand.residues) >= len(receptor.residues):
        receptor, ligand = ligand, receptor
    native = Native(complex_, (tuple(receptor.chains), tuple(ligand.chains)))
    cases = [DockingCase("bound", native, (receptor, ligand))]
    if source.unbound:
        try:
            partners = _unbound(source.unbound, receptor, ligand)
            cases.append(DockingCase("unbound", native, partners))
        except StructureError as error:
            failures.append(_failure(source.target, error, Form="unbound"))
    return cases


def _unbound(
    files: list[Path], receptor: Complex, ligand: Complex
) -> tuple[Complex, Complex]:
    """Both partners, each from its own file where there is one, superposed on the bound one."""
    bound = [receptor, ligand]
    free = [receptor, ligand]
    for file in files:
        alone = read_complex(file)
        side = 0 if set(alone.chains) & set(receptor.chains) else 1
        chains = [chain for chain in alone.chains if chain in bound[side].chains]
        if not chains:
            names = ", ".join(alone.chains)
            what = (
                f"{file.name} has chains {names}, none of them of the native's partners"
            )
            raise StructureError(what, remedy="name its chains as in the native")
        free[side] = superposed(partner(alone, chains), bound[side])
    return free[0], free[1]


def _docked_poses(
    cases: list[DockingCase], n_rotations: int, wanted: int, rng: np.random.Generator
) -> list[DockedPose]:
    """Docked poses of all forms, in random order, of matched sizes."""
    pool: list[DockedPose] = []
    origin: list[int] = []
    for number, case in enumerate(cases):
        for pose in dock(case, n_rotations // len(cases), rng):
            pool.append(pose)
            origin.append(2 * number + (pose.docking == "local"))
    if not pool:
        smallest = f"{FEWEST_DOCKED_PAIRS} pairs of CA atoms within {INTERFACE:g} Å"
        raise DockingError(f"docking found no pose with {smallest}")
    receptor, ligand = cases[0].receptor, cases[0].ligand
    native_size = len(ca_pairs(receptor.xyz[receptor.ca], ligand.xyz[ligand.ca]))
    dockq = np.array([pose.dockq for pose in pool])
    size = np.array([pose.size for pose in pool])
    chosen = matched(dockq, size, np.array(origin), native_size, wanted, rng)
    return _shuffled(pool, chosen, rng)


def _labelled_poses(
    docked: list[DockedPose], wanted: int, target: str, failures: list[Row], note: Tell
) -> list[LabelledPose]:
    """The first poses that can be decoys, as many as are wanted; those that fail become rows."""
    poses: list[LabelledPose] = []
    for pose in docked:
        note(len(poses) // PER_DECOY, len(failures))
        if len(poses) == wanted:
            break
        try:
            poses.append(labelled(pose))
        except (DockingError, LabelError) as error:
            failures.append(
                _failure(target, error, Docking=pose.docking, Form=pose.case.form)
            )
    note(wanted // PER_DECOY, len(failures))
    return poses


def _last_choice(
    poses: list[LabelledPose], decoys: int, rng: np.random.Generator
) -> list[LabelledPose]:
    """The poses that become decoys, in random order.

    Raises DockingError when their size would tell DockQ.
    """
    dockq = np.array([pose.scores.dockq for pose in poses])
    properties = np.array([pose.properties for pose in poses]).T
    chosen = balanced(dockq, properties, decoys, rng)
    telling = float(spearman(dockq[chosen], properties[:1, chosen])[0])
    if abs(telling) >= TELLING and len(chosen) >= FEWEST_TELLING:
        what = f"tell DockQ, with a rank correlation of {telling:.2f}, in every choice of poses"
        raise DockingError(f"the size of the interface would {what}")
    return _shuffled(poses, chosen, rng)


def _shuffled(
    poses: list[Any], chosen: np.ndarray, rng: np.random.Generator
) -> list[Any]:
    """The chosen poses in random order."""
    return [poses[place] for place in rng.permutation(chosen)]


def _written(
    target: str, chosen: list[LabelledPose], folder: Path, rng: np.random.Generator
) -> list[Row]:
    """Turn each decoy at random and write it; their rows."""
    rows = []
    for number, pose in enumerate(chosen, start=1):
        name = f"{target}_{number:04d}"
        case = pose.docked.case
        model = case.complex_of(pose.ligand_xyz)
        turn = rotations.uniform(rng)
        xyz = (model.xyz - model.xyz.mean(axis=0)) @ turn.T
        write_structure(folder / name, replace(model, xyz=xyz))
        scores = pose.scores
        row = Row(
            Target=target,
            Model=name,
            Partners=partners_text(tuple(sorted(case.native.partners))),
            DockQ=f"{scores.dockq:.4f}",
            CAPRI=capri_class(scores.fnat, scores.irmsd, scores.lrmsd),
            fnat=f"{scores.fnat:.3f}",
            iRMSD=f"{scores.irmsd:.3f}",
            LRMSD=f"{scores.lrmsd:.3f}",
            Docking=pose.docked.docking,
            Form=case.form,
        )
        rows.append(row)
    return rows
