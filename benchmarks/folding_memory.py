"""Whether ProteinMPNN knows natives that it may have learned from better than natives that came later.

    PYTHONPATH=lib python benchmarks/folding_memory.py SECOND UNPACKED docs/scorer

SECOND is the second data release, UNPACKED a folder of its natives (`structures.py unpack`). ProteinMPNN was trained on
entries of the PDB until 2 August 2021. An entry named 7S.. or higher came later. Antibodies and nanobodies are compared
with their own kind, because only they are many in both eras. A cluster counts once; 95 % intervals by bootstrap.
Writes folding_memory.csv.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from toporank.features.inverse_folding import folding, measures
from toporank.structures.read import read_complex

KINDS = ("antibody-antigen", "nanobody-antigen")
LATER = "7S"
A_CLUSTER = 2
MEASURES = ("gain_contacts", "gain_mean", "together_mean", "apart_mean", "recovery", "rank_mean")
DRAWS = 2000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("second", "unpacked", "tables"):
        parser.add_argument(name, type=Path)
    args = parser.parse_args()
    natives = pd.read_csv(args.second / "natives.csv", dtype={"cluster": str})
    natives = natives[natives["kind"].isin(KINDS)]
    natives["later"] = natives["pdb"].str.upper() >= LATER
    natives = natives.groupby(["kind", "later", "cluster"]).head(A_CLUSTER)
    rows = []
    for row in natives.itertuples():
        sides = tuple(tuple(side) for side in row.partners.split(":"))
        said = measures(folding(read_complex(args.unpacked / row.id / "bound.pdb").with_partners(sides)))
        rows.append({"kind": row.kind, "later": row.later, "cluster": row.cluster, **said})
    result = compared(pd.DataFrame(rows).groupby(["kind", "later", "cluster"], as_index=False).mean())
    result.round(4).to_csv(args.tables / "folding_memory.csv", index=False)
    print(result.round(3).to_string(index=False))


def compared(table: pd.DataFrame) -> pd.DataFrame:
    """Means of both eras and their difference, later minus earlier. table : a row for each kind, era and cluster."""
    draw, rows = np.random.default_rng(0), []
    for kind in KINDS:
        for name in MEASURES:
            eras = [table.loc[(table["kind"] == kind) & (table["later"] == later), name].dropna().to_numpy()
                    for later in (False, True)]  # fmt: skip
            drawn = [draw.choice(values, (DRAWS, len(values))).mean(axis=1) for values in eras]
            low, high = np.percentile(drawn[1] - drawn[0], [2.5, 97.5])
            means = [values.mean() for values in eras]
            rows.append((kind, name, *map(len, eras), *means, means[1] - means[0], low, high))
    columns = ["kind", "measure", "clusters_earlier", "clusters_later", "earlier", "later", "difference", "low", "high"]
    return pd.DataFrame(rows, columns=columns)


if __name__ == "__main__":
    main()
