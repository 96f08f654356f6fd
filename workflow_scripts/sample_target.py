"""Make labelled decoys of one native."""

from functools import partial
from pathlib import Path

from toporank import layout
from toporank.app.workflow.script import opened
from toporank.files.atomic import note_progress
from toporank_sampling.rows import write_rows
from toporank_sampling.target import Sampled, SamplingSettings, sample

with opened(snakemake) as job:
    target, folder = job.wildcards.target, Path(job.output[0])
    noting = layout.PROGRESS.format(dataset=layout.SAMPLING, chunk=target)
    unbound = list(map(Path, job.input.unbound))
    source = Sampled(target, Path(job.input.native), unbound, job.params.partners)
    given = job.params.settings
    settings = SamplingSettings(given["decoys"], given["rotations"], given["seed"])
    rows = sample(source, folder, settings, partial(note_progress, noting))
    write_rows(folder / layout.POSES, rows)
