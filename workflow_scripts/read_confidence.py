#!/usr/bin/env python3
"""Write what predictors say of the decoys of a data set."""

import argparse
import functools
import logging
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from toporank.building.chunk import making
from toporank.building.ledger import last_fates
from toporank.building.plan import PlannedDecoy, read_chunk, read_current
from toporank.building.store import Store
from toporank.confidence.decoy import Asked
from toporank.confidence.job import confidences
from toporank.confidence.table import AUTO, INCOMPLETE, NOTHING, Choice, write_confidence
from toporank.decoys.identity import Status
from toporank.decoys.partners import parse_partners
from toporank.errors import TopoRankError
from toporank.evaluation.coverage import read_coverage
from toporank.structures.complex import Complex
from toporank.structures.stored import from_bytes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--coverage", type=Path, required=True)
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--plddt", choices=get_args(Choice), default=AUTO, help="whether B factors are pLDDT")
    parser.add_argument("--table", type=Path, required=True, help="written")
    args = parser.parse_args()
    logging.basicConfig(level=logging.WARNING, format="%(message)s")

    try:
        rows = confidences(asked(args.dataset, args.coverage, Store(args.store)), args.plddt)
    except TopoRankError as error:
        sys.exit(str(error))
    write_confidence(args.table, rows)
    found = [row for row in rows if row.status != NOTHING]
    print(f"{args.dataset}: predictors speak of {len(found)} of {len(rows)} decoys")
    for row in found:
        if row.status == INCOMPLETE:
            print(f"  {row.target}/{row.decoy}: {row.reason}")


def asked(dataset: str, coverage: Path, store: Store) -> Iterator[Asked]:
    """The decoys of a data set, each with its atoms as they were built."""
    current = read_current(dataset)
    plan = {decoy.key: decoy for chunk in current.of_all for decoy in read_chunk(dataset, chunk)}
    fates = last_fates(dataset, current)
    for row in read_coverage(coverage):
        if row.status in (Status.NO_DECOY, Status.NOT_BUILT):
            continue
        decoy = plan[row.target, row.decoy]
        partners = parse_partners(decoy.partners) if decoy.partners else ()
        fate = fates.get(decoy.key)
        digest = fate.structure_sha256 if fate else ""
        atoms = functools.partial(built, decoy, digest, store) if digest else None
        yield Asked(*decoy.key, Path(decoy.path) if decoy.path else None, partners, digest, atoms, decoy.model)


def built(decoy: PlannedDecoy, digest: str, store: Store) -> Complex:
    """The atoms of a decoy, from the reuse store."""
    return from_bytes(making(decoy, digest, {}, store).complex.content)


if __name__ == "__main__":
    main()
