"""Do partners answer the question that was asked? Real complexes with partners in place, turned,
away and missing.

Scores arrangements whose order everybody knows, with a trained checkpoint, and prints the ranking
and every broken expectation: complete arrangements before those with a partner away or missing
(whatever the checkpoint), and an antigen in place before one that is turned (by the checkpoint).
Then CPU seconds of partners and of interfaces.

    PYTHONPATH=lib:tests python benchmarks/bench_partners.py --natives FOLDER --checkpoint FILE

natives : `<id>/bound.pdb` of the complexes named below, PDB files; those that are missing are left
out and named.
"""

from __future__ import annotations

import argparse
import csv
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from complexes import antibody_decoys, away, chains_of, without, write_pdb
from structures_text import atoms_of
from toporank.building.chunks.artefacts import artefacts_of
from toporank.building.chunks.stages import Source, structure_digest
from toporank.building.chunks.store import Store
from toporank.chains.partners import parse_partners
from toporank.features.registry import DEFAULT_MODULES, resolve

REPOSITORY = Path(__file__).resolve().parents[1]
TWO_PARTNERS = {
    "1N8Z": "A+B:C", "3SE8": "H+L:G", "7DAA": "H+L:A", "7LF7": "H+L:M", "7LR4": "H+L:D", "3HMX": "H+L:A+B",
    "6CQR_tcr": "A+B+C:D+E", "1G6R_tcr": "H+L+P:A+B", "1ERN": "A:B", "1I07": "A:B",
}  # fmt: skip
"""Antibodies, T-cell receptors on peptide and MHC, homodimers: the last partner of each is moved.
"""
MANY = {"4JCV": "ADBCE", "3WD5": "ABC"}
"""A complex of five chains, and a ring of three: the last chain is moved, no partners are said."""
SEVEN = "4GAM"
"""Seven chains, for the cost of interfaces."""


def decoys(natives: Path, folder: Path) -> list[str]:
    """Write the arrangements; the targets that are missing."""
    missing, partners = [], ["target,partners"]
    for target, text in TWO_PARTNERS.items():
        source = natives / target / "bound.pdb"
        if not source.exists():
            missing.append(target)
            continue
        first, last = (part.split("+") for part in text.split(":"))
        atoms = chains_of(atoms_of(source), [*first, *last])
        antibody_decoys(folder / target, atoms, "".join(last))
        partners.append(f"{target},{text}")
    for target, chains in MANY.items():
        source = natives / target / "bound.pdb"
        if not source.exists():
            missing.append(target)
            continue
        atoms = chains_of(atoms_of(source), chains)
        write_pdb(folder / target / "native.pdb", atoms)
        write_pdb(folder / target / "away50.pdb", away(atoms, chains[-1], 50.0))
        write_pdb(folder / target / "no_last.pdb", without(atoms, chains[-1]))
    (folder / "partners.csv").write_text("\n".join(partners) + "\n")
    return missing


def rankings(home: Path, checkpoint: Path) -> dict[str, list[dict[str, str]]]:
    """Score the decoys in `home/in` as a user would; rows of models.csv by target."""
    command = [
        sys.executable,
        "-m",
        "snakemake",
        "--snakefile",
        str(REPOSITORY / "Snakefile"),
        "--directory",
        str(home),
    ]
    command += [
        "--cores",
        str(os.cpu_count()),
        "score",
        "--config",
        "score_decoys=in",
        f"scorer={checkpoint}",
    ]
    subprocess.run(
        command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    found: dict[str, list[dict[str, str]]] = {}
    with open(home / "results/scores/in/models.csv", newline="") as handle:
        for row in csv.DictReader(handle):
            found.setdefault(row["target"], []).append(row)
    return found


def faults(rows: list[dict[str, str]]) -> list[str]:
    """What is not as it must be in the ranking of a target."""
    complete = [row["decoy"] for row in rows if row["status"] == "ok"]
    order = [row["decoy"] for row in rows]
    broken = []
    if set(complete) - {"native", "turned"} or "native" not in complete:
        broken.append(f"scored: {', '.join(complete)}")
    if sorted(order[: len(complete)]) != sorted(complete):
        broken.append("a decoy that is not complete ranks before one that is")
    if order[0] != "native":
        broken.append(f"{order[0]} ranks before the native")
    return broken


def seconds(path: Path, partners: str, part: str, repeats: int = 3) -> float:
    """CPU seconds of a part of the artefacts of a decoy, computed anew each time; the median."""
    choices, taken = resolve({stage: {} for stage in DEFAULT_MODULES}), []
    for _ in range(repeats + 1):  # the first one loads libraries
        with tempfile.TemporaryDirectory() as store:
            said = parse_partners(partners) if partners else ()
            source = Source(path, structure_digest(path))
            made = artefacts_of(source, Store(Path(store)), choices, said)
            if part == "interfaces":
                _ = made["graphs"]
            started = time.process_time()
            _ = made.interfaces if part == "interfaces" else made[part]
            taken.append(time.process_time() - started)
    return median(taken[1:])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--natives", type=Path, required=True)
    parser.add_argument("--checkpoint", type=Path, required=True)
    args = parser.parse_args()

    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        missing = decoys(args.natives, home / "in")
        print(f"{'target':9}  order of the ranking")
        for target, rows in rankings(home, args.checkpoint.resolve()).items():
            order = [
                f"{row['decoy']} {row['dockq'][:5] or row['status']}" for row in rows
            ]
            print(
                f"{target:9}  "
                f"{' > '.join(order)}{''.join(f'  <- {fault}' for fault in faults(rows))}"
            )
        print(f"left out: {', '.join(missing) or 'none'}")
        two = write_pdb(home / "two.pdb", atoms_of(args.natives / "1ERN/bound.pdb"))
        plain, said = (seconds(two, partners, "graphs") for partners in ("", "A:B"))
        print(
            f"two chains: {plain:.3f} CPU s without partners, {said:.3f} with them, "
            f"{said / plain:.2f} times"
        )
        whole = args.natives / SEVEN / "bound.pdb"
        graph, parts = (seconds(whole, "", part) for part in ("graphs", "interfaces"))
        print(
            f"seven chains: {graph:.3f} CPU s the graph, {parts:.3f} its interfaces besides, "
            f"{parts / graph:.2f} times"
        )


if __name__ == "__main__":
    main()
