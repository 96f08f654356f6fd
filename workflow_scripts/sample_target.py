#!/usr/bin/env python3
"""Make labelled decoys of one native."""

import argparse
import logging
from functools import partial
from pathlib import Path

from toporank import layout
from toporank.files.atomic import note_progress
from toporank_sampling.rows import write_rows
from toporank_sampling.target import Sampled, SamplingSettings, sample


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", required=True)
    parser.add_argument(
        "--native", type=Path, required=True, help="structure of the complex"
    )
    parser.add_argument(
        "--unbound",
        type=Path,
        nargs="*",
        default=[],
        help="structures of single partners",
    )
    parser.add_argument(
        "--partners", default="", help="such as H+L:A; not needed for two chains"
    )
    parser.add_argument("--decoys", type=int, required=True, help="how many to make")
    parser.add_argument(
        "--rotations", type=int, required=True, help="of global docking"
    )
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument(
        "--output",
        type=Path,
        required=True,
        help="folder of the decoys and of poses.csv",
    )
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")

    noting = layout.PROGRESS.format(dataset=layout.SAMPLING, chunk=args.target)
    source = Sampled(args.target, args.native, args.unbound, args.partners)
    settings = SamplingSettings(args.decoys, args.rotations, args.seed)
    rows = sample(source, args.output, settings, partial(note_progress, noting))
    write_rows(args.output / layout.POSES, rows)


if __name__ == "__main__":
    main()
