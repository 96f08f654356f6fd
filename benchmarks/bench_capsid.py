"""What `toporank score` costs for a capsid of 120 chains, in CPU seconds and memory.

    PYTHONPATH=lib:tests python benchmarks/bench_capsid.py [--radius 110 130 150] [--cores 1]

Sixty copies of an example with two chains stand around a point as the proteins of an icosahedral
virus do. The smaller the radius, the more residues are at interfaces: CPU seconds for each of them
shall not grow with their number. Each measurement is one command in a folder of its own, its child
processes included; memory is that of the largest process.
"""

from __future__ import annotations

import argparse
import csv
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import gemmi
import numpy as np
from scipy.spatial.transform import Rotation

from structures_text import EXAMPLES

SOURCE = EXAMPLES / "2I25" / "mid1.pdb.gz"
TOWARDS = np.array([0.25, 0.1, 1.0]) / np.linalg.norm([0.25, 0.1, 1.0])
"""Where the first copy stands: away from all axes of symmetry."""


def capsid(source: Path, path: Path, radius: float) -> Path:
    """Write sixty copies of a complex, their middles `radius` Å from one point, as an mmCIF
    file.
    """
    chains = [*gemmi.read_structure(str(source))[0]]
    middle = np.mean(
        [
            atom.pos.tolist()
            for chain in chains
            for residue in chain
            for atom in residue
        ],
        axis=0,
    )
    whole, model = gemmi.Structure(), gemmi.Model(1)
    for number, turn in enumerate(Rotation.create_group("I").as_matrix()):
        for chain in chains:
            copy = chain.clone()
            copy.name = f"{chain.name}{number}"
            for residue in copy:
                residue.subchain = copy.name
                for atom in residue:
                    atom.pos = gemmi.Position(
                        *turn
                        @ (np.array(atom.pos.tolist()) - middle + radius * TOWARDS)
                    )
            model.add_chain(copy)
    whole.add_model(model)
    whole.setup_entities()
    whole.make_mmcif_document().write_file(str(path))
    return path


def measured(models: Path, out: Path, cores: int | None) -> tuple[float, float, int]:
    """CPU seconds of a scoring, MiB of its largest process, interface residues."""
    command = [sys.executable, "-m", "toporank", "score", str(models), "-o", str(out)]
    process = subprocess.Popen(
        [*command, *(["--cores", str(cores)] if cores else [])],
        stdout=subprocess.DEVNULL,
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    with open(next(out.glob("results/scores/*/models.csv")), newline="") as text:
        (row,) = csv.DictReader(text)
    return (
        used.ru_utime + used.ru_stime,
        used.ru_maxrss / 1024,
        int(row["n_interface_residues"]),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--radius", type=float, nargs="+", default=[130.0], help="Å")
    parser.add_argument("--cores", type=int, help="processor cores to use (all)")
    args = parser.parse_args()
    print(
        "| radius, Å | interface residues | CPU s | ms each | memory, MiB |\n| ---: | ---: | ---: "
        "| ---: | ---: |"
    )
    with tempfile.TemporaryDirectory(prefix="toporank-capsid-") as folder:
        for radius in args.radius:
            models = Path(folder, f"{radius:g}")
            models.mkdir()
            capsid(SOURCE, models / "capsid.cif", radius)
            seconds, memory, residues = measured(models, models / "out", args.cores)
            each = 1000 * seconds / residues
            print(
                f"| {radius:g} | {residues:,} | {seconds:.1f} | {each:.2f} | {memory:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
