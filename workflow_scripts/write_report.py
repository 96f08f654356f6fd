#!/usr/bin/env python3
"""Write the report of a study, or of a scored data set, as one HTML page."""

import argparse
import gc
import sys
from pathlib import Path

from toporank.errors import TopoRankError
from toporank.files.atomic import write_text
from toporank.ranking.leakage import write_study_leakage
from toporank.report.beside import beside
from toporank.report.page import render
from toporank.report.results import read_study


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--coverage", type=Path, nargs="+", required=True, help="coverage.tsv of each data set")
    parser.add_argument("--rankings", type=Path, nargs="*", default=[], help="ranking.csv of each data set")
    parser.add_argument(
        "--evaluations", type=Path, nargs="*", default=[], help="summary.json of each labelled data set"
    )
    parser.add_argument(
        "--leaderboard", type=Path, help="leaderboard.csv; its column `folder` says where the learning curves are"
    )
    parser.add_argument("--interfaces", type=Path, nargs="*", default=[], help="interfaces.csv of each data set")
    parser.add_argument("--confidence", type=Path, nargs="*", default=[], help="confidence.csv of each data set")
    parser.add_argument("--residues", type=Path, nargs="*", default=[], help="residues.csv of each data set")
    parser.add_argument("--scorer", type=Path, required=True, help="folder of the scorer, or a checkpoint")
    parser.add_argument("--leakage", type=Path, nargs="*", default=[], help="leakage.csv of each data set")
    parser.add_argument("--chains", type=Path, nargs="*", default=[], help="chains.csv of each data set")
    parser.add_argument("--embeddings", type=Path, nargs="*", default=[], help="embeddings.csv of each data set")
    parser.add_argument("--splits", type=Path, nargs="?", help="splits.csv, where something was trained")
    parser.add_argument("--folds", type=Path, nargs="?", help="metrics.csv of a cross-validation, if there is one")
    parser.add_argument("--study-leakage", type=Path, help="written: leakage.csv of all data sets")
    parser.add_argument("--beside", action="store_true", help="write files for PyMOL, ChimeraX and MultiQC beside it")
    parser.add_argument("--page", type=Path, required=True, help="written")
    args = parser.parse_args()
    gc.disable()  # next to no cycles are made, and looking for them takes a tenth of the time

    written = {"page", "study_leakage", "beside"}
    try:
        study = read_study(**{name: value for name, value in vars(args).items() if name not in written})
        page = render(study, args.page.parent)
        others = beside(study, args.page.parent) if args.beside else {}
    except TopoRankError as error:
        sys.exit(str(error))
    write_text(args.page, page)
    for name, text in others.items():
        write_text(args.page.with_name(name), text)
    if args.study_leakage:
        write_study_leakage(args.study_leakage, study.leakage)
    print(f"{args.page}: {len(page) / 1e6:.2f} MB, {len(study.decoys)} decoys")


if __name__ == "__main__":
    main()
