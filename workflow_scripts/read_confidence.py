#!/usr/bin/env python3
"""Write what predictors say of the decoys of a data set."""

import argparse
import sys
from pathlib import Path

from toporank.building.plan import read_chunk, read_current
from toporank.confidence.decoy import confidence_of
from toporank.confidence.files import place_of
from toporank.confidence.table import INCOMPLETE, NOTHING, Confidence, write_confidence
from toporank.decoys.identity import Status
from toporank.decoys.partners import parse_partners
from toporank.errors import TopoRankError
from toporank.evaluation.coverage import read_coverage


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--coverage", type=Path, required=True)
    parser.add_argument("--table", type=Path, required=True, help="written")
    args = parser.parse_args()

    rows = []
    try:
        plan = {d.key: d for chunk in read_current(args.dataset).of_all for d in read_chunk(args.dataset, chunk)}
        for row in read_coverage(args.coverage):
            if row.status in (Status.NO_DECOY, Status.NOT_BUILT):
                continue
            decoy = plan[row.target, row.decoy]
            partners = parse_partners(decoy.partners) if decoy.partners else ()
            key = row.target, row.decoy
            rows.append(
                Confidence(*key) if decoy.refused else confidence_of(*key, place_of(Path(decoy.path)), partners)
            )
    except TopoRankError as error:
        sys.exit(str(error))
    write_confidence(args.table, rows)
    found = [row for row in rows if row.status != NOTHING]
    print(f"{args.dataset}: predictors speak of {len(found)} of {len(rows)} decoys")
    for row in found:
        if row.status == INCOMPLETE:
            print(f"  {row.target}/{row.decoy}: {row.reason}")


if __name__ == "__main__":
    main()
