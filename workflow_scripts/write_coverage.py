#!/usr/bin/env python3
"""Write what became of every decoy and every label of a data set."""

import argparse
from pathlib import Path

from toporank.building.coverage import counts, coverage_table, remove_orphans, write_coverage
from toporank.building.ledger import read_ledger
from toporank.building.plan import read_plan
from toporank.decoys.labels import read_split_labels


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--plans", type=Path, nargs="*", default=[], help="plans of all chunks")
    parser.add_argument("--ledgers", type=Path, nargs="*", default=[], help="of the last stage")
    parser.add_argument("--others", type=Path, nargs="*", default=[], help="ledgers that tell of decoys not asked for")
    parser.add_argument("--labels", type=Path, required=True)
    parser.add_argument("--table", type=Path, required=True, help="written")
    args = parser.parse_args()

    plan = [row for path in args.plans for row in read_plan(path)]
    ledger = [row for path in args.ledgers for row in read_ledger(path)]
    asked_for = {(row.target, row.decoy) for row in ledger}
    earlier = {(row.target, row.decoy): row for path in args.others for row in read_ledger(path)}
    ledger += [row for key, row in earlier.items() if key not in asked_for]
    table = coverage_table(plan, ledger, read_split_labels(args.labels))
    for orphan in remove_orphans(args.dataset, plan):
        print(f"{args.dataset}: removed {orphan}, its decoy is gone")
    write_coverage(args.table, table)
    print(f"{args.dataset}: {counts(table)}")


if __name__ == "__main__":
    main()
