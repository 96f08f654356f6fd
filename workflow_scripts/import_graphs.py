#!/usr/bin/env python3
"""Check and pack the graphs of another pipeline, and join them with their labels."""

import argparse
import json
import sys
from pathlib import Path

from toporank.building.coverage import counts, write_coverage
from toporank.building.imported import import_graphs
from toporank.building.packing import write_pack
from toporank.comparing.homology.chain_tables import write_chains
from toporank.errors import TopoRankError
from toporank.inputs.graph_files import find_graph_files
from toporank.inputs.labels import read_labels, write_labels
from toporank.learning.pyg_files import examine_graph_files, read_pyg_graph


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", required=True)
    parser.add_argument(
        "--graphs", type=Path, required=True, help="folder of the graphs"
    )
    parser.add_argument(
        "--label-tables",
        required=True,
        help="label table of each split, or of all, as JSON",
    )
    for name in ("coverage", "chains", "labels", "pack"):
        parser.add_argument(f"--{name}", type=Path, required=True, help="written")
    args = parser.parse_args()

    try:
        tables = {
            split: Path(path) for split, path in json.loads(args.label_tables).items()
        }
        table = read_labels(
            tables, split_by="cluster", validation_percent=0, split_seed=0
        )
        files = examine_graph_files(
            args.graphs, find_graph_files(args.graphs, args.dataset)
        )
        imported = import_graphs(args.dataset, files, table, read_pyg_graph)
        n_read = write_pack(args.pack, imported.members)
        write_coverage(args.coverage, imported.coverage)
    except TopoRankError as error:
        sys.exit(str(error))
    write_chains(args.chains, imported.chains)
    write_labels(args.labels, imported.labels)
    print(
        f"{args.dataset}: {counts(imported.coverage)}; {n_read} of {len(files)} graphs packed anew"
    )
    for note in imported.notes:
        print(f"{args.dataset}: {note}")


if __name__ == "__main__":
    main()
