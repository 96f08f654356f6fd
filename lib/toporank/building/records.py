"""What all ledgers of a data set say together, and which of them are of no more use."""

from __future__ import annotations

from pathlib import Path

from toporank import layout
from toporank.building.ledger import LedgerRow, read_ledger
from toporank.building.plan import Current, chunk_names


def last_fates(dataset: str, current: Current) -> dict[tuple[str, str], LedgerRow]:
    """What became of every decoy in the last stage: in this run or, of a part, in the latest one that built it."""
    folder = Path(layout.LEDGER.format(dataset=dataset, stage=layout.STAGES[-1], chunk="x")).parent
    earlier = chunk_names(folder) if current.chunks != current.of_all else []
    return {row.key: row for chunk in [*earlier, *current.chunks] for row in read_ledger(folder / f"{chunk}.tsv").rows}


def remove_old(dataset: str, current: Current) -> None:
    """Delete plans and ledgers of chunks that are no more, once a run has built all decoys.

    Plans that were written since the run began belong to a dry run beside it.
    """
    if current.chunks != current.of_all:
        return
    began = Path(layout.CURRENT.format(dataset=dataset)).stat().st_mtime_ns
    ledgers = [layout.LEDGER.format(dataset=dataset, stage=stage, chunk="x") for stage in layout.STAGES]
    for folder in [Path(path).parent for path in (*ledgers, layout.PLAN.format(dataset=dataset, chunk="x"))]:
        for chunk in set(chunk_names(folder)) - set(current.chunks):
            path = folder / f"{chunk}.tsv"
            if path.stat().st_mtime_ns < began:
                path.unlink()
