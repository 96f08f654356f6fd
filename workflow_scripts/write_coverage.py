#!/usr/bin/env python3
"""Write what became of every decoy and label of a data set, and the chains of its targets; remove
old records.
"""

import argparse
import gc
import sys
from pathlib import Path

from toporank import layout
from toporank.building.built import read_built
from toporank.building.chunks.ledger import remove_old
from toporank.building.chunks.plan import read_current
from toporank.building.chunks.store import Store
from toporank.building.coverage import counts, coverage_table, write_coverage
from toporank.building.target_chains import correspondence_of, target_chains
from toporank.comparing.homology.chain_tables import read_chains, write_chains
from toporank.errors import TopoRankError
from toporank.inputs.labels import read_split_labels


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--store", type=Path, required=True, help="reuse store")
    parser.add_argument("--table", type=Path, required=True, help="written")
    parser.add_argument(
        "--chains",
        type=Path,
        required=True,
        help="written; what is in it already is not read again",
    )
    args = parser.parse_args()
    # next to no cycles are made, and looking for them takes a tenth of the time
    gc.disable()

    try:
        current, (plan, fates) = read_current(args.dataset), read_built(args.dataset)
        decoys = [*plan.values()]
        labels = read_split_labels(Path(layout.LABELS.format(dataset=args.dataset)))
        store = Store(args.store)
        table = coverage_table(
            decoys, fates.values(), labels, *correspondence_of(decoys, fates, store)
        )
        remove_old(args.dataset, current)
        earlier = read_chains(args.chains) if args.chains.exists() else []
        write_chains(args.chains, target_chains(decoys, fates, earlier, store))
        write_coverage(args.table, table)
    except TopoRankError as error:
        sys.exit(str(error))
    print(f"{args.dataset}: {counts(table)}")


if __name__ == "__main__":
    main()
