#!/usr/bin/env python3
"""Write one table of all sampled decoys, and one of those that have a label."""

import argparse
from collections import Counter
from pathlib import Path

from toporank.layout import POSES
from toporank.structures.identity import Status
from toporank_sampling.rows import read_rows, write_rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--samples", type=Path, nargs="+", required=True, help="folders of targets"
    )
    parser.add_argument(
        "--labels", type=Path, required=True, help="written: a row for each decoy"
    )
    parser.add_argument(
        "--poses", type=Path, required=True, help="written: the same, and what failed"
    )
    args = parser.parse_args()

    rows = [row for folder in args.samples for row in read_rows(folder / POSES)]
    good = [row for row in rows if row.Status == Status.OK]
    write_rows(args.poses, rows)
    write_rows(args.labels, good)
    without = sorted({row.Target for row in rows} - {row.Target for row in good})
    classes = ", ".join(
        f"{n} {name}" for name, n in Counter(row.CAPRI for row in good).items()
    )
    print(
        f"{len(good)} decoys of {len(args.samples) - len(without)} targets ({classes}); labels: "
        f"{args.labels}"
    )
    if without:
        print(
            f"{len(without)} targets without decoys, such as {without[0]}; reasons: {args.poses}"
        )


if __name__ == "__main__":
    main()
