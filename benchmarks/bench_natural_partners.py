"""How many antibodies, T-cell receptors and MHC molecules of natives are recognised, and which
other chains are joined.

    PYTHONPATH=lib python benchmarks/bench_natural_partners.py --natives FOLDER --table natives.csv

FOLDER has a structure file `<id>/bound.pdb` or `<id>.pdb` for each row of the table, which has the
columns `id`, `kind` (such as `antibody-antigen`, `nanobody-antigen`, `tcr-pmhc`) and `partners`:
the chains of both sides, each a letter, as in `HL:A`. Chains are joined rightly if both are on one
side. All other joins are printed, and those of a kind without such bodies: somebody has to look at
them.
"""

from __future__ import annotations

import argparse
import csv
from collections import Counter
from pathlib import Path

from toporank.chains.immune import bodies_of, pairs_of
from toporank.structures.read import read_complex

WITH_BODIES = ("antibody-antigen", "tcr-pmhc")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--natives", type=Path, required=True)
    parser.add_argument("--table", type=Path, required=True)
    args = parser.parse_args()
    with args.table.open(newline="") as file:
        rows = list(csv.DictReader(file))
    natives: Counter[str] = Counter()
    joined: Counter[tuple[str, str]] = Counter()
    partners: Counter[tuple[str, bool]] = Counter()
    to_look_at = []
    for row in rows:
        path = args.natives / row["id"] / "bound.pdb"
        complex_ = read_complex(
            path if path.exists() else args.natives / f"{row['id']}.pdb"
        )
        pairs = pairs_of(complex_.protein_chains)
        sides = [set(side) for side in row["partners"].split(":")]
        natives[row["kind"]] += 1
        joined.update((row["kind"], what) for what in {pair.what for pair in pairs})
        partners[row["kind"], bool(bodies_of(complex_.chains, pairs))] += 1
        expected = row["kind"] in WITH_BODIES
        for pair in pairs:
            if not expected or not any(
                {pair.first, pair.second} <= side for side in sides
            ):
                to_look_at.append((row["id"], row["kind"], row["partners"], *pair))
        if expected and not pairs:
            to_look_at.append(
                (row["id"], row["kind"], row["partners"], "nothing", "", "")
            )
    for kind, n in sorted(natives.items()):
        found = ", ".join(
            f"{joined[kind, what]} with {what}"
            for of, what in sorted(joined)
            if of == kind
        )
        print(
            f"{kind}: {n} natives, {partners[kind, True]} with joined partners; "
            f"{found or 'no pairs'}"
        )
    for line in to_look_at:
        print(*line, sep="\t")


if __name__ == "__main__":
    main()
