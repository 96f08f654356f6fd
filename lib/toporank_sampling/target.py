"""All decoys of one target: dock, choose, bend, minimise, label, choose again, write."""

from __future__ import annotations

import hashlib
import logging
import math
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from toporank.comparing.native.label import Native
from toporank.errors import LabelError, NativeError, RefinementError, StructureError, TopoRankError
from toporank.metrics import CAPRI_NAMES, capri_class
from toporank.structures.complex import Complex
from toporank.structures.identity import Status
from toporank.structures.partners import partners_text
from toporank.structures.read import read_complex
from toporank.structures.write import write_structure
from toporank_sampling import rotations
from toporank_sampling.choice import MINIMISED, RIGID, Law, balanced, matched, spearman
from toporank_sampling.form import Form
from toporank_sampling.poses import FEWEST_PAIRS, INTERFACE, SHRINKING, Candidate, Refined, ca_pairs, docked, minimised
from toporank_sampling.rows import Row
from toporank_sampling.sides import partner, superposed, two_partners

log = logging.getLogger(__name__)

MADE = 2.0
"""Good minimised poses from which each decoy is chosen."""
TRIED = 2.0
"""Most poses that are minimised for each good one."""
BENT = 0.45
"""Share of the poses that are bent."""
OUTLYING = 10.0
"""A pose is left out this many median absolute deviations above the median energy of poses of its kind."""
FEWEST_ALIKE = 5
"""Fewest poses whose median says something."""
TELLING = 0.4
"""From this rank correlation of DockQ with interface size, decoys would teach that large is right."""
FEWEST_TELLING = 10
"""Fewest decoys whose rank correlation says something."""

STATUS_OF = {
    NativeError: Status.NO_NATIVE,
    StructureError: Status.UNREADABLE,
    RefinementError: Status.FAILED,
    LabelError: Status.FAILED,
}


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
    rigid: bool = False,
    note: Callable[[int, int], None],
) -> list[Row]:
    """Write the decoys of a target into a folder; returns a row for each, and for everything that failed.

    The same arguments give the same decoys on one machine. A native that cannot be used is one row with the reason,
    unbound partners that cannot be used are one more, and so is each pose that fails.

    native : structure of the complex. unbound : structures of single partners. partners : see `sides.two_partners`.
    n_rotations : of global docking. rigid : whether poses are neither bent nor minimised. note : called with the number
    of decoys for which there are poses enough, and of poses that failed.
    """
    law = RIGID if rigid else MINIMISED
    rng = np.random.default_rng([seed, int(hashlib.sha256(target.encode()).hexdigest()[:8], 16)])
    failures: list[Row] = []
    rows: list[Row] = []
    try:
        forms = _forms(target, native, unbound, partners, seed, rigid, failures)
        made = math.ceil(MADE * decoys)
        chosen = _chosen(forms, n_rotations, int(TRIED * made), law, rng)
        refined = _refined(chosen, made, rng, target, failures, note)
        rows = _written(target, _last_choice(refined, decoys, law, rng) if refined else [], folder, rng)
    except tuple(STATUS_OF) as error:
        failures.append(_failure(target, error))
    log.info(f"{target}: {len(rows)} decoys, {len(failures)} rows without one; {time.process_time():.1f} CPU s")
    return rows + failures


def _failure(target: str, error: TopoRankError, **known: str) -> Row:
    status = next(status for kind, status in STATUS_OF.items() if isinstance(error, kind))
    return Row(target, Status=status, Reason=error.reason, **known)


def _forms(
    target: str, path: Path, unbound: list[Path], partners: str, seed: int, rigid: bool, failures: list[Row]
) -> list[Form]:
    """The bound form and, where there is one, the unbound; or the row that says why there is none."""
    complex_ = read_complex(path)
    chains = two_partners(partners, complex_.chains)
    bound = sorted((partner(complex_, side) for side in chains), key=lambda side: -len(side.residues))
    native = Native(complex_, tuple(tuple(side.chains) for side in bound))
    forms = [Form("bound", native, tuple(bound), seed, rigid)]
    if not unbound:
        return forms
    try:
        forms.append(Form("unbound", native, _unbound(unbound, bound), seed, rigid))
    except (StructureError, RefinementError) as error:
        failures.append(_failure(target, error, Form="unbound"))
    return forms


def _unbound(files: list[Path], bound: list[Complex]) -> tuple[Complex, Complex]:
    """Both partners, each from a file of its own where there is one, laid on the bound one."""
    free = list(bound)
    for file in files:
        alone = read_complex(file)
        side = int(not set(alone.chains) & set(bound[0].chains))
        own = [chain for chain in alone.chains if chain in bound[side].chains]
        if not own:
            what = f"{file.name} has chains {', '.join(alone.chains)}, none of them of the native's partners"
            raise StructureError(what, remedy="name its chains as in the native")
        free[side] = superposed(partner(alone, own), bound[side])
    return free[0], free[1]


def _chosen(forms: list[Form], n_rotations: int, wanted: int, law: Law, rng: np.random.Generator) -> list[Candidate]:
    """Docked poses of all forms that are worth minimising."""
    pool = [pose for form in forms for pose in docked(form, n_rotations // len(forms), rng)]
    if not pool:
        raise RefinementError(
            f"docking found no pose with {SHRINKING * FEWEST_PAIRS:g} pairs of CA atoms within {INTERFACE:g} Å"
        )
    native = len(ca_pairs(*(side.xyz[side.ca] for side in forms[0].shown)))
    dockq, size = (np.array([getattr(pose, name) for pose in pool]) for name in ("dockq", "size"))
    origin = np.array([2 * forms.index(pose.form) + (pose.docking == "local") for pose in pool])
    chosen = matched(dockq, size, origin, native, wanted, law, rng)
    return [pool[i] for i in rng.permutation(chosen)]


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
            done.append(minimised(candidate, not candidate.form.rigid and rng.random() < BENT, rng))
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


def _last_choice(refined: list[Refined], decoys: int, law: Law, rng: np.random.Generator) -> list[Refined]:
    """The poses that become decoys, in random order. Raises RefinementError when their size would tell DockQ."""
    dockq = np.array([one.scores.dockq for one in refined])
    properties = np.array([one.properties for one in refined]).T
    chosen = balanced(dockq, properties, decoys, law, rng)
    telling = float(spearman(dockq[chosen], properties[:1, chosen])[0])
    if abs(telling) >= TELLING and len(chosen) >= FEWEST_TELLING:
        what = f"the size of the interface would tell DockQ, with a rank correlation of {telling:.2f}"
        raise RefinementError(f"{what}, in every choice of poses")
    return [refined[i] for i in rng.permutation(chosen)]


def _written(target: str, chosen: list[Refined], folder: Path, rng: np.random.Generator) -> list[Row]:
    """Turn each decoy at random and write it; their rows."""
    rows = []
    for number, one in enumerate(chosen, start=1):
        name, form, turn = f"{target}_{number:04d}", one.candidate.form, rotations.uniform(rng)
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
