"""Pack all graphs of a data set into one memory-mapped file."""

from pathlib import Path

from toporank.app.workflow.script import opened
from toporank.building.built import pack_graphs
from toporank.finding.natives import find_natives

with opened(snakemake) as job:
    natives = find_natives(Path(job.params.natives)) if job.params.natives else {}
    table, pack = Path(job.input.table), Path(job.output.pack)
    n_packed, n_read = pack_graphs(
        job.dataset, table, pack, job.choices, job.store, natives
    )
    print(f"{n_packed} graphs; {n_read} read, the others copied from the older pack")
