"""Counts the potentials of lib/toporank/features/potentials.csv in natives.

    OMP_NUM_THREADS=1 PYTHONPATH=lib python benchmarks/scorer_potentials.py SECOND UNPACKED

SECOND is the folder of the second data release, UNPACKED what its `structures.py unpack natives.structures` made. At
most three natives of a cluster count, and none of a cluster with labelled decoys: so the potentials have not seen
what a scorer that uses them is trained or judged on, but for the decoys made of natives.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd

from toporank.features.potentials import TABLE, Counts, write_potentials
from toporank.structures.read import read_complex

A_CLUSTER = 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("second", type=Path)
    parser.add_argument("unpacked", type=Path)
    parser.add_argument("--table", type=Path, default=TABLE)
    args = parser.parse_args()
    labelled = [pd.read_csv(args.second / name) for name in ("first_sets_clusters.csv", "predicted_labels.csv")]
    natives = pd.read_csv(args.second / "natives.csv")
    natives = natives[~natives["cluster"].isin(pd.concat(labelled)["cluster"])].groupby("cluster").head(A_CLUSTER)
    counts = Counts()
    for name, partners in zip(natives["id"], natives["partners"], strict=True):
        complex_ = read_complex(args.unpacked / name / "bound.pdb").without_hydrogens()
        counts.add(complex_.with_partners(tuple(tuple(side) for side in partners.split(":"))))
    write_potentials(counts.potentials(), args.table)
    print(f"{len(natives)} natives of {natives['cluster'].nunique()} clusters; {counts.atoms.sum() / 2:.3g} atom pairs")


if __name__ == "__main__":
    main()
