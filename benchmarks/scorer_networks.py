"""What parts of the networks are worth to the shipped scorer: networks that do without them, judged out of fold.

    snakemake --cores 2 cross_validate --configfile config/scorer.yaml benchmarks/scorer_networks.yaml
    PYTHONPATH=lib python benchmarks/scorer_networks.py docs/scorer "with all=STUDY:local" "without x=OTHER:x"

A network is named by what it is called here, the folder in which `cross_validate` ran, and its configuration there:
folders of their own, since runs of the scorer have the same names.
Each is judged by itself, together with the votes of the other decoys, and in the scorer. Figures are means over the
seeds, with 95 % intervals by bootstrap over clusters.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
from pathlib import Path

import pandas as pd

from scorer import MADE, METRICS, SEED, SHOWN, judged, read_table, with_interval
from toporank import layout
from toporank.scorer.evidence import CrossValidation
from toporank.scorer.make import TrainingTable

ANSWERS = ("networks", "networks and votes", "scorer")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", type=Path, help="written: networks.csv in this folder")
    parser.add_argument("networks", nargs="+", metavar="NAME=STUDY:CONFIG")
    args = parser.parse_args()
    tables, found = args.tables.resolve(), []
    for one in args.networks:
        name, _, where = one.partition("=")
        folder, _, config = where.rpartition(":")
        with contextlib.chdir(folder):
            found.append(of_study(config).assign(networks=name))
    result = pd.concat(found)
    tables.mkdir(parents=True, exist_ok=True)
    result.round(4).to_csv(tables / "networks.csv", index=False)
    print(markdown(result))


def of_study(config: str) -> pd.DataFrame:
    """The networks of a configuration of the study in this folder: by themselves, with votes, and in the scorer."""
    known = read_table(Path(layout.FOLD_PREDICTIONS))["dataset"]
    study, said = CrossValidation(Path(), known.unique()), {answer: [] for answer in ANSWERS}
    for i, run in enumerate(study.runs(config)):
        table = TrainingTable(study.with_networks(run), study.descriptors, study.names, study.similarity, MADE)
        both = [table.out_of_fold(inputs, SEED + i) for inputs in table.judges]
        values = table.decoys["pred_dockq"].to_numpy(), both[1], table.leaning(*both)
        for answer, predictions in zip(ANSWERS, values, strict=True):
            said[answer].append(predictions)
    return judged(study.decoys, said)


def markdown(result: pd.DataFrame) -> str:
    """A table of every metric with its interval."""
    groups = [group for group in SHOWN if group in set(result["group"])]
    values, lines = result.set_index(["metric", "answer", "networks", "group"]), []
    for metric, title in METRICS.items():
        lines += [f"### {title}", "", f"| | | {' | '.join(groups)} |", "| --- | --- |" + " ---: |" * len(groups)]
        for answer, name in itertools.product(ANSWERS, result["networks"].unique()):
            cells = (with_interval(values.loc[metric, answer, name, group]) for group in groups)
            lines.append(f"| {answer} | {name} | {' | '.join(cells)} |")
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
