"""How good the scorer is for targets that have no homologue in the folds it was trained on.

    PYTHONPATH=lib python benchmarks/scorer_homologues.py STUDY docs/scorer

Folds are by clusters of chains that share 5-mers, which keeps the same protein apart and not families. MMseqs2 (Debian:
mmseqs2) finds chains of at least 30 % identity here. STUDY is the folder in which `cross_validate` ran; the second
folder has predictions.csv.gz of `scorer.py`, and homologues.csv is written there.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from pathlib import Path

import pandas as pd

from scorer import METRICS, SHOWN, judged, read_table, with_interval
from toporank import layout
from toporank.comparing.homology.chain_tables import compared, read_chains
from toporank.comparing.homology.mmseqs import aligned


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("study", type=Path)
    parser.add_argument("tables", type=Path)
    args = parser.parse_args()
    decoys = read_table(args.tables / "predictions.csv.gz")
    near = related(args.study, decoys)
    far = decoys[[key not in near for key in zip(decoys["dataset"], decoys["target"], strict=True)]]
    columns, found = [name for name in decoys if name.startswith("scorer")], []
    for of, part in (("all", decoys), ("without homologue", far.reset_index(drop=True))):
        targets = part.drop_duplicates(["dataset", "target"]).groupby("group").size()
        table = judged(part, {"scorer": [part[name].to_numpy() for name in columns]})
        found.append(table.assign(of=of, targets=table["group"].map(targets)))
    result = pd.concat(found)[["group", "of", "targets", "clusters", "metric", "value", "low", "high"]]
    result.round(4).to_csv(args.tables / "homologues.csv", index=False)
    print(f"| | | targets | {' | '.join(METRICS.values())} |\n| --- | --- | ---: |{' ---: |' * len(METRICS)}")
    rows = result.set_index(["group", "of", "metric"]).sort_index()
    for group in SHOWN:
        for of in ("all", "without homologue"):
            if (group, of) in rows.index:
                cells = [rows.loc[group, of, metric] for metric in METRICS]
                print(f"| {group} | {of} | {cells[0]['targets']:.0f} | {' | '.join(map(with_interval, cells))} |")


def related(study: Path, decoys: pd.DataFrame) -> set[tuple[str, str]]:
    """(data set, target) of those with a chain that is like one of a target in another fold."""
    fold = decoys.groupby(["dataset", "target"])["fold"].first().to_dict()
    owners = defaultdict(set)
    for dataset in decoys["dataset"].unique():
        for target, sequences in compared(read_chains(study / layout.CHAINS.format(dataset=dataset))).items():
            if (dataset, target) in fold:
                for sequence in sequences:
                    owners[sequence].add((dataset, target))
    sequences = sorted(owners)
    pairs = ((a, b) for i, j in aligned(sequences) for a in owners[sequences[i]] for b in owners[sequences[j]])
    return {one for pair in pairs if fold[pair[0]] != fold[pair[1]] for one in pair}


if __name__ == "__main__":
    main()
