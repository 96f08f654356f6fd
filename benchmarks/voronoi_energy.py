"""Whether the VoroMQA energy of an interface ranks decoys, alone and beside the network.

    pip install voronotalt==1.1.479; apt-get install voronota
    PYTHONPATH=lib python benchmarks/voronoi_energy.py DATA [--out docs/research/voronoi_energy.csv]

DATA is what scorer_decoys.py laid out. The energy is the sum, over contacts between partners, of
Voronoi area × contact potential (VoroMQA v1, Olechnovič & Venclovas 2017; the table comes with
Voronota). What networks say comes from docs/scorer/predictions.csv.gz. A decoy takes about 0.07 CPU
seconds.
"""

from __future__ import annotations

import argparse
import functools
import subprocess
from multiprocessing import Pool
from pathlib import Path

import numpy as np
import pandas as pd
import voronotalt

from toporank.metrics import ranking_loss, spearman

PREDICTIONS = Path("docs/scorer/predictions.csv.gz")
POTENTIAL = ["voronota-resources", "voromqa_v1_energy_potential"]
BETWEEN_CHAINS = "sep2"
"""Kind of contact of the potential: of residues that are not neighbours in a chain."""
SAME = {
    ("PHE", "CE2"): "CE1",
    ("PHE", "CD2"): "CD1",
    ("TYR", "CE2"): "CE1",
    ("TYR", "CD2"): "CD1",
    ("GLU", "OE2"): "OE1",
    ("ASP", "OD2"): "OD1",
    ("ARG", "NH2"): "NH1",
}
"""Atoms that the potential counts as others of their residue."""
WEIGHTS = (0.02, 0.05, 0.1)
"""Of the energy beside the network, in DockQ for a standard deviation within targets of its group."""
SPREAD = 0.1
"""A target counts where its decoys differ by so much in DockQ."""

Atom = tuple[str, str]


@functools.cache
def read_potential() -> dict[tuple[Atom, Atom], float]:
    """Energy of each pair of kinds of atoms, in both orders."""
    text = subprocess.run(POTENTIAL, capture_output=True, text=True, check=True).stdout
    potential = {}
    for line in text.splitlines():
        first, second, kind, energy = line.split()
        if kind == BETWEEN_CHAINS:
            one, other = _kind_of_atom(first), _kind_of_atom(second)
            potential[one, other] = potential[other, one] = float(energy)
    return potential


def _kind_of_atom(text: str) -> Atom:
    """`R<ALA>A<CB>` as residue and atom."""
    residue, atom = text.removeprefix("R<").removesuffix(">").split(">A<")
    return residue, atom


def energy_of(path: Path, partners: str) -> tuple[float, float]:
    """Energy and area of the contacts between partners, such as `A+B:C`."""
    potential = read_potential()
    partner_of = {}
    for i, partner in enumerate(partners.split(":")):
        partner_of.update(dict.fromkeys(partner.split("+"), i))
    tessellation = voronotalt.MolecularRadicalTessellation.from_file(
        input_file=str(path),
        record_everything_possible=False,
        record_inter_atom_contact_summaries=True,
        compute_only_inter_chain_contacts=True,
    )
    energy = area = 0.0
    for contact in tessellation.inter_atom_contact_summaries:
        ends = contact.ID1_chain, contact.ID2_chain
        if partner_of.get(ends[0]) == partner_of.get(ends[1]):
            continue
        one = _named(contact.ID1_residue_name, contact.ID1_atom_name)
        other = _named(contact.ID2_residue_name, contact.ID2_atom_name)
        energy += contact.area * potential.get((one, other), 0.0)
        area += contact.area
    return energy, area


def _named(residue: str, atom: str) -> Atom:
    if atom == "OXT":
        return residue, "O"
    return residue, SAME.get((residue, atom), atom)


def with_energies(data: Path, processes: int) -> pd.DataFrame:
    """The labelled decoys with `energy` and `area`."""
    labels = [pd.read_csv(path) for path in sorted(data.glob("*/labels.csv"))]
    decoys = pd.concat(labels, ignore_index=True).rename(
        columns={"Target": "target", "Model": "decoy", "Partners": "partners"}
    )
    calls = []
    for row in decoys.itertuples():
        path = data / row.group / "decoys" / row.target / f"{row.decoy}.pdb"
        calls.append((path, row.partners))
    with Pool(processes) as pool:
        found = pool.starmap(energy_of, calls, chunksize=16)
    decoys["energy"], decoys["area"] = np.transpose(found)
    return decoys[["group", "target", "decoy", "energy", "area"]]


def ranked(decoys: pd.DataFrame, column: str) -> tuple[float, float, int]:
    """Mean ranking loss and Spearman over targets, and how many targets count."""
    losses, orders = [], []
    for _, target in decoys.groupby("target"):
        dockq, values = target["dockq"].to_numpy(), target[column].to_numpy()
        if np.ptp(dockq) >= SPREAD:
            losses.append(ranking_loss(dockq, values))
            orders.append(np.nan_to_num(spearman(dockq, values)))
    return float(np.mean(losses)), float(np.mean(orders)), len(losses)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument(
        "--out", type=Path, default=Path("docs/research/voronoi_energy.csv")
    )
    args = parser.parse_args()
    decoys = with_energies(args.data, args.cores).merge(
        pd.read_csv(PREDICTIONS), on=["group", "target", "decoy"]
    )
    decoys["low energy"] = -decoys["energy"]
    decoys["low energy per area"] = -decoys["energy"] / decoys["area"].clip(lower=1)
    targets = decoys.groupby(["group", "target"])["low energy"]
    deviation = decoys["low energy"] - targets.transform("mean")
    deviation /= deviation.groupby(decoys["group"]).transform("std")
    for weight in WEIGHTS:
        decoys[f"network + {weight:g} energy"] = decoys["network"] + weight * deviation
    witnesses = ["network", "area", "low energy", "low energy per area"]
    witnesses += [name for name in decoys if name.startswith("network + ")]
    rows = []
    for group, part in decoys.groupby("group"):
        for witness in witnesses:
            loss, order, n = ranked(part, witness)
            rows.append((group, witness, n, round(loss, 3), round(order, 2)))
    table = pd.DataFrame(rows, columns=["group", "witness", "targets", "loss", "rho"])
    table.to_csv(args.out, index=False)
    print(table.to_string(index=False))


if __name__ == "__main__":
    main()
