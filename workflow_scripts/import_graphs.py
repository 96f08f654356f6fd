"""Check and pack the graphs of another pipeline, and join them with their labels."""

from pathlib import Path

from toporank.app.workflow.script import opened
from toporank.building.coverage import counts, write_coverage
from toporank.building.imported import import_graphs
from toporank.building.packing import write_pack
from toporank.comparing.homology.chain_tables import write_chains
from toporank.finding.graph_files import find_graph_files
from toporank.finding.labels import SplitRules, read_labels, write_labels
from toporank.learning.pyg_files import examine_graph_files, read_pyg_graph

with opened(snakemake) as job:
    tables = job.params.tables
    later = SplitRules(split_by="cluster", percent=0, seed=0, folds=1)
    labels = read_labels(tables, later)
    folder = Path(job.params.folder)
    files = examine_graph_files(folder, find_graph_files(folder, job.dataset))
    imported = import_graphs(job.dataset, files, labels, read_pyg_graph)
    n_read = write_pack(Path(job.output.pack), imported.members)
    write_coverage(Path(job.output.table), imported.coverage)
    write_chains(Path(job.output.chains), imported.chains)
    write_labels(Path(job.output.labels), imported.labels)
    covered = counts(imported.coverage)
    packed = f"{n_read} of {len(files)} graphs packed anew"
    lines = [f"{covered}; {packed}", *imported.notes]
    job.tell(*(f"{job.dataset}: {line}" for line in lines))
