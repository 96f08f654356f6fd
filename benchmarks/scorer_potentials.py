"""Counts the potentials of lib/toporank/features/potentials.csv in natives.

    OMP_NUM_THREADS=1 PYTHONPATH=lib python benchmarks/scorer_potentials.py SECOND UNPACKED

SECOND is the folder of the second data release, UNPACKED what its `structures.py unpack
natives.structures` made. At most three natives of a cluster count, and none of a cluster with
labelled decoys: so the potentials have not seen what a scorer that uses them is trained or judged
on, but for the decoys made of natives.
"""

from __future__ import annotations

import argparse
import csv
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.spatial import cKDTree

from toporank.features.atom_types import ATOM_TYPES, atom_types
from toporank.features.potentials import CONTACT, LIMITS, RESIDUES, TABLE, Potentials
from toporank.features.surface import surfaces
from toporank.structures.complex import Complex
from toporank.structures.neighbours import pairs_between_groups
from toporank.structures.read import read_complex

A_CLUSTER = 3
NEAR = 6.0
"""Å between heavy atoms of residues whose surface is counted."""
APART = 4
"""Two atoms of a chain count when they are at least so many residues apart."""
EXPONENT = 1.61
"""With which the number of pairs of a finite ideal gas grows with distance (Zhou & Zhou 2002,
doi:10.1110/ps.0217002)."""
PSEUDOCOUNTS = 5.0
LARGEST = 3.0


@dataclass(eq=False)
class Counts:
    """What was seen in natives, the same kinds as in `Potentials`; symmetric."""

    atoms: np.ndarray = field(
        default_factory=lambda: np.zeros((len(ATOM_TYPES),) * 2 + (len(LIMITS) - 1,))
    )
    surface: np.ndarray = field(
        default_factory=lambda: np.zeros((len(ATOM_TYPES),) * 2)
    )
    water: np.ndarray = field(default_factory=lambda: np.zeros(len(ATOM_TYPES)))
    residues: np.ndarray = field(default_factory=lambda: np.zeros((len(RESIDUES),) * 2))

    def add(self, heavy: Complex) -> None:
        """Count in a native without hydrogens, with its partners."""
        body = heavy.body_of[heavy.residue_of]
        types = np.where(body >= 0, atom_types(heavy), -1)
        typed = np.flatnonzero(types >= 0)
        self._add_atoms(
            heavy.xyz[typed], types[typed], heavy.residue_of[typed], body[typed]
        )
        pairs, distance = pairs_between_groups(heavy.xyz[typed], body[typed], NEAR)
        near = heavy.residue_of[typed[pairs]]
        number = {name: i for i, name in enumerate(RESIDUES)}
        for r, s in np.unique(
            np.sort(near[distance < CONTACT], axis=1), axis=0
        ).tolist():
            i, j = number[heavy.parents[r]], number[heavy.parents[s]]
            self.residues[i, j] += 1
            self.residues[j, i] += 1
        shared = surfaces(heavy, np.unique(near))
        between = (
            (types[shared.of] >= 0)
            & (types[shared.by] >= 0)
            & (body[shared.of] != body[shared.by])
        )
        of, by, area = (
            types[shared.of[between]],
            types[shared.by[between]],
            shared.area[between],
        )
        np.add.at(self.surface, (of, by), area)
        np.add.at(self.surface, (by, of), area)
        buried = (types[shared.atoms] >= 0) & (shared.alone > 0)
        np.add.at(self.water, types[shared.atoms[buried]], shared.free[buried])

    def _add_atoms(
        self, xyz: np.ndarray, types: np.ndarray, residue: np.ndarray, body: np.ndarray
    ) -> None:
        """Count pairs of atoms by distance: of different partners, or `APART` or more residues from
        each other.
        """
        first, second = cKDTree(xyz).query_pairs(LIMITS[-1], output_type="ndarray").T
        counted = (body[first] != body[second]) | (
            np.abs(residue[first] - residue[second]) >= APART
        )
        first, second = first[counted], second[counted]
        distance = np.linalg.norm(xyz[first] - xyz[second], axis=1)
        shell = np.searchsorted(LIMITS, distance, side="right") - 1
        inside = shell < len(LIMITS) - 1
        first, second, shell = (
            types[first[inside]],
            types[second[inside]],
            shell[inside],
        )
        np.add.at(self.atoms, (first, second, shell), 1.0)
        np.add.at(self.atoms, (second, first, shell), 1.0)

    def potentials(self) -> Potentials:
        """The potentials that these counts stand for."""
        width = np.diff(LIMITS)
        middle = np.array(LIMITS[:-1]) + width / 2
        growth = (middle / middle[-1]) ** EXPONENT * width / width[-1]
        expected = self.atoms[:, :, -1:] * growth
        atoms = -np.log((self.atoms + PSEUDOCOUNTS) / (expected + PSEUDOCOUNTS))
        water = -np.log(_shares(self.water) / _shares(self.surface.sum(axis=1)))
        found = (
            atoms,
            _over_chance(self.surface),
            water,
            _over_chance(self.residues + 1),
        )
        return Potentials(*(np.clip(values, -LARGEST, LARGEST) for values in found))


def _shares(values: np.ndarray) -> np.ndarray:
    return (values + 1) / (values + 1).sum()


def _over_chance(counts: np.ndarray) -> np.ndarray:
    """Of symmetric counts, (n, n), over those of partners that meet by chance."""
    chance = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    few = 0.02 * chance.mean()
    return -np.log((counts + few) / (chance + few))


def write_potentials(potentials: Potentials, path: Path) -> None:
    """A row for each pair, `kind,first,second` and the values; two decimals are enough."""
    rows = []
    for kind, names in (
        ("atoms", ATOM_TYPES),
        ("surface", ATOM_TYPES),
        ("residues", RESIDUES),
    ):
        values = getattr(potentials, kind)
        rows += [
            [
                kind,
                names[i],
                names[j],
                *(f"{v:.2f}" for v in np.atleast_1d(values[i, j])),
            ]
            for i in range(len(names))
            for j in range(i, len(names))
        ]
    rows += [
        ["water", name, "", f"{value:.2f}"]
        for name, value in zip(ATOM_TYPES, potentials.water, strict=True)
    ]
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("second", type=Path)
    parser.add_argument("unpacked", type=Path)
    parser.add_argument("--table", type=Path, default=TABLE)
    args = parser.parse_args()
    labelled = [
        pd.read_csv(args.second / name)
        for name in ("first_sets_clusters.csv", "predicted_labels.csv")
    ]
    natives = pd.read_csv(args.second / "natives.csv")
    natives = (
        natives[~natives["cluster"].isin(pd.concat(labelled)["cluster"])]
        .groupby("cluster")
        .head(A_CLUSTER)
    )
    counts = Counts()
    for name, partners in zip(natives["id"], natives["partners"], strict=True):
        complex_ = read_complex(args.unpacked / name / "bound.pdb").without_hydrogens()
        counts.add(
            complex_.with_partners(tuple(tuple(side) for side in partners.split(":")))
        )
    write_potentials(counts.potentials(), args.table)
    print(
        f"{len(natives)} natives of {natives['cluster'].nunique()} clusters; "
        f"{counts.atoms.sum() / 2:.3g} atom pairs"
    )


if __name__ == "__main__":
    main()
