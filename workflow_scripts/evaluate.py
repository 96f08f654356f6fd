#!/usr/bin/env python3
"""Hold a ranking against the labels."""

import argparse
import json
from pathlib import Path

import pandas as pd

from toporank.decoys.labels import COLUMNS, read_split_labels
from toporank.evaluation.evaluate import evaluate
from toporank.evaluation.ranking import read_ranking
from toporank.files import write_text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ranking", type=Path, required=True)
    parser.add_argument("--labels", type=Path, required=True)
    parser.add_argument("--per-target", type=Path, required=True, help="written")
    parser.add_argument("--summary", type=Path, required=True, help="written")
    args = parser.parse_args()

    labels = pd.DataFrame(read_split_labels(args.labels), columns=list(COLUMNS)).astype({"dockq": float})
    table, summary = evaluate(read_ranking(args.ranking), labels)
    write_text(args.per_target, table.to_csv(index=False))
    write_text(args.summary, json.dumps(summary, indent=1))


if __name__ == "__main__":
    main()
