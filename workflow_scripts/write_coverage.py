"""Write what became of every decoy and label of a data set, and the chains of its targets; remove
old records.
"""

from pathlib import Path

from toporank import layout
from toporank.app.workflow.script import opened
from toporank.building.built import read_built
from toporank.building.chunks.ledger import remove_old
from toporank.building.chunks.plan import read_current
from toporank.building.coverage import counts, coverage_table, write_coverage
from toporank.building.target_chains import correspondence_of, target_chains
from toporank.comparing.homology.chain_tables import read_chains, write_chains
from toporank.finding.labels import read_split_labels

with opened(snakemake) as job:
    plan, fates = read_built(job.dataset)
    decoys = [*plan.values()]
    labels = read_split_labels(Path(layout.LABELS.format(dataset=job.dataset)))
    matched = correspondence_of(decoys, fates, job.store)
    table = coverage_table(decoys, fates.values(), labels, matched)
    remove_old(job.dataset, read_current(job.dataset))
    chains = Path(job.output.chains)
    earlier = read_chains(chains) if chains.exists() else []
    write_chains(chains, target_chains(decoys, fates, earlier, job.store))
    write_coverage(Path(job.output.table), table)
    job.tell(f"{job.dataset}: {counts(table)}")
